//! κ and s of records, proven again from the projections they were made with.

use super::params::AnalyzeParams;
use crate::context::Context;
use crate::error::Error;
use crate::error::analyze::AnalyzeError;
use gambeson_lowrank::projection::proven::ProvenProjection;
use gambeson_report::text::shown_path;
use gambeson_smooth::analysis::LoggedRun;

/// What is proven of one file, with noise of one level or of given ones.
pub(super) struct Proof {
    name: String,
    projection: ProvenProjection,
}

/// Proves κ and s of every projection.
pub(super) fn proofs(context: &Context, params: &AnalyzeParams) -> Result<Vec<Proof>, Error> {
    let mut proofs = Vec::new();
    for files in &params.projections {
        if context.is_interrupted() {
            return Err(AnalyzeError::Stopped.into());
        }
        let projection = ProvenProjection::open(
            &files.projection,
            files.certificate.as_deref(),
            params.noise_levels.as_deref(),
            context.memory_limit(),
            context.threads(),
        )?;
        proofs.push(Proof { name: shown_path(&files.projection), projection });
    }
    Ok(proofs)
}

/// The name of the projection that proves the κ and s of a log; none where it has none, or no projection was given.
pub(super) fn proven(source: &LoggedRun, proofs: &[Proof]) -> Result<Option<String>, AnalyzeError> {
    let Some(run) = source.run.as_deref() else { return Ok(None) };
    let Some(hash) = run.common.projection.as_ref().filter(|_| !proofs.is_empty()) else { return Ok(None) };
    let log = source.name();
    let Some(Proof { name, projection }) = proofs.iter().find(|proof| proof.projection.sha256() == *hash)
    else {
        return Err(AnalyzeError::OtherProjection { log, sha256: hash.clone() });
    };
    match run.check_projection(projection) {
        Ok(()) => Ok(Some(name.clone())),
        Err(reason) => Err(AnalyzeError::Unproven { log, projection: name.clone(), reason }),
    }
}

/// A projection that proves nothing of any log was not meant for them, or they hide what they were made with.
pub(super) fn all_used(proofs: &[Proof], used: &[Option<&str>]) -> Result<(), AnalyzeError> {
    match proofs.iter().find(|proof| !used.contains(&Some(&proof.name))) {
        Some(proof) => Err(AnalyzeError::UnusedProjection { projection: proof.name.clone() }),
        None => Ok(()),
    }
}
