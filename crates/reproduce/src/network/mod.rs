//! Experiments with networks: trained, certified, attacked, compared; and what perturbations look like.
//!
//! A network's run is a folder below `--runs`, named by a hash of its spec: the same spec is trained once, and a changed one
//! is another run. What tables and figures show stands in the records alone.

pub(crate) mod certified;
mod comparison;
pub(crate) mod figures;
mod parts;
pub(crate) mod pictures;
pub(crate) mod stage;
pub(crate) mod tables;

pub(crate) use certified::{NetworkExperiment, NetworkResults};
pub(crate) use pictures::{PictureExperiment, PictureResults};
