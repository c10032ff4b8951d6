//! Projections compared and described. [`fit`](mod@crate::fit) makes them.

mod figure;
mod inspect;
mod sweep;

pub use figure::{spectrum_figure, sweep_figure};
pub use inspect::{Inspection, InspectionRecord, inspect_projection};
pub use sweep::{FitMethodKind, Sweep, SweepParams, sweep, sweep_channel};
