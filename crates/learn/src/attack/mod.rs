//! Attacks: perturbations within a ball that raise the loss of a network, or of the soft smoothed classifier.
//!
//! - [`noisy`]: a batch of inputs under noise, and the gradient of a loss by their codes. Without noise, or for one draw at
//!   σ = 0, it is the plain network.
//! - [`ball`]: ℓ2 and ℓ∞ balls: steps along a gradient and back into the ball.
//! - [`perturbation_basis`]: the coordinates of a ball: codes, values or cosine coefficients.
//! - [`pgd`](mod@pgd): projected gradient ascent, which joins the three; FGSM is its first step.
//! - [`inputs`]: inputs of a data set, attacked. [`challenge`]: certified ones, at their certified radii. [`sparse`]: random changes of few cosine coefficients, for comparison.

pub mod ball;
pub mod challenge;
pub mod inputs;
pub mod noisy;
pub mod perturbation_basis;
pub mod pgd;
pub mod sparse;

pub use ball::BallNorm;
pub use noisy::Noisy;
pub use perturbation_basis::PerturbationBasis;
pub use pgd::{PgdParams, PgdParamsError, pgd};
