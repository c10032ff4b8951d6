//! What can be checked again, as values: a program makes lines for a shell of them.

use gambeson_data::dataset::Split;
use gambeson_smooth::analysis::RadiusNorm;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Stands for a number that the reader of a page chooses. No path can hold it.
pub const PLACE: &str = "\0";

/// Something that can be checked again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Recheck<'a> {
    /// Certified accuracy at a radius, from records.
    Accuracy {
        /// Files of the records.
        logs: &'a [PathBuf],
        /// Projections that prove κ.
        projections: &'a [PathBuf],
        /// The norm of the radius.
        norm: RadiusNorm,
        /// The radius, or [`PLACE`].
        radius: &'a str,
        /// Whether any class counts.
        any_class: bool,
    },
    /// The draws of records.
    Records {
        /// What they were made with.
        made_with: &'a MadeWith,
        /// One input only: its number, or [`PLACE`].
        input: Option<&'a str>,
    },
    /// κ of a projection, from its certificate.
    Projection {
        /// Its file.
        projection: &'a Path,
    },
    /// A network, trained again from its spec.
    Training {
        /// The spec.
        spec: &'a Path,
    },
}

/// What records were made with, as far as it is known where that is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MadeWith {
    /// Files of the records.
    pub records: Vec<PathBuf>,
    /// The network, or the text that describes a toy.
    pub network: OsString,
    /// Mean of the inputs, for networks that do not normalise by themselves.
    pub mean: Vec<f32>,
    /// Standard deviation, likewise.
    pub std: Vec<f32>,
    /// The data.
    pub data: OsString,
    /// Their part, where it is not the test part.
    pub split: Option<Split>,
    /// The projection.
    pub projection: Option<PathBuf>,
    /// Whether the noise had levels of its own, which no record holds.
    pub has_levels: bool,
    /// Names of files that were not found where the records are.
    pub missing: Vec<String>,
}

/// A line with a place for a number: what comes before and after it.
pub(super) fn around(line: &str) -> (String, String) {
    line.split_once(PLACE)
        .map_or_else(|| (line.to_owned(), String::new()), |(a, b)| (a.to_owned(), b.to_owned()))
}
