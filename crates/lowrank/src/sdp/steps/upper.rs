//! From weights to a certificate with its proof.

use crate::sdp::plan::{DroppedEntries, ProofPlan};
use crate::sdp::problem::{OperatorNorm, Problem};
use crate::sdp::scale::check_as_planned;
use crate::sdp::steps::budget::TimeBudget;
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

/// A problem with the way its upper end is to be proven.
pub(crate) struct UpperProof<'a> {
    pub(crate) problem: &'a Problem,
    pub(crate) plan: &'a ProofPlan,
    pub(crate) threads: usize,
    /// How long it may take; it is told how long it took.
    pub(crate) budget: &'a TimeBudget,
}

/// Weights that are estimated to be just feasible.
pub(crate) struct FeasibleWeights {
    pub(crate) weights: Vec<f64>,
    /// The gap that fractions of are spent on making the proof pass.
    pub(crate) gap: f64,
    /// Where there may be no time for another proof: by how much the weights may miss being feasible, relatively.
    pub(crate) uncertainty: Option<f64>,
}

impl UpperProof<'_> {
    /// A certificate from weights, and what it proves; `None` where nothing was proven, or not in time.
    ///
    /// Dense and sparse forms: the weights slightly enlarged, to be taken as they stand, so that checking costs one
    /// factorisation; a fraction of the gap asked for, and then more, is tried before the scale is searched for. Gram
    /// forms leave it to that search at once, where it costs next to nothing. A proof that needs no factorisation takes
    /// the place of one that proves clearly less.
    pub(crate) fn of_weights(&self, found: &FeasibleWeights) -> Option<CertifiedUpper> {
        let (problem, plan) = (self.problem, self.plan);
        if plan.paid == DroppedEntries::All {
            return None;
        }
        let payments = plan.payments(problem);
        // Rows of zeros have no weight, and the checker asks for none; anything positive will do.
        let enlarged = |by: f64| {
            let larger = found.weights.iter().map(|w| (w * (1.0 + by)).max(f64::MIN_POSITIVE));
            match &payments {
                None => larger.collect::<Vec<f64>>(),
                Some(payments) => {
                    larger.zip(payments).map(|(w, payment)| (w + payment) * (1.0 + 1e-15)).collect()
                }
            }
        };
        if !matches!(problem.quadratic(), Quadratic::Gram { .. }) {
            for (tried, margin) in found.margins().into_iter().enumerate() {
                if tried > 0 && found.uncertainty.is_some() && !self.budget.allows_proof() {
                    return None;
                }
                match self.timed(enlarged(margin), Some(0.0)) {
                    Ok(proven) => return Some(self.or_without_factorisation(proven)),
                    Err(error) if is_stopped(&error) => return None,
                    Err(_) => {}
                }
            }
        }
        let scaled = self.timed(enlarged(0.0), None).ok()?;
        match self.without_factorisation() {
            // Of a solver that had no time.
            Ok(trivial) if problem.is_factor() && trivial.upper.value() < 0.999 * scaled.upper.value() => {
                Some(trivial)
            }
            _ => Some(scaled),
        }
    }

    /// What holds whatever the solver did, and needs no factorisation: the absolute row sums dominate M; of a factor, the
    /// lengths of its rows.
    pub(crate) fn without_factorisation(&self) -> Result<CertifiedUpper, CheckError> {
        let nothing = ProofPlan { paid: DroppedEntries::All, ..ProofPlan::default() };
        self.attempt(self.problem.row_sums(), Some(0.0), &nothing)
    }

    /// By plan, timed.
    fn timed(&self, weights: Vec<f64>, shift: Option<f64>) -> Result<CertifiedUpper, CheckError> {
        let started = self.budget.elapsed();
        let proven = self.attempt(weights, shift, self.plan);
        self.budget.proof_took(self.budget.elapsed() - started);
        proven
    }

    fn attempt(
        &self,
        weights: Vec<f64>,
        shift: Option<f64>,
        plan: &ProofPlan,
    ) -> Result<CertifiedUpper, CheckError> {
        let certificate = Certificate { domain: self.problem.domain, weights, shift };
        let stop = || self.budget.ends_proof();
        let upper = prove_as_planned(self.problem, &certificate, plan, self.threads, &stop)?;
        Ok(CertifiedUpper { certificate, upper, paid: plan.paid.clone() })
    }

    /// Weights of a solver that had no time may be worse than none: row sums are taken where they are clearly smaller, by
    /// more than a thousandth of what they add up to.
    fn or_without_factorisation(&self, proven: CertifiedUpper) -> CertifiedUpper {
        let sum = |weights: &[f64]| weights.iter().sum::<f64>();
        // Both bounds are the sum of their weights and the same constant, so there is no need to prove the larger one.
        if sum(&self.problem.row_sums()) >= sum(&proven.certificate.weights) {
            return proven;
        }
        match self.without_factorisation() {
            Ok(trivial) => {
                let clearly = 1e-3 * sum(&trivial.certificate.weights);
                if trivial.upper.value() < proven.upper.value() - clearly { trivial } else { proven }
            }
            Err(_) => proven,
        }
    }
}

impl FeasibleWeights {
    /// By which parts weights are enlarged, one after the other, until a proof passes. In a hurry the first is to pass.
    pub(super) fn margins(&self) -> Vec<f64> {
        // Below this the proof cannot succeed for its own rounding errors. Rows of zeros have none.
        let n = self.weights.iter().filter(|&&weight| weight > 0.0).count() as f64;
        let least = 2.0 * n * n * f64::EPSILON;
        let parts = [0.05, 0.2, 1.0, 10.0];
        match self.uncertainty {
            None => parts.map(|part| (part * self.gap).max(part * least)).to_vec(),
            Some(uncertainty) => {
                let first = (parts[0] * self.gap).max(uncertainty).max(least);
                [1.0, 10.0, 100.0].map(|times| times * first).to_vec()
            }
        }
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
    pub(crate) paid: DroppedEntries,
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
