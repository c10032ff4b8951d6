//! Networks as `attack` opens them.

use anyhow::Context;
use gambeson_data::dataset::Shape;
use gambeson_learn::onnx::Normalisation;
use gambeson_learn::smoothed::SmoothedError;

/// The normalisation of --mean and --std, if they are given.
pub(crate) fn normalisation(
    mean: &[f32],
    std: &[f32],
    shape: Shape,
) -> anyhow::Result<Option<Normalisation>> {
    if mean.is_empty() && std.is_empty() {
        return Ok(None);
    }
    Ok(Some(Normalisation::new(mean, std, shape.channels).context("--mean and --std")?))
}

/// The error as the program's hints know it.
pub(crate) fn hinted(error: SmoothedError) -> anyhow::Error {
    error.into()
}
