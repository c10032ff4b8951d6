//! Numbers of fields and types in onnx.proto, as far as files are read, rewritten and made here.

pub(super) const MODEL_IR_VERSION: u64 = 1;
pub(super) const MODEL_PRODUCER: u64 = 2;
pub(super) const MODEL_PRODUCER_VERSION: u64 = 3;
pub(super) const MODEL_GRAPH: u64 = 7;
pub(super) const MODEL_OPERATORS: u64 = 8;
pub(super) const MODEL_METADATA: u64 = 14;
pub(super) const OPERATORS_VERSION: u64 = 2;
pub(super) const ENTRY_KEY: u64 = 1;
pub(super) const ENTRY_VALUE: u64 = 2;
pub(super) const GRAPH_NODE: u64 = 1;
pub(super) const GRAPH_NAME: u64 = 2;
pub(super) const GRAPH_INITIALIZER: u64 = 5;
pub(super) const GRAPH_INPUT: u64 = 11;
pub(super) const GRAPH_OUTPUT: u64 = 12;
pub(super) const GRAPH_VALUE_INFO: u64 = 13;
pub(super) const NODE_INPUT: u64 = 1;
pub(super) const NODE_OUTPUT: u64 = 2;
pub(super) const NODE_NAME: u64 = 3;
pub(super) const NODE_OPERATOR: u64 = 4;
pub(super) const NODE_ATTRIBUTE: u64 = 5;
pub(super) const NODE_DOMAIN: u64 = 7;
pub(super) const ATTRIBUTE_NAME: u64 = 1;
pub(super) const ATTRIBUTE_FLOAT: u64 = 2;
pub(super) const ATTRIBUTE_INTEGER: u64 = 3;
pub(super) const ATTRIBUTE_TEXT: u64 = 4;
pub(super) const ATTRIBUTE_TENSOR: u64 = 5;
pub(super) const ATTRIBUTE_FLOATS: u64 = 7;
pub(super) const ATTRIBUTE_INTEGERS: u64 = 8;
pub(super) const ATTRIBUTE_TYPE: u64 = 20;
pub(super) const TENSOR_DIMENSIONS: u64 = 1;
pub(super) const TENSOR_TYPE: u64 = 2;
pub(super) const TENSOR_FLOATS: u64 = 4;
pub(super) const TENSOR_SMALL_INTEGERS: u64 = 5;
pub(super) const TENSOR_INTEGERS: u64 = 7;
pub(super) const TENSOR_NAME: u64 = 8;
pub(super) const TENSOR_RAW: u64 = 9;
pub(super) const VALUE_NAME: u64 = 1;
pub(super) const VALUE_TYPE: u64 = 2;
pub(super) const TYPE_TENSOR: u64 = 1;
pub(super) const TENSOR_ELEMENT: u64 = 1;
pub(super) const TENSOR_SHAPE: u64 = 2;
pub(super) const SHAPE_DIMENSION: u64 = 1;
pub(super) const DIMENSION_SIZE: u64 = 1;
pub(super) const DIMENSION_NAME: u64 = 2;

/// Types of numbers.
pub(super) const FLOAT: u64 = 1;
pub(super) const INTEGER: u64 = 7;
pub(super) const BOOL: u64 = 9;

/// Types of attributes.
pub(super) const FLOAT_ATTRIBUTE: u64 = 1;
pub(super) const INTEGER_ATTRIBUTE: u64 = 2;
pub(super) const INTEGERS_ATTRIBUTE: u64 = 7;

/// Under this key of the metadata stands the spec that a network was trained by.
pub(super) const TRAINING: &str = "training";
