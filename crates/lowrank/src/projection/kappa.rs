//! κ of a basis, proven: solve, certify, check, for one channel.

use crate::linalg::matrix::{DenseMatrix, Matrix};
use crate::linalg::unit_rows::UnitRows;
use crate::observe::Observer;
use crate::sdp::bracket::{BoundError, BoundParams, Bracket, DroppedEntries, Upper, bracket, prove};
use crate::sdp::problem::{MatrixRole, OperatorNorm, Problem, ProblemError};
use crate::sdp::progress::Progress;
use gambeson_checker::{Certificate, Domain, InfToTwoBound, QuadraticBound};
use thiserror::Error;

/// A basis with its proven κ².
#[derive(Clone, Debug)]
pub struct CertifiedBasis {
    /// U, n × r.
    pub basis: DenseMatrix,
    /// Evidence.
    pub certificate: Certificate,
    /// Proven: max |Uᵀd|² over |d|_∞ ≤ 1 is at most this.
    pub square: QuadraticBound,
    /// A feasible point of the relaxation, near its maximum; None for coordinates.
    pub point: Option<UnitRows>,
}

/// Why κ could not be proven.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum KappaError {
    /// The basis is not a matrix to ask about.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// Nothing was proven.
    #[error(transparent)]
    Bound(#[from] BoundError),
}

impl CertifiedBasis {
    /// Proves κ for a basis; `params.gap` says how tightly.
    pub fn new(
        basis: DenseMatrix,
        params: &BoundParams,
        observer: &mut (dyn Observer<Progress> + Send),
    ) -> Result<Self, KappaError> {
        let problem = problem(&basis, params.threads)?;
        if let Some(weights) = selected(&basis) {
            let certificate = Certificate { domain: Domain::Cube, weights, shift: None };
            if let Ok(upper) = prove(&problem, &certificate, params.threads) {
                return Ok(Self { basis, certificate, square: square(upper), point: None });
            }
        }
        let Bracket { certificate, upper, paid, point, .. } = bracket(&problem, params, observer)?;
        let upper = by_weights(&problem, &certificate, upper, &paid, params.threads)?;
        Ok(Self { basis, certificate, square: square(upper), point: Some(point) })
    }

    /// Proves κ more tightly, from where the last proof ended; what was proven before is kept where it is better.
    pub fn tightened(
        self,
        params: &BoundParams,
        observer: &mut (dyn Observer<Progress> + Send),
    ) -> Result<Self, KappaError> {
        let Some(point) = self.point.clone() else { return Ok(self) };
        let params = BoundParams { start: Some(point), ..params.clone() };
        let problem = problem(&self.basis, params.threads)?;
        let Bracket { certificate, upper, paid, point, .. } = bracket(&problem, &params, observer)?;
        let upper = by_weights(&problem, &certificate, upper, &paid, params.threads)?;
        let square = square(upper);
        if square.value() < self.square.value() {
            return Ok(Self { certificate, square, point: Some(point), ..self });
        }
        Ok(self)
    }

    /// κ, rounded up.
    pub fn kappa(&self) -> InfToTwoBound {
        self.square.sqrt()
    }
}

/// The question for a basis: ‖Uᵀ‖_{∞→2}.
pub fn problem(basis: &DenseMatrix, threads: usize) -> Result<Problem, ProblemError> {
    let matrix = Matrix::Dense(basis.clone());
    Problem::new(matrix, OperatorNorm::InfToTwo, MatrixRole::Gram, Domain::Cube, threads)
}

/// What the weights of a certificate prove, where the bound was proven without them: a projection's certificate has nothing
/// else.
fn by_weights(
    problem: &Problem,
    certificate: &Certificate,
    upper: Upper,
    paid: &DroppedEntries,
    threads: usize,
) -> Result<Upper, BoundError> {
    if paid.is_nothing() { Ok(upper) } else { Ok(prove(problem, certificate, threads)?) }
}

fn square(upper: Upper) -> QuadraticBound {
    match upper {
        Upper::InfToTwo(bound) | Upper::Quadratic(bound) => bound,
        Upper::InfToOne(_) => unreachable!("the question was inf-to-two"),
    }
}

/// Weights for a basis of coordinates, which need no search: one at each coordinate chosen, next to nothing elsewhere.
fn selected(basis: &DenseMatrix) -> Option<Vec<f64>> {
    let weight = |row: &[f64]| match row.iter().map(|u| u * u).sum::<f64>() {
        1.0 => Some(1.0),
        0.0 => Some(f64::MIN_POSITIVE),
        _ => None,
    };
    let one_per_column = |column: usize| basis.column(column).filter(|&u| u != 0.0).count() == 1;
    let weights = basis.iter_rows().map(weight).collect::<Option<Vec<f64>>>()?;
    (0..basis.columns).all(one_per_column).then_some(weights)
}
