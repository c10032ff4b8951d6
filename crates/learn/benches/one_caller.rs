//! Draws per second on all threads of rayon: noise alone, one caller whose function answers at once, and our engine in the
//! ordinary mode and behind a function: `cargo bench -p gambeson-learn --bench one_caller`.
//!
//! All are measured in turn, several times, so that other work on the machine slows all of them; medians are printed.

#![allow(clippy::print_stdout, missing_docs)]

use gambeson_checker::NoiseLevel;
use gambeson_data::dataset::Shape;
use gambeson_learn::net::models::Model;
use gambeson_learn::net::parameters::{ParameterLayout, Weights};
use gambeson_learn::runtime::OwnModel;
use gambeson_learn::smoothed::{NoiseParams, SmoothedModel, SmoothedParams};
use gambeson_lowrank::MemoryLimit;
use gambeson_smooth::classifier::{Classifier, ClassifierSpec};
use gambeson_smooth::noise::{Centre, Draw, Grid, Quantum, RoundedNoise};
use gambeson_smooth::session::{Batch, RowFormat, Rows, SessionFactory, SessionParams};
use gambeson_smooth::smoother::{Counts, Smoother, SmoothingParams, SmoothingPlan};
use gambeson_smooth::space::Space;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

const ROUNDS: usize = 9;
const SIGMA: f64 = 0.25;
/// Rows of a batch of the one caller.
const BATCH: usize = 1000;
/// Rows of noise alone that stay in the cache.
const TOGETHER: u64 = 32;

fn input(dim: usize) -> Vec<f64> {
    (0_u32..).map(|i| f64::from(i * 37 % 256)).take(dim).collect()
}

fn params(draws: u64, batch: usize) -> SmoothingParams {
    let noise = NoiseLevel::new(SIGMA).expect("a level");
    SmoothingParams { estimation: draws, batch, ..SmoothingParams::new(noise).expect("parameters") }
}

fn noise_alone(dim: usize, draws: u64) {
    let grid = Grid::new(SIGMA, Quantum::Byte, None).expect("a grid");
    let centre = Centre::new(&input(dim), SIGMA, grid, None).expect("a centre");
    let rows = || vec![0.0; dim];
    (0..draws.div_ceil(TOGETHER)).into_par_iter().for_each_init(rows, |row, part| {
        for draw in part * TOGETHER..((part + 1) * TOGETHER).min(draws) {
            std::hint::black_box(RoundedNoise::new(1, 2).perturb(Draw::Estimation(draw), &centre, row));
        }
    });
}

/// PREDICT of one input by a function.
fn ask(
    sessions: &SessionFactory,
    input: &[f64],
    mut classify: impl FnMut(&Batch<'_>, &mut Vec<u32>),
) -> Counts {
    let mut session = sessions.predict(0, input).expect("an input");
    let mut classes = Vec::new();
    while let Some(batch) = session.ask().expect("a batch") {
        classes.clear();
        classes.resize(batch.count, 0);
        classify(&batch, &mut classes);
        session.tell(&classes).expect("one class per row");
    }
    session.finish().expect("a result").counts
}

/// A classifier on all threads, as a function of a batch.
fn on_all_threads(model: &impl Classifier, batch: &Batch<'_>, classes: &mut [u32]) {
    let Rows::F32(rows) = batch.rows else { panic!("values were asked for") };
    let together = model.at_once().unwrap_or(64);
    let parts = classes.par_chunks_mut(together).zip(rows.par_chunks(together * batch.width));
    parts.for_each(|(classes, rows)| model.classify(rows, classes.len(), classes).expect("classes"));
}

/// Prints medians of draws per second of all ways, measured in turn, and their ratios to the first.
fn compare(title: &str, draws: u64, ways: &mut [(&str, &mut dyn FnMut())]) {
    let mut rates = vec![Vec::new(); ways.len()];
    for _ in 0..ROUNDS {
        for ((_, way), rates) in ways.iter_mut().zip(&mut rates) {
            let started = Instant::now();
            way();
            rates.push(draws as f64 / started.elapsed().as_secs_f64());
        }
    }
    let median = |rates: &mut Vec<f64>| {
        rates.sort_by(f64::total_cmp);
        rates[rates.len() / 2]
    };
    println!("{title}, {} threads", rayon::current_num_threads());
    let medians: Vec<f64> = rates.iter_mut().map(median).collect();
    for ((name, _), rate) in ways.iter().zip(&medians) {
        println!("  {name:<40} {rate:>9.0} draws/s  {:.3}", rate / medians[0]);
    }
}

fn noise(draws: u64) {
    let dim = 3072;
    let classifier = ClassifierSpec { classes: 10, dim, input_map: None };
    let space = Space::identity(dim).with_quantum(Quantum::Byte);
    let plan = Arc::new(SmoothingPlan::new(classifier, space, params(draws, BATCH)).expect("it fits"));
    let sessions =
        |format| SessionFactory::new(Arc::clone(&plan), SessionParams { format, ..SessionParams::default() });
    let (values, whole) = (sessions(RowFormat::Values), sessions(RowFormat::WholeNumbers));
    let input = input(dim);
    compare(
        "3072 coordinates",
        draws,
        &mut [
            ("noise alone", &mut || noise_alone(dim, draws)),
            ("one caller, trivial, values", &mut || drop(ask(&values, &input, |_, _| ()))),
            ("one caller, trivial, whole numbers", &mut || drop(ask(&whole, &input, |_, _| ()))),
        ],
    );
}

fn network<C: Classifier>(title: &str, model: &C, space: &Arc<Space>, draws: u64) {
    let ordinary = Smoother::new(model, Arc::clone(space), params(draws, 64)).expect("it fits");
    let spec = ClassifierSpec::of(model);
    let plan = SmoothingPlan::new(spec, Arc::clone(space), params(draws, BATCH)).expect("it fits");
    let sessions = SessionFactory::new(plan, SessionParams::default());
    let input = input(space.input_dim());
    let all = || ordinary.predict(0, &input, &mut ()).expect("drawn").expect("not stopped").counts;
    let one = || ask(&sessions, &input, |batch, classes| on_all_threads(model, batch, classes));
    assert_eq!(all(), one(), "equal counts");
    compare(title, draws, &mut [("ordinary mode", &mut || drop(all())), ("one caller", &mut || drop(one()))]);
}

fn main() {
    noise(50_000);
    let fashion = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/fashion");
    let (file, projection) = (fashion.join("network.safetensors"), fashion.join("projection.safetensors"));
    let of = NoiseParams { projection: Some(&projection), quantum: Quantum::Byte, ..NoiseParams::default() };
    let shape = Shape { channels: 1, height: 28, width: 28 };
    let opened = SmoothedModel::open(&SmoothedParams { noise: of, ..SmoothedParams::new(&file, shape) });
    let fashion = opened.expect("the network of the repository").smoothed;
    network("models/fashion", &fashion.classifier, &fashion.space, 10_000);
    let shape = Shape { channels: 3, height: 32, width: 32 };
    let architecture = Model::ResNet { depth: 20, width: 16 }.architecture(shape, 10).expect("a model");
    let places = ParameterLayout::new(&architecture).expect("a model");
    let weights = Weights::initial(&places, &mut ChaCha8Rng::seed_from_u64(1));
    let model = OwnModel::new(&architecture, &weights, None, MemoryLimit::NONE).expect("a classifier");
    network("ResNet-20", &model, &Arc::new(Space::identity(shape.len()).with_quantum(Quantum::Byte)), 2000);
}
