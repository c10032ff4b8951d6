//! M·V at half the cost: a copy of the matrix in single precision, for the steps of a solver between exact ones.
//!
//! Such a product is off by about 10⁻⁷ of its size. Solvers use it on *differences* from a point whose product they
//! know in double precision, M·V = M·V₀ + M·(V − V₀): the error is 10⁻⁷ of the distance from that point, and vanishes
//! as they converge.

use crate::linalg::operator::Operator;
use crate::linalg::products::{rows_times, rows_times_blocked, transpose};
use gambeson_checker::Quadratic;
use rayon::prelude::*;

/// The entries of a dense form or of a Gram factor in single precision, brought to size one.
pub(crate) struct SinglePrecision {
    entries: Vec<f32>,
    /// Rank of the Gram factor; None where the entries are those of the form itself.
    rank: Option<usize>,
    /// A power of two: the form is `scale` times that of the entries.
    scale: f64,
    /// The diagonal to subtract again, where the operator leaves it out.
    left_out: Option<Vec<f64>>,
}

impl SinglePrecision {
    /// None for forms that gain nothing by it: sparse products wait for indices, not for numbers, and a product that the
    /// caller computes has no entries to copy.
    pub(crate) fn new(operator: &Operator<'_>) -> Option<Self> {
        let (exact, rank) = match operator.matrix()? {
            Quadratic::Dense { entries, .. } => (entries, None),
            Quadratic::Gram { factor, rank, .. } => (factor, Some(rank)),
            Quadratic::Sparse { .. } => return None,
        };
        let scale = power_of_two_above(exact);
        let entries = single(exact, 1.0 / scale);
        let left_out = operator.left_out().map(<[f64]>::to_vec);
        Some(Self { entries, rank, scale: if rank.is_some() { scale * scale } else { scale }, left_out })
    }

    /// `product` ← `product` + M·V for an n × `columns` matrix V, in single precision.
    pub(crate) fn add_block(&self, v: &[f64], columns: usize, product: &mut [f64]) {
        let size = power_of_two_above(v);
        let small = single(v, 1.0 / size);
        let dim = v.len() / columns;
        let block = match self.rank {
            None => rows_times(&self.entries, dim, &small, columns),
            Some(rank) => {
                let transposed = transpose(&small, dim, columns);
                let coefficients =
                    transpose(&rows_times_blocked(&transposed, dim, &self.entries, rank), columns, rank);
                rows_times(&self.entries, rank, &coefficients, columns)
            }
        };
        let factor = self.scale * size;
        product
            .par_iter_mut()
            .zip(block)
            .with_min_len(1 << 14)
            .for_each(|(sum, x)| *sum += factor * f64::from(x));
        if let Some(left_out) = &self.left_out {
            for ((sum, v), entry) in
                product.chunks_exact_mut(columns).zip(v.chunks_exact(columns)).zip(left_out)
            {
                sum.iter_mut().zip(v).for_each(|(sum, v)| *sum -= entry * v);
            }
        }
    }
}

/// The values times `factor`, in single precision; what would be subnormal there, and slow, is zero.
fn single(values: &[f64], factor: f64) -> Vec<f32> {
    #[allow(clippy::cast_possible_truncation)] // on purpose
    let rounded = |x: f64| if x.abs() < f64::from(f32::MIN_POSITIVE) { 0.0 } else { x as f32 };
    values.par_iter().with_min_len(1 << 14).map(|x| rounded(x * factor)).collect()
}

/// A power of two not below any |value|, so that dividing by it is exact; one for zeros.
fn power_of_two_above(values: &[f64]) -> f64 {
    let largest = values
        .par_chunks(1 << 14)
        .map(|part| part.iter().fold(0.0_f64, |m, x| m.max(x.abs())))
        .reduce(|| 0.0, f64::max);
    // The exponent by bits: logarithms may round to the wrong side.
    if largest.is_normal() && largest < 1e300 {
        2.0 * f64::from_bits(largest.to_bits() & (0x7ff << 52))
    } else {
        1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gambeson_checker::Domain;

    #[test]
    fn products_are_right_to_single_precision() {
        let (n, k, rank) = (70, 8, 5);
        let entry = |i: usize, j: usize| 1e-20 * (((i * 7 + j) * (j * 7 + i)) % 13) as f64 - 4e-20;
        let dense: Vec<f64> = (0..n * n).map(|at| entry(at / n, at % n)).collect();
        let factor: Vec<f64> = (0..n * rank).map(|at| entry(at / rank, at % rank)).collect();
        let v: Vec<f64> = (0..n * k).map(|at| 1e9 * ((at % 17) as f64 - 8.0)).collect();
        for matrix in
            [Quadratic::Dense { entries: &dense, dim: n }, Quadratic::Gram { factor: &factor, dim: n, rank }]
        {
            for domain in [Domain::Cube, Domain::Vertices] {
                let operator = Operator::new(matrix, domain);
                let exact = operator.apply_block(&v, k);
                let mut found = exact.clone();
                SinglePrecision::new(&operator).expect("it has entries").add_block(&v, k, &mut found);
                let size = exact.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
                assert!(size > 0.0);
                for (found, exact) in found.iter().zip(&exact) {
                    assert!((found - 2.0 * exact).abs() <= 1e-5 * size, "{found} against twice {exact}");
                }
            }
        }
    }
}
