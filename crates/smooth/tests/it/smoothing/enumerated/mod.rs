//! How often certificates are false, by exact enumeration: three classes, n₀ = 20, n = 200, selection included.
//!
//! For given probabilities of the classes every outcome of the selection and of the estimation draws is looked at. A
//! certificate of A is false where its radius exceeds σ/2·(Φ⁻¹(p_A) − Φ⁻¹(p_B)), p_B the largest of the others, beyond which
//! some classifier with these probabilities answers otherwise; where A does not lead, every one is. Probabilities are whole
//! numbers over 2²⁴ and sums whole numbers, so nothing is rounded; shares of randomised limits are enumerated too, by the
//! last one of 2³² with a radius that is too large.
//!
//! The worst probabilities are looked for first (`search.rs`), for each rule by itself. `GAMBESON_COVERAGE_STEPS=60` makes the
//! grid three times finer than the default, and looks further and judges exactly from three times as many of its points.

mod exact;
mod search;
mod shares;
mod table;

use exact::{compared, exactly};
use gambeson_checker::{
    FailureProbability, LatentRadius, LimitMethod, NoiseLevel, RandomShare, SamplingRule, Sides,
};
use gambeson_smooth::limit::{ClassDraws, LimitChoice, LimitRule, Sample, SelectionCounts, chosen_sides};
use search::worst;
use table::{radius, table};

const N0: usize = 20;
const N: usize = 200;
/// Probabilities are multiples of 2⁻²⁴.
const BITS: usize = 24;
/// Shares of randomised limits.
const SHARES: u64 = 1 << 32;

type Parts = [u64; 3];

/// The least part of each class, where there are to be three.
const THREE: u64 = (1 << BITS) / 20;

fn probability(part: u64) -> f64 {
    part as f64 / (1_u64 << BITS) as f64
}

fn failure(alpha: f64) -> FailureProbability {
    FailureProbability::new(alpha).expect("a probability")
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

/// The largest of some probabilities of a false certificate, and the classes' probabilities there.
fn largest(found: &[(f64, Parts)], alpha: f64) -> String {
    let (most, at) = found.iter().copied().fold((0.0, [0; 3]), |a, b| if b.0 > a.0 { b } else { a });
    format!("{most} = {} alpha at {:?}", most / alpha, at.map(probability))
}

#[test]
#[allow(clippy::print_stdout)] // figures for the record
fn false_certificates_are_no_more_frequent_than_alpha() {
    let judged_of_each = usize::try_from(steps().div_ceil(7)).expect("few");
    for alpha in [0.05, 0.001] {
        let table = table(alpha);
        let judged = |rule: LimitRule, parts: Parts| -> (f64, Parts) {
            let (holds, exact) = compared(&exactly(&table, rule, parts), alpha);
            assert!(holds, "{rule:?} at {parts:?}: false with probability {exact}, alpha is {alpha}");
            (exact, parts)
        };
        let mut others: Vec<Parts> = Vec::new();
        for rule in [LimitRule::OneSided, LimitRule::Chosen, LimitRule::Randomised] {
            let found = worst(&table, rule, steps(), 0);
            let confirmed = |of: &[(f64, Parts)]| -> Vec<(f64, Parts)> {
                let confirm = |&(nearly, parts): &(f64, Parts)| {
                    let found = judged(rule, parts);
                    assert!((found.0 / nearly - 1.0).abs() < 1e-6, "{rule:?}: {found:?} {nearly}");
                    found
                };
                of.iter().take(judged_of_each).map(confirm).collect()
            };
            let exact = confirmed(&found);
            // A test that can fail: some limit is met.
            assert!(exact.iter().any(|(most, _)| *most > 0.9 * alpha), "{rule:?}: {exact:?}");
            let plain: Vec<(f64, Parts)> =
                plain_points().into_iter().map(|parts| judged(rule, parts)).collect();
            println!("{}, alpha {alpha}: {}", rule.name(), largest(&exact, alpha));
            println!("  at plain points: {}", largest(&plain, alpha));
            let three = confirmed(&worst(&table, rule, steps(), THREE));
            println!("  where each class has 1/20: {}", largest(&three, alpha));
            if rule == LimitRule::Randomised {
                let there: Vec<(f64, Parts)> = others.iter().map(|&parts| judged(rule, parts)).collect();
                println!("  where the others are worst: {}", largest(&there, alpha));
            }
            others.extend(found.iter().take(2).map(|(_, parts)| *parts));
        }
    }
}

/// Broken: a limit at a hundredth more than α.
#[test]
fn limits_at_more_than_alpha_are_found_out() {
    let alpha = 0.05;
    let mut broken = table(alpha);
    let one = (0..=N).map(|k| radius(k, N - k, 1.01 * alpha, LimitMethod::ClopperPearson, Sides::One));
    broken.one = one.collect();
    let (_, parts) = worst(&broken, LimitRule::Chosen, 10, 0)[0];
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
