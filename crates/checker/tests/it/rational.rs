//! Exact arithmetic on stored numbers: every finite `f64` is an integer times a power of two, sums and products of
//! such numbers are again, and so every claim of the checker can be decided without any rounding.

use num_bigint::{BigInt, Sign};
use std::cmp::Ordering;
use std::ops::{Add, Mul, Sub};

/// mantissa · 2^exponent. Not normalised: many pairs stand for one number.
#[derive(Clone, Debug)]
pub(crate) struct Dyadic {
    mantissa: BigInt,
    exponent: i64,
}

/// A symmetric matrix, row by row.
pub(crate) type Matrix = Vec<Vec<Dyadic>>;

impl Dyadic {
    pub(crate) fn zero() -> Self {
        Self { mantissa: BigInt::ZERO, exponent: 0 }
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.sign() == Sign::NoSign
    }

    pub(crate) fn sign(&self) -> Sign {
        self.mantissa.sign()
    }

    /// This number times 2^by.
    pub(crate) fn shifted(&self, by: i64) -> Self {
        Self { mantissa: self.mantissa.clone(), exponent: self.exponent + by }
    }

    /// √x of a number that is not negative, rounded down to 300 bits or more.
    pub(crate) fn root_below(&self) -> Self {
        let bits = i64::try_from(self.mantissa.bits()).expect("numbers of a test are short");
        let up = (600 - bits).max(0);
        let up = up + (self.exponent - up) % 2; // an even exponent
        let up = if up < 0 { up + 2 } else { up };
        let mantissa = &self.mantissa << usize::try_from(up).expect("not negative");
        Self { mantissa: mantissa.sqrt(), exponent: (self.exponent - up) / 2 }
    }

    /// ⌊log₂|x|⌋ of a number that is not zero.
    fn magnitude(&self) -> i64 {
        i64::try_from(self.mantissa.bits()).expect("numbers of a test are short") - 1 + self.exponent
    }

    /// The mantissa at an exponent that is at most its own.
    fn at(&self, exponent: i64) -> BigInt {
        let up = usize::try_from(self.exponent - exponent).expect("the common exponent is the least");
        &self.mantissa << up
    }

    /// Both mantissas at the lesser exponent of the two. Zero has no exponent of its own.
    fn aligned(&self, other: &Self) -> (BigInt, BigInt, i64) {
        let exponent = match (self.is_zero(), other.is_zero()) {
            (true, _) => other.exponent,
            (_, true) => self.exponent,
            _ => self.exponent.min(other.exponent),
        };
        let at = |x: &Self| if x.is_zero() { BigInt::ZERO } else { x.at(exponent) };
        (at(self), at(other), exponent)
    }
}

/// The exact value of a finite number; panics on NaN and infinities, which have none.
impl From<f64> for Dyadic {
    fn from(value: f64) -> Self {
        assert!(value.is_finite(), "{value} is no number");
        let bits = value.to_bits();
        let biased = i64::try_from((bits >> 52) & 0x7ff).expect("eleven bits");
        let fraction = bits & ((1 << 52) - 1);
        // Subnormal numbers lack the implicit leading bit and share the least exponent.
        let (integer, exponent) =
            if biased == 0 { (fraction, -1074) } else { (fraction | (1 << 52), biased - 1075) };
        let mantissa = BigInt::from(integer);
        let exponent = if integer == 0 { 0 } else { exponent };
        Self { mantissa: if value < 0.0 { -mantissa } else { mantissa }, exponent }
    }
}

impl Add for &Dyadic {
    type Output = Dyadic;
    fn add(self, other: &Dyadic) -> Dyadic {
        let (a, b, exponent) = self.aligned(other);
        Dyadic { mantissa: a + b, exponent }
    }
}

impl Sub for &Dyadic {
    type Output = Dyadic;
    fn sub(self, other: &Dyadic) -> Dyadic {
        let (a, b, exponent) = self.aligned(other);
        Dyadic { mantissa: a - b, exponent }
    }
}

impl Mul for &Dyadic {
    type Output = Dyadic;
    fn mul(self, other: &Dyadic) -> Dyadic {
        Dyadic { mantissa: &self.mantissa * &other.mantissa, exponent: self.exponent + other.exponent }
    }
}

impl PartialEq for Dyadic {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Dyadic {}

impl PartialOrd for Dyadic {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Dyadic {
    fn cmp(&self, other: &Self) -> Ordering {
        let (a, b, _) = self.aligned(other);
        a.cmp(&b)
    }
}

pub(crate) fn sum<'a>(values: impl IntoIterator<Item = &'a Dyadic>) -> Dyadic {
    values.into_iter().fold(Dyadic::zero(), |sum, value| &sum + value)
}

/// Σ a_i·b_i.
pub(crate) fn dot<'a>(pairs: impl IntoIterator<Item = (&'a Dyadic, &'a Dyadic)>) -> Dyadic {
    pairs.into_iter().fold(Dyadic::zero(), |sum, (a, b)| if a.is_zero() { sum } else { &sum + &(a * b) })
}

/// A row-major matrix with `columns` columns, exactly.
pub(crate) fn matrix(entries: &[f64], columns: usize) -> Matrix {
    entries.chunks_exact(columns).map(|row| row.iter().map(|&value| value.into()).collect()).collect()
}

/// A·Aᵀ.
pub(crate) fn times_transpose(rows: &[Vec<Dyadic>]) -> Matrix {
    rows.iter().map(|a| rows.iter().map(|b| dot(a.iter().zip(b))).collect()).collect()
}

pub(crate) fn transpose(rows: &[Vec<Dyadic>]) -> Matrix {
    (0..rows[0].len()).map(|j| rows.iter().map(|row| row[j].clone()).collect()).collect()
}

/// All entries as integers at one exponent, which is returned too.
fn integers(matrix: &[Vec<Dyadic>]) -> (Vec<Vec<BigInt>>, i64) {
    let entries = matrix.iter().flatten().filter(|x| !x.is_zero());
    let exponent = entries.map(|x| x.exponent).min().unwrap_or(0);
    let at = |x: &Dyadic| if x.is_zero() { BigInt::ZERO } else { x.at(exponent) };
    (matrix.iter().map(|row| row.iter().map(at).collect()).collect(), exponent)
}

/// Whether a symmetric matrix is positive semidefinite: Gaussian elimination on the diagonal, kept in integers by
/// Bareiss' division, so every number is a minor of the matrix.
///
/// With a positive pivot the matrix is semidefinite exactly if its Schur complement is. Without one, a negative
/// diagonal entry settles it, and a diagonal of zeros asks for a matrix of zeros.
pub(crate) fn is_semidefinite(matrix: &[Vec<Dyadic>]) -> bool {
    // Rows and columns multiplied by powers of two, a congruence: keeps the integers short.
    let half = |i: usize| if matrix[i][i].is_zero() { 0 } else { -matrix[i][i].magnitude().div_euclid(2) };
    let halves: Vec<i64> = (0..matrix.len()).map(half).collect();
    let scaled: Matrix = (0..matrix.len())
        .map(|i| (0..matrix.len()).map(|j| matrix[i][j].shifted(halves[i] + halves[j])).collect())
        .collect();
    let (mut a, _) = integers(&scaled);
    let mut left: Vec<usize> = (0..a.len()).collect();
    let mut before = BigInt::from(1);
    while !left.is_empty() {
        if left.iter().any(|&i| a[i][i].sign() == Sign::Minus) {
            return false;
        }
        let Some(place) = left.iter().position(|&i| a[i][i].sign() == Sign::Plus) else {
            return left.iter().all(|&i| left.iter().all(|&j| a[i][j].sign() == Sign::NoSign));
        };
        let pivot = left.swap_remove(place);
        for &i in &left {
            for &j in left.iter().filter(|&&j| j <= i) {
                let minor = &a[i][j] * &a[pivot][pivot] - &a[i][pivot] * &a[pivot][j];
                a[i][j] = minor / &before;
                let copy = a[i][j].clone();
                a[j][i] = copy;
            }
        }
        before.clone_from(&a[pivot][pivot]);
    }
    true
}

/// max xᵀMx over the vertices, by walking through them one flip at a time. x and −x have one value, so the last
/// coordinate stays.
pub(crate) fn vertex_maximum(matrix: &[Vec<Dyadic>]) -> Dyadic {
    let n = matrix.len();
    assert!(n <= 16, "2^{n} vertices are too many");
    let (m, exponent) = integers(matrix);
    let mut x = vec![1; n];
    let mut value: BigInt = m.iter().flatten().sum();
    let mut best = value.clone();
    for step in 1..1_u32 << (n - 1) {
        let flip = step.trailing_zeros() as usize; // Gray code: each vertex once
        let others: BigInt = (0..n).filter(|&j| j != flip).map(|j| &m[flip][j] * x[j]).sum();
        value -= others * (4 * x[flip]);
        x[flip] = -x[flip];
        best = best.max(value.clone());
    }
    Dyadic { mantissa: best, exponent }
}

/// ⟨M, VVᵀ⟩ for V given row by row.
pub(crate) fn inner_product(matrix: &[Vec<Dyadic>], v: &[Vec<Dyadic>]) -> Dyadic {
    let gram = times_transpose(v);
    dot(matrix.iter().flatten().zip(gram.iter().flatten()))
}

#[test]
fn numbers_are_converted_exactly() {
    for (value, mantissa, exponent) in [
        (1.0, 1_i64, 0),
        (-0.75, -3, -2),
        (5e-324, 1, -1074),
        (f64::MIN_POSITIVE, 1, -1022),
        (f64::MAX, (1 << 53) - 1, 971),
        (-0.0, 0, 5),
        (1.0 + f64::EPSILON, (1 << 52) + 1, -52),
    ] {
        assert_eq!(Dyadic::from(value), Dyadic { mantissa: mantissa.into(), exponent }, "{value}");
    }
    let [tenth, fifth, rounded] = [0.1, 0.2, 0.1 + 0.2].map(Dyadic::from);
    assert!(&tenth + &fifth < rounded, "0.1 + 0.2 is known to be rounded up");
    assert_eq!(&(&tenth + &fifth) - &fifth, tenth);
    assert!(&tenth * &fifth > Dyadic::zero() && Dyadic::from(-1e300) < Dyadic::from(-1e-300));
}

#[test]
fn semidefiniteness_is_decided_exactly() {
    let above = 1.0 + f64::EPSILON;
    for (entries, dim, expected) in [
        (vec![0.0], 1, true),
        (vec![-5e-324], 1, false),
        (vec![1.0, 1.0, 1.0, 1.0], 2, true),
        (vec![1.0, above, above, 1.0], 2, false),
        (vec![above, 1.0, 1.0, 1.0], 2, true),
        (vec![0.0, 1.0, 1.0, 5.0], 2, false),
        (vec![0.0, 0.0, 0.0, 5.0], 2, true),
        (vec![2.0, -1.0, -1.0, -1.0, 2.0, -1.0, -1.0, -1.0, 2.0], 3, true),
        (vec![2.0, -1.0, -1.0, -1.0, 2.0, -1.0, -1.0, -1.0, 2f64.next_down()], 3, false),
        (vec![1.0, 2.0, 3.0, 2.0, 4.0, 6.0, 3.0, 6.0, 9.0], 3, true),
        (vec![1.0, 2.0, 3.0, 2.0, 4.0, 5.0, 3.0, 5.0, 9.0], 3, false),
    ] {
        assert_eq!(is_semidefinite(&matrix(&entries, dim)), expected, "{entries:?}");
    }
    // Numbers of very different size: the determinant decides, computed by itself.
    for tiny in [1e-300, 1e-300_f64.next_up(), 1e-300_f64.next_down()] {
        let product = &Dyadic::from(1e300) * &Dyadic::from(tiny);
        let expected = product >= Dyadic::from(1.0);
        assert_eq!(is_semidefinite(&matrix(&[1e300, 1.0, 1.0, tiny], 2)), expected, "{tiny}");
    }
}

#[test]
fn vertex_maximum_is_the_largest_of_all_values() {
    // Compared with the plain definition, on small integers where floats are exact.
    for seed in 0..50 {
        let n = 1 + seed % 6;
        let entry = |i: usize, j: usize| {
            let (a, b) = (i.min(j), i.max(j));
            ((seed * 37 + a * 101 + b * 57 + a * b * 13) % 19) as f64 - 9.0
        };
        let entries: Vec<f64> = (0..n * n).map(|at| entry(at / n, at % n)).collect();
        let plain = (0..1_u32 << n).map(|signs| {
            let x = |i: usize| if signs >> i & 1 == 1 { 1.0 } else { -1.0 };
            (0..n * n).map(|at| entries[at] * x(at / n) * x(at % n)).sum::<f64>()
        });
        let plain = plain.fold(f64::NEG_INFINITY, f64::max);
        assert_eq!(vertex_maximum(&matrix(&entries, n)), plain.into(), "seed {seed}");
    }
}
