//! The result of an attack.

use super::answers::Answers;
use super::params::{AttackMethod, BallBasis};
use gambeson_data::dataset::Shape;
use gambeson_learn::attack::BallNorm;
use gambeson_learn::attack::inputs::{Adversarial, Victim};
use gambeson_lowrank::matrix_file::npy;

/// Inputs before and after an attack, and what was answered.
#[derive(Clone, Debug)]
pub struct Attacked {
    /// The inputs with the classes to lead away from and the radii, in order.
    pub inputs: Vec<Victim>,
    /// The same inputs, perturbed.
    pub perturbed: Vec<Adversarial>,
    /// What was answered; `None` without a network, or if the attack was stopped before all answers were there.
    pub answers: Option<Answers>,
    /// Coordinates of the ball.
    pub basis: BallBasis,
    /// Whether an interrupt or the observer ended it early.
    pub stopped: bool,
    /// Seconds that the attack took. Whoever times the reading of data and network adds it here.
    pub seconds: f64,
    pub(super) method: AttackMethod,
    pub(super) norm: BallNorm,
    /// `None` for certified inputs.
    pub(super) epsilon: Option<f64>,
    pub(super) sparsity: Option<usize>,
    pub(super) shape: Shape,
    /// Names of the classes.
    pub(super) classes: Vec<String>,
    /// Pictures in record and figure.
    pub(super) shown: usize,
    pub(super) misled_first: bool,
}

impl Attacked {
    /// The perturbed inputs as an `.npy` file: inputs × channels × height × width, single precision.
    pub fn to_npy(&self) -> Vec<u8> {
        let Shape { channels, height, width } = self.shape;
        #[allow(clippy::cast_possible_truncation)] // single precision
        let values: Vec<f32> =
            self.perturbed.iter().flat_map(|adversarial| &adversarial.values).map(|&x| x as f32).collect();
        npy::to_bytes(&[self.perturbed.len(), channels, height, width], &values)
    }
}
