//! The names that PyTorch programs have for the numbers of CIFAR ResNets, and networks from tensors with such names.
//!
//! `conv1.weight`, `bn1.{weight, bias, running_mean, running_var}`, `layer1.0.conv1.weight`, …, `linear.{weight, bias}` (or
//! `fc`), with or without `module.` before them. Depth, width and classes follow from names and shapes; whatever is missing,
//! unexpected or of another shape is listed.

use super::tensor::NamedTensor;
use crate::net::architecture::{Architecture, ArchitectureError};
use crate::net::models::{Model, ModelSizeError};
use crate::net::parameters::{ParameterLayout, Weights};
use gambeson_data::dataset::Shape;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use thiserror::Error;

/// Why tensors are not a network that is known.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum StateDictError {
    /// Nothing to begin with.
    #[error(
        "no network that is known begins like this: there is no `conv1.weight` of 4 axes;{}",
        list(missing, unexpected, &[])
    )]
    Unknown {
        /// Names that a CIFAR ResNet of as many blocks has.
        missing: Vec<String>,
        /// Names that it has not.
        unexpected: Vec<String>,
    },
    /// A network, but not with these tensors.
    #[error("not a {model}:{}", list(missing, unexpected, misshapen))]
    Mismatch {
        /// What it was taken for.
        model: String,
        /// Names that should be there.
        missing: Vec<String>,
        /// Names that should not.
        unexpected: Vec<String>,
        /// Names with the shape expected and the shape found.
        misshapen: Vec<(String, Vec<usize>, Vec<usize>)>,
    },
    /// A network for other images.
    #[error("its first convolution takes {network} channels, but the images have {images}")]
    Channels {
        /// Of the network.
        network: usize,
        /// Of the images.
        images: usize,
    },
    /// No such network.
    #[error(transparent)]
    Model(#[from] ModelSizeError),
    /// No such network.
    #[error(transparent)]
    Architecture(#[from] ArchitectureError),
    /// A number that is none.
    #[error("tensor {name}: a number is not finite")]
    NotFinite {
        /// Name of the tensor.
        name: String,
    },
}

fn list(missing: &[String], unexpected: &[String], misshapen: &[(String, Vec<usize>, Vec<usize>)]) -> String {
    const SHOWN: usize = 6;
    let some = |what: &str, names: &[String]| match names.len() {
        0 => String::new(),
        count if count > SHOWN => {
            format!(" {what} {} and {} more;", names[..SHOWN].join(", "), count - SHOWN)
        }
        _ => format!(" {what} {};", names.join(", ")),
    };
    let shapes: Vec<String> = misshapen
        .iter()
        .map(|(name, expected, found)| format!("{name} {found:?} instead of {expected:?}"))
        .collect();
    let text =
        some("missing", missing) + &some("unexpected", unexpected) + &some("of another shape", &shapes);
    text.trim_end_matches(';').to_owned()
}

/// A place for a tensor.
struct Slot {
    name: String,
    shape: Vec<usize>,
    range: Range<usize>,
    /// Among the statistics, not the parameters.
    statistic: bool,
}

/// Where the tensors of a ResNet go.
fn slots(
    depth: usize,
    last: &str,
    architecture: &Architecture,
    places: &ParameterLayout,
    shapes: &[Shape],
) -> Vec<Slot> {
    let per_stage = (depth - 2) / 6;
    let mut slots = Vec::new();
    for (at, place) in places.layers.iter().enumerate() {
        let (from, to) = (shapes[architecture.layers[at].input], shapes[at + 1]);
        let (conv, norm) = match at.checked_sub(1) {
            None => ("conv1".to_owned(), "bn1".to_owned()),
            Some(inner) if inner < 6 * per_stage => {
                let (block, second) = (inner / 2, inner % 2 + 1);
                let prefix = format!("layer{}.{}", block / per_stage + 1, block % per_stage);
                (format!("{prefix}.conv{second}"), format!("{prefix}.bn{second}"))
            }
            Some(_) => (last.to_owned(), last.to_owned()),
        };
        let mut put = |name: String, shape: Vec<usize>, range: &Range<usize>, statistic: bool| {
            if !range.is_empty() {
                slots.push(Slot { name, shape, range: range.clone(), statistic });
            }
        };
        let is_last = conv == last;
        let weight =
            if is_last { vec![to.channels, from.len()] } else { vec![to.channels, from.channels, 3, 3] };
        put(format!("{conv}.weight"), weight, &place.weight, false);
        put(format!("{norm}.weight"), vec![to.channels], &place.gamma, false);
        put(format!("{norm}.bias"), vec![to.channels], &place.bias, false);
        put(format!("{norm}.running_mean"), vec![to.channels], &place.mean, true);
        put(format!("{norm}.running_var"), vec![to.channels], &place.variance, true);
    }
    slots
}

/// Rows and columns of the images of CIFAR, for which these networks were made.
const SIDE: usize = 32;

/// What names lack of those of a ResNet of this depth, and which it has not. They do not depend on its sizes.
fn unknown(
    named: &BTreeMap<String, NamedTensor>,
    depth: usize,
    last: &str,
) -> Result<StateDictError, StateDictError> {
    let input = Shape { channels: 3, height: SIDE, width: SIDE };
    let architecture = Model::ResNet { depth, width: 2 }.architecture(input, 2)?;
    let slots =
        slots(depth, last, &architecture, &ParameterLayout::new(&architecture)?, &architecture.shapes()?);
    let known: BTreeSet<String> = slots.into_iter().map(|slot| slot.name).collect();
    let missing = known.iter().filter(|name| !named.contains_key(*name)).cloned().collect();
    let unexpected = named.keys().filter(|name| !known.contains(*name)).cloned().collect();
    Ok(StateDictError::Unknown { missing, unexpected })
}

/// A network from the tensors of a state dict, for images of this shape. They do not tell how large images are: without a
/// shape they are 32 × 32, with as many channels as the first convolution takes.
pub fn from_state_dict(
    tensors: Vec<NamedTensor>,
    input: Option<Shape>,
) -> Result<(Architecture, Weights), StateDictError> {
    let mut named: BTreeMap<String, NamedTensor> = tensors
        .into_iter()
        .map(|tensor| (tensor.name.strip_prefix("module.").unwrap_or(&tensor.name).to_owned(), tensor))
        .filter(|(name, _)| !name.ends_with("num_batches_tracked"))
        .collect();
    let blocks: BTreeSet<&str> = named
        .keys()
        .filter_map(|name| name.strip_prefix("layer1.")?.split_once('.'))
        .map(|(block, _)| block)
        .collect();
    let depth = 6 * blocks.len() + 2;
    let last = if named.contains_key("fc.weight") { "fc" } else { "linear" };
    let first = named.get("conv1.weight").map(|tensor| tensor.shape.clone());
    let Some(&[width, channels, _, _]) = first.as_deref() else {
        return Err(unknown(&named, depth.max(8), last)?);
    };
    let input = input.unwrap_or(Shape { channels, height: SIDE, width: SIDE });
    if input.channels != channels {
        return Err(StateDictError::Channels { network: channels, images: input.channels });
    }
    let classes =
        named.get(&format!("{last}.weight")).and_then(|tensor| tensor.shape.first().copied()).unwrap_or(10);
    let architecture = Model::ResNet { depth, width }.architecture(input, classes)?;
    let (places, shapes) = (ParameterLayout::new(&architecture)?, architecture.shapes()?);
    let (mut missing, mut misshapen, mut found) = (Vec::new(), Vec::new(), Vec::new());
    for slot in slots(depth, last, &architecture, &places, &shapes) {
        match named.remove(&slot.name) {
            None => missing.push(slot.name),
            Some(tensor) if tensor.shape == slot.shape => found.push((slot, tensor.values)),
            Some(tensor) => misshapen.push((slot.name, slot.shape, tensor.shape)),
        }
    }
    let unexpected: Vec<String> = named.into_keys().collect();
    if !(missing.is_empty() && unexpected.is_empty() && misshapen.is_empty()) {
        let model = format!("ResNet-{depth} of width {width} with {classes} classes");
        return Err(StateDictError::Mismatch { model, missing, unexpected, misshapen });
    }
    // Only now: names and shapes alone could claim any size, but the numbers are all there.
    let mut weights =
        Weights { parameters: vec![0.0; places.parameters], statistics: vec![0.0; places.statistics] };
    for (Slot { name, range, statistic, .. }, values) in found {
        if values.iter().any(|value| !value.is_finite()) {
            return Err(StateDictError::NotFinite { name });
        }
        let to = if statistic { &mut weights.statistics } else { &mut weights.parameters };
        to[range].copy_from_slice(&values);
    }
    Ok((architecture, weights))
}
