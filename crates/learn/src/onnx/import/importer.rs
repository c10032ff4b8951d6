//! What is known of a graph so far: its names, and the layers made of it.

use super::graph_value::{GraphValue, Line};
use super::integers::Integers;
use crate::net::architecture::{Layer, LayerKind};
use crate::onnx::graph::{Constant, Graph, Node, Numbers};
use gambeson_data::dataset::Shape;
use std::collections::HashMap;
use std::rc::Rc;

/// Numbers of a value: more is refused.
const MOST: usize = 1 << 31;

/// The numbers of a layer.
#[derive(Clone, Debug, Default)]
pub(super) struct Numbered {
    pub(super) weight: Vec<f32>,
    pub(super) bias: Vec<f32>,
    pub(super) gamma: Vec<f32>,
    pub(super) mean: Vec<f32>,
    pub(super) variance: Vec<f32>,
}

/// A graph being translated.
pub(super) struct Importer<'a> {
    graph: &'a Graph,
    pub(super) layers: Vec<Layer>,
    /// By layer.
    pub(super) numbers: Vec<Numbered>,
    /// By layer: whether nothing but this layer takes what it takes.
    pub(super) alone: Vec<bool>,
    /// By value.
    pub(super) shapes: Vec<Shape>,
    known: HashMap<&'a str, GraphValue>,
    integers: HashMap<&'a str, Integers>,
    /// Whether the graph takes images with channels innermost; `None` until it is seen.
    pub(super) input_last: Option<bool>,
    /// What is done to the input's channels first, once a layer has taken it.
    pub(super) input_scaled: Option<Rc<[Line]>>,
    /// Images in a batch, if the file says so.
    pub(super) batch: Option<usize>,
}

impl<'a> Importer<'a> {
    /// With the input known under its name.
    pub(super) fn new(graph: &'a Graph, name: &'a str, input: GraphValue, input_last: Option<bool>) -> Self {
        Self {
            graph,
            layers: Vec::new(),
            numbers: Vec::new(),
            alone: Vec::new(),
            shapes: vec![input.shape],
            known: HashMap::from([(name, input)]),
            integers: HashMap::new(),
            input_last,
            input_scaled: None,
            batch: None,
        }
    }

    /// What a name stands for.
    pub(super) fn named(&self, name: &str) -> Option<GraphValue> {
        let known = self.known.get(name)?.clone();
        let shared = known.shared || self.graph.uses(name) > 1;
        Some(GraphValue { shared, ..known })
    }

    /// What an input of an operation stands for.
    pub(super) fn input(&self, node: &Node, at: usize) -> Option<GraphValue> {
        self.named(node.input(at)?)
    }

    pub(super) fn learn(&mut self, name: &'a str, known: GraphValue) {
        self.known.insert(name, known);
    }

    pub(super) fn learn_integers(&mut self, name: &'a str, integers: Integers) {
        self.integers.insert(name, integers);
    }

    /// Whether a name is taken.
    pub(super) fn has(&self, name: &str) -> bool {
        self.known.contains_key(name)
            || self.integers.contains_key(name)
            || self.graph.constants.contains_key(name)
    }

    pub(super) fn constant(&self, node: &Node, at: usize) -> Option<&'a Constant> {
        self.graph.constants.get(node.input(at)?).map(Rc::as_ref)
    }

    /// An input that is an array of integers: a constant, or made of sizes.
    pub(super) fn integers(&self, node: &Node, at: usize) -> Option<Integers> {
        let made = self.integers.get(node.input(at)?).cloned();
        made.or_else(|| Integers::from_constant(self.constant(node, at)?))
    }

    /// Integers that are an input of newer files and an attribute of older ones. `None` where they are not constant.
    pub(super) fn list(&self, node: &Node, at: usize, name: &str) -> Option<Vec<i64>> {
        let attribute = node.integers(name).map(<[i64]>::to_vec);
        attribute.or_else(|| self.integers(node, at)?.numbers())
    }

    /// Shape and numbers of a constant input.
    pub(super) fn floats(&self, node: &Node, at: usize) -> Result<(&'a [usize], &'a [f32]), &'static str> {
        let constant = self.constant(node, at);
        match constant.map(|constant| (&constant.shape[..], &constant.values)) {
            Some((_, Numbers::Floats(values))) if values.iter().any(|value| !value.is_finite()) => {
                Err("a number that is not finite")
            }
            Some((shape, Numbers::Floats(values))) => Ok((shape, values)),
            _ => Err("weights that are not constant, or not of single precision"),
        }
    }

    /// Whether no constant that an operation takes has a number that is not finite.
    pub(super) fn finite(&self, node: &Node) -> bool {
        (0..node.inputs.len()).all(|at| match self.constant(node, at).map(|constant| &constant.values) {
            Some(Numbers::Floats(values)) => values.iter().all(|value| value.is_finite()),
            _ => true,
        })
    }

    /// A layer takes a value as it is.
    pub(super) fn take(&mut self, from: &GraphValue) -> Result<(), &'static str> {
        if from.sampled.is_some() {
            return Err("rows, columns or channels taken out or added");
        }
        if from.value > 0 {
            return if from.scaled.is_some() {
                Err("a scale before it that no layer can take")
            } else {
                Ok(())
            };
        }
        self.input_last.get_or_insert(false);
        let as_is = || vec![Line::IDENTITY; from.shape.channels].into();
        let own = from.scaled.clone().unwrap_or_else(as_is);
        let first = self.input_scaled.get_or_insert_with(|| own.clone());
        if *first == own { Ok(()) } else { Err("an input that is scaled in two ways") }
    }

    /// A layer takes a value as channel, row, column.
    pub(super) fn take_image(&mut self, from: &GraphValue) -> Result<(), &'static str> {
        if !from.is_image() {
            return Err("an input that is not channel, row, column");
        }
        self.take(from)
    }

    /// A layer on a value that it has taken, and what it makes.
    pub(super) fn push(
        &mut self,
        from: &GraphValue,
        kind: LayerKind,
        numbers: Numbered,
    ) -> Result<GraphValue, &'static str> {
        let shape = kind.output(self.layers.len(), from.shape).map_err(|_| "sizes that do not fit")?;
        let sizes = [shape.channels, shape.height, shape.width];
        let count = sizes.iter().try_fold(1_usize, |count, &size| count.checked_mul(size));
        if count.is_none_or(|count| count > MOST) {
            return Err("an output that is too large");
        }
        self.layers.push(Layer { input: from.value, kind });
        self.numbers.push(numbers);
        self.alone.push(!from.shared);
        self.shapes.push(shape);
        Ok(GraphValue::made(self.layers.len(), shape))
    }

    /// The layer that made a value, if what follows may join it: nothing else takes the value as it is now.
    pub(super) fn joined(&mut self, from: &GraphValue) -> Option<(&mut Layer, &mut Numbered)> {
        let plain = !from.shared && from.scaled.is_none() && from.sampled.is_none();
        let at = from.value.checked_sub(1).filter(|_| plain)?;
        Some((&mut self.layers[at], &mut self.numbers[at]))
    }
}
