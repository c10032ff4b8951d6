//! The certificate of a projection: one certificate per channel, in one file.
//!
//! JSON `{version, kind: "projection", channels: [certificate, …]}`; each part has the form of any certificate, for the
//! channel's basis as the factor U of M = UUᵀ and the norm ∞→2 on the cube, and can be taken out and checked by itself.

use crate::file::write_file;
use crate::linalg::matrix::Matrix;
use crate::projection::Projection;
use crate::projection::kappa::problem;
use crate::sdp::certificate::{CertificateFile, CertificateFileError, VERSION};
use crate::sdp::problem::{Norm, ProblemError, Reading};
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
                CertificateFile::new(certificate, Norm::InfToTwo, Reading::Gram, hash)
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
            let asked = file.norm == Norm::InfToTwo && file.gram && file.domain == Domain::Cube;
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
    pub fn read(path: &Path) -> Result<Self, CertificateFileError> {
        let bytes = std::fs::read(path)
            .map_err(|reason| CertificateFileError::File { path: path.to_path_buf(), reason })?;
        let file: Self = serde_json::from_slice(&bytes)
            .map_err(|reason| CertificateFileError::Malformed { path: path.to_path_buf(), reason })?;
        match file.channels.iter().map(|part| part.version).chain([file.version]).find(|&v| v != VERSION) {
            Some(found) => Err(CertificateFileError::Version { path: path.to_path_buf(), found }),
            None => Ok(file),
        }
    }

    /// Writes a file, whole or not at all.
    pub fn write(&self, path: &Path) -> Result<(), CertificateFileError> {
        let failed = |reason: std::io::Error| CertificateFileError::File { path: path.to_path_buf(), reason };
        let mut text = serde_json::to_vec(self).map_err(|reason| failed(reason.into()))?;
        text.push(b'\n');
        write_file(path, &text).map_err(failed)
    }
}
