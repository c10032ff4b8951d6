use crate::support::{context, interruptible};
use gambeson::train::{METRICS, Metrics, NETWORK, SPEC, Spent};
use gambeson::{
    Context, Error, Event, MemoryLimit, TrainParams, TrainProgress, TrainSpec, open_spec, train,
    training_figure,
};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};

/// Algorithm 1 on a part of the built-in data, in a moment.
const TINY: &str = r#"
seed = 3
[data]
name = "fashion"
samples = 640
crop = 1
evaluate = 100
[model]
family = "cnn"
width = 4
[projection]
fit = { method = "axis", rank = 20, grid = 8 }
grid = "native"
[noise]
sigma = 0.3
[objective]
kind = "algorithm-1"
epsilon = 0.3
steps = 2
draws = 2
[optimiser]
epochs = 3
batch = 64
learning_rate = 0.1
"#;

fn spec(overrides: &[&str]) -> TrainSpec {
    let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
    TrainSpec::parse(TINY, &overrides).expect("a spec")
}

/// With a folder of data of its own, in which there is nothing.
fn params(home: &Path) -> TrainParams {
    TrainParams { data_folder: Some(home.join("data")), ..TrainParams::default() }
}

fn timeless(metrics: &[Metrics]) -> Vec<Metrics> {
    metrics.iter().map(|epoch| Metrics { spent: Spent::default(), ..epoch.clone() }).collect()
}

/// Another thread interrupts in the second epoch; the same call goes on, on another number of threads.
#[test]
fn an_interrupted_run_goes_on_to_the_same_network() {
    let home = tempfile::tempdir().expect("a folder");
    let (spec, params) = (spec(&[]), params(home.path()));
    let whole = train(&context(2, MemoryLimit::NONE), &spec, &home.path().join("whole"), &params);
    let whole = whole.expect("trained");
    assert!(whole.finished() && whole.rank == 20 && whole.grid == [1, 8, 8] && whole.metrics.len() == 3);

    let run = home.path().join("run");
    let (stop, interrupted) = interruptible(context(1, MemoryLimit::NONE));
    let (seen, steps) = mpsc::channel();
    let (answer, answered) = mpsc::channel();
    let answered = Mutex::new(answered);
    let observed = interrupted.with_observer(move |event| {
        if let Event::Train(TrainProgress::Step { step: 14, .. }) = event {
            seen.send(()).expect("somebody waits");
            answered.lock().expect("no panic").recv().expect("an answer");
        }
        ControlFlow::Continue(())
    });
    let stopped = std::thread::scope(|scope| {
        scope.spawn(move || {
            steps.recv().expect("a step");
            stop.store(true, Ordering::SeqCst);
            answer.send(()).expect("somebody waits");
        });
        train(&observed, &spec, &run, &params).expect("stopped")
    });
    assert!(!stopped.finished() && stopped.metrics.len() == 1 && !run.join(NETWORK).exists());

    let resumed = Arc::new(AtomicUsize::new(0));
    let from = Arc::clone(&resumed);
    let on = context(3, MemoryLimit::NONE).with_observer(move |event| {
        if let Event::Train(TrainProgress::Resumed { step }) = event {
            from.store(*step, Ordering::SeqCst);
        }
        ControlFlow::Continue(())
    });
    let done = train(&on, &spec, &run, &params).expect("trained");
    assert_eq!(resumed.load(Ordering::SeqCst), 14, "it ended after the step under way, which was kept");
    assert_eq!((&done.network, timeless(&done.metrics)), (&whole.network, timeless(&whole.metrics)));
    let bytes = |folder: &Path| std::fs::read(folder.join(NETWORK)).expect("a network");
    assert_eq!(bytes(&run), bytes(&home.path().join("whole")));
    let panels = training_figure(&done.metrics).panels;
    assert!(panels.len() == 2 && panels[0].series[0].points.len() == 3);
}

/// Time is up after the first step; the run is there, and so is the spec.
#[test]
fn a_time_limit_ends_it_after_a_step() {
    let home = tempfile::tempdir().expect("a folder");
    let params = TrainParams { time_limit: Some(std::time::Duration::ZERO), ..params(home.path()) };
    let run = home.path().join("run");
    let found = train(&context(1, MemoryLimit::NONE), &spec(&[]), &run, &params).expect("stopped");
    assert!(!found.finished() && found.network.is_none() && run.join(SPEC).exists());
    assert!(!run.join(METRICS).exists());
}

/// Every event of every call comes from a thread of the context, and the pool there is the context's.
#[test]
fn it_trains_on_the_threads_of_its_context() {
    let home = tempfile::tempdir().expect("a folder");
    for threads in [1, 3] {
        let steps = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&steps);
        let context = context(threads, MemoryLimit::NONE).with_observer(move |event| {
            if let Event::Train(TrainProgress::Step { .. }) = event {
                counted.fetch_add(1, Ordering::SeqCst);
            }
            let name = std::thread::current().name().unwrap_or_default().to_owned();
            assert!(rayon::current_num_threads() == threads && name.starts_with("gambeson "), "{name}");
            ControlFlow::Continue(())
        });
        let run = home.path().join(threads.to_string());
        let spec = spec(&["optimiser.epochs=1"]);
        train(&context, &spec, &run, &params(home.path())).expect("trained");
        assert_eq!(steps.load(Ordering::SeqCst), 10);
    }
}

/// What is stopped before the first step leaves nothing, and says so.
#[test]
fn an_interrupt_while_a_projection_is_fitted_is_an_error() {
    let home = tempfile::tempdir().expect("a folder");
    let robust = spec(&["projection.fit.method=\"robust\""]);
    for of_fit in [false, true] {
        let ends = context(1, MemoryLimit::NONE).with_observer(move |event| match event {
            Event::Load(_) if !of_fit => ControlFlow::Break(()),
            Event::Fit(_) => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        });
        let run = home.path().join("run");
        let error = train(&ends, &robust, &run, &params(home.path())).expect_err("stopped");
        assert!(error.is_stopped() && !run.exists(), "{error}");
    }
}

#[test]
fn what_is_wrong_is_named() {
    let home = tempfile::tempdir().expect("a folder");
    let small = context(1, MemoryLimit::bytes(50_000_000));
    let wide = TINY.replace("\"cnn\"\nwidth = 4", "\"mlp\"\nhidden = [65536, 32767]");
    let wide = TrainSpec::parse(&wide, &[]).expect("a spec");
    let refused =
        train(&small, &wide, &home.path().join("run"), &params(home.path())).expect_err("too large");
    assert!(matches!(refused, Error::Train(_)) && refused.to_string().contains("memory limit"), "{refused}");

    let file = home.path().join("s.toml");
    std::fs::write(&file, TINY).expect("written");
    let open = |context: &Context, text: &str| open_spec(context, &file, &[text.to_owned()]);
    assert_eq!(open(&small, "optimiser.epochs=7").expect("a spec").optimiser.epochs, 7);
    let error = open(&small, "optimiser.epochs=0").expect_err("no epochs");
    assert_eq!(error.field(), Some("optimiser.epochs"));
    let error = open(&small, "optimiser.epoch=3").expect_err("no such key").to_string();
    assert!(error.contains("s.toml") && error.contains("did you mean `epochs`?"), "{error}");
    let tiny = context(1, MemoryLimit::bytes(10));
    assert!(open(&tiny, "seed=1").expect_err("too long").to_string().contains("memory limit"));
}
