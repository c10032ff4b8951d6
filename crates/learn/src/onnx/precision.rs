//! Networks of half or double precision behind inputs and outputs of single precision.
//!
//! A classifier is given rows of single precision. A graph whose input is of another type gets a Cast in front and behind;
//! what it computes in between stays as it is.

use super::schema::{
    ATTRIBUTE_INTEGER, ATTRIBUTE_NAME, ATTRIBUTE_TYPE, FLOAT, GRAPH_INITIALIZER, GRAPH_INPUT, GRAPH_NODE,
    GRAPH_OUTPUT, INTEGER_ATTRIBUTE, MODEL_GRAPH, NODE_ATTRIBUTE, NODE_INPUT, NODE_NAME, NODE_OPERATOR,
    NODE_OUTPUT, TENSOR_ELEMENT, TENSOR_NAME, TYPE_TENSOR, VALUE_NAME, VALUE_TYPE,
};
use super::wire::{Message, Value, WireError, bytes_field, integer_field};

/// Half and double precision.
const OTHERS: [u64; 2] = [10, 11];
/// Names that the graph itself can hardly have.
const INPUT: &[u8] = b"gambeson::single precision input";
const OUTPUT: &[u8] = b"gambeson::single precision output";

/// The file with Casts around its one input and its first output, where these are of half or double precision; `None`
/// where nothing needs to be done.
pub(super) fn in_single_precision(model: &[u8]) -> Result<Option<Vec<u8>>, WireError> {
    let Some(graph) = Message::whole(model).bytes_of(MODEL_GRAPH)? else { return Ok(None) };
    let mut constants = Vec::new();
    for tensor in graph.all_bytes_of(GRAPH_INITIALIZER)? {
        constants.extend(tensor.bytes_of(TENSOR_NAME)?.map(|name| name.bytes));
    }
    let mut input = None;
    for value in graph.all_bytes_of(GRAPH_INPUT)? {
        if input.is_none() && !constants.contains(&name(value)?) {
            input = other_type(value)?;
        }
    }
    let output = match graph.all_bytes_of(GRAPH_OUTPUT)?.first() {
        Some(&value) => other_type(value)?,
        None => None,
    };
    if input.is_none() && output.is_none() {
        return Ok(None);
    }
    let (mut cast_is_there, mut first_output) = (false, true);
    let mut changed = graph.rewritten(|field| {
        let Value::Bytes(inner) = field.value else { return Ok(None) };
        match (field.number, input, output) {
            (GRAPH_INPUT, Some((of, _)), _) if name(inner)? == of => {
                Ok(Some(bytes_field(GRAPH_INPUT, &renamed(inner, INPUT)?)))
            }
            (GRAPH_NODE, Some((of, kind)), _) if !cast_is_there => {
                cast_is_there = true;
                Ok(Some([cast(INPUT, of, kind), field.raw.to_vec()].concat()))
            }
            (GRAPH_OUTPUT, _, Some(_)) if std::mem::take(&mut first_output) => {
                Ok(Some(bytes_field(GRAPH_OUTPUT, &renamed(inner, OUTPUT)?)))
            }
            _ => Ok(None),
        }
    })?;
    if let Some((of, _)) = output {
        changed.extend(cast(of, OUTPUT, FLOAT));
    }
    let model = Message::whole(model)
        .rewritten(|field| Ok((field.number == MODEL_GRAPH).then(|| bytes_field(MODEL_GRAPH, &changed))))?;
    Ok(Some(model))
}

fn name(value: Message<'_>) -> Result<&[u8], WireError> {
    Ok(value.bytes_of(VALUE_NAME)?.map_or(&[][..], |name| name.bytes))
}

/// Name and type of a declared value of half or double precision.
fn other_type(value: Message<'_>) -> Result<Option<(&[u8], u64)>, WireError> {
    let Some(kind) = value.bytes_of(VALUE_TYPE)? else { return Ok(None) };
    let Some(tensor) = kind.bytes_of(TYPE_TENSOR)? else { return Ok(None) };
    let element = tensor.fields()?.into_iter().find_map(|field| match field.value {
        Value::Varint(kind) if field.number == TENSOR_ELEMENT && OTHERS.contains(&kind) => Some(kind),
        _ => None,
    });
    element.map(|kind| Ok((name(value)?, kind))).transpose()
}

/// The declaration under another name, of single precision.
fn renamed(value: Message<'_>, to: &[u8]) -> Result<Vec<u8>, WireError> {
    value.rewritten(|field| match (field.number, field.value) {
        (VALUE_NAME, _) => Ok(Some(bytes_field(VALUE_NAME, to))),
        (VALUE_TYPE, Value::Bytes(kind)) => {
            let kind = kind.rewritten(|field| match (field.number, field.value) {
                (TYPE_TENSOR, Value::Bytes(tensor)) => {
                    let tensor = tensor.rewritten(|field| {
                        Ok((field.number == TENSOR_ELEMENT).then(|| integer_field(TENSOR_ELEMENT, FLOAT)))
                    })?;
                    Ok(Some(bytes_field(TYPE_TENSOR, &tensor)))
                }
                _ => Ok(None),
            })?;
            Ok(Some(bytes_field(VALUE_TYPE, &kind)))
        }
        _ => Ok(None),
    })
}

/// A node that casts.
fn cast(from: &[u8], to: &[u8], kind: u64) -> Vec<u8> {
    let attribute = [
        bytes_field(ATTRIBUTE_NAME, b"to"),
        integer_field(ATTRIBUTE_INTEGER, kind),
        integer_field(ATTRIBUTE_TYPE, INTEGER_ATTRIBUTE),
    ];
    let name = [b"gambeson::cast to ", to].concat();
    let node = [
        bytes_field(NODE_INPUT, from),
        bytes_field(NODE_OUTPUT, to),
        bytes_field(NODE_NAME, &name),
        bytes_field(NODE_OPERATOR, b"Cast"),
        bytes_field(NODE_ATTRIBUTE, &attribute.concat()),
    ];
    bytes_field(GRAPH_NODE, &node.concat())
}
