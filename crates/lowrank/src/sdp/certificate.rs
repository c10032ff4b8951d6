//! Certificates as files: JSON, one object, numbers as shortest decimals that read back exactly.

use crate::file::write_file;
use crate::memory::MemoryLimit;
use crate::sdp::plan::DroppedEntries;
use crate::sdp::problem::{MatrixRole, OperatorNorm};
use gambeson_checker::{Certificate, Domain};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The version this code writes, but where entries are paid for.
pub const VERSION: u32 = 1;

/// The version with `paid`.
pub const PAID_VERSION: u32 = 2;

/// A certificate and what it is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CertificateFile {
    /// Format version.
    pub version: u32,
    /// `cube` or `vertices`.
    #[serde(with = "domain_name")]
    pub domain: Domain,
    /// What is bounded.
    pub norm: OperatorNorm,
    /// True where the matrix given is the factor U of M = UUᵀ.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gram: bool,
    /// Dimension of x, the number of weights.
    pub n: usize,
    /// Hash of the matrix as given ([`Matrix::sha256`](crate::linalg::matrix::Matrix::sha256)).
    pub matrix_sha256: String,
    /// y.
    pub weights: Vec<f64>,
    /// t, where y + t is to be tried as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shift: Option<f64>,
    /// Entries that are to be paid for on the diagonal instead of being factorised: `"all"`, or pairs of rows. It says how to
    /// prove: leaving it out costs time, and may prove another number. Of a factor, `"all"` asks for the lengths of its rows.
    #[serde(default, skip_serializing_if = "DroppedEntries::is_nothing", with = "paid_pairs")]
    pub paid: DroppedEntries,
}

/// Why a certificate file could not be read or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CertificateFileError {
    /// Reading or writing failed.
    #[error("{}: {reason}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        reason: std::io::Error,
    },
    /// Not a certificate.
    #[error("{}: not a certificate: {reason}", path.display())]
    Malformed {
        /// Which file.
        path: PathBuf,
        /// What the parser said, with line and column.
        reason: serde_json::Error,
    },
    /// An unknown version, perhaps of a newer program.
    #[error("{}: format version {found} is unknown, only {VERSION} and {PAID_VERSION} are known", path.display())]
    Version {
        /// Which file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
}

impl CertificateFile {
    /// Joins a certificate with what it is about.
    pub fn new(
        certificate: Certificate,
        norm: OperatorNorm,
        reading: MatrixRole,
        matrix_sha256: String,
    ) -> Self {
        let Certificate { domain, weights, shift } = certificate;
        let gram = reading == MatrixRole::Gram;
        let paid = DroppedEntries::Nothing;
        Self { version: VERSION, domain, norm, gram, n: weights.len(), matrix_sha256, weights, shift, paid }
    }

    /// With what was paid for when it was proven.
    #[must_use]
    pub fn paying(self, paid: DroppedEntries) -> Self {
        let version = if paid.is_nothing() { VERSION } else { PAID_VERSION };
        Self { version, paid, ..self }
    }

    /// How the matrix is to be read.
    pub fn reading(&self) -> MatrixRole {
        if self.gram { MatrixRole::Gram } else { MatrixRole::Plain }
    }

    /// The part the checker takes.
    pub fn into_certificate(self) -> Certificate {
        Certificate { domain: self.domain, weights: self.weights, shift: self.shift }
    }

    /// Reads a file.
    pub fn read(path: &Path, memory: MemoryLimit) -> Result<Self, CertificateFileError> {
        let bytes = memory
            .read_file(path)
            .map_err(|reason| CertificateFileError::File { path: path.to_path_buf(), reason })?;
        let file: Self = serde_json::from_slice(crate::file::without_mark(&bytes))
            .map_err(|reason| CertificateFileError::Malformed { path: path.to_path_buf(), reason })?;
        let own = if file.paid.is_nothing() { VERSION } else { PAID_VERSION };
        if file.version != own {
            return Err(CertificateFileError::Version { path: path.to_path_buf(), found: file.version });
        }
        Ok(file)
    }

    /// Writes a file, whole or not at all.
    pub fn write(&self, path: &Path) -> Result<(), CertificateFileError> {
        let failed = |reason: std::io::Error| CertificateFileError::File { path: path.to_path_buf(), reason };
        let mut text = serde_json::to_vec(self).map_err(|reason| failed(reason.into()))?;
        text.push(b'\n');
        write_file(path, &text).map_err(failed)
    }
}

mod paid_pairs {
    use crate::sdp::plan::DroppedEntries;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    enum All {
        #[serde(rename = "all")]
        All,
    }

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Form {
        All(All),
        Pairs(Vec<(u32, u32)>),
    }

    pub(super) fn serialize<S: Serializer>(paid: &DroppedEntries, serializer: S) -> Result<S::Ok, S::Error> {
        match paid {
            DroppedEntries::Nothing => Form::Pairs(Vec::new()),
            DroppedEntries::Pairs(pairs) => Form::Pairs(pairs.clone()),
            DroppedEntries::All => Form::All(All::All),
        }
        .serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<DroppedEntries, D::Error> {
        Ok(match Form::deserialize(deserializer)? {
            Form::All(All::All) => DroppedEntries::All,
            Form::Pairs(pairs) if pairs.is_empty() => DroppedEntries::Nothing,
            Form::Pairs(pairs) => DroppedEntries::Pairs(pairs),
        })
    }
}

mod domain_name {
    use gambeson_checker::Domain;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Name {
        Cube,
        Vertices,
    }

    #[allow(clippy::trivially_copy_pass_by_ref)] // serde calls it so
    pub(super) fn serialize<S: Serializer>(domain: &Domain, serializer: S) -> Result<S::Ok, S::Error> {
        match domain {
            Domain::Cube => Name::Cube,
            Domain::Vertices => Name::Vertices,
        }
        .serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Domain, D::Error> {
        Ok(match Name::deserialize(deserializer)? {
            Name::Cube => Domain::Cube,
            Name::Vertices => Domain::Vertices,
        })
    }
}
