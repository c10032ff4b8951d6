//! What a bound pays for besides the rounding of its own: decimals that no f64 equals, and entries left out of the
//! factorisation.
//!
//! As in `kernel`, whole numbers decide, and half of either payment must be seen to be too little.
//!
//! * [`Term::Error`]: decimals between two doubles, and what the reader says all of them together are off. It is looked at
//!   where it is made: no bound can show that it is missing. It is at most u·Σ|m_ij|, and |m_ij| ≤ √(z_i·z_j) for the
//!   diagonal z of a matrix that is positive semidefinite, so that Σ|m_ij| beside the diagonal is at most n·Σz, a quarter of
//!   what the margin of the factorisation, at least 4·u·Σz in each of n rows, adds to the bound; and every sum that the
//!   diagonal or a payment goes through is rounded up by as much as its own share.
//! * [`Term::Paid`]: a sparse matrix with some entries left out, each of which is paid for on the diagonal at both ends. The
//!   checker takes no part of that payment, so a part is taken off the weights here before it is asked about the rest.

use super::kernel::{exponent, is_semidefinite, whole};
use crate::answer::Answer;
use crate::drive::MEMORY;
use crate::mutate::Random;
use gambeson_checker::{Domain, DroppedEntries, PreparedForm, Quadratic};
use gambeson_lowrank::Matrix;
use gambeson_lowrank::matrix_file::parse;
use num_bigint::BigInt;

/// What is paid for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Term {
    /// How far the stored numbers are off those of the file.
    Error,
    /// Entries that are left out.
    Paid,
}

impl Term {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Error, Self::Paid];
}

/// A target: with the whole payment, nothing proven is wrong.
#[allow(clippy::unnecessary_wraps)] // as every target
pub(super) fn enclosure(bytes: &[u8]) -> Answer {
    let seed = super::kernel::seed(bytes);
    for term in Term::ALL {
        let (_, wrong) = wrong_with(term, 1.0, seed, 10);
        assert_eq!(wrong, 0, "{term:?}: proven, but not so");
    }
    Ok(String::new())
}

/// Of so many cases with this part of the payment: those proven, and those of them that are not so.
pub fn wrong_with(term: Term, part: f64, seed: u64, cases: u64) -> (u64, u64) {
    let mut random = Random::new(seed);
    let (mut proven, mut wrong) = (0, 0);
    for _ in 0..cases {
        let right = match term {
            Term::Error => decimals(part, &mut random),
            Term::Paid => paid(part, &mut random),
        };
        proven += u64::from(right.is_some());
        wrong += u64::from(right == Some(false));
    }
    (proven, wrong)
}

/// Whether all decimals of a file together are off what is stored by no more than it says.
fn decimals(part: f64, random: &mut Random) -> Option<bool> {
    const DIGITS: u32 = 19;
    let n = 1 + random.below(6);
    // From 1 to below 10: a double has 16 digits there.
    let range = 10_u64.pow(DIGITS);
    let fractions: Vec<(u64, u64)> =
        (0..n).map(|_| (1 + random.below(9) as u64, random.bits() % range)).collect();
    let lines: Vec<String> = fractions.iter().map(|(unit, rest)| format!("{unit}.{rest:0>19}\n")).collect();
    let file = format!("%%MatrixMarket matrix array real general\n{n} 1\n{}", lines.concat());
    let input = parse(file.as_bytes(), MEMORY).ok()?;
    let Matrix::Dense(stored) = input.matrix else { return None };
    let error = input.error * part;
    let least = stored.entries.iter().chain([&error]).map(|&value| exponent(value)).min()?.min(0);
    let ten = BigInt::from(10).pow(DIGITS);
    let off = stored.entries.iter().zip(&fractions).map(|(&value, &(unit, rest))| {
        let meant = (BigInt::from(unit) * &ten + BigInt::from(rest)) << least.unsigned_abs();
        let difference = whole(value, least) * &ten - meant;
        if difference < BigInt::from(0) { -difference } else { difference }
    });
    Some(off.sum::<BigInt>() <= whole(error, least) * ten)
}

/// Whether a matrix that is proven to be dominated with some entries paid for is; none where it is not proven.
fn paid(part: f64, random: &mut Random) -> Option<bool> {
    let n = 3 + random.below(5);
    let mut entries = vec![0.0; n * n];
    let mut pairs = Vec::new();
    for i in 0..n {
        for j in 0..i {
            if random.below(3) > 0 {
                continue;
            }
            let value = eighths(random);
            (entries[i * n + j], entries[j * n + i]) = (value, value);
            if value != 0.0 && random.below(2) == 0 {
                pairs.push((i, j));
            }
        }
    }
    let sums = entries.chunks_exact(n).map(|row| row.iter().map(|value| value.abs()).sum::<f64>());
    // Row sums would always do; a share of them may.
    let share = random.below(9) as f64 / 8.0;
    let mut duals: Vec<f64> = sums.map(|sum| (sum * share).max(0.125)).collect();
    let exact = dominates(&entries, &duals, n);
    let whole_payment = part == 1.0;
    if !whole_payment {
        for &(i, j) in &pairs {
            for (i, j) in [(i, j), (j, i)] {
                duals[i] -= part * entries[i * n + j].abs();
                entries[i * n + j] = 0.0;
            }
        }
    }
    let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in entries.chunks_exact(n) {
        for (j, &value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
            indices.push(j);
            values.push(value);
        }
        offsets.push(indices.len());
    }
    let matrix = Quadratic::Sparse { dim: n, offsets: &offsets, indices: &indices, values: &values };
    let dropped = if whole_payment {
        let pair = |&(i, j): &(usize, usize)| Some((u32::try_from(i).ok()?, u32::try_from(j).ok()?));
        DroppedEntries::Pairs(pairs.iter().filter_map(pair).collect())
    } else {
        DroppedEntries::Nothing
    };
    let form = PreparedForm::without(matrix, Domain::Cube, &dropped, 1).ok()?;
    // Rows of zeros are no part of the form.
    let kept: Vec<f64> = form.kept().iter().map(|&i| duals[i]).collect();
    (form.completes_with_margin(&kept, 1.0) == Ok(true)).then_some(exact)
}

fn eighths(random: &mut Random) -> f64 {
    (random.below(33) as f64 - 16.0) / 8.0
}

/// Whether Diag(d) − M ⪰ 0, in whole numbers.
fn dominates(entries: &[f64], duals: &[f64], n: usize) -> bool {
    let all = || entries.iter().chain(duals).filter(|value| **value != 0.0);
    let least = all().map(|value| exponent(*value)).min().unwrap_or(0);
    let entry = |i: usize, j: usize| {
        let own = -whole(entries[i * n + j], least);
        if i == j { own + whole(duals[i], least) } else { own }
    };
    is_semidefinite((0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect())
}
