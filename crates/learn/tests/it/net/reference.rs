//! The same networks in double precision, written as their formulas: loops over everything, nothing shared with the engine.

use gambeson_data::dataset::Shape;
use gambeson_learn::net::architecture::{Architecture, LayerKind, ShortcutKind, Window};
use gambeson_learn::net::parameters::{LayerRanges, ParameterLayout, Weights};
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

/// Images of one value, in the order channel, row, column.
struct Images<'a> {
    values: &'a [f64],
    shape: Shape,
}

impl Images<'_> {
    fn at(&self, image: usize, c: usize, r: usize, q: usize) -> f64 {
        let Shape { channels, height, width } = self.shape;
        self.values[((image * channels + c) * height + r) * width + q]
    }

    /// What a window at (r, q) sees of a channel: where it looks, and the number there, if it is within the plane.
    fn window(&self, window: Window, image: usize, c: usize, (r, q): (usize, usize)) -> Vec<(usize, f64)> {
        let mut seen = Vec::new();
        for (a, b) in (0..window.kernel).flat_map(|a| (0..window.kernel).map(move |b| (a, b))) {
            let inner = |i: usize, k: usize| (i * window.stride + k).checked_sub(window.padding);
            let (Some(i), Some(j)) = (inner(r, a), inner(q, b)) else { continue };
            if i < self.shape.height && j < self.shape.width {
                seen.push((a * window.kernel + b, self.at(image, c, i, j)));
            }
        }
        seen
    }

    fn plane(&self, image: usize, c: usize) -> &[f64] {
        let plane = self.shape.height * self.shape.width;
        &self.values[(image * self.shape.channels + c) * plane..][..plane]
    }
}

/// Scores of a batch, images × classes. `x` has images in the order channel, row, column.
pub(crate) fn scores(architecture: &Architecture, weights: &Wide, x: &[f64], mode: Mode) -> Vec<f64> {
    let shapes = architecture.shapes().expect("a network");
    let places = ParameterLayout::new(architecture).expect("a network");
    let images = x.len() / architecture.input.len();
    let mut values: Vec<Vec<f64>> = vec![x.to_vec()];
    for (at, layer) in architecture.layers.iter().enumerate() {
        let (to, place) = (shapes[at + 1], &places.layers[at]);
        let from = Images { values: &values[layer.input], shape: shapes[layer.input] };
        let mut y = Vec::with_capacity(images * to.len());
        for image in 0..images {
            for c in 0..to.channels {
                for (r, q) in (0..to.height).flat_map(|r| (0..to.width).map(move |q| (r, q))) {
                    y.push(number(&layer.kind, &from, weights, place, image, c, (r, q)));
                }
            }
        }
        if let LayerKind::Convolution(conv) = &layer.kind {
            if conv.norm {
                normalise(&mut y, to, weights, place, mode);
            }
            if let Some(shortcut) = conv.shortcut {
                let other = Images { values: &values[shortcut.from], shape: shapes[shortcut.from] };
                add_shortcut(&mut y, to, &other, shortcut.kind);
            }
            if conv.relu {
                y.iter_mut().for_each(|y| *y = y.max(0.0));
            }
        }
        values.push(y);
    }
    values.pop().expect("scores")
}

/// One number that a layer computes, before normalisation, shortcut and ReLU of a convolution.
fn number(
    kind: &LayerKind,
    from: &Images<'_>,
    weights: &Wide,
    place: &LayerRanges,
    image: usize,
    c: usize,
    at: (usize, usize),
) -> f64 {
    let bias = |present: bool| if present { weights.parameters[place.bias.start + c] } else { 0.0 };
    match kind {
        LayerKind::Convolution(conv) => {
            let window = Window { kernel: conv.kernel, stride: conv.stride, padding: conv.padding };
            let (channels, taps) = (from.shape.channels, conv.kernel * conv.kernel);
            let of_channel = |k: usize| -> f64 {
                let first = place.weight.start + (c * channels + k) * taps;
                let seen = from.window(window, image, k, at);
                seen.into_iter().map(|(tap, x)| weights.parameters[first + tap] * x).sum()
            };
            (0..channels).map(of_channel).sum::<f64>() + bias(conv.bias)
        }
        LayerKind::AveragePool(window) => {
            let all = from.window(*window, image, c, at);
            all.iter().map(|(_, x)| x).sum::<f64>() / all.len() as f64
        }
        LayerKind::MaxPool(window) => {
            from.window(*window, image, c, at).into_iter().fold(f64::NEG_INFINITY, |most, (_, x)| most.max(x))
        }
        LayerKind::GlobalAverage => {
            let plane = from.plane(image, c);
            plane.iter().sum::<f64>() / plane.len() as f64
        }
        LayerKind::Linear(linear) => {
            let features = from.shape.len();
            let row = &weights.parameters[place.weight.start + c * features..][..features];
            let x = &from.values[image * features..][..features];
            let sum = row.iter().zip(x).map(|(w, x)| w * x).sum::<f64>() + bias(linear.bias);
            if linear.relu { sum.max(0.0) } else { sum }
        }
    }
}

/// Batch normalisation, channel by channel.
fn normalise(y: &mut [f64], shape: Shape, weights: &Wide, place: &LayerRanges, mode: Mode) {
    let plane = shape.height * shape.width;
    let images = y.len() / shape.len();
    for c in 0..shape.channels {
        let (mean, variance) = match mode {
            Mode::Training => {
                let values = Images { values: y, shape };
                let own: Vec<f64> = (0..images).flat_map(|i| values.plane(i, c).to_vec()).collect();
                let mean = own.iter().sum::<f64>() / own.len() as f64;
                (mean, own.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / own.len() as f64)
            }
            Mode::Evaluation => {
                (weights.statistics[place.mean.start + c], weights.statistics[place.variance.start + c])
            }
        };
        let gamma = weights.parameters[place.gamma.start + c];
        let beta = weights.parameters[place.bias.start + c];
        for i in 0..images {
            for y in &mut y[(i * shape.channels + c) * plane..][..plane] {
                *y = gamma * (*y - mean) / (variance + 1e-5).sqrt() + beta;
            }
        }
    }
}

fn add_shortcut(y: &mut [f64], to: Shape, other: &Images<'_>, kind: ShortcutKind) {
    let (step, before) = match kind {
        ShortcutKind::Identity => (1, 0),
        ShortcutKind::Subsampled => {
            (other.shape.height.div_ceil(to.height), (to.channels - other.shape.channels) / 2)
        }
    };
    for (image, y) in y.chunks_exact_mut(to.len()).enumerate() {
        for c in 0..other.shape.channels {
            for (r, q) in (0..to.height).flat_map(|r| (0..to.width).map(move |q| (r, q))) {
                y[((c + before) * to.height + r) * to.width + q] += other.at(image, c, r * step, q * step);
            }
        }
    }
}
