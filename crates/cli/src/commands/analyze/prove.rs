//! κ and s of records, proven again from the projection they were made with.
//!
//! Counts prove a radius in the coordinates of a projection; what that means for inputs rests on κ and s, which a
//! record only names. Here they are proven from the file with the record's hash and its certificate. Its encoding error,
//! some 10⁻¹², remains named: it takes the input to compute it.

use crate::args::AnalyzeArguments;
use crate::commands::certify::{vector, vector_sha256};
use anyhow::{Context, bail};
use gambeson_checker::{InfToTwoBound, SpectralBound};
use gambeson_lowrank::file::sha256;
use gambeson_lowrank::projection::certificate::ProjectionCertificate;
use gambeson_lowrank::projection::representation::Representation;
use gambeson_lowrank::projection::{Grid, Projection};
use gambeson_smooth::analysis::Source;
use gambeson_smooth::record::Run;
use gambeson_smooth::space::Space;
use std::path::{Path, PathBuf};

/// What is proven of one file, with noise of one level or of given ones.
pub(super) struct Proof {
    name: String,
    sha256: String,
    levels_sha256: Option<String>,
    representation: Representation,
    dimension: u64,
    kappa: InfToTwoBound,
    spectral: SpectralBound,
}

/// Proves κ and s of every `--projection`.
pub(super) fn proofs(arguments: &AnalyzeArguments) -> anyhow::Result<Vec<Proof>> {
    let levels = arguments.noise_levels.as_deref().map(vector).transpose()?;
    let (projections, certificates) = (&arguments.projection, &arguments.certificate);
    if !certificates.is_empty() && certificates.len() != projections.len() {
        bail!("{} certificates for {} projections", certificates.len(), projections.len());
    }
    let beside = |path: &PathBuf| path.with_extension("cert.json");
    let one = |(at, path): (usize, &PathBuf)| {
        let certificate = certificates.get(at).cloned().unwrap_or_else(|| beside(path));
        Proof::new(path, &certificate, levels.as_deref())
    };
    projections.iter().enumerate().map(one).collect()
}

impl Proof {
    fn new(path: &Path, certificate: &Path, levels: Option<&[f64]>) -> anyhow::Result<Self> {
        let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
        let projection = Projection::read(path)?;
        let proof = ProjectionCertificate::read(certificate)?;
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let space = Space::projected(&projection, &proof, levels, None, threads)
            .with_context(|| format!("{} with {}", path.display(), certificate.display()))?;
        let (Some(kappa), Some(spectral)) = (space.kappa(), space.spectral()) else {
            bail!("{}: no projection", path.display())
        };
        let Grid { channels, height, width } = projection.grid();
        Ok(Self {
            name: path.display().to_string(),
            sha256: sha256(&bytes),
            levels_sha256: levels.map(vector_sha256),
            representation: projection.representation(),
            dimension: (channels * height * width) as u64,
            kappa,
            spectral,
        })
    }
}

/// The name of the projection that proves the κ and s of a log; none where it has none, or no projection was given.
pub(super) fn proven(source: &Source, proofs: &[Proof]) -> anyhow::Result<Option<String>> {
    let Some(run) = source.run.as_deref() else { return Ok(None) };
    let Some(hash) = run.projection.as_ref().filter(|_| !proofs.is_empty()) else { return Ok(None) };
    let log = source.name();
    let Some(proof) = proofs.iter().find(|proof| proof.sha256 == *hash) else {
        bail!("{log}: made with the projection sha256:{hash}, which is none of those given")
    };
    match (&run.noise, &proof.levels_sha256) {
        (recorded, given) if recorded == given => {}
        (None, _) => bail!("{log}: made with noise of one level, not with the --noise-levels given"),
        (Some(hash), _) => {
            bail!("{log}: made with noise of levels sha256:{hash}: give them with --noise-levels")
        }
    }
    fits(&log, run, proof)?;
    Ok(Some(proof.name.clone()))
}

/// A projection that proves nothing of any log was not meant for them, or they hide what they were made with.
pub(super) fn all_used(proofs: &[Proof], used: &[Option<&str>]) -> anyhow::Result<()> {
    match proofs.iter().find(|proof| !used.contains(&Some(&proof.name))) {
        Some(proof) => bail!("{}: no log says that it was made with this projection", proof.name),
        None => Ok(()),
    }
}

/// Whether what a record names is no better than what is proven.
fn fits(log: &str, run: &Run, proof: &Proof) -> anyhow::Result<()> {
    let name = &proof.name;
    if run.representation != Some(proof.representation) || run.dimension != proof.dimension {
        bail!("{log}: its inputs are not those of {name}, though it names that file")
    }
    let both =
        [("kappa", run.kappa, proof.kappa.value()), ("spectral", run.spectral, proof.spectral.value())];
    for (field, recorded, proven) in both {
        if let Some(recorded) = recorded.filter(|&recorded| recorded < proven) {
            bail!("{log}: says {field} is {recorded}, but {name} and its certificate prove only {proven}")
        }
    }
    Ok(())
}
