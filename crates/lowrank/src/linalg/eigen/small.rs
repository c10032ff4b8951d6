//! All eigenpairs of a small dense symmetric matrix: Householder tridiagonalisation and implicit QL.
//!
//! **Reference.** The procedures tred2 and tql2 of Bowdler, Martin, Reinsch and Wilkinson (Handbook for Automatic
//! Computation II, 1971). **Guarantee.** Backward stable; nothing proven depends on it.

/// Entries up to here count as zero: the squares of smaller ones lose precision or vanish.
const NEGLIGIBLE: f64 = 1e-140;

/// Eigenvalues, decreasing, and their unit vectors. `matrix` is row-major k × k and about one in size; its lower
/// triangle is read.
pub(super) fn eigenpairs(mut matrix: Vec<f64>, k: usize) -> (Vec<f64>, Vec<Vec<f64>>) {
    for a in 0..k {
        for b in 0..a {
            matrix[b * k + a] = matrix[a * k + b];
        }
    }
    let (mut diagonal, mut beside, mut vectors) = tridiagonalise(matrix, k);
    implicit_ql(&mut diagonal, &mut beside, &mut vectors, k);
    let mut order: Vec<usize> = (0..k).collect();
    order.sort_by(|&a, &b| diagonal[b].total_cmp(&diagonal[a]));
    let values = order.iter().map(|&a| diagonal[a]).collect();
    (values, order.iter().map(|&a| vectors[a * k..][..k].to_vec()).collect())
}

/// Reflections from both sides: (diagonal, entries beside it, rows of the accumulated orthogonal matrix Qᵀ) with
/// QᵀAQ tridiagonal; `beside[a]` couples a and a + 1.
fn tridiagonalise(mut matrix: Vec<f64>, k: usize) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let mut vectors = vec![0.0; k * k]; // row a: the a-th column of Q
    (0..k).for_each(|a| vectors[a * k + a] = 1.0);
    for step in 0..k.saturating_sub(2) {
        // Reflect column `step` below the diagonal onto its first entry.
        let mut normal: Vec<f64> = (step + 1..k).map(|a| matrix[a * k + step]).collect();
        let length = normal.iter().map(|x| x * x).sum::<f64>().sqrt();
        let tail = normal[1..].iter().map(|x| x.abs()).fold(0.0, f64::max);
        if tail <= NEGLIGIBLE {
            continue; // what stays there is not read again
        }
        normal[0] += length.copysign(normal[0]);
        let square: f64 = normal.iter().map(|x| x * x).sum();
        let reflect = |entries: &mut [f64]| {
            let overlap: f64 = entries.iter().zip(&normal).map(|(x, u)| x * u).sum();
            let factor = 2.0 * overlap / square;
            entries.iter_mut().zip(&normal).for_each(|(x, u)| *x -= factor * u);
        };
        for a in step..k {
            reflect(&mut matrix[a * k + step + 1..(a + 1) * k]); // from the right
        }
        transpose_block(&mut matrix, k, step);
        for a in step..k {
            reflect(&mut matrix[a * k + step + 1..(a + 1) * k]); // from the left
        }
        // Columns of Q are rows here: Q ← Q·H mixes the rows step + 1.. of `vectors`.
        let mut sums = vec![0.0; k];
        for (row, u) in vectors[(step + 1) * k..].chunks_exact(k).zip(&normal) {
            sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += u * x);
        }
        for (row, u) in vectors[(step + 1) * k..].chunks_exact_mut(k).zip(&normal) {
            row.iter_mut().zip(&sums).for_each(|(x, sum)| *x -= 2.0 * u / square * sum);
        }
    }
    let diagonal = (0..k).map(|a| matrix[a * k + a]).collect();
    let beside = (1..k).map(|a| matrix[a * k + a - 1]).collect();
    (diagonal, beside, vectors)
}

/// Transposes the trailing block that starts at (from, from).
fn transpose_block(matrix: &mut [f64], k: usize, from: usize) {
    for a in from..k {
        for b in from..a {
            matrix.swap(a * k + b, b * k + a);
        }
    }
}

/// QL iterations with Wilkinson shifts; rotates the rows of `vectors` along. Values come unsorted.
pub(super) fn implicit_ql(diagonal: &mut [f64], beside: &mut Vec<f64>, vectors: &mut [f64], k: usize) {
    beside.push(0.0);
    for start in 0..k {
        for _ in 0..60 {
            let small =
                |m: usize| beside[m].abs() <= f64::EPSILON * (diagonal[m].abs() + diagonal[m + 1].abs());
            let end = (start..k - 1).find(|&m| small(m)).unwrap_or(k - 1);
            if end == start {
                break;
            }
            let half = (diagonal[start + 1] - diagonal[start]) / (2.0 * beside[start]);
            let mut shift =
                diagonal[end] - diagonal[start] + beside[start] / (half + half.hypot(1.0).copysign(half));
            let (mut sine, mut cosine, mut carried) = (1.0, 1.0, 0.0);
            let mut split = false;
            for m in (start..end).rev() {
                let (f, b) = (sine * beside[m], cosine * beside[m]);
                let length = f.hypot(shift);
                beside[m + 1] = length;
                if length == 0.0 {
                    // The matrix falls apart here: start over on the smaller block.
                    diagonal[m + 1] -= carried;
                    beside[end] = 0.0;
                    split = true;
                    break;
                }
                (sine, cosine) = (f / length, shift / length);
                let before = diagonal[m + 1] - carried;
                let both = (diagonal[m] - before) * sine + 2.0 * cosine * b;
                carried = sine * both;
                diagonal[m + 1] = before + carried;
                shift = cosine * both - b;
                let (lower, upper) = vectors.split_at_mut((m + 1) * k);
                for (x, y) in lower[m * k..].iter_mut().zip(&mut upper[..k]) {
                    (*x, *y) = (cosine * *x - sine * *y, sine * *x + cosine * *y);
                }
            }
            if !split {
                diagonal[start] -= carried;
                beside[start] = shift;
                beside[end] = 0.0;
            }
        }
    }
}
