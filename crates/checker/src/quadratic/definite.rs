//! Verified positive semidefiniteness: a floating-point Cholesky factorisation that runs to completion on a
//! slightly smaller matrix proves it (Rump, *Verification of positive definiteness*, BIT 46, 2006).
//!
//! # Theorem
//! Let A be symmetric with floating-point entries, diagonal z > 0, and B = A − c·I with its diagonal rounded
//! down. If the factorisation of [`cholesky`](crate::quadratic::cholesky) (or [`sparse`](crate::quadratic::sparse)) runs to
//! completion on B, and
//!
//! > c ≥ Σ_j β_j·z_j + underflow + ‖E‖₂,  β_j = γ/(1 − γ) with γ = γ_{t_j + 4},
//!
//! where t_j bounds the number of products subtracted from an entry of row j, then A + E is positive semidefinite for
//! every symmetric E within the bound. Dense: t_j = j. Sparse: a product l_ik·l_jk that is not zero needs an entry of
//! row i and one of row j in column k, so the number of entries of row j left of its diagonal will do.
//!
//! # Why
//! Let L be the computed factor, ℓ_i its rows. For i > j the computed l_ij satisfies
//! |b_ij − Σ_{k≤j} l_ik·l_jk| ≤ γ_{t+1} Σ_{k≤j} |l_ik·l_jk| *whatever the order of evaluation* (Higham, 2nd
//! ed., Lemma 8.4), where t is the number of products; a fused multiply-add has one rounding where a product
//! and a sum have two, so it stays inside. The pivots satisfy the same with γ_{t+2} (Theorem 10.3 there). Two
//! further units pay for blocks summed from zero and are not needed otherwise. From the pivots,
//! |ℓ_j|² ≤ b_jj / (1 − γ), so by Cauchy–Schwarz |LLᵀ − B|_ij ≤ √(β_i·β_j·b_ii·b_jj): the products in entry (i, j)
//! are at most min(t_i, t_j), and γ at the smaller of two numbers is at most the geometric mean. That is a matrix of rank one, so
//! ‖LLᵀ − B‖₂ ≤ Σ_j β_j·b_jj ≤ Σ_j β_j·z_j, and B ⪰ LLᵀ − ‖LLᵀ − B‖·I gives A + E ⪰ 0.
//!
//! *Underflow.* A product, quotient or fused operation that underflows adds at most η = 2⁻¹⁰⁷⁵ to a term, a
//! quotient times l_jj ≤ √z_j in the residual; an entry collects at most (t + 2 + √max z)·η, a matrix of n
//! rows n times that in norm, and scaling by powers of two adds 2η to an entry. The code takes
//! 4·n·(n + 8 + max z)·2⁻¹⁰²², enormously more. Overflow makes a pivot infinite or NaN, which is a failure.
//!
//! *Scaling.* Row and column i are multiplied by 2^−e_i with 4^e_i ≤ d_i < 4^(e_i+1): exact up to underflow,
//! a congruence, and it makes c relative to each d_i by itself.

use crate::Rejected;
use crate::quadratic::cholesky::LowerTriangle;
use crate::quadratic::form::Quadratic;
use crate::quadratic::prepared::PreparedForm;
use crate::rounding::{UNDERFLOW, add_up, div_up, exponent, gamma, mul_up, power_of_two, sub_down, sum_up};
use crate::threads::worthwhile;

/// All of the margin that the theorem asks for.
pub(crate) const WHOLE: f64 = 1.0;

/// The diagonal of B, given the diagonal z of A, t_j, a bound on ‖E‖₂, and the part of the margin to take, which is
/// [`WHOLE`] in every proof. None where B has no positive diagonal, so that nothing can be proven.
pub(crate) fn lowered_diagonal(
    diagonal: &[f64],
    products: impl Fn(usize) -> usize,
    perturbation: f64,
    part: f64,
) -> Option<Vec<f64>> {
    let n = diagonal.len() as f64;
    let largest = diagonal.iter().fold(0.0_f64, |largest, &z| largest.max(z));
    let underflow = mul_up(mul_up(4.0 * n, add_up(n + 8.0, largest)), UNDERFLOW);
    let rounding = sum_up(diagonal.iter().enumerate().map(|(j, &z)| {
        let gamma = gamma(products(j) + 4);
        mul_up(div_up(gamma, sub_down(1.0, gamma)), z)
    }));
    let lowered = add_up(add_up(rounding, underflow), perturbation) * part;
    let diagonal: Vec<f64> = diagonal.iter().map(|&z| sub_down(z, lowered)).collect();
    // Written so that a NaN fails.
    diagonal.iter().all(|&b| b > 0.0 && b.is_finite()).then_some(diagonal)
}

/// Proves Diag(duals) − M ⪰ 0 on the kept rows. `duals` must be positive and finite; false proves nothing.
///
/// *Entries that are paid for.* 2·m·x_i·x_j ≤ |m|·(x_i² + x_j²), so an entry m_ij may be left out of M where d_i and d_j
/// are asked to be larger by |m_ij|: Diag(d − p) ⪰ M − (entries left out), with p_i the sum of these |m_ij| rounded up,
/// implies Diag(d) ⪰ M. Where all are, what is left is a diagonal.
pub(crate) fn dominates(form: &PreparedForm<'_>, duals: &[f64]) -> Result<bool, Rejected> {
    dominates_with(form, duals, WHOLE)
}

/// The same with a part of the margin, which proves nothing unless that is [`WHOLE`].
pub(crate) fn dominates_with(form: &PreparedForm<'_>, duals: &[f64], part: f64) -> Result<bool, Rejected> {
    let (kept, n) = (form.kept(), duals.len());
    // 4^half ≤ d < 4^(half + 1): `half` lies in −537..=511, so that 2^±half are normal numbers.
    let halves: Vec<i32> = duals.iter().map(|&d| exponent(d).div_euclid(2)).collect();
    let scale: Vec<f64> = halves.iter().map(|&half| power_of_two(-half)).collect();
    // The larger factor first: the product then underflows only where the result does.
    let scaled = |value: f64, i: usize, j: usize| {
        let (a, b) = (scale[i], scale[j]);
        if a > b { value * a * b } else { value * b * a }
    };
    let mut diagonal: Vec<f64> =
        (0..n).map(|i| sub_down(scaled(duals[i], i, i), scaled(form.diagonal(i), i, i))).collect();
    if let Some(payments) = form.reduction.payments() {
        // A product of powers of two and a payment may lose bits below the least number: the next one is no smaller.
        let paid = |i: usize| mul_up(mul_up(payments[i], scale[i]), scale[i]);
        diagonal.iter_mut().enumerate().for_each(|(i, z)| *z = sub_down(*z, paid(i)));
    }
    let perturbation = form.error.as_ref().map_or(0.0, |error| {
        sum_up(error.iter().enumerate().map(|(i, &e)| mul_up(mul_up(e, scale[i]), scale[i])))
    });
    if form.is_diagonal() {
        return Ok(diagonal.iter().all(|&z| z >= perturbation)); // E ⪰ −‖E‖₂·I
    }
    match form.stored() {
        Quadratic::Sparse { .. } => {
            let order = form.order();
            let rows = form.ordered_rows(&order, |value, i, j| -scaled(value, i, j));
            let structure = rows.structure(order.dense, form.stop)?;
            // In the order of elimination, which is another order of the same sum.
            let ordered: Vec<f64> = order.order.iter().map(|&i| diagonal[i as usize]).collect();
            let Some(ordered) = lowered_diagonal(&ordered, |k| structure.products[k], perturbation, part)
            else {
                return Ok(false);
            };
            rows.factorises(&structure, &ordered, form.threads, form.stop)
        }
        Quadratic::Dense { entries, dim } => {
            let Some(diagonal) = lowered_diagonal(&diagonal, |j| j, perturbation, part) else {
                return Ok(false);
            };
            let threads = worthwhile(form.threads, n * n * n);
            LowerTriangle::read(n, threads, &|j, first, out| {
                // Symmetric, so the column is read as a row: contiguous in memory.
                let row = &entries[kept[j] * dim..][..dim];
                for (i, entry) in (first..).zip(out.iter_mut()) {
                    *entry = if i == j { diagonal[j] } else { -scaled(row[kept[i]], i, j) };
                }
            })
            .factorises(form.stop)
        }
        Quadratic::Gram { .. } => unreachable!("a factor is multiplied out"),
    }
}
