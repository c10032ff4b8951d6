//! Training: one loop; what it trains against is a value.
//!
//! - [`spec`]: what to train, as a file; [`check`]: whether it can be, and what is wrong if not.
//! - [`setup`]: from a spec and data to a network, its view of inputs, and a projection; [`load`]: the same from the names
//!   of data.
//! - [`trainer`]: one step, which reads like Algorithm 1 of the paper; [`batches`], [`schedule`] and [`sgd`] are its parts.
//! - [`checkpoint`]: everything a run needs to go on as if it had never stopped. [`clock`]: how long it took,
//!   [`cost`]: how long it would take.
//! - [`run`]: a folder with spec, network, checkpoints and metrics, and the loop over epochs.
//!
//! Everything random is a function of the seed and of the place in the run, so a resumed run and one on another number of
//! threads give the same weights to the bit.

pub mod batches;
pub mod check;
pub mod checkpoint;
pub mod clock;
pub mod cost;
pub mod load;
pub mod run;
pub mod schedule;
pub mod setup;
pub mod sgd;
pub mod spec;
pub mod trainer;

pub use check::{SpecError, SpecFileError};
pub use run::{Outcome, TrainError, TrainProgress, train};
pub use setup::{SetupError, TrainSetup};
pub use spec::TrainSpec;
pub use trainer::Trainer;
