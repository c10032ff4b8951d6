//! The certificate of a projection: one certificate per channel, in one file.
//!
//! JSON `{version, kind: "projection", channels: [certificate, …]}`; each part has the form of any certificate, for the
//! channel's basis as the factor U of M = UUᵀ and the norm ∞→2 on the cube, and can be taken out and checked by itself.

use crate::file::{followed, prepare_file, without_mark, write_file};
use crate::linalg::matrix::{DenseMatrix, Matrix};
use crate::memory::MemoryLimit;
use crate::projection::Projection;
use crate::projection::kappa::problem;
use crate::sdp::certificate::{CertificateFile, CertificateFileError, VERSION};
use crate::sdp::problem::{MatrixRole, OperatorNorm, ProblemError};
use crate::sdp::scale::{check, spectral_norm};
use gambeson_checker::{Certificate, CheckError, Domain, InfToTwoBound, QuadraticBound, SpectralBound};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use thiserror::Error;

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Projection,
}

/// Where the certificate of a projection is unless its user names another place: beside it, `P.safetensors` and
/// `P.cert.json`.
pub fn certificate_path(projection: &Path) -> PathBuf {
    projection.with_extension("cert.json")
}

/// Evidence for κ of every channel of a projection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProjectionCertificate {
    version: u32,
    kind: Kind,
    channels: Vec<CertificateFile>,
}

/// What is proven about a projection as it is stored.
#[derive(Clone, Debug)]
pub struct ProjectionBound {
    /// κ² of each channel.
    pub squares: Vec<QuadraticBound>,
    /// κ of the whole.
    pub kappa: InfToTwoBound,
    /// s ≥ σ_max(U) of each channel; that of the whole is the largest.
    pub spectral: Vec<SpectralBound>,
}

/// Why a certificate proves nothing about a projection.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ProjectionRejected {
    /// The numbers of channels differ.
    #[error("the certificate has {found} channels, the projection {expected}")]
    Channels {
        /// Of the projection.
        expected: usize,
        /// Of the certificate.
        found: usize,
    },
    /// A part is about something other than ‖Uᵀ‖_{∞→2} on the cube.
    #[error("channel {channel}: the certificate is not about inf-to-two of a factor on the cube")]
    Question {
        /// Counting from 0.
        channel: usize,
    },
    /// A part is for another basis.
    #[error("channel {channel}: the certificate is for another matrix (sha256 {found} here)")]
    Hash {
        /// Counting from 0.
        channel: usize,
        /// Hash of the basis at hand.
        found: String,
    },
    /// The basis poses no problem that can be checked.
    #[error("channel {channel}: {reason}")]
    Problem {
        /// Counting from 0.
        channel: usize,
        /// What is wrong.
        reason: ProblemError,
    },
    /// The checker rejects it.
    #[error("channel {channel}: {reason}")]
    Check {
        /// Counting from 0.
        channel: usize,
        /// What the checker says.
        reason: CheckError,
    },
}

impl ProjectionCertificate {
    /// Joins the certificates of the channels, in their order.
    pub fn new(projection: &Projection, certificates: Vec<Certificate>) -> Self {
        let channels = projection
            .channels()
            .iter()
            .zip(certificates)
            .map(|(channel, certificate)| {
                let hash = Matrix::Dense(channel.basis.clone()).sha256();
                CertificateFile::new(certificate, OperatorNorm::InfToTwo, MatrixRole::Gram, hash)
            })
            .collect();
        Self { version: VERSION, kind: Kind::Projection, channels }
    }

    /// What it proves about a projection. Everything is computed again from the weights; no claim is believed.
    pub fn check(
        &self,
        projection: &Projection,
        threads: usize,
    ) -> Result<ProjectionBound, ProjectionRejected> {
        let (expected, found) = (projection.channels().len(), self.channels.len());
        if expected != found {
            return Err(ProjectionRejected::Channels { expected, found });
        }
        let (mut squares, mut spectral) = (Vec::new(), Vec::new());
        for (at, (channel, file)) in projection.channels().iter().zip(&self.channels).enumerate() {
            let asked = file.norm == OperatorNorm::InfToTwo && file.gram && file.domain == Domain::Cube;
            if !asked || file.n != file.weights.len() {
                return Err(ProjectionRejected::Question { channel: at });
            }
            let hash = Matrix::Dense(channel.basis.clone()).sha256();
            if hash != file.matrix_sha256 {
                return Err(ProjectionRejected::Hash { channel: at, found: hash });
            }
            let problem = problem(&channel.basis, threads)
                .map_err(|reason| ProjectionRejected::Problem { channel: at, reason })?;
            let failed = |reason| ProjectionRejected::Check { channel: at, reason };
            let certificate = file.clone().into_certificate();
            squares.push(check(problem.quadratic(), &certificate, threads).map_err(failed)?);
            let basis = &channel.basis;
            spectral.push(spectral_norm(&basis.entries, basis.rows, basis.columns, threads).map_err(failed)?);
        }
        let kappa = InfToTwoBound::of_blocks(squares.iter().copied());
        Ok(ProjectionBound { squares, kappa, spectral })
    }

    /// Reads a file.
    pub fn read(path: &Path, memory: MemoryLimit) -> Result<Self, CertificateFileError> {
        let bytes = memory
            .read_file(path)
            .map_err(|reason| CertificateFileError::File { path: path.to_path_buf(), reason })?;
        Self::parse(path, &bytes)
    }

    /// Reads the bytes of a file; `path` names it in errors.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self, CertificateFileError> {
        let file: Self = serde_json::from_slice(without_mark(bytes))
            .map_err(|reason| CertificateFileError::Malformed { path: path.to_path_buf(), reason })?;
        match file.channels.iter().map(|part| part.version).chain([file.version]).find(|&v| v != VERSION) {
            Some(found) => Err(CertificateFileError::Version { path: path.to_path_buf(), found }),
            None => Ok(file),
        }
    }

    /// Reads the certificate of a projection. Where the file is about another one, which a pair is for a moment while it is
    /// replaced, the one it took the place of serves.
    pub fn read_for(
        projection: &Projection,
        path: &Path,
        memory: MemoryLimit,
    ) -> Result<Self, CertificateFileError> {
        let own = Self::read(path, memory)?;
        if own.is_for(projection) {
            return Ok(own);
        }
        let previous =
            Self::read(&previous_path(path), memory).ok().filter(|previous| previous.is_for(projection));
        Ok(previous.unwrap_or(own))
    }

    /// Whether it is about the bases of this projection.
    fn is_for(&self, projection: &Projection) -> bool {
        let hash = |basis: &DenseMatrix| Matrix::Dense(basis.clone()).sha256();
        self.channels.len() == projection.channels().len()
            && self
                .channels
                .iter()
                .zip(projection.channels())
                .all(|(part, channel)| part.matrix_sha256 == hash(&channel.basis))
    }

    /// Writes a file, whole or not at all.
    pub fn write(&self, path: &Path) -> Result<(), CertificateFileError> {
        let failed = |reason: std::io::Error| CertificateFileError::File { path: path.to_path_buf(), reason };
        write_file(path, &self.to_bytes(path)?).map_err(failed)
    }

    fn to_bytes(&self, path: &Path) -> Result<Vec<u8>, CertificateFileError> {
        let failed = |reason: std::io::Error| CertificateFileError::File { path: path.to_path_buf(), reason };
        let mut text = serde_json::to_vec(self).map_err(|reason| failed(reason.into()))?;
        text.push(b'\n');
        Ok(text)
    }

    /// Writes a projection and this, its certificate, in place of a pair that may be there. Both are complete on the disk
    /// before the first is replaced, and the old certificate stays beside the new one until the new projection is in its
    /// place: whenever this ends, [`read_for`](Self::read_for) finds the old pair or the new one.
    pub fn write_with(
        &self,
        path: &Path,
        projection: &Projection,
        out: &Path,
        memory: MemoryLimit,
    ) -> Result<(), CertificateFileError> {
        let failed = |path: &Path| {
            let path = path.to_path_buf();
            move |reason: std::io::Error| CertificateFileError::File { path, reason }
        };
        let certificate = prepare_file(path, &self.to_bytes(path)?).map_err(failed(path))?;
        let basis = prepare_file(out, &projection.to_bytes()).map_err(failed(out))?;
        let previous = previous_path(path);
        let replaced = Projection::read(out, memory).ok();
        let is_of_replaced =
            |file: &Self| replaced.as_ref().is_some_and(|projection| file.is_for(projection));
        if Self::read(path, memory).is_ok_and(|file| is_of_replaced(&file)) {
            let old = memory.read_file(path).map_err(failed(path))?;
            write_file(&previous, &old).map_err(failed(&previous))?;
        }
        certificate.put().map_err(failed(path))?;
        basis.put().map_err(failed(out))?;
        // Of no use any more; often there is none, and what is something else is not ours to remove.
        if std::fs::symlink_metadata(&previous).is_ok_and(|file| file.is_file())
            && Self::read(&previous, memory).is_ok()
        {
            let _ = std::fs::remove_file(&previous);
        }
        Ok(())
    }
}

/// Where a certificate is kept while its pair is replaced.
pub fn previous_path(path: &Path) -> PathBuf {
    let mut name = followed(path).unwrap_or_else(|_| path.to_path_buf()).into_os_string();
    name.push(".previous");
    name.into()
}
