//! Numbers about projections printed in the paper.

use crate::error::{Invalid, require};
use serde::Deserialize;

/// A row of the paper's table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PublishedFit {
    /// Of each channel.
    pub(crate) rank: usize,
    /// Frames, if the paper gives their number.
    pub(crate) samples: Option<usize>,
    /// By channel.
    pub(crate) kappa: Vec<f64>,
    /// Of all channels together, if there are several.
    pub(crate) combined: Option<f64>,
    /// Fraction of the energy lost; the largest, if there are several channels.
    pub(crate) error: f64,
}

impl PublishedFit {
    pub(super) fn validate(&self) -> Result<(), Invalid> {
        require!(self.rank > 0, "rank: 0, at least 1 is needed");
        require!(!self.kappa.is_empty(), "kappa: empty: one per channel is needed");
        for kappa in self.kappa.iter().chain(&self.combined) {
            require!(*kappa >= 1.0 && kappa.is_finite(), "{kappa} is not the kappa of a projection");
        }
        require!(self.error > 0.0 && self.error < 1.0, "error: {} is not in (0, 1)", self.error);
        Ok(())
    }
}
