//! Kinds of files that commands write, told by content.
//!
//! Only what this program wrote is of a kind: other tables, figures and networks are somebody's work. Formats that have
//! room for it carry a [`mark`]; records and certificates are told by their readers, JSON and tables by their keys.

use crate::report::mark;
use anyhow::Context;
use gambeson_learn::train::run::Metrics;
use gambeson_lowrank::projection::certificate::ProjectionCertificate;
use gambeson_lowrank::safetensors;
use gambeson_lowrank::sdp::certificate::CertificateFile;
use std::fmt;
use std::io::Read;
use std::path::Path;

/// Bytes looked at for a mark.
const HEAD: u64 = 1 << 12;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Array,
    Certificate,
    /// One that is kept while its pair is replaced.
    KeptCertificate,
    Projection,
    Network,
    Checkpoint,
    Onnx,
    Records,
    Predictions,
    Tsv,
    Csv,
    Markdown,
    Latex,
    Svg,
    Png,
    Spec,
    Metrics,
    Experiment,
    Stored,
    Manual,
    Page,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Array => "known as a file of gambeson, since an .npy array says nothing about itself",
            Self::Certificate => "a certificate",
            Self::KeptCertificate => "a certificate that a pair being replaced left there",
            Self::Projection => "a projection",
            Self::Network => "a network of gambeson",
            Self::Checkpoint => "a checkpoint of a run",
            Self::Onnx => "an ONNX graph of gambeson",
            Self::Records => "certification records",
            Self::Predictions => "records of predictions",
            Self::Tsv => "a table of idx, label, predict, ...",
            Self::Csv => "a CSV of this command",
            Self::Markdown => "a table in Markdown of gambeson",
            Self::Latex => "a table in LaTeX of gambeson",
            Self::Svg => "an SVG of gambeson",
            Self::Png => "a PNG of gambeson",
            Self::Spec => "a spec in TOML",
            Self::Metrics => "metrics of a run",
            Self::Experiment => "records of an experiment",
            Self::Stored => "a stored data set",
            Self::Manual => "a manual page of gambeson",
            Self::Page => "a page of gambeson",
        })
    }
}

impl Kind {
    /// What `export` writes, by the ending.
    pub(super) fn network(path: &Path) -> Self {
        if path.extension().is_some_and(|it| it == "onnx") { Self::Onnx } else { Self::Network }
    }

    /// Whether a file is of this kind, empty, or not there.
    pub(super) fn is_of(self, path: &Path) -> anyhow::Result<bool> {
        // Records are added to, never replaced, and their readers refuse other files by line.
        let added_to = matches!(self, Self::Records | Self::Predictions | Self::Experiment);
        if added_to || !path.is_file() {
            return Ok(true); // there is nothing to be lost
        }
        let name = || path.display().to_string();
        let mut head = Vec::new();
        let file = std::fs::File::open(path).with_context(name)?;
        file.take(HEAD).read_to_end(&mut head).with_context(name)?;
        let tensors =
            |format: &str| safetensors::format_of(path).is_some_and(|found| found.starts_with(format));
        let certificate = || CertificateFile::read(path).is_ok() || ProjectionCertificate::read(path).is_ok();
        Ok(head.is_empty()
            || match self {
                Self::Certificate => certificate(),
                Self::KeptCertificate => !path.is_symlink() && certificate(),
                Self::Projection => tensors("gambeson projection "),
                Self::Network => tensors("gambeson network "),
                Self::Checkpoint => tensors("gambeson checkpoint "),
                Self::Stored => tensors("gambeson dataset "),
                // The run refuses every other spec than its own.
                Self::Spec => true,
                _ => self.begins(&head),
            })
    }

    /// Whether the first bytes are those of a file of this kind.
    fn begins(self, head: &[u8]) -> bool {
        let text = String::from_utf8_lossy(head);
        let first = text.lines().next().unwrap_or("");
        match self {
            Self::Onnx => head.starts_with(mark::ONNX),
            Self::Tsv => first == mark::CERTIFIED || first == mark::PREDICTED,
            Self::Csv => first.starts_with(mark::SCORES),
            Self::Markdown => first == mark::MARKUP,
            Self::Latex => first == mark::LATEX,
            Self::Svg => text.starts_with("<svg ") && text.lines().nth(1) == Some(mark::MARKUP),
            Self::Png => head.get(mark::PNG_PLACE..).is_some_and(|rest| rest.starts_with(mark::PNG)),
            Self::Metrics => serde_json::from_str::<Metrics>(first).is_ok(),
            Self::Manual => first == mark::MANUAL,
            Self::Page => text.starts_with("<!doctype html>") && text.contains(mark::PAGE),
            _ => false,
        }
    }
}
