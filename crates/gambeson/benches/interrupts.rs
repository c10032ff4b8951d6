//! How long work goes on after an interrupt, and what it returns: `cargo bench -p gambeson --bench interrupts`.
//!
//! Another thread interrupts, a while after the work has begun or once it has reached a stage. Several rounds; the median and
//! the longest are printed.

#![allow(clippy::print_stdout, missing_docs)]

use gambeson::{
    AttackParams, AttackRadius, AttackTarget, BoundParams, CertifyParams, CheckParams, ClassifyParams,
    Context, ContextParams, DataParams, Event, FitMethodKind, FitParams, MatrixInput, ModelParams,
    PredictParams, RandomKind, SweepParams, Target, TrainParams, TrainProgress, TrainSpec, WhiteBoxParams,
    attack, bound, certify, check, classify, fit, open_data, open_model, open_white_box, predict,
    random_matrix, sweep, train,
};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const ROUNDS: usize = 5;
const MODEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/fashion");

/// Prints how long `work` goes on after an interrupt that comes `after` it has begun.
fn measure(title: &str, after: Duration, work: impl Fn(&Context) -> String) {
    let mut spent = Vec::new();
    let mut outcome = String::new();
    for _ in 0..ROUNDS {
        let began = Instant::now();
        // Nanoseconds after the beginning at which it was interrupted.
        let at = Arc::new(AtomicU64::new(u64::MAX));
        let asked = Arc::clone(&at);
        let context = Context::new(ContextParams::default()).expect("threads");
        let context = context.with_interrupt(move || asked.load(Ordering::SeqCst) != u64::MAX);
        let done = Arc::new(AtomicBool::new(false));
        std::thread::scope(|scope| {
            let (timer, ended) = (Arc::clone(&at), Arc::clone(&done));
            scope.spawn(move || {
                std::thread::sleep(after);
                if !ended.load(Ordering::SeqCst) {
                    timer.store(nanoseconds(began), Ordering::SeqCst);
                }
            });
            outcome = work(&context);
            done.store(true, Ordering::SeqCst);
            let interrupted = at.load(Ordering::SeqCst);
            if interrupted != u64::MAX {
                spent.push(nanoseconds(began).saturating_sub(interrupted));
            }
        });
    }
    spent.sort_unstable();
    let seconds = |nanoseconds: u64| nanoseconds as f64 / 1e9;
    match spent.as_slice() {
        [] => println!("{title:<46} was done before the interrupt: {outcome}"),
        all => println!(
            "{title:<46} median {:.3} s, longest {:.3} s of {}: {outcome}",
            seconds(all[all.len() / 2]),
            seconds(all[all.len() - 1]),
            all.len()
        ),
    }
}

#[allow(clippy::cast_possible_truncation)] // far less than centuries
fn nanoseconds(since: Instant) -> u64 {
    since.elapsed().as_nanos() as u64
}

fn matrix(n: usize) -> MatrixInput {
    let context = Context::new(ContextParams::default()).expect("threads");
    random_matrix(&context, RandomKind::QuadraticProgram, n, 1).expect("a matrix")
}

fn bounds(n: usize, gap: f64, title: &str, after: &[f64]) {
    let matrix = matrix(n);
    for &seconds in after {
        let title = format!("bound, n = {n}, {title}, after {seconds} s");
        measure(&title, Duration::from_secs_f64(seconds), |context| {
            let params = BoundParams { gap: Some(gap), ..BoundParams::default() };
            let found = bound(context, matrix.clone(), &params).expect("a bound");
            let record = found.record();
            format!("{}, upper / lower {:.4}", record.stop, record.upper / record.sdp_lower)
        });
    }
}

fn main() {
    let only = std::env::args().skip(1).find(|word| !word.starts_with('-'));
    let wanted = |name: &str| only.as_deref().is_none_or(|only| name.contains(only));
    if wanted("bound") {
        bounds(1500, 1e-12, "search", &[0.3, 1.0]);
        bounds(4500, 1e-12, "search", &[1.0, 3.0, 6.0]);
    }
    if wanted("proof") {
        proofs();
    }
    if wanted("fit") {
        fits();
    }
    if wanted("smooth") {
        smoothing();
    }
    if wanted("train") {
        training();
    }
}

/// Interrupted while a certificate is proven.
fn proofs() {
    for n in [1500, 4500] {
        let input = matrix(n);
        let own = Context::new(ContextParams::default()).expect("threads");
        let params = BoundParams { gap: Some(1e-2), ..BoundParams::default() };
        let began = Instant::now();
        let found = bound(&own, input.clone(), &params).expect("a bound");
        let (whole, proof) = (began.elapsed().as_secs_f64(), found.record().seconds_check);
        println!("n = {n}: a bound to 1e-2 takes {whole:.2} s, {proof:.2} s of them for the proof");
        let file = found.certificate.expect("asked for");
        measure(&format!("check, n = {n}"), Duration::from_secs_f64(0.4 * proof), |context| {
            let checked =
                check(context, input.clone(), file.clone(), &CheckParams::default()).expect("checked");
            checked.refusal.map_or_else(|| "proven".to_owned(), |refusal| refusal.to_string())
        });
        // The proof is the last long step of a bound.
        let within = Duration::from_secs_f64(whole - 0.6 * proof);
        measure(&format!("bound, n = {n}, in the proof"), within, |context| {
            let found = bound(context, input.clone(), &params).expect("a bound");
            let record = found.record();
            format!("{}, upper / lower {:.4}", record.stop, record.upper / record.sdp_lower)
        });
    }
}

fn fits() {
    let own = Context::new(ContextParams::default()).expect("threads");
    let data = open_data(&own, "fashion", &DataParams::train()).expect("built in");
    for (target, name, after) in [
        (Target::Error(0.004), "error 0.004", vec![0.05, 0.5, 1.5, 4.0]),
        (Target::Kappa(12.0), "kappa 12", vec![1.5, 4.0]),
    ] {
        for seconds in after {
            let title = format!("fit, {name}, after {seconds} s");
            measure(&title, Duration::from_secs_f64(seconds), |context| {
                match fit(context, &data, &FitParams::new(target)) {
                    Ok(found) => {
                        let record = found.record();
                        format!(
                            "kappa {:.4}, error {:.4}, stopped: {}",
                            record.kappa, record.error, record.stopped
                        )
                    }
                    Err(error) => format!("is_stopped: {}", error.is_stopped()),
                }
            });
        }
    }
    measure("sweep, after 1.5 s", Duration::from_millis(1500), |context| {
        let params = SweepParams { methods: FitMethodKind::ALL.to_vec(), ..SweepParams::default() };
        match sweep(context, &data, &params) {
            Ok(found) => format!("{} points", found.points.len()),
            Err(error) => format!("is_stopped: {}", error.is_stopped()),
        }
    });
}

fn smoothing() {
    let own = Context::new(ContextParams::default()).expect("threads");
    let data = open_data(&own, "fashion", &DataParams::default()).expect("built in");
    let projection = Some(format!("{MODEL}/projection.safetensors").into());
    let network = format!("{MODEL}/network.safetensors");
    let params = ModelParams { projection: projection.clone(), ..ModelParams::default() };
    let model = open_model(&own, &network, &data, &params).expect("a network");
    let after = Duration::from_millis(700);
    measure("certify", after, |context| {
        let run = certify(context, &model, &data, &CertifyParams::new(0.5)).expect("a run");
        format!("{} records, stopped: {}", run.records.len(), run.stopped)
    });
    measure("predict", after, |context| {
        let run = predict(context, &model, &data, &PredictParams::new(0.5)).expect("a run");
        format!("{} records, stopped: {}", run.records.len(), run.stopped)
    });
    measure("classify", Duration::from_millis(5), |context| {
        let answers = classify(context, &model, &data, &ClassifyParams::default()).expect("answers");
        answers.map_or_else(|| "stopped".to_owned(), |answers| format!("{} answers", answers.classes.len()))
    });
    let white_box = WhiteBoxParams { projection, ..WhiteBoxParams::default() };
    let open = open_white_box(&own, Path::new(&network), &data, &white_box).expect("a network");
    measure("attack", after, |context| {
        let params = AttackParams { sigma: Some(0.5), ..AttackParams::new(AttackRadius::Epsilon(1.0)) };
        let found =
            attack(context, AttackTarget { data: &data, model: Some(&open) }, &params).expect("attacked");
        format!("{} perturbed, stopped: {}", found.perturbed.len(), found.stopped)
    });
}

const SPEC: &str = r#"
[data]
name = "fashion"
[model]
family = "res-net"
depth = 20
width = 16
[projection]
fit = { method = "axis", rank = 100, grid = 16 }
grid = "native"
[noise]
sigma = 0.5
[objective]
kind = "algorithm-1"
epsilon = 0.5
steps = 2
draws = 2
[optimiser]
epochs = 3
batch = 128
learning_rate = 0.1
"#;

fn training() {
    let spec = TrainSpec::parse(SPEC, &[]).expect("a spec");
    for seconds in [0.02, 0.2, 4.0] {
        let home = std::env::temp_dir().join(format!("gambeson-interrupts-{}", std::process::id()));
        measure(&format!("train, after {seconds} s"), Duration::from_secs_f64(seconds), |context| {
            let _ = std::fs::remove_dir_all(&home);
            let longest = Arc::new(AtomicU64::new(0));
            let (seen, mut last) = (Arc::clone(&longest), Instant::now());
            let last = std::sync::Mutex::new(std::mem::replace(&mut last, Instant::now()));
            let context = context.clone().with_observer(move |event| {
                if let Event::Train(TrainProgress::Step { .. }) = event {
                    let mut last = last.lock().expect("no panic");
                    seen.fetch_max(nanoseconds(*last), Ordering::SeqCst);
                    *last = Instant::now();
                }
                ControlFlow::Continue(())
            });
            let outcome = match train(&context, &spec, &home, &TrainParams::default()) {
                Ok(trained) => format!(
                    "finished: {}, longest step {:.2} s",
                    trained.finished(),
                    longest.load(Ordering::SeqCst) as f64 / 1e9
                ),
                Err(error) => format!("is_stopped: {}", error.is_stopped()),
            };
            let _ = std::fs::remove_dir_all(&home);
            outcome
        });
    }
}
