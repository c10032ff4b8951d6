//! Orthonormal bases from spanning vectors.

use crate::linalg::matrix::DenseMatrix;

/// A vector whose rest is this much shorter than itself lies in the span of those before it.
const DEPENDENT: f64 = 1e-9;

/// An orthonormal basis, n × r, of the span of the vectors: each is freed from those before it, twice (Gram–Schmidt,
/// "twice is enough"), and left out where nothing is left of it. None where nothing is left at all.
pub(crate) fn orthonormal_basis<'a>(
    n: usize,
    vectors: impl IntoIterator<Item = &'a [f64]>,
) -> Option<DenseMatrix> {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for vector in vectors {
        let mut rest = vector.to_vec();
        let length = norm(&rest);
        if !(length > 0.0) {
            continue;
        }
        for _ in 0..2 {
            for unit in &basis {
                let overlap: f64 = unit.iter().zip(&rest).map(|(u, x)| u * x).sum();
                if overlap != 0.0 {
                    rest.iter_mut().zip(unit).for_each(|(x, u)| *x -= overlap * u);
                }
            }
        }
        let left = norm(&rest);
        if left > DEPENDENT * length {
            rest.iter_mut().for_each(|x| *x /= left);
            basis.push(rest);
        }
    }
    (!basis.is_empty()).then(|| DenseMatrix {
        rows: n,
        columns: basis.len(),
        entries: (0..n).flat_map(|i| basis.iter().map(move |unit| unit[i])).collect(),
    })
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}
