//! What a reader of a dialect returns.

use crate::analysis::logged::{Dialect, Evidence, Input, Predicted};

/// What a reader found in a log.
pub(super) struct ParsedLog {
    pub(super) dialect: Dialect,
    pub(super) evidence: Evidence,
    pub(super) sigma: Option<f64>,
    pub(super) alpha: Option<f64>,
}

/// An input of DSRS, whose logs name no class.
pub(super) fn unnamed(index: u64, radius: f64, lower_limit: Option<f64>) -> Input {
    let predicted = if radius > 0.0 { Predicted::Unnamed } else { Predicted::Abstained };
    let l2 = Some(radius);
    let (label, correct, linf, upper_limit) = (None, None, None, None);
    Input { index, label, predicted, correct, latent: l2, l2, linf, lower_limit, upper_limit }
}
