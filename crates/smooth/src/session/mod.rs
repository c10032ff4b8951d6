//! Smoothing by one caller: large batches of rows for a classifier that is asked on one thread, such as a Python function
//! or a network on a GPU.
//!
//! **Problem.** Such a classifier must be called by its own thread, with batches of hundreds or thousands of rows of one
//! shape. Counts must be those of a [`Smoother`](crate::smoother::Smoother) with the same parameters.
//!
//! **Method.** The draws of an input are one sequence: those that choose the class, then those that are counted, up to the
//! most there may be. It is cut into batches of [`SmoothingParams::batch`](crate::smoother::SmoothingParams::batch) rows.
//! Threads of a pool make the next batches while the caller classifies one. So only the last batch of an input is not full;
//! the first holds draws of both kinds, for the draws that are counted are needed whatever class is chosen. A sequential run
//! looks at its counts where it planned to; answers beyond the look that settles it are left out, and batches that were made
//! ahead are thrown away. The procedure (`smoother/procedure.rs`) that takes the counts is the one of all other runs.
//!
//! A batch never holds draws of two inputs: with n of 10,000 or more, less than a batch an input is lost by that.
//!
//! ```
//! # use gambeson_checker::NoiseLevel;
//! # use gambeson_smooth::classifier::ClassifierSpec;
//! # use gambeson_smooth::session::{Rows, SessionFactory, SessionParams};
//! # use gambeson_smooth::smoother::{SmoothingParams, SmoothingPlan};
//! # use gambeson_smooth::space::Space;
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let classifier = ClassifierSpec { classes: 2, dim: 3, input_map: None };
//! let params = SmoothingParams { estimation: 10_000, batch: 1000, ..SmoothingParams::new(NoiseLevel::new(0.5)?)? };
//! let plan = SmoothingPlan::new(classifier, Space::identity(3), params)?;
//! let sessions = SessionFactory::new(plan, SessionParams::default());
//! let mut session = sessions.certify(0, &[1.0, 0.2, 0.1])?;
//! while let Some(batch) = session.ask()? {
//!     let Rows::F32(rows) = batch.rows else { unreachable!("whole numbers are only made if asked for") };
//!     let classes: Vec<u32> = rows.chunks(batch.width).map(|row| u32::from(row[0] > 0.0)).collect();
//!     session.tell(&classes)?;
//! }
//! let certified = session.finish()?.certified;
//! assert_eq!(certified.map(|certified| certified.class), Some(1));
//! # Ok(())
//! # }
//! ```

mod ask_tell;
mod buffer;
mod callback;
mod params;
mod pipeline;

pub use ask_tell::{Session, SessionFactory};
pub use buffer::{Batch, Rows};
pub use callback::BatchCallback;
pub use params::{RowFormat, SessionParams};
