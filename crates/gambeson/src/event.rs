//! What an observer sees.

use gambeson_data::progress::LoadProgress;
use gambeson_lowrank::projection::fit::FitProgress;
use gambeson_lowrank::sdp::progress::Progress;
use std::fmt;

/// A step of some work, or something worth saying.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// Data are read, fetched or added up.
    Load(&'a LoadProgress),
    /// A projection is looked for.
    Fit(&'a FitProgress),
    /// A solver looks for a bound.
    Solve(&'a Progress),
    /// Something worth saying that ends nothing.
    Note(&'a Note),
}

/// Something worth saying, as text for people.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// The classifier has fewer classes than the data.
    FewerClasses {
        /// What is smoothed.
        model: String,
        /// Its classes.
        classes: usize,
        /// Those of the data.
        in_data: usize,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FewerClasses { model, classes, in_data } => {
                write!(
                    f,
                    "{model} has {classes} classes, but the data have {in_data}: it never answers the others"
                )
            }
        }
    }
}
