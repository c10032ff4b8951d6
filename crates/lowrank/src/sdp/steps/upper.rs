//! From weights to a certificate with its proof.

use crate::sdp::plan::{Paid, ProofPlan};
use crate::sdp::problem::{OperatorNorm, Problem};
use crate::sdp::scale::check_as_planned;
use gambeson_checker::{
    Certificate, CheckError, InfToOneBound, InfToTwoBound, Quadratic, QuadraticBound, Rejected,
};

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
/// different sizes say, or is stopped, the absolute row sums dominate M whatever the solver did, and need no
/// factorisation; of a factor, the lengths of its rows.
pub(crate) fn certificate_with_proof(
    problem: &Problem,
    plan: &ProofPlan,
    weights: &[f64],
    gap: f64,
    threads: usize,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<CertifiedUpper, CheckError> {
    let domain = problem.domain;
    let payments = plan.payments(problem);
    let attempt = |weights: Vec<f64>, shift: Option<f64>, plan: &ProofPlan| {
        let certificate = Certificate { domain, weights, shift };
        let upper = prove_as_planned(problem, &certificate, plan, threads, stop)?;
        Ok(CertifiedUpper { certificate, upper, paid: plan.paid.clone() })
    };
    // What needs no factorisation: every entry is paid for.
    let trivial =
        || attempt(problem.row_sums(), Some(0.0), &ProofPlan { paid: Paid::All, ..ProofPlan::default() });
    if plan.paid == Paid::All {
        return trivial();
    }
    // Rows of zeros have no weight, and the checker asks for none; anything positive will do.
    let enlarged = |by: f64| {
        let larger = weights.iter().map(|w| (w * (1.0 + by)).max(f64::MIN_POSITIVE));
        match &payments {
            None => larger.collect::<Vec<f64>>(),
            Some(payments) => {
                larger.zip(payments).map(|(w, payment)| (w + payment) * (1.0 + 1e-15)).collect()
            }
        }
    };
    if !matches!(problem.quadratic(), Quadratic::Gram { .. }) {
        // Below this the proof cannot succeed for its own rounding errors. Rows of zeros have none.
        let n = weights.iter().filter(|&&weight| weight > 0.0).count() as f64;
        let least = 2.0 * n * n * f64::EPSILON;
        for part in [0.05, 0.2, 1.0, 10.0] {
            match attempt(enlarged((part * gap).max(part * least)), Some(0.0), plan) {
                Ok(proven) => return Ok(better(proven, trivial())),
                Err(error) if is_stopped(&error) => return trivial(),
                Err(_) => {}
            }
        }
    }
    let scaled = attempt(enlarged(0.0), None, plan);
    match (scaled, trivial()) {
        // Of a solver that had no time.
        (Ok(scaled), Ok(trivial))
            if problem.is_factor() && trivial.upper.value() < 0.999 * scaled.upper.value() =>
        {
            Ok(trivial)
        }
        (Ok(scaled), _) => Ok(scaled),
        (Err(_), trivial) => trivial,
    }
}

/// Weights of a solver that had no time may be worse than none: the trivial bound is taken where it is clearly smaller, by
/// more than a thousandth of what its weights add up to.
fn better(proven: CertifiedUpper, trivial: Result<CertifiedUpper, CheckError>) -> CertifiedUpper {
    match trivial {
        Ok(trivial) => {
            let clearly = 1e-3 * trivial.certificate.weights.iter().sum::<f64>();
            if trivial.upper.value() < proven.upper.value() - clearly { trivial } else { proven }
        }
        Err(_) => proven,
    }
}

fn is_stopped(error: &CheckError) -> bool {
    matches!(error, CheckError::Rejected(Rejected::Stopped))
}

/// A certificate, what it proves, and what was given up for that.
#[derive(Clone, Debug)]
pub(crate) struct CertifiedUpper {
    pub(crate) certificate: Certificate,
    pub(crate) upper: Upper,
    pub(crate) paid: Paid,
}

/// What a certificate proves about a problem, in units of its norm (the square for ∞→2), whatever its entries are within
/// their error.
pub fn prove(problem: &Problem, certificate: &Certificate, threads: usize) -> Result<Upper, CheckError> {
    let plan = ProofPlan::full(problem, threads)?;
    prove_as_planned(problem, certificate, &plan, threads, &|| false)
}

/// The same, by a plan; `stop` is asked now and then and ends the proof with [`Rejected::Stopped`].
pub fn prove_as_planned(
    problem: &Problem,
    certificate: &Certificate,
    plan: &ProofPlan,
    threads: usize,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Upper, CheckError> {
    let (matrix, error) = (problem.quadratic(), problem.error());
    let stored = check_as_planned(matrix, certificate, plan, threads, stop)?;
    if let Some(rows) = problem.dilated_rows() {
        return Ok(Upper::InfToOne(stored.of_dilation(rows)?.widened(error)?));
    }
    let bound = if problem.is_factor() { stored.widened_factor(error)? } else { stored.widened(error)? };
    Ok(match problem.norm {
        OperatorNorm::InfToTwo => Upper::InfToTwo(bound),
        OperatorNorm::Quadratic | OperatorNorm::InfToOne => Upper::Quadratic(bound),
    })
}
