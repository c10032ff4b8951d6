//! How records are checked.

use super::sample::RecordSample;
use std::time::Duration;

/// Parameters of [`check_records`](super::check_records).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckRecordsParams {
    /// Which records are drawn again.
    pub sample: RecordSample,
    /// Certify afresh with the seed of this nonce, and compare statistically: the maker of the run could not know these
    /// draws.
    pub nonce: Option<u64>,
    /// The digest that the plan must have: one that was published before the run, say.
    pub plan: Option<String>,
    /// Rows per call of the classifier; as many as in the run if `None`.
    pub batch: Option<usize>,
    /// When to stop.
    pub time_limit: Option<Duration>,
}
