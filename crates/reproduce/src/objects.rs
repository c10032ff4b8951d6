//! The tables and figures of the paper that can be reproduced: for each its experiment and what renders it.

use crate::name::ObjectName;
use crate::network::{self, NetworkResults, PictureResults};
use crate::projection::spectrum::SpectrumResults;
use crate::projection::{self, FitResults};
use crate::rendered::Rendered;
use crate::sdp;
use crate::sdp::results::Results;

/// The experiment of a table or figure.
pub(crate) struct Object {
    /// The built-in experiment.
    pub(crate) toml: &'static str,
    pub(crate) family: Family,
}

/// What kind of experiment it is, and how its results are shown.
pub(crate) enum Family {
    /// Solvers on random matrices.
    Sdp(fn(&Results) -> Rendered),
    /// Projections fitted to data.
    Fit(fn(&FitResults) -> Rendered),
    /// The errors of projections of every rank.
    Spectrum(fn(&SpectrumResults) -> Rendered),
    /// Networks trained and certified.
    Networks(fn(&NetworkResults) -> Rendered),
    /// Perturbed images.
    Pictures(fn(&PictureResults) -> Rendered),
}

macro_rules! built_in {
    ($name:literal) => {
        include_str!(concat!("../../../experiments/", $name, ".toml"))
    };
}

/// An experiment that others include.
pub(crate) fn included_text(name: &str) -> Option<&'static str> {
    (name == "algorithm-1").then_some(built_in!("algorithm-1"))
}

pub(crate) fn object(name: ObjectName) -> Object {
    let (toml, family) = match name {
        ObjectName::FigTradeoff => (built_in!("fig-tradeoff"), Family::Networks(network::tables::networks)),
        ObjectName::FigL2 => (built_in!("fig-l2"), Family::Networks(network::tables::networks)),
        ObjectName::FigL2App => (built_in!("fig-l2-app"), Family::Networks(network::tables::networks)),
        ObjectName::FigLinf => (built_in!("fig-linf"), Family::Networks(network::tables::networks)),
        ObjectName::FigMwuPsd => (built_in!("fig-mwu-psd"), Family::Sdp(sdp::figures::comparison)),
        ObjectName::FigMwuQp => (built_in!("fig-mwu-qp"), Family::Sdp(sdp::figures::comparison)),
        ObjectName::TableRuntime => (built_in!("table-runtime"), Family::Sdp(sdp::tables::runtime)),
        ObjectName::TableLargeN => (built_in!("table-large-n"), Family::Sdp(sdp::tables::large_n)),
        ObjectName::TableNorms => (built_in!("table-norms"), Family::Fit(projection::tables::norms)),
        ObjectName::FigPcaError => {
            (built_in!("fig-pca-error"), Family::Spectrum(projection::figures::pca_error))
        }
        ObjectName::FigDctPerturbations => {
            (built_in!("fig-dct-perturbations"), Family::Pictures(network::figures::gallery))
        }
        ObjectName::FigAdvExamples => {
            (built_in!("fig-adv-examples"), Family::Pictures(network::figures::gallery))
        }
        ObjectName::TableNetworks => {
            (built_in!("table-networks"), Family::Networks(network::tables::networks))
        }
        ObjectName::TableAudio => (built_in!("table-audio"), Family::Fit(projection::tables::audio)),
    };
    Object { toml, family }
}
