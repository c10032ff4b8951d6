//! Kinds of files that commands write, told by content.

use anyhow::Context;
use gambeson_lowrank::safetensors::looks_like;
use std::fmt;
use std::io::Read;
use std::path::Path;

/// Bytes looked at: the header of a projection of hundreds of channels is shorter.
const HEAD: u64 = 1 << 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Array,
    Certificate,
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
            Self::Array => "an .npy array",
            Self::Certificate => "a certificate",
            Self::Projection => "a projection",
            Self::Network => "a network of gambeson",
            Self::Checkpoint => "a checkpoint of a run",
            Self::Onnx => "an ONNX graph",
            Self::Records => "certification records",
            Self::Predictions => "records of predictions",
            Self::Tsv => "a table of idx, label, predict, ...",
            Self::Csv => "a CSV of this command",
            Self::Markdown => "a table in Markdown of this program",
            Self::Latex => "a table in LaTeX",
            Self::Svg => "an SVG",
            Self::Png => "a PNG",
            Self::Spec => "a spec in TOML",
            Self::Metrics => "metrics of a run",
            Self::Experiment => "records of an experiment",
            Self::Stored => "a stored data set",
            Self::Manual => "a manual page",
            Self::Page => "a page of this program",
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
        let mut head = Vec::new();
        let file = std::fs::File::open(path).with_context(|| path.display().to_string())?;
        file.take(HEAD).read_to_end(&mut head).with_context(|| path.display().to_string())?;
        Ok(head.is_empty() || self.begins(&head))
    }

    fn begins(self, head: &[u8]) -> bool {
        let text = String::from_utf8_lossy(head);
        let text = text.trim_start_matches('\u{feff}').trim_start();
        let first = text.lines().next().unwrap_or("");
        let object = |keys: &[&str]| {
            let start: String = text.chars().take(400).filter(|c| !c.is_whitespace()).collect();
            start.starts_with('{') && keys.iter().any(|key| start.contains(key))
        };
        let tensors = |array: &str| looks_like(head) && String::from_utf8_lossy(head).contains(array);
        match self {
            Self::Array => head.starts_with(b"\x93NUMPY"),
            Self::Certificate => object(&["\"matrix_sha256\":", "\"kind\":\"projection\"", "\"domain\":"]),
            Self::Projection => tensors("gambeson projection"),
            Self::Network => tensors("gambeson network"),
            Self::Checkpoint => tensors("gambeson checkpoint"),
            // The version of the format comes first in every graph.
            Self::Onnx => head.first() == Some(&8),
            Self::Tsv => first.starts_with("idx\t"),
            Self::Csv => first.starts_with("source,images,acr,abstained,"),
            Self::Markdown => text.contains("\n|") || first.starts_with('|'),
            Self::Latex => text.contains("\\begin{tab"),
            Self::Svg => text.starts_with("<svg") || text.starts_with("<?xml"),
            Self::Png => head.starts_with(b"\x89PNG\r\n\x1a\n"),
            Self::Spec => text.parse::<toml::Table>().is_ok() || head.len() as u64 == HEAD,
            Self::Metrics => first.starts_with("{\"epoch\":"),
            Self::Stored => tensors("gambeson dataset"),
            Self::Manual => first.starts_with(".ie ") || first.starts_with(".TH "),
            Self::Page => text.starts_with("<!") && text.contains("gambeson"),
            Self::Records | Self::Predictions | Self::Experiment => true,
        }
    }
}
