//! What a certificate proves: the search for a scale, around the proofs of the checker.
//!
//! **Problem.** A certificate without a shift says that some multiple s·y of its weights dominates the matrix. Find a
//! small s that the checker proves.
//!
//! **Method.** Lanczos' method estimates the largest eigenvalue λ of Diag(y)^−½·M·Diag(y)^−½. A Ritz value lies below the
//! eigenvalue, on the unsafe side, so it only says where a proof is worth attempting: at λ·(1 + margin), the margin
//! growing until the factorisation of the checker runs to completion.
//!
//! **Guarantee.** None of its own: every number returned was proven by the checker. The matrix is validated, reduced and
//! multiplied out once per search, not once per trial. Results do not depend on the number of threads.

use crate::linalg::kernel::{Isa, dot};
use crate::linalg::lanczos::{EigenvalueEstimate, largest_eigenvalue};
use crate::sdp::plan::{DroppedEntries, ProofPlan};
use gambeson_checker::{
    Certificate, CheckError, InfToOneBound, PreparedBasis, PreparedFactor, PreparedForm, Quadratic,
    QuadraticBound, Rejected, SpectralBound, WeightedGram, triangle_bound,
};
use rayon::prelude::*;

/// u = 2⁻⁵³, the relative error of one operation.
const UNIT: f64 = f64::EPSILON / 2.0;
/// Factor between two margins tried.
const WIDEN: f64 = 6.0;

/// What the certificate proves about the matrix: an upper bound on xᵀMx over its domain.
///
/// Without a shift the bound is (Σ y)·λ with λ the largest eigenvalue of Diag(y)^−½·M·Diag(y)^−½ up to the margin the
/// proof needs. With a shift t it is Σ (y + t), except for factors with no more columns than rows, where y + t is scaled
/// in the same way (and `verify` of the checker takes it as it stands). Uses up to `threads` threads; the result does not
/// depend on their number.
pub fn check(
    matrix: Quadratic<'_>,
    certificate: &Certificate,
    threads: usize,
) -> Result<QuadraticBound, CheckError> {
    check_as_planned(matrix, certificate, &ProofPlan::default(), threads, &|| false)
}

/// The same, by a plan of its own: what is paid for, and in which order rows are eliminated. `stop` is asked now and then.
pub fn check_as_planned(
    matrix: Quadratic<'_>,
    certificate: &Certificate,
    plan: &ProofPlan,
    threads: usize,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<QuadraticBound, CheckError> {
    if let (Quadratic::Gram { factor, dim, rank }, DroppedEntries::All) = (matrix, &plan.paid) {
        certificate.duals(dim, &[])?; // none of the weights is needed, but their number is part of what was said
        return triangle_bound(factor, dim, rank, threads);
    }
    if let Quadratic::Gram { factor, dim, rank } = matrix
        && rank <= dim
    {
        let prepared = PreparedFactor::new(factor, dim, rank, certificate, threads)?.stopped_by(stop);
        return Ok(least_of_gram(prepared.gram(), threads, |scale| prepared.bound(scale))?);
    }
    let mut form = PreparedForm::without(matrix, certificate.domain, &plan.paid, threads)?.stopped_by(stop);
    if let Some(order) = &plan.order {
        form = form.ordered(order.clone())?;
    }
    let weights = certificate.duals(matrix.dim(), form.kept())?;
    if weights.is_empty() || certificate.shift.is_some() {
        return Ok(form.bound(&weights)?);
    }
    Ok(least_of_form(&form, &weights, threads)?)
}

/// What a certificate proves about ‖A‖_{∞→1}, for A the upper right block of the dilation [0 A; Aᵀ 0], whose first
/// diagonal block has `rows` rows. That the diagonal blocks are zero is checked.
pub fn check_dilation(
    dilated: Quadratic<'_>,
    rows: usize,
    certificate: &Certificate,
    threads: usize,
) -> Result<InfToOneBound, CheckError> {
    let bound = check(dilated, certificate, threads)?;
    Ok(bound.of_dilation(rows)?)
}

/// s with σ_max(U) ≤ s for an n × r matrix given row-major: ‖Uᵀx‖₂ ≤ s·‖x‖₂ for the stored numbers.
pub fn spectral_norm(
    factor: &[f64],
    dim: usize,
    rank: usize,
    threads: usize,
) -> Result<SpectralBound, CheckError> {
    let basis = PreparedBasis::new(factor, dim, rank, threads)?;
    Ok(least_of_gram(basis.gram(), threads, |square| basis.bound(square))?)
}

/// The least bound found by multiples of the weights, one weight per kept row.
fn least_of_form(
    form: &PreparedForm<'_>,
    weights: &[f64],
    threads: usize,
) -> Result<QuadraticBound, Rejected> {
    let n = weights.len();
    let resized = resized(form, weights);
    let weights = resized.as_deref().unwrap_or(weights);
    let roots: Vec<f64> = weights.iter().map(|y| y.sqrt()).collect();
    let estimate = largest_eigenvalue(n, |x, y| {
        let divided: Vec<f64> = x.iter().zip(&roots).map(|(x, root)| x / root).collect();
        multiply(form, &divided, y, threads);
        y.iter_mut().zip(&roots).for_each(|(y, root)| *y /= root);
    });
    // The diagonal lies between d and 4d after scaling, so the margin of the proof is at most four times this.
    let resolution = 2.0 * n as f64 * n as f64 * UNIT;
    search(&estimate, resolution, |scale| {
        let duals: Vec<f64> = weights.iter().map(|y| y * scale).collect();
        let usable = duals.iter().all(|&d| d >= f64::MIN_POSITIVE && d.is_finite());
        if usable { form.bound(&duals) } else { Err(Rejected::NotDominating) }
    })
}

/// The weights times a power of four: any multiple says the same, and one of the size of the matrix keeps the estimate
/// within range. None where weights are so far apart that some would lose digits.
fn resized(form: &PreparedForm<'_>, weights: &[f64]) -> Option<Vec<f64>> {
    let entries = match form.stored() {
        Quadratic::Dense { entries, .. } | Quadratic::Gram { factor: entries, .. } => entries,
        Quadratic::Sparse { values, .. } => values,
    };
    let largest_entry = entries.iter().fold(f64::MIN_POSITIVE, |most, entry| most.max(entry.abs()));
    let largest = weights.iter().fold(f64::MIN_POSITIVE, |most, &y| most.max(y));
    let half = (exponent(largest_entry) - exponent(largest)).div_euclid(2);
    let factor = 2f64.powi(half.clamp(-1000, 1000)); // applied twice, so that it is in range itself
    let resized: Vec<f64> = weights.iter().map(|y| y * factor * factor).collect();
    let exact = |(&y, &r): (&f64, &f64)| r >= f64::MIN_POSITIVE && r.is_finite() && r / factor / factor == y;
    weights.iter().zip(&resized).all(exact).then_some(resized)
}

/// ⌊log₂ x⌋ of a normal number.
fn exponent(x: f64) -> i32 {
    #[allow(clippy::cast_possible_truncation)] // eleven bits
    let biased = (x.to_bits() >> 52) as i32;
    biased - 1023
}

/// y ← M·x on the kept rows, in plain arithmetic. Every entry is a sum of its own.
fn multiply(form: &PreparedForm<'_>, x: &[f64], y: &mut [f64], threads: usize) {
    const BLOCK: usize = 128;
    let (kept, matrix, isa) = (form.kept(), form.stored(), Isa::detect());
    let mut full = vec![0.0; matrix.dim()];
    kept.iter().zip(x).for_each(|(&i, &value)| full[i] = value);
    let full = &full;
    match matrix {
        Quadratic::Dense { entries, dim } => {
            in_blocks(y, BLOCK, worthwhile(threads, dim * dim), |k| {
                let i = kept[k];
                let row = &entries[i * dim..][..dim];
                // A large diagonal taken off afterwards would take the rest with it.
                if form.has_diagonal() {
                    dot(isa, row, full)
                } else {
                    dot(isa, &row[..i], &full[..i]) + dot(isa, &row[i + 1..], &full[i + 1..])
                }
            });
        }
        Quadratic::Sparse { offsets, indices, values, .. } => {
            in_blocks(y, BLOCK, false, |k| {
                let i = kept[k];
                let term = |at: usize| match indices[at] {
                    j if j == i && !form.has_diagonal() => 0.0,
                    j => values[at] * full[j],
                };
                (offsets[i]..offsets[i + 1]).map(term).sum()
            });
        }
        Quadratic::Gram { .. } => unreachable!("a prepared form is multiplied out"),
    }
}

/// Fills in `y[k]` for every k, in parallel where asked.
fn in_blocks(y: &mut [f64], block: usize, parallel: bool, entry: impl Fn(usize) -> f64 + Sync) {
    let fill = |(b, y): (usize, &mut [f64])| y.iter_mut().zip(b * block..).for_each(|(y, k)| *y = entry(k));
    if parallel {
        y.par_chunks_mut(block).enumerate().for_each(fill);
    } else {
        y.chunks_mut(block).enumerate().for_each(fill);
    }
}

/// Whether to share out so many operations.
fn worthwhile(threads: usize, operations: usize) -> bool {
    threads > 1 && operations >= 4_000_000
}

/// The least bound found by scales of the r × r form.
fn least_of_gram<T>(
    gram: &WeightedGram,
    threads: usize,
    mut proves: impl FnMut(f64) -> Result<T, Rejected>,
) -> Result<T, Rejected> {
    let (rank, entries, isa) = (gram.rank(), gram.entries(), Isa::detect());
    if gram.is_zero() {
        return proves(0.0);
    }
    let estimate = largest_eigenvalue(rank, |x, y| {
        in_blocks(y, 64, worthwhile(threads, rank * rank), |a| dot(isa, &entries[a * rank..][..rank], x));
    });
    let own = rank as f64 * rank as f64 * UNIT;
    search(&estimate, own + 2.0 * gram.error() / estimate.value, proves)
}

/// What the least scale found proves, starting from the estimate and widening the margin. `resolution` is the relative
/// margin below which a proof cannot succeed for its own rounding errors.
fn search<T>(
    estimate: &EigenvalueEstimate,
    resolution: f64,
    mut proves: impl FnMut(f64) -> Result<T, Rejected>,
) -> Result<T, Rejected> {
    if !(estimate.value > 0.0 && estimate.value.is_finite()) {
        return Err(Rejected::NothingProven);
    }
    let mut margin = (2.0 * resolution).max(0.5 * estimate.uncertainty).max(1e-12);
    let mut failed = None;
    let proven = loop {
        match proves(estimate.value * (1.0 + margin)) {
            Err(Rejected::NotDominating) => failed = Some(margin),
            proven => break proven,
        }
        margin *= WIDEN;
        if margin > 1e9 {
            return Err(Rejected::NothingProven);
        }
    };
    // Between the last failure and the first success lies a factor `WIDEN`: halve it where it shows.
    let Some(failed) = failed.filter(|_| margin > 1e-8 && proven.is_ok()) else { return proven };
    proves(estimate.value * (1.0 + (failed * margin).sqrt())).or(proven)
}
