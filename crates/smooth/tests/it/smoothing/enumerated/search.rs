//! Where certificates are false most often: looked for in ordinary arithmetic, over a grid and from its worst points on, and
//! where a limit is just above p_A.

use super::table::{Table, true_radius};
use super::{BITS, N, Parts, probability};
use gambeson_checker::Sides;
use gambeson_smooth::limit::LimitRule;
use rayon::prelude::*;

/// The probability of a false certificate, shares of randomised limits integrated.
fn nearly(table: &Table, rule: LimitRule, selections: &[([usize; 3], usize, Sides)], parts: Parts) -> f64 {
    let ln: Vec<f64> = (0..=N)
        .scan(0.0, |sum, k| {
            *sum += if k == 0 { 0.0 } else { (k as f64).ln() };
            Some(*sum)
        })
        .collect();
    let logs = parts.map(|part| probability(part).ln());
    let power = |i: usize, k: usize| if k == 0 { 0.0 } else { k as f64 * logs[i] };
    let mass = |s: [usize; 3]| {
        let n: usize = s.iter().sum();
        (ln[n] + (0..3).map(|i| power(i, s[i]) - ln[s[i]]).sum::<f64>()).exp()
    };
    let mut weights = [[0.0; 2]; 3];
    for &(s, class, sides) in selections {
        weights[class][usize::from(sides == Sides::Two)] += mass(s);
    }
    let mut total = 0.0;
    for (class, [one, two]) in weights.into_iter().enumerate() {
        if one + two < 1e-12 {
            continue;
        }
        let most = true_radius(parts, class);
        for k in 0..=N {
            let rest = N - k;
            let by_one = one * table.false_part(rule, Sides::One, (k, rest), most);
            for m in rest.div_ceil(2)..=rest {
                let counted = by_one + two * table.false_part(rule, Sides::Two, (k, m), most);
                if counted < 1e-12 {
                    continue;
                }
                let outcome = |second: usize| {
                    let mut s = [0; 3];
                    (s[class], s[(class + 1) % 3], s[(class + 2) % 3]) = (k, second, rest - second);
                    mass(s)
                };
                let both = if 2 * m == rest { outcome(m) } else { outcome(m) + outcome(rest - m) };
                total += both * counted;
            }
        }
    }
    total
}

/// The worst probabilities found, worst first, of those of which none is below the least.
pub(super) fn worst(table: &Table, rule: LimitRule, steps: u64, least: u64) -> Vec<(f64, Parts)> {
    let selections = table.selections(rule);
    let whole = 1_u64 << BITS;
    let mut starts: Vec<Parts> = Vec::new();
    for a in 0..=steps {
        for b in 0..=steps - a {
            let (a, b) = (a * whole / steps, b * whole / steps);
            starts.push([a, b, whole - a - b]);
        }
    }
    // Just below the limits of one side, with all of the rest in one class or a part of it in the third.
    for k in N / 2..=N {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let a = (whole as f64 * cumulative_below(table.one[k])) as u64;
        for third in [0, (whole - a) / 8] {
            starts.push([a, whole - a - third, third]);
        }
    }
    starts.retain(|parts| parts.iter().all(|&part| part >= least));
    let value = |parts: Parts| nearly(table, rule, &selections, parts);
    let mut found: Vec<(f64, Parts)> = starts.into_par_iter().map(|parts| (value(parts), parts)).collect();
    let by_value = |found: &mut Vec<(f64, Parts)>| found.sort_by(|x, y| y.0.total_cmp(&x.0));
    by_value(&mut found);
    found.truncate(usize::try_from(3 * steps / 10).expect("few"));
    let refined = |&(mut best, mut parts): &(f64, Parts)| {
        let mut step = whole / steps;
        while step > 0 {
            let moves = [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)];
            let better =
                moves.into_iter().filter(|&(from, _)| parts[from] >= step + least).map(|(from, to)| {
                    let mut next = parts;
                    (next[from], next[to]) = (next[from] - step, next[to] + step);
                    (value(next), next)
                });
            match better.max_by(|x, y| x.0.total_cmp(&y.0)).filter(|next| next.0 > best) {
                Some(next) => (best, parts) = next,
                None => step /= 4,
            }
        }
        (best, parts)
    };
    let mut found: Vec<(f64, Parts)> = found.par_iter().map(refined).collect();
    by_value(&mut found);
    found.dedup();
    found
}

/// Φ(x), or a little less.
fn cumulative_below(x: f64) -> f64 {
    crate::smoothing::cumulative(x) * (1.0 - 1e-7)
}
