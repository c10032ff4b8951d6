//! Scores and gradients of the engine against the formulas in double precision.

use super::reference::{Wide, scores};
use super::{network, normal};
use gambeson_data::dataset::Shape;
use gambeson_learn::net::architecture::{
    Architecture, Convolution, Layer, LayerKind, Linear, Shortcut, ShortcutKind, Window,
};
use gambeson_learn::net::inference::Inference;
use gambeson_learn::net::kernel::Isa;
use gambeson_learn::net::loss::{Consistency, Loss, Targets};
use gambeson_learn::net::models::Model;
use gambeson_learn::net::parameters::Weights;
use gambeson_learn::net::pass::{Mode, Pass, Wanted};
use gambeson_learn::net::plan::Choice;
use gambeson_lowrank::MemoryLimit;

pub(crate) fn conv(
    input: usize,
    channels: usize,
    kernel: usize,
    stride: usize,
    padding: usize,
) -> Convolution {
    let _ = input;
    Convolution { channels, kernel, stride, padding, bias: false, norm: false, shortcut: None, relu: false }
}

fn layer(input: usize, convolution: Convolution) -> Layer {
    Layer { input, kind: LayerKind::Convolution(convolution) }
}

fn linear(input: usize, outputs: usize) -> Layer {
    Layer { input, kind: LayerKind::Linear(Linear { outputs, bias: true, relu: false }) }
}

/// Compares scores, gradients by all parameters that `every` selects and by the input with central differences.
fn agree(architecture: &Architecture, images: usize, seed: u64, mode: Mode, choice: Choice) {
    let weights = network(architecture, seed);
    let x = normal(images * architecture.input.len(), seed + 1);
    let functional = normal(images * architecture.classes, seed + 2);
    let mut pass =
        Pass::new(architecture, images, choice, Isa::detect(), MemoryLimit::NONE).expect("a network");
    pass.load(&weights);
    let own = pass.forward(&x, mode).to_vec();
    let before = weights.clone();
    pass.backward(&functional, Wanted { weights: true, input: true });
    assert_eq!(weights, before, "a pass changes no weights");
    let mut by_input = vec![0.0; x.len()];
    pass.input_gradient(&mut by_input);
    let (wide, wide_x) = (Wide::from(&weights), x.iter().map(|&x| f64::from(x)).collect::<Vec<f64>>());
    let exact = scores(architecture, &wide, &wide_x, mode);
    let largest = exact.iter().fold(1e-3_f64, |most, x| most.max(x.abs()));
    for (own, exact) in own.iter().zip(&exact) {
        assert!((f64::from(*own) - exact).abs() <= 2e-5 * largest, "scores {own} {exact} of {largest}");
    }
    if mode == Mode::Evaluation {
        let mut folded = vec![0.0; own.len()];
        Inference::new(architecture, &weights, Isa::detect(), MemoryLimit::NONE)
            .expect("a network")
            .scores(&x, &mut folded);
        for (folded, exact) in folded.iter().zip(&exact) {
            assert!(
                (f64::from(*folded) - exact).abs() <= 2e-5 * largest,
                "folded {folded} {exact} of {largest}"
            );
        }
    }
    let loss = |weights: &Wide, x: &[f64]| -> f64 {
        scores(architecture, weights, x, mode).iter().zip(&functional).map(|(s, f)| s * f64::from(*f)).sum()
    };
    let step = 1e-6;
    let all = pass
        .parameter_gradient()
        .iter()
        .chain(&by_input)
        .fold(0.0_f64, |most, x| most.max(f64::from(x.abs())));
    let compare = |what: &str, own: &[f32], by: &dyn Fn(usize, f64) -> f64| {
        let every = own.len().div_ceil(60).max(1);
        let picked: Vec<usize> = (0..own.len()).step_by(every).collect();
        let differences: Vec<f64> =
            picked.iter().map(|&at| (by(at, step) - by(at, -step)) / (2.0 * step)).collect();
        // Under a normalisation sums cancel: a gradient may be far smaller than what it is the sum of.
        let largest = own.iter().fold(0.05 * all, |most, x| most.max(f64::from(x.abs())));
        for (&at, exact) in picked.iter().zip(&differences) {
            let own = f64::from(own[at]);
            assert!(
                (own - exact).abs() <= 2e-4 * largest,
                "{what} {at}: {own} {exact} of {largest}, {architecture:?}"
            );
        }
    };
    let places = pass.places().clone();
    for (at, place) in places.layers.iter().enumerate() {
        for (name, range) in [("weight", &place.weight), ("bias", &place.bias), ("gamma", &place.gamma)] {
            if range.is_empty() {
                continue;
            }
            let by = |index: usize, step: f64| {
                let mut moved = wide.clone();
                moved.parameters[range.start + index] += step;
                loss(&moved, &wide_x)
            };
            compare(&format!("layer {at} {name}"), &pass.parameter_gradient()[range.clone()], &by);
        }
    }
    let by = |index: usize, step: f64| {
        let mut moved = wide_x.clone();
        moved[index] += step;
        loss(&wide, &moved)
    };
    compare("input", &by_input, &by);
}

fn everywhere(architecture: &Architecture, images: usize, seed: u64) {
    for mode in [Mode::Training, Mode::Evaluation] {
        for choice in [Choice::ByShape, Choice::Direct] {
            agree(architecture, images, seed, mode, choice);
        }
    }
}

#[test]
fn convolutions_of_odd_shapes() {
    let mut seed = 0;
    for (channels, height, width) in [(1, 5, 7), (3, 8, 8), (5, 9, 4), (13, 6, 10)] {
        for (kernel, stride, padding) in [
            (3, 1, 1),
            (3, 2, 1),
            (1, 1, 0),
            (1, 2, 0),
            (2, 1, 0),
            (5, 2, 2),
            (3, 3, 2),
            (3, 1, 0),
            (4, 2, 1),
        ] {
            for (out, norm, relu) in [(5, true, true), (13, false, true), (8, false, false)] {
                seed += 10;
                let convolution =
                    Convolution { norm, bias: !norm, relu, ..conv(0, out, kernel, stride, padding) };
                let architecture = Architecture {
                    input: Shape { channels, height, width },
                    classes: 3,
                    layers: vec![layer(0, convolution), linear(1, 3)],
                };
                everywhere(&architecture, 1 + usize::try_from(seed % 4).expect("small"), seed);
            }
        }
    }
}

/// Planes that tiles cover: the forward pass is by phases.
#[test]
fn convolutions_of_four_by_four_with_stride_two() {
    for (seed, (channels, out, height, width)) in
        (4000..).step_by(10).zip([(5, 13, 16, 14), (13, 8, 8, 8), (8, 24, 11, 16)])
    {
        let convolution = Convolution { norm: true, relu: true, ..conv(0, out, 4, 2, 1) };
        let layers = vec![layer(0, convolution), linear(1, 3)];
        everywhere(&Architecture { input: Shape { channels, height, width }, classes: 3, layers }, 3, seed);
    }
}

#[test]
fn stacks_with_shortcuts_and_pools() {
    let plain = |input, channels, stride| {
        layer(input, Convolution { norm: true, relu: true, ..conv(0, channels, 3, stride, 1) })
    };
    let added = |input, channels, from, kind, relu| {
        layer(
            input,
            Convolution {
                norm: true,
                relu,
                shortcut: Some(Shortcut { from, kind }),
                ..conv(0, channels, 3, 1, 1)
            },
        )
    };
    let window = Window { kernel: 3, stride: 2, padding: 1 };
    let input = Shape { channels: 3, height: 9, width: 8 };
    let cases = [
        // A residual block, its output pooled.
        vec![
            plain(0, 6, 1),
            plain(1, 6, 1),
            added(2, 6, 1, ShortcutKind::Identity, true),
            Layer { input: 3, kind: LayerKind::GlobalAverage },
            linear(4, 4),
        ],
        // Subsampled to more channels, odd sizes, no ReLU at the end.
        vec![plain(0, 6, 1), plain(1, 10, 2), added(2, 10, 1, ShortcutKind::Subsampled, false), linear(3, 4)],
        // A value that two convolutions take, joined again: a shortcut with weights of its own.
        vec![
            plain(0, 5, 1),
            plain(1, 7, 1),
            layer(1, conv(0, 7, 1, 1, 0)),
            added(2, 7, 3, ShortcutKind::Identity, true),
            linear(4, 4),
        ],
        // A shortcut from the input, and one whose other end is read as a shortcut only.
        vec![
            layer(
                0,
                Convolution {
                    shortcut: Some(Shortcut { from: 0, kind: ShortcutKind::Identity }),
                    relu: true,
                    ..conv(0, 3, 3, 1, 1)
                },
            ),
            linear(1, 4),
        ],
        // A convolution over one pixel, behind a linear layer.
        vec![
            linear(0, 6),
            layer(1, Convolution { bias: true, relu: true, ..conv(0, 5, 3, 1, 1) }),
            linear(2, 4),
        ],
        // A wide linear layer on channels that are filled up.
        vec![plain(0, 13, 1), linear(1, 71), linear(2, 4)],
        // Pools of both kinds.
        vec![
            plain(0, 5, 1),
            Layer { input: 1, kind: LayerKind::MaxPool(window) },
            plain(2, 9, 1),
            Layer { input: 3, kind: LayerKind::AveragePool(window) },
            linear(4, 4),
        ],
    ];
    for (at, layers) in cases.into_iter().enumerate() {
        let architecture = Architecture { input, classes: 4, layers };
        everywhere(&architecture, 3, 1000 + 10 * at as u64);
    }
}

#[test]
fn whole_models() {
    let input = Shape { channels: 3, height: 8, width: 8 };
    let models = [
        Model::ResNet { depth: 8, width: 6 },
        Model::Cnn { width: 5 },
        Model::Mlp { hidden: vec![11, 7] },
        // So wide that its sums are made feature by feature, and with half a panel of outputs.
        Model::Mlp { hidden: vec![343] },
    ];
    for (at, model) in models.iter().enumerate() {
        let architecture = model.architecture(input, 10).expect("a model");
        // Of two images the last normalisation would have two numbers per channel, and gradients that all but cancel.
        everywhere(&architecture, 3, 2000 + 10 * at as u64);
    }
}

/// Networks for hashes: channels by eights, odd ones that are filled up, and matrices only, small and wide.
fn hashed() -> [Architecture; 4] {
    let (image, small) =
        (Shape { channels: 3, height: 16, width: 16 }, Shape { channels: 5, height: 9, width: 7 });
    let whole = Model::ResNet { depth: 8, width: 8 }.architecture(image, 10).expect("a model");
    let pool = LayerKind::MaxPool(Window { kernel: 3, stride: 2, padding: 1 });
    let odd = Architecture {
        input: small,
        classes: 10,
        layers: vec![
            layer(0, Convolution { norm: true, ..conv(0, 13, 3, 1, 1) }),
            layer(1, Convolution { norm: true, ..conv(1, 5, 3, 1, 1) }),
            Layer { input: 2, kind: pool },
            layer(3, conv(3, 13, 3, 2, 1)),
            Layer { input: 4, kind: LayerKind::GlobalAverage },
            linear(5, 10),
        ],
    };
    let matrices = |hidden| Model::Mlp { hidden }.architecture(small, 10).expect("a model");
    [whole, odd, matrices(vec![30, 13]), matrices(vec![343, 13])]
}

/// Hashes of scores, losses and gradients of a step.
fn hash(architecture: &Architecture, threads: usize, isa: Isa) -> (u64, Vec<(u64, usize)>, u64) {
    let weights: Weights = network(architecture, 5);
    let images = 36;
    let x = normal(images * architecture.input.len(), 6);
    let labels: Vec<u16> = (0..18).map(|image| image * 7 % 10).collect();
    let targets = Targets { labels: &labels, draws: 2, classes: 10, smoothing: 0.1 };
    let consistency = Loss::Consistency(Consistency { lambda: 2.0, eta: 0.5 });
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
    pool.install(|| {
        let mut pass =
            Pass::new(architecture, images, Choice::ByShape, isa, MemoryLimit::NONE).expect("a network");
        pass.load(&weights);
        let of = |values: &[f32]| {
            values.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, x| {
                (hash ^ u64::from(x.to_bits())).wrapping_mul(0x0100_0000_01b3)
            })
        };
        let scores = pass.forward(&x, Mode::Training).to_vec();
        let mut by_scores = vec![0.0; scores.len()];
        let losses = [Loss::MeanCrossEntropy, Loss::SoftCrossEntropy, consistency].map(|loss| {
            let value = loss.of(&scores, targets, &mut by_scores);
            (value.sum.to_bits() ^ of(&by_scores).rotate_left(1), value.correct)
        });
        pass.backward(&by_scores, Wanted { weights: true, input: true });
        let mut by_input = vec![0.0; x.len()];
        pass.input_gradient(&mut by_input);
        (of(&scores), losses.to_vec(), of(pass.parameter_gradient()) ^ of(&by_input).rotate_left(1))
    })
}

/// A pass leaves no trace in the next: neither its batch's statistics, nor a change of the running ones.
#[test]
fn evaluation_after_training_takes_the_running_statistics() {
    let architecture = Model::ResNet { depth: 8, width: 8 }
        .architecture(Shape { channels: 3, height: 8, width: 8 }, 10)
        .expect("a model");
    let weights = network(&architecture, 5);
    let images = 5;
    let (x, functional) = (normal(images * architecture.input.len(), 6), normal(images * 10, 7));
    let mut pass = Pass::new(&architecture, images, Choice::ByShape, Isa::detect(), MemoryLimit::NONE)
        .expect("a network");
    pass.load(&weights);
    let mut step = |mode: Mode, wanted: Wanted| {
        let scores = pass.forward(&x, mode).to_vec();
        pass.backward(&functional, wanted);
        let mut statistics = weights.statistics.clone();
        pass.update_statistics(0.1, &mut statistics);
        let mut by_input = vec![0.0; x.len()];
        pass.input_gradient(&mut by_input);
        (scores, by_input, statistics)
    };
    let attack = Wanted { weights: false, input: true };
    let fresh = step(Mode::Evaluation, attack);
    assert_eq!(fresh.2, weights.statistics, "an evaluation pass has no statistics");
    let trained = step(Mode::Training, Wanted { weights: true, input: true });
    assert!(trained.0 != fresh.0 && trained.2 != weights.statistics);
    assert_eq!(step(Mode::Evaluation, attack), fresh);
    assert_eq!(step(Mode::Training, Wanted { weights: true, input: true }), trained);
}

#[test]
fn threads_and_instruction_sets_change_no_bit() {
    for (at, architecture) in hashed().iter().enumerate() {
        let first = hash(architecture, 1, Isa::detect());
        for threads in [2, 3] {
            assert_eq!(hash(architecture, threads, Isa::detect()), first, "{at}");
        }
        let portable = hash(architecture, 2, Isa::PORTABLE);
        for isa in Isa::all() {
            // Without fused multiply-adds the last places differ: see `kernel`.
            let expected = if isa == Isa::PORTABLE { &portable } else { &first };
            if Isa::detect() != Isa::PORTABLE || isa == Isa::PORTABLE {
                assert_eq!(hash(architecture, 2, isa), *expected, "{at} {isa:?}");
            }
        }
    }
}
