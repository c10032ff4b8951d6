//! Whether a bound is no better than what equal weights give, n·λ_max(M): for a projection the trivial n.

use crate::linalg::lanczos::TopEigenspace;
use crate::linalg::operator::Operator;
use crate::linalg::unit_rows::UnitRows;
use crate::sdp::plan::ProofPlan;
use crate::sdp::problem::{OperatorNorm, PowerOfTwoScale, Problem};
use crate::sdp::steps::upper::{CertifiedUpper, prove_as_planned};
use gambeson_checker::{Certificate, Domain, Quadratic};

/// Bounds as close as this to the trivial one are no better.
const NO_BETTER: f64 = 1.0 - 1e-5;

/// Compares the best bound with that of equal weights, which replaces it where it is smaller.
///
/// For a factor it is proven, at the cost of an r × r problem. For a dense form an eigenvalue to three digits decides,
/// which `point` usually shows to be large enough. Max-cut forms are left out: there equal weights are no sign of
/// failure. `operator` is of the problem divided by `scale`.
pub(crate) fn is_trivial(
    problem: &Problem,
    (operator, scale): (&Operator<'_>, PowerOfTwoScale),
    point: &UnitRows,
    best: &mut CertifiedUpper,
    threads: usize,
    stop: &(dyn Fn() -> bool + Sync),
) -> bool {
    let n = operator.dim();
    match problem.quadratic() {
        Quadratic::Gram { dim, rank, .. } if rank <= dim => {
            let equal = Certificate { domain: problem.domain, weights: vec![1.0; n], shift: None };
            let plan = ProofPlan::default();
            let proof = prove_as_planned(problem, &equal, &plan, threads, stop);
            let Ok(bound) = proof else { return false };
            let trivial = best.upper.value() > NO_BETTER * bound.value();
            if bound.value() < best.upper.value() {
                (best.certificate, best.upper) = (equal, bound);
            }
            trivial
        }
        Quadratic::Dense { .. }
            if problem.domain == Domain::Cube && problem.norm == OperatorNorm::Quadratic =>
        {
            let mut space =
                TopEigenspace::spanned_by(point, &operator.apply_block(&point.entries, point.columns));
            let mut no_better = |most: usize| {
                let value = space.solve(operator, &vec![1.0; n], 1e-3, most).value;
                best.upper.value() > NO_BETTER * scale.of(n as f64 * value)
            };
            no_better(0) && no_better(30)
        }
        _ => false,
    }
}
