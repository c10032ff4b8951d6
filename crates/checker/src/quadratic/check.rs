//! Proven numbers about matrices: their types, and the few functions that make them.

use crate::quadratic::definite::{dominates, dominates_with};
use crate::quadratic::form::DilationRows;
use crate::quadratic::gram::{PreparedBasis, PreparedFactor, WeightedGram, row_norms_up};
use crate::quadratic::lower::{inner_product_down, row_squares};
use crate::quadratic::prepared::PreparedForm;
use crate::rounding::{
    add_up, below, div_down, div_up, ensure_ieee, mul_down, mul_up, sqrt_up, sub_down, sum_down, sum_up,
};
use crate::threads::Stop;
use crate::{Certificate, CheckError, Domain, MatrixProblem, Quadratic, Rejected};

/// Proven: xᵀMx is at most this on the certificate's domain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuadraticBound(f64, DilationRows);

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
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VertexValue(f64, DilationRows);

/// Proven: the semidefinite relaxation is at least this.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RelaxationValue(f64, DilationRows);

proven_numbers!(QuadraticBound, InfToTwoBound, InfToOneBound, SpectralBound, VertexValue, RelaxationValue);

impl QuadraticBound {
    /// κ for M = AᵀA: the square root, rounded up.
    pub fn sqrt(self) -> InfToTwoBound {
        InfToTwoBound(sqrt_up(self.0.max(0.0))) // a form that is nowhere positive has a negative bound
    }

    /// For a bound on the dilation [0 A; Aᵀ 0], whose first diagonal block has `rows` rows: xᵀ·dilation·x = 2·aᵀAb for
    /// x = (a, b), so ‖A‖_{∞→1} is at most half of it, rounded up. Whether its matrix is such a dilation is a part of what was
    /// proven; of a factor, and of a bound that was widened or squared, it is not known, and refused.
    pub fn of_dilation(self, rows: usize) -> Result<InfToOneBound, MatrixProblem> {
        self.1.check(rows).map(|()| InfToOneBound(div_up(self.0, 2.0)))
    }
}

impl InfToTwoBound {
    /// κ², rounded up: a bound on the quadratic form again.
    pub fn square(self) -> QuadraticBound {
        QuadraticBound(mul_up(self.0, self.0), DilationRows::NONE)
    }

    /// κ of a block-diagonal map (image channels, say): the squares of its blocks add up. Infinite without any.
    pub fn of_blocks(blocks: impl IntoIterator<Item = QuadraticBound>) -> Self {
        let squares: Vec<f64> = blocks.into_iter().map(|block| block.0.max(0.0)).collect();
        InfToTwoBound(if squares.is_empty() { f64::INFINITY } else { sqrt_up(sum_up(squares)) })
    }
}

impl SpectralBound {
    /// Of a block-diagonal map (image channels, say): the largest of its blocks. Infinite without any.
    pub fn of_blocks(blocks: impl IntoIterator<Item = SpectralBound>) -> Self {
        SpectralBound(blocks.into_iter().map(|block| block.0).reduce(f64::max).unwrap_or(f64::INFINITY))
    }
}

/// A vertex is a feasible point of the relaxation too.
impl From<VertexValue> for RelaxationValue {
    fn from(vertex: VertexValue) -> Self {
        RelaxationValue(vertex.0, vertex.1)
    }
}

/// # Entries that are known up to an error
/// Let |M̂ − M|_ij ≤ e_ij with Σ e_ij ≤ ε. Then |xᵀM̂x − xᵀMx| ≤ ε for |x|_inf ≤ 1, since |x_i·x_j| ≤ 1, and for the same
/// reason |⟨M̂ − M, X⟩| ≤ ε for X ⪰ 0 with X_ii ≤ 1; likewise |aᵀÂb − aᵀAb| ≤ ε for signs a and b. For a factor,
/// | |Ûᵀx| − |Uᵀx| | ≤ |(Û − U)ᵀx|₂ ≤ |(Û − U)ᵀx|₁ ≤ ε, and | ‖ÛᵀV‖_F − ‖UᵀV‖_F | ≤ ε for rows |v_i| ≤ 1. So a bound on
/// the stored numbers becomes one on all numbers within the error by adding ε, or by adding it to the root.
impl QuadraticBound {
    /// For every symmetric matrix whose entries are off those the bound was proven for by `error` at most, all together.
    pub fn widened(self, error: f64) -> Result<Self, Rejected> {
        widened_up(self.0, error).map(Self::of_no_dilation)
    }

    /// The same where the matrix is UUᵀ and `error` is of the entries of U.
    pub fn widened_factor(self, error: f64) -> Result<Self, Rejected> {
        if error == 0.0 {
            return Ok(self);
        }
        let root = widened_up(sqrt_up(self.0.max(0.0)), error)?;
        finite(mul_up(root, root)).map(Self::of_no_dilation)
    }

    fn of_no_dilation(value: f64) -> Self {
        Self(value, DilationRows::NONE)
    }
}

impl InfToOneBound {
    /// For every A whose entries are off those the bound was proven for by `error` at most, all together.
    pub fn widened(self, error: f64) -> Result<Self, Rejected> {
        widened_up(self.0, error).map(Self)
    }
}

/// `error` must be a number that is not negative: anything else proves nothing.
fn widened_up(value: f64, error: f64) -> Result<f64, Rejected> {
    if error >= 0.0 { finite(add_up(value, error)) } else { Err(Rejected::NothingProven) }
}

fn widened_down(value: f64, error: f64) -> f64 {
    match error {
        0.0 => value,
        error if error > 0.0 => sub_down(value, error),
        _ => f64::NEG_INFINITY,
    }
}

/// The square of what is left of the root; never below zero, which X = 0 and every vertex of a factor reach.
fn widened_square_down(value: f64, error: f64) -> f64 {
    if error == 0.0 {
        return value;
    }
    let root = widened_down(below(value.max(0.0).sqrt()), error);
    if root > 0.0 { mul_down(root, root).max(0.0) } else { 0.0 }
}

macro_rules! lower_ends {
    ($($name:ident),*) => {$(
        impl $name {
            /// For a value of the dilation of A: ‖A‖_{∞→1} and its relaxation are at least half of it, rounded down. What is
            /// no longer known to be of a dilation is refused: see [`QuadraticBound::of_dilation`].
            pub fn of_dilation(self, rows: usize) -> Result<Self, MatrixProblem> {
                self.1.check(rows).map(|()| Self(div_down(self.0, 2.0), DilationRows::NONE))
            }

            /// See [`QuadraticBound::widened`].
            #[must_use]
            pub fn widened(self, error: f64) -> Self {
                Self(widened_down(self.0, error), DilationRows::NONE)
            }

            /// See [`QuadraticBound::widened_factor`].
            #[must_use]
            pub fn widened_factor(self, error: f64) -> Self {
                Self(widened_square_down(self.0, error), DilationRows::NONE)
            }
        }
    )*};
}
lower_ends!(VertexValue, RelaxationValue);

impl Certificate {
    /// y + t in the rows `kept` of a matrix of dimension `dim`, if positive and finite there.
    pub fn duals(&self, dim: usize, kept: &[usize]) -> Result<Vec<f64>, Rejected> {
        if self.weights.len() != dim {
            return Err(Rejected::WeightCount { expected: dim, found: self.weights.len() });
        }
        let shift = self.shift.unwrap_or(0.0);
        if !shift.is_finite() {
            return Err(Rejected::ShiftNotFinite { value: shift });
        }
        let duals: Vec<f64> = kept.iter().map(|&i| self.weights[i] + shift).collect();
        positive(kept, &duals).map(|()| duals)
    }
}

/// One positive, finite number per kept row.
fn positive(kept: &[usize], duals: &[f64]) -> Result<(), Rejected> {
    match duals.iter().position(|&d| !(d > 0.0 && d.is_finite())) {
        Some(k) => Err(Rejected::WeightNotPositive { index: kept[k], value: duals[k] }),
        None => Ok(()),
    }
}

impl PreparedForm<'_> {
    /// Tries d, one number per kept row: where Diag(d) ⪰ M is proven, the bound is Σ d, plus tr M where the diagonal
    /// is left out. The result does not depend on the number of threads.
    pub fn bound(&self, duals: &[f64]) -> Result<QuadraticBound, Rejected> {
        if duals.len() != self.kept().len() {
            return Err(Rejected::WeightCount { expected: self.kept().len(), found: duals.len() });
        }
        positive(self.kept(), duals)?;
        ensure_ieee()?;
        if !dominates(self, duals)? {
            return Err(Rejected::NotDominating);
        }
        let bound = finite(add_up(self.constant, sum_up(duals.iter().copied())))?;
        Ok(QuadraticBound(bound, self.dilation))
    }

    /// Whether the factorisation completes with a part of the margin. Proves nothing, and makes no proven number: it is
    /// for tests that show what the margin is for.
    #[doc(hidden)]
    pub fn completes_with_margin(&self, duals: &[f64], part: f64) -> Result<bool, Rejected> {
        positive(self.kept(), duals)?;
        dominates_with(self, duals, part)
    }
}

impl PreparedFactor<'_> {
    /// Tries s: where λ_max(Uᵀ·Diag(q)²·U) ≤ s is proven, the bound is s·Σ 1/q_i².
    pub fn bound(&self, scale: f64) -> Result<QuadraticBound, Rejected> {
        proven_of_gram(self.gram(), scale, self.stop, |gram| mul_up(scale, gram.sum))
            .map(QuadraticBound::of_no_dilation)
    }
}

/// What needs no weights and no factorisation: |Uᵀx|₂ ≤ Σ |x_i|·|u_i|₂ by the triangle inequality, u_i the rows of U, so
/// xᵀUUᵀx ≤ (Σ |u_i|₂)² on the cube. `factor` is row-major, `dim` × `rank`.
pub fn triangle_bound(
    factor: &[f64],
    dim: usize,
    rank: usize,
    threads: usize,
) -> Result<QuadraticBound, CheckError> {
    ensure_ieee()?;
    Quadratic::Gram { factor, dim, rank }.validate(Domain::Cube, threads)?;
    let sum = row_norms_up(factor, rank);
    Ok(finite(mul_up(sum, sum)).map(QuadraticBound::of_no_dilation)?)
}

impl PreparedBasis {
    /// Tries s² for λ_max(UᵀU), both in units of the q chosen: where it is proven, σ_max(U) ≤ s.
    pub fn bound(&self, square: f64) -> Result<SpectralBound, Rejected> {
        // q = shift for all rows, so UᵀU·shift² ⪯ square.
        proven_of_gram(self.gram(), square, &|| false, |gram| div_up(sqrt_up(square), gram.shift))
            .map(SpectralBound)
    }
}

/// The number that follows from λ_max ≤ scale, once that is proven; zero for a factor of zeros.
fn proven_of_gram(
    gram: &WeightedGram,
    scale: f64,
    stop: Stop<'_>,
    number: impl Fn(&WeightedGram) -> f64,
) -> Result<f64, Rejected> {
    ensure_ieee()?;
    if gram.is_zero() {
        Ok(0.0)
    } else if gram.is_below(scale, stop)? {
        finite(number(gram))
    } else {
        Err(Rejected::NotDominating)
    }
}

fn finite(bound: f64) -> Result<f64, Rejected> {
    if bound.is_finite() { Ok(bound) } else { Err(Rejected::NothingProven) }
}

/// What a certificate with a shift t proves as it stands: xᵀMx ≤ Σ (y + t), plus tr M on the vertices, up to the last
/// places. Uses up to `threads` threads; the result does not depend on their number.
///
/// A certificate without a shift says that some multiple of its weights dominates. Finding which is a search and no
/// part of this crate: prepare a [`PreparedForm`] or, for a factor with no more columns than rows, a [`PreparedFactor`],
/// and try multiples. A factor is taken as it stands here too; `gambeson_lowrank::sdp::scale::check` scales it.
pub fn verify(
    matrix: Quadratic<'_>,
    certificate: &Certificate,
    threads: usize,
) -> Result<QuadraticBound, CheckError> {
    if certificate.shift.is_none() {
        return Err(Rejected::NoShift.into());
    }
    if let Quadratic::Gram { factor, dim, rank } = matrix
        && rank <= dim
    {
        let prepared = PreparedFactor::new(factor, dim, rank, certificate, threads)?;
        let shift = prepared.gram().shift;
        return Ok(prepared.bound(shift * shift)?); // d = 1/q² up to this
    }
    let form = PreparedForm::new(matrix, certificate.domain, threads)?;
    Ok(form.bound(&certificate.duals(matrix.dim(), form.kept())?)?)
}

/// xᵀMx at the vertex `x` (every entry 1 or −1), rounded down.
pub fn vertex_value(matrix: Quadratic<'_>, x: &[f64], threads: usize) -> Result<VertexValue, CheckError> {
    if let Some(index) = x.iter().position(|x| x.abs() != 1.0) {
        return Err(Rejected::BadWitness { index }.into());
    }
    lower_end(&matrix, Domain::Vertices, x, 1, threads)
        .map(|value| sum_down([value, sum_down(matrix.trace_terms())]))
        .map(|value| VertexValue(value, DilationRows::of(&matrix)))
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
    Ok(RelaxationValue(sum_down([scaled, constant]), DilationRows::of(&matrix)))
}

fn lower_end(
    matrix: &Quadratic<'_>,
    domain: Domain,
    v: &[f64],
    columns: usize,
    threads: usize,
) -> Result<f64, CheckError> {
    ensure_ieee()?;
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
