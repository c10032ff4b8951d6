//! Small files that ask for much.

use super::*;
use crate::onnx::schema::{
    DIMENSION_SIZE, FLOAT, GRAPH_INITIALIZER, GRAPH_INPUT, GRAPH_NODE, GRAPH_OUTPUT, INTEGER, MODEL_GRAPH,
    NODE_INPUT, NODE_OPERATOR, NODE_OUTPUT, SHAPE_DIMENSION, TENSOR_DIMENSIONS, TENSOR_NAME, TENSOR_RAW,
    TENSOR_SHAPE, TENSOR_TYPE, TYPE_TENSOR, VALUE_NAME, VALUE_TYPE,
};
use crate::onnx::wire::{bytes_field, integer_field};

/// A graph of one operation on the input `x`, which is declared so, and constants.
fn graph(axes: &[u64], operator: &str, inputs: &[&str], constants: &[Vec<u8>]) -> Vec<u8> {
    let sizes: Vec<Vec<u8>> =
        axes.iter().map(|&size| bytes_field(SHAPE_DIMENSION, &integer_field(DIMENSION_SIZE, size))).collect();
    let kind = bytes_field(TYPE_TENSOR, &bytes_field(TENSOR_SHAPE, &sizes.concat()));
    let input = [bytes_field(VALUE_NAME, b"x"), bytes_field(VALUE_TYPE, &kind)].concat();
    let names: Vec<Vec<u8>> = inputs.iter().map(|name| bytes_field(NODE_INPUT, name.as_bytes())).collect();
    let node =
        [names.concat(), bytes_field(NODE_OUTPUT, b"y"), bytes_field(NODE_OPERATOR, operator.as_bytes())];
    let constants = constants.iter().map(|constant| bytes_field(GRAPH_INITIALIZER, constant));
    let parts = [
        bytes_field(GRAPH_INPUT, &input),
        bytes_field(GRAPH_NODE, &node.concat()),
        constants.collect::<Vec<_>>().concat(),
        bytes_field(GRAPH_OUTPUT, &bytes_field(VALUE_NAME, b"y")),
    ];
    bytes_field(MODEL_GRAPH, &parts.concat())
}

fn constant(name: &str, kind: u64, shape: &[u64], bytes: &[u8]) -> Vec<u8> {
    let axes: Vec<Vec<u8>> = shape.iter().map(|&size| integer_field(TENSOR_DIMENSIONS, size)).collect();
    [
        axes.concat(),
        integer_field(TENSOR_TYPE, kind),
        bytes_field(TENSOR_NAME, name.as_bytes()),
        bytes_field(TENSOR_RAW, bytes),
    ]
    .concat()
}

#[test]
fn sizes_that_a_file_only_claims_take_no_memory() {
    let one = constant("c", FLOAT, &[], &1_f32.to_le_bytes());
    for (operator, inputs) in [("Add", &["x", "c"][..]), ("MaxPool", &["x"])] {
        let model = graph(&[1, 1 << 40, 1, 1], operator, inputs, std::slice::from_ref(&one));
        let shape = declared_shape(&model).expect("a file").expect("a shape");
        let read = import(&model, shape);
        assert!(matches!(read, Err(ImportError::Unsupported(Unsupported::Large { .. }))), "{read:?}");
    }
}

#[test]
fn long_axes_without_numbers_are_no_sizes() {
    let none = |shape: &[u64]| constant("s", INTEGER, shape, &[]);
    let list = |name: &str, value: i64| constant(name, INTEGER, &[1], &value.to_le_bytes());
    let shape = Shape { channels: 1, height: 2, width: 2 };
    for (operator, inputs) in [("Slice", &["s", "a", "b"][..]), ("Transpose", &["s"])] {
        for axes in [[1 << 40, 0], [0, 1 << 40]] {
            let model =
                graph(&[1, 1, 2, 2], operator, inputs, &[none(&axes), list("a", 0), list("b", i64::MAX)]);
            assert!(matches!(import(&model, shape), Err(ImportError::Unsupported(_))));
        }
    }
}
