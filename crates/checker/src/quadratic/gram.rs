//! The r × r form for M = U·Uᵀ, and the largest singular value of a stored basis.
//!
//! For q > 0 and Q = Diag(q): UUᵀ ⪯ s·Q⁻² ⟺ s ≥ λ_max((QU)ᵀ(QU)), because both say that all singular values of QU
//! are at most √s. So xᵀUUᵀx ≤ s·Σ x_i²/q_i² ≤ s·Σ 1/q_i² on the cube: an r × r problem instead of an n × n one.
//! The weights y enter as q_i = fl(1/√y_i) only; the proof is about the floating-point q and needs no relation
//! to y.
//!
//! **Rounding.** F = fl(QU) has relative error u an entry, and each entry of Ĝ = fl(FᵀF) is a sum of n products:
//! |Ĝ − G|_ab ≤ γ_{n+4} Σ_i q_i²·|u_ia·u_ib|, a matrix of 2-norm at most γ_{n+4}·tr G, and
//! tr G ≤ tr Ĝ / (1 − γ_{n+4}) up to underflow.
//! **Underflow.** Q is scaled by a power of two so that the largest |F_ij| lies in [1, 2). An entry of F then
//! errs by at most η more, a product by at most 2·2·η + η² + η, an entry of Ĝ by 8nη, a matrix of r rows by
//! 8nrη in norm, as does the trace; η = 2⁻¹⁰²² is far more than needed.

use crate::kernel::self_product::self_product;
use crate::kernel::{Isa, dot};
use crate::quadratic::cholesky::LowerTriangle;
use crate::quadratic::definite::lowered_diagonal;
use crate::quadratic::estimate::{largest_eigenvalue, search};
use crate::rounding::{
    UNDERFLOW, UNIT, add_up, div_up, exponent, gamma, mul_down, mul_up, power_of_two, sqrt_up, sub_down,
    sum_up,
};
use crate::threads::{share, worthwhile};

/// Proven: λ_max(Uᵀ·Diag(q)²·U) ≤ `scale`, for the stored q.
pub(crate) struct Proven {
    /// s.
    pub(crate) scale: f64,
    /// Σ 1/q_i² over rows that are not zero, rounded up.
    pub(crate) sum: f64,
    /// The power of two inside q: q_i = fl(1/√weight_i) · shift.
    pub(crate) shift: f64,
}

/// Proves s and Σ 1/q_i² for q_i ≈ 1/√weight_i. Weights of zero rows are not looked at. None where nothing
/// could be proven, by overflow for instance.
pub(crate) fn largest_eigenvalue_of_gram(
    factor: &[f64],
    rank: usize,
    weights: impl Fn(usize) -> f64,
    threads: usize,
) -> Option<Proven> {
    let rows: Vec<(f64, &[f64])> = factor
        .chunks_exact(rank)
        .enumerate()
        .filter(|(_, row)| row.iter().any(|&u| u != 0.0))
        .map(|(i, row)| (1.0 / weights(i).sqrt(), row))
        .collect();
    let n = rows.len();
    if n == 0 {
        return Some(Proven { scale: 0.0, sum: 0.0, shift: 1.0 });
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
    let gram = self_product(rank, n, threads, |a, range, out| {
        out.iter_mut().zip(&rows[range]).for_each(|(out, (q, row))| *out = row[a] * q);
    });
    let relative = gamma(n + 4);
    let underflow = mul_up(mul_up(8.0 * n as f64, rank as f64), UNDERFLOW);
    let trace = add_up(sum_up((0..rank).map(|a| gram[a * rank + a])), underflow);
    let error = add_up(mul_up(relative, div_up(trace, sub_down(1.0, relative))), underflow);
    let isa = Isa::detect();
    let estimate = largest_eigenvalue(rank, |x, y| {
        share(worthwhile(threads, rank * rank), y.chunks_mut(64).enumerate(), |(block, y)| {
            for (a, y) in (64 * block..).zip(y) {
                *y = dot(isa, &gram[a * rank..][..rank], x);
            }
        });
    });
    let own = rank as f64 * rank as f64 * UNIT;
    let resolution = own + 2.0 * error / estimate.value;
    let proves = |scale: f64| {
        let diagonal: Vec<f64> = (0..rank).map(|a| sub_down(scale, gram[a * rank + a])).collect();
        let Some(diagonal) = lowered_diagonal(&diagonal, |a| a, error) else { return false };
        let threads = worthwhile(threads, rank * rank * rank);
        LowerTriangle::read(rank, threads, &|a, first, out| {
            out.copy_from_slice(&gram[a * rank + first..][..out.len()]);
            for (b, entry) in (first..).zip(out.iter_mut()) {
                *entry = if a == b { diagonal[a] } else { -*entry };
            }
        })
        .factorises()
    };
    search(&estimate, resolution, proves).map(|scale| Proven { scale, sum, shift })
}

/// s with σ_max(U) ≤ s: the r × r form with every q equal to one power of two.
pub(crate) fn largest_singular_value(factor: &[f64], rank: usize, threads: usize) -> Option<f64> {
    let proven = largest_eigenvalue_of_gram(factor, rank, |_| 1.0, threads)?;
    // q = shift for all rows, so UᵀU·shift² ⪯ scale.
    Some(if proven.scale == 0.0 { 0.0 } else { div_up(sqrt_up(proven.scale), proven.shift) })
}

/// The bound s·Σ 1/q_i² on xᵀUUᵀx over the cube, rounded up.
pub(crate) fn bound(proven: &Proven) -> f64 {
    if proven.scale == 0.0 { 0.0 } else { mul_up(proven.scale, proven.sum) }
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
