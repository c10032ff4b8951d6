//! The kernel against exact arithmetic, with its own margin and with a smaller one.
//!
//! A matrix on the edge of definiteness is made from the bytes, the factorisation is asked whether it is positive
//! semidefinite, and whole numbers decide whether it is. With the margin of the theorem no answer may be wrong. With a part
//! of it, [`faults_at`] counts how many are: the margin is a sum over all rows of the most that each can err, all in one
//! direction, and the diagonal is rounded down besides, so that random matrices of the sizes judged here come nowhere near
//! it. That no fault is found with less of it says how far it is from being used up, not that less would do.

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

/// A target: with the whole margin, nothing accepted is wrong.
pub(super) fn kernel(bytes: &[u8]) {
    let seed = bytes.iter().fold(1_u64, |seed, &byte| seed.wrapping_mul(0x100_0000_01b3) ^ u64::from(byte));
    let outcome = faults_at(1.0, seed, 8);
    assert_eq!(outcome.wrong, 0, "accepted, but not positive semidefinite");
}

/// Numbers for seeds of cases.
pub(super) fn numbers() -> Vec<Vec<u8>> {
    vec![vec![0; 8], vec![1; 8]]
}

/// Tries `cases` matrices on the edge with this part of the margin.
pub fn faults_at(part: f64, seed: u64, cases: u64) -> Outcome {
    let mut random = Random::new(seed);
    let mut outcome = Outcome { cases, ..Outcome::default() };
    for _ in 0..cases {
        let most = if random.below(8) == 0 { 40 } else { 6 };
        let n = 2 + random.below(most);
        let (entries, duals) = on_the_edge(n, &mut random);
        let matrix = Quadratic::Dense { entries: &entries, dim: n };
        let Ok(form) = PreparedForm::new(matrix, Domain::Cube, 1) else { continue };
        if form.kept().len() != n || form.completes_with_margin(&duals, part) != Ok(true) {
            continue;
        }
        if dominates_exactly(&entries, &duals) { outcome.right += 1 } else { outcome.wrong += 1 }
    }
    outcome
}

/// A matrix M and numbers d such that Diag(d) − M is singular up to a few units in the last place.
fn on_the_edge(n: usize, random: &mut Random) -> (Vec<f64>, Vec<f64>) {
    let uniform = |random: &mut Random| 0.5 + (random.bits() >> 12) as f64 / (1_u64 << 53) as f64;
    let v: Vec<f64> = (0..n).map(|_| uniform(random)).collect();
    let mut entries = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..n {
            entries[i * n + j] = v[i] * v[j];
        }
    }
    // Diag(d) − M with d_i = v_i·Σv has v⁻¹-like null vectors: Σ_j M_ij/v_j·… is made exact below by rounding only.
    let total: f64 = v.iter().sum();
    let mut duals: Vec<f64> = v.iter().map(|v| v * total).collect();
    for dual in &mut duals {
        for _ in 0..random.below(4) {
            *dual = dual.next_up();
        }
    }
    (entries, duals)
}

/// Whether Diag(d) − M ⪰ 0, by elimination in whole numbers (Bareiss): all leading minors of a matrix that is not
/// singular are positive; a singular one counts as semidefinite where every minor is at least zero.
fn dominates_exactly(entries: &[f64], duals: &[f64]) -> bool {
    let n = duals.len();
    let scaled = |value: f64| -> BigInt {
        let bits = value.abs().to_bits();
        let (biased, fraction) = ((bits >> 52) & 0x7ff, bits & ((1 << 52) - 1));
        let whole = if biased == 0 {
            BigInt::from(fraction)
        } else {
            BigInt::from(fraction | 1 << 52) << (biased - 1)
        };
        if value < 0.0 { -whole } else { whole }
    };
    let mut a: Vec<Vec<BigInt>> = (0..n)
        .map(|i| {
            (0..n)
                .map(|j| {
                    let own = -scaled(entries[i * n + j]);
                    if i == j { own + scaled(duals[i]) } else { own }
                })
                .collect()
        })
        .collect();
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
