//! Speed of single layers on the way from images to scores: `cargo bench -p gambeson-learn --bench layers`.
//!
//! Microseconds per image on one thread, the best of many rounds, and what the multiplications of the definition would make
//! of it per nanosecond (Winograd does fewer).

#![allow(clippy::print_stdout, missing_docs)]

use gambeson_data::dataset::Shape;
use gambeson_learn::net::architecture::{Architecture, Convolution, Layer, LayerKind, Linear};
use gambeson_learn::net::inference::Inference;
use gambeson_learn::net::kernel::Isa;
use gambeson_learn::net::parameters::{ParameterLayout, Weights};
use gambeson_lowrank::MemoryLimit;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::time::Instant;

const ROUNDS: usize = 300;
const IMAGES: usize = 64;

fn convolution(channels: usize, kernel: usize, stride: usize, padding: usize) -> LayerKind {
    let (norm, shortcut) = (false, None);
    LayerKind::Convolution(Convolution {
        channels,
        kernel,
        stride,
        padding,
        bias: true,
        norm,
        shortcut,
        relu: true,
    })
}

fn linear(outputs: usize) -> LayerKind {
    LayerKind::Linear(Linear { outputs, bias: true, relu: false })
}

/// Of one image, by the definition of the layers.
fn multiplications(architecture: &Architecture) -> usize {
    let shapes = architecture.shapes().expect("a network");
    let of = |(at, layer): (usize, &Layer)| match &layer.kind {
        LayerKind::Convolution(own) => {
            shapes[at + 1].len() * own.kernel * own.kernel * shapes[layer.input].channels
        }
        LayerKind::Linear(own) => own.outputs * shapes[layer.input].len(),
        _ => 0,
    };
    architecture.layers.iter().enumerate().map(of).sum()
}

fn time(what: &str, (channels, size): (usize, usize), kinds: &[LayerKind]) {
    let input = Shape { channels, height: size, width: size };
    let layers = kinds.iter().cloned().enumerate().map(|(input, kind)| Layer { input, kind }).collect();
    let classes = match kinds.iter().rev().find(|kind| **kind != LayerKind::GlobalAverage) {
        Some(LayerKind::Convolution(own)) => own.channels,
        Some(LayerKind::Linear(own)) => own.outputs,
        _ => channels,
    };
    let architecture = Architecture { input, classes, layers };
    let places = ParameterLayout::new(&architecture).expect("a network");
    let weights = Weights::initial(&places, &mut ChaCha8Rng::seed_from_u64(1));
    let inference =
        Inference::new(&architecture, &weights, Isa::detect(), MemoryLimit::NONE).expect("a network");
    let x: Vec<f32> = (0..IMAGES * input.len()).map(|i| ((i * 7919) % 1009) as f32 / 504.0 - 1.0).collect();
    let mut scores = vec![0.0; IMAGES * architecture.classes];
    let mut least = f64::INFINITY;
    for _ in 0..ROUNDS {
        let started = Instant::now();
        for x in x.chunks(inference.together() * input.len()) {
            let rows = x.len() / input.len();
            inference.scores_on_one_thread(x, &mut scores[..rows * architecture.classes]);
        }
        least = least.min(started.elapsed().as_secs_f64() / IMAGES as f64);
    }
    let per_nanosecond = multiplications(&architecture) as f64 / least / 1e9;
    println!(
        "{what:32} {:8.2} us, {per_nanosecond:6.1} multiplications/ns, {} together",
        1e6 * least,
        inference.together()
    );
}

/// A convolution, and the mean of each channel, so that there are few scores to gather.
fn averaged(convolution: LayerKind) -> [LayerKind; 2] {
    [convolution, LayerKind::GlobalAverage]
}

fn main() {
    let base = [convolution(8, 4, 2, 1), convolution(16, 4, 2, 1), linear(100), linear(10)];
    time("3 x 32 x 32, 8 of 4 x 4 by 2", (3, 32), &averaged(base[0].clone()));
    time("8 x 16 x 16, 16 of 4 x 4 by 2", (8, 16), &averaged(base[1].clone()));
    time("1024 to 100", (1024, 1), &base[2..3]);
    time("all of these, to 10", (3, 32), &base);
    for (channels, size, wanted, stride) in
        [(3, 32, 16, 1), (16, 32, 16, 1), (16, 32, 32, 2), (32, 16, 32, 1), (32, 16, 64, 2), (64, 8, 64, 1)]
    {
        let what = format!("{channels} x {size} x {size}, {wanted} of 3 x 3 by {stride}");
        time(&what, (channels, size), &averaged(convolution(wanted, 3, stride, 1)));
    }
}
