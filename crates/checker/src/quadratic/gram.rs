//! The r × r form for M = U·Uᵀ, and the largest singular value of a stored basis.
//!
//! For q > 0 and Q = Diag(q): UUᵀ ⪯ s·Q⁻² ⟺ s ≥ λ_max((QU)ᵀ(QU)), because both say that all singular values of QU
//! are at most √s. So xᵀUUᵀx ≤ s·Σ x_i²/q_i² ≤ s·Σ 1/q_i² on the cube: an r × r problem instead of an n × n one.
//! The weights y enter as q_i = fl(1/√y_i) only; the proof is about the floating-point q and needs no relation
//! to y.
//!
//! **Rounding.** F = fl(QU) has relative error u per entry, and each entry of Ĝ = fl(FᵀF) is a sum of n products:
//! |Ĝ − G|_ab ≤ γ_{n+4} Σ_i q_i²·|u_ia·u_ib|, a matrix of 2-norm at most γ_{n+4}·tr G, and
//! tr G ≤ tr Ĝ / (1 − γ_{n+4}) up to underflow.
//! **Underflow.** Q is scaled by a power of two so that the largest |F_ij| lies in [1, 2). An entry of F then
//! errs by at most η more, a product by at most 2·2·η + η² + η, an entry of Ĝ by 8nη, a matrix of r rows by
//! 8nrη in norm, as does the trace; η = 2⁻¹⁰²² is far more than needed.

use crate::kernel::self_product::self_product;
use crate::quadratic::cholesky::LowerTriangle;
use crate::quadratic::definite::{WHOLE, lowered_diagonal};
use crate::rounding::{
    UNDERFLOW, add_up, div_up, ensure_ieee, exponent, gamma, mul_down, mul_up, power_of_two, sqrt_up,
    sub_down, sum_up,
};
use crate::threads::{Stop, worthwhile};
use crate::{Certificate, CheckError, Domain, Quadratic, Rejected};

/// The computed r × r matrix Ĝ ≈ Uᵀ·Diag(q)²·U, with what is known about it.
pub struct WeightedGram {
    entries: Vec<f64>,
    rank: usize,
    error: f64,
    /// Σ 1/q_i² over rows that are not zero, rounded up.
    pub(crate) sum: f64,
    /// The power of two inside q: q_i = fl(1/√weight_i) · shift.
    pub(crate) shift: f64,
    threads: usize,
}

impl WeightedGram {
    /// From pairs of q_i before the shift and row i of U, rows of zeros left out. None where nothing can be proven, by
    /// overflow for instance.
    fn new(rows: Vec<(f64, &[f64])>, rank: usize, threads: usize) -> Option<Self> {
        let n = rows.len();
        if n == 0 {
            let entries = vec![0.0; rank * rank];
            return Some(Self { entries, rank, error: 0.0, sum: 0.0, shift: 1.0, threads });
        }
        let magnitude = |(q, row): &(f64, &[f64])| row.iter().fold(0.0_f64, |most, u| most.max(u.abs())) * q;
        let largest = rows.iter().map(magnitude).fold(0.0, f64::max);
        if !(largest > 0.0 && largest.is_finite()) {
            return None;
        }
        let shift = power_of_two((-exponent(largest)).clamp(-1022, 1023));
        let rows: Vec<(f64, &[f64])> = rows.into_iter().map(|(q, row)| (q * shift, row)).collect();
        let sum = sum_up(rows.iter().map(|&(q, _)| div_up(div_up(1.0, q), q)));
        // A subnormal q would spoil the relative error of F; a vanished one proves nothing.
        let usable =
            |&(q, row): &(f64, &[f64])| q >= f64::MIN_POSITIVE && row.iter().all(|u| (u * q).abs() < 2.0);
        if !sum.is_finite() || !rows.iter().all(usable) {
            return None;
        }
        let threads = worthwhile(threads, n * rank * rank);
        let entries = self_product(rank, n, threads, |a, range, out| {
            out.iter_mut().zip(&rows[range]).for_each(|(out, (q, row))| *out = row[a] * q);
        });
        let relative = gamma(n + 4);
        let underflow = mul_up(mul_up(8.0 * n as f64, rank as f64), UNDERFLOW);
        let trace = add_up(sum_up((0..rank).map(|a| entries[a * rank + a])), underflow);
        let error = add_up(mul_up(relative, div_up(trace, sub_down(1.0, relative))), underflow);
        Some(Self { entries, rank, error, sum, shift, threads })
    }

    /// Ĝ, row-major.
    pub fn entries(&self) -> &[f64] {
        &self.entries
    }

    /// r.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Proven: ‖Ĝ − Uᵀ·Diag(q)²·U‖₂ is at most this.
    pub fn error(&self) -> f64 {
        self.error
    }

    /// True where U is zero, and so is every bound.
    pub fn is_zero(&self) -> bool {
        self.sum == 0.0
    }

    /// Proves λ_max(Uᵀ·Diag(q)²·U) ≤ scale for the stored q; false proves nothing.
    pub(crate) fn is_below(&self, scale: f64, stop: Stop<'_>) -> Result<bool, Rejected> {
        let (gram, rank) = (&self.entries, self.rank);
        let diagonal: Vec<f64> = (0..rank).map(|a| sub_down(scale, gram[a * rank + a])).collect();
        let Some(diagonal) = lowered_diagonal(&diagonal, |a| a, self.error, WHOLE) else { return Ok(false) };
        let threads = worthwhile(self.threads, rank * rank * rank);
        LowerTriangle::read(rank, threads, &|a, first, out| {
            out.copy_from_slice(&gram[a * rank + first..][..out.len()]);
            for (b, entry) in (first..).zip(out.iter_mut()) {
                *entry = if a == b { diagonal[a] } else { -*entry };
            }
        })
        .factorises(stop)
    }
}

/// A factor U (n × r, r ≤ n) with weights, ready for scales to be tried: see [`PreparedFactor::bound`].
pub struct PreparedFactor<'a> {
    gram: WeightedGram,
    pub(crate) stop: Stop<'a>,
}

impl<'a> PreparedFactor<'a> {
    /// Validates both. `factor` is row-major, `dim` × `rank`; the domain does not matter for a Gram form.
    pub fn new(
        factor: &[f64],
        dim: usize,
        rank: usize,
        certificate: &Certificate,
        threads: usize,
    ) -> Result<Self, CheckError> {
        let rows = nonzero_rows(factor, dim, rank, threads)?;
        let kept: Vec<usize> = rows.iter().map(|&(i, _)| i).collect();
        let duals = certificate.duals(dim, &kept)?;
        let rows = rows.iter().zip(duals).map(|(&(_, row), dual)| (1.0 / dual.sqrt(), row));
        let gram = WeightedGram::new(rows.collect(), rank, threads);
        Ok(Self { gram: gram.ok_or(Rejected::NothingProven)?, stop: &|| false })
    }

    /// Asks `stop` now and then during a factorisation, which it ends with [`Rejected::Stopped`].
    #[must_use]
    pub fn stopped_by(self, stop: Stop<'a>) -> Self {
        Self { stop, ..self }
    }

    /// What scales are tried on.
    pub fn gram(&self) -> &WeightedGram {
        &self.gram
    }
}

/// A stored basis U, ready for bounds on its largest singular value to be tried: see [`PreparedBasis::bound`].
pub struct PreparedBasis(WeightedGram);

impl PreparedBasis {
    /// Validates U, `dim` × `rank`, row-major. Every q is one power of two.
    pub fn new(factor: &[f64], dim: usize, rank: usize, threads: usize) -> Result<Self, CheckError> {
        let rows = nonzero_rows(factor, dim, rank, threads)?;
        // The singular values of a matrix are those of its transpose: the smaller Gram matrix will do.
        let gram = if rank <= dim {
            WeightedGram::new(rows.iter().map(|&(_, row)| (1.0, row)).collect(), rank, threads)
        } else {
            let transposed: Vec<f64> =
                (0..rank).flat_map(|a| (0..dim).map(move |i| factor[i * rank + a])).collect();
            let rows = transposed.chunks_exact(dim).filter(|row| row.iter().any(|&u| u != 0.0));
            WeightedGram::new(rows.map(|row| (1.0, row)).collect(), dim, threads)
        };
        Ok(Self(gram.ok_or(Rejected::NothingProven)?))
    }

    /// What scales are tried on.
    pub fn gram(&self) -> &WeightedGram {
        &self.0
    }
}

/// Σ |u_i|₂ over the rows of a factor, rounded up.
pub(crate) fn row_norms_up(factor: &[f64], rank: usize) -> f64 {
    let norm = |row: &[f64]| sqrt_up(sum_up(row.iter().map(|&u| mul_up(u, u))));
    sum_up(factor.chunks_exact(rank).map(norm))
}

/// The rows of a validated factor that are not zero, with their places.
fn nonzero_rows(
    factor: &[f64],
    dim: usize,
    rank: usize,
    threads: usize,
) -> Result<Vec<(usize, &[f64])>, CheckError> {
    ensure_ieee()?;
    Quadratic::Gram { factor, dim, rank }.validate(Domain::Cube, threads)?;
    let rows = factor.chunks_exact(rank).enumerate();
    Ok(rows.filter(|(_, row)| row.iter().any(|&u| u != 0.0)).collect())
}

/// A proven lower end of ‖Uᵀ·V‖²_F for V with `columns` columns, row-major.
pub(crate) fn norm_squared_down(factor: &[f64], rank: usize, v: &[f64], columns: usize) -> f64 {
    let n = v.len() / columns;
    let mut sums = vec![0.0; rank * columns];
    let mut sizes = vec![0.0; rank * columns];
    for (u, v) in factor.chunks_exact(rank).zip(v.chunks_exact(columns)) {
        for (a, &u) in u.iter().enumerate() {
            for (l, &v) in v.iter().enumerate() {
                sums[a * columns + l] += u * v;
                sizes[a * columns + l] += (u * v).abs();
            }
        }
    }
    // The computed sum errs by at most γ_n·Σ|uv| + nη, and Σ|uv| by a further factor 1/(1 − γ_n).
    let relative = mul_up(gamma(n + 4), add_up(1.0, gamma(2 * n + 8)));
    let underflow = mul_up(2.0 * n as f64, UNDERFLOW);
    -sum_up(sums.iter().zip(&sizes).map(|(sum, &size)| {
        let least = sub_down(sum.abs(), add_up(mul_up(relative, size), underflow));
        if least > 0.0 { -mul_down(least, least) } else { 0.0 }
    }))
}
