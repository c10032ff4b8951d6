//! A matrix made ready for proofs: validated, without the rows that are zero, multiplied out where it must be.
//!
//! Preparing is done once, however many candidates are then tried. A row of zeros leaves x_i free and costs nothing. On
//! [`Domain::Vertices`] the diagonal of a stored matrix is left out as well: it adds tr M, whatever x is.

use crate::kernel::self_product::self_product;
use crate::rounding::{add_up, ensure_ieee, gamma, mul_up, sum_up};
use crate::{CheckError, Domain, Quadratic};

/// A form that numbers d can be tried on: see [`PreparedForm::bound`].
pub struct PreparedForm<'a> {
    matrix: Quadratic<'a>,
    /// UUᵀ, where the matrix is given by its factor U.
    product: Option<Vec<f64>>,
    kept: Vec<usize>,
    has_diagonal: bool,
    /// Where the stored numbers were computed: e_i such that |M − stored|_ij ≤ √(e_i·e_j) for kept rows.
    pub(crate) error: Option<Vec<f64>>,
    /// What the diagonal left out adds to every value, rounded up.
    pub(crate) constant: f64,
    pub(crate) threads: usize,
}

impl<'a> PreparedForm<'a> {
    /// Validates a matrix and prepares it, with up to `threads` threads. Factors are multiplied out.
    pub fn new(matrix: Quadratic<'a>, domain: Domain, threads: usize) -> Result<Self, CheckError> {
        ensure_ieee()?;
        matrix.validate(domain, threads)?;
        let kept: Vec<usize> = (0..matrix.dim()).filter(|&i| !matrix.is_zero_row(i, domain)).collect();
        let has_diagonal = domain == Domain::Cube || matches!(matrix, Quadratic::Gram { .. });
        let constant = if has_diagonal { 0.0 } else { sum_up(matrix.trace_terms()) };
        let (mut product, mut error) = (None, None);
        if let Quadratic::Gram { factor, dim, rank } = matrix {
            let row = |i: usize| &factor[i * rank..][..rank];
            let fill = |i: usize, range, out: &mut [f64]| out.copy_from_slice(&row(i)[range]);
            product = Some(self_product(dim, rank, threads, fill));
            // An entry is a sum of `rank` products in some order: |error| ≤ γ·|u_i|·|u_j| + underflow.
            let scale = gamma(rank + 2);
            let lost = mul_up(rank as f64, f64::from_bits(4)); // four times the least positive number
            let of_row = |&i: &usize| {
                let square = sum_up(row(i).iter().map(|&u| mul_up(u, u)));
                add_up(mul_up(scale, square), lost)
            };
            error = Some(kept.iter().map(of_row).collect());
        }
        Ok(Self { matrix, product, kept, has_diagonal, error, constant, threads })
    }

    /// The rows that are not zero, rising.
    pub fn kept(&self) -> &[usize] {
        &self.kept
    }

    /// Whether the diagonal of [`stored`](Self::stored) counts.
    pub fn has_diagonal(&self) -> bool {
        self.has_diagonal
    }

    /// The numbers a proof works on, zero rows and diagonal included: a dense or a sparse matrix, a computed one where
    /// a factor was given.
    pub fn stored(&self) -> Quadratic<'_> {
        match &self.product {
            Some(entries) => Quadratic::Dense { entries, dim: self.matrix.dim() },
            None => self.matrix,
        }
    }

    /// The diagonal entry of kept row k.
    pub(crate) fn diagonal(&self, k: usize) -> f64 {
        if self.has_diagonal { self.stored().stored_diagonal(self.kept[k]) } else { 0.0 }
    }
}
