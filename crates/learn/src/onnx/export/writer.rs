//! Operations and constants as the bytes of an ONNX file.

use crate::onnx::schema::{
    ATTRIBUTE_FLOAT, ATTRIBUTE_INTEGER, ATTRIBUTE_INTEGERS, ATTRIBUTE_NAME, ATTRIBUTE_TYPE, DIMENSION_NAME,
    DIMENSION_SIZE, ENTRY_KEY, ENTRY_VALUE, FLOAT, FLOAT_ATTRIBUTE, GRAPH_INITIALIZER, GRAPH_INPUT,
    GRAPH_NAME, GRAPH_NODE, GRAPH_OUTPUT, INTEGER, INTEGER_ATTRIBUTE, INTEGERS_ATTRIBUTE, MODEL_GRAPH,
    MODEL_IR_VERSION, MODEL_METADATA, MODEL_OPERATORS, MODEL_PRODUCER, MODEL_PRODUCER_VERSION,
    NODE_ATTRIBUTE, NODE_INPUT, NODE_NAME, NODE_OPERATOR, NODE_OUTPUT, OPERATORS_VERSION, SHAPE_DIMENSION,
    TENSOR_DIMENSIONS, TENSOR_ELEMENT, TENSOR_NAME, TENSOR_RAW, TENSOR_SHAPE, TENSOR_TYPE, TYPE_TENSOR,
    VALUE_NAME, VALUE_TYPE,
};
use crate::onnx::wire::{bytes_field, float_field, integer_field, packed_field};

const OPERATOR_SET: u64 = 13;
const IR_VERSION: u64 = 7;

/// A graph in the making: its fields so far.
#[derive(Default)]
pub(super) struct Writer {
    nodes: Vec<u8>,
    constants: Vec<u8>,
}

impl Writer {
    pub(super) fn node(&mut self, operator: &str, inputs: &[&str], output: &str, attributes: &[Vec<u8>]) {
        let mut node = Vec::new();
        inputs.iter().for_each(|input| node.extend(bytes_field(NODE_INPUT, input.as_bytes())));
        node.extend(bytes_field(NODE_OUTPUT, output.as_bytes()));
        node.extend(bytes_field(NODE_NAME, output.as_bytes()));
        node.extend(bytes_field(NODE_OPERATOR, operator.as_bytes()));
        attributes.iter().for_each(|attribute| node.extend(bytes_field(NODE_ATTRIBUTE, attribute)));
        self.nodes.extend(bytes_field(GRAPH_NODE, &node));
    }

    pub(super) fn floats(&mut self, name: &str, shape: &[usize], values: &[f32]) {
        let raw: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.constants.extend(bytes_field(GRAPH_INITIALIZER, &tensor(name, FLOAT, shape, &raw)));
    }

    pub(super) fn integers(&mut self, name: &str, values: &[i64]) {
        let raw: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.constants.extend(bytes_field(GRAPH_INITIALIZER, &tensor(name, INTEGER, &[values.len()], &raw)));
    }

    /// The file, with the one input and the one output, each with its sizes behind the batch.
    pub(super) fn finish(
        self,
        input: (&str, &[usize]),
        output: (&str, &[usize]),
        metadata: &[(&str, &str)],
    ) -> Vec<u8> {
        let graph = [
            self.nodes,
            bytes_field(GRAPH_NAME, b"network"),
            self.constants,
            bytes_field(GRAPH_INPUT, &declared(input.0, input.1)),
            bytes_field(GRAPH_OUTPUT, &declared(output.0, output.1)),
        ];
        let mut model = [
            integer_field(MODEL_IR_VERSION, IR_VERSION),
            bytes_field(MODEL_PRODUCER, b"gambeson"),
            bytes_field(MODEL_PRODUCER_VERSION, env!("CARGO_PKG_VERSION").as_bytes()),
            bytes_field(MODEL_GRAPH, &graph.concat()),
            bytes_field(MODEL_OPERATORS, &integer_field(OPERATORS_VERSION, OPERATOR_SET)),
        ]
        .concat();
        for (key, value) in metadata {
            let entry = [bytes_field(ENTRY_KEY, key.as_bytes()), bytes_field(ENTRY_VALUE, value.as_bytes())];
            model.extend(bytes_field(MODEL_METADATA, &entry.concat()));
        }
        model
    }
}

fn tensor(name: &str, kind: u64, shape: &[usize], raw: &[u8]) -> Vec<u8> {
    let shape: Vec<u64> = shape.iter().map(|&size| size as u64).collect();
    let fields = [
        packed_field(TENSOR_DIMENSIONS, &shape),
        integer_field(TENSOR_TYPE, kind),
        bytes_field(TENSOR_NAME, name.as_bytes()),
        bytes_field(TENSOR_RAW, raw),
    ];
    fields.concat()
}

fn attribute(name: &str, value: &[u8], kind: u64) -> Vec<u8> {
    [&bytes_field(ATTRIBUTE_NAME, name.as_bytes()), value, &integer_field(ATTRIBUTE_TYPE, kind)].concat()
}

pub(super) fn integer(name: &str, value: u64) -> Vec<u8> {
    attribute(name, &integer_field(ATTRIBUTE_INTEGER, value), INTEGER_ATTRIBUTE)
}

pub(super) fn integers(name: &str, values: &[usize]) -> Vec<u8> {
    let fields = values.iter().flat_map(|&value| integer_field(ATTRIBUTE_INTEGERS, value as u64));
    attribute(name, &fields.collect::<Vec<u8>>(), INTEGERS_ATTRIBUTE)
}

pub(super) fn float(name: &str, value: f32) -> Vec<u8> {
    attribute(name, &float_field(ATTRIBUTE_FLOAT, value), FLOAT_ATTRIBUTE)
}

/// An input or output: numbers of single precision, any number of rows.
fn declared(name: &str, sizes: &[usize]) -> Vec<u8> {
    let mut shape = bytes_field(SHAPE_DIMENSION, &bytes_field(DIMENSION_NAME, b"N"));
    for &size in sizes {
        shape.extend(bytes_field(SHAPE_DIMENSION, &integer_field(DIMENSION_SIZE, size as u64)));
    }
    let tensor = [integer_field(TENSOR_ELEMENT, FLOAT), bytes_field(TENSOR_SHAPE, &shape)].concat();
    [bytes_field(VALUE_NAME, name.as_bytes()), bytes_field(VALUE_TYPE, &bytes_field(TYPE_TENSOR, &tensor))]
        .concat()
}
