//! Which existing files a command may overwrite unasked: those that gambeson wrote, of the kind it writes there.
//!
//! A file says so by a mark of its format, or is read as what it should be. A file that has no room for a mark (`.npy`,
//! TSV) or was written by another program needs `--force`.

use crate::report::mark;
use gambeson::bundle::manifest::MARK;
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::projection::certificate::ProjectionCertificate;
use gambeson_lowrank::safetensors;
use gambeson_lowrank::sdp::certificate::CertificateFile;
use std::io::Read;
use std::path::Path;

/// Bytes that are searched for a mark.
const HEAD: u64 = 1 << 12;

/// How a file shows that gambeson wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It begins with these bytes.
    Begins(&'static str),
    /// This is its first line.
    FirstLine(&'static str),
    /// It begins with the first bytes, and the others follow within [`HEAD`].
    Holds(&'static [u8], &'static [u8]),
    /// Its safetensors metadata name a format that begins with these words.
    Tensors(&'static str),
    /// It is read as a certificate.
    Certificate,
    /// A certificate that is moved, so never a link.
    MovedCertificate,
    /// The format has no room for a mark.
    Unmarked,
    /// It is compared with what is to be written, or appended to, and its reader refuses foreign content.
    Compared,
}

impl Kind {
    pub(super) const PROJECTION: Self = Self::Tensors("gambeson projection ");
    pub(super) const NETWORK: Self = Self::Tensors("gambeson network ");
    pub(super) const CHECKPOINT: Self = Self::Tensors("gambeson checkpoint ");
    pub(super) const DATA_SET: Self = Self::Tensors("gambeson dataset ");
    pub(super) const CSV: Self = Self::Begins(mark::SCORES);
    pub(super) const MARKDOWN: Self = Self::FirstLine(mark::MARKUP);
    pub(super) const LATEX: Self = Self::FirstLine(mark::LATEX);
    pub(super) const MANUAL: Self = Self::FirstLine(mark::MANUAL);
    pub(super) const METRICS: Self = Self::Begins("{\"epoch\":1,\"step\":");
    pub(super) const ONNX: Self = Self::Holds(mark::ONNX, mark::ONNX);
    pub(super) const PNG: Self = Self::Holds(b"\x89PNG\r\n\x1a\n", mark::PNG);
    pub(super) const SVG: Self = Self::Holds(b"<svg ", mark::MARKUP.as_bytes());
    pub(super) const BUNDLE: Self = Self::Holds(b"PK\x03\x04", MARK);
    pub(super) const PAGE: Self = Self::Holds(b"<!doctype html>", mark::PAGE.as_bytes());

    /// What `export` writes, by the ending.
    pub(super) fn network(path: &Path) -> Self {
        if path.extension().is_some_and(|it| it == "onnx") { Self::ONNX } else { Self::NETWORK }
    }

    /// Whether a file may be overwritten unasked: it is of this kind, empty, or not there.
    pub(super) fn may_replace(self, path: &Path, memory: MemoryLimit) -> std::io::Result<bool> {
        if self == Self::Compared || !path.is_file() {
            return Ok(true); // there is nothing to be lost
        }
        let mut head = Vec::new();
        std::fs::File::open(path)?.take(HEAD).read_to_end(&mut head)?;
        let certificate = || {
            CertificateFile::read(path, memory).is_ok() || ProjectionCertificate::read(path, memory).is_ok()
        };
        Ok(head.is_empty()
            || match self {
                Self::Begins(start) => head.starts_with(start.as_bytes()),
                Self::FirstLine(line) => head.split(|&byte| byte == b'\n').next() == Some(line.as_bytes()),
                Self::Holds(start, mark) => {
                    head.starts_with(start) && head.windows(mark.len()).any(|part| part == mark)
                }
                Self::Tensors(format) => {
                    safetensors::format_of(path).is_some_and(|found| found.starts_with(format))
                }
                Self::Certificate => certificate(),
                Self::MovedCertificate => !path.is_symlink() && certificate(),
                Self::Unmarked => false,
                Self::Compared => true,
            })
    }
}
