//! Parameters of certification and prediction.

use gambeson_smooth::limit::LimitRule;
use gambeson_smooth::selection::InputSelection;
use gambeson_smooth::sequential::Goal;
use std::path::PathBuf;
use std::time::Duration;

/// Where the seed of the noise comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seed {
    /// Hashed from network, projection, data, sigma, grid, numbers of draws and a nonce, which the maker of a run leaves at 0 and a verifier
    /// may choose.
    Derived {
        /// The nonce.
        nonce: u64,
    },
    /// Any number. Whoever chooses it may have tried others.
    Given(u64),
}

/// What all runs over inputs have in common.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawParams {
    /// Standard deviation of the noise; 1 where the model has noise levels of its own.
    pub sigma: f64,
    /// Failure probability of each answer.
    pub alpha: f64,
    /// Seed of the noise.
    pub seed: Seed,
    /// Draws per call of the classifier.
    pub batch: usize,
    /// Exponent e of the grid quantum·2^e that noisy inputs are rounded to; such that sigma is 128 to 256 of its steps if
    /// `None`.
    pub grid_exponent: Option<i32>,
    /// Which inputs of the data.
    pub inputs: InputSelection,
    /// File that records are appended to, and resumed from; without one they are only returned.
    pub out: Option<PathBuf>,
    /// When to stop, counted from the first draw. Finished inputs are kept.
    pub time_limit: Option<Duration>,
}

impl DrawParams {
    /// All inputs, alpha 0.001, a derived seed with nonce 0, batches of 64 draws, no file.
    pub fn new(sigma: f64) -> Self {
        Self {
            sigma,
            alpha: 0.001,
            seed: Seed::Derived { nonce: 0 },
            batch: 64,
            grid_exponent: None,
            inputs: InputSelection::default(),
            out: None,
            time_limit: None,
        }
    }
}

/// Parameters of [`certify`](super::certify).
#[derive(Clone, Debug, PartialEq)]
pub struct CertifyParams {
    /// Noise, inputs and records.
    pub draws: DrawParams,
    /// Draws that select the class.
    pub n0: u64,
    /// Draws that are counted; at most, if `sequential` is given.
    pub n: u64,
    /// Limits on the probabilities of classes. `None`: one or two limits for each input, chosen by its selection draws; one if
    /// `sequential` is given.
    pub limits: Option<LimitRule>,
    /// When to stop before n draws: without targets and a tolerance, when the radii 0, sigma, 2 sigma and 3 sigma (in the
    /// coordinates of the noise) are certified or out of reach. `None`: never.
    pub sequential: Option<Goal>,
    /// Records of an earlier sequential run with a smaller n, to go on from.
    pub extend: Option<PathBuf>,
}

impl CertifyParams {
    /// 100 draws to select and 100,000 to count, and the defaults of [`DrawParams`].
    pub fn new(sigma: f64) -> Self {
        let (draws, n) = (DrawParams::new(sigma), 100_000);
        Self { draws, n0: 100, n, limits: None, sequential: None, extend: None }
    }
}

/// Parameters of [`predict`](super::predict()).
#[derive(Clone, Debug, PartialEq)]
pub struct PredictParams {
    /// Noise, inputs and records.
    pub draws: DrawParams,
    /// Draws per input.
    pub n: u64,
}

impl PredictParams {
    /// 1,000 draws per input, and the defaults of [`DrawParams`].
    pub fn new(sigma: f64) -> Self {
        Self { draws: DrawParams::new(sigma), n: 1000 }
    }
}

/// Parameters of [`classify`](super::classify()).
#[derive(Clone, Debug, PartialEq)]
pub struct ClassifyParams {
    /// Which inputs of the data.
    pub inputs: InputSelection,
    /// Inputs per call of the classifier.
    pub batch: usize,
    /// When to give up.
    pub time_limit: Option<Duration>,
}

impl Default for ClassifyParams {
    /// All inputs, 64 at a time.
    fn default() -> Self {
        Self { inputs: InputSelection::default(), batch: 64, time_limit: None }
    }
}
