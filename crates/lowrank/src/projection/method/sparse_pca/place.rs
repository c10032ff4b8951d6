//! Places for atoms without codes: along the residuals of some features.
//!
//! With one atom d to itself, a feature of which e is left does best with the code soft(d·e, α), and gains
//! ½(|d·e| − α)² where |d·e| > α. The atoms are chosen one by one so that Σ over features of the best gain by
//! any single one of them rises most. That sum is submodular, so a gain once computed stays an upper bound, and most
//! candidates need never be looked at again (Minoux, 1978).

use super::reduced::{Point, Reduced};
use crate::linalg::operator::dot;
use gambeson_checker::kernel::self_product::self_product;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Features looked at for every atom to be placed: those of which most is left.
const CANDIDATES: usize = 4;
/// Features looked at beyond those.
const SPARE: usize = 16;
/// How much more than α must be left of a feature, against α: along an atom of its own exactly α is left.
const MARGIN: f64 = 1e-6;
/// Gains this much smaller than the first are rounding errors.
const NEGLIGIBLE: f64 = 1e-12;

/// Puts every atom 0..`atoms` without codes along what is left of a feature, with the code that does best for this
/// feature, as long as more than α is left of one. The others become zero.
pub(super) fn place_unused(reduced: &Reduced, point: &mut Point, atoms: usize) {
    let (width, samples) = (point.width, reduced.samples);
    let mut used = vec![false; width];
    for code in point.codes.chunks_exact(width) {
        used.iter_mut().zip(code).for_each(|(used, c)| *used |= *c != 0.0);
    }
    let unused: Vec<usize> = (0..atoms).filter(|&k| !used[k]).collect();
    if unused.is_empty() {
        return;
    }
    let left = reduced.left(point);
    let row = |feature: usize| &left[feature * samples..][..samples];
    let lengths = left.chunks_exact(samples).map(|row| dot(row, row).sqrt());
    let least = (1.0 + MARGIN) * reduced.alpha;
    let mut worst: Vec<(usize, f64)> = lengths.enumerate().filter(|(_, length)| *length > least).collect();
    worst.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    worst.truncate(CANDIDATES * unused.len() + SPARE);
    let overlaps = self_product(worst.len(), samples, rayon::current_num_threads(), |i, range, out| {
        out.copy_from_slice(&row(worst[i].0)[range]);
    });
    let mut chosen = choose(&overlaps, &worst, reduced.alpha, unused.len()).into_iter();
    for k in unused {
        let atom = &mut point.dictionary[k * samples..][..samples];
        atom.fill(0.0);
        if let Some(candidate) = chosen.next() {
            let (feature, length) = worst[candidate];
            atom.iter_mut().zip(row(feature)).for_each(|(atom, left)| *atom = left / length);
            point.codes[feature * width + k] = length - reduced.alpha;
        }
    }
}

/// Which candidates to take, at most `count`, given their inner products and lengths.
fn choose(overlaps: &[f64], candidates: &[(usize, f64)], alpha: f64, count: usize) -> Vec<usize> {
    let n = candidates.len();
    let mut best = vec![0.0; n];
    let gains = |i: usize| {
        let length = candidates[i].1;
        overlaps[i * n..][..n].iter().map(move |overlap| {
            let excess = (overlap.abs() / length - alpha).max(0.0);
            0.5 * excess * excess
        })
    };
    let rise = |i: usize, best: &[f64]| {
        gains(i).zip(best).map(|(gain, best): (f64, &f64)| (gain - best).max(0.0)).sum::<f64>()
    };
    // Gains are not negative, so their bits are in their order.
    let entry = |rise: f64, i: usize, known: usize| (rise.to_bits(), Reverse(i), known);
    let mut queue: BinaryHeap<_> = (0..n).map(|i| entry(rise(i, &best), i, 0)).collect();
    let negligible = NEGLIGIBLE * queue.peek().map_or(0.0, |(bits, ..)| f64::from_bits(*bits));
    let mut chosen = vec![];
    while chosen.len() < count {
        let Some((bits, Reverse(i), known)) = queue.pop() else { break };
        if f64::from_bits(bits) <= negligible {
            break; // every feature does as well with the atoms chosen
        }
        if known < chosen.len() {
            queue.push(entry(rise(i, &best), i, chosen.len()));
            continue;
        }
        best.iter_mut().zip(gains(i)).for_each(|(best, gain)| *best = f64::max(*best, gain));
        chosen.push(i);
    }
    chosen
}
