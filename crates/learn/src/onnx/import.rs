//! ONNX graphs as networks of our own, where they are made of layers that the engine has.
//!
//! What is understood: Conv (square kernels, one group), BatchNormalization and Relu behind it, Add as a shortcut, MaxPool,
//! AveragePool and GlobalAveragePool, Flatten and Reshape to rows, Gemm and MatMul with constant matrices and a bias, a
//! Transpose between channels first and last at the input or before the rows, Identity, Dropout, and a Softmax at the end,
//! which changes no answer. Anything else is named, and the graph is left to ONNX Runtime.

use super::graph::{Attribute, Constant, Graph, Node, Numbers};
use super::wire::WireError;
use crate::net::architecture::{
    Architecture, ArchitectureError, Convolution, Layer, LayerKind, Linear, Shortcut, ShortcutKind, Window,
};
use crate::net::parameters::{Places, Weights};
use gambeson_data::dataset::Shape;
use std::collections::HashMap;
use thiserror::Error;

/// Why a graph is not one for the engine.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum Unsupported {
    /// An operation that it does not have.
    #[error("operation {operator} (output `{output}`)")]
    Operator {
        /// Its name.
        operator: String,
        /// What it makes.
        output: String,
    },
    /// An operation with settings that it does not have.
    #[error("operation {operator} (output `{output}`) with {what}")]
    Setting {
        /// Its name.
        operator: String,
        /// What it makes.
        output: String,
        /// What of it.
        what: &'static str,
    },
    /// Not one input and one output.
    #[error("{inputs} inputs and {outputs} outputs, where one of each is expected")]
    Ends {
        /// Inputs that are no constants.
        inputs: usize,
        /// Outputs.
        outputs: usize,
    },
    /// The order of the input's numbers is not the one that its dimensions suggest.
    #[error("an input whose channels lie elsewhere than its dimensions suggest")]
    Layout,
    /// The layers do not fit together.
    #[error(transparent)]
    Architecture(#[from] ArchitectureError),
}

/// Why a file is not a network for the engine.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The file.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// What the graph is made of.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
}

/// A graph as a network.
#[derive(Clone, Debug)]
pub struct Imported {
    /// Its layers.
    pub architecture: Architecture,
    /// Its numbers.
    pub weights: Weights,
    /// Whether the graph takes rows with channels innermost.
    pub channels_last: bool,
}

/// What a name stands for.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// The value of our network.
    value: usize,
    /// Its numbers in the order row, column, channel.
    channels_last: bool,
    /// As one row of numbers.
    flat: bool,
}

/// The numbers of a layer.
#[derive(Clone, Debug, Default)]
struct Numbered {
    weight: Vec<f32>,
    bias: Vec<f32>,
    gamma: Vec<f32>,
    mean: Vec<f32>,
    variance: Vec<f32>,
}

struct Importer<'a> {
    graph: &'a Graph,
    layers: Vec<Layer>,
    numbers: Vec<Numbered>,
    known: HashMap<&'a str, Known>,
    input: Shape,
    input_last: bool,
}

/// Reads an ONNX file whose input has this shape. `None` where there is no graph in it.
pub fn import(model: &[u8], input: Shape) -> Result<Option<Imported>, ImportError> {
    let Some(graph) = Graph::read(model)? else { return Ok(None) };
    Ok(Some(translate(&graph, input)?))
}

fn translate(graph: &Graph, input: Shape) -> Result<Imported, Unsupported> {
    let ([first], [last]) = (&graph.inputs[..], &graph.outputs[..]) else {
        return Err(Unsupported::Ends { inputs: graph.inputs.len(), outputs: graph.outputs.len() });
    };
    let mut importer = Importer {
        graph,
        layers: Vec::new(),
        numbers: Vec::new(),
        known: HashMap::from([(first.as_str(), Known { value: 0, channels_last: false, flat: false })]),
        input,
        input_last: false,
    };
    for node in &graph.nodes {
        importer.node(node)?;
    }
    let ends = Unsupported::Ends { inputs: 1, outputs: 0 };
    let end = importer.known.get(last.as_str()).copied().ok_or(ends.clone())?;
    if end.value != importer.layers.len() {
        return Err(ends);
    }
    let probe = Architecture { input, classes: 1, layers: importer.layers.clone() };
    let classes = match probe.shapes() {
        Err(ArchitectureError::Scores { found, .. }) => found,
        Ok(_) => 1,
        Err(error) => return Err(error.into()),
    };
    let architecture = Architecture { input, classes, layers: importer.layers };
    let places = Places::new(&architecture)?;
    let mut weights =
        Weights { parameters: vec![0.0; places.parameters], statistics: vec![0.0; places.statistics] };
    for (place, own) in places.layers.iter().zip(&importer.numbers) {
        for (range, values) in
            [(&place.weight, &own.weight), (&place.bias, &own.bias), (&place.gamma, &own.gamma)]
        {
            weights.parameters[range.clone()].copy_from_slice(values);
        }
        for (range, values) in [(&place.mean, &own.mean), (&place.variance, &own.variance)] {
            weights.statistics[range.clone()].copy_from_slice(values);
        }
    }
    Ok(Imported { architecture, weights, channels_last: importer.input_last })
}

impl<'a> Importer<'a> {
    fn node(&mut self, node: &'a Node) -> Result<(), Unsupported> {
        let output = node.outputs.first().map_or("", String::as_str);
        let operator =
            || Unsupported::Operator { operator: node.operator.clone(), output: output.to_owned() };
        let setting =
            |what| Unsupported::Setting { operator: node.operator.clone(), output: output.to_owned(), what };
        if node.operator == "Constant" {
            return Ok(()); // looked up where it is used
        }
        let first = node.inputs.first().and_then(|name| self.known.get(name.as_str())).copied();
        let Some(from) =
            first.or_else(|| node.inputs.get(1).and_then(|name| self.known.get(name.as_str())).copied())
        else {
            return Err(operator());
        };
        let made = match node.operator.as_str() {
            "Identity" | "Dropout" => from,
            "Softmax" | "LogSoftmax" if self.graph.outputs.first().is_some_and(|last| last == output) => from,
            "Transpose" => self.transpose(node, from).ok_or_else(|| setting("an order of axes"))?,
            "Flatten" if integer(node, "axis", 1) == 1 => Known { flat: true, ..from },
            "Reshape" => {
                let shape = self.constant(node, 1).ok_or_else(|| setting("a shape that is not constant"))?;
                let Numbers::Integers(shape) = &shape.values else {
                    return Err(setting("a shape of another type"));
                };
                if shape.len() != 2 {
                    return Err(setting("a shape that is not rows"));
                }
                Known { flat: true, ..from }
            }
            "Conv" => self.convolution(node, from).map_err(setting)?,
            "BatchNormalization" => self.norm(node, from).map_err(setting)?,
            "Relu" => self.relu(node, from).map_err(setting)?,
            "MaxPool" | "AveragePool" => self.pool(node, from).map_err(setting)?,
            "GlobalAveragePool" if !from.channels_last && !from.flat => {
                self.push(from.value, LayerKind::GlobalAverage, Numbered::default())
            }
            "Gemm" | "MatMul" => self.linear(node, from).map_err(setting)?,
            "Add" => self.add(node).map_err(setting)?,
            _ => return Err(operator()),
        };
        self.known.insert(output, made);
        Ok(())
    }

    /// A layer, and what it makes.
    fn push(&mut self, input: usize, kind: LayerKind, numbers: Numbered) -> Known {
        self.layers.push(Layer { input, kind });
        self.numbers.push(numbers);
        Known { value: self.layers.len(), channels_last: false, flat: false }
    }

    fn constant(&self, node: &'a Node, at: usize) -> Option<&'a Constant> {
        let name = node.inputs.get(at)?;
        self.graph.constants.get(name).or_else(|| {
            let made = |node: &&Node| node.operator == "Constant" && node.outputs.first() == Some(name);
            match self.graph.nodes.iter().find(made)?.attributes.get("value")? {
                Attribute::Constant(constant) => Some(constant),
                _ => None,
            }
        })
    }

    fn floats(&self, node: &'a Node, at: usize, length: Option<usize>) -> Result<&'a [f32], &'static str> {
        match self.constant(node, at).map(|constant| &constant.values) {
            Some(Numbers::Floats(values)) if length.is_none_or(|length| length == values.len()) => Ok(values),
            _ => Err("weights that are not constant, or not of single precision"),
        }
    }

    fn shape(&self, value: usize) -> Option<Shape> {
        let layers = self.layers[..value].to_vec();
        if value == 0 {
            return Some(self.input);
        }
        // The last layer need not make scores yet, and branches may still be open: ask layer by layer.
        let mut shapes = vec![self.input];
        for (at, layer) in layers.iter().enumerate() {
            shapes.push(layer.kind.output(at, *shapes.get(layer.input)?).ok()?);
        }
        shapes.last().copied()
    }

    fn transpose(&mut self, node: &Node, from: Known) -> Option<Known> {
        let Some(Attribute::Integers(order)) = node.attributes.get("perm") else { return None };
        match order[..] {
            [0, 3, 1, 2] if from.value == 0 && !from.flat => {
                self.input_last = true;
                Some(from)
            }
            [0, 3, 1, 2] if from.channels_last => Some(Known { channels_last: false, ..from }),
            [0, 2, 3, 1] if !from.channels_last && !from.flat && from.value > 0 => {
                Some(Known { channels_last: true, ..from })
            }
            _ => None,
        }
    }

    fn convolution(&mut self, node: &'a Node, from: Known) -> Result<Known, &'static str> {
        if from.channels_last || from.flat {
            return Err("an input that is not channel, row, column");
        }
        if integer(node, "group", 1) != 1 {
            return Err("groups");
        }
        let Window { kernel, stride, padding } = window(node)?;
        let constant = self.constant(node, 1).ok_or("weights that are not constant")?;
        let &[channels, inputs, rows, columns] = &constant.shape[..] else {
            return Err("weights of another shape");
        };
        let shape = self.shape(from.value).ok_or("an input of unknown shape")?;
        if rows != columns || rows != kernel || inputs != shape.channels {
            return Err("a kernel that is not square, or does not fit");
        }
        let weight = self.floats(node, 1, None)?.to_vec();
        let bias =
            if node.inputs.len() > 2 { self.floats(node, 2, Some(channels))?.to_vec() } else { Vec::new() };
        let kind = Convolution {
            channels,
            kernel,
            stride,
            padding,
            bias: !bias.is_empty(),
            norm: false,
            shortcut: None,
            relu: false,
        };
        Ok(self.push(
            from.value,
            LayerKind::Convolution(kind),
            Numbered { weight, bias, ..Numbered::default() },
        ))
    }

    /// The layer that made a value, if nothing else takes the value: what follows may join it.
    fn joined(&mut self, node: &Node, at: usize) -> Option<(&mut Layer, &mut Numbered, usize)> {
        let name = node.inputs.get(at)?;
        let value = self.known.get(name.as_str())?.value;
        if self.graph.uses(name) != 1 || value == 0 {
            return None;
        }
        Some((&mut self.layers[value - 1], &mut self.numbers[value - 1], value))
    }

    #[allow(clippy::cast_possible_truncation)] // networks are f32
    fn norm(&mut self, node: &'a Node, from: Known) -> Result<Known, &'static str> {
        let parts = (1..5)
            .map(|at| self.floats(node, at, None).map(<[f32]>::to_vec))
            .collect::<Result<Vec<_>, _>>()?;
        let epsilon = match node.attributes.get("epsilon") {
            Some(Attribute::Float(value)) => f64::from(*value),
            _ => 1e-5,
        };
        let Some((layer, numbers, _)) = self.joined(node, 0) else { return Err("no convolution before it") };
        let LayerKind::Convolution(convolution) = &mut layer.kind else {
            return Err("no convolution before it");
        };
        if convolution.norm || convolution.relu || convolution.shortcut.is_some() {
            return Err("no convolution right before it");
        }
        if parts.iter().any(|part| part.len() != convolution.channels) {
            return Err("parts that do not fit the channels");
        }
        let [gamma, beta, mut mean, mut variance] =
            <[Vec<f32>; 4]>::try_from(parts).map_err(|_| "missing parts")?;
        // A bias before it only moves the mean, and another ε is another variance.
        mean.iter_mut().zip(&numbers.bias).for_each(|(mean, bias)| *mean -= bias);
        let more = epsilon - crate::net::layer::norm::EPSILON;
        variance.iter_mut().for_each(|variance| *variance = (f64::from(*variance) + more) as f32);
        (convolution.bias, convolution.norm) = (false, true);
        (numbers.gamma, numbers.bias, numbers.mean, numbers.variance) = (gamma, beta, mean, variance);
        Ok(from)
    }

    fn relu(&mut self, node: &Node, from: Known) -> Result<Known, &'static str> {
        let Some((layer, _, _)) = self.joined(node, 0) else { return Err("an input that others take too") };
        match &mut layer.kind {
            LayerKind::Convolution(Convolution { relu, .. }) | LayerKind::Linear(Linear { relu, .. }) => {
                *relu = true;
            }
            // max(max(x), 0) over a window is what Relu before it would be, but a mean is not.
            _ => return Err("no layer with weights before it"),
        }
        Ok(from)
    }

    fn pool(&mut self, node: &Node, from: Known) -> Result<Known, &'static str> {
        if from.channels_last || from.flat {
            return Err("an input that is not channel, row, column");
        }
        let window = window(node)?;
        if integer(node, "ceil_mode", 0) != 0 || (node.operator == "MaxPool" && node.outputs.len() > 1) {
            return Err("ceil_mode, or indices");
        }
        if window.padding > 0 && integer(node, "count_include_pad", 0) != 0 {
            return Err("count_include_pad");
        }
        let kind = if node.operator == "MaxPool" {
            LayerKind::MaxPool(window)
        } else {
            LayerKind::AveragePool(window)
        };
        Ok(self.push(from.value, kind, Numbered::default()))
    }

    fn linear(&mut self, node: &'a Node, from: Known) -> Result<Known, &'static str> {
        let one = |name: &str| match node.attributes.get(name) {
            None => true,
            Some(value) => *value == Attribute::Float(1.0),
        };
        if integer(node, "transA", 0) != 0 || !one("alpha") || !one("beta") {
            return Err("transA, alpha or beta");
        }
        if !self.known.contains_key(node.inputs[0].as_str()) {
            return Err("a constant on the left");
        }
        let transposed = node.operator == "Gemm" && integer(node, "transB", 0) != 0;
        let constant = self.constant(node, 1).ok_or("weights that are not constant")?;
        let &[rows, columns] = &constant.shape[..] else { return Err("weights of another shape") };
        let (inputs, outputs) = if transposed { (columns, rows) } else { (rows, columns) };
        let shape = self.shape(from.value).ok_or("an input of unknown shape")?;
        if inputs != shape.len() || (!from.flat && shape.len() != shape.channels) {
            return Err("an input that is not one row of numbers, or does not fit");
        }
        let values = self.floats(node, 1, None)?;
        // Our order of inputs is channel, row, column.
        let plane = shape.height * shape.width;
        let theirs = |index: usize| {
            if from.channels_last { index % plane * shape.channels + index / plane } else { index }
        };
        let at =
            |o: usize, i: usize| if transposed { values[o * inputs + i] } else { values[i * outputs + o] };
        let weight = (0..outputs)
            .flat_map(|o| (0..inputs).map(move |i| (o, i)))
            .map(|(o, i)| at(o, theirs(i)))
            .collect();
        let bias = match node.inputs.get(2) {
            Some(_) => self.floats(node, 2, Some(outputs))?.to_vec(),
            None => Vec::new(),
        };
        let kind = LayerKind::Linear(Linear { outputs, bias: !bias.is_empty(), relu: false });
        let made = self.push(from.value, kind, Numbered { weight, bias, ..Numbered::default() });
        Ok(Known { flat: true, ..made })
    }

    /// A bias behind a matrix, or a shortcut.
    fn add(&mut self, node: &'a Node) -> Result<Known, &'static str> {
        let [first, second] = &node.inputs[..] else { return Err("another number of inputs") };
        let known = |name: &String| self.known.get(name.as_str()).copied();
        let (Some(a), Some(b)) = (known(first), known(second)) else {
            let (value, constant) = if known(first).is_some() { (0, 1) } else { (1, 0) };
            let numbers = self.floats(node, constant, None)?.to_vec();
            let from = known(&node.inputs[value]).ok_or("two constants")?;
            let Some((layer, own, _)) = self.joined(node, value) else { return Err("a constant") };
            return match &mut layer.kind {
                LayerKind::Linear(linear)
                    if !linear.bias && !linear.relu && numbers.len() == linear.outputs =>
                {
                    linear.bias = true;
                    own.bias = numbers;
                    Ok(from)
                }
                _ => Err("a constant that is no bias"),
            };
        };
        if a.flat || b.flat || a.channels_last || b.channels_last {
            return Err("rows, or channels last");
        }
        // The later of the two must be a convolution that nothing else takes: the other is its shortcut.
        let (later, other) = if a.value > b.value { (0, b.value) } else { (1, a.value) };
        if self.shape(a.value) != self.shape(b.value) {
            return Err("shapes that differ");
        }
        let Some((layer, _, value)) = self.joined(node, later) else {
            return Err("no convolution to add to");
        };
        match &mut layer.kind {
            LayerKind::Convolution(convolution)
                if convolution.shortcut.is_none() && !convolution.relu && other < value =>
            {
                convolution.shortcut = Some(Shortcut { from: other, kind: ShortcutKind::Identity });
                Ok(Known { value, channels_last: false, flat: false })
            }
            _ => Err("no convolution to add to"),
        }
    }
}

fn integer(node: &Node, name: &str, default: i64) -> i64 {
    match node.attributes.get(name) {
        Some(Attribute::Integer(value)) => *value,
        _ => default,
    }
}

/// A square window with equal padding on all sides.
fn window(node: &Node) -> Result<Window, &'static str> {
    let integers = |name: &str| match node.attributes.get(name) {
        Some(Attribute::Integers(values)) => Some(&values[..]),
        _ => None,
    };
    if let Some(Attribute::Text(pad)) = node.attributes.get("auto_pad")
        && !matches!(pad.as_str(), "NOTSET" | "VALID" | "")
    {
        return Err("auto_pad");
    }
    if integers("dilations").is_some_and(|values| values.iter().any(|&value| value != 1)) {
        return Err("dilations");
    }
    let equal = |values: &[i64]| {
        let first = *values.first()?;
        values.iter().all(|&value| value == first).then(|| usize::try_from(first).ok()).flatten()
    };
    let kernel = integers("kernel_shape").and_then(equal).ok_or("a window that is not square")?;
    let stride = integers("strides").map_or(Some(1), equal).ok_or("strides that differ")?;
    let padding = integers("pads").map_or(Some(0), equal).ok_or("padding that differs")?;
    Ok(Window { kernel, stride, padding })
}
