//! Eigenvalues alone of a symmetric tridiagonal matrix: QL iterations on squares.
//!
//! **Reference.** The root-free variant of Pal, Walker and Kahan (Parlett, *The symmetric eigenvalue problem*, section
//! 8.15; LAPACK's dsterf). **Guarantee.** Backward stable relative to the norm of the matrix.

/// Iterations for one eigenvalue at most; two suffice as a rule.
const ITERATIONS: usize = 60;

/// Eigenvalues, decreasing. `beside[a]` couples a and a + 1; the matrix is about one in size and not empty.
pub(super) fn eigenvalues(mut diagonal: Vec<f64>, beside: &[f64]) -> Vec<f64> {
    let n = diagonal.len();
    let mut squares: Vec<f64> = beside.iter().map(|x| x * x).collect();
    let largest = diagonal.iter().chain(beside).fold(0.0_f64, |m, x| m.max(x.abs()));
    // Where the diagonal vanishes, couplings need not vanish beside it but beside the matrix.
    let negligible = (1e-3 * f64::EPSILON * largest).powi(2);
    for start in 0..n {
        for _ in 0..ITERATIONS {
            let small = |m: usize| {
                let relative = f64::EPSILON * f64::EPSILON * (diagonal[m] * diagonal[m + 1]).abs();
                squares[m] <= relative.max(negligible)
            };
            let end = (start..n - 1).find(|&m| small(m)).unwrap_or(n - 1);
            if end == start {
                break;
            }
            let coupling = squares[start].sqrt();
            let half = (diagonal[start + 1] - diagonal[start]) / (2.0 * coupling);
            let shift = diagonal[start] - coupling / (half + half.hypot(1.0).copysign(half));
            let (mut cosine, mut sine) = (1.0, 0.0);
            let mut gamma = diagonal[end] - shift;
            let mut square = gamma * gamma;
            for m in (start..end).rev() {
                let beside = squares[m];
                let length = square + beside;
                if m + 1 < end {
                    squares[m + 1] = sine * length;
                }
                let before = cosine;
                (cosine, sine) = (square / length, beside / length);
                let (old, here) = (gamma, diagonal[m]);
                gamma = cosine * (here - shift) - sine * old;
                diagonal[m + 1] = old + (here - gamma);
                square = if cosine == 0.0 { before * beside } else { gamma * gamma / cosine };
            }
            squares[start] = sine * square;
            diagonal[start] = shift + gamma;
        }
    }
    diagonal.sort_by(|a, b| b.total_cmp(a));
    diagonal
}
