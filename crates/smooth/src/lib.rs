//! Randomized smoothing and its records.
//!
//! A classifier is evaluated on many noisy copies of an input. Gaussian noise is added to all coordinates, or only to those
//! of a low-rank projection. The checker turns the class counts into a radius within which the prediction cannot change.
//!
//! # In which order to read it
//! 1. [`classifier`]: what is smoothed, and [`input_map`]: how it takes its rows. [`toys`]: two classifiers whose
//!    smoothed versions are known in closed form.
//! 2. [`space`]: where noise is added, and how an input gets there and, by [`decoder`], back. [`noise`]: Gaussian noise, an
//!    exact function of seed, input, draw and coordinate. [`seed`]: where a seed comes from that nobody chose.
//! 3. [`limit`]: from counts to a radius: limits and quantiles are looked for here and verified by the checker.
//!    [`sequential`]: when the answer is settled before all draws are made. [`smoother`]: PREDICT and CERTIFY for one
//!    input, with a classifier that is asked on all threads. [`session`]: the same for a classifier that is asked by one
//!    caller, in large batches.
//!    [`clean`]: the classifier without noise, for comparison.
//! 4. [`record`]: counts as lines of JSON that anybody can check. [`selection`]: which inputs a run is about. [`runs`]:
//!    records of many inputs, resumable.
//! 5. [`analysis`]: certified accuracy and the like, from our records and from the logs of others. [`claim`]: what the
//!    records of a plan claim together. [`replay`]: records drawn again, or compared with fresh draws.
//!
//! Each module uses only those before it. No solver is called here.
//!
//! ```
//! use gambeson_checker::{FailureProbability, NoiseLevel};
//! use gambeson_lowrank::MemoryLimit;
//! use gambeson_smooth::selection::Selection;
//! use gambeson_smooth::toys::HalfSpace;
//! use gambeson_smooth::{Names, Row, RunParams, Smoother, SmoothingParams, Space, certify_inputs};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let classifier = HalfSpace::new(vec![1.0, 0.0], 0.0)?; // class 1 where the first coordinate is positive
//! let space = Space::identity(2); // noise in both coordinates
//! let params = SmoothingParams {
//!     estimation: 10_000,
//!     failure: FailureProbability::new(0.001)?,
//!     batch: 1000,
//!     seed: 1,
//!     ..SmoothingParams::new(NoiseLevel::new(0.5)?)?
//! };
//! let smoother = Smoother::new(&classifier, space, params)?;
//! let rows = [[0.7, 0.2], [-0.3, 0.9]];
//! let run = RunParams {
//!     names: Names { model: "half-space".into(), data: "two points".into(), ..Names::default() },
//!     classes: 2,
//!     selection: Selection::all(2),
//!     out: None, // or a file to append to and to resume from
//!     memory: MemoryLimit::NONE,
//! };
//! let row = |index: u64| Row { values: rows[index as usize].to_vec(), label: None };
//! let finished = certify_inputs(&smoother, &run, row, &mut ())?;
//! let first = &finished.records[&0].derived;
//! assert_eq!(first.class, Some(1));
//! assert!(first.l2.is_some_and(|radius| (0.6..0.7).contains(&radius))); // its distance is 0.7
//! # Ok(())
//! # }
//! ```

pub mod analysis;
pub mod claim;
pub mod classifier;
pub mod clean;
pub mod decoder;
mod idle;
pub mod input_map;
pub mod limit;
pub mod noise;
pub mod record;
pub mod replay;
pub mod runs;
pub mod seed;
pub mod selection;
pub mod sequential;
pub mod session;
pub mod smoother;
pub mod space;
pub mod toys;

pub use analysis::{LoggedRun, read_logs};
pub use classifier::Classifier;
pub use record::{Names, PredictionRecord, Record};
pub use runs::{Row, RunParams, certify_inputs, predict_inputs};
pub use smoother::{Smoother, SmoothingParams};
pub use space::Space;
