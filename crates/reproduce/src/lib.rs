//! The paper's experiments as data: `experiments/*.toml` -> runs -> `results/*.jsonl` -> tables and figures.
//!
//! [`reproduce()`] makes the runs of a table or figure that have no record yet, each in a process of its own, and then the
//! table and figure, which are functions of the records.
//!
//! In the order to read: `name` and `objects` (what there is), `params`, `experiment` (what a TOML file says), `plan` (runs, looked
//! up and made), `program` (one run), `record`, `rendered`, `family` (from a name to a plan), `reproduce`, `page` (of what several calls came to), `estimate`; one folder
//! per family: `sdp`, `projection`, `network`.
//!
//! To add a table or figure: write its experiment as `experiments/NAME.toml`, a function that renders it, and a name in
//! `name` and `objects`.

mod error;
mod estimate;
mod event;
mod experiment;
mod family;
mod machine;
mod name;
mod network;
mod objects;
mod page;
mod params;
mod plan;
mod program;
mod projection;
mod record;
mod rendered;
mod reproduce;
mod sdp;

pub use error::{Invalid, ReproduceError, RunError};
pub use estimate::{Estimate, NetworkEstimate, Timings, estimate};
pub use event::ReproduceEvent;
use gambeson_report as report;
pub use name::{ObjectName, Scale};
pub use page::page;
pub use params::ReproduceParams;
pub use program::{ENDS_WITH_STDIN, Program};
pub use rendered::{CertifiedNetwork, ObjectReport};
pub use reproduce::{Reproduced, reproduce};
