//! ONNX graphs as networks of our own, where they are made of layers that the engine has.
//!
//! What is understood:
//! * layers: Conv (square kernels, one group), MaxPool, AveragePool, GlobalAveragePool and ReduceMean over the plane, Gemm
//!   and MatMul with constant matrices (`layers`);
//! * what joins them: BatchNormalization, Relu (Clip from 0, also behind MaxPool), Add as a shortcut, as it is or as option A
//!   (Slice and Pad), sums and products with a constant per channel (`joins`). A scale, or a normalisation with nothing
//!   before it to join, becomes part of the weights that follow if these are a matrix or a convolution without padding: the
//!   same numbers, rounded once;
//! * at the input such sums and products are the network's normalisation ([`Imported::normalisation`]);
//! * what changes no number: Flatten, Reshape, Squeeze, Unsqueeze, Transpose between channels first and last, Slice and Pad
//!   of nothing, Identity, Dropout, the arithmetic with sizes that such operations are given (`axes`, `integers`); and a
//!   Softmax at the end, which changes no answer.
//!
//! Anything else is named ([`Unsupported`]), and the graph is left to ONNX Runtime. Operations that nothing needs are not
//! looked at.

mod axes;
mod error;
mod graph_value;
mod importer;
mod integers;
mod joins;
mod layers;
#[cfg(test)]
mod tests;
mod window;

pub use error::{ImportError, Unsupported};

use super::graph::{Graph, Input, Node};
use super::schema::TRAINING;
use super::wire::WireError;
use crate::net::architecture::Architecture;
use crate::net::parameters::{ParameterLayout, Weights};
use crate::weights::network::Network;
use gambeson_data::dataset::Shape;
use graph_value::{GraphValue, Line};
use importer::Importer;
use integers::Integers;

/// Numbers of an input: more is refused, since memory is reserved for what a file says.
const LARGEST: usize = 1 << 24;

/// A graph as a network.
#[derive(Clone, Debug)]
pub struct Imported {
    /// Its layers.
    pub architecture: Architecture,
    /// Its numbers.
    pub weights: Weights,
    /// Mean and deviation per channel by which the graph normalises its input first: the shortest decimals of what it has
    /// in single precision.
    pub normalisation: Option<(Vec<f64>, Vec<f64>)>,
    /// The spec it was trained by, if the file says so.
    pub training: Option<String>,
    /// Whether the graph takes rows with channels innermost. The network here does not.
    pub channels_last: bool,
}

impl Imported {
    /// All but the order in which the graph takes its rows.
    pub fn into_network(self) -> Network {
        let Self { architecture, weights, normalisation, training, .. } = self;
        Network { architecture, weights, normalisation, training }
    }
}

/// Reads an ONNX file whose input has this shape. `None` where there is no graph in it.
pub fn import(model: &[u8], input: Shape) -> Result<Option<Imported>, ImportError> {
    let Some(graph) = Graph::read(model)? else { return Ok(None) };
    Ok(Some(translate(&graph, input)?))
}

/// The shape of the images that an ONNX file takes, if it says so. `None` too where there is no graph.
pub fn declared_shape(model: &[u8]) -> Result<Option<Shape>, WireError> {
    let Some(graph) = Graph::read(model)? else { return Ok(None) };
    let [Input { name, axes: Some(axes) }] = &graph.inputs[..] else { return Ok(None) };
    let [_, Some(a), Some(b), Some(c)] = axes[..] else { return Ok(None) };
    let first = graph.nodes.iter().find(|node| node.inputs.contains(name));
    let last = first.is_some_and(|node| node.integers("perm") == Some(&[0, 3, 1, 2]));
    let (channels, height, width) = if last { (c, a, b) } else { (a, b, c) };
    Ok(Some(Shape { channels, height, width }))
}

fn translate(graph: &Graph, shape: Shape) -> Result<Imported, ImportError> {
    let ([input], [last]) = (&graph.inputs[..], &graph.outputs[..]) else {
        return Err(Unsupported::Ends { inputs: graph.inputs.len(), outputs: graph.outputs.len() }.into());
    };
    if shape.len() > LARGEST {
        return Err(Unsupported::Large { images: shape }.into());
    }
    let (first, input_last) = seen(input, shape)?;
    let mut importer = Importer::new(graph, &input.name, first, input_last);
    importer.batch = input.axes.as_ref().and_then(|axes| axes.first().copied().flatten());
    for node in &graph.nodes {
        importer.node(node, last)?;
    }
    let output = |what| ImportError::from(Unsupported::Output { output: last.clone(), what });
    let end = importer.named(last).ok_or_else(|| output("made of nothing known"))?;
    if end.value != importer.layers.len() || end.scaled.is_some() || end.sampled.is_some() {
        return Err(output("not what a layer makes"));
    }
    if !end.channels_first() {
        return Err(output("in the order row, column, channel"));
    }
    let scaled = importer.input_scaled.filter(|lines| lines.iter().any(|line| *line != Line::IDENTITY));
    let normalisation = scaled.map(|lines| normalisation(&lines)).transpose()?;
    let architecture = Architecture { input: shape, classes: end.shape.len(), layers: importer.layers };
    let places = ParameterLayout::new(&architecture).map_err(Unsupported::from)?;
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
    // Scales that became part of weights may leave single precision.
    if weights.parameters.iter().chain(&weights.statistics).any(|number| !number.is_finite()) {
        return Err(output("computed by weights beyond single precision"));
    }
    let training = graph.metadata.get(TRAINING).cloned();
    let channels_last = importer.input_last.unwrap_or(false);
    Ok(Imported { architecture, weights, normalisation, training, channels_last })
}

/// The input as it is declared, and whether its channels are innermost, if that can be told.
fn seen(input: &Input, shape: Shape) -> Result<(GraphValue, Option<bool>), Unsupported> {
    let first = GraphValue::made(0, shape);
    let Some(axes) = &input.axes else { return Ok((first, None)) };
    let Shape { channels, height, width } = shape;
    let fits = |sizes: &[usize]| {
        axes.len() == sizes.len() + 1
            && axes[1..].iter().zip(sizes).all(|(axis, size)| axis.is_none_or(|axis| axis == *size))
    };
    let as_axes = |axes: &[usize]| GraphValue { axes: axes.to_vec(), ..first.clone() };
    match (fits(&[channels, height, width]), fits(&[height, width, channels])) {
        (true, true) => return Ok((first, None)),
        (true, false) => return Ok((first, Some(false))),
        (false, true) => {
            let last = GraphValue { channels_last: true, ..as_axes(&[height, width, channels]) };
            return Ok((last, Some(true)));
        }
        (false, false) => {}
    }
    // Without the axes that are 1, or as one row: channel, row, column then.
    let fewer = [vec![shape.len()], vec![height, width], vec![channels, width]];
    let other = fewer.iter().find(|sizes| fits(sizes) && sizes.iter().product::<usize>() == shape.len());
    other.map(|sizes| (as_axes(sizes), Some(false))).ok_or_else(|| {
        let sizes = axes.iter().map(|axis| axis.map_or("?".to_owned(), |axis| axis.to_string()));
        Unsupported::Input { declared: sizes.collect::<Vec<_>>().join(" x "), images: shape }
    })
}

/// scale·x + shift as (x − mean)/std.
#[allow(clippy::cast_possible_truncation)] // of a graph in single precision
fn normalisation(lines: &[Line]) -> Result<(Vec<f64>, Vec<f64>), Unsupported> {
    // 0.485 in single precision was meant as 0.485.
    let decimal = |number: f64| (number as f32).to_string().parse::<f64>().unwrap_or(number);
    let pairs = lines.iter().enumerate().map(|(channel, line)| {
        let (mean, std) = (decimal(-line.shift / line.scale + 0.0), decimal(1.0 / line.scale));
        if mean.is_finite() && std.is_finite() && std > 0.0 {
            Ok((mean, std))
        } else {
            Err(Unsupported::Normalisation { channel, factor: line.scale })
        }
    });
    pairs.collect()
}

impl<'a> Importer<'a> {
    fn node(&mut self, node: &'a Node, last: &str) -> Result<(), ImportError> {
        let output = node.output();
        let operator =
            || Unsupported::Operator { operator: node.operator.clone(), output: output.to_owned() };
        let setting =
            |what| Unsupported::Setting { operator: node.operator.clone(), output: output.to_owned(), what };
        if self.has(output) {
            return Err(setting("a name that is taken").into());
        }
        let first = self.input(node, 0);
        if let Some(integers) = self.sizes(node, first.as_ref()) {
            self.learn_integers(output, integers);
            return Ok(());
        }
        let arithmetic = matches!(node.operator.as_str(), "Add" | "Sub" | "Mul" | "Div");
        let Some(from) = first.or_else(|| self.input(node, 1).filter(|_| arithmetic)) else {
            return Err(operator().into());
        };
        let weighted = matches!(node.operator.as_str(), "Conv" | "Gemm" | "MatMul" | "BatchNormalization");
        if weighted && !self.finite(node) {
            return Err(ImportError::NotFinite {
                operator: node.operator.clone(),
                output: output.to_owned(),
            });
        }
        let made = match node.operator.as_str() {
            "Dropout" if self.trains(node) => Err("training_mode"),
            "Identity" | "Dropout" => Ok(from),
            "Softmax" | "LogSoftmax" if last == output => match (node.integer("axis", -1), from.axes.len()) {
                (1 | -1, 1) => Ok(from),
                _ => Err("another axis than the classes"),
            },
            "Transpose" => self.transpose(node, from),
            "Flatten" => Self::flatten(node, from),
            "Reshape" => self.reshape(node, from),
            "Squeeze" | "Unsqueeze" => self.ones(node, from),
            "Slice" => self.slice(node, from),
            "Pad" => self.pad(node, from),
            "Conv" => self.convolution(node, from),
            "BatchNormalization" => self.norm(node, from),
            "Relu" => self.relu(from),
            "Clip" => self.clip(node, from),
            "MaxPool" | "AveragePool" => self.pool(node, &from),
            "GlobalAveragePool" => self.global_average(&from),
            "ReduceMean" => self.mean(node, &from),
            "Gemm" | "MatMul" => self.linear(node, from),
            "Add" | "Sub" | "Mul" | "Div" => self.arithmetic(node),
            _ => return Err(operator().into()),
        };
        self.learn(output, made.map_err(setting)?);
        Ok(())
    }

    /// What an operation on sizes makes.
    fn sizes(&self, node: &Node, first: Option<&GraphValue>) -> Option<Integers> {
        match first {
            Some(first) if node.operator == "Shape" => Integers::of_shape(node, &first.axes),
            Some(_) => None,
            None => {
                let inputs: Vec<_> = (0..node.inputs.len()).map(|at| self.integers(node, at)).collect();
                integers::compute(node, &inputs)
            }
        }
    }

    /// Whether a Dropout says, or may say, that it drops.
    fn trains(&self, node: &Node) -> bool {
        let never = || self.integers(node, 2).and_then(|own| own.numbers()).is_some_and(|own| own == [0]);
        node.input(2).is_some() && !never()
    }
}
