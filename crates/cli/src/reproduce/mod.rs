//! The paper's experiments as data: `experiments/*.toml` -> runs -> `results/*.jsonl` -> tables and figures.
//!
//! To add a table or figure: its experiment as `experiments/NAME.toml`, a file here that renders it, and a line in
//! [`OBJECTS`].

pub(crate) mod experiment;
pub(crate) mod plan;
pub(crate) mod projection;
pub(crate) mod record;
mod run;
pub(crate) mod sdp;

use crate::report::figure::{self, Figure};
use crate::report::table::Table;
use anyhow::Context;
use gambeson_lowrank::file::write_file;
use projection::FitResults;
use projection::spectrum::SpectrumResults;
use sdp::results::Results;
use std::path::{Path, PathBuf};

/// A table or figure of the paper.
pub(crate) struct Object {
    pub(crate) name: &'static str,
    /// One line for `--list`.
    pub(crate) about: &'static str,
    /// The experiment built in.
    pub(crate) toml: &'static str,
    pub(crate) family: Family,
}

/// What kind of experiment it is, and how its results are shown.
pub(crate) enum Family {
    /// Solvers meet random matrices.
    Sdp(fn(&Results) -> Rendered),
    /// Projections are fitted to data.
    Fit(fn(&FitResults) -> Rendered),
    /// Data, and the errors of projections of every rank.
    Spectrum(fn(&SpectrumResults) -> Rendered),
}

pub(crate) const OBJECTS: &[Object] = &[
    Object {
        name: "fig-mwu-psd",
        about: "Figure 8: time, value and error of Algorithm 2 on positive semidefinite matrices",
        toml: include_str!("../../../../experiments/fig-mwu-psd.toml"),
        family: Family::Sdp(sdp::figures::comparison),
    },
    Object {
        name: "fig-mwu-qp",
        about: "Figure 9: the same on symmetric matrices with non-negative diagonal",
        toml: include_str!("../../../../experiments/fig-mwu-qp.toml"),
        family: Family::Sdp(sdp::figures::comparison),
    },
    Object {
        name: "table-runtime",
        about: "Table 2: run time on positive semidefinite matrices, n = 500 to 4500",
        toml: include_str!("../../../../experiments/table-runtime.toml"),
        family: Family::Sdp(sdp::tables::runtime),
    },
    Object {
        name: "table-large-n",
        about: "Table 3: run time and memory on large matrices, n = 5000 to 20000",
        toml: include_str!("../../../../experiments/table-large-n.toml"),
        family: Family::Sdp(sdp::tables::large_n),
    },
    Object {
        name: "table-norms",
        about: "Table 1: proven kappa of projections of CIFAR-10 and CIFAR-100, by channel and together",
        toml: include_str!("../../../../experiments/table-norms.toml"),
        family: Family::Fit(projection::tables::norms),
    },
    Object {
        name: "fig-pca-error",
        about: "Figure 5: error of principal components of CIFAR-10 and CIFAR-100 against their number",
        toml: include_str!("../../../../experiments/fig-pca-error.toml"),
        family: Family::Spectrum(projection::figures::pca_error),
    },
    Object {
        name: "table-audio",
        about: "Table 4: proven kappa of projections of speech, six draws of files",
        toml: include_str!("../../../../experiments/table-audio.toml"),
        family: Family::Fit(projection::tables::audio),
    },
];

/// What a reader gets to see; a function of the records alone.
pub(crate) struct Rendered {
    pub(crate) table: Table,
    pub(crate) figure: Option<Figure>,
}

/// A figure as files, by their extensions.
fn drawn(figure: &Figure) -> anyhow::Result<[(&'static str, Vec<u8>); 2]> {
    let drawing = figure.draw();
    Ok([("svg", figure::svg::write(&drawing).into_bytes()), ("png", figure::png::write(&drawing)?)])
}

impl Figure {
    /// Writes `STEM.svg` and `STEM.png`.
    pub(crate) fn write(&self, stem: &Path) -> anyhow::Result<()> {
        for (extension, bytes) in drawn(self)? {
            let path = file(stem, extension);
            write_file(&path, &bytes).with_context(|| path.display().to_string())?;
        }
        Ok(())
    }

    /// Writes one file, an SVG or a PNG as its name ends.
    pub(crate) fn write_to(&self, path: &Path) -> anyhow::Result<()> {
        let drawing = self.draw();
        let bytes = match path.extension() {
            Some(extension) if extension == "png" => figure::png::write(&drawing)?,
            _ => figure::svg::write(&drawing).into_bytes(),
        };
        write_file(path, &bytes).with_context(|| path.display().to_string())
    }
}

impl Rendered {
    /// Writes `STEM.md` and `STEM.tex`, for figures also `STEM.svg` and `STEM.png`, and says where.
    pub(crate) fn write(&self, stem: &Path) -> anyhow::Result<Vec<PathBuf>> {
        let mut files =
            vec![("md", self.table.markdown().into_bytes()), ("tex", self.table.latex().into_bytes())];
        if let Some(figure) = &self.figure {
            files.extend(drawn(figure)?);
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
