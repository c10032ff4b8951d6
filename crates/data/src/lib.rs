//! Data sets of images and audio from files, archives and servers, as one type.
//!
//! Nothing here computes with the data beyond their moments; that is the business of `lowrank` and `smooth`. In reading
//! order:
//!
//! - [`dataset`]: the one type that data come in, its axis order, value range and checksum.
//! - [`source`]: what a name or path of data means, and loading them; `format` has one file per format and [`store`] the sets that were
//!   imported.
//! - [`fetch`]: CIFAR-10 and CIFAR-100 from their servers into the data directory.
//! - [`statistics`]: means and deviations per channel; [`second_moments`] and [`energies`]: what projections are fitted to.
//! - [`error`] and [`progress`]: what can go wrong, and what an observer of long work sees.

pub mod dataset;
pub mod energies;
pub mod error;
pub mod fetch;
mod file;
pub mod format;
pub mod progress;
pub mod second_moments;
pub mod source;
pub mod statistics;
pub mod store;

pub use dataset::{Dataset, Split};
pub use error::DataError;
pub use progress::LoadProgress;
pub use source::{LoadOptions, load};
