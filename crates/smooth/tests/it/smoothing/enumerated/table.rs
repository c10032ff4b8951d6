//! What counts prove by each rule, at one α.

use super::shares::Shares;
use super::{N, N0, Parts, SHARES, failure, probability};
use gambeson_checker::{
    ClassCounts, LatentRadius, LimitMethod, NoiseLevel, RadiusQuestion, RandomShare, SamplingRule, Sides,
};
use gambeson_smooth::limit::{
    LimitRule, SelectionCounts, chosen_sides, normal_quantile_above, normal_quantile_below, radius_of_counts,
};
use rayon::prelude::*;

/// The radius that k of n draws prove, of a runner-up with at most m; 0 where nothing is proven. σ = 1.
pub(super) fn radius(k: usize, m: usize, alpha: f64, method: LimitMethod, sides: Sides) -> f64 {
    let question = RadiusQuestion {
        counts: ClassCounts::new(k as u64, m as u64, N as u64).expect("counts"),
        rule: SamplingRule::Fixed,
        method,
        sides,
        failure: failure(alpha),
        noise: NoiseLevel::new(1.0).expect("a level"),
    };
    radius_of_counts(&question).expect("a fixed number").radius().map_or(0.0, LatentRadius::value)
}

/// The largest true radius, or a little less.
pub(super) fn true_radius(parts: Parts, class: usize) -> f64 {
    let others = (0..3).filter(|&other| other != class).map(|other| parts[other]).max().unwrap_or(0);
    if parts[class] <= others {
        return 0.0;
    }
    let difference =
        normal_quantile_below(probability(parts[class])) - normal_quantile_above(probability(others));
    (difference / 2.0).next_down().max(0.0)
}

/// What a rule decides, and what counts then prove, at one α.
pub(super) struct Table {
    pub(super) alpha: f64,
    /// Radii of one limit by k, and of two by k and m.
    pub(super) one: Vec<f64>,
    pub(super) two: Vec<Vec<f64>>,
    /// The same with the least share.
    one_lucky: Vec<f64>,
    two_lucky: Vec<Vec<f64>>,
    /// Where the last share with a radius that is too large is to be looked for.
    shares: Shares,
}

pub(super) fn table(alpha: f64) -> Table {
    let all = |method, sides| -> Vec<Vec<f64>> {
        let row = |k: usize| {
            let rest = N - k;
            let entry = |m: usize| {
                // Of two other classes, one has at least half of the rest.
                if 2 * m < rest { 0.0 } else { radius(k, m, alpha, method, sides) }
            };
            (0..=rest).map(entry).collect()
        };
        (0..=N).into_par_iter().map(row).collect()
    };
    let one = |method| -> Vec<f64> { (0..=N).map(|k| radius(k, N - k, alpha, method, Sides::One)).collect() };
    let (plain, lucky) = (LimitMethod::ClopperPearson, LimitMethod::Randomised(RandomShare::of_word(0)));
    Table {
        alpha,
        one: one(plain),
        two: all(plain, Sides::Two),
        one_lucky: one(lucky),
        two_lucky: all(lucky, Sides::Two),
        shares: Shares::new(alpha),
    }
}

/// Of how many shares a radius is too large.
enum FalseShares {
    None,
    /// A share of 1, and all others prove more.
    All,
    /// Of those up to one.
    Some,
}

impl Table {
    fn kind(&self, rule: LimitRule, sides: Sides, (k, m): (usize, usize), most: f64) -> FalseShares {
        let (plain, lucky) = match sides {
            Sides::One => (self.one[k], self.one_lucky[k]),
            Sides::Two => (self.two[k][m], self.two_lucky[k][m]),
        };
        if plain > most {
            FalseShares::All
        } else if rule != LimitRule::Randomised || lucky <= most {
            FalseShares::None
        } else {
            FalseShares::Some
        }
    }

    /// Of how many of the shares the radius exceeds the true one.
    pub(super) fn false_shares(
        &self,
        rule: LimitRule,
        sides: Sides,
        (k, m): (usize, usize),
        most: f64,
    ) -> u64 {
        match self.kind(rule, sides, (k, m), most) {
            FalseShares::None => return 0,
            FalseShares::All => return SHARES,
            FalseShares::Some => {}
        }
        let is_false = |word: u64| {
            let share = RandomShare::of_word(u32::try_from(word).expect("32 bits"));
            radius(k, m, self.alpha, LimitMethod::Randomised(share), sides) > most
        };
        let (mut low, mut high) = (0, SHARES - 1);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a share
        let guess = (self.shares.last_false(sides, (k, m), most) * SHARES as f64) as u64;
        for near in [guess.saturating_sub(4096), guess + 4096] {
            if near > low && near < high {
                if is_false(near) { low = near } else { high = near }
            }
        }
        while high - low > 1 {
            let middle = u64::midpoint(low, high);
            if is_false(middle) { low = middle } else { high = middle }
        }
        // Radii fall as the share grows.
        assert!(
            (high..SHARES)
                .step_by(1 << 30)
                .chain([high, high + 1, high + 99])
                .all(|word| { word >= SHARES || !is_false(word) })
        );
        high
    }

    /// The same as a part of all shares, in ordinary arithmetic.
    pub(super) fn false_part(&self, rule: LimitRule, sides: Sides, counts: (usize, usize), most: f64) -> f64 {
        match self.kind(rule, sides, counts, most) {
            FalseShares::None => 0.0,
            FalseShares::All => 1.0,
            FalseShares::Some => self.shares.last_false(sides, counts, most),
        }
    }

    fn sides(&self, rule: LimitRule, selection: [usize; 3], class: usize) -> Sides {
        if rule == LimitRule::OneSided {
            return Sides::One;
        }
        let others = (0..3).filter(|&other| other != class).map(|other| selection[other]).max().unwrap_or(0);
        let counts =
            SelectionCounts { class: selection[class] as u64, runner_up: others as u64, draws: N0 as u64 };
        chosen_sides(counts, SamplingRule::Fixed, N as u64, failure(self.alpha)).expect("a fixed number")
    }

    /// Every outcome of the selection draws: its counts, the class and the number of limits.
    pub(super) fn selections(&self, rule: LimitRule) -> Vec<([usize; 3], usize, Sides)> {
        let outcomes = (0..=N0).flat_map(|a| (0..=N0 - a).map(move |b| [a, b, N0 - a - b]));
        let decided = |selection: [usize; 3]| {
            let class = (0..3).max_by_key(|&class| (selection[class], std::cmp::Reverse(class))).unwrap_or(0);
            (selection, class, self.sides(rule, selection, class))
        };
        outcomes.map(decided).collect()
    }
}
