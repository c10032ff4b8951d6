//! Logs of certification, our own records and those of others, and what they say: certified accuracy and the like.
//!
//! [`read_logs`] makes a [`LoggedRun`] of every log; our records are certified again from their counts, and shards of one
//! run become one. [`LoggedRun::scores`] answers a question about it, [`paired`] one about two runs on the same inputs.
//! [`CertifiedRadii`] is what certified accuracy is counted from, here and at the end of a run ([`RunAccuracy`]).
//! [`find_logs`] finds logs by folder and pattern.

mod accuracy;
mod dialect;
mod error;
mod find;
mod logged;
mod paired;
mod probability;
mod read;
mod records;
mod scores;

pub(crate) use accuracy::three_digits;
pub use accuracy::{AccuracyAtRadii, CertifiedRadii, RunAccuracy};
pub use error::{AnalysisError, LineProblem, LogError, MissingRadii};
pub use find::{find_logs, readable_logs};
pub use logged::{Dialect, Evidence, Input, LoggedRun, Predicted, Settings};
pub use paired::{Paired, paired};
pub use probability::{bernstein_bound, false_certificates};
pub use read::read_logs;
pub use scores::{Question, RadiusNorm, Scale, Scores, best_at};
