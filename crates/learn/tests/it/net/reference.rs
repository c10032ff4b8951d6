//! The same networks in double precision, written as their formulas: loops over everything, nothing shared with the engine.

use gambeson_learn::net::architecture::{Architecture, LayerKind, ShortcutKind, Window};
use gambeson_learn::net::parameters::{Places, Weights};
use gambeson_learn::net::pass::Mode;

/// Weights in double precision.
#[derive(Clone)]
pub(crate) struct Wide {
    pub(crate) parameters: Vec<f64>,
    pub(crate) statistics: Vec<f64>,
}

impl From<&Weights> for Wide {
    fn from(weights: &Weights) -> Self {
        let wide = |values: &[f32]| values.iter().map(|&x| f64::from(x)).collect();
        Self { parameters: wide(&weights.parameters), statistics: wide(&weights.statistics) }
    }
}

/// Scores of a batch, images × classes. `x` has images in the order channel, row, column.
#[allow(clippy::too_many_lines)] // all formulas in one place
pub(crate) fn scores(architecture: &Architecture, weights: &Wide, x: &[f64], mode: Mode) -> Vec<f64> {
    let shapes = architecture.shapes().expect("a network");
    let places = Places::new(architecture).expect("a network");
    let images = x.len() / architecture.input.len();
    let mut values: Vec<Vec<f64>> = vec![x.to_vec()];
    for (at, layer) in architecture.layers.iter().enumerate() {
        let (from, to, place) = (shapes[layer.input], shapes[at + 1], &places.layers[at]);
        let x = &values[layer.input];
        let pixel = |image: usize, c: usize, r: isize, q: isize| -> Option<f64> {
            let (r, q) = (usize::try_from(r).ok()?, usize::try_from(q).ok()?);
            (r < from.height && q < from.width)
                .then(|| x[((image * from.channels + c) * from.height + r) * from.width + q])
        };
        let mut y = vec![0.0; images * to.len()];
        let places_of = |window: Window, r: usize, q: usize| {
            (0..window.kernel).flat_map(move |a| {
                (0..window.kernel).map(move |b| {
                    let at = |i: usize, k: usize| {
                        isize::try_from(i * window.stride + k).expect("small")
                            - isize::try_from(window.padding).expect("small")
                    };
                    (a, b, at(r, a), at(q, b))
                })
            })
        };
        for image in 0..images {
            for c in 0..to.channels {
                for r in 0..to.height {
                    for q in 0..to.width {
                        let out = &mut y[((image * to.channels + c) * to.height + r) * to.width + q];
                        match &layer.kind {
                            LayerKind::Convolution(conv) => {
                                let window = Window {
                                    kernel: conv.kernel,
                                    stride: conv.stride,
                                    padding: conv.padding,
                                };
                                for (a, b, i, j) in places_of(window, r, q) {
                                    for k in 0..from.channels {
                                        let w = ((c * from.channels + k) * conv.kernel + a) * conv.kernel + b;
                                        let w = weights.parameters[place.weight.start + w];
                                        *out += w * pixel(image, k, i, j).unwrap_or(0.0);
                                    }
                                }
                                if conv.bias {
                                    *out += weights.parameters[place.bias.start + c];
                                }
                            }
                            LayerKind::AveragePool(window) => {
                                let all: Vec<f64> = places_of(*window, r, q)
                                    .filter_map(|(_, _, i, j)| pixel(image, c, i, j))
                                    .collect();
                                *out = all.iter().sum::<f64>() / all.len() as f64;
                            }
                            LayerKind::MaxPool(window) => {
                                let all =
                                    places_of(*window, r, q).filter_map(|(_, _, i, j)| pixel(image, c, i, j));
                                *out = all.fold(f64::NEG_INFINITY, f64::max);
                            }
                            LayerKind::GlobalAverage => {
                                let plane = from.height * from.width;
                                *out = x[(image * from.channels + c) * plane..][..plane].iter().sum::<f64>()
                                    / plane as f64;
                            }
                            LayerKind::Linear(linear) => {
                                let row =
                                    &weights.parameters[place.weight.start + c * from.len()..][..from.len()];
                                *out = row.iter().zip(&x[image * from.len()..]).map(|(w, x)| w * x).sum();
                                if linear.bias {
                                    *out += weights.parameters[place.bias.start + c];
                                }
                                if linear.relu {
                                    *out = out.max(0.0);
                                }
                            }
                        }
                    }
                }
            }
        }
        if let LayerKind::Convolution(conv) = &layer.kind {
            let plane = to.height * to.width;
            if conv.norm {
                for c in 0..to.channels {
                    let all = |y: &[f64]| -> Vec<f64> {
                        (0..images)
                            .flat_map(|i| y[(i * to.channels + c) * plane..][..plane].to_vec())
                            .collect()
                    };
                    let own = all(&y);
                    let count = own.len() as f64;
                    let (mean, variance) = match mode {
                        Mode::Training => {
                            let mean = own.iter().sum::<f64>() / count;
                            (mean, own.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / count)
                        }
                        Mode::Evaluation => (
                            weights.statistics[place.mean.start + c],
                            weights.statistics[place.variance.start + c],
                        ),
                    };
                    let (gamma, beta) =
                        (weights.parameters[place.gamma.start + c], weights.parameters[place.bias.start + c]);
                    for i in 0..images {
                        for y in &mut y[(i * to.channels + c) * plane..][..plane] {
                            *y = gamma * (*y - mean) / (variance + 1e-5).sqrt() + beta;
                        }
                    }
                }
            }
            if let Some(shortcut) = conv.shortcut {
                let (other, values) = (shapes[shortcut.from], &values[shortcut.from]);
                let (step, before) = match shortcut.kind {
                    ShortcutKind::Identity => (1, 0),
                    ShortcutKind::Subsampled => {
                        (other.height.div_ceil(to.height), (to.channels - other.channels) / 2)
                    }
                };
                for i in 0..images {
                    for c in 0..other.channels {
                        for r in 0..to.height {
                            for q in 0..to.width {
                                y[((i * to.channels + c + before) * to.height + r) * to.width + q] += values
                                    [((i * other.channels + c) * other.height + r * step) * other.width
                                        + q * step];
                            }
                        }
                    }
                }
            }
            if conv.relu {
                y.iter_mut().for_each(|y| *y = y.max(0.0));
            }
        }
        values.push(y);
    }
    values.pop().expect("scores")
}
