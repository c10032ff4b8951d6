//! How all inputs of a run are treated.

use crate::limit::LimitRule;
use crate::noise::{GENERATOR, Grid};
use crate::seed::PlannedDraws;
use crate::sequential::Goal;
use crate::smoother::SmoothingPlan;
use gambeson_checker::{InfToTwoBound, SamplingRule, SpectralBound};
use gambeson_lowrank::projection::representation::Representation;
use serde::{Deserialize, Serialize};

/// The version of files of records.
pub const VERSION: u32 = 3;

/// What no count and no replay can show.
pub const ASSUMED: &str = "ChaCha8's words are random; the seed was chosen independently of network and data";

/// The law of the noise, from which radii follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Law {
    /// Normal, independent in every coordinate.
    Gaussian,
}

/// The name of ONNX Runtime in records.
pub const ONNX_RUNTIME: &str = "onnxruntime";

/// What records call the things that a run was made with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// The classifier: its hash, or a text that says all.
    pub model: String,
    /// What computes the classifier, where the model does not say it.
    pub runtime: Option<String>,
    /// The data.
    pub data: String,
    /// The nonce of the seed, where it is derived.
    pub nonce: Option<u64>,
    /// The files that were named.
    pub files: FileNames,
}

/// Names of files, without their folders. Nothing follows from them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileNames {
    /// The network's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<String>,
    /// The projection's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub projection: Option<String>,
}

impl FileNames {
    /// Whether none is known.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// When the number of estimation draws was decided, and so which limits are valid for the counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Rule {
    /// Beforehand: n draws.
    Fixed,
    /// The counts may have been looked at after every draw.
    Anytime,
    /// The same, with half of α kept for the limit at a number of draws set beforehand.
    #[serde(rename = "mixture-and-last")]
    MixtureAndLast {
        /// That number: n, or less where a run was extended to more draws.
        last: u64,
    },
}

/// What the runs of CERTIFY and PREDICT have in common: how their draws are made, and of what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CommonRun {
    /// Estimation draws per input; for CERTIFY at most so many.
    pub n: u64,
    /// The law of the noise.
    pub law: Law,
    /// σ, the standard deviation of the noise in each coordinate of z; 1 where `noise` gives levels.
    pub sigma: f64,
    /// α, the failure probability of one record.
    pub alpha: f64,
    /// Seed of the noise.
    pub seed: u64,
    /// Where the seed is [derived](crate::seed) from all that may not be chosen to suit it: the nonce that went into it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nonce: Option<u64>,
    /// What makes the noise of that seed: [`GENERATOR`](crate::noise::GENERATOR).
    pub generator: String,
    /// What certificates rest on besides arithmetic: [`ASSUMED`].
    pub assumed: String,
    /// What noisy inputs are rounded to.
    pub grid: Grid,
    /// Hash or name of the classifier.
    pub model: String,
    /// What computed the network: programs differ in rounding, and so in answers to near-ties. None where the model names
    /// all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<String>,
    /// Rows per call of the classifier. Networks computed elsewhere may answer near-ties otherwise in other batches.
    pub batch: u64,
    /// Name of the data.
    pub data: String,
    /// Hash of the projection; none where noise is added to the input itself.
    pub projection: Option<String>,
}

/// How all inputs are treated: what all records of a file have in common, as its head has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// When sampling ends.
    pub rule: Rule,
    /// Limits on the probabilities of classes; one-sided where it is left out.
    #[serde(default, skip_serializing_if = "is_one_sided")]
    pub limits: LimitRule,
    /// What a sequential run set out to settle; radii beyond that may be far from what more draws would prove.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<Goal>,
    /// Selection draws per input.
    pub n0: u64,
    /// What the run would share with one of PREDICT.
    #[serde(flatten)]
    pub common: CommonRun,
    /// The coordinates in which the projection works: radii in ℓ∞ are for changes of these; none where noise is added to
    /// the input itself.
    pub representation: Option<Representation>,
    /// Hash of the noise levels of the coordinates, where they differ. κ and s are then those of the basis with its
    /// columns divided by the levels.
    pub noise: Option<String>,
    /// κ ≥ ‖Uᵀ‖_{∞→2}, proven when the record was written; none without a projection.
    pub kappa: Option<f64>,
    /// s ≥ σ_max(U), proven when the record was written; none without a projection.
    pub spectral: Option<f64>,
    /// Coordinates per input.
    pub dimension: u64,
}

impl Run {
    /// The draws that a derived seed binds.
    pub fn planned_draws(&self) -> PlannedDraws {
        let (estimation, sequential) = match self.rule {
            Rule::Fixed => (self.common.n, false),
            Rule::Anytime => (self.common.n, true),
            Rule::MixtureAndLast { last } => (last, true),
        };
        PlannedDraws::Certify { selection: self.n0, estimation, sequential }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde passes a reference
fn is_one_sided(limits: &LimitRule) -> bool {
    *limits == LimitRule::OneSided
}

impl From<SamplingRule> for Rule {
    fn from(rule: SamplingRule) -> Self {
        match rule {
            SamplingRule::Fixed => Self::Fixed,
            SamplingRule::Anytime => Self::Anytime,
            SamplingRule::MixtureAndLast { last } => Self::MixtureAndLast { last },
        }
    }
}

impl From<Rule> for SamplingRule {
    fn from(rule: Rule) -> Self {
        match rule {
            Rule::Fixed => Self::Fixed,
            Rule::Anytime => Self::Anytime,
            Rule::MixtureAndLast { last } => Self::MixtureAndLast { last },
        }
    }
}

impl CommonRun {
    /// The run of a plan, on things with these names.
    pub(super) fn new(plan: &SmoothingPlan, names: &Names) -> Self {
        let params = plan.params();
        Self {
            n: params.estimation,
            law: Law::Gaussian,
            sigma: params.noise.value(),
            alpha: params.failure.value(),
            seed: params.seed,
            nonce: names.nonce,
            generator: GENERATOR.to_owned(),
            assumed: ASSUMED.to_owned(),
            grid: plan.grid(),
            model: names.model.clone(),
            runtime: names.runtime.clone(),
            batch: params.batch as u64,
            data: names.data.clone(),
            projection: plan.space().projection_sha256().map(ToOwned::to_owned),
        }
    }
}

impl Run {
    /// The run of a plan, on things with these names.
    pub fn new(plan: &SmoothingPlan, names: &Names) -> Self {
        let (params, space) = (plan.params(), plan.space());
        Self {
            rule: Rule::from(plan.rule()),
            limits: plan.limits(),
            goal: params.goal.clone(),
            n0: params.selection,
            common: CommonRun::new(plan, names),
            representation: space.representation(),
            noise: space.levels_sha256().map(ToOwned::to_owned),
            kappa: space.kappa().map(InfToTwoBound::value),
            spectral: space.spectral().map(SpectralBound::value),
            dimension: space.input_dim() as u64,
        }
    }
}
