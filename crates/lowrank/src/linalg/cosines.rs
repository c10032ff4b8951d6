//! The orthonormal cosine transform (DCT-II) along one side: C·x, Cᵀ·u, and the matrix C itself.
//!
//! **Definition.** C_ki = s_k·cos(πk(2i + 1)/2n) with s_0 = √(1/n) and s_k = √(2/n) otherwise.
//!
//! **Method.** By the definition, from a table of one turn. Angles are reduced to [0, π/4] in integers before a cosine
//! or sine is taken, so an entry is off by a few units in its last place, whatever n is. Row k is even or odd about the
//! middle as k is, so a vector is folded there first, which halves the work.
//!
//! **Why no fast transform.** One vector takes n²/2 steps, a millisecond at n = 1200, and is rarely wanted; second
//! moments, n vectors at once, go through the products of matrices that everything else uses. A library of fast
//! transforms would be most of what this crate takes to compile.

use std::f64::consts::PI;

/// The transform of n values.
#[derive(Clone)]
pub(crate) struct Cosines {
    n: usize,
    /// cos(πm/2n) for m < 4n, one turn.
    turn: Vec<f64>,
}

impl Cosines {
    /// For n values; 4n must not overflow.
    pub(crate) fn new(n: usize) -> Self {
        Self { n, turn: (0..4 * n).map(|m| cosine(m, n)).collect() }
    }

    /// s_k.
    fn scale(&self, k: usize) -> f64 {
        (if k == 0 { 1.0 } else { 2.0 } / self.n as f64).sqrt()
    }

    /// cos(πk(2i + 1)/2n) for i = 0, 1, …
    fn row(&self, k: usize) -> impl Iterator<Item = f64> {
        let mut angle = k;
        std::iter::repeat_with(move || {
            let cosine = self.turn[angle];
            angle += 2 * k;
            angle -= if angle < self.turn.len() { 0 } else { self.turn.len() };
            cosine
        })
    }

    /// x ← C·x, for n values.
    pub(crate) fn forward(&self, x: &mut [f64]) {
        let (half, middle) = (self.n / 2, self.n.div_ceil(2));
        let mirrored = |i: usize| x[self.n - 1 - i];
        let mut sums: Vec<f64> = (0..half).map(|i| x[i] + mirrored(i)).collect();
        sums.extend(&x[half..middle]);
        let differences: Vec<f64> = (0..half).map(|i| x[i] - mirrored(i)).collect();
        for (k, out) in x.iter_mut().enumerate() {
            let folded = if k.is_multiple_of(2) { &sums } else { &differences };
            *out = self.scale(k) * folded.iter().zip(self.row(k)).map(|(x, cosine)| x * cosine).sum::<f64>();
        }
    }

    /// u ← Cᵀ·u, for n coordinates. Those that are zero cost nothing.
    pub(crate) fn inverse(&self, u: &mut [f64]) {
        let (half, middle) = (self.n / 2, self.n.div_ceil(2));
        let (mut even, mut odd) = (vec![0.0; middle], vec![0.0; middle]);
        for (k, &u) in u.iter().enumerate().filter(|(_, u)| **u != 0.0) {
            let sums = if k.is_multiple_of(2) { &mut even } else { &mut odd };
            let factor = self.scale(k) * u;
            sums.iter_mut().zip(self.row(k)).for_each(|(sum, cosine)| *sum += factor * cosine);
        }
        (0..middle).for_each(|i| u[i] = even[i] + odd[i]);
        (0..half).for_each(|i| u[self.n - 1 - i] = even[i] - odd[i]);
    }

    /// C, n × n, row-major: coordinate by value.
    pub(crate) fn matrix(&self) -> Vec<f64> {
        let row = |k: usize| self.row(k).take(self.n).map(move |cosine| self.scale(k) * cosine);
        (0..self.n).flat_map(row).collect()
    }
}

/// cos(πm/2n) for m < 4n.
fn cosine(m: usize, n: usize) -> f64 {
    // Even about a half turn, odd about a quarter.
    let m = if m > 2 * n { 4 * n - m } else { m };
    if m > n { -first_quarter(2 * n - m, n) } else { first_quarter(m, n) }
}

/// cos(πm/2n) for m ≤ n.
fn first_quarter(m: usize, n: usize) -> f64 {
    let angle = |p: usize| PI * p as f64 / (2 * n) as f64;
    if 2 * m <= n { angle(m).cos() } else { angle(n - m).sin() }
}
