//! An ONNX graph as data: nodes, constants, the input.

use super::wire::{Field, Message, Value, WireError};
use std::collections::HashMap;

// Numbers of fields in onnx.proto.
const MODEL_GRAPH: u64 = 7;
const GRAPH_NODE: u64 = 1;
const GRAPH_INITIALIZER: u64 = 5;
const GRAPH_INPUT: u64 = 11;
const GRAPH_OUTPUT: u64 = 12;
const NODE_INPUT: u64 = 1;
const NODE_OUTPUT: u64 = 2;
const NODE_OPERATOR: u64 = 4;
const NODE_ATTRIBUTE: u64 = 5;
const NODE_DOMAIN: u64 = 7;
const ATTRIBUTE_NAME: u64 = 1;
const ATTRIBUTE_FLOAT: u64 = 2;
const ATTRIBUTE_INTEGER: u64 = 3;
const ATTRIBUTE_TEXT: u64 = 4;
const ATTRIBUTE_TENSOR: u64 = 5;
const ATTRIBUTE_INTEGERS: u64 = 8;
const TENSOR_DIMENSIONS: u64 = 1;
const TENSOR_TYPE: u64 = 2;
const TENSOR_FLOATS: u64 = 4;
const TENSOR_INTEGERS: u64 = 7;
const TENSOR_NAME: u64 = 8;
const TENSOR_RAW: u64 = 9;
const VALUE_NAME: u64 = 1;
const TYPE_FLOAT: u64 = 1;
const TYPE_INTEGER: u64 = 7;

/// A graph.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    /// In the order of computation.
    pub(crate) nodes: Vec<Node>,
    pub(crate) constants: HashMap<String, Constant>,
    /// Inputs that are no constants.
    pub(crate) inputs: Vec<String>,
    pub(crate) outputs: Vec<String>,
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
    Integer(i64),
    Integers(Vec<i64>),
    Text(String),
    Constant(Constant),
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
    Integers(Vec<i64>),
    /// Of a type, or in a place, that is not read here.
    Other,
}

impl Graph {
    /// Reads a file. None where there is no graph in it.
    pub(crate) fn read(model: &[u8]) -> Result<Option<Self>, WireError> {
        let Some(message) = Message::whole(model).bytes_of(MODEL_GRAPH)? else { return Ok(None) };
        let mut graph = Self::default();
        for field in message.fields()? {
            let Value::Bytes(inner) = field.value else { continue };
            match field.number {
                GRAPH_NODE => graph.nodes.push(node(inner)?),
                GRAPH_INITIALIZER => {
                    let (name, constant) = constant(inner)?;
                    graph.constants.insert(name, constant);
                }
                GRAPH_INPUT => graph.inputs.push(text(inner.bytes_of(VALUE_NAME)?)),
                GRAPH_OUTPUT => graph.outputs.push(text(inner.bytes_of(VALUE_NAME)?)),
                _ => {}
            }
        }
        graph.inputs.retain(|name| !graph.constants.contains_key(name));
        Ok(Some(graph))
    }

    /// How many operations, or outputs of the graph, take a value.
    pub(crate) fn uses(&self, name: &str) -> usize {
        let by_nodes = self.nodes.iter().flat_map(|node| &node.inputs).filter(|input| *input == name).count();
        by_nodes + self.outputs.iter().filter(|output| *output == name).count()
    }
}

fn text(message: Option<Message<'_>>) -> String {
    message.map_or(String::new(), |message| String::from_utf8_lossy(message.bytes).into_owned())
}

fn node(message: Message<'_>) -> Result<Node, WireError> {
    let mut node = Node::default();
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
            // Operations of somebody else's may have familiar names.
            NODE_DOMAIN if !inner.bytes.is_empty() && inner.bytes != b"ai.onnx" => {
                node.operator = format!("{}::{}", text(Some(inner)), node.operator);
            }
            _ => {}
        }
    }
    Ok(node)
}

fn attribute(message: Message<'_>) -> Result<(String, Attribute), WireError> {
    let mut value = Attribute::Other;
    let mut integers = Vec::new();
    for field in message.fields()? {
        match (field.number, field.value) {
            (ATTRIBUTE_FLOAT, Value::Fixed) => {
                value = fixed(&field).map_or(Attribute::Other, Attribute::Float);
            }
            (ATTRIBUTE_INTEGER, Value::Varint(number)) => value = Attribute::Integer(number.cast_signed()),
            (ATTRIBUTE_TEXT, Value::Bytes(inner)) => value = Attribute::Text(text(Some(inner))),
            (ATTRIBUTE_TENSOR, Value::Bytes(inner)) => value = Attribute::Constant(constant(inner)?.1),
            (ATTRIBUTE_INTEGERS, Value::Varint(number)) => integers.push(number.cast_signed()),
            (ATTRIBUTE_INTEGERS, Value::Bytes(inner)) => {
                integers.extend(inner.varints()?.into_iter().map(u64::cast_signed));
            }
            _ => {}
        }
    }
    if !integers.is_empty() {
        value = Attribute::Integers(integers);
    }
    Ok((text(message.bytes_of(ATTRIBUTE_NAME)?), value))
}

/// The number of a field of four bytes.
fn fixed(field: &Field<'_>) -> Option<f32> {
    field.raw.last_chunk::<4>().map(|bytes| f32::from_le_bytes(*bytes))
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
            (TENSOR_FLOATS, Value::Bytes(inner)) => {
                floats.extend(inner.bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)));
            }
            (TENSOR_INTEGERS, Value::Varint(number)) => integers.push(number.cast_signed()),
            (TENSOR_INTEGERS, Value::Bytes(inner)) => {
                integers.extend(inner.varints()?.into_iter().map(u64::cast_signed));
            }
            (TENSOR_RAW, Value::Bytes(inner)) => raw = Some(inner.bytes),
            _ => {}
        }
    }
    if let Some(raw) = raw {
        match kind {
            TYPE_FLOAT => floats = raw.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect(),
            TYPE_INTEGER => {
                integers = raw.as_chunks().0.iter().map(|bytes| i64::from_le_bytes(*bytes)).collect();
            }
            _ => {}
        }
    }
    let shape: Option<Vec<usize>> = shape.into_iter().map(|axis| usize::try_from(axis).ok()).collect();
    let shape = shape.unwrap_or_default();
    let count = shape.iter().try_fold(1_usize, |product, &axis| product.checked_mul(axis));
    let values = match kind {
        TYPE_FLOAT if count == Some(floats.len()) => Numbers::Floats(floats),
        TYPE_INTEGER if count == Some(integers.len()) => Numbers::Integers(integers),
        _ => Numbers::Other,
    };
    Ok((text(message.bytes_of(TENSOR_NAME)?), Constant { shape, values }))
}
