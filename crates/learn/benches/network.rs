//! Speed of training steps and forward passes: `cargo bench -p gambeson-learn --bench network`.
//!
//! Images per second, the best of several rounds; the peers stand beside in `bench/peers/training`.

#![allow(clippy::print_stdout, missing_docs)]

use gambeson_data::dataset::Shape;
use gambeson_learn::net::inference::Inference;
use gambeson_learn::net::kernel::Isa;
use gambeson_learn::net::models::Model;
use gambeson_learn::net::parameters::{ParameterLayout, Weights};
use gambeson_learn::net::pass::{Mode, Pass, Wanted};
use gambeson_learn::net::plan::Choice;
use gambeson_lowrank::MemoryLimit;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::time::Instant;

const ROUNDS: usize = 15;

fn main() {
    for (depth, width, size, batch) in [(20, 16, 32, 128), (8, 16, 16, 256)] {
        let input = Shape { channels: 3, height: size, width: size };
        let architecture = Model::ResNet { depth, width }.architecture(input, 10).expect("a model");
        let places = ParameterLayout::new(&architecture).expect("a model");
        let weights = Weights::initial(&places, &mut ChaCha8Rng::seed_from_u64(1));
        let x: Vec<f32> =
            (0..batch * input.len()).map(|i| ((i * 7919) % 1009) as f32 / 504.0 - 1.0).collect();
        let by_scores: Vec<f32> = (0..batch * 10).map(|i| ((i * 31) % 17) as f32 / 1000.0 - 0.008).collect();
        let mut pass = Pass::new(&architecture, batch, Choice::ByShape, Isa::detect(), MemoryLimit::NONE)
            .expect("a model");
        let mut time = |what: &str, mode: Mode, wanted: Option<Wanted>| {
            let mut least = f64::INFINITY;
            for _ in 0..ROUNDS {
                let started = Instant::now();
                pass.load(&weights);
                pass.forward(&x, mode);
                if let Some(wanted) = wanted {
                    pass.backward(&by_scores, wanted);
                }
                least = least.min(started.elapsed().as_secs_f64());
            }
            println!("ResNet-{depth} {size} x {size}, {what}: {:.0} images/s", batch as f64 / least);
        };
        let inference =
            Inference::new(&architecture, &weights, Isa::detect(), MemoryLimit::NONE).expect("a model");
        let mut scores = vec![0.0; batch * 10];
        let mut least = f64::INFINITY;
        for _ in 0..ROUNDS {
            let started = Instant::now();
            inference.scores(&x, &mut scores);
            least = least.min(started.elapsed().as_secs_f64());
        }
        println!("ResNet-{depth} {size} x {size}, inference: {:.0} images/s", batch as f64 / least);
        time("forward", Mode::Evaluation, None);
        time("training step", Mode::Training, Some(Wanted { weights: true, input: false }));
        time(
            "training step with input gradient",
            Mode::Training,
            Some(Wanted { weights: true, input: true }),
        );
        time("attack step", Mode::Evaluation, Some(Wanted { weights: false, input: true }));
    }
}
