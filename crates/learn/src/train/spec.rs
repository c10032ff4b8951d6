//! What to train, as a value: a TOML file, read and checked once.
//!
//! ```toml
//! seed = 0                      # order, augmentation, noise, first weights
//!
//! [data]
//! name = "cifar10"              # a known name, or a path
//! crop = 4                      # augmentation: shift by up to 4 pixels, zeros come in
//! flip = true                   # and mirror half of the images
//!
//! [model]
//! family = "res-net"            # or cnn (width), mlp (hidden)
//! depth = 8
//! width = 16
//!
//! [projection]                  # without it, noise is added to the values themselves
//! file = "p.safetensors"        # or fit = { method = "robust", rank = 200, grid = 16 }
//! grid = "native"               # the decoder gives images as small as the projection's, or "full"
//!
//! [noise]
//! sigma = 0.25                  # or base = 0.25 and lambda = 0.5: sigma = lambda·base·√(d/r)
//!
//! [objective]
//! kind = "algorithm-1"          # or standard, gaussian, madry, smooth-adv, consistency
//! epsilon = 0.25
//! steps = 2
//! draws = 2
//!
//! [optimiser]
//! epochs = 10
//! batch = 128
//! learning_rate = 0.1
//! schedule = { kind = "one-cycle", warm_up = 0.2 }
//! ```

use crate::attack::ball::BallNorm;
use crate::net::loss::{Consistency, Loss};
use crate::net::models::Model;
pub use gambeson_data::energies::Basis;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What to train.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainSpec {
    /// Everything random follows from it.
    #[serde(default)]
    pub seed: u64,
    /// What it learns from.
    pub data: DataSpec,
    /// The network.
    pub model: Model,
    /// Where noise is added; to the values themselves without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub projection: Option<ProjectionSpec>,
    /// How much.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<NoiseSpec>,
    /// What it is trained against.
    pub objective: Objective,
    /// How.
    pub optimiser: OptimiserSpec,
}

/// What a network learns from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataSpec {
    /// Name or path of a data set with labels; its training part is used.
    pub name: String,
    /// Only so many samples, evenly chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<usize>,
    /// Shift by up to so many rows and columns, with zeros coming in.
    #[serde(default)]
    pub crop: usize,
    /// Mirror half of the images.
    #[serde(default)]
    pub flip: bool,
    /// So many samples of the test part are classified under noise after every epoch.
    #[serde(default = "evaluate_default")]
    pub evaluate: usize,
}

fn evaluate_default() -> usize {
    1000
}

/// A projection, and what the network sees of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProjectionSpec {
    /// A projection's file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// Or how to fit one to the training data: line 2 of Algorithm 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fit: Option<FitSpec>,
    /// The images that are decoded.
    #[serde(default)]
    pub grid: Grid,
}

/// How to fit a projection.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FitSpec {
    /// By which method.
    pub method: FitMethodName,
    /// In which coordinates.
    #[serde(default)]
    pub basis: Basis,
    /// Components per channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<usize>,
    /// Or as many as lose this part of the energy of a channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<f64>,
    /// Only the lowest so many frequencies along both sides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grid: Option<usize>,
}

/// Methods that a spec can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FitMethodName {
    /// The search for the least κ.
    Robust,
    /// Coordinates of largest energy.
    Axis,
    /// Principal components, as in Algorithm 1.
    Pca,
    /// Algorithm 3 of the paper: principal and sparse components.
    Algorithm3,
}

/// The images that a projection is decoded onto.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Grid {
    /// Those of the data.
    #[default]
    Full,
    /// The smallest that hold all it keeps.
    Native,
}

/// The level of the noise: σ itself, or λ·base·√(d/r) with d/r the dimension of an input over the rank (Algorithm 1).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoiseSpec {
    /// σ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sigma: Option<f64>,
    /// σ₀, the level of the method without projection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<f64>,
    /// λ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lambda: Option<f64>,
}

impl NoiseSpec {
    /// σ for inputs of d numbers in a space of rank r.
    pub fn level(&self, d: usize, r: usize) -> f64 {
        match (self.sigma, self.base, self.lambda) {
            (Some(sigma), ..) => sigma,
            (None, Some(base), lambda) => lambda.unwrap_or(1.0) * base * (d as f64 / r as f64).sqrt(),
            (None, None, _) => 0.0,
        }
    }
}

/// What a network is trained against.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Objective {
    /// Nothing: images as they are.
    Standard,
    /// Noise (Cohen et al. 2019).
    Gaussian {
        /// Draws per image.
        #[serde(default = "one")]
        draws: usize,
    },
    /// The worst image of a ball of values, without noise (Madry et al. 2018).
    Madry {
        /// The shape of the ball.
        norm: BallNorm,
        /// Its radius.
        epsilon: f64,
        /// Steps of the attack.
        steps: usize,
        /// The radius grows from 0 over so many epochs.
        #[serde(default)]
        warm_up: f64,
    },
    /// The worst image of a ball for the smoothed classifier, without a projection (Salman et al. 2019).
    SmoothAdv(SmoothAdv),
    /// The same with a projection: Algorithm 1.
    #[serde(rename = "algorithm-1")]
    Algorithm1(SmoothAdv),
    /// Noise, and answers that agree (Jeong and Shin 2020).
    Consistency {
        /// Draws per image, at least two.
        #[serde(default = "two")]
        draws: usize,
        /// Weight of the divergence.
        lambda: f64,
        /// Weight of the entropy.
        #[serde(default = "half")]
        eta: f64,
    },
}

fn one() -> usize {
    1
}

fn two() -> usize {
    2
}

fn half() -> f64 {
    0.5
}

/// Adversarial training of the smoothed classifier, in an ℓ2 ball.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SmoothAdv {
    /// Radius of the ball.
    pub epsilon: f64,
    /// Steps of the attack.
    pub steps: usize,
    /// Draws per image: m.
    pub draws: usize,
    /// The radius grows from 0 over so many epochs.
    #[serde(default)]
    pub warm_up: f64,
    /// What is minimised at the worst image.
    #[serde(default)]
    pub outer: Outer,
}

/// The outer loss of adversarial training.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outer {
    /// The mean cross-entropy of the draws: what Salman et al. call training with multiple noise.
    #[default]
    Mean,
    /// The cross-entropy of G: eq. (7) as it is written.
    Soft,
}

/// An attack before every step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inner {
    /// The shape of the ball.
    pub norm: BallNorm,
    /// Its radius.
    pub epsilon: f64,
    /// Steps.
    pub steps: usize,
    /// The radius grows from 0 over so many epochs.
    pub warm_up: f64,
}

impl Objective {
    /// Draws per image.
    pub fn draws(&self) -> usize {
        match self {
            Self::Standard | Self::Madry { .. } => 1,
            Self::Gaussian { draws } | Self::Consistency { draws, .. } => *draws,
            Self::SmoothAdv(own) | Self::Algorithm1(own) => own.draws,
        }
    }

    /// Whether noise is added.
    pub fn has_noise(&self) -> bool {
        !matches!(self, Self::Standard | Self::Madry { .. })
    }

    /// What is minimised.
    pub fn loss(&self) -> Loss {
        match self {
            Self::Standard | Self::Gaussian { .. } | Self::Madry { .. } => Loss::MeanCrossEntropy,
            Self::SmoothAdv(own) | Self::Algorithm1(own) => match own.outer {
                Outer::Mean => Loss::MeanCrossEntropy,
                Outer::Soft => Loss::SoftCrossEntropy,
            },
            Self::Consistency { lambda, eta, .. } => {
                Loss::Consistency(Consistency { lambda: *lambda, eta: *eta })
            }
        }
    }

    /// The attack before a step, if any.
    pub fn inner(&self) -> Option<Inner> {
        match *self {
            Self::Madry { norm, epsilon, steps, warm_up } => Some(Inner { norm, epsilon, steps, warm_up }),
            Self::SmoothAdv(SmoothAdv { epsilon, steps, warm_up, .. })
            | Self::Algorithm1(SmoothAdv { epsilon, steps, warm_up, .. }) => {
                Some(Inner { norm: BallNorm::L2, epsilon, steps, warm_up })
            }
            _ => None,
        }
    }
}

/// Stochastic gradient descent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OptimiserSpec {
    /// Walks through the data.
    pub epochs: usize,
    /// Images per step.
    #[serde(default = "batch_default")]
    pub batch: usize,
    /// The largest step size.
    pub learning_rate: f64,
    /// How it changes.
    #[serde(default)]
    pub schedule: Schedule,
    /// Share of the last step that is kept.
    #[serde(default = "momentum_default")]
    pub momentum: f64,
    /// Whether the gradient is taken one step ahead.
    #[serde(default)]
    pub nesterov: bool,
    /// Pull of all weights towards 0.
    #[serde(default = "decay_default")]
    pub weight_decay: f64,
    /// Share of the target that is spread over all classes.
    #[serde(default)]
    pub label_smoothing: f64,
    /// The network that is kept is a running mean of the weights, of which this share is old in every step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub average: Option<f64>,
}

fn batch_default() -> usize {
    128
}

fn momentum_default() -> f64 {
    0.9
}

fn decay_default() -> f64 {
    1e-4
}

/// How the step size changes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Schedule {
    /// Times `factor` every so many epochs; the paper: 0.1 every 50 of 150.
    Step {
        /// Epochs between two changes.
        every: usize,
        /// What it is multiplied by.
        factor: f64,
    },
    /// Up from a twentieth over the share `warm_up` of the steps, then down to 0 along a cosine.
    OneCycle {
        /// Between 0 and 1.
        warm_up: f64,
    },
}

impl Default for Schedule {
    fn default() -> Self {
        Self::Step { every: 50, factor: 0.1 }
    }
}
