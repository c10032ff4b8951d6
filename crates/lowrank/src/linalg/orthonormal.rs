//! Gram and Schmidt's method: the step that everything here uses, and bases from spanning vectors.

use crate::linalg::matrix::DenseMatrix;

/// A vector whose rest is this much shorter than itself lies in the span of those before it.
const DEPENDENT: f64 = 1e-9;

/// One pass of the modified method: takes from `vector` its part along each of `units`, one after the other.
///
/// The units are orthonormal in the inner product `inner`, which is called with a unit and the vector as it then is.
/// `also` gets the index of each unit and the overlap taken out, to do the same elsewhere. One pass leaves rounding
/// errors along the units wherever much is taken out; a second removes them ("twice is enough").
pub(crate) fn take_out<'a>(
    vector: &mut [f64],
    units: impl IntoIterator<Item = &'a [f64]>,
    inner: impl Fn(&[f64], &[f64]) -> f64,
    mut also: impl FnMut(usize, f64),
) {
    for (at, unit) in units.into_iter().enumerate() {
        let overlap = inner(unit, vector);
        if overlap != 0.0 {
            vector.iter_mut().zip(unit).for_each(|(x, u)| *x -= overlap * u);
            also(at, overlap);
        }
    }
}

/// An orthonormal basis, n × r, of the span of the vectors, each of n entries: the part along those before it is taken
/// out of each, twice, and a vector of which nothing is left is skipped. None where nothing is left at all.
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
            take_out(&mut rest, basis.iter().map(Vec::as_slice), sum_of_products, |_, _| ());
        }
        let left = norm(&rest);
        if left > DEPENDENT * length {
            rest.iter_mut().for_each(|x| *x /= left);
            basis.push(rest);
        }
    }
    (!basis.is_empty()).then(|| DenseMatrix::from_columns(n, &basis))
}

/// a·b, added up in order: the same bits on every machine.
pub(crate) fn sum_of_products(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(x: &[f64]) -> f64 {
    sum_of_products(x, x).sqrt()
}
