//! Parameters of an attack.

use crate::error::Error;
use crate::error::attack::AttackError;
use gambeson_learn::attack::BallNorm;
use gambeson_lowrank::parameter::ParameterError;
use gambeson_smooth::record::Record;
use gambeson_smooth::selection::InputSelection;
use serde::{Deserialize, Serialize};

/// How perturbations are looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AttackMethod {
    /// Projected gradient ascent.
    #[default]
    Pgd,
    /// The fast gradient sign method, in ℓ∞.
    Fgsm,
    /// Random changes of few cosine coefficients. Needs no network.
    Sparse,
}

impl AttackMethod {
    /// As in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pgd => "pgd",
            Self::Fgsm => "fgsm",
            Self::Sparse => "sparse",
        }
    }
}

/// Coordinates of a ball.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BallBasis {
    /// The values of the data: pixels, samples.
    Values,
    /// Their cosine coefficients.
    Dct,
}

impl BallBasis {
    /// As in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Values => "values",
            Self::Dct => "dct",
        }
    }
}

/// How far inputs are moved.
#[derive(Clone, Debug)]
pub enum AttackRadius {
    /// The same distance for all: the radius of the ball, or the largest change of a value by the sparse method.
    Epsilon(f64),
    /// Each by its own certified radius, away from its certified class; inputs without one are left out.
    Certified(CertifiedInputs),
}

/// Records of a certification.
#[derive(Clone, Debug)]
pub struct CertifiedInputs {
    /// The records.
    pub records: Vec<Record>,
    /// What errors call them.
    pub name: String,
}

/// Parameters of [`attack`](crate::attack()).
#[derive(Clone, Debug)]
pub struct AttackParams {
    /// How far inputs are moved.
    pub radius: AttackRadius,
    /// How perturbations are looked for.
    pub method: AttackMethod,
    /// The norm of the ball. The methods fgsm and sparse have their own, ℓ∞.
    pub norm: BallNorm,
    /// Coordinates of the ball, values if `None`. Certified radii in ℓ∞ are of the projection's own coordinates, and the
    /// sparse method changes cosine coefficients.
    pub basis: Option<BallBasis>,
    /// Steps of pgd.
    pub steps: usize,
    /// Coefficients that the sparse method changes.
    pub sparsity: Option<usize>,
    /// Whether values of images may leave [0, 1]. Certified inputs may always.
    pub any_values: bool,
    /// Noise level of the smoothed classifier; the network itself is attacked if `None`.
    pub sigma: Option<f64>,
    /// Noise samples per gradient, if there is noise.
    pub draws: usize,
    /// Noise samples per answer of PREDICT, if there is noise.
    pub n: u64,
    /// Failure probability of PREDICT.
    pub alpha: f64,
    /// Seed of everything random.
    pub seed: u64,
    /// Which inputs of the data.
    pub inputs: InputSelection,
    /// Inputs shown before and after, in the record and in the figure.
    pub pictures: usize,
    /// Whether inputs whose right answer the attack changed are shown first.
    pub misled_first: bool,
}

impl AttackParams {
    /// 20 steps of pgd in ℓ2 on all inputs, without noise: the defaults of everything but the radius.
    pub fn new(radius: AttackRadius) -> Self {
        Self {
            radius,
            method: AttackMethod::default(),
            norm: BallNorm::L2,
            basis: None,
            steps: 20,
            sparsity: None,
            any_values: false,
            sigma: None,
            draws: 16,
            n: 1000,
            alpha: 1e-6,
            seed: 0,
            inputs: InputSelection::default(),
            pictures: 0,
            misled_first: false,
        }
    }

    /// Whether they go together, with or without a model. [`attack`](crate::attack()) asks for it; callers may ask before
    /// they read data.
    pub fn validate(&self, has_model: bool) -> Result<(), Error> {
        let certified = matches!(self.radius, AttackRadius::Certified(_));
        match (self.method, self.sparsity) {
            (AttackMethod::Sparse, None) => return Err(AttackError::NoSparsity.into()),
            (AttackMethod::Sparse, Some(0)) => return Err(out_of_range("sparsity", 0.0, "at least 1")),
            (AttackMethod::Pgd | AttackMethod::Fgsm, Some(_)) => {
                return Err(AttackError::UnusedSparsity.into());
            }
            _ => {}
        }
        if !has_model && self.method != AttackMethod::Sparse {
            return Err(AttackError::NoModel.into());
        }
        if certified && self.method != AttackMethod::Pgd {
            return Err(AttackError::CertifiedMethod.into());
        }
        if self.method == AttackMethod::Fgsm && self.norm != BallNorm::Linf {
            return Err(AttackError::FgsmNorm.into());
        }
        if certified && self.basis.is_some() {
            return Err(AttackError::CertifiedBasis.into());
        }
        if certified && self.sigma.is_none() {
            return Err(AttackError::NoSigma.into());
        }
        if let AttackRadius::Epsilon(epsilon) = self.radius {
            positive("epsilon", epsilon)?;
        }
        self.sigma.map_or(Ok(()), |sigma| positive("sigma", sigma))
    }
}

fn positive(name: &'static str, value: f64) -> Result<(), Error> {
    if value > 0.0 && value.is_finite() {
        return Ok(());
    }
    Err(out_of_range(name, value, "a finite number above 0"))
}

fn out_of_range(name: &'static str, value: f64, range: &'static str) -> Error {
    ParameterError { name, value, range }.into()
}
