//! From weights to a certificate with its proof.

use crate::sdp::problem::{Norm, Problem};
use crate::sdp::scale::{check, check_dilation};
use gambeson_checker::{Certificate, CheckError, InfToOneBound, InfToTwoBound, Quadratic, QuadraticBound};

/// A proven upper bound of the kind the norm asks for.
#[derive(Clone, Copy, Debug)]
pub enum Upper {
    /// On a quadratic form.
    Quadratic(QuadraticBound),
    /// On ‖A‖_{∞→1}.
    InfToOne(InfToOneBound),
    /// On ‖A‖²_{∞→2}.
    InfToTwo(QuadraticBound),
}

impl Upper {
    /// The number; the square for ∞→2.
    pub fn value(self) -> f64 {
        match self {
            Upper::Quadratic(bound) | Upper::InfToTwo(bound) => bound.value(),
            Upper::InfToOne(bound) => bound.value(),
        }
    }

    /// κ, the bound on ‖A‖_{∞→2} itself, for that norm.
    pub fn kappa(self) -> Option<InfToTwoBound> {
        match self {
            Upper::InfToTwo(bound) => Some(bound.sqrt()),
            Upper::Quadratic(_) | Upper::InfToOne(_) => None,
        }
    }
}

/// A certificate from weights that are estimated to be just feasible, and what it proves.
///
/// Dense and sparse forms: the weights slightly enlarged, to be taken as they stand, so that checking costs one
/// factorisation; a fraction of the gap asked for, and then more, is tried before the scale is searched for. Gram forms
/// leave it to that search at once, where it costs next to nothing. Where all that fails, for entries of wildly
/// different sizes say, the absolute row sums dominate M whatever the solver did.
pub(crate) fn certificate_with_proof(
    problem: &Problem,
    weights: &[f64],
    gap: f64,
    threads: usize,
) -> Result<(Certificate, Upper), CheckError> {
    let (domain, n) = (problem.domain, weights.len() as f64);
    let attempt = |weights: Vec<f64>, shift: Option<f64>| {
        let certificate = Certificate { domain, weights, shift };
        prove(problem, &certificate, threads).map(|upper| (certificate, upper))
    };
    // Rows of zeros have no weight, and the checker asks for none; anything positive will do.
    let enlarged =
        |by: f64| weights.iter().map(|w| (w * (1.0 + by)).max(f64::MIN_POSITIVE)).collect::<Vec<f64>>();
    if !matches!(problem.quadratic(), Quadratic::Gram { .. }) {
        // Below this the proof cannot succeed for its own rounding errors.
        let least = 2.0 * n * n * f64::EPSILON;
        for part in [0.05, 0.2, 1.0, 10.0] {
            if let Ok(proven) = attempt(enlarged((part * gap).max(part * least)), Some(0.0)) {
                return Ok(proven);
            }
        }
    }
    attempt(enlarged(0.0), None).or_else(|error| match problem.row_sums() {
        Some(sums) => attempt(sums, Some(0.0)),
        None => Err(error),
    })
}

/// What a certificate proves about a problem, in units of its norm (the square for ∞→2), whatever its entries are within
/// their error.
pub fn prove(problem: &Problem, certificate: &Certificate, threads: usize) -> Result<Upper, CheckError> {
    let (matrix, error) = (problem.quadratic(), problem.error());
    if let Some(rows) = problem.dilated_rows() {
        return Ok(Upper::InfToOne(check_dilation(matrix, rows, certificate, threads)?.widened(error)?));
    }
    let stored = check(matrix, certificate, threads)?;
    let bound = if problem.is_factor() { stored.widened_factor(error)? } else { stored.widened(error)? };
    Ok(match problem.norm {
        Norm::InfToTwo => Upper::InfToTwo(bound),
        Norm::Quadratic | Norm::InfToOne => Upper::Quadratic(bound),
    })
}
