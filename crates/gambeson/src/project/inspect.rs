//! What a projection file is, and what its certificate proves.

use crate::context::Context;
use crate::error::Error;
use gambeson_lowrank::projection::certificate::{ProjectionBound, ProjectionCertificate, certificate_path};
use gambeson_lowrank::projection::proven::OpenError;
use gambeson_lowrank::projection::{Channel, Projection};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A projection and what its certificate proves.
#[derive(Debug)]
pub struct Inspection {
    /// The projection.
    pub projection: Projection,
    /// What is proven; otherwise why nothing is.
    pub proven: Result<ProjectionBound, String>,
    /// Whether there is a certificate and it was rejected.
    pub rejected: bool,
}

/// Reads a projection and checks its certificate: the one given, or the one beside it (`P.cert.json`) if there is one.
pub fn inspect_projection(
    context: &Context,
    path: &Path,
    certificate: Option<&Path>,
) -> Result<Inspection, Error> {
    context.run(|| {
        let memory = context.memory_limit();
        let projection = Projection::read(path, memory).map_err(OpenError::from)?;
        let beside = || Some(certificate_path(path)).filter(|path| path.exists());
        let Some(certificate) = certificate.map(Path::to_path_buf).or_else(beside) else {
            let proven = Err("no certificate".to_owned());
            return Ok(Inspection { projection, proven, rejected: false });
        };
        let certificate = ProjectionCertificate::read_for(&projection, &certificate, memory)?;
        let checked = certificate.check(&projection, context.threads());
        let rejected = checked.is_err();
        Ok(Inspection { projection, proven: checked.map_err(|reason| reason.to_string()), rejected })
    })
}

impl Inspection {
    /// What it says, as data.
    pub fn record(&self) -> InspectionRecord {
        let (projection, bound) = (&self.projection, self.proven.as_ref().ok());
        let (shape, origin) = (projection.shape(), projection.origin());
        let channel = |(c, channel): (usize, &Channel)| {
            let filled = channel.basis.entries.iter().filter(|&&entry| entry != 0.0).count();
            InspectedChannel {
                rank: channel.basis.columns,
                error: channel.error,
                density: filled as f64 / channel.basis.entries.len() as f64,
                kappa: bound.map(|bound| bound.squares[c].sqrt().value()),
                spectral: bound.map(|bound| bound.spectral[c].value()),
            }
        };
        InspectionRecord {
            basis: projection.representation().name().to_owned(),
            shape: [shape.channels, shape.height, shape.width],
            rank: projection.rank(),
            centred: projection.channels().iter().any(|channel| channel.mean.is_some()),
            method: origin.method.clone(),
            data: origin.data.clone(),
            data_sha256: origin.data_sha256.clone(),
            channels: projection.channels().iter().enumerate().map(channel).collect(),
            kappa: bound.map(|bound| bound.kappa.value()),
            reason: self.proven.as_ref().err().cloned(),
        }
    }
}

impl Serialize for Inspection {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.record().serialize(serializer)
    }
}

/// What `project inspect --json` prints. Keys are only ever added.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InspectionRecord {
    /// pixel, dct1 or dct2.
    pub basis: String,
    /// channels, height, width.
    pub shape: [usize; 3],
    /// Of all channels together.
    pub rank: usize,
    /// Whether a mean is subtracted.
    pub centred: bool,
    /// How it was fitted, as the file says.
    pub method: String,
    /// What it was fitted to, as the file says.
    pub data: String,
    /// Hash of the data, as the file says.
    pub data_sha256: String,
    /// Each channel.
    pub channels: Vec<InspectedChannel>,
    /// Proven; null without a certificate that proves it.
    pub kappa: Option<f64>,
    /// Why there is no kappa.
    pub reason: Option<String>,
}

/// One channel of an [`InspectionRecord`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InspectedChannel {
    /// Dimensions.
    pub rank: usize,
    /// Fraction of the energy lost, as the file says.
    pub error: f64,
    /// Fraction of the entries of the basis that are not zero.
    pub density: f64,
    /// Proven.
    pub kappa: Option<f64>,
    /// Proven: the largest singular value of the stored basis is at most this.
    pub spectral: Option<f64>,
}
