//! Whether a projection proves the κ and s that records name.
//!
//! Counts prove a radius in the coordinates of a projection; what that means for inputs rests on κ and s, which a record
//! only names. Here they are compared with those proven from the file whose hash the record has. The encoding error of a
//! record, about 10⁻¹², can only be computed from its input: [`crate::runs`] does so when it resumes.

use super::run::Run;
use gambeson_lowrank::projection::proven::ProvenProjection;
use thiserror::Error;

/// Why a projection does not prove what a run names.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ProjectionMismatch {
    /// The run was made without a projection, or with another one.
    #[error("made with {}, not with sha256:{given}", match .recorded {
        Some(hash) => format!("the projection sha256:{hash}"),
        None => "no projection".to_owned(),
    })]
    Projection {
        /// Hash in the run.
        recorded: Option<String>,
        /// Hash of the projection given.
        given: String,
    },
    /// The projection was proven for noise levels, the run made without.
    #[error("made with noise of one level, not with the noise levels given")]
    OneLevel,
    /// The run was made with noise levels, and the projection not proven for those.
    #[error("made with noise of levels sha256:{recorded}, not those given")]
    Levels {
        /// Hash in the run.
        recorded: String,
    },
    /// The coordinates differ, although the hash is the same.
    #[error("its inputs are not those of the projection it names")]
    Inputs,
    /// The run names a smaller bound than is proven.
    #[error("{field} is {recorded}, but the projection and its certificate prove only {proven}")]
    Bound {
        /// `kappa` or `spectral`.
        field: &'static str,
        /// In the run.
        recorded: f64,
        /// As the checker has it.
        proven: f64,
    },
}

impl Run {
    /// Whether κ and s of the run are no better than what is proven about the projection it was made with.
    pub fn check_projection(&self, proven: &ProvenProjection) -> Result<(), ProjectionMismatch> {
        if self.common.projection.as_deref() != Some(proven.sha256()) {
            let (recorded, given) = (self.common.projection.clone(), proven.sha256().to_owned());
            return Err(ProjectionMismatch::Projection { recorded, given });
        }
        match (&self.noise, proven.levels_sha256()) {
            (recorded, given) if recorded.as_deref() == given => {}
            (None, _) => return Err(ProjectionMismatch::OneLevel),
            (Some(hash), _) => return Err(ProjectionMismatch::Levels { recorded: hash.clone() }),
        }
        let projection = proven.projection();
        if self.representation != Some(projection.representation())
            || self.dimension != projection.shape().len() as u64
        {
            return Err(ProjectionMismatch::Inputs);
        }
        let bounds = [
            ("kappa", self.kappa, proven.kappa().value()),
            ("spectral", self.spectral, proven.spectral().value()),
        ];
        for (field, recorded, proven) in bounds {
            // A missing bound proves nothing, and readers refuse such records.
            if let Some(recorded) = recorded.filter(|&recorded| !(recorded >= proven)) {
                return Err(ProjectionMismatch::Bound { field, recorded, proven });
            }
        }
        Ok(())
    }
}
