//! What records were made with: the files beside them whose hashes they name.

use super::params::ReportParams;
use super::recheck::MadeWith;
use super::sources::{CertifiedSource, Sources};
use crate::context::Context;
use gambeson_learn::train::run::NETWORK;
use gambeson_learn::train::setup::PROJECTION;
use gambeson_lowrank::file::sha256;
use gambeson_lowrank::projection::proven::ProvenProjection;
use gambeson_report::text::{shown, shown_path};
use gambeson_smooth::record::{Head, ProjectionMismatch, Run};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What is known about κ of a run.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum KappaProof {
    /// No projection.
    NoProjection,
    /// Proven again from this file.
    Proven(PathBuf),
    /// As the records have it; why it was not proven.
    Recorded(String),
}

/// Files that may be what records name.
#[derive(Debug)]
pub(super) struct Candidates<'a> {
    context: &'a Context,
    networks: Vec<(PathBuf, String)>,
    projections: Vec<(PathBuf, String)>,
}

impl<'a> Candidates<'a> {
    /// The files that were named, those of folders of training, and those beside records.
    pub(super) fn of(context: &'a Context, sources: &Sources, params: &ReportParams) -> Self {
        let mut networks = params.networks.clone();
        let mut projections = params.projections.clone();
        for folder in sources.trained.iter().map(|run| &run.folder) {
            networks.push(folder.join(NETWORK));
            projections.push(folder.join(PROJECTION));
        }
        for run in &sources.certified {
            let Some(recorded) = &run.recorded else { continue };
            let files = &recorded.head().files;
            for folder in run.logged.paths.iter().filter_map(|path| path.parent()) {
                // Names from a file: their last part only.
                let beside = |name: &Option<String>| {
                    name.as_deref().and_then(|name| Path::new(name).file_name().map(|name| folder.join(name)))
                };
                networks.extend(beside(&files.network).into_iter().chain([folder.join(NETWORK)]));
                projections.extend(beside(&files.projection).into_iter().chain([folder.join(PROJECTION)]));
            }
        }
        let hashed = |paths: Vec<PathBuf>| {
            let mut seen: Vec<(PathBuf, String)> = Vec::new();
            for path in paths.into_iter().filter(|path| path.is_file()) {
                if seen.iter().all(|(known, _)| *known != path)
                    && let Ok(bytes) = context.memory_limit().read_file(&path)
                {
                    seen.push((path, sha256(&bytes)));
                }
            }
            seen
        };
        Self { context, networks: hashed(networks), projections: hashed(projections) }
    }

    /// The file of the network of a run.
    fn network(&self, run: &Run) -> Option<&PathBuf> {
        let hash = run.common.model.split(' ').next()?;
        self.networks.iter().find(|(_, own)| own == hash).map(|(path, _)| path)
    }

    fn projection(&self, run: &Run) -> Option<&PathBuf> {
        let hash = run.common.projection.as_ref()?;
        self.projections.iter().find(|(_, own)| own == hash).map(|(path, _)| path)
    }

    /// κ and s of a run, proven again where the projection and its certificate are found. An error where they prove less
    /// than the records claim.
    pub(super) fn prove(&self, run: &Run) -> Result<KappaProof, ProjectionMismatch> {
        if run.common.projection.is_none() {
            return Ok(KappaProof::NoProjection);
        }
        let Some(path) = self.projection(run) else {
            return Ok(KappaProof::Recorded("the projection is not beside the records".to_owned()));
        };
        if run.noise.is_some() {
            return Ok(KappaProof::Recorded(
                "the noise levels of the coordinates are not recorded".to_owned(),
            ));
        }
        let (memory, threads) = (self.context.memory_limit(), self.context.threads());
        match ProvenProjection::open(path, None, None, memory, threads) {
            Err(error) => Ok(KappaProof::Recorded(shown(&error.to_string()))),
            Ok(proven) => run.check_projection(&proven).map(|()| KappaProof::Proven(path.clone())),
        }
    }

    /// What a run was made with: paths that were found, and names where nothing was.
    pub(super) fn made_with(&self, source: &CertifiedSource, data: OsString) -> Option<MadeWith> {
        let head: &Head<Run> = source.recorded.as_ref()?.head();
        let run = &head.run;
        let mut missing = Vec::new();
        let (hash, normalisation) = normalised(&run.common.model);
        let named =
            |name: &Option<String>, otherwise: &str| name.clone().unwrap_or_else(|| otherwise.to_owned());
        let network = match self.network(run) {
            Some(path) => path.clone().into_os_string(),
            // What is no hash is a text that says all.
            None if !is_hash(hash) => OsString::from(&run.common.model),
            None => {
                let name = named(&head.files.network, NETWORK);
                missing.push(name.clone());
                name.into()
            }
        };
        let projection = run.common.projection.as_ref().map(|_| {
            self.projection(run).cloned().unwrap_or_else(|| {
                let name = named(&head.files.projection, PROJECTION);
                missing.push(name.clone());
                PathBuf::from(name)
            })
        });
        let GivenNormalisation { mean, std } = normalisation.unwrap_or_default();
        let (records, has_levels) = (source.logged.paths.clone(), run.noise.is_some());
        let missing = missing.iter().map(|name| shown(name)).collect();
        Some(MadeWith { records, network, mean, std, data, split: None, projection, has_levels, missing })
    }

    /// Networks that lie beside records and are not those that the records name.
    pub(super) fn others(&self, source: &CertifiedSource) -> Vec<String> {
        let Some(recorded) = &source.recorded else { return Vec::new() };
        let run = recorded.run();
        let folders: Vec<&Path> = source.logged.paths.iter().filter_map(|path| path.parent()).collect();
        let beside = |path: &Path| path.parent().is_some_and(|folder| folders.contains(&folder));
        let (hash, _) = normalised(&run.common.model);
        let other = |what: &str, path: &Path, own: &str, wanted: &str| {
            let (log, path) = (shown(&source.logged.name()), shown_path(path));
            format!(
                "{log}: made with the {what} sha256:{}, but {path} beside it is sha256:{own}",
                shown(wanted)
            )
        };
        let network = self.networks.iter().filter(|(path, own)| beside(path) && is_hash(hash) && own != hash);
        let network = network.map(|(path, own)| other("network", path, own, hash));
        let network: Vec<String> = if self.network(run).is_some() { Vec::new() } else { network.collect() };
        let wanted = run.common.projection.as_deref();
        let projection =
            self.projections.iter().filter(|(path, own)| beside(path) && wanted.is_some_and(|it| it != own));
        let projection =
            projection.map(|(path, own)| other("projection", path, own, wanted.unwrap_or_default()));
        let projection: Vec<String> =
            if self.projection(run).is_some() { Vec::new() } else { projection.collect() };
        network.into_iter().chain(projection).collect()
    }
}

fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A normalisation that is not in the file of a network.
#[derive(Debug, Default, PartialEq)]
struct GivenNormalisation {
    mean: Vec<f32>,
    std: Vec<f32>,
}

/// The hash in the name of a network, and the normalisation that follows it.
fn normalised(model: &str) -> (&str, Option<GivenNormalisation>) {
    let Some((hash, rest)) = model.split_once(" mean [") else { return (model, None) };
    let numbers = |text: &str| -> Option<Vec<f32>> {
        text.split(',').map(|number| number.trim().parse().ok()).collect()
    };
    let both = rest.split_once("] std [").and_then(|(mean, std)| {
        Some(GivenNormalisation { mean: numbers(mean)?, std: numbers(std.strip_suffix(']')?)? })
    });
    (hash, both)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_network_has_its_hash_and_its_normalisation() {
        let hash = "ab".repeat(32);
        assert_eq!(normalised(&hash), (&*hash, None));
        let named = format!("{hash} mean [0.5, 0.25] std [1.0, 2.0]");
        assert_eq!(
            normalised(&named),
            (&*hash, Some(GivenNormalisation { mean: vec![0.5, 0.25], std: vec![1.0, 2.0] }))
        );
        assert_eq!(normalised("toy:half-space,offset=1").1, None);
        assert!(is_hash(&hash) && !is_hash("toy"));
    }
}
