//! How often certificates are false, by exact enumeration: three classes, n₀ = 20, n = 200, selection included.
//!
//! For given probabilities of the classes every outcome of the selection and of the estimation draws is looked at. A
//! certificate of A is false where its radius exceeds σ/2·(Φ⁻¹(p_A) − Φ⁻¹(p_B)), p_B the largest of the others, beyond which
//! some classifier with these probabilities answers otherwise; where A does not lead, every one is. Probabilities are whole
//! numbers over 2²⁴ and sums whole numbers, so nothing is rounded; shares of randomised limits are enumerated too, by the
//! last one of 2³² with a radius that is too large.
//!
//! The worst probabilities are looked for in ordinary arithmetic first, over a grid and from its worst points on, and where a
//! limit is just above p_A. `GAMBESON_COVERAGE_STEPS=60` makes the grid three times finer than the default.

use gambeson_checker::{
    ClassCounts, FailureProbability, LatentRadius, LimitMethod, NoiseLevel, RadiusQuestion, RandomShare,
    SamplingRule, Sides,
};
use gambeson_smooth::limit::{
    ClassDraws, LimitChoice, LimitRule, Sample, SelectionCounts, chosen_sides, normal_quantile_above,
    normal_quantile_below, radius_of_counts,
};
use num_bigint::BigUint;
use rayon::prelude::*;

const N0: usize = 20;
const N: usize = 200;
/// Probabilities are multiples of 2⁻²⁴.
const BITS: usize = 24;
/// Shares of randomised limits.
const SHARES: u64 = 1 << 32;

type Parts = [u64; 3];

fn probability(part: u64) -> f64 {
    part as f64 / (1_u64 << BITS) as f64
}

fn failure(alpha: f64) -> FailureProbability {
    FailureProbability::new(alpha).expect("a probability")
}

/// The radius that k of n draws prove, of a runner-up with at most m; 0 where nothing is proven. σ = 1.
fn radius(k: usize, m: usize, alpha: f64, method: LimitMethod, sides: Sides) -> f64 {
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
fn true_radius(parts: Parts, class: usize) -> f64 {
    let others = (0..3).filter(|&other| other != class).map(|other| parts[other]).max().unwrap_or(0);
    if parts[class] <= others {
        return 0.0;
    }
    let difference =
        normal_quantile_below(probability(parts[class])) - normal_quantile_above(probability(others));
    (difference / 2.0).next_down().max(0.0)
}

/// What a rule decides, and what counts then prove, at one α.
struct Table {
    alpha: f64,
    /// Radii of one limit by k, and of two by k and m.
    one: Vec<f64>,
    two: Vec<Vec<f64>>,
    /// The same with the least share.
    one_lucky: Vec<f64>,
    two_lucky: Vec<Vec<f64>>,
}

fn table(alpha: f64) -> Table {
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
    }
}

impl Table {
    /// Of how many of the shares the radius exceeds the true one.
    fn false_shares(&self, rule: LimitRule, sides: Sides, (k, m): (usize, usize), most: f64) -> u64 {
        let (plain, lucky) = match sides {
            Sides::One => (self.one[k], self.one_lucky[k]),
            Sides::Two => (self.two[k][m], self.two_lucky[k][m]),
        };
        if plain > most {
            return SHARES; // a share of 1, and all others prove more
        }
        if rule != LimitRule::Randomised || lucky <= most {
            return 0;
        }
        let is_false = |word: u64| {
            let share = RandomShare::of_word(u32::try_from(word).expect("32 bits"));
            radius(k, m, self.alpha, LimitMethod::Randomised(share), sides) > most
        };
        let (mut low, mut high) = (0, SHARES - 1);
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
    fn selections(&self, rule: LimitRule) -> Vec<([usize; 3], usize, Sides)> {
        let outcomes = (0..=N0).flat_map(|a| (0..=N0 - a).map(move |b| [a, b, N0 - a - b]));
        let decided = |selection: [usize; 3]| {
            let class = (0..3).max_by_key(|&class| (selection[class], std::cmp::Reverse(class))).unwrap_or(0);
            (selection, class, self.sides(rule, selection, class))
        };
        outcomes.map(decided).collect()
    }
}

fn binomials(n: usize) -> Vec<Vec<BigUint>> {
    let mut rows = vec![vec![BigUint::from(1_u32)]];
    for above in 0..n {
        let row = &rows[above];
        let inner = row.windows(2).map(|pair| &pair[0] + &pair[1]);
        let one = || std::iter::once(BigUint::from(1_u32));
        rows.push(one().chain(inner).chain(one()).collect());
    }
    rows
}

fn powers(base: u64, most: usize) -> Vec<BigUint> {
    let mut powers = vec![BigUint::from(1_u32)];
    for k in 0..most {
        powers.push(&powers[k] * base);
    }
    powers
}

/// The probability of a false certificate: a whole number over 2^(24·(n₀ + n) + 32).
fn exactly(table: &Table, rule: LimitRule, parts: Parts) -> BigUint {
    let choose = binomials(N);
    let by_class = parts.map(|part| powers(part, N));
    let mut weights = vec![[BigUint::ZERO, BigUint::ZERO]; 3];
    for (s, class, sides) in table.selections(rule) {
        let ways = &choose[N0][s[0]] * &choose[N0 - s[0]][s[1]];
        let chance = (0..3).fold(ways, |chance, i| chance * &by_class[i][s[i]]);
        weights[class][usize::from(sides == Sides::Two)] += chance;
    }
    let term = |class: usize, k: usize, sides: Sides| -> BigUint {
        let most = true_radius(parts, class);
        let rest = N - k;
        let (second, third) = (&by_class[(class + 1) % 3], &by_class[(class + 2) % 3]);
        let mut sum = BigUint::ZERO;
        if sides == Sides::One {
            let shares = table.false_shares(rule, sides, (k, rest), most);
            if shares > 0 {
                sum = powers((1 << BITS) - parts[class], rest).swap_remove(rest) * shares;
            }
        } else {
            for m in rest.div_ceil(2)..=rest {
                let shares = table.false_shares(rule, sides, (k, m), most);
                if shares == 0 {
                    continue;
                }
                let either = &second[m] * &third[rest - m];
                let both = if 2 * m == rest { either } else { either + &second[rest - m] * &third[m] };
                sum += both * &choose[rest][m] * shares;
            }
        }
        sum * &choose[N][k] * &by_class[class][k]
    };
    let mut total = BigUint::ZERO;
    for (class, by_sides) in weights.into_iter().enumerate() {
        for (weight, sides) in by_sides.into_iter().zip([Sides::One, Sides::Two]) {
            if weight != BigUint::ZERO {
                let sum: BigUint = (0..=N).into_par_iter().map(|k| term(class, k, sides)).sum();
                total += weight * sum;
            }
        }
    }
    total
}

/// Whether a probability so counted is at most α, and about how large it is.
fn compared(total: &BigUint, alpha: f64) -> (bool, f64) {
    let bits = u64::try_from(BITS * (N0 + N) + 32).expect("few");
    let (mantissa, exponent) =
        (alpha.to_bits() & ((1 << 52) - 1) | 1 << 52, (alpha.to_bits() >> 52) + bits - 1075);
    let kept = total >> total.bits().saturating_sub(64);
    let digits = kept.to_u64_digits().first().copied().unwrap_or(0) as f64;
    #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)] // some thousands
    let scale = total.bits().saturating_sub(64) as i32 - bits as i32;
    (
        *total <= BigUint::from(mantissa) << exponent,
        digits * 2_f64.powi(scale / 2) * 2_f64.powi(scale - scale / 2),
    )
}

/// The same in ordinary arithmetic, for limits that are not randomised: to find where to look.
fn nearly(table: &Table, selections: &[([usize; 3], usize, Sides)], parts: Parts) -> f64 {
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
        let most = true_radius(parts, class);
        for k in 0..=N {
            let whole = table.one[k] > most && one > 1e-12;
            let rest = N - k;
            for b in 0..=rest {
                let counted = two * f64::from(u8::from(table.two[k][b.max(rest - b)] > most));
                if counted + one > 1e-12 && (whole || counted > 0.0) {
                    let mut s = [0; 3];
                    (s[class], s[(class + 1) % 3], s[(class + 2) % 3]) = (k, b, rest - b);
                    total += mass(s) * (counted + if whole { one } else { 0.0 });
                }
            }
        }
    }
    total
}

/// The worst probabilities found, worst first.
fn worst(table: &Table, rule: LimitRule, steps: u64) -> Vec<(f64, Parts)> {
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
    let value = |parts: Parts| nearly(table, &selections, parts);
    let mut found: Vec<(f64, Parts)> = starts.into_par_iter().map(|parts| (value(parts), parts)).collect();
    let by_value = |found: &mut Vec<(f64, Parts)>| found.sort_by(|x, y| y.0.total_cmp(&x.0));
    by_value(&mut found);
    found.truncate(6);
    let refined = |&(mut best, mut parts): &(f64, Parts)| {
        let mut step = whole / steps;
        while step > 0 {
            let moves = [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)];
            let better = moves.into_iter().filter(|&(from, _)| parts[from] >= step).map(|(from, to)| {
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
    super::cumulative(x) * (1.0 - 1e-7)
}

fn steps() -> u64 {
    std::env::var("GAMBESON_COVERAGE_STEPS").map_or(20, |steps| steps.parse().expect("a number"))
}

/// Probabilities as parts of 2²⁴, the last class with what the others leave.
fn parts([a, b]: [f64; 2]) -> Parts {
    let whole = (1_u64 << BITS) as f64;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // probabilities
    let [a, b] = [a, b].map(|p| (p * whole) as u64);
    [a, b, (1 << BITS) - a - b]
}

/// Three classes, of which one leads with or without a majority, and near ties.
fn plain_points() -> [Parts; 5] {
    [[0.9, 0.06], [0.6, 0.25], [0.46, 0.3], [0.41, 0.36], [0.34, 0.33]].map(parts)
}

#[test]
#[allow(clippy::print_stdout)] // figures for the record
fn false_certificates_are_no_more_frequent_than_alpha() {
    for alpha in [0.05, 0.001] {
        let table = table(alpha);
        let judged = |rule: LimitRule, parts: Parts| -> (f64, Parts) {
            let (holds, exact) = compared(&exactly(&table, rule, parts), alpha);
            assert!(holds, "{rule:?} at {parts:?}: false with probability {exact}, alpha is {alpha}");
            (exact, parts)
        };
        let largest = |found: &[(f64, Parts)]| {
            let (most, at) = found.iter().copied().fold((0.0, [0; 3]), |a, b| if b.0 > a.0 { b } else { a });
            format!("{:.4} alpha at {:.4?}", most / alpha, at.map(probability))
        };
        let mut points: Vec<Parts> = plain_points().to_vec();
        for rule in [LimitRule::OneSided, LimitRule::Chosen] {
            let found = worst(&table, rule, steps());
            let mut exact: Vec<(f64, Parts)> = Vec::new();
            for &(nearly, parts) in found.iter().take(3) {
                let found = judged(rule, parts);
                assert!((found.0 / nearly - 1.0).abs() < 1e-6, "{found:?} {nearly}");
                exact.push(found);
            }
            // A test that can fail: some limit is met.
            assert!(exact.iter().any(|(most, _)| *most > 0.9 * alpha), "{rule:?}: {exact:?}");
            let plain: Vec<(f64, Parts)> =
                plain_points().into_iter().map(|parts| judged(rule, parts)).collect();
            let (name, at, plain) = (rule.name(), largest(&exact), largest(&plain));
            println!("{name}, alpha {alpha}: at most {at}; three classes: {plain}");
            points.extend(found.iter().take(2).map(|(_, parts)| *parts));
        }
        let exact: Vec<(f64, Parts)> =
            points.into_iter().map(|parts| judged(LimitRule::Randomised, parts)).collect();
        let (plain, found) = exact.split_at(plain_points().len());
        println!("randomised, alpha {alpha}: at most {}; three classes: {}", largest(found), largest(plain));
        assert!(exact.iter().any(|(most, _)| *most > 0.9 * alpha), "randomised: {exact:?}");
    }
}

/// Broken: a limit at a hundredth more than α.
#[test]
fn limits_at_more_than_alpha_are_found_out() {
    let alpha = 0.05;
    let honest = table(alpha);
    let one = (0..=N).map(|k| radius(k, N - k, 1.01 * alpha, LimitMethod::ClopperPearson, Sides::One));
    let broken = Table { one: one.collect(), ..honest };
    let (_, parts) = worst(&broken, LimitRule::Chosen, 10)[0];
    let (holds, exact) = compared(&exactly(&broken, LimitRule::Chosen, parts), alpha);
    assert!(!holds && exact > 1.005 * alpha, "{exact} at {parts:?}");
}

/// The tables and the choice are those of records and of the engine.
#[test]
fn outcomes_are_what_the_engine_makes_of_them() {
    let alpha = 0.05;
    let noise = NoiseLevel::new(1.0).expect("a level");
    for (selection, estimation) in [
        ([20, 0, 0], [190, 6, 4]),
        ([9, 6, 5], [90, 60, 50]),
        ([6, 8, 6], [60, 80, 60]),
        ([10, 10, 0], [120, 80, 0]),
        ([12, 4, 4], [110, 45, 45]),
        ([1, 1, 18], [0, 0, 200]),
    ] {
        let class = (0..3).max_by_key(|&class| (selection[class], std::cmp::Reverse(class))).expect("three");
        let count = usize::try_from(estimation[class]).expect("few");
        let m = (0..3).filter(|&i| i != class).map(|i| estimation[i]).max().expect("two");
        for limits in [LimitRule::OneSided, LimitRule::Chosen, LimitRule::Randomised] {
            let share = RandomShare::of_word(1 << 31);
            let draws = |classes| ClassDraws { classes, none: 0, undecided: 0 };
            let sample = Sample {
                selection: draws(&selection),
                estimation: draws(&estimation),
                rule: SamplingRule::Fixed,
                planned: N as u64,
                limits,
                share,
                noise,
            };
            let proven = sample.prove(failure(alpha), LimitChoice::Natural).expect("valid").expect("a class");
            let method = match limits {
                LimitRule::Randomised => LimitMethod::Randomised(share),
                _ => LimitMethod::ClopperPearson,
            };
            let counts = SelectionCounts {
                class: selection[class],
                runner_up: (0..3).filter(|&i| i != class).map(|i| selection[i]).max().expect("two"),
                draws: N0 as u64,
            };
            let sides = match limits {
                LimitRule::OneSided => Sides::One,
                _ => chosen_sides(counts, SamplingRule::Fixed, N as u64, failure(alpha)).expect("valid"),
            };
            let expected = radius(count, usize::try_from(m).expect("few"), alpha, method, sides);
            assert_eq!(
                proven.radius().map_or(0.0, LatentRadius::value),
                expected,
                "{selection:?} {limits:?}"
            );
        }
    }
}
