//! The kernel against exact arithmetic, with its own margin and with a smaller one.
//!
//! A matrix on the edge of definiteness is made, the factorisation is asked whether it is positive semidefinite, and whole
//! numbers decide whether it is. With the margin of the theorem (`gambeson_checker`, `quadratic::definite`) no answer may be
//! wrong; with half of it, [`faults_at`] must find answers that are: a harness that finds none could not see a kernel that is
//! wrong.
//!
//! **Matrices that use the margin up.** Rounding is worst where it always goes one way. A number a little above 1 from which
//! something less than u = 2⁻⁵³ is subtracted stays as it is; n such subtractions lose n·u, as much as the theorem allows.
//! So there are n leaves with pivots of 2⁻²⁰, which weigh nothing in the margin, and entries whose square over the pivot is
//! just below u, and besides them:
//!
//! * [`Family::Pair`], for the sparse factorisation, which subtracts product after product: two rows [[1, −1], [−1, 1]],
//!   both joined to every leaf. Three entries lose n·u each, and v = (1, 1) adds them up to 4·n·u, against a margin of
//!   2·(2·n + 5)·u: all of it is needed but a part of order 1/n.
//! * [`Family::Chain`], for the dense one, which sums products from zero: a first pivot of 3, whose product 1 stands at the
//!   head of the sum of the last row, followed by the leaves. It loses n·u of a margin of 4/3·(n + 16)·u.

use crate::answer::Answer;
use crate::mutate::Random;
use gambeson_checker::{Domain, PreparedForm, Quadratic};
use num_bigint::BigInt;

/// What came of many cases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Cases tried.
    pub cases: u64,
    /// Accepted, and positive semidefinite.
    pub right: u64,
    /// Accepted, and not positive semidefinite.
    pub wrong: u64,
}

/// Kinds of matrices on the edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Dense, of rank one but for the diagonal.
    Random,
    /// Sparse: two rows and leaves, rounded as badly as can be.
    Pair,
    /// Dense: leaves between a large pivot and the last row, rounded as badly as can be.
    Chain,
}

impl Family {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Random, Self::Pair, Self::Chain];
}

/// Half a unit in the last place of 1.
const UNIT: f64 = f64::EPSILON / 2.0;
/// The pivot of a leaf: far above the margin, and too small to count in it.
const LEAF: f64 = 1.0 / 1_048_576.0;

/// A target: with the whole margin, nothing accepted is wrong.
#[allow(clippy::unnecessary_wraps)] // as every target
pub(super) fn kernel(bytes: &[u8]) -> Answer {
    let seed = seed(bytes);
    for family in Family::ALL {
        let outcome = faults_at(family, 1.0, seed, 3);
        assert_eq!(outcome.wrong, 0, "{family:?}: accepted, but not positive semidefinite");
    }
    Ok(String::new())
}

/// A number from bytes.
pub(super) fn seed(bytes: &[u8]) -> u64 {
    bytes.iter().fold(1, |seed, &byte| seed.wrapping_mul(0x100_0000_01b3) ^ u64::from(byte))
}

/// Numbers for seeds of cases.
pub(super) fn numbers() -> Vec<Vec<u8>> {
    vec![vec![0; 8], vec![1; 8]]
}

/// Tries `cases` matrices on the edge with this part of the margin.
pub fn faults_at(family: Family, part: f64, seed: u64, cases: u64) -> Outcome {
    let mut random = Random::new(seed);
    let mut outcome = Outcome { cases, ..Outcome::default() };
    for _ in 0..cases {
        let edge = match family {
            Family::Random => Edge::random(&mut random),
            Family::Pair => Edge::pair(&mut random),
            Family::Chain => Edge::chain(&mut random),
        };
        if !edge.accepted(part) {
            continue;
        }
        if edge.is_semidefinite() { outcome.right += 1 } else { outcome.wrong += 1 }
    }
    outcome
}

/// M and d such that Diag(d) − M is singular up to a few units in the last place.
struct Edge {
    n: usize,
    /// Of M, row-major.
    entries: Vec<f64>,
    duals: Vec<f64>,
    /// Rows with pivot [`LEAF`] that are not joined to each other.
    leaves: std::ops::Range<usize>,
    sparse: bool,
}

impl Edge {
    /// M = vvᵀ, d_i = v_i·Σv.
    fn random(random: &mut Random) -> Self {
        let most = if random.below(8) == 0 { 40 } else { 6 };
        let n = 2 + random.below(most);
        let v: Vec<f64> = (0..n).map(|_| 0.5 + unit_interval(random) / 2.0).collect();
        let entries = v.iter().flat_map(|a| v.iter().map(move |b| a * b)).collect();
        let total: f64 = v.iter().sum();
        let mut duals: Vec<f64> = v.iter().map(|v| v * total).collect();
        for dual in &mut duals {
            for _ in 0..random.below(4) {
                *dual = dual.next_up();
            }
        }
        Self { n, entries, duals, leaves: 0..0, sparse: false }
    }

    /// Of n leaves, each with d = 1 and 1 − [`LEAF`] on the diagonal of M, at these places.
    fn with_leaves(n: usize, leaves: std::ops::Range<usize>, sparse: bool) -> Self {
        let mut edge = Self { n, entries: vec![0.0; n * n], duals: vec![1.0; n], leaves, sparse };
        for leaf in edge.leaves.clone() {
            edge.set(leaf, leaf, 1.0 - LEAF);
        }
        edge
    }

    fn pair(random: &mut Random) -> Self {
        let n = 16 + random.below(100);
        let (p, q) = (n - 2, n - 1);
        let mut edge = Self::with_leaves(n, 0..p, true);
        // A little above 1, so that subtracting the margin does not leave the binade.
        let base = 1.0 + 2.0_f64.powi(-40);
        edge.join_leaves(&[p, q], random);
        edge.set(p, q, base);
        let margin = 2.0 * (n as f64 + 3.0) * UNIT;
        let slack = 1.2 * margin * unit_interval(random);
        (edge.duals[p], edge.duals[q]) = (base + slack, base + slack);
        edge
    }

    fn chain(random: &mut Random) -> Self {
        let n = 80 + random.below(100);
        let last = n - 1;
        let mut edge = Self::with_leaves(n, 1..last, false);
        // Below 4, so that scaling leaves it alone.
        edge.duals[0] = 1.75 * 1.75;
        edge.join_leaves(&[last], random);
        let root = 1.0 + 2.0_f64.powi(-26); // its square is a double
        edge.set(0, last, 1.75 * root);
        let margin = 4.0 / 3.0 * (n as f64 + 16.0) * UNIT;
        edge.duals[last] = root * root + 1.2 * margin * unit_interval(random);
        edge
    }

    fn set(&mut self, i: usize, j: usize, value: f64) {
        self.entries[i * self.n + j] = value;
        self.entries[j * self.n + i] = value;
    }

    /// Joins rows to every leaf by entries whose square over the leaf's pivot is a little below u.
    fn join_leaves(&mut self, rows: &[usize], random: &mut Random) {
        let part = 0.95 + 0.04 * unit_interval(random);
        let entry = (LEAF * UNIT * part).sqrt();
        for leaf in self.leaves.clone() {
            rows.iter().for_each(|&row| self.set(row, leaf, -entry));
        }
    }

    /// Whether the kernel takes it for positive semidefinite with this part of the margin.
    fn accepted(&self, part: f64) -> bool {
        let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in self.entries.chunks_exact(self.n) {
            for (j, &value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
                indices.push(j);
                values.push(value);
            }
            offsets.push(indices.len());
        }
        let dim = self.n;
        let matrix = if self.sparse {
            Quadratic::Sparse { dim, offsets: &offsets, indices: &indices, values: &values }
        } else {
            Quadratic::Dense { entries: &self.entries, dim }
        };
        let Ok(form) = PreparedForm::new(matrix, Domain::Cube, 1) else { return false };
        form.kept().len() == dim && form.completes_with_margin(&self.duals, part) == Ok(true)
    }

    /// Whether Diag(d) − M ⪰ 0, in whole numbers. Leaves have one pivot p and no entries among themselves: what is left
    /// without them, times p, is p·A_ij − Σ_leaves A_ik·A_jk.
    fn is_semidefinite(&self) -> bool {
        let n = self.n;
        let least = self.entries.iter().chain(&self.duals).filter(|x| **x != 0.0).map(|x| exponent(*x)).min();
        let scaled = |value: f64| whole(value, least.unwrap_or(0));
        let entry = |i: usize, j: usize| {
            let own = -scaled(self.entries[i * n + j]);
            if i == j { own + scaled(self.duals[i]) } else { own }
        };
        let others: Vec<usize> = (0..n).filter(|i| !self.leaves.contains(i)).collect();
        let pivot = self.leaves.clone().next().map_or_else(|| BigInt::from(1), |leaf| entry(leaf, leaf));
        let left = |i: usize, j: usize| {
            let through = self.leaves.clone().map(|leaf| entry(i, leaf) * entry(j, leaf)).sum::<BigInt>();
            entry(i, j) * &pivot - through
        };
        let a = others.iter().map(|&i| others.iter().map(|&j| left(i, j)).collect()).collect();
        pivot > BigInt::from(0) && is_semidefinite(a)
    }
}

/// Evenly in 0..1.
fn unit_interval(random: &mut Random) -> f64 {
    (random.bits() >> 11) as f64 * UNIT
}

/// e such that the value is a whole number times 2^e.
pub(super) fn exponent(value: f64) -> i32 {
    let biased = i32::try_from((value.to_bits() >> 52) & 0x7ff).unwrap_or(0);
    biased.max(1) - 1075
}

/// The value over 2^e, which must be whole.
pub(super) fn whole(value: f64, e: i32) -> BigInt {
    if value == 0.0 {
        return BigInt::from(0);
    }
    let bits = value.to_bits();
    let fraction = bits & ((1 << 52) - 1);
    let significand = if value.abs() < f64::MIN_POSITIVE { fraction } else { fraction | 1 << 52 };
    let whole = BigInt::from(significand) << u32::try_from(exponent(value) - e).expect("e is the least");
    if value < 0.0 { -whole } else { whole }
}

/// By elimination in whole numbers (Bareiss): all leading minors of a matrix that is not singular are positive; a singular one
/// counts as semidefinite where every minor is at least zero.
pub(super) fn is_semidefinite(mut a: Vec<Vec<BigInt>>) -> bool {
    let n = a.len();
    let zero = BigInt::from(0);
    let mut before = BigInt::from(1);
    for k in 0..n {
        if a[k][k] < zero {
            return false;
        }
        if a[k][k] == zero {
            // Semidefinite only where the whole row is zero.
            if (k..n).any(|j| a[k][j] != zero) {
                return false;
            }
            continue;
        }
        for i in k + 1..n {
            for j in k + 1..n {
                let next = (&a[i][j] * &a[k][k] - &a[i][k] * &a[k][j]) / &before;
                a[i][j] = next;
            }
        }
        before.clone_from(&a[k][k]);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The short way round the leaves, against elimination of the whole matrix.
    #[test]
    fn leaves_may_be_eliminated_at_once() {
        let mut both = [0, 0];
        for seed in 0..40 {
            let random = &mut Random::new(seed);
            for edge in [Edge::pair(random), Edge::chain(random)] {
                if edge.n > 90 {
                    continue;
                }
                let whole = Edge { leaves: 0..0, ..edge };
                let short = Edge {
                    n: whole.n,
                    entries: whole.entries.clone(),
                    duals: whole.duals.clone(),
                    leaves: if whole.sparse { 0..whole.n - 2 } else { 1..whole.n - 1 },
                    sparse: whole.sparse,
                };
                let verdict = whole.is_semidefinite();
                assert_eq!(verdict, short.is_semidefinite(), "seed {seed}");
                both[usize::from(verdict)] += 1;
            }
        }
        assert!(both[0] > 2 && both[1] > 2, "{both:?}");
    }
}
