//! The command line of `gambeson export`.

use super::shared::OUTPUT;
use clap::Args;
use gambeson_data::dataset::Shape;
use std::path::PathBuf;

pub(super) const HELP: &str = "\
NETWORK is a file of gambeson, a state dict of a CIFAR ResNet as PyTorch saves it (.th, .pth, .safetensors), or an ONNX \
graph made of layers that our engine has. OUT.onnx is a graph for ONNX Runtime and other programs, with batches of any \
size; OUT.safetensors is a file of gambeson. Both hold architecture, weights and normalisation.

Examples:
  gambeson export resnet20.th resnet20.onnx --mean .485,.456,.406 --std .229,.224,.225
  gambeson export net.onnx net.safetensors

Exit codes: 0 done, 2 error.";

#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    /// The network.
    pub(crate) network: PathBuf,
    /// Where to write it; the ending says as what.
    #[arg(value_name = "OUT.onnx|OUT.safetensors")]
    pub(crate) out: PathBuf,
    /// Shape of the images, for files that do not tell [default for state dicts: 3x32x32].
    #[arg(long, value_name = "CxHxW", value_parser = shape)]
    pub(crate) shape: Option<Shape>,
    /// Put a normalisation in front: subtract this; one number, or one per channel.
    #[arg(long, value_name = "M,...", value_delimiter = ',', allow_hyphen_values = true, requires = "std")]
    pub(crate) mean: Vec<f32>,
    /// Then divide by this: one number, or one per channel.
    #[arg(long, value_name = "S,...", value_delimiter = ',', allow_hyphen_values = true, requires = "mean")]
    pub(crate) std: Vec<f32>,
    /// Print one JSON object instead of text.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json: bool,
}

fn shape(text: &str) -> Result<Shape, String> {
    let numbers: Option<Vec<usize>> = text.split('x').map(|number| number.trim().parse().ok()).collect();
    match numbers.as_deref() {
        Some(&[channels, height, width]) if channels > 0 && height > 0 && width > 0 => {
            Ok(Shape { channels, height, width })
        }
        _ => Err("expected channels, height and width, for example 3x32x32".to_owned()),
    }
}
