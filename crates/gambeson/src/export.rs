//! Networks as files of another kind.

use crate::context::Context;
use crate::error::Error;
use gambeson_data::dataset::Shape;
use gambeson_learn::convert::{self, Source};
use gambeson_learn::network_format::NetworkFormat;
use gambeson_learn::onnx::Normalisation;
use gambeson_learn::weights::format::WeightsFormat;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Parameters of [`export`].
#[derive(Clone, Debug, Default)]
pub struct ExportParams {
    /// Shape of the images, for files that do not tell; 3 × 32 × 32 for state dicts if `None`.
    pub shape: Option<Shape>,
    /// A normalisation to put in front: what is subtracted, one number or one per channel; or none.
    pub mean: Vec<f32>,
    /// What it is divided by then: as many.
    pub std: Vec<f32>,
}

/// A network that was written as another kind of file.
#[derive(Clone, Debug)]
pub struct Exported {
    /// The file written.
    pub path: PathBuf,
    /// What the network was read from.
    pub format: NetworkFormat,
    /// Whether that takes rows with channels innermost, which the file written does not.
    pub channels_last: bool,
    /// Shape of the images.
    pub input: Shape,
    record: ExportRecord,
}

impl Exported {
    /// What it says, as data.
    pub fn record(&self) -> &ExportRecord {
        &self.record
    }
}

impl Serialize for Exported {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.record.serialize(serializer)
    }
}

/// Reads a network (a file of gambeson, a state dict, or an ONNX graph of layers that our engine has) and writes it to
/// `out`: `.onnx` for ONNX Runtime and other programs, `.safetensors` for gambeson.
pub fn export(
    context: &Context,
    network: &Path,
    out: &Path,
    params: &ExportParams,
) -> Result<Exported, Error> {
    context.run(|| {
        convert::target(out)?;
        let mut source = convert::read(network, params.shape, context.memory_limit())?;
        if !(params.mean.is_empty() && params.std.is_empty()) {
            let channels = source.network.architecture.input.channels;
            let given =
                Normalisation::new(&params.mean, &params.std, channels).map_err(Error::Normalisation)?;
            source.normalise(network, &given)?;
        }
        let Source { network, format, sha256: from_sha256, channels_last } = source;
        let (sha256, bytes) = convert::write(&network, out)?;
        let input = network.architecture.input;
        let record = ExportRecord {
            file: out.to_string_lossy().into_owned(),
            sha256,
            bytes,
            from: match format {
                NetworkFormat::Weights(WeightsFormat::Own) => "gambeson",
                NetworkFormat::Weights(_) => "state-dict",
                NetworkFormat::Onnx => "onnx",
            }
            .to_owned(),
            from_sha256,
            input: [input.channels, input.height, input.width],
            classes: network.architecture.classes,
            layers: network.architecture.layers.len(),
            parameters: network.weights.parameters.len(),
            normalised: network.normalisation.is_some(),
        };
        Ok(Exported { path: out.to_path_buf(), format, channels_last, input, record })
    })
}

/// What `export --json` prints. Keys are only ever added.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExportRecord {
    /// The file written.
    pub file: String,
    /// Its hash.
    pub sha256: String,
    /// Its length.
    pub bytes: usize,
    /// What the network was read from: gambeson, state-dict or onnx.
    pub from: String,
    /// Hash of the file read.
    pub from_sha256: String,
    /// channels, height, width.
    pub input: [usize; 3],
    /// Classes that the network tells apart.
    pub classes: usize,
    /// Its layers.
    pub layers: usize,
    /// Its numbers.
    pub parameters: usize,
    /// Whether it normalises images first.
    pub normalised: bool,
}
