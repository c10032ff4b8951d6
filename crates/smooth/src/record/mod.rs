//! Certification records: what was counted for one input, one JSON object per line, counts first.
//!
//! A file begins with a head ([`Head`]): the run, that is how every input is treated, and the selection of inputs. Each
//! line after it is about one input: the counts of all classes in the selection and in the estimation draws, and the
//! digest of the run. Radii and the class are there for people to read; readers derive them again from the counts
//! ([`Record::derive`]) and never believe them: a stored class or radius other than what the counts prove is an error, and
//! so is a line whose digest is not that of its content, or one with a key that records do not have. Counts
//! cannot be recomputed from themselves: that the draws were independent is the duty of whoever drew.
//!
//! A file of records is appended to one line at a time, each on the disk before the next begins ([`RecordLog`]), so a
//! run that was killed can be resumed ([`crate::runs`]). Shards of a plan are read as one by [`Recorded`], which knows the
//! inputs that are missing.

mod certified;
mod derive;
mod entry;
mod error;
mod extend;
mod file;
mod head;
mod line;
mod log;
mod prediction;
mod projection;
mod run;
mod sealed;
mod valid;

pub use certified::{Derived, Record};
pub use derive::{LimitChoice, Proven};
pub use entry::{Entry, Parts};
pub use error::{RecordError, RecordProblem};
pub use extend::NotExtendable;
pub(crate) use file::RecordedFile;
pub use file::{Recorded, read_records, recorded_runtime};
pub(crate) use head::kind_of;
pub use head::{DigestedRun, Head, RunContent, is_certification};
pub use line::to_line;
pub use log::{Log, RecordLog};
pub use prediction::{PredictionLog, PredictionRecord, PredictionRun};
pub use projection::ProjectionMismatch;
pub use run::{ASSUMED, CommonRun, FileNames, Law, Names, ONNX_RUNTIME, Rule, Run, VERSION};
