//! The paper's experiments as data: `experiments/*.toml` -> runs -> `results/*.jsonl` -> tables and figures.
//!
//! To add a table or figure: write its experiment as `experiments/NAME.toml`, a file here that renders it, a name in
//! `args`, and a line in [`object`].

pub(crate) mod experiment;
pub(crate) mod plan;
pub(crate) mod projection;
pub(crate) mod record;
mod run;
pub(crate) mod sdp;

use crate::args::ObjectName;
use crate::report::figure::Figure;
use crate::report::table::Table;
use anyhow::Context;
use gambeson_lowrank::file::write_file;
use projection::FitResults;
use projection::spectrum::SpectrumResults;
use sdp::results::Results;
use std::path::{Path, PathBuf};

/// A table or figure of the paper.
pub(crate) struct Object {
    pub(crate) name: ObjectName,
    /// The built-in experiment.
    toml: &'static str,
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
}

macro_rules! built_in {
    ($name:literal) => {
        include_str!(concat!("../../../../experiments/", $name, ".toml"))
    };
}

pub(crate) fn object(name: ObjectName) -> Object {
    let (toml, family) = match name {
        ObjectName::FigMwuPsd => (built_in!("fig-mwu-psd"), Family::Sdp(sdp::figures::comparison)),
        ObjectName::FigMwuQp => (built_in!("fig-mwu-qp"), Family::Sdp(sdp::figures::comparison)),
        ObjectName::TableRuntime => (built_in!("table-runtime"), Family::Sdp(sdp::tables::runtime)),
        ObjectName::TableLargeN => (built_in!("table-large-n"), Family::Sdp(sdp::tables::large_n)),
        ObjectName::TableNorms => (built_in!("table-norms"), Family::Fit(projection::tables::norms)),
        ObjectName::FigPcaError => {
            (built_in!("fig-pca-error"), Family::Spectrum(projection::figures::pca_error))
        }
        ObjectName::TableAudio => (built_in!("table-audio"), Family::Fit(projection::tables::audio)),
    };
    Object { name, toml, family }
}

/// What a reader gets to see; a function of the records alone.
pub(crate) struct Rendered {
    pub(crate) table: Table,
    pub(crate) figure: Option<Figure>,
}

impl Rendered {
    /// Writes `STEM.md` and `STEM.tex`, for figures also `STEM.svg` and `STEM.png`; returns the paths.
    pub(crate) fn write(&self, stem: &Path) -> anyhow::Result<Vec<PathBuf>> {
        let mut files =
            vec![("md", self.table.markdown().into_bytes()), ("tex", self.table.latex().into_bytes())];
        if let Some(figure) = &self.figure {
            files.extend([("svg", figure.svg()), ("png", figure.png()?)]);
        }
        files
            .into_iter()
            .map(|(extension, bytes)| {
                let path = file(stem, extension);
                write_file(&path, &bytes).with_context(|| path.display().to_string())?;
                Ok(path)
            })
            .collect()
    }
}

/// `STEM.extension`, whatever dots the stem has.
pub(crate) fn file(stem: &Path, extension: &str) -> PathBuf {
    let mut path = stem.as_os_str().to_owned();
    path.push(".");
    path.push(extension);
    path.into()
}
