//! Operations that are layers of ours: convolution, pooling, matrices.

use super::graph_value::{GraphValue, Line};
use super::importer::{Importer, Numbered};
use super::window::window;
use crate::net::architecture::{Convolution, LayerKind, Linear, Window};
use crate::onnx::graph::Node;
use std::rc::Rc;

impl Importer<'_> {
    pub(super) fn convolution(
        &mut self,
        node: &Node,
        mut from: GraphValue,
    ) -> Result<GraphValue, &'static str> {
        if !from.is_image() {
            return Err("an input that is not channel, row, column");
        }
        if node.integer("group", 1) != 1 {
            return Err("groups");
        }
        let (shape, weight) = self.floats(node, 1)?;
        let &[channels, inputs, rows, columns] = shape else { return Err("weights of another shape") };
        if rows != columns || inputs != from.shape.channels {
            return Err("a kernel that is not square, or for another number of channels");
        }
        let Window { kernel, stride, padding } = window(node, Some(rows), from.shape)?;
        let mut weight = weight.to_vec();
        let mut bias = self.bias(node, channels, 1.0)?;
        // Zeros around the image are not scaled, so only without them a scale of the input is one of the weights.
        if from.value > 0
            && padding == 0
            && let Some(lines) = from.scaled.take()
        {
            absorb(&lines, kernel * kernel, channels, &mut weight, &mut bias);
        }
        self.take(&from)?;
        let bias_given = !bias.is_empty();
        let kind = Convolution {
            channels,
            kernel,
            stride,
            padding,
            bias: bias_given,
            norm: false,
            shortcut: None,
            relu: false,
        };
        self.push(&from, LayerKind::Convolution(kind), Numbered { weight, bias, ..Numbered::default() })
    }

    /// The third input, times a factor: one number per output, or none.
    fn bias(&self, node: &Node, outputs: usize, factor: f32) -> Result<Vec<f32>, &'static str> {
        if node.input(2).is_none() {
            return Ok(Vec::new());
        }
        let (shape, numbers) = self.floats(node, 2)?;
        let row = shape.iter().rev().skip(1).all(|&size| size == 1);
        match *numbers {
            [number] if row => Ok(vec![factor * number; outputs]),
            _ if row && numbers.len() == outputs => {
                Ok(numbers.iter().map(|number| factor * number).collect())
            }
            _ => Err("a bias that is not one number per output"),
        }
    }

    pub(super) fn pool(&mut self, node: &Node, from: &GraphValue) -> Result<GraphValue, &'static str> {
        self.take_image(from)?;
        let window = window(node, None, from.shape)?;
        if node.operator == "MaxPool" {
            if node.outputs.iter().skip(1).any(|name| !name.is_empty()) {
                return Err("indices");
            }
            return self.push(from, LayerKind::MaxPool(window), Numbered::default());
        }
        if window.padding > 0 && node.integer("count_include_pad", 0) != 0 {
            return Err("count_include_pad");
        }
        self.push(from, LayerKind::AveragePool(window), Numbered::default())
    }

    pub(super) fn global_average(&mut self, from: &GraphValue) -> Result<GraphValue, &'static str> {
        self.take_image(from)?;
        self.push(from, LayerKind::GlobalAverage, Numbered::default())
    }

    /// A mean over rows and columns.
    pub(super) fn mean(&mut self, node: &Node, from: &GraphValue) -> Result<GraphValue, &'static str> {
        let mut axes = self.list(node, 1, "axes").ok_or("axes that are not constant")?;
        axes.iter_mut().filter(|axis| **axis < 0).for_each(|axis| *axis += 4);
        axes.sort_unstable();
        if axes != [2, 3] {
            return Err("axes that are not rows and columns");
        }
        let made = self.global_average(from)?;
        let axes =
            if node.integer("keepdims", 1) == 0 { vec![made.shape.channels] } else { made.axes.clone() };
        Ok(GraphValue { axes, ..made })
    }

    pub(super) fn linear(&mut self, node: &Node, mut from: GraphValue) -> Result<GraphValue, &'static str> {
        if node.integer("transA", 0) != 0 {
            return Err("transA");
        }
        let (alpha, beta) = (node.float("alpha", 1.0), node.float("beta", 1.0));
        let transposed = node.operator == "Gemm" && node.integer("transB", 0) != 0;
        let (shape, values) = self.floats(node, 1)?;
        let &[rows, columns] = shape else { return Err("weights of another shape") };
        let (inputs, outputs) = if transposed { (columns, rows) } else { (rows, columns) };
        if !from.is_row() || inputs != from.shape.len() {
            return Err("an input that is not one row of numbers, or does not fit");
        }
        // Our order of inputs is channel, row, column.
        let (plane, channels) = (from.shape.height * from.shape.width, from.shape.channels);
        let theirs = |index: usize| {
            if from.channels_last { index % plane * channels + index / plane } else { index }
        };
        let at =
            |o: usize, i: usize| if transposed { values[o * inputs + i] } else { values[i * outputs + o] };
        let mut weight: Vec<f32> = (0..outputs)
            .flat_map(|o| (0..inputs).map(move |i| (o, i)))
            .map(|(o, i)| alpha * at(o, theirs(i)))
            .collect();
        let mut bias = if node.operator == "Gemm" { self.bias(node, outputs, beta)? } else { Vec::new() };
        if from.value > 0
            && let Some(lines) = from.scaled.take()
        {
            absorb(&lines, plane, outputs, &mut weight, &mut bias);
        }
        self.take(&from)?;
        let kind = LayerKind::Linear(Linear { outputs, bias: !bias.is_empty(), relu: false });
        let made = self.push(&from, kind, Numbered { weight, bias, ..Numbered::default() })?;
        Ok(GraphValue { axes: vec![outputs], ..made })
    }
}

/// Takes a scale of the input's channels into weights, `each` to a channel, and bias: w·(scale·x + shift) is
/// (w·scale)·x + Σ w·shift. Sums are in double precision and rounded once.
#[allow(clippy::cast_possible_truncation)] // networks are f32
fn absorb(lines: &Rc<[Line]>, each: usize, outputs: usize, weight: &mut [f32], bias: &mut Vec<f32>) {
    let mut sums: Vec<f64> = bias.iter().map(|&bias| bias.into()).collect();
    sums.resize(outputs, 0.0);
    for (row, sum) in weight.chunks_exact_mut(lines.len() * each).zip(&mut sums) {
        for (weights, line) in row.chunks_exact_mut(each).zip(lines.iter()) {
            for weight in weights {
                *sum += f64::from(*weight) * line.shift;
                *weight = (f64::from(*weight) * line.scale) as f32;
            }
        }
    }
    *bias = sums.into_iter().map(|sum| sum as f32).collect();
}
