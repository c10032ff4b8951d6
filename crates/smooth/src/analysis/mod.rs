//! Logs of certification, our own records and those of others, and what they say: certified accuracy and the like.
//!
//! [`read_logs`] makes a [`Source`] of every log; our records are certified again from their counts, and shards of one
//! run become one source. [`Source::scores`] answers a question about it.

mod dialects;
mod error;
mod probability;
mod records;
mod scores;
mod text;
mod votes;

pub use error::{AnalysisError, LineProblem, LogError};
pub use probability::{bernstein_bound, false_certificates};
pub use scores::{Question, RadiusNorm, Scale, Scores, best_at};

use crate::record::{Certification, PREDICTION_START, PredictionRecord, Record, Run};
use gambeson_checker::FailureProbability;
use std::path::{Path, PathBuf};

/// What a log is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Our own records.
    Records,
    /// `idx label predict radius correct time` of Cohen et al. and their followers.
    Certificates,
    /// `idx label predict correct time`, with or without `basePredict`: no radii.
    Predictions,
    /// With `radius_proxy` and `min_sigma`. The radius is that of the largest ball in the certified ellipsoid.
    Ancer,
    /// With `unperturbed predict`; selections lack labels.
    Aces,
    /// With `prob_lb`, radii in ℓ∞.
    Ars,
    /// Radius and certified accuracy.
    Curve,
    /// Two-sided intervals of DSRS.
    DsrsIntervals,
    /// Radii of DSRS.
    DsrsRadii,
    /// Counts of all classes, without noise level.
    Votes,
}

/// What the smoothed classifier was found to answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Predicted {
    /// A class.
    Class(u32),
    /// A class that the log does not name.
    Unnamed,
    /// Nothing.
    Abstained,
}

/// What a log says of one input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Input {
    /// Which.
    pub index: u64,
    /// Its class.
    pub label: Option<u32>,
    /// What was predicted.
    pub predicted: Predicted,
    /// Whether that is right; none where it is not known.
    pub correct: Option<bool>,
    /// Radius in the coordinates that noise was added to, from which κ leads to ℓ∞; 0 where it abstains, none where
    /// the log has none.
    pub latent: Option<f64>,
    /// Radius in ℓ2, likewise.
    pub l2: Option<f64>,
    /// Radius in ℓ∞, likewise.
    pub linf: Option<f64>,
    /// The lower limit on p_A, the probability of the class predicted.
    pub lower_limit: Option<f64>,
}

/// What a source consists of.
#[derive(Clone, Debug, PartialEq)]
pub enum Evidence {
    /// Input by input.
    Inputs(Vec<Input>),
    /// Certified accuracy at some radii, both as listed: radii rise, accuracy does not.
    Curve(Vec<(f64, f64)>),
}

/// One run: a log, or the shards of one.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// The files, in the order given.
    pub paths: Vec<PathBuf>,
    /// What it is.
    pub dialect: Dialect,
    /// What it says.
    pub evidence: Evidence,
    /// σ, where it is known.
    pub sigma: Option<f64>,
    /// The failure probability of one certificate, where it is known.
    pub alpha: Option<f64>,
    /// Last lines of records that a kill has broken off, from 1: they are left out, and the run can go on.
    pub broken_off: Vec<(PathBuf, usize)>,
    /// Of our records: what they have in common.
    pub run: Option<Box<Run>>,
}

/// How counts are certified.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Settings {
    /// Another failure probability than the records have; that of votes.
    pub alpha: Option<FailureProbability>,
    /// The noise level of votes; of logs with radii, to find p_A from them.
    pub sigma: Option<f64>,
    /// The limits.
    pub how: Certification,
}

impl Source {
    /// The files as they were named, for messages and tables.
    pub fn name(&self) -> String {
        self.paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" + ")
    }
}

/// Reads logs, in the order given; records of one run become one source, at the place of the first.
pub fn read_logs(paths: &[PathBuf], settings: &Settings) -> Result<Vec<Source>, LogError> {
    let mut places = Vec::new();
    let mut records = records::Gathered::<Record>::default();
    let mut predictions = records::Gathered::<PredictionRecord>::default();
    for path in paths {
        let bytes = std::fs::read(path).map_err(|reason| LogError::File { path: path.clone(), reason })?;
        if bytes.trim_ascii_start().starts_with(PREDICTION_START) {
            if let Some(run) = predictions.add(path, &bytes)? {
                places.push(Place::Predictions(run));
            }
        } else if crate::record::recognises(&bytes) {
            if let Some(run) = records.add(path, &bytes)? {
                places.push(Place::Run(run));
            }
        } else {
            places.push(Place::Other(Box::new(read_other(path, &bytes, settings)?)));
        }
    }
    let mut runs = records.certify(settings)?;
    let mut predictions = predictions.predict()?;
    let sources = places.into_iter().filter_map(|place| match place {
        Place::Run(run) => runs.get_mut(run).and_then(Option::take),
        Place::Predictions(run) => predictions.get_mut(run).and_then(Option::take),
        Place::Other(source) => Some(*source),
    });
    Ok(sources.collect())
}

/// What stands where in the order of sources.
enum Place {
    /// The run with this number.
    Run(usize),
    /// The run of predictions with this number.
    Predictions(usize),
    Other(Box<Source>),
}

/// A log that is not ours.
fn read_other(path: &Path, bytes: &[u8], settings: &Settings) -> Result<Source, LogError> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    if text.trim().is_empty() {
        return Err(LogError::Empty { path: path.to_path_buf() });
    }
    let source = |dialect, evidence, sigma, alpha| Source {
        paths: vec![path.to_path_buf()],
        dialect,
        evidence,
        sigma,
        alpha,
        broken_off: Vec::new(),
        run: None,
    };
    let source = if votes::recognises(text) {
        let (inputs, alpha) = votes::read(path, text, settings)?;
        source(Dialect::Votes, Evidence::Inputs(inputs), settings.sigma, Some(alpha.value()))
    } else {
        // Said before anything else: whoever asks for another α must not take old radii for new ones.
        if settings.alpha.is_some() || settings.how != Certification::Natural {
            return Err(LogError::NoCounts { path: path.to_path_buf() });
        }
        if dialects::recognises_intervals(text) {
            let found = dialects::intervals(path, text)?;
            source(Dialect::DsrsIntervals, found.evidence, Some(found.sigma), found.alpha)
        } else if dialects::recognises_table(text) {
            let (dialect, evidence) = dialects::table(path, text, settings.sigma)?;
            source(dialect, evidence, settings.sigma, None)
        } else if dialects::recognises_pairs(text) {
            let (dialect, evidence) = dialects::pairs(path, text)?;
            source(dialect, evidence, None, None)
        } else {
            let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
            return Err(LogError::Unknown { path: path.to_path_buf(), start: text::clip(first) });
        }
    };
    let empty = match &source.evidence {
        Evidence::Inputs(inputs) => inputs.is_empty(),
        Evidence::Curve(points) => points.is_empty(),
    };
    if empty { Err(LogError::Empty { path: path.to_path_buf() }) } else { Ok(source) }
}
