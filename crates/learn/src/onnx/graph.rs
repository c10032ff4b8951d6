//! An ONNX graph as data: the operations its outputs need, constants, the inputs.

use super::schema::{
    ATTRIBUTE_FLOAT, ATTRIBUTE_FLOATS, ATTRIBUTE_INTEGER, ATTRIBUTE_INTEGERS, ATTRIBUTE_NAME,
    ATTRIBUTE_TENSOR, ATTRIBUTE_TEXT, ATTRIBUTE_TYPE, BOOL, DIMENSION_SIZE, ENTRY_KEY, ENTRY_VALUE, FLOAT,
    FLOAT_ATTRIBUTE, GRAPH_INITIALIZER, GRAPH_INPUT, GRAPH_NODE, GRAPH_OUTPUT, INTEGER, INTEGER_ATTRIBUTE,
    INTEGERS_ATTRIBUTE, MODEL_GRAPH, MODEL_METADATA, NODE_ATTRIBUTE, NODE_DOMAIN, NODE_INPUT, NODE_OPERATOR,
    NODE_OUTPUT, SHAPE_DIMENSION, TENSOR_DIMENSIONS, TENSOR_FLOATS, TENSOR_INTEGERS, TENSOR_NAME, TENSOR_RAW,
    TENSOR_SHAPE, TENSOR_SMALL_INTEGERS, TENSOR_TYPE, TYPE_TENSOR, VALUE_NAME, VALUE_TYPE,
};
use super::wire::{Field, Message, Value, WireError};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// A graph.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    /// In the order of computation; only those that the outputs need, and no constants.
    pub(crate) nodes: Vec<Node>,
    pub(crate) constants: HashMap<String, Rc<Constant>>,
    /// Inputs that are no constants.
    pub(crate) inputs: Vec<Input>,
    pub(crate) outputs: Vec<String>,
    /// What the file says about itself.
    pub(crate) metadata: HashMap<String, String>,
    uses: HashMap<String, usize>,
}

/// An input as it is declared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Input {
    pub(crate) name: String,
    /// Its axes, the batch first, `None` where the size is free; `None` altogether where nothing is said.
    pub(crate) axes: Option<Vec<Option<usize>>>,
}

/// One operation.
#[derive(Debug, Default)]
pub(crate) struct Node {
    pub(crate) operator: String,
    pub(crate) inputs: Vec<String>,
    pub(crate) outputs: Vec<String>,
    pub(crate) attributes: HashMap<String, Attribute>,
}

/// A setting of an operation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Attribute {
    Float(f32),
    Floats(Vec<f32>),
    Integer(i64),
    Integers(Vec<i64>),
    Text(String),
    Constant(Rc<Constant>),
    /// Anything else.
    Other,
}

/// Numbers with a shape.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Constant {
    pub(crate) shape: Vec<usize>,
    pub(crate) values: Numbers,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Numbers {
    Floats(Vec<f32>),
    /// Booleans too, as 0 and 1.
    Integers(Vec<i64>),
    /// Of a type, or in a place, that is not read here.
    Other,
}

impl Graph {
    /// Reads a file. `None` where there is no graph in it.
    pub(crate) fn read(model: &[u8]) -> Result<Option<Self>, WireError> {
        let whole = Message::whole(model);
        let Some(message) = whole.bytes_of(MODEL_GRAPH)? else { return Ok(None) };
        let mut graph = Self::default();
        for entry in whole.all_bytes_of(MODEL_METADATA)? {
            graph.metadata.insert(text(entry.bytes_of(ENTRY_KEY)?), text(entry.bytes_of(ENTRY_VALUE)?));
        }
        for field in message.fields()? {
            let Value::Bytes(inner) = field.value else { continue };
            match field.number {
                GRAPH_NODE => graph.nodes.push(node(inner)?),
                GRAPH_INITIALIZER => {
                    let (name, constant) = constant(inner)?;
                    graph.constants.insert(name, Rc::new(constant));
                }
                GRAPH_INPUT => graph.inputs.push(input(inner)?),
                GRAPH_OUTPUT => graph.outputs.push(text(inner.bytes_of(VALUE_NAME)?)),
                _ => {}
            }
        }
        graph.inputs.retain(|input| !graph.constants.contains_key(&input.name));
        graph.take_constants();
        graph.prune();
        for name in graph.nodes.iter().flat_map(|node| &node.inputs).chain(&graph.outputs) {
            *graph.uses.entry(name.clone()).or_default() += 1;
        }
        Ok(Some(graph))
    }

    /// How many operations, or outputs of the graph, take a value.
    pub(crate) fn uses(&self, name: &str) -> usize {
        self.uses.get(name).copied().unwrap_or(0)
    }

    /// Operations that make a constant become one.
    fn take_constants(&mut self) {
        let constants = &mut self.constants;
        self.nodes.retain(|node| {
            let made = match node.operator.as_str() {
                "Constant" => node.attributes.iter().find_map(|(name, value)| constant_of(name, value)),
                "Identity" => node.inputs.first().and_then(|name| constants.get(name).cloned()),
                _ => None,
            };
            let (Some(made), Some(name)) = (made, node.outputs.first()) else { return true };
            constants.insert(name.clone(), made);
            false
        });
    }

    /// Drops operations whose results nothing needs.
    fn prune(&mut self) {
        let mut needed: HashSet<String> = self.outputs.iter().cloned().collect();
        let mut kept: Vec<Node> = Vec::new();
        for node in std::mem::take(&mut self.nodes).into_iter().rev() {
            if node.outputs.iter().any(|name| needed.contains(name)) {
                needed.extend(node.inputs.iter().cloned());
                kept.push(node);
            }
        }
        kept.reverse();
        self.nodes = kept;
    }
}

/// What a Constant's attribute says.
fn constant_of(name: &str, value: &Attribute) -> Option<Rc<Constant>> {
    let (shape, values) = match (name, value) {
        ("value", Attribute::Constant(constant)) => return Some(constant.clone()),
        ("value_float", Attribute::Float(value)) => (Vec::new(), Numbers::Floats(vec![*value])),
        ("value_floats", Attribute::Floats(values)) => (vec![values.len()], Numbers::Floats(values.clone())),
        ("value_int", Attribute::Integer(value)) => (Vec::new(), Numbers::Integers(vec![*value])),
        ("value_ints", Attribute::Integers(values)) => {
            (vec![values.len()], Numbers::Integers(values.clone()))
        }
        _ => return None,
    };
    Some(Rc::new(Constant { shape, values }))
}

impl Node {
    pub(crate) fn integer(&self, name: &str, default: i64) -> i64 {
        match self.attributes.get(name) {
            Some(Attribute::Integer(value)) => *value,
            _ => default,
        }
    }

    pub(crate) fn integers(&self, name: &str) -> Option<&[i64]> {
        match self.attributes.get(name) {
            Some(Attribute::Integers(values)) => Some(values),
            _ => None,
        }
    }

    pub(crate) fn float(&self, name: &str, default: f32) -> f32 {
        match self.attributes.get(name) {
            Some(Attribute::Float(value)) => *value,
            _ => default,
        }
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        match self.attributes.get(name) {
            Some(Attribute::Text(value)) => Some(value),
            _ => None,
        }
    }

    /// The name of an input, if it is given: those that may be left out may also have an empty name.
    pub(crate) fn input(&self, at: usize) -> Option<&str> {
        self.inputs.get(at).map(String::as_str).filter(|name| !name.is_empty())
    }

    /// The name of what it makes.
    pub(crate) fn output(&self) -> &str {
        self.outputs.first().map_or("", String::as_str)
    }
}

fn text(message: Option<Message<'_>>) -> String {
    message.map_or(String::new(), |message| String::from_utf8_lossy(message.bytes).into_owned())
}

fn input(message: Message<'_>) -> Result<Input, WireError> {
    let name = text(message.bytes_of(VALUE_NAME)?);
    let tensor = match message.bytes_of(VALUE_TYPE)? {
        Some(kind) => kind.bytes_of(TYPE_TENSOR)?,
        None => None,
    };
    let Some(shape) = tensor.map(|tensor| tensor.bytes_of(TENSOR_SHAPE)).transpose()?.flatten() else {
        return Ok(Input { name, axes: None });
    };
    let mut axes = Vec::new();
    for axis in shape.all_bytes_of(SHAPE_DIMENSION)? {
        // Sizes below 1 stand for free ones in files of some programs.
        axes.push(axis.fields()?.iter().find_map(|field| match field.value {
            Value::Varint(size) if field.number == DIMENSION_SIZE => {
                usize::try_from(size.cast_signed()).ok().filter(|&size| size > 0)
            }
            _ => None,
        }));
    }
    Ok(Input { name, axes: Some(axes) })
}

fn node(message: Message<'_>) -> Result<Node, WireError> {
    let mut node = Node::default();
    let mut domain = String::new();
    for field in message.fields()? {
        let Value::Bytes(inner) = field.value else { continue };
        match field.number {
            NODE_INPUT => node.inputs.push(text(Some(inner))),
            NODE_OUTPUT => node.outputs.push(text(Some(inner))),
            NODE_OPERATOR => node.operator = text(Some(inner)),
            NODE_ATTRIBUTE => {
                let (name, attribute) = attribute(inner)?;
                node.attributes.insert(name, attribute);
            }
            NODE_DOMAIN => domain = text(Some(inner)),
            _ => {}
        }
    }
    // Operations of somebody else's may have familiar names.
    if !domain.is_empty() && domain != "ai.onnx" {
        node.operator = format!("{domain}::{}", node.operator);
    }
    Ok(node)
}

fn attribute(message: Message<'_>) -> Result<(String, Attribute), WireError> {
    let (mut value, mut kind) = (None, 0);
    let (mut integers, mut floats) = (Vec::new(), Vec::new());
    for field in message.fields()? {
        match (field.number, field.value) {
            (ATTRIBUTE_TYPE, Value::Varint(number)) => kind = number,
            (ATTRIBUTE_FLOAT, Value::Fixed) => value = fixed(&field).map(Attribute::Float),
            (ATTRIBUTE_INTEGER, Value::Varint(number)) => {
                value = Some(Attribute::Integer(number.cast_signed()));
            }
            (ATTRIBUTE_TEXT, Value::Bytes(inner)) => value = Some(Attribute::Text(text(Some(inner)))),
            (ATTRIBUTE_TENSOR, Value::Bytes(inner)) => {
                value = Some(Attribute::Constant(Rc::new(constant(inner)?.1)));
            }
            (ATTRIBUTE_FLOATS, Value::Fixed) => floats.extend(fixed(&field)),
            (ATTRIBUTE_FLOATS, Value::Bytes(inner)) => floats.extend(packed(inner)),
            (ATTRIBUTE_INTEGERS, Value::Varint(number)) => integers.push(number.cast_signed()),
            (ATTRIBUTE_INTEGERS, Value::Bytes(inner)) => {
                integers.extend(inner.varints()?.into_iter().map(u64::cast_signed));
            }
            _ => {}
        }
    }
    let value = match (value, kind) {
        (Some(value), _) => value,
        _ if !integers.is_empty() || kind == INTEGERS_ATTRIBUTE => Attribute::Integers(integers),
        _ if !floats.is_empty() => Attribute::Floats(floats),
        // Writers may leave zeros out.
        (None, FLOAT_ATTRIBUTE) => Attribute::Float(0.0),
        (None, INTEGER_ATTRIBUTE) => Attribute::Integer(0),
        _ => Attribute::Other,
    };
    Ok((text(message.bytes_of(ATTRIBUTE_NAME)?), value))
}

/// The number of a field of four bytes.
fn fixed(field: &Field<'_>) -> Option<f32> {
    field.raw.last_chunk::<4>().map(|bytes| f32::from_le_bytes(*bytes))
}

fn packed(message: Message<'_>) -> impl Iterator<Item = f32> {
    message.bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes))
}

fn constant(message: Message<'_>) -> Result<(String, Constant), WireError> {
    let (mut shape, mut kind) = (Vec::new(), 0);
    let (mut floats, mut integers, mut raw) = (Vec::new(), Vec::new(), None);
    for field in message.fields()? {
        match (field.number, field.value) {
            (TENSOR_DIMENSIONS, Value::Varint(axis)) => shape.push(axis),
            (TENSOR_DIMENSIONS, Value::Bytes(inner)) => shape.extend(inner.varints()?),
            (TENSOR_TYPE, Value::Varint(number)) => kind = number,
            (TENSOR_FLOATS, Value::Fixed) => floats.extend(fixed(&field)),
            (TENSOR_FLOATS, Value::Bytes(inner)) => floats.extend(packed(inner)),
            (TENSOR_INTEGERS | TENSOR_SMALL_INTEGERS, Value::Varint(number)) => {
                integers.push(number.cast_signed());
            }
            (TENSOR_INTEGERS | TENSOR_SMALL_INTEGERS, Value::Bytes(inner)) => {
                integers.extend(inner.varints()?.into_iter().map(u64::cast_signed));
            }
            (TENSOR_RAW, Value::Bytes(inner)) => raw = Some(inner),
            _ => {}
        }
    }
    if let Some(raw) = raw {
        match kind {
            FLOAT => floats = packed(raw).collect(),
            INTEGER => {
                integers = raw.bytes.as_chunks().0.iter().map(|bytes| i64::from_le_bytes(*bytes)).collect();
            }
            BOOL => integers = raw.bytes.iter().map(|&byte| i64::from(byte)).collect(),
            _ => {}
        }
    }
    let shape: Option<Vec<usize>> = shape.into_iter().map(|axis| usize::try_from(axis).ok()).collect();
    let shape = shape.unwrap_or_default();
    let count = shape.iter().try_fold(1_usize, |product, &axis| product.checked_mul(axis));
    let values = match kind {
        FLOAT if count == Some(floats.len()) => Numbers::Floats(floats),
        INTEGER | BOOL if count == Some(integers.len()) => Numbers::Integers(integers),
        _ => Numbers::Other,
    };
    Ok((text(message.bytes_of(TENSOR_NAME)?), Constant { shape, values }))
}
