//! What images a graph takes, and in which order.

use super::error::OnnxError;
use super::schema::{
    DIMENSION_SIZE, GRAPH_INITIALIZER, GRAPH_INPUT, MODEL_GRAPH, SHAPE_DIMENSION, TENSOR_NAME, TENSOR_SHAPE,
    TYPE_TENSOR, VALUE_NAME, VALUE_TYPE,
};
use super::wire::{Message, Value, WireError};
use gambeson_data::dataset::Shape;
use gambeson_smooth::input_map::Layout;
use ort::session::Session;
use ort::value::{TensorElementType, ValueType};
use std::collections::HashSet;
use std::path::Path;

/// Larger fixed batches are not believed, since memory is reserved for what a file says.
const LARGEST_BATCH: i64 = 4096;

/// The dimensions that a file declares for its first input that is no constant, −1 where they are free.
pub(crate) fn declared_dimensions(model: &[u8]) -> Result<Vec<i64>, WireError> {
    let Some(graph) = Message::whole(model).bytes_of(MODEL_GRAPH)? else { return Ok(Vec::new()) };
    let mut constants = HashSet::new();
    for tensor in graph.all_bytes_of(GRAPH_INITIALIZER)? {
        constants.extend(tensor.bytes_of(TENSOR_NAME)?.map(|name| name.bytes));
    }
    for input in graph.all_bytes_of(GRAPH_INPUT)? {
        let name = input.bytes_of(VALUE_NAME)?.map_or(&[][..], |name| name.bytes);
        if constants.contains(name) {
            continue;
        }
        let mut shape = Some(input);
        for part in [VALUE_TYPE, TYPE_TENSOR, TENSOR_SHAPE] {
            shape = shape.map(|message| message.bytes_of(part)).transpose()?.flatten();
        }
        let Some(shape) = shape else { break };
        let mut dimensions = Vec::new();
        for dimension in shape.all_bytes_of(SHAPE_DIMENSION)? {
            let size = dimension.fields()?.into_iter().find_map(|field| match field.value {
                Value::Varint(size) if field.number == DIMENSION_SIZE => Some(size.cast_signed()),
                _ => None,
            });
            dimensions.push(size.unwrap_or(-1));
        }
        return Ok(dimensions);
    }
    Ok(Vec::new())
}

/// Name and dimensions of the one input, −1 where they are free; there is at least the first.
pub(super) fn input_of(path: &Path, session: &Session) -> Result<(String, Vec<i64>), OnnxError> {
    let (inputs, outputs) = (session.inputs(), session.outputs());
    let ([input], [output, ..]) = (inputs, outputs) else {
        return Err(OnnxError::Arity {
            path: path.to_path_buf(),
            inputs: inputs.len(),
            outputs: outputs.len(),
        });
    };
    for (what, outlet) in [("the input", input), ("the output", output)] {
        if !matches!(outlet.dtype(), ValueType::Tensor { ty: TensorElementType::Float32, .. }) {
            let (what, found) = (format!("{what} `{}`", outlet.name()), outlet.dtype().to_string());
            return Err(OnnxError::Type { path: path.to_path_buf(), what, found });
        }
    }
    let dims = input.dtype().tensor_shape().map(|shape| shape.to_vec()).unwrap_or_default();
    Ok((input.name().to_owned(), dims))
}

/// The images a graph takes, for data of some shape: the data's own, or smaller ones with as many channels.
pub(crate) fn image_shape(dims: &[i64], data: Shape) -> Option<(Shape, Layout)> {
    let (batch, dims) = dims.split_first()?;
    if *batch == 0 || *batch > LARGEST_BATCH {
        return None;
    }
    let Shape { channels, height, width } = data;
    let fits = |dim: i64, size: usize| dim < 0 || usize::try_from(dim) == Ok(size);
    let at_most = |dim: i64, size: usize| {
        if dim < 0 { Some(size) } else { usize::try_from(dim).ok().filter(|&dim| (1..=size).contains(&dim)) }
    };
    // One axis for all, with others of size 1 beside it.
    let long = dims.iter().filter(|&&dim| dim != 1).collect::<Vec<_>>();
    if dims.len() > 1 && matches!(long[..], [&n] if usize::try_from(n) == Ok(data.len())) {
        return Some((data, Layout::ChannelsFirst));
    }
    match *dims {
        [n] if fits(n, data.len()) => Some((data, Layout::ChannelsFirst)),
        [a, b] if fits(a, height) && fits(b, width) && channels == 1 => Some((data, Layout::ChannelsFirst)),
        [a, b] if fits(a, channels) && fits(b, width) && height == 1 => Some((data, Layout::ChannelsFirst)),
        [a, b, c] if fits(a, channels) && fits(b, height) && fits(c, width) => {
            Some((data, Layout::ChannelsFirst))
        }
        [a, b, c] if fits(a, height) && fits(b, width) && fits(c, channels) => {
            Some((data, Layout::ChannelsLast))
        }
        [a, b, c] if fits(a, channels) => {
            let (height, width) = (at_most(b, height)?, at_most(c, width)?);
            Some((Shape { channels, height, width }, Layout::ChannelsFirst))
        }
        [a, b, c] if fits(c, channels) => {
            let (height, width) = (at_most(a, height)?, at_most(b, width)?);
            Some((Shape { channels, height, width }, Layout::ChannelsLast))
        }
        _ => None,
    }
}

/// Dimensions behind the first, with the free ones filled in.
pub(super) fn concrete(dims: &[i64], shape: Shape, layout: Layout) -> Vec<i64> {
    if dims.iter().all(|&dim| dim > 0) {
        return dims.to_vec();
    }
    let Shape { channels, height, width } = shape;
    let sizes = match (dims.len(), layout) {
        (3, Layout::ChannelsFirst) => vec![channels, height, width],
        (3, Layout::ChannelsLast) => vec![height, width, channels],
        (2, _) => vec![channels * height, width],
        _ => vec![shape.len()],
    };
    sizes.into_iter().map(|size| i64::try_from(size).unwrap_or(i64::MAX)).collect()
}
