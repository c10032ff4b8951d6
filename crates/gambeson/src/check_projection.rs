//! What a certificate proves about a projection, by the checker alone.

use crate::bound::{domain_name, peak_memory};
use crate::check::{BoundedQuantity, Refusal};
use crate::context::Context;
use crate::error::Error;
use gambeson_checker::Domain;
use gambeson_lowrank::parameter::ParameterError;
use gambeson_lowrank::projection::Projection;
use gambeson_lowrank::projection::certificate::{ProjectionBound, ProjectionCertificate};
use gambeson_lowrank::sdp::problem::OperatorNorm;
use serde::{Deserialize, Serialize};
use std::time::Instant;

/// What a projection's certificate proves about it.
#[derive(Debug)]
pub struct ProjectionCheck {
    /// Everything proven; none if the certificate is rejected.
    pub bound: Option<ProjectionBound>,
    /// Why it is rejected, or larger than asked for.
    pub reason: Option<String>,
    /// Seconds for the proof.
    pub seconds: f64,
}

impl ProjectionCheck {
    /// Whether what was asked is proven.
    pub fn proven(&self) -> bool {
        self.reason.is_none()
    }

    /// What it says, as data.
    pub fn record(&self) -> ProjectionCheckRecord {
        let bound = self.bound.as_ref();
        let roots =
            |bound: &ProjectionBound| bound.squares.iter().map(|square| square.sqrt().value()).collect();
        let spectral = |bound: &ProjectionBound| bound.spectral.iter().map(|bound| bound.value()).collect();
        ProjectionCheckRecord {
            proven: self.proven(),
            norm: OperatorNorm::InfToTwo,
            gram: true,
            domain: domain_name(Domain::Cube).to_owned(),
            bound: bound.map(|bound| bound.kappa.square().value()),
            kappa: bound.map(|bound| bound.kappa.value()),
            channels: bound.map_or_else(Vec::new, roots),
            spectral: bound.map_or_else(Vec::new, spectral),
            reason: self.reason.clone(),
            seconds_check: self.seconds,
            peak_memory: peak_memory(),
        }
    }
}

impl Serialize for ProjectionCheck {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.record().serialize(serializer)
    }
}

/// Checks the certificate of a projection: a bound κ on the norm ∞→2 of Uᵀ for the bases as stored. It is rejected unless κ
/// itself, not its square, is at most `at_most`.
pub fn check_projection(
    context: &Context,
    projection: &Projection,
    certificate: &ProjectionCertificate,
    at_most: Option<f64>,
) -> Result<ProjectionCheck, Error> {
    if let Some(value) = at_most.filter(|asked| asked.is_nan()) {
        return Err(Error::Parameter(ParameterError { name: "at_most", value, range: "a number" }));
    }
    context.run(|| {
        let started = Instant::now();
        let checked = certificate.check(projection, context.threads());
        let seconds = started.elapsed().as_secs_f64();
        let reason = match &checked {
            Ok(proven) => {
                let (quantity, bound) = (BoundedQuantity::Kappa, proven.kappa.value());
                let too_large = at_most.filter(|&asked| bound > asked);
                too_large.map(|asked| Refusal::TooLarge { quantity, bound, asked }.to_string())
            }
            Err(rejected) => Some(rejected.to_string()),
        };
        Ok(ProjectionCheck { bound: checked.ok(), reason, seconds })
    })
}

/// What `check --json` prints about a projection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProjectionCheckRecord {
    /// Whether what was asked is proven.
    pub proven: bool,
    /// The norm ∞→2,
    pub norm: OperatorNorm,
    /// of factors,
    pub gram: bool,
    /// on the cube.
    pub domain: String,
    /// κ² of all channels together.
    pub bound: Option<f64>,
    /// κ of all channels together.
    pub kappa: Option<f64>,
    /// κ of each channel.
    pub channels: Vec<f64>,
    /// The largest singular value of each channel's basis is at most this.
    pub spectral: Vec<f64>,
    /// Why the certificate was rejected.
    pub reason: Option<String>,
    /// Seconds for the proof.
    pub seconds_check: f64,
    /// Peak memory of the process, in bytes; null if the system does not report it.
    pub peak_memory: Option<u64>,
}
