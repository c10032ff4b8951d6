//! What is done to inputs before a network sees them, as in its training.

use gambeson_smooth::input_map::Affine;
use thiserror::Error;

/// (x − mean)/std, channel by channel; applied to noisy inputs, in the range of the data.
#[derive(Clone, Debug, PartialEq)]
pub struct Normalisation {
    mean: Vec<f32>,
    std: Vec<f32>,
}

/// Why numbers are not a normalisation.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum NormalisationError {
    /// Not one mean and one deviation per channel.
    #[error(
        "{means} means and {stds} standard deviations for {channels} channels: expected one of each, or one per channel"
    )]
    Count {
        /// Means given.
        means: usize,
        /// Deviations given.
        stds: usize,
        /// Channels of the data.
        channels: usize,
    },
    /// Nothing to subtract or divide by.
    #[error(
        "channel {channel}: mean {mean}, standard deviation {std}: expected a finite mean and a positive deviation"
    )]
    Value {
        /// Counting from 0.
        channel: usize,
        /// Its mean.
        mean: f32,
        /// Its deviation.
        std: f32,
    },
}

/// x ↦ x/std − mean/std.
pub(crate) fn affine(mean: f64, std: f64) -> Affine {
    Affine { scale: 1.0 / std, shift: -mean / std }
}

impl Normalisation {
    /// From one number for all channels or one per channel.
    pub fn new(mean: &[f32], std: &[f32], channels: usize) -> Result<Self, NormalisationError> {
        let spread = |values: &[f32]| match values.len() {
            1 => Some(vec![values[0]; channels]),
            count if count == channels => Some(values.to_vec()),
            _ => None,
        };
        let (Some(means), Some(stds)) = (spread(mean), spread(std)) else {
            return Err(NormalisationError::Count { means: mean.len(), stds: std.len(), channels });
        };
        let wrong =
            |(_, (mean, std)): &(usize, (&f32, &f32))| !(mean.is_finite() && std.is_finite() && **std > 0.0);
        if let Some((channel, (&mean, &std))) = means.iter().zip(&stds).enumerate().find(wrong) {
            return Err(NormalisationError::Value { channel, mean, std });
        }
        Ok(Self { mean: means, std: stds })
    }

    /// Mean of each channel.
    pub fn mean(&self) -> &[f32] {
        &self.mean
    }

    /// Standard deviation of each channel.
    pub fn std(&self) -> &[f32] {
        &self.std
    }

    /// x ↦ x/std − mean/std, channel by channel.
    pub fn maps(&self) -> Vec<Affine> {
        let map = |(&mean, &std): (&f32, &f32)| affine(mean.into(), std.into());
        self.mean.iter().zip(&self.std).map(map).collect()
    }
}
