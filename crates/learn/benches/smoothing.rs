//! Where the time of a draw goes: noise, forward pass, all of it. One thread, the best of many batches, so that other
//! work on the machine does not show: `cargo bench -p gambeson-learn --bench smoothing -- NETWORK.onnx ...`

use gambeson_checker::{FailureProbability, NoiseLevel};
use gambeson_data::dataset::Shape;
use gambeson_learn::onnx::{Normalisation, OnnxModel};
use gambeson_lowrank::MemoryLimit;
use gambeson_smooth::classifier::Classifier;
use gambeson_smooth::noise::{Centre, Draw, Grid, Noise, Quantum, RoundedNoise};
use gambeson_smooth::smoother::{Smoother, SmoothingParams};
use gambeson_smooth::space::Space;
use std::path::Path;
use std::time::Instant;

const BATCH: usize = 64;
const TIMES: usize = 400;
/// Batches per input: enough that the work done once per input does not show.
const BATCHES: usize = 16;

/// Microseconds of one of `draws` draws, at best.
fn best(draws: usize, mut work: impl FnMut()) -> f64 {
    let time = |work: &mut dyn FnMut()| {
        let started = Instant::now();
        work();
        started.elapsed().as_secs_f64() * 1e6 / draws as f64
    };
    (0..TIMES).map(|_| time(&mut work)).fold(f64::INFINITY, f64::min)
}

#[allow(clippy::print_stdout, clippy::unwrap_used)]
fn main() {
    let shape = Shape { channels: 3, height: 32, width: 32 };
    let centre: Vec<f64> = (0..shape.len()).map(|i| (i % 256) as f64).collect();
    let mut batch = vec![0.0; BATCH * shape.len()];
    let per_normal = |draw: f64| draw * 1e3 / shape.len() as f64;
    let draw = best(BATCH, || {
        for (row, out) in batch.chunks_exact_mut(shape.len()).enumerate() {
            Noise::new(1, 2).standard(Draw::Estimation(row as u64), out);
        }
    });
    println!("plain normals: {draw:.2} us a draw, {:.2} ns a normal", per_normal(draw));
    // By default 128 to 256 steps in one sigma; the last is 64 times finer.
    for (sigma, exponent) in [(0.1, None), (0.25, None), (0.5, None), (0.25, Some(-8))] {
        let grid = Grid::new(sigma, Quantum::Byte, exponent).unwrap();
        let around = Centre::new(&centre, sigma, grid, None).unwrap();
        let draw = best(BATCH, || {
            for (row, out) in batch.chunks_exact_mut(shape.len()).enumerate() {
                assert!(RoundedNoise::new(1, 2).perturb(Draw::Estimation(row as u64), &around, out));
            }
        });
        let (cells, each) = (grid.cells(sigma), per_normal(draw));
        println!("exact noise, {cells} steps in sigma: {draw:.2} us a draw, {each:.2} ns a normal");
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    for path in std::env::args().skip(1).filter(|argument| !argument.starts_with("--")) {
        for normalised in [false, true] {
            let normalisation = normalised.then(|| Normalisation::new(&[0.5], &[0.25], 3).unwrap());
            let model =
                OnnxModel::load(Path::new(&path), shape, normalisation, MemoryLimit::NONE, 1).unwrap();
            let mut answers = vec![0; BATCH];
            let forward = best(BATCH, || model.classify(&batch, BATCH, &mut answers).unwrap());
            let space = Space::identity(shape.len()).with_quantum(Quantum::Byte);
            let params = SmoothingParams {
                selection: 1,
                estimation: (BATCHES * BATCH) as u64,
                failure: FailureProbability::new(0.01).unwrap(),
                batch: BATCH,
                seed: 1,
                ..SmoothingParams::new(NoiseLevel::new(0.1).unwrap()).unwrap()
            };
            let smoother = Smoother::new(&model, space.clone(), params).unwrap();
            let all = pool
                .install(|| best(BATCHES * BATCH, || drop(smoother.predict(0, &centre, &mut ()).unwrap())));
            let what = if normalised { ", normalised" } else { "" };
            println!("{path}{what}: forward {forward:.2} us, all {all:.2} us a draw");
        }
    }
}
