//! What logs say, whoever wrote them.

use crate::record::{LimitChoice, Run};
use crate::selection::Selection;
use gambeson_checker::FailureProbability;
use gambeson_lowrank::MemoryLimit;
use std::path::PathBuf;

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
    /// With `unperturbed predict`; logs of selections lack labels.
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

/// What the smoothed classifier answers.
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
    /// What the smoothed classifier answers.
    pub predicted: Predicted,
    /// Whether that is its class; none where that is not known.
    pub correct: Option<bool>,
    /// Radius in the coordinates that noise was added to, from which κ leads to ℓ∞; 0 for an abstention, none where the
    /// log has no such radii.
    pub latent: Option<f64>,
    /// Radius in ℓ2, likewise.
    pub l2: Option<f64>,
    /// Radius in ℓ∞, likewise.
    pub linf: Option<f64>,
    /// The lower limit on p_A, the probability of the class predicted.
    pub lower_limit: Option<f64>,
    /// The upper limit on the probability of every other class, where the radius rests on two limits.
    pub upper_limit: Option<f64>,
}

/// What a log consists of.
#[derive(Clone, Debug, PartialEq)]
pub enum Evidence {
    /// Input by input.
    Inputs(Vec<Input>),
    /// Certified accuracy at some radii, both as listed: radii rise, accuracy does not.
    Curve(Vec<(f64, f64)>),
}

/// One run: a log, or the shards of one.
#[derive(Clone, Debug, PartialEq)]
pub struct LoggedRun {
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
    /// The name of the data, where it is known: of our records and predictions.
    pub data: Option<String>,
    /// Files whose last line was broken off by a kill, with its number from 1: it is left out, and the run can resume.
    pub broken_off: Vec<(PathBuf, usize)>,
    /// For our records and predictions: the inputs planned. Those without a record are not among the evidence.
    pub planned: Option<Selection>,
    /// For our records: what they have in common.
    pub run: Option<Box<Run>>,
}

/// How counts are certified.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Settings {
    /// A failure probability to use instead of that of the records; that of votes.
    pub alpha: Option<FailureProbability>,
    /// The noise level of votes; of logs with radii, to find p_A from them.
    pub sigma: Option<f64>,
    /// Which limits are used.
    pub how: LimitChoice,
    /// What the file of a log may take in memory. By default there is no limit.
    pub memory: MemoryLimit,
}

impl LoggedRun {
    /// How many of the inputs planned have no record.
    pub fn missing(&self) -> u64 {
        match (&self.evidence, self.planned) {
            (Evidence::Inputs(inputs), Some(planned)) => planned.count.saturating_sub(inputs.len() as u64),
            _ => 0,
        }
    }

    /// The files as they were named, for messages and tables.
    pub fn name(&self) -> String {
        self.paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" + ")
    }
}
