//! κ and s of records, proven again from the projections they were made with.

use crate::args::ProofArguments;
use crate::commands::certify::vector;
use crate::machine::Resources;
use crate::screen::shown;
use anyhow::bail;
use gambeson_lowrank::projection::proven::ProvenProjection;
use gambeson_smooth::analysis::LoggedRun;
use gambeson_smooth::record::ProjectionMismatch;
use std::path::PathBuf;

/// What is proven of one file, with noise of one level or of given ones.
pub(super) struct Proof {
    name: String,
    projection: ProvenProjection,
}

/// Proves κ and s of every `--projection`.
pub(super) fn proofs(arguments: &ProofArguments, resources: Resources) -> anyhow::Result<Vec<Proof>> {
    let levels = arguments.noise_levels.as_deref().map(|path| vector(path, resources.memory)).transpose()?;
    let (projections, certificates) = (&arguments.projection, &arguments.certificate);
    if !certificates.is_empty() && certificates.len() != projections.len() {
        bail!("{} certificates for {} projections", certificates.len(), projections.len());
    }
    let one = |(at, path): (usize, &PathBuf)| {
        let certificate = certificates.get(at).map(PathBuf::as_path);
        let projection = ProvenProjection::open(
            path,
            certificate,
            levels.as_deref(),
            resources.memory,
            resources.threads,
        )?;
        Ok(Proof { name: shown(&path.display().to_string()), projection })
    };
    projections.iter().enumerate().map(one).collect()
}

/// The name of the projection that proves the κ and s of a log; none where it has none, or no projection was given.
pub(super) fn proven(source: &LoggedRun, proofs: &[Proof]) -> anyhow::Result<Option<String>> {
    let Some(run) = source.run.as_deref() else { return Ok(None) };
    let Some(hash) = run.common.projection.as_ref().filter(|_| !proofs.is_empty()) else { return Ok(None) };
    let log = source.name();
    let Some(Proof { name, projection }) = proofs.iter().find(|proof| proof.projection.sha256() == *hash)
    else {
        bail!("{log}: made with the projection sha256:{hash}, which is none of those given")
    };
    match run.check_projection(projection) {
        Ok(()) => Ok(Some(name.clone())),
        Err(ProjectionMismatch::OneLevel) => {
            bail!("{log}: made with noise of one level, not with the --noise-levels given")
        }
        Err(ProjectionMismatch::Levels { recorded }) => {
            bail!("{log}: made with noise of levels sha256:{recorded}: give them with --noise-levels")
        }
        Err(ProjectionMismatch::Bound { field, recorded, proven }) => {
            bail!("{log}: says {field} is {recorded}, but {name} and its certificate prove only {proven}")
        }
        Err(ProjectionMismatch::Inputs) => {
            bail!("{log}: its inputs are not those of {name}, though it names that file")
        }
        Err(mismatch) => bail!("{log}, {name}: {mismatch}"),
    }
}

/// A projection that proves nothing of any log was not meant for them, or they hide what they were made with.
pub(super) fn all_used(proofs: &[Proof], used: &[Option<&str>]) -> anyhow::Result<()> {
    match proofs.iter().find(|proof| !used.contains(&Some(&proof.name))) {
        Some(proof) => bail!("{}: no log says that it was made with this projection", proof.name),
        None => Ok(()),
    }
}
