//! The fast path to scores: pooling against its definition, images that share buffers, groups of any size.

use super::gradients::conv;
use super::{network, normal};
use gambeson_data::dataset::Shape;
use gambeson_learn::net::architecture::{
    Architecture, ArchitectureError, Convolution, Layer, LayerKind, Linear, Window,
};
use gambeson_learn::net::inference::Inference;
use gambeson_learn::net::kernel::Isa;
use gambeson_learn::net::models::Model;
use gambeson_learn::net::parameters::{ParameterLayout, Weights};
use gambeson_learn::net::pass::{Mode, Pass, Wanted};
use gambeson_learn::net::plan::Choice;
use gambeson_lowrank::MemoryLimit;
use gambeson_smooth::input_map::Layout;

/// Scores of images, all on this thread, one after the other through the same memory.
fn scores(inference: &Inference, x: &[f32]) -> Vec<f32> {
    let Architecture { input, classes, .. } = inference.architecture();
    let mut scores = vec![0.0; x.len() / input.len() * classes];
    inference.scores_on_one_thread(x, &mut scores);
    scores
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// Five channels are stored as eight. Of the infinite numbers that the first image makes, nothing may be left for those
/// behind it, be it in a channel whose weights are 0.
#[test]
fn an_image_leaves_nothing_for_the_next() {
    let input = Shape { channels: 5, height: 8, width: 8 };
    let layer = |input, channels| Layer {
        input,
        kind: LayerKind::Convolution(Convolution { relu: true, ..conv(input, channels, 3, 1, 1) }),
    };
    let linear = LayerKind::Linear(Linear { outputs: 3, bias: true, relu: false });
    let layers = vec![layer(0, 7), layer(1, 7), layer(2, 4), Layer { input: 3, kind: linear }];
    let architecture = Architecture { input, classes: 3, layers };
    let places = ParameterLayout::new(&architecture).expect("a network");
    let mut weights = Weights { parameters: vec![1.0; places.parameters], statistics: Vec::new() };
    for layer in &places.layers[..2] {
        weights.parameters[layer.weight.clone()].fill(1e30);
    }
    let mut x = vec![0.0; 32 * input.len()];
    for layout in [Layout::ChannelsFirst, Layout::ChannelsLast] {
        let fresh = || {
            Inference::of_rows(&architecture, &weights, Isa::detect(), layout, MemoryLimit::NONE)
                .expect("a network")
        };
        x[..input.len()].fill(0.0);
        let alone = scores(&fresh(), &x[..input.len()]);
        assert!(alone.iter().all(|score| score.is_finite()));
        x[..input.len()].fill(1.0);
        let all = scores(&fresh(), &x);
        assert!(!all[0].is_finite(), "the first image overflows");
        for (image, row) in all.chunks_exact(3).enumerate().skip(1) {
            assert_eq!(row, alone, "{layout:?}, image {image}");
        }
    }
}

/// Matrices are shared by many images at a time, convolutions by few; no score may tell.
#[test]
fn groups_change_no_bit() {
    let shape = |channels, height, width| Shape { channels, height, width };
    for (input, model) in [
        (shape(1, 7, 5), Model::Mlp { hidden: vec![40, 13] }),
        (shape(3, 8, 8), Model::Mlp { hidden: vec![200, 100] }),
        (shape(9, 3, 3), Model::Mlp { hidden: vec![33] }),
        (shape(3, 16, 16), Model::Cnn { width: 5 }),
    ] {
        let architecture = model.architecture(input, 10).expect("a model");
        let weights = network(&architecture, 3);
        let x = normal(150 * input.len(), 4);
        let mut portable = Vec::new();
        for isa in Isa::all() {
            let inference =
                Inference::new(&architecture, &weights, isa, MemoryLimit::NONE).expect("a network");
            let together = scores(&inference, &x);
            let alone: Vec<f32> = x.chunks_exact(input.len()).flat_map(|x| scores(&inference, x)).collect();
            assert_eq!(bits(&together), bits(&alone), "{model:?} {isa:?}");
            for threads in [1, 2, 5] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
                let mut parallel = vec![0.0; together.len()];
                pool.install(|| inference.scores(&x, &mut parallel));
                assert_eq!(bits(&parallel), bits(&together), "{model:?} {isa:?} {threads}");
            }
            // The portable loops do not fuse: see `kernel`.
            if isa != Isa::PORTABLE {
                portable = if portable.is_empty() { bits(&together) } else { portable };
                assert!(Isa::detect() == Isa::PORTABLE || portable == bits(&together), "{model:?} {isa:?}");
            }
        }
    }
}

/// Images with channels last are the same images.
#[test]
fn matrices_take_channels_in_either_order() {
    let input = Shape { channels: 3, height: 4, width: 5 };
    let architecture = Model::Mlp { hidden: vec![20] }.architecture(input, 4).expect("a model");
    let weights = network(&architecture, 3);
    let first = normal(9 * input.len(), 4);
    let mut last = first.clone();
    for (first, last) in first.chunks_exact(60).zip(last.chunks_exact_mut(60)) {
        for (at, x) in first.iter().enumerate() {
            last[at % 20 * 3 + at / 20] = *x;
        }
    }
    let of_rows = |rows: Layout| {
        Inference::of_rows(&architecture, &weights, Isa::detect(), rows, MemoryLimit::NONE)
            .expect("a network")
    };
    let (turned, inference) = (of_rows(Layout::ChannelsLast), of_rows(Layout::ChannelsFirst));
    assert_eq!(bits(&scores(&turned, &last)), bits(&scores(&inference, &first)));
}

/// Rows of 1024 numbers lie a little further apart: against the definition in double precision.
#[test]
fn matrices_take_rows_that_do_not_touch() {
    let input = Shape { channels: 1024, height: 1, width: 1 };
    let kind = LayerKind::Linear(Linear { outputs: 13, bias: true, relu: false });
    let architecture = Architecture { input, classes: 13, layers: vec![Layer { input: 0, kind }] };
    let weights = network(&architecture, 7);
    let places = ParameterLayout::new(&architecture).expect("a network");
    let x = normal(35 * 1024, 8);
    let found = scores(
        &Inference::new(&architecture, &weights, Isa::detect(), MemoryLimit::NONE).expect("a network"),
        &x,
    );
    let (matrix, bias) = (&places.layers[0].weight, &places.layers[0].bias);
    for (at, score) in found.iter().enumerate() {
        let row = &weights.parameters[matrix.clone()][at % 13 * 1024..][..1024];
        let terms = row.iter().zip(&x[at / 13 * 1024..]).map(|(w, x)| f64::from(*w) * f64::from(*x));
        let exact = f64::from(weights.parameters[bias.clone()][at % 13]) + terms.sum::<f64>();
        assert!((f64::from(*score) - exact).abs() <= 1e-5, "{score} at {at}, not {exact}");
    }
}

/// A first layer of eight channels is computed from planes if they come as planes: the same sums in another order.
#[test]
fn planes_and_pixels_give_the_same_scores() {
    for (height, kernel, stride, padding) in [(32, 4, 2, 1), (31, 4, 2, 0), (12, 3, 1, 1), (9, 5, 3, 2)] {
        let input = Shape { channels: 3, height, width: height };
        let (bias, norm, shortcut, relu) = (true, false, None, true);
        let first = Convolution { channels: 8, kernel, stride, padding, bias, norm, shortcut, relu };
        let second = Convolution { channels: 5, kernel: 3, stride: 1, padding: 1, ..first.clone() };
        let kinds = [LayerKind::Convolution(first), LayerKind::Convolution(second), LayerKind::GlobalAverage];
        let layers = kinds.into_iter().enumerate().map(|(input, kind)| Layer { input, kind }).collect();
        let architecture = Architecture { input, classes: 5, layers };
        let weights = network(&architecture, 5);
        let planes = normal(7 * input.len(), 6);
        let pixels = height * height;
        let turned: Vec<f32> = planes
            .chunks_exact(3 * pixels)
            .flat_map(|image| (0..3 * pixels).map(|at| image[at % 3 * pixels + at / 3]))
            .collect();
        let of_rows = |rows: Layout| {
            Inference::of_rows(&architecture, &weights, Isa::detect(), rows, MemoryLimit::NONE)
                .expect("a network")
        };
        let by_planes = scores(&of_rows(Layout::ChannelsFirst), &planes);
        let by_pixels = scores(&of_rows(Layout::ChannelsLast), &turned);
        let largest = by_pixels.iter().fold(0.0_f32, |largest, score| largest.max(score.abs()));
        for (at, (a, b)) in by_planes.iter().zip(&by_pixels).enumerate() {
            assert!((a - b).abs() <= 2e-6 * largest, "{input}, {kernel} by {stride}: {a} and {b} at {at}");
        }
        // Nor does an image depend on those before it.
        for (layout, x, all) in
            [(Layout::ChannelsFirst, &planes, &by_planes), (Layout::ChannelsLast, &turned, &by_pixels)]
        {
            let alone = scores(&of_rows(layout), &x[6 * input.len()..]);
            assert_eq!(bits(&alone), bits(&all[30..]), "{layout:?}");
        }
    }
}

/// Numbers of all sizes with both zeros, infinities and NaN among them, and many that are equal.
fn uneven(count: usize, seed: u64) -> Vec<f32> {
    let special = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, -0.0, 1.5, 1.5, -2.0];
    let numbers = normal(2 * count, seed);
    let pairs = numbers.chunks_exact(2).enumerate();
    pairs.map(|(at, pair)| if pair[0] > 1.0 { special[at % special.len()] } else { pair[1] }).collect()
}

/// Of one plane, by the definition: what comes out, and dx for dy.
fn pooled(x: &[f32], dy: &[f32], input: Shape, window: Window, largest: bool) -> (Vec<f32>, Vec<f32>) {
    let Window { kernel, stride, padding } = window;
    let places = |size: usize| (size + 2 * padding - kernel) / stride + 1;
    let reach = |at: usize, size: usize| {
        (at * stride..at * stride + kernel)
            .filter_map(|i| i.checked_sub(padding))
            .filter(move |&i| i < size)
            .collect::<Vec<_>>()
    };
    let (mut y, mut dx) = (Vec::new(), vec![0.0; x.len()]);
    for r in 0..places(input.height) {
        for q in 0..places(input.width) {
            let columns = reach(q, input.width);
            let inside: Vec<usize> = reach(r, input.height)
                .into_iter()
                .flat_map(|i| columns.iter().map(move |j| i * input.width + j))
                .collect();
            let dy = dy[y.len()];
            let Some(&first) = inside.first() else {
                y.push(0.0);
                continue;
            };
            if largest {
                let nan = inside.iter().copied().find(|&at| x[at].is_nan());
                let best = nan.unwrap_or_else(|| {
                    inside.iter().fold(first, |best, &at| if x[at] > x[best] { at } else { best })
                });
                y.push(x[best]);
                dx[best] += dy;
            } else {
                let share = 1.0 / inside.len() as f32;
                y.push(share * inside[1..].iter().fold(x[first], |sum, &at| sum + x[at]));
                inside.iter().for_each(|&at| dx[at] += share * dy);
            }
        }
    }
    (y, dx)
}

/// A network of one pooling layer, whose scores are what it makes: equal to the definition to the bit.
#[test]
fn pooling_is_its_definition() {
    let same = |ours: &[f32], theirs: &[f32], what: &str| {
        assert_eq!(ours.len(), theirs.len(), "{what}");
        let equal = |(a, b): (&f32, &f32)| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
        let wrong = ours.iter().zip(theirs).position(|pair| !equal(pair));
        assert!(wrong.is_none(), "{what}: {wrong:?}");
    };
    let mut seed = 0;
    for (kernel, stride, padding) in
        [(2, 2, 0), (3, 2, 1), (3, 1, 0), (2, 3, 1), (1, 1, 0), (5, 2, 4), (6, 1, 5)]
    {
        for channels in [1, 3, 5, 8, 13] {
            for largest in [true, false] {
                let (input, window) =
                    (Shape { channels, height: 7, width: 9 }, Window { kernel, stride, padding });
                let plane = input.height * input.width;
                let kind = if largest { LayerKind::MaxPool(window) } else { LayerKind::AveragePool(window) };
                let places = |size: usize| (size + 2 * padding - kernel) / stride + 1;
                let each = places(7) * places(9);
                let classes = channels * each;
                let architecture = Architecture { input, classes, layers: vec![Layer { input: 0, kind }] };
                let weights = Weights { parameters: Vec::new(), statistics: Vec::new() };
                seed += 2;
                let (x, dy) = (uneven(3 * input.len(), seed), normal(3 * classes, seed + 1));
                let (mut y, mut dx) = (Vec::new(), Vec::new());
                for (x, dy) in x.chunks_exact(plane).zip(dy.chunks_exact(each)) {
                    let (values, gradients) = pooled(x, dy, input, window, largest);
                    y.extend(values);
                    dx.extend(gradients);
                }
                for isa in Isa::all() {
                    let what = format!("{channels} channels, {window:?}, largest: {largest}, {isa:?}");
                    let inference =
                        Inference::new(&architecture, &weights, isa, MemoryLimit::NONE).expect("a network");
                    same(&scores(&inference, &x), &y, &what);
                    let mut pass = Pass::new(&architecture, 3, Choice::ByShape, isa, MemoryLimit::NONE)
                        .expect("a network");
                    pass.load(&weights);
                    pass.forward(&x, Mode::Training);
                    pass.backward(&dy, Wanted { weights: true, input: true });
                    let mut by_input = vec![0.0; x.len()];
                    pass.input_gradient(&mut by_input);
                    same(&by_input, &dx, &what);
                }
            }
        }
    }
}

/// A window whose size alone leaves no room for twice its padding.
#[test]
fn windows_beyond_all_numbers_are_refused() {
    let input = Shape { channels: 3, height: 32, width: 32 };
    let most = usize::MAX;
    for (kernel, padding) in [(most - 19, most - 20), (most, most - 1), (most / 2 + 40, most / 2 + 2)] {
        let kind = LayerKind::MaxPool(Window { kernel, stride: 1, padding });
        let architecture = Architecture { input, classes: 363, layers: vec![Layer { input: 0, kind }] };
        assert!(architecture.shapes().is_err(), "{kernel} {padding}: {:?}", architecture.shapes());
    }
    let kind = LayerKind::MaxPool(Window { kernel: most - 19, stride: 1, padding: most - 20 });
    let error = Architecture { input, classes: 363, layers: vec![Layer { input: 0, kind }] }.shapes();
    assert!(error.is_err_and(|error| error.to_string().contains("does not fit")));
}

/// A small file may have values of gigabytes: a few weights per channel, and many channels on a large plane.
#[test]
fn values_beyond_the_memory_limit_are_refused() {
    let input = Shape { channels: 1, height: 256, width: 256 };
    let linear = LayerKind::Linear(Linear { outputs: 2, bias: false, relu: false });
    let layers = vec![
        Layer { input: 0, kind: LayerKind::Convolution(conv(0, 1 << 15, 1, 1, 0)) },
        Layer { input: 1, kind: LayerKind::GlobalAverage },
        Layer { input: 2, kind: linear },
    ];
    let architecture = Architecture { input, classes: 2, layers };
    let places = ParameterLayout::new(&architecture).expect("a network");
    let weights = Weights { parameters: vec![0.0; places.parameters], statistics: Vec::new() };
    // 2³¹ numbers of four images are 34 GB.
    let limit = MemoryLimit::bytes(16 << 30);
    let made = Inference::new(&architecture, &weights, Isa::detect(), limit).map(|_| ());
    assert!(matches!(made, Err(ArchitectureError::Memory { needed, .. }) if needed >= 32 << 30), "{made:?}");
}
