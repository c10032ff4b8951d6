//! Graphs for one row, rewritten for any number of rows.
//!
//! Exporters often write a batch of one into the file, and a run-time then takes rows one by one, several times slower.
//! The size stands in three places: the shapes declared for input and outputs, shapes declared for values in between
//! (hints, dropped here), and the constant shapes that Reshape nodes are given, whose first number becomes 0: "as in the
//! input". Whether the rewritten graph computes the same, the caller must try.

use super::schema::{
    ATTRIBUTE_TENSOR, DIMENSION_NAME, GRAPH_INITIALIZER, GRAPH_INPUT, GRAPH_NODE, GRAPH_OUTPUT,
    GRAPH_VALUE_INFO, MODEL_GRAPH, NODE_ATTRIBUTE, NODE_INPUT, NODE_OPERATOR, NODE_OUTPUT, SHAPE_DIMENSION,
    TENSOR_INTEGERS, TENSOR_NAME, TENSOR_RAW, TENSOR_SHAPE, TYPE_TENSOR, VALUE_NAME, VALUE_TYPE,
};
use super::wire::{Message, Value, WireError, bytes_field, packed_field};
use std::collections::HashSet;

/// Whether bytes can be an ONNX file: a message with a graph, whole to the last node.
pub fn has_graph(model: &[u8]) -> Result<bool, WireError> {
    let Some(graph) = Message::whole(model).bytes_of(MODEL_GRAPH)? else { return Ok(false) };
    Ok(!graph.all_bytes_of(GRAPH_NODE)?.is_empty())
}

/// The file with any number of rows for the input of that name and all outputs, in place of `rows`.
pub fn with_free_batch(model: &[u8], input: &str, rows: u64) -> Result<Vec<u8>, WireError> {
    Message::whole(model).rewritten(|field| match field.value {
        Value::Bytes(graph) if field.number == MODEL_GRAPH => {
            Ok(Some(bytes_field(MODEL_GRAPH, &free_graph(graph, input, rows)?)))
        }
        _ => Ok(None),
    })
}

fn free_graph(graph: Message<'_>, input: &str, rows: u64) -> Result<Vec<u8>, WireError> {
    let mut shapes = HashSet::new();
    for node in graph.all_bytes_of(GRAPH_NODE)? {
        if node.bytes_of(NODE_OPERATOR)?.is_some_and(|name| name.bytes == b"Reshape")
            && let Some(shape) = node.all_bytes_of(NODE_INPUT)?.get(1)
        {
            shapes.insert(shape.bytes);
        }
    }
    graph.rewritten(|field| {
        let Value::Bytes(inner) = field.value else { return Ok(None) };
        let named = |number| Ok(inner.bytes_of(number)?.map_or(&[][..], |name| name.bytes));
        Ok(match field.number {
            GRAPH_VALUE_INFO => Some(Vec::new()),
            GRAPH_OUTPUT => Some(bytes_field(GRAPH_OUTPUT, &free_value(inner)?)),
            GRAPH_INPUT if named(VALUE_NAME)? == input.as_bytes() => {
                Some(bytes_field(GRAPH_INPUT, &free_value(inner)?))
            }
            GRAPH_INITIALIZER if shapes.contains(named(TENSOR_NAME)?) => {
                Some(bytes_field(GRAPH_INITIALIZER, &free_shape(inner, rows)?))
            }
            // A Constant whose value is the shape.
            GRAPH_NODE if shapes.contains(named(NODE_OUTPUT)?) => {
                let node = changed(inner, NODE_ATTRIBUTE, |attribute| {
                    changed(attribute, ATTRIBUTE_TENSOR, |tensor| free_shape(tensor, rows))
                })?;
                Some(bytes_field(GRAPH_NODE, &node))
            }
            _ => None,
        })
    })
}

/// The message with every field of a number that holds bytes changed.
fn changed<'a>(
    message: Message<'a>,
    number: u64,
    mut change: impl FnMut(Message<'a>) -> Result<Vec<u8>, WireError>,
) -> Result<Vec<u8>, WireError> {
    message.rewritten(|field| match field.value {
        Value::Bytes(inner) if field.number == number => Ok(Some(bytes_field(number, &change(inner)?))),
        _ => Ok(None),
    })
}

/// A declared value with its first dimension a name.
fn free_value(value: Message<'_>) -> Result<Vec<u8>, WireError> {
    changed(value, VALUE_TYPE, |kind| {
        changed(kind, TYPE_TENSOR, |tensor| {
            changed(tensor, TENSOR_SHAPE, |shape| {
                let mut first = true;
                shape.rewritten(|field| {
                    let replace = field.number == SHAPE_DIMENSION && std::mem::take(&mut first);
                    let free = || bytes_field(SHAPE_DIMENSION, &bytes_field(DIMENSION_NAME, b"rows"));
                    Ok(replace.then(free))
                })
            })
        })
    })
}

/// A constant shape whose first number, if it is the number of rows, becomes 0.
fn free_shape(tensor: Message<'_>, rows: u64) -> Result<Vec<u8>, WireError> {
    let mut first = true;
    tensor.rewritten(|field| match (field.number, field.value) {
        (TENSOR_RAW, Value::Bytes(raw)) => Ok(match raw.bytes.split_first_chunk::<8>() {
            Some((start, rest)) if u64::from_le_bytes(*start) == rows => {
                Some(bytes_field(TENSOR_RAW, &[&[0; 8], rest].concat()))
            }
            _ => None,
        }),
        (TENSOR_INTEGERS, Value::Bytes(packed)) => {
            let mut values = packed.varints()?;
            if values.first() == Some(&rows) {
                values[0] = 0;
            }
            Ok(Some(packed_field(TENSOR_INTEGERS, &values)))
        }
        // Not packed: one field per number.
        (TENSOR_INTEGERS, Value::Varint(value)) => {
            let replace = std::mem::take(&mut first) && value == rows;
            Ok(replace.then(|| packed_field(TENSOR_INTEGERS, &[0])))
        }
        _ => Ok(None),
    })
}
