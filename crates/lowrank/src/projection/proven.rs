//! A projection with what is proven about it: κ and σ_max of the very numbers that encode.
//!
//! **Problem.** A radius in z means something for inputs only through κ ≥ ‖Vᵀ‖_{∞→2} and s ≥ σ_max(V) of the basis V
//! that encodes, z = Vᵀu. Whoever encodes must hold the numbers that the proof is about, and whoever writes records
//! must name the bytes they came from.
//!
//! **Method.** A file is read once into memory; those bytes are hashed, parsed and proven. Without noise levels V is the
//! stored basis U, and the certificate proves κ. Noise of a level s_i of its own in each coordinate is noise of level 1
//! in the coordinates of V = U·Diag(1/s), as rounded: nobody has a certificate for that V, so it is searched for anew.
//!
//! **Guarantee.** Every bound is the checker's, for the entries of [`ProvenProjection::encoders`].

use crate::file::{sha256, sha256_of_numbers};
use crate::linalg::matrix::DenseMatrix;
use crate::memory::MemoryLimit;
use crate::projection::certificate::{
    ProjectionBound, ProjectionCertificate, ProjectionRejected, certificate_path,
};
use crate::projection::kappa::{CertifiedBasis, KappaError};
use crate::projection::{Channel, Projection, ProjectionError};
use crate::safetensors::SafetensorsError;
use crate::sdp::bracket::BoundParams;
use crate::sdp::certificate::CertificateFileError;
use crate::sdp::scale::spectral_norm;
use gambeson_checker::{CheckError, InfToTwoBound, SpectralBound};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// A projection, the bases that encode, and the proof of their κ and σ_max.
#[derive(Clone, Debug)]
pub struct ProvenProjection {
    projection: Projection,
    sha256: String,
    levels: Option<Levels>,
    bound: ProjectionBound,
}

/// Noise levels of the coordinates, and the bases divided by them.
#[derive(Clone, Debug)]
struct Levels {
    values: Vec<f64>,
    sha256: String,
    encoders: Vec<DenseMatrix>,
}

/// Why nothing is proven about a projection.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ProveError {
    /// The certificate does not prove κ of the projection.
    #[error(transparent)]
    Rejected(#[from] ProjectionRejected),
    /// The number of levels is not the rank.
    #[error("{found} noise levels, but the projection has rank {expected}")]
    LevelCount {
        /// The rank.
        expected: usize,
        /// Levels given.
        found: usize,
    },
    /// A level is not a positive number.
    #[error("noise level {index} (counting from 0) is {value}, but must be finite and above 0")]
    Level {
        /// Counting from 0.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// κ of a basis divided by the levels could not be proven.
    #[error("channel {channel}, divided by the noise levels: {reason}")]
    Kappa {
        /// Counting from 0.
        channel: usize,
        /// Why.
        reason: KappaError,
    },
    /// σ_max of a basis divided by the levels could not be proven.
    #[error("channel {channel}, divided by the noise levels: {reason}")]
    Spectral {
        /// Counting from 0.
        channel: usize,
        /// Why.
        reason: CheckError,
    },
}

/// Why a file of a projection and that of its certificate cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The projection cannot be read.
    #[error(transparent)]
    Projection(#[from] ProjectionError),
    /// The certificate cannot be read.
    #[error(transparent)]
    Certificate(#[from] CertificateFileError),
    /// Both can be read, but nothing is proven.
    #[error("{} with {}: {reason}", projection.display(), certificate.display())]
    Unproven {
        /// The file of the projection.
        projection: PathBuf,
        /// The file of the certificate.
        certificate: PathBuf,
        /// Why.
        reason: ProveError,
    },
}

impl ProvenProjection {
    /// Reads a projection once, hashes what was read, and proves κ and σ_max on `threads` threads: by the certificate,
    /// or, where there are `levels` (one per coordinate of z, in its order), by a new search for the bases divided by
    /// them. The certificate must fit the projection in either case. By default it stands at [`certificate_path`].
    pub fn open(
        path: &Path,
        certificate: Option<&Path>,
        levels: Option<&[f64]>,
        memory: MemoryLimit,
        threads: usize,
    ) -> Result<Self, OpenError> {
        let failed = |reason| SafetensorsError::File { path: path.to_path_buf(), reason };
        let bytes = memory.read_file(path).map_err(|reason| ProjectionError::File(failed(reason)))?;
        let projection = Projection::parse(path, &bytes)?;
        let certificate = certificate.map_or_else(|| certificate_path(path), Path::to_path_buf);
        let evidence = ProjectionCertificate::read_for(&projection, &certificate, memory)?;
        Self::prove(projection, sha256(&bytes), &evidence, levels, threads)
            .map_err(|reason| OpenError::Unproven { projection: path.to_path_buf(), certificate, reason })
    }

    /// The same for the bytes of both files; their paths name them in errors.
    pub fn parse(
        (path, bytes): (&Path, &[u8]),
        (certificate, evidence): (&Path, &[u8]),
        levels: Option<&[f64]>,
        threads: usize,
    ) -> Result<Self, OpenError> {
        let projection = Projection::parse(path, bytes)?;
        let evidence = ProjectionCertificate::parse(certificate, evidence)?;
        Self::prove(projection, sha256(bytes), &evidence, levels, threads).map_err(|reason| {
            let (projection, certificate) = (path.to_path_buf(), certificate.to_path_buf());
            OpenError::Unproven { projection, certificate, reason }
        })
    }

    /// The same for a projection in memory. Its hash is that of the file it would be written to.
    pub fn new(
        projection: Projection,
        certificate: &ProjectionCertificate,
        levels: Option<&[f64]>,
        threads: usize,
    ) -> Result<Self, ProveError> {
        let hash = sha256(&projection.to_bytes());
        Self::prove(projection, hash, certificate, levels, threads)
    }

    fn prove(
        projection: Projection,
        sha256: String,
        certificate: &ProjectionCertificate,
        levels: Option<&[f64]>,
        threads: usize,
    ) -> Result<Self, ProveError> {
        if let Some(levels) = levels {
            let expected = projection.rank();
            if levels.len() != expected {
                return Err(ProveError::LevelCount { expected, found: levels.len() });
            }
            if let Some(index) = levels.iter().position(|&level| !(level > 0.0 && level.is_finite())) {
                return Err(ProveError::Level { index, value: levels[index] });
            }
        }
        let mut bound = certificate.check(&projection, threads)?;
        let mut levels = levels.map(|values| Levels::new(&projection, values));
        if let Some(Levels { encoders, .. }) = &mut levels {
            let (found, proven) = search(std::mem::take(encoders), threads)?;
            (*encoders, bound) = (found, proven);
        }
        Ok(Self { projection, sha256, levels, bound })
    }

    /// The projection as it is stored.
    pub fn projection(&self) -> &Projection {
        &self.projection
    }

    /// Hash of its file, by which records name it.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// The noise level of each coordinate of z; none where one level serves all.
    pub fn levels(&self) -> Option<&[f64]> {
        self.levels.as_ref().map(|levels| &levels.values[..])
    }

    /// Hash of the noise levels, by which records name them.
    pub fn levels_sha256(&self) -> Option<&str> {
        self.levels.as_ref().map(|levels| levels.sha256.as_str())
    }

    /// V of each channel, n × r: z = Vᵀu. The stored basis, its columns divided by the levels where there are any.
    pub fn encoders(&self) -> impl Iterator<Item = &DenseMatrix> {
        let channels = self.projection.channels().iter().enumerate();
        channels.map(|(at, channel)| match &self.levels {
            Some(levels) => &levels.encoders[at],
            None => &channel.basis,
        })
    }

    /// What is proven, channel by channel.
    pub fn bound(&self) -> &ProjectionBound {
        &self.bound
    }

    /// Proven: κ of all channels together.
    pub fn kappa(&self) -> InfToTwoBound {
        self.bound.kappa
    }

    /// Proven: s ≥ σ_max of all channels together.
    pub fn spectral(&self) -> SpectralBound {
        SpectralBound::of_blocks(self.bound.spectral.iter().copied())
    }
}

impl Levels {
    fn new(projection: &Projection, values: &[f64]) -> Self {
        let mut rest = values;
        let divided = |Channel { basis, .. }: &Channel| {
            let (levels, after) = rest.split_at(basis.columns);
            rest = after;
            let entries =
                basis.entries.iter().enumerate().map(|(at, entry)| entry / levels[at % basis.columns]);
            DenseMatrix { rows: basis.rows, columns: basis.columns, entries: entries.collect() }
        };
        let encoders = projection.channels().iter().map(divided).collect();
        Self { values: values.to_vec(), sha256: sha256_of_numbers(values), encoders }
    }
}

/// κ and σ_max of bases without certificates.
fn search(
    bases: Vec<DenseMatrix>,
    threads: usize,
) -> Result<(Vec<DenseMatrix>, ProjectionBound), ProveError> {
    let params = BoundParams { threads, ..BoundParams::default() };
    let (mut proven, mut squares, mut spectral) = (Vec::new(), Vec::new(), Vec::new());
    for (channel, basis) in bases.into_iter().enumerate() {
        let CertifiedBasis { basis, square, .. } = CertifiedBasis::new(basis, &params, &mut ())
            .map_err(|reason| ProveError::Kappa { channel, reason })?;
        let DenseMatrix { rows, columns, entries } = &basis;
        let bound = spectral_norm(entries, *rows, *columns, threads);
        spectral.push(bound.map_err(|reason| ProveError::Spectral { channel, reason })?);
        squares.push(square);
        proven.push(basis);
    }
    let kappa = InfToTwoBound::of_blocks(squares.iter().copied());
    Ok((proven, ProjectionBound { squares, kappa, spectral }))
}
