//! The random instances of appendix E, the same bits for a seed on every machine with FMA.

use crate::linalg::matrix::{DenseMatrix, MatrixError, zeros};
use crate::memory::MemoryLimit;
use gambeson_checker::kernel::self_product::{DEPTH, Panels, mirror_lower};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// Normal numbers of one row, or of one block of a row.
fn fill_normal(seed: u64, stream: u64, out: &mut [f64]) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(stream);
    out.iter_mut().for_each(|out| *out = StandardNormal.sample(&mut rng));
}

/// M = AAᵀ/tr(AAᵀ), A n × n with standard normal entries: positive semidefinite with trace 1.
/// A is never stored: it is drawn [`DEPTH`] columns at a time. A matrix beyond `memory` is refused.
pub fn positive_semidefinite(
    n: usize,
    seed: u64,
    memory: MemoryLimit,
    threads: usize,
) -> Result<DenseMatrix, MatrixError> {
    let mut entries = zeros(n, n, memory)?;
    for (block, start) in (0..n).step_by(DEPTH).enumerate() {
        let depth = DEPTH.min(n - start);
        let stream = |i: usize| ((block as u64) << 32) | i as u64;
        Panels::pack(n, depth, threads, |i, out| fill_normal(seed, stream(i), out))
            .add_self_product(&mut entries, threads);
    }
    let trace: f64 = (0..n).map(|i| entries[i * n + i]).sum();
    entries.iter_mut().for_each(|entry| *entry /= trace);
    mirror_lower(&mut entries, n);
    Ok(DenseMatrix { rows: n, columns: n, entries })
}

/// Symmetric with standard normal entries, the diagonal replaced by its absolute value. A matrix beyond `memory` is refused.
pub fn quadratic_program(n: usize, seed: u64, memory: MemoryLimit) -> Result<DenseMatrix, MatrixError> {
    let mut entries = zeros(n, n, memory)?;
    for (i, row) in entries.chunks_exact_mut(n.max(1)).enumerate() {
        fill_normal(seed, i as u64, &mut row[..=i]);
        row[i] = row[i].abs();
    }
    mirror_lower(&mut entries, n);
    Ok(DenseMatrix { rows: n, columns: n, entries })
}
