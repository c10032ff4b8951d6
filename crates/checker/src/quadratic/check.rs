//! Proven numbers: their types, and the few functions that make them.

use crate::quadratic::definite::dominates;
use crate::quadratic::estimate::{largest_eigenvalue, search};
use crate::quadratic::form::Reduced;
use crate::quadratic::gram;
use crate::quadratic::lower::{inner_product_down, row_squares};
use crate::rounding::{
    UNIT, add_up, div_down, div_up, environment_is_ieee, exponent, mul_up, power_of_two, sqrt_up, sum_down,
    sum_up,
};
use crate::{Certificate, CheckError, Domain, MatrixProblem, Quadratic, Rejected};

/// Proven: xᵀMx is at most this on the certificate's domain.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct QuadraticBound(f64);

/// Proven: ‖A‖_{∞→2}, written κ in the paper, is at most this.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct InfToTwoBound(f64);

/// Proven: ‖A‖_{∞→1} is at most this.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct InfToOneBound(f64);

/// Proven: the largest singular value is at most this.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct SpectralBound(f64);

/// Proven: xᵀMx is at least this at some vertex, so the true maximum is too.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct VertexValue(f64);

/// Proven: the semidefinite relaxation is at least this.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct RelaxationValue(f64);

macro_rules! value {
    ($($name:ident),*) => {$(
        impl $name {
            /// The number, already rounded towards safety.
            pub fn value(self) -> f64 {
                self.0
            }
        }
    )*};
}
value!(QuadraticBound, InfToTwoBound, InfToOneBound, SpectralBound, VertexValue, RelaxationValue);

impl QuadraticBound {
    /// κ for M = AᵀA: the square root, rounded up.
    pub fn sqrt(self) -> InfToTwoBound {
        InfToTwoBound(sqrt_up(self.0.max(0.0))) // a form that is nowhere positive has a negative bound
    }
}

impl InfToTwoBound {
    /// κ², rounded up: a bound on the quadratic form again.
    pub fn square(self) -> QuadraticBound {
        QuadraticBound(mul_up(self.0, self.0))
    }

    /// κ of a block-diagonal map (image channels, say): the squares of its blocks add up.
    pub fn of_blocks(blocks: impl IntoIterator<Item = QuadraticBound>) -> Self {
        InfToTwoBound(sqrt_up(sum_up(blocks.into_iter().map(|block| block.0.max(0.0)))))
    }
}

impl SpectralBound {
    /// Of a block-diagonal map (image channels, say): the largest of its blocks; 0 without any.
    pub fn of_blocks(blocks: impl IntoIterator<Item = SpectralBound>) -> Self {
        SpectralBound(blocks.into_iter().fold(0.0, |most, block| most.max(block.0)))
    }
}

impl VertexValue {
    /// For a value of the dilation of A (see [`check_dilation`]): ‖A‖_{∞→1} is at least half of it, rounded down. The
    /// matrix must be the one the value was proven for, and is checked to be a dilation.
    pub fn of_dilation(self, dilated: Quadratic<'_>, rows: usize) -> Result<Self, MatrixProblem> {
        ensure_dilation(&dilated, rows).map(|()| VertexValue(div_down(self.0, 2.0)))
    }
}

impl RelaxationValue {
    /// For a value of the dilation of A: half, rounded down, as for [`VertexValue::of_dilation`].
    pub fn of_dilation(self, dilated: Quadratic<'_>, rows: usize) -> Result<Self, MatrixProblem> {
        ensure_dilation(&dilated, rows).map(|()| RelaxationValue(div_down(self.0, 2.0)))
    }

    /// A vertex is a feasible point of the relaxation too: the larger of the two values.
    #[must_use]
    pub fn or_vertex(self, vertex: VertexValue) -> Self {
        RelaxationValue(self.0.max(vertex.0))
    }
}

/// The diagonal blocks of [0 A; Aᵀ 0] are zero.
fn ensure_dilation(dilated: &Quadratic<'_>, rows: usize) -> Result<(), MatrixProblem> {
    match dilated.first_nonzero(|i, j| (i < rows) == (j < rows)) {
        Some((row, column)) => Err(MatrixProblem::NotDilation { row, column }),
        None => Ok(()),
    }
}

/// What the certificate proves about the matrix: an upper bound on xᵀMx over its domain.
///
/// Without a shift the bound is (Σ y)·λ with λ the largest eigenvalue of Diag(y)^−½·M·Diag(y)^−½ up to the margin
/// the proof needs; with a shift t it is Σ (y + t), except for factors, where y + t is scaled in the same way. Uses up to `threads` threads; the result does not depend on
/// their number.
pub fn check(
    matrix: Quadratic<'_>,
    certificate: &Certificate,
    threads: usize,
) -> Result<QuadraticBound, CheckError> {
    let Certificate { domain, weights, shift } = certificate;
    if !environment_is_ieee() {
        return Err(Rejected::Environment.into());
    }
    matrix.validate(*domain, threads)?;
    if weights.len() != matrix.dim() {
        return Err(Rejected::WeightCount { expected: matrix.dim(), found: weights.len() }.into());
    }
    if let Some(value) = shift.filter(|value| !value.is_finite()) {
        return Err(Rejected::ShiftNotFinite { value }.into());
    }
    let weight = |i: usize| weights[i] + shift.unwrap_or(0.0);
    let positive = |i: usize| match weight(i) {
        value if value > 0.0 && value.is_finite() => Ok(value),
        value => Err(Rejected::WeightNotPositive { index: i, value }),
    };
    if let Quadratic::Gram { factor, dim, rank } = matrix
        && rank <= dim
    {
        for (i, row) in factor.chunks_exact(rank).enumerate() {
            if row.iter().any(|&u| u != 0.0) {
                positive(i)?;
            }
        }
        let proven = gram::largest_eigenvalue_of_gram(factor, rank, weight, threads);
        return finite(proven.map_or(f64::INFINITY, |proven| gram::bound(&proven)));
    }
    let reduced = Reduced::new(&matrix, *domain, threads);
    let weights = reduced.kept.iter().map(|&i| positive(i)).collect::<Result<Vec<f64>, _>>()?;
    let constant = match domain {
        Domain::Cube => 0.0,
        Domain::Vertices => sum_up(matrix.trace_terms()),
    };
    let duals = if reduced.len() == 0 || shift.is_some() {
        if !dominates(&reduced, &weights, threads) {
            return Err(Rejected::NotDominating.into());
        }
        weights
    } else {
        scaled(&reduced, &weights, threads).ok_or(Rejected::NothingProven)?
    };
    finite(add_up(constant, sum_up(duals)))
}

fn finite(bound: f64) -> Result<QuadraticBound, CheckError> {
    if bound.is_finite() { Ok(QuadraticBound(bound)) } else { Err(Rejected::NothingProven.into()) }
}

/// The least multiple of the weights found to dominate.
fn scaled(matrix: &Reduced<'_>, weights: &[f64], threads: usize) -> Option<Vec<f64>> {
    let n = matrix.len();
    // Any multiple of the weights says the same. One of the size of the matrix keeps the estimate within range.
    let largest = weights.iter().fold(f64::MIN_POSITIVE, |most, &y| most.max(y));
    let half = (exponent(matrix.largest_entry()) - exponent(largest)).div_euclid(2);
    let factor = power_of_two(half.clamp(-1000, 1000)); // applied twice, so that it is in range itself
    let resized: Vec<f64> = weights.iter().map(|y| y * factor * factor).collect();
    // Weights so far apart that some would lose digits stay as they are.
    let exact = |(&y, &r): (&f64, &f64)| r >= f64::MIN_POSITIVE && r.is_finite() && r / factor / factor == y;
    let weights = if weights.iter().zip(&resized).all(exact) { &resized } else { weights };
    let roots: Vec<f64> = weights.iter().map(|y| y.sqrt()).collect();
    let divided = |x: &[f64]| x.iter().zip(&roots).map(|(x, root)| x / root).collect::<Vec<f64>>();
    let estimate = largest_eigenvalue(n, |x, y| {
        matrix.multiply(&divided(x), y, threads);
        y.iter_mut().zip(&roots).for_each(|(y, root)| *y /= root);
    });
    let duals = |scale: f64| weights.iter().map(|y| y * scale).collect::<Vec<f64>>();
    let usable = |duals: &[f64]| duals.iter().all(|&d| d >= f64::MIN_POSITIVE && d.is_finite());
    // The diagonal lies between d and 4d after scaling, so the margin of the proof is at most four times this.
    let resolution = 2.0 * n as f64 * n as f64 * UNIT;
    let scale = search(&estimate, resolution, |scale| {
        let duals = duals(scale);
        usable(&duals) && dominates(matrix, &duals, threads)
    })?;
    Some(duals(scale))
}

/// What a certificate proves about ‖A‖_{∞→1}, for A the upper right block of the dilation [0 A; Aᵀ 0], whose first
/// diagonal block has `rows` rows: xᵀ·dilation·x = 2·aᵀAb for x = (a, b), so half of the bound. That the diagonal
/// blocks are zero is checked.
pub fn check_dilation(
    dilated: Quadratic<'_>,
    rows: usize,
    certificate: &Certificate,
    threads: usize,
) -> Result<InfToOneBound, CheckError> {
    let bound = check(dilated, certificate, threads)?; // validates the storage
    ensure_dilation(&dilated, rows)?;
    Ok(InfToOneBound(div_up(bound.0, 2.0)))
}

/// s with σ_max(U) ≤ s for an n × r matrix given row-major: ‖Uᵀx‖₂ ≤ s·‖x‖₂ for the stored numbers.
pub fn spectral_norm(
    factor: &[f64],
    dim: usize,
    rank: usize,
    threads: usize,
) -> Result<SpectralBound, CheckError> {
    if !environment_is_ieee() {
        return Err(Rejected::Environment.into());
    }
    Quadratic::Gram { factor, dim, rank }.validate(Domain::Cube, threads)?;
    // The singular values of a matrix are those of its transpose: the smaller Gram matrix will do.
    let transposed;
    let (factor, rank) = if rank <= dim {
        (factor, rank)
    } else {
        transposed =
            (0..rank).flat_map(|a| (0..dim).map(move |i| factor[i * rank + a])).collect::<Vec<f64>>();
        (&transposed[..], dim)
    };
    gram::largest_singular_value(factor, rank, threads)
        .filter(|bound| bound.is_finite())
        .map(SpectralBound)
        .ok_or(CheckError::Rejected(Rejected::NothingProven))
}

/// xᵀMx at the vertex `x` (every entry 1 or −1), rounded down.
pub fn vertex_value(matrix: Quadratic<'_>, x: &[f64], threads: usize) -> Result<VertexValue, CheckError> {
    if let Some(index) = x.iter().position(|x| x.abs() != 1.0) {
        return Err(Rejected::BadWitness { index }.into());
    }
    lower_end(&matrix, Domain::Vertices, x, 1, threads)
        .map(|value| VertexValue(sum_down([value, sum_down(matrix.trace_terms())])))
}

/// ⟨M, X⟩ for the feasible X = VVᵀ/ρ, ρ the largest |v_i|², rounded down; V is n × `columns`, row-major.
/// On [`Domain::Vertices`] X is completed to X_ii = 1, which changes the value by a multiple of M_ii that is
/// counted exactly: the diagonal adds tr M. Never below X = 0.
pub fn relaxation_value(
    matrix: Quadratic<'_>,
    domain: Domain,
    v: &[f64],
    columns: usize,
    threads: usize,
) -> Result<RelaxationValue, CheckError> {
    let value = lower_end(&matrix, domain, v, columns, threads)?;
    let largest = row_squares(v, columns).fold(0.0, f64::max);
    let scaled = if value > 0.0 { div_down(value, largest).max(0.0) } else { 0.0 };
    let constant = match domain {
        Domain::Cube => 0.0,
        Domain::Vertices => sum_down(matrix.trace_terms()),
    };
    Ok(RelaxationValue(sum_down([scaled, constant])))
}

fn lower_end(
    matrix: &Quadratic<'_>,
    domain: Domain,
    v: &[f64],
    columns: usize,
    threads: usize,
) -> Result<f64, CheckError> {
    if !environment_is_ieee() {
        return Err(Rejected::Environment.into());
    }
    matrix.validate(domain, threads)?;
    if columns == 0 || Some(v.len()) != columns.checked_mul(matrix.dim()) {
        return Err(Rejected::BadWitness { index: v.len() }.into());
    }
    if let Some(index) = v.iter().position(|v| !v.is_finite()) {
        return Err(Rejected::BadWitness { index }.into());
    }
    match inner_product_down(matrix, domain, v, columns, threads) {
        value if value.is_nan() => Err(Rejected::NothingProven.into()),
        value => Ok(value),
    }
}
