//! What [`check`](crate::check()) takes as evidence: a certificate for the upper end, a vertex for the lower one.

use crate::context::Context;
use crate::error::Error;
use gambeson_lowrank::sdp::certificate::CertificateFile;
use gambeson_lowrank::vertex_file::{read_vertex, write_vertex};
use std::path::Path;

/// A point of {−1, 1}ⁿ: the maximum is at least the value there.
#[derive(Clone, Debug, PartialEq)]
pub struct Vertex {
    /// An entry of 1 or −1 for every row of the quadratic form; for ∞→1 the signs of the rows of A, then of its columns.
    pub entries: Vec<f64>,
    /// What errors call it.
    pub name: String,
}

impl Vertex {
    /// Writes it as a one-dimensional `.npy` array of f64, whole or not at all.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        Ok(write_vertex(path, &self.entries)?)
    }
}

/// Reads a vertex as [`Vertex::write`] writes it, a one-dimensional `.npy` array; see
/// [`vertex_file`](gambeson_lowrank::vertex_file).
pub fn open_vertex(context: &Context, path: &Path) -> Result<Vertex, Error> {
    let entries = read_vertex(path, context.memory_limit())?;
    Ok(Vertex { entries, name: path.display().to_string() })
}

/// Evidence about a matrix. None of it is trusted to say what it proves.
#[derive(Clone, Debug, PartialEq)]
pub enum Evidence {
    /// For the upper end.
    Certificate(CertificateFile),
    /// For the lower end.
    Vertex(Vertex),
    /// For both ends.
    Both(CertificateFile, Vertex),
}

impl Evidence {
    pub(crate) fn parts(self) -> (Option<CertificateFile>, Option<Vertex>) {
        match self {
            Self::Certificate(certificate) => (Some(certificate), None),
            Self::Vertex(vertex) => (None, Some(vertex)),
            Self::Both(certificate, vertex) => (Some(certificate), Some(vertex)),
        }
    }
}

impl From<CertificateFile> for Evidence {
    fn from(certificate: CertificateFile) -> Self {
        Self::Certificate(certificate)
    }
}

impl From<Vertex> for Evidence {
    fn from(vertex: Vertex) -> Self {
        Self::Vertex(vertex)
    }
}

impl From<(CertificateFile, Vertex)> for Evidence {
    fn from((certificate, vertex): (CertificateFile, Vertex)) -> Self {
        Self::Both(certificate, vertex)
    }
}
