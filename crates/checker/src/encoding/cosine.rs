//! The orthonormal cosine transform with a proven error.
//!
//! # Problem
//! A projection may work on u = Ox, the cosine transform (DCT-II) of the values x of an image or a frame: in one
//! dimension u_k = s_k·Σ_i x_i·cos(πk(2i + 1)/2n) with s_0 = √(1/n), s_k = √(2/n). A fast transform comes with no bound
//! on its errors; this one, computed from the definition, does. It is done once per input, for thousands of draws.
//!
//! # Guarantee
//! In units of u = 2⁻⁵³:
//! * **A cosine** is within 60u of the true one. Angles are reduced to [0, π/4] in integers; there fl(πp/q) is within
//!   3u of t. The polynomials leave out less than 10⁻²⁰, and Horner's scheme of degree 9 in fl(t²), with coefficients
//!   rounded once, errs by at most γ₃₀·cosh(π/4) < 40u (Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd
//!   ed., section 5.1).
//! * **A coefficient**: |ũ_k − u_k| ≤ s_k·(γ_n + 70u)·|x|₁ + underflow: a sum of n products in any order (section 3.1
//!   there), the errors of the cosines, and less than 3u for s_k and the product with it.
//! * **All n**: Σ s_k² < 2, so |ũ − u|₂ ≤ √2·(γ_n + 70u)·|x|₁ + underflow.
//! * **Rows, then columns**: the second transform is orthogonal, so it keeps the length of the first one's error and
//!   adds its own.
//! * **Every x of a length**: |x|₁ ≤ √n·|x|₂ for each line, and the squares of the lines' lengths add up, so transforming
//!   all lines of n values errs by at most √2·(γ_n + 70u)·√n·|x|₂ + √lines·underflow.

use crate::encoding::product::{Coordinates, encoding_error_of_blocks};
use crate::rounding::{UNDERFLOW, UNIT, above, add_up, ensure_ieee, gamma, mul_up, root_above, sum_up};
use crate::{CheckError, MatrixProblem, Rejected};

/// The transform of `height` × `width` values, along rows and then columns; of a frame with `height` 1, along it.
#[derive(Clone, Debug)]
pub struct CosineTransform {
    along_rows: LineTransform,
    along_columns: LineTransform,
}

/// The transform of n values in one dimension.
#[derive(Clone, Debug)]
struct LineTransform {
    /// cos(πm/2n) for m < 4n, one turn.
    cosines: Vec<f64>,
    n: usize,
}

impl CosineTransform {
    /// For a grid of `height` × `width` values; an error where that is empty.
    pub fn new(height: usize, width: usize) -> Result<Self, CheckError> {
        if height == 0 || width == 0 || height.max(width).checked_mul(4).is_none() {
            return Err(MatrixProblem::Empty.into());
        }
        Ok(Self { along_rows: LineTransform::new(width), along_columns: LineTransform::new(height) })
    }

    /// Ox for values x, row after row, in the order of the values.
    pub fn forward(&self, values: &[f64]) -> Result<Coordinates, CheckError> {
        ensure_ieee()?;
        let (height, width) = (self.along_columns.n, self.along_rows.n);
        if Some(values.len()) != height.checked_mul(width) {
            return Err(
                MatrixProblem::WrongLength { rows: height, columns: width, found: values.len() }.into()
            );
        }
        let mut turned = vec![0.0; values.len()];
        let mut errors = Vec::with_capacity(height.max(width));
        let mut out = vec![0.0; width];
        for (i, row) in values.chunks_exact(width).enumerate() {
            errors.push(self.along_rows.forward(row, &mut out));
            out.iter().enumerate().for_each(|(k, value)| turned[k * height + i] = *value);
        }
        let first = encoding_error_of_blocks(errors.drain(..));
        let mut coordinates = vec![0.0; values.len()];
        let mut out = vec![0.0; height];
        for (k, column) in turned.chunks_exact(height).enumerate() {
            errors.push(self.along_columns.forward(column, &mut out));
            out.iter().enumerate().for_each(|(l, value)| coordinates[l * width + k] = *value);
        }
        let error = add_up(first, encoding_error_of_blocks(errors));
        if !(error.is_finite() && coordinates.iter().all(|value| value.is_finite())) {
            return Err(match values.iter().position(|value| !value.is_finite()) {
                Some(at) => MatrixProblem::NotFinite { row: at / width, column: at % width }.into(),
                None => Rejected::TooLarge.into(),
            });
        }
        Ok(Coordinates { values: coordinates, error })
    }

    /// At least the error of [`forward`](Self::forward) for every x with |x|₂ ≤ `length`; infinite where that is not a number
    /// from 0 on.
    pub fn error_within(&self, length: f64) -> f64 {
        if !(length >= 0.0) {
            return f64::INFINITY;
        }
        let (height, width) = (self.along_columns.n, self.along_rows.n);
        let first = self.along_rows.error_within(height, length);
        add_up(first, self.along_columns.error_within(width, add_up(length, first)))
    }
}

impl LineTransform {
    fn new(n: usize) -> Self {
        Self { cosines: (0..4 * n).map(|m| cosine(m, n)).collect(), n }
    }

    /// Fills in ũ and returns the bound on its error.
    fn forward(&self, values: &[f64], out: &mut [f64]) -> f64 {
        if self.n == 1 {
            out.copy_from_slice(values);
            return 0.0; // s₀ = 1 and cos 0 = 1
        }
        let (n, turn) = (self.n as f64, 4 * self.n);
        for (k, out) in out.iter_mut().enumerate() {
            // k(2i + 1) modulo a turn, step by step.
            let (mut angle, step) = (k, 2 * k);
            let mut sum = 0.0;
            for value in values {
                sum += value * self.cosines[angle];
                angle += step;
                angle -= if angle < turn { 0 } else { turn };
            }
            *out = sum * (if k == 0 { 1.0 / n } else { 2.0 / n }).sqrt();
        }
        let length = sum_up(values.iter().map(|value| value.abs()));
        add_up(mul_up(self.relative(), length), self.lost())
    }

    /// √2·(γ_n + 70u).
    fn relative(&self) -> f64 {
        mul_up(above(std::f64::consts::SQRT_2), add_up(gamma(self.n), 70.0 * UNIT))
    }

    /// What underflow may cost one line.
    fn lost(&self) -> f64 {
        let n = self.n as f64;
        mul_up(mul_up(n, n), mul_up(2.0, UNDERFLOW))
    }

    /// The error of `lines` lines of n values each, of length at most `length` together.
    fn error_within(&self, lines: usize, length: f64) -> f64 {
        if self.n == 1 {
            return 0.0;
        }
        let relative = mul_up(self.relative(), mul_up(root_above(self.n as u64), length));
        add_up(relative, mul_up(root_above(lines as u64), self.lost()))
    }
}

/// cos(πm/2n) for m < 4n.
fn cosine(m: usize, n: usize) -> f64 {
    // cos is even about a half turn, odd about a quarter.
    let m = if m > 2 * n { 4 * n - m } else { m };
    if m > n { -first_quarter(2 * n - m, n) } else { first_quarter(m, n) }
}

/// cos(πm/2n) for m ≤ n.
fn first_quarter(m: usize, n: usize) -> f64 {
    let angle = |p: usize| std::f64::consts::PI * p as f64 / (2 * n) as f64;
    // 1 − z/2! + z²/4! − …, and for the sine 1 − z/3! + z²/5! − …
    let series = |z: f64, first: u32| {
        (0..10).rev().fold(0.0, |sum: f64, j| {
            let factorial: f64 = (1..=2 * j + first).map(f64::from).product();
            let sign = if j % 2 == 0 { 1.0 } else { -1.0 };
            sum * z + sign / factorial
        })
    };
    if 2 * m <= n {
        let t = angle(m);
        series(t * t, 0)
    } else {
        let t = angle(n - m);
        t * series(t * t, 1)
    }
}
