//! Operations that become part of the layer before them: normalisation, ReLU, biases and scales, shortcuts.

use super::graph_value::{GraphValue, Line, Sampled};
use super::importer::{Importer, Numbered};
use crate::net::architecture::{Convolution, Layer, LayerKind, Linear, Shortcut, ShortcutKind};
use crate::net::layer::norm::EPSILON;
use crate::onnx::graph::{Node, Numbers};

#[allow(clippy::cast_possible_truncation)] // networks are f32
impl Importer<'_> {
    /// Batch normalisation by constants. Behind a convolution it is the layer's own; elsewhere a scale.
    pub(super) fn norm(&mut self, node: &Node, from: GraphValue) -> Result<GraphValue, &'static str> {
        let more_outputs = node.outputs.iter().skip(1).any(|name| !name.is_empty());
        if node.integer("training_mode", 0) != 0 || more_outputs || node.integer("spatial", 1) != 1 {
            return Err("statistics of the batch, or per pixel");
        }
        if from.channel_axis() != Some(0) {
            return Err("channels that are not the second axis");
        }
        let part = |at: usize| match self.floats(node, at)? {
            (_, values) if values.len() == from.shape.channels => Ok(values.to_vec()),
            _ => Err("parts that do not fit the channels"),
        };
        let (gamma, beta, mut mean, variance) = (part(1)?, part(2)?, part(3)?, part(4)?);
        let epsilon = node.float("epsilon", EPSILON as f32);
        let own = epsilon == EPSILON as f32;
        // In double precision our ε, not its rounded copy in the file.
        let epsilon = if own { EPSILON } else { f64::from(epsilon) };
        if variance.iter().any(|&variance| f64::from(variance) + epsilon <= 0.0) {
            return Err("a variance that is not positive");
        }
        // Another ε is another variance. Near −1e-5 little of a small one is left: then it is a scale of the weights.
        let more = if own { 0.0 } else { epsilon - EPSILON };
        let stored: Vec<f32> = variance.iter().map(|&variance| (f64::from(variance) + more) as f32).collect();
        let kept = stored.iter().zip(&variance).all(|(&stored, &variance)| {
            let exact = f64::from(variance) + epsilon;
            (f64::from(stored) + EPSILON - exact).abs() <= f64::from(f32::EPSILON) * exact
        });
        if kept
            && let Some((layer, numbers)) = self.joined(&from)
            && let LayerKind::Convolution(convolution) = &mut layer.kind
            && !(convolution.norm || convolution.relu || convolution.shortcut.is_some())
        {
            // A bias before it only moves the mean.
            mean.iter_mut().zip(&numbers.bias).for_each(|(mean, bias)| *mean -= bias);
            (convolution.bias, convolution.norm) = (false, true);
            (numbers.gamma, numbers.bias, numbers.mean, numbers.variance) = (gamma, beta, mean, stored);
            return Ok(from);
        }
        let lines = (0..gamma.len()).map(|c| {
            let scale = f64::from(gamma[c]) / (f64::from(variance[c]) + epsilon).sqrt();
            Line { scale, shift: f64::from(beta[c]) - f64::from(mean[c]) * scale }
        });
        let lines: Vec<Line> = lines.collect();
        Ok(self.scale(from, &lines))
    }

    /// A sum, difference, product or quotient: of a value and a constant per channel, or a shortcut.
    pub(super) fn arithmetic(&mut self, node: &Node) -> Result<GraphValue, &'static str> {
        let (from, constant) = match (self.input(node, 0), self.input(node, 1)) {
            (Some(a), Some(b)) if node.operator == "Add" => return self.shortcut(&a, &b),
            (Some(_), Some(_)) => return Err("two values"),
            (Some(from), None) => (from, 1),
            (None, Some(from)) => (from, 0),
            (None, None) => return Err("no value"),
        };
        let (shape, numbers) = self.floats(node, constant)?;
        let numbers =
            from.per_channel(shape, numbers).ok_or("a constant that is not one number per channel")?;
        let line = |number: f64| match (node.operator.as_str(), constant) {
            ("Add", _) => Some(Line { scale: 1.0, shift: number }),
            ("Sub", 1) => Some(Line { scale: 1.0, shift: -number }),
            ("Sub", _) => Some(Line { scale: -1.0, shift: number }),
            ("Mul", _) => Some(Line { scale: number, shift: 0.0 }),
            ("Div", 1) if number != 0.0 => Some(Line { scale: 1.0 / number, shift: 0.0 }),
            _ => None,
        };
        let lines: Option<Vec<Line>> = numbers.into_iter().map(line).collect();
        Ok(self.scale(from, &lines.ok_or("a division by 0, or of a constant")?))
    }

    /// A scale of channels: part of the layer before it, where that is open, else of what takes it.
    fn scale(&mut self, from: GraphValue, lines: &[Line]) -> GraphValue {
        let Some((layer, Numbered { weight, bias, gamma, .. })) = self.joined(&from) else {
            return from.then(lines);
        };
        let channels = lines.len();
        let norm = match &mut layer.kind {
            LayerKind::Convolution(Convolution { relu: false, shortcut: None, bias, norm, .. }) => {
                *bias = !*norm;
                *norm
            }
            LayerKind::Linear(Linear { relu: false, bias, .. }) => {
                *bias = true;
                false
            }
            _ => return from.then(lines),
        };
        bias.resize(channels, 0.0);
        for ((c, bias), line) in bias.iter_mut().enumerate().zip(lines) {
            *bias = (f64::from(*bias) * line.scale + line.shift) as f32;
            let factors = if norm {
                &mut gamma[c..=c]
            } else {
                let each = weight.len() / channels;
                &mut weight[c * each..][..each]
            };
            factors.iter_mut().for_each(|factor| *factor = (f64::from(*factor) * line.scale) as f32);
        }
        from
    }

    pub(super) fn relu(&mut self, from: GraphValue) -> Result<GraphValue, &'static str> {
        if self.joined(&from).is_none() {
            return Err("an input that others take too, or no layer before it");
        }
        let mut at = from.value - 1;
        loop {
            let Layer { input, kind } = &mut self.layers[at];
            match kind {
                LayerKind::Convolution(Convolution { relu, .. }) | LayerKind::Linear(Linear { relu, .. }) => {
                    *relu = true;
                    return Ok(from);
                }
                // The largest number is not negative, or 0: as if the window had seen no negative ones.
                LayerKind::MaxPool(_) if self.alone[at] && *input > 0 => at = *input - 1,
                _ => return Err("no layer with weights before it"),
            }
        }
    }

    /// ReLU in other words.
    pub(super) fn clip(&mut self, node: &Node, from: GraphValue) -> Result<GraphValue, &'static str> {
        let bound = |at: usize, name: &str, free: f32| match node.input(at) {
            None => Ok(node.float(name, free)),
            Some(_) => match self.constant(node, at).map(|constant| &constant.values) {
                Some(Numbers::Floats(values)) if values.len() == 1 => Ok(values[0]),
                _ => Err("bounds that are not constant"),
            },
        };
        match (bound(1, "min", f32::MIN)?, bound(2, "max", f32::MAX)?) {
            (_, largest) if largest < f32::MAX => Err("a largest number"),
            (0.0, _) => self.relu(from),
            (smallest, _) if smallest <= f32::MIN => Ok(from),
            _ => Err("a smallest number that is not 0"),
        }
    }

    /// The later of two values is a convolution that nothing else takes, and the other its shortcut.
    fn shortcut(&mut self, a: &GraphValue, b: &GraphValue) -> Result<GraphValue, &'static str> {
        let (later, other) = if a.value > b.value { (a, b) } else { (b, a) };
        if !later.is_image() {
            return Err("a sum of rows, or of channels last");
        }
        let (to, from) = (later.shape, other.shape);
        let kind = match other.sampled {
            None if other.is_image() && to == from => ShortcutKind::Identity,
            Some(Sampled { steps, zeros: [before, behind] }) if other.axes == later.axes => {
                let step = Shortcut::subsampling(to, from);
                // One row and one column are the first, whatever the step.
                let fits = step.is_some_and(|(step, _)| steps == [step; 2] || to.height * to.width == 1);
                if !fits || before != behind {
                    return Err("a shortcut with other steps, or other channels of zeros, than option A has");
                }
                ShortcutKind::Subsampled
            }
            _ => return Err("shapes that differ"),
        };
        self.take(&GraphValue { sampled: None, ..other.clone() })?;
        let shortcut = Shortcut { from: other.value, kind };
        match self.joined(later) {
            Some((layer, _)) if other.value < later.value => match &mut layer.kind {
                LayerKind::Convolution(convolution)
                    if convolution.shortcut.is_none() && !convolution.relu =>
                {
                    convolution.shortcut = Some(shortcut);
                    Ok(later.clone())
                }
                _ => Err("no convolution to add to"),
            },
            _ => Err("no convolution to add to"),
        }
    }
}
