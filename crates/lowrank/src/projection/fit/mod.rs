//! Fitting a projection to data and certifying it, all channels in one call.
//!
//! Each channel is fitted by itself (`channel.rs`); κ² adds up over channels, so the whole is certified by the
//! certificates of its parts.

mod channel;

pub use crate::projection::fit::channel::{FitMethod, Fitted, Target, fit_channel};
pub use crate::projection::method::construction::BasisConstruction;
pub use crate::projection::method::error::FitError;
pub use crate::projection::method::progress::FitProgress;

use crate::observe::Observer;
use crate::projection::certificate::ProjectionCertificate;
use crate::projection::energy::Energy;
use crate::projection::representation::Representation;
use crate::projection::{Channel, Origin, Projection, ProjectionError};
use crate::sdp::bracket::BoundParams;
use crate::shape::Shape;
use gambeson_checker::InfToTwoBound;
use thiserror::Error;

/// What a projection is fitted to.
#[derive(Clone, Copy)]
pub struct FitData<'a> {
    /// The coordinates that the energies are in.
    pub representation: Representation,
    /// Shape of an input.
    pub shape: Shape,
    /// The energy of each channel, with the mean where it was taken off.
    pub energies: &'a [Energy],
    /// Which coordinates may be used; None for all. Errors count what lies outside.
    pub allowed: Option<&'a dyn Fn(usize) -> bool>,
    /// What the data are called.
    pub name: &'a str,
    /// Hash of the data.
    pub sha256: &'a str,
}

/// A projection with its proof, and how it came about.
#[derive(Clone, Debug)]
pub struct FittedProjection {
    /// The projection, ready to be written or used.
    pub projection: Projection,
    /// Evidence for its κ.
    pub certificate: ProjectionCertificate,
    /// What was found for each channel.
    pub channels: Vec<Fitted>,
    /// The part of the energy of all channels together that is lost.
    pub error: f64,
}

impl FittedProjection {
    /// κ of all channels together, proven.
    pub fn kappa(&self) -> InfToTwoBound {
        InfToTwoBound::of_blocks(self.channels.iter().map(|fitted| fitted.certified.square))
    }

    /// The sum of the ranks PCA needs for the errors of the channels: κ² of no projection that treats each channel by
    /// itself and loses as much of each is smaller.
    pub fn limit_rank(&self) -> usize {
        self.channels.iter().map(|fitted| fitted.limit_rank).sum()
    }
}

/// Why there is no projection.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FitProjectionError {
    /// A channel could not be fitted.
    #[error("channel {channel}: {reason}")]
    Channel {
        /// Counting from 0.
        channel: usize,
        /// Why not.
        reason: FitError,
    },
    /// The channels do not make a projection, for instance because there are more or fewer than the grid has.
    #[error(transparent)]
    Projection(#[from] ProjectionError),
}

/// Fits every channel to the target and certifies the whole. `bound` says how tightly κ is proven. The observer sees
/// which channel is fitted, then its steps; `Break` ends every channel with the best found so far.
pub fn fit_projection(
    data: &FitData<'_>,
    target: Target,
    method: &FitMethod,
    bound: &BoundParams,
    observer: &mut (dyn Observer<FitProgress> + Send),
) -> Result<FittedProjection, FitProjectionError> {
    let total = data.energies.len();
    let mut fitted = Vec::with_capacity(total);
    for (channel, energy) in data.energies.iter().enumerate() {
        // Not ended here, even if asked to: a projection needs all its channels.
        let _ = observer.observe(&FitProgress::Channel { channel, total });
        let one = fit_channel(energy, data.allowed, target, method, bound, observer);
        fitted.push(one.map_err(|reason| FitProjectionError::Channel { channel, reason })?);
    }
    let how: Vec<String> = fitted.iter().map(|fitted| fitted.how.to_string()).collect();
    let origin = Origin {
        method: format!("{}: {}", method.name(), how.join("; ")),
        data: data.name.to_owned(),
        data_sha256: data.sha256.to_owned(),
    };
    let parts = fitted.iter().zip(data.energies).map(|(fitted, energy)| Channel {
        basis: fitted.certified.basis.clone(),
        mean: energy.mean.clone(),
        error: fitted.error,
    });
    let projection = Projection::new(data.representation, data.shape, parts.collect(), origin)?;
    let certificates = fitted.iter().map(|fitted| fitted.certified.certificate.clone()).collect();
    let certificate = ProjectionCertificate::new(&projection, certificates);
    let energy: f64 = data.energies.iter().map(|energy| energy.total).sum();
    let lost: f64 =
        data.energies.iter().zip(&fitted).map(|(energy, fitted)| energy.total * fitted.error).sum();
    Ok(FittedProjection { projection, certificate, channels: fitted, error: lost / energy })
}
