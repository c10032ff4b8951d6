//! The JSON objects that commands print with `--json` and `reproduce` reads back. Keys are only ever added.

use gambeson_checker::Domain;
use gambeson_lowrank::sdp::bracket::Stop;
use gambeson_lowrank::sdp::problem::Norm;
use gambeson_lowrank::sdp::progress::StopReason;
pub(crate) use gambeson_report::json::line;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What a command found: as one JSON object, or as a text for people.
pub(crate) fn print_or<W: std::io::Write>(
    json: bool,
    object: &impl Serialize,
    stdout: &mut W,
    text: impl FnOnce(&mut W) -> std::io::Result<()>,
) -> anyhow::Result<()> {
    if json {
        writeln!(stdout, "{}", line(object)?)?;
    } else {
        text(stdout)?;
    }
    Ok(stdout.flush()?)
}

/// What `bound --json` prints. Numbers are in the units of the norm asked for, the square for inf-to-two.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct BoundRecord {
    pub(crate) n: usize,
    pub(crate) norm: Norm,
    pub(crate) domain: String,
    pub(crate) method: String,
    /// Proven upper end of both brackets.
    pub(crate) upper: f64,
    /// Proven lower end for the maximum.
    pub(crate) lower: f64,
    /// Proven lower end for the relaxation.
    pub(crate) sdp_lower: f64,
    /// upper/sdp_lower − 1; null if infinite.
    pub(crate) gap: Option<f64>,
    pub(crate) kappa: Option<f64>,
    pub(crate) iterations: usize,
    /// Seconds to read or generate the matrix.
    pub(crate) seconds_read: f64,
    pub(crate) seconds_solve: f64,
    pub(crate) seconds_check: f64,
    /// Peak memory of the process, in bytes; null if the system does not report it.
    pub(crate) peak_memory: Option<u64>,
    pub(crate) stop: String,
    pub(crate) trivial: bool,
    /// How far the entries as stored may be from those of the file, all together; both ends allow for it.
    #[serde(default)]
    pub(crate) entry_error: f64,
    /// How many entries the proof bounds by their absolute values alone, or `all`; null for none.
    #[serde(default)]
    pub(crate) given_up: Option<String>,
    /// What a proof with nothing given up takes, by estimate.
    #[serde(default)]
    pub(crate) full_proof_seconds: f64,
    #[serde(default)]
    pub(crate) full_proof_bytes: u64,
}

impl BoundRecord {
    /// Whether the solver used all its iterations.
    pub(crate) fn used_all_iterations(&self) -> bool {
        self.stop == stop_name(Stop::Solver(StopReason::IterationLimit))
    }

    /// Whether Ctrl-C ended the search.
    pub(crate) fn was_interrupted(&self) -> bool {
        self.stop == stop_name(Stop::Interrupted)
    }
}

/// A path as text, with a mark for what is no UTF-8.
#[allow(clippy::ref_option)] // serde passes it so
pub(crate) fn lossy<S: serde::Serializer>(path: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    path.as_ref().map(|path| path.to_string_lossy()).serialize(serializer)
}

pub(crate) fn domain_name(domain: Domain) -> &'static str {
    match domain {
        Domain::Cube => "cube",
        Domain::Vertices => "vertices",
    }
}

pub(crate) fn stop_name(stop: Stop) -> &'static str {
    match stop {
        Stop::Gap => "gap",
        Stop::TimeLimit => "time-limit",
        Stop::Interrupted | Stop::Solver(StopReason::Interrupted) => "interrupted",
        Stop::Zero => "zero-matrix",
        Stop::Reduced => "limits",
        Stop::Solver(StopReason::IterateFeasible) => "iterate-feasible",
        Stop::Solver(StopReason::AverageFeasible) => "average-feasible",
        Stop::Solver(StopReason::Converged) => "converged",
        Stop::Solver(StopReason::Stalled) => "stalled",
        Stop::Solver(StopReason::IterationLimit) => "iteration-limit",
    }
}

/// What `check --json` prints.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CheckRecord {
    pub(crate) proven: bool,
    /// What the question was: the norm,
    pub(crate) norm: Norm,
    /// whether the matrix is the factor U of M = UUᵀ,
    pub(crate) gram: bool,
    /// and where x lies.
    pub(crate) domain: String,
    /// The proven bound (the square for inf-to-two), whether or not it is as small as asked for.
    pub(crate) bound: Option<f64>,
    pub(crate) kappa: Option<f64>,
    /// Why the certificate was rejected.
    pub(crate) reason: Option<String>,
    /// Seconds to read or generate the matrix.
    pub(crate) seconds_read: f64,
    /// Seconds for the proof, without reading and hashing the matrix.
    pub(crate) seconds_check: f64,
    /// Peak memory of the process, in bytes; null if the system does not report it.
    pub(crate) peak_memory: Option<u64>,
}

/// What `project fit` and `project spectrum` work from: the second moments of data in coordinates.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct MomentsRecord {
    pub(crate) centred: bool,
    /// pixel, dct1 or dct2.
    pub(crate) basis: String,
    /// Low block of frequencies used, if not all.
    pub(crate) grid: Option<usize>,
    pub(crate) data: String,
    pub(crate) data_sha256: String,
    pub(crate) samples: usize,
    /// channels, height, width.
    pub(crate) shape: [usize; 3],
}

/// What `project fit --json` prints.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FitRecord {
    pub(crate) channels: Vec<ChannelRecord>,
    /// Proven, of all channels together.
    pub(crate) kappa: f64,
    /// Lost of the energy of all channels together.
    pub(crate) error: f64,
    /// √ of the sum of the ranks PCA needs for the channels' errors: the least kappa of a projection that treats each
    /// channel by itself and loses that much of each. Rounded down.
    pub(crate) limit: f64,
    /// kappa / limit.
    pub(crate) ratio: f64,
    pub(crate) method: String,
    #[serde(flatten)]
    pub(crate) moments: MomentsRecord,
    /// Whether Ctrl-C or the time limit cut it short.
    pub(crate) stopped: bool,
    /// Reading the data and adding up their moments.
    pub(crate) seconds_read: f64,
    pub(crate) seconds_fit: f64,
    #[serde(serialize_with = "lossy")]
    pub(crate) projection: Option<PathBuf>,
    #[serde(serialize_with = "lossy")]
    pub(crate) certificate: Option<PathBuf>,
}

/// One channel of a [`FitRecord`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ChannelRecord {
    pub(crate) rank: usize,
    /// Proven.
    pub(crate) kappa: f64,
    pub(crate) error: f64,
    /// √ of the rank PCA needs for that error, rounded down.
    pub(crate) limit: f64,
    /// How it was found, for people.
    pub(crate) how: String,
    /// Algorithm 3: the r it chose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) split: Option<usize>,
    /// kappa is no better than √n, which needs no proof.
    pub(crate) trivial: bool,
}

/// What `project spectrum --json` prints.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SpectrumRecord {
    pub(crate) channels: Vec<ChannelSpectrum>,
    #[serde(flatten)]
    pub(crate) moments: MomentsRecord,
    /// Reading the data and adding up their moments.
    pub(crate) seconds_read: f64,
    pub(crate) seconds_eigen: f64,
}

/// Fraction of the energy lost, by rank from 0 to the number of coordinates.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ChannelSpectrum {
    /// By principal components; no orthogonal projection of that rank loses less.
    pub(crate) pca: Vec<f64>,
    /// By the coordinates of largest energy.
    pub(crate) coordinates: Vec<f64>,
}

/// One point of the frontier.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct SweepPoint {
    pub(crate) method: &'static str,
    /// Asked for.
    pub(crate) budget: f64,
    pub(crate) error: f64,
    pub(crate) rank: usize,
    /// Proven.
    pub(crate) kappa: f64,
    pub(crate) limit: f64,
    pub(crate) how: String,
}
