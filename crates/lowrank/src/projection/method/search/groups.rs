//! Groups of correlated coordinates: fewer directions than coordinates inside each.
//!
//! **Problem.** κ² adds up over disjoint blocks. Of a group of m chosen coordinates with second moments M, a subspace V of
//! q < m directions keeps tr VᵀMV instead of tr M and costs κ²(V) = max |Vᵀs|² over signs s instead of m. Where
//! coordinates are strongly correlated (the lowest frequencies of speech: correlations of 0.95) it loses next to nothing.
//!
//! **Method.** At a price p for κ² the best V maximises tr VᵀMV − p·κ²(V). Ascent along M − p·X, X the mean of ssᵀ with
//! weights growing with |Vᵀs|²/temperature, ever colder; groups are small, so all signs are visited and κ² is exact. Many
//! prices give a menu for each group, menus are combined, and what is cheaper and loses less than another stays. The
//! certificate is made later, like that of any basis.
//!
//! **Guarantee.** None but that the numbers of a choice are its own: V need not be the best there is.

use crate::linalg::matrix::DenseMatrix;
use crate::linalg::orthonormal::{sum_of_products, take_out};
use crate::projection::energy::Energy;
use rayon::prelude::*;

/// Correlations from here on join two coordinates.
const JOINED: f64 = 0.6;
/// The most members of a group: 2^(m − 1) signs are visited.
const MOST: usize = 6;
/// Prices tried, in units of the energy of a coordinate: zero, and this number of them between these two.
const PRICES: (usize, f64, f64) = (32, 0.01, 4.0);
/// Temperatures, and steps at each.
const TEMPERATURES: [f64; 5] = [0.3, 0.1, 0.03, 0.01, 0.003];
const STEPS: usize = 60;
/// The most groups, those with the strongest correlations: where all coordinates are correlated, as pixels are, there
/// are hundreds, and groups do not help.
const GROUPS: usize = 32;
/// The most combined choices kept.
const CHOICES: usize = 4096;

/// A subspace of a group.
#[derive(Clone, Debug)]
struct Choice {
    /// κ².
    square: f64,
    /// Energy of the group outside it.
    lost: f64,
    /// The q directions, each of m entries, one after the other; None for the coordinates themselves.
    vectors: Option<Vec<f64>>,
}

/// Some coordinates that belong together.
#[derive(Debug)]
struct Group {
    members: Vec<usize>,
    menu: Vec<Choice>,
}

/// One choice for every group.
#[derive(Clone, Debug)]
pub(crate) struct Combined {
    /// κ² less the number of coordinates: not positive.
    pub(crate) saved: f64,
    /// Energy lost.
    pub(crate) lost: f64,
    picks: Vec<usize>,
}

/// Groups among chosen coordinates, with what may be done in them.
#[derive(Debug)]
pub(crate) struct Groups {
    dim: usize,
    each: Vec<Group>,
    /// By rising κ², and so by falling loss.
    pub(crate) front: Vec<Combined>,
}

impl Groups {
    /// Groups among `core`, and menus for them; `unit` is the energy of a coordinate that could be had instead.
    pub(crate) fn new(energy: &Energy, core: &[usize], unit: f64) -> Self {
        let dim = energy.dim;
        let mut found = clusters(energy, core);
        let strongest = |members: &[usize]| {
            let pairs = members.iter().flat_map(|&i| members.iter().map(move |&j| (i, j)));
            pairs.filter(|(i, j)| i < j).map(|(i, j)| correlation(energy, i, j)).fold(0.0, f64::max)
        };
        found.sort_by(|a, b| strongest(b).total_cmp(&strongest(a)).then(a.cmp(b)));
        found.truncate(GROUPS);
        let each: Vec<Group> = found
            .into_par_iter()
            .map(|members| {
                let m = members.len();
                let form: Vec<f64> =
                    (0..m * m).map(|at| energy.at(members[at / m], members[at % m]) / unit).collect();
                let mut menu = menu(&form, m);
                menu.iter_mut().for_each(|choice| choice.lost *= unit);
                Group { members, menu }
            })
            .collect();
        let mut front = vec![Combined { saved: 0.0, lost: 0.0, picks: Vec::new() }];
        for group in &each {
            let size = group.members.len() as f64;
            let all = front.iter().flat_map(|combined| {
                group.menu.iter().enumerate().map(move |(pick, choice)| Combined {
                    saved: combined.saved + choice.square - size,
                    lost: combined.lost + choice.lost,
                    picks: combined.picks.iter().copied().chain([pick]).collect(),
                })
            });
            front = undominated(all.collect(), |combined| (combined.saved, combined.lost));
            if front.len() > CHOICES {
                let step = front.len().div_ceil(CHOICES);
                front = front.into_iter().rev().step_by(step).collect(); // the coordinates themselves stay
                front.reverse();
            }
        }
        Self { dim, each, front }
    }

    /// The cheapest that loses at most this energy.
    pub(crate) fn within(&self, lost: f64) -> Option<&Combined> {
        self.front.iter().find(|combined| combined.lost <= lost)
    }

    /// The one that loses least for κ² − rank of at most `room`.
    pub(crate) fn up_to(&self, room: f64) -> Option<&Combined> {
        self.front.iter().rfind(|combined| combined.saved <= room)
    }

    /// An orthonormal basis: the chosen coordinates, those in groups replaced.
    pub(crate) fn basis(&self, chosen: &[usize], combined: &Combined) -> DenseMatrix {
        let mut columns: Vec<Vec<(usize, f64)>> = Vec::new();
        let mut grouped = vec![false; self.dim];
        for (group, &pick) in self.each.iter().zip(&combined.picks) {
            let Some(vectors) = &group.menu[pick].vectors else { continue };
            group.members.iter().for_each(|&i| grouped[i] = true);
            let directions = vectors.chunks_exact(group.members.len());
            columns.extend(
                directions
                    .map(|direction| group.members.iter().copied().zip(direction.iter().copied()).collect()),
            );
        }
        columns.extend(chosen.iter().filter(|&&i| !grouped[i]).map(|&i| vec![(i, 1.0)]));
        DenseMatrix::from_sparse_columns(self.dim, &columns)
    }
}

/// |correlation| of two coordinates; zero where one has no energy.
fn correlation(energy: &Energy, i: usize, j: usize) -> f64 {
    let product = energy.at(i, i) * energy.at(j, j);
    if product > 0.0 { energy.at(i, j).abs() / product.sqrt() } else { 0.0 }
}

/// Sets of coordinates linked by strong correlations; larger ones fall apart by asking for stronger ones.
fn clusters(energy: &Energy, core: &[usize]) -> Vec<Vec<usize>> {
    let mut found = Vec::new();
    let mut open = vec![(core.to_vec(), JOINED)];
    while let Some((mut rest, least)) = open.pop() {
        while let Some(first) = rest.pop() {
            let mut members = vec![first];
            let mut at = 0;
            while at < members.len() {
                let (linked, others) =
                    rest.into_iter().partition(|&j| correlation(energy, members[at], j) >= least);
                let linked: Vec<usize> = linked;
                members.extend(linked);
                rest = others;
                at += 1;
            }
            match members.len() {
                1 => {}
                2..=MOST => found.push(members),
                // As far from perfect correlation as before, less a fifth.
                _ => open.push((members, 1.0 - 0.8 * (1.0 - least))),
            }
            if least > 1.0 - 1e-9 {
                break; // copies of each other
            }
        }
    }
    found.iter_mut().for_each(|members| members.sort_unstable());
    found.sort_unstable();
    found
}

/// Keeps what nothing else beats in both numbers, by rising first number.
fn undominated<T>(mut all: Vec<T>, numbers: impl Fn(&T) -> (f64, f64)) -> Vec<T> {
    all.sort_by(|a, b| {
        let (a, b) = (numbers(a), numbers(b));
        a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
    let mut least = f64::INFINITY;
    all.retain(|one| {
        let lost = numbers(one).1;
        let keeps = lost < least;
        least = least.min(lost);
        keeps
    });
    all
}

/// Subspaces of an m × m form that are worth their price, the coordinates included.
fn menu(form: &[f64], m: usize) -> Vec<Choice> {
    let mut choices = vec![Choice { square: m as f64, lost: 0.0, vectors: None }];
    // Signs up to a common one.
    let signs: Vec<Vec<f64>> = (0..1_usize << (m - 1))
        .map(|bits| (0..m).map(|i| if bits >> i & 1 == 1 { -1.0 } else { 1.0 }).collect())
        .collect();
    let (count, low, high) = PRICES;
    let prices = (0..count).map(|at| low * (high / low).powf(at as f64 / (count - 1) as f64));
    let prices: Vec<f64> = std::iter::once(0.0).chain(prices).collect();
    let mut by_energy: Vec<usize> = (0..m).collect();
    by_energy.sort_by(|&i, &j| form[j * m + j].total_cmp(&form[i * m + i]).then(i.cmp(&j)));
    for q in 1..m {
        let mut units = vec![0.0; m * q];
        by_energy[..q].iter().enumerate().for_each(|(a, &i)| units[a * m + i] = 1.0);
        let mut last = units.clone();
        for &price in &prices {
            let mut best: Option<(f64, Choice)> = None;
            for start in [&units, &last] {
                let found = ascend(form, m, q, price, start, &signs);
                if best.as_ref().is_none_or(|(value, _)| found.0 > *value) {
                    best = Some(found);
                }
            }
            if let Some((_, choice)) = best {
                last.clone_from(choice.vectors.as_ref().unwrap_or(&units));
                choices.push(choice);
            }
        }
    }
    undominated(choices, |choice| (choice.square, choice.lost))
}

/// Ascent of tr VᵀMV − p·κ²(V) from a start; the best point met, with its value.
fn ascend(form: &[f64], m: usize, q: usize, price: f64, start: &[f64], signs: &[Vec<f64>]) -> (f64, Choice) {
    let trace: f64 = (0..m).map(|i| form[i * m + i]).sum();
    let length = form.iter().map(|x| x * x).sum::<f64>().sqrt();
    let mut step = 0.5 / (length + price * m as f64);
    let mut point = start.to_vec();
    let mut best: Option<(f64, Choice)> = None;
    for temperature in TEMPERATURES {
        for _ in 0..STEPS {
            let squares: Vec<f64> = signs.iter().map(|s| squared_length(&point, m, s)).collect();
            let square = squares.iter().copied().fold(0.0, f64::max);
            let turned = times(form, &point, m);
            let places = (0..m).flat_map(|i| (0..q).map(move |a| a * m + i));
            let kept: f64 = places.map(|at| point[at] * turned[at]).sum();
            let value = kept - price * square;
            if best.as_ref().is_none_or(|(most, _)| value > *most) {
                let lost = (trace - kept).max(0.0);
                best = Some((value, Choice { square, lost, vectors: Some(point.clone()) }));
            }
            let weights: Vec<f64> = squares.iter().map(|x| ((x - square) / temperature).exp()).collect();
            let total: f64 = weights.iter().sum();
            let mut slope = form.to_vec(); // M − p·X
            for (s, weight) in signs.iter().zip(&weights).filter(|(_, weight)| **weight > 1e-12) {
                for (at, entry) in slope.iter_mut().enumerate() {
                    *entry -= price * weight / total * s[at / m] * s[at % m];
                }
            }
            let along = times(&slope, &point, m);
            let moved: Vec<f64> = point.iter().zip(&along).map(|(x, y)| x + step * y).collect();
            let Some(next) = orthonormal(moved, m) else { break };
            point = next;
        }
        step *= 0.7;
    }
    best.unwrap_or_else(|| {
        (f64::NEG_INFINITY, Choice { square: m as f64, lost: trace, vectors: Some(start.to_vec()) })
    })
}

/// |Vᵀs|².
fn squared_length(vectors: &[f64], m: usize, s: &[f64]) -> f64 {
    vectors.chunks_exact(m).map(|vector| sum_of_products(s, vector).powi(2)).sum()
}

/// An m × m matrix times each of some vectors.
fn times(matrix: &[f64], vectors: &[f64], m: usize) -> Vec<f64> {
    let product = |vector| matrix.chunks_exact(m).map(move |row| sum_of_products(row, vector));
    vectors.chunks_exact(m).flat_map(product).collect()
}

/// Vectors made orthonormal, each of m entries; None where they depend on each other.
fn orthonormal(mut vectors: Vec<f64>, m: usize) -> Option<Vec<f64>> {
    for a in 0..vectors.len() / m {
        let (before, rest) = vectors.split_at_mut(a * m);
        let own = &mut rest[..m];
        for _ in 0..2 {
            take_out(own, before.chunks_exact(m), sum_of_products, |_, _| ());
            let length = sum_of_products(own, own).sqrt();
            if length < 1e-9 {
                return None;
            }
            own.iter_mut().for_each(|x| *x /= length);
        }
    }
    Some(vectors)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three coordinates that move almost together, two that do so, two alone.
    fn energy() -> Energy {
        let n = 7;
        let deviations = [3.0, 2.0, 1.5, 1.2, 1.0, 0.9, 0.8_f64];
        let total: f64 = deviations.iter().map(|x| x * x).sum();
        let mut entries = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..n {
                let correlation = match (i, j) {
                    _ if i == j => 1.0,
                    (0..3, 0..3) => 0.99,
                    (3..5, 3..5) => -0.98,
                    _ => 0.05,
                };
                entries[i * n + j] = correlation * deviations[i] * deviations[j] / total;
            }
        }
        Energy { dim: n, entries, total: 1.0, mean: None, samples: 9 }
    }

    #[test]
    fn choices_are_what_they_say() {
        let energy = energy();
        let chosen = [0, 1, 2, 3, 4];
        let unit = energy.at(5, 5);
        let groups = Groups::new(&energy, &chosen, unit);
        assert_eq!(
            groups.each.iter().map(|group| group.members.clone()).collect::<Vec<_>>(),
            [vec![0, 1, 2], vec![3, 4]]
        );
        assert!(groups.front.len() > 10);
        let plain = energy.at(5, 5) + energy.at(6, 6);
        for combined in &groups.front {
            let basis = groups.basis(&chosen, combined);
            assert!((energy.error(&basis) - plain - combined.lost).abs() < 1e-13);
            let r = basis.columns;
            for a in 0..r {
                for b in 0..r {
                    let dot: f64 = (0..7).map(|i| basis.at(i, a) * basis.at(i, b)).sum();
                    assert!((dot - f64::from(u8::from(a == b))).abs() < 1e-14);
                }
            }
            let value = |bits: u32| -> f64 {
                let sign = |i: usize| if bits >> i & 1 == 1 { -1.0 } else { 1.0 };
                (0..r).map(|a| (0..7).map(|i| sign(i) * basis.at(i, a)).sum::<f64>().powi(2)).sum()
            };
            let largest = (0..128).map(value).fold(0.0, f64::max);
            assert!((largest - 5.0 - combined.saved).abs() < 1e-12, "{largest} {}", combined.saved);
        }
        // Rising and falling.
        assert!(groups.front.windows(2).all(|two| two[0].saved < two[1].saved && two[0].lost > two[1].lost));
        let last = groups.front.last().expect("the coordinates themselves");
        assert_eq!((last.saved, last.lost), (0.0, 0.0));
    }

    /// For two coordinates there is a formula: at angle t, κ² = 1 + sin 2t and a sin² t + b cos² t − c sin 2t is lost.
    #[test]
    fn pairs_are_as_good_as_the_formula() {
        let (a, b) = (4.0, 1.5_f64);
        let c = 0.97 * (a * b).sqrt();
        let menu = menu(&[a, c, c, b], 2);
        let lost = |t: f64| a * t.sin().powi(2) + b * t.cos().powi(2) - c * (2.0 * t).sin();
        assert!(menu.len() > 5);
        for choice in menu.iter().filter(|choice| choice.vectors.is_some()) {
            let t = 0.5 * (choice.square - 1.0).clamp(-1.0, 1.0).asin(); // first more than the second: t < π/4
            assert!(choice.lost <= lost(t) + 1e-6, "{} {}", choice.lost, lost(t));
        }
    }

    #[test]
    fn large_clusters_fall_apart() {
        let n = 12;
        let entries = (0..n * n).map(|at| if at / n == at % n { 1.0 } else { 0.9 } / n as f64).collect();
        let energy = Energy { dim: n, entries, total: 1.0, mean: None, samples: 99 };
        let core: Vec<usize> = (0..n).collect();
        assert!(clusters(&energy, &core).iter().all(|members| members.len() <= MOST));
        assert_eq!(Groups::new(&energy, &core, 0.1).front.len(), 1);
    }
}
