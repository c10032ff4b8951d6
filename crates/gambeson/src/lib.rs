//! gambeson: certified adversarial robustness from low-rank structure.
//!
//! Each verb is a function of a [`Context`], its input and one parameter struct, which has the defaults. It returns a result
//! that serialises to what the program prints with `--json`, or an [`Error`].
//!
//! In the order to read: [`context`] and [`event`] (threads, memory, interruption, progress), [`error`], [`matrix`],
//! [`bound`](mod@bound) and [`check`](mod@check), [`data`] and [`fit`](mod@fit), [`analyze`](mod@analyze).

pub mod analyze;
mod analyze_error;
pub mod bound;
pub mod check;
pub mod check_projection;
pub mod context;
pub mod data;
pub mod error;
pub mod event;
pub mod fit;
pub mod matrix;

pub use analyze::{Analysis, AnalyzeParams, analyze};
pub use bound::{Bound, BoundParams, Method, bound};
pub use check::{Check, CheckParams, check};
pub use check_projection::{ProjectionCheck, check_projection};
pub use context::{Context, ContextParams};
pub use data::{DataParams, open_data};
pub use error::Error;
pub use event::{Event, Note};
pub use fit::{Fit, FitParams, fit, open_projection, spectrum};
pub use matrix::{MatrixInput, RandomKind, open_matrix, random_matrix};
