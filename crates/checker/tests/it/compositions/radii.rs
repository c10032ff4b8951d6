//! Questions about counts, with candidates of their own and of others, and the radii that follow.
//!
//! The judge of a radius knows the question alone: at the α that was asked for, each limit must hold at its share of it by
//! exact tails, and the radius must be no larger than quantiles of these limits allow.

use super::{Counts, sessions};
use crate::binomial_exact::{Enclosure, chances, chances_of};
use crate::cases::generator;
use crate::limits::rejects;
use crate::rational::Dyadic;
use gambeson_checker::{
    ClassCounts, FailureProbability, LatentRadius, LimitCandidate, LimitMethod, LimitTrial, LowerLimit,
    NoiseLevel, PreparedBasis, ProposedLimit, ProvenRadius, RadiusCandidates, RadiusQuestion, RadiusTrial,
    RandomShare, SamplingRule, Sides, SpectralBound, Tally, UpperLimit,
};
use gambeson_smooth::limit::{lower_limit, normal_quantile_above, normal_quantile_below};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

fn question(rng: &mut ChaCha8Rng, n: u64) -> Option<RadiusQuestion> {
    let count = if rng.random_bool(0.3) { n } else { rng.random_range(n / 3..=n) };
    let rest = n - count;
    let runner_up = if rest == 0 { 0 } else { rng.random_range(1..=rest) };
    let rule = match rng.random_range(0..5) {
        0 => SamplingRule::Anytime,
        1 => SamplingRule::MixtureAndLast { last: n },
        2 => SamplingRule::MixtureAndLast { last: n + 1 },
        _ => SamplingRule::Fixed,
    };
    let method = match rng.random_range(0..6) {
        0 => LimitMethod::Mixture,
        1 => LimitMethod::ClopperPearson, // refused, but for the fixed rule
        2 if rule == SamplingRule::Fixed => LimitMethod::Randomised(RandomShare::of_word(rng.random())),
        _ => rule.method(),
    };
    // The least are refused.
    let least = [1e-9, 1e-300, 9e-301, 1e-310, 5e-324];
    let alpha = if rng.random_bool(0.3) {
        least[rng.random_range(0..least.len())]
    } else {
        [0.9, 0.5, 0.3, 0.05, 1e-3][rng.random_range(0..5)]
    };
    Some(RadiusQuestion {
        counts: ClassCounts::new(count, runner_up, n).expect("counts"),
        rule,
        method,
        sides: if rng.random() { Sides::One } else { Sides::Two },
        failure: FailureProbability::new(alpha).ok()?,
        noise: NoiseLevel::new([0.25, 1.0, 1e-300, 1e300][rng.random_range(0..4)]).expect("positive"),
    })
}

/// Candidates for limits of a tally, at α and at parts and multiples of it, and for quantiles of these.
fn proposals(rng: &mut ChaCha8Rng, question: &RadiusQuestion, tally: Tally) -> Vec<ProposedLimit> {
    let RadiusQuestion { rule, method, failure, .. } = *question;
    let levels = u32::try_from(2 * tally.trials() + 1).expect("few");
    let double = FailureProbability::new((2.0 * failure.value()).min(0.99)).unwrap_or(failure);
    let mut found = Vec::new();
    for failure in [failure.half().half(), failure.half(), failure, double] {
        let Ok(limit) = lower_limit(rule, tally, method, failure) else { return found };
        let factor = 1.0 + [0.0, 0.0, 1e-15, -1e-15, 1e-9, -1e-9][rng.random_range(0..6)];
        let limit = if limit.value() < 0.5 {
            LimitCandidate::Success(limit.value() * factor)
        } else {
            LimitCandidate::Failure(limit.complement() * factor)
        };
        let quantile = match limit {
            LimitCandidate::Success(p) if p < 0.5 => -normal_quantile_below(p),
            LimitCandidate::Success(p) => normal_quantile_below(p),
            LimitCandidate::Failure(q) => -normal_quantile_above(q),
        };
        let factor = 1.0 + [0.0, 1e-15, -1e-15, 1e-6, -1e-6][rng.random_range(0..5)];
        let quantile = (quantile.is_finite() && rng.random_bool(0.95)).then_some(quantile.abs() * factor);
        let levels = if rng.random_bool(0.9) { levels } else { rng.random_range(0..levels) };
        found.push(ProposedLimit { limit, levels, quantile });
    }
    found
}

/// A bound on Φ⁻¹(p) from above, for the p that a limit says.
fn quantile_above(limit: LowerLimit) -> f64 {
    if limit.value() < 0.5 {
        normal_quantile_above(limit.value())
    } else {
        -normal_quantile_below(limit.complement())
    }
}

/// Whether the limit holds at this share of α, exactly.
fn holds(limit: LowerLimit, tally: Tally, question: &RadiusQuestion, share: &Enclosure) -> bool {
    let (k, n) = (tally.successes(), tally.trials());
    // Below k/n an inequality at p speaks for all smaller ones.
    limit.value() <= k as f64 / n as f64
        && chances(limit).iter().all(|chance| rejects(question.method, question.rule, chance, (k, n), share))
}

/// What a question was answered with: the limits, and the radius that follows.
type Answer = (LowerLimit, Option<UpperLimit>, Option<LatentRadius>);

fn parts(proven: ProvenRadius) -> Answer {
    (proven.lower(), proven.upper(), proven.radius())
}

fn judge(question: &RadiusQuestion, (lower, upper, radius): Answer, counts: &Counts) {
    let RadiusQuestion { counts: counted, rule, sides, failure, noise, .. } = *question;
    let sides_share = if sides == Sides::Two { 2.0 } else { 1.0 };
    let rule_share = if question.method == LimitMethod::MixtureAndLast { 2.0 } else { 1.0 };
    let share = Enclosure::number(failure.value()).over(&Enclosure::number(sides_share * rule_share));
    assert!(holds(lower, counted.class(), question, &share), "{question:?}: {lower:?} does not hold");
    let a = quantile_above(lower);
    let most = match (sides, upper) {
        (Sides::One, None) => a,
        (Sides::Two, Some(upper)) => {
            // The same limit, on the draws that are not of the runner-up.
            let others = counted.runner_up().opposite();
            for chance in chances_of(upper.complement(), upper.value()) {
                let tally = (others.successes(), others.trials());
                assert!(
                    rejects(question.method, rule, &chance, tally, &share),
                    "{question:?}: {upper:?} does not hold"
                );
            }
            let b = if upper.complement() < 0.5 {
                normal_quantile_above(upper.complement())
            } else {
                -normal_quantile_below(upper.value())
            };
            f64::midpoint(a, b).max(a)
        }
        other => panic!("{question:?}: {other:?}"),
    };
    counts.add("limits");
    let Some(radius) = radius else { return };
    counts.add(if sides == Sides::One { "one-sided radii" } else { "two-sided radii" });
    let bound = (noise.value() * most).next_up();
    assert!(radius.value() > 0.0 && radius.value() <= bound, "{question:?}: {radius:?} above {bound}");
    assert!(sides == Sides::Two || lower.value() > 0.5, "{question:?}: no majority");
}

/// What follows from a radius, in any order: never more than the steps leave of it.
fn follow(rng: &mut ChaCha8Rng, mut radius: LatentRadius, spectral: SpectralBound, counts: &Counts) {
    let mut most = Dyadic::from(radius.value());
    for _ in 0..3 {
        let part = radius.value() * rng.random_range(0.0..0.4);
        let error = [0.0, part, 1e-9, -1.0, f64::NAN, f64::INFINITY][rng.random_range(0..6)];
        let Some(less) = radius.less(error) else { continue };
        assert!(error >= 0.0 && error.is_finite(), "less {error}");
        most = &most - &Dyadic::from(error);
        radius = less;
        counts.add("radii less errors");
        assert!(Dyadic::from(radius.value()) <= most, "{radius:?}");
    }
    let l2 = radius.to_l2(Some(spectral));
    let times = |value: f64, bound: f64| &Dyadic::from(value) * &Dyadic::from(bound);
    assert!(l2.value() == f64::MAX || times(l2.value(), spectral.value()) <= most, "{l2:?}");
    let n = rng.random_range(1..5000_u32);
    let linf = l2.to_linf_by_dimension(n as usize).value();
    let (square, limit) = (times(linf, linf), times(l2.value(), l2.value()));
    assert!(&square * &Dyadic::from(f64::from(n)) <= limit, "{linf} for {n}");
    for bound in [-1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(radius.over(bound), 0.0);
    }
}

fn session(seed: u64, counts: &Counts) {
    let rng = &mut generator(seed.wrapping_mul(0xd134_2543_de82_ef95));
    let n = rng.random_range(1..=60);
    let questions: Vec<RadiusQuestion> = (0..4).filter_map(|_| question(rng, n)).collect();
    // Candidates for the class and for the runner-up of each question, and all of them together.
    let own: Vec<[Vec<ProposedLimit>; 2]> = questions
        .iter()
        .map(|question| {
            let tallies = [question.counts.class(), question.counts.runner_up().opposite()];
            tallies.map(|tally| proposals(rng, question, tally))
        })
        .collect();
    let pool: Vec<ProposedLimit> = own.iter().flatten().flatten().copied().collect();
    let factor = [0.3, -1.7, 2.0];
    let basis = PreparedBasis::new(&factor, 3, 1, 1).expect("a basis");
    let spectral = basis.bound(1.001 * basis.gram().entries()[0]).expect("above");
    for (question, own) in questions.iter().zip(&own) {
        let Ok(trial) = RadiusTrial::new(question) else {
            assert!(
                question.method == LimitMethod::ClopperPearson && question.rule != SamplingRule::Fixed,
                "{question:?}"
            );
            continue;
        };
        for _ in 0..6 {
            let mut any = |own: &[ProposedLimit]| {
                let from = if rng.random_bool(0.7) { own } else { &pool };
                from.get(rng.random_range(0..=from.len())).copied()
            };
            let candidates = RadiusCandidates { class: any(&own[0]), runner_up: any(&own[1]) };
            let proven = trial.prove(&candidates);
            judge(question, parts(proven), counts);
            proven.radius().into_iter().for_each(|radius| follow(rng, radius, spectral, counts));
        }
        // Each limit alone, with whatever is at hand.
        for (trial, tally) in [
            (trial.class(), question.counts.class()),
            (trial.runner_up(), question.counts.runner_up().opposite()),
        ] {
            let (Some(trial), false) = (trial, pool.is_empty()) else { continue };
            let proposed = pool[rng.random_range(0..pool.len())];
            let Some(limit) = alone(trial, proposed) else { continue };
            let share = Enclosure::number(trial.alpha());
            counts.add("limits alone");
            assert!(holds(limit, tally, question, &share), "{question:?}: {limit:?} does not hold");
        }
    }
}

fn alone(trial: &LimitTrial, proposed: ProposedLimit) -> Option<LowerLimit> {
    let limit = trial.nearest(proposed.limit);
    trial.attempt(limit, proposed.levels);
    trial.prove(limit, proposed.levels)
}

#[test]
fn no_composition_of_calls_proves_a_false_radius() {
    let (count, counts) = sessions(session);
    let names = ["limits", "limits alone", "one-sided radii", "two-sided radii", "radii less errors"];
    counts.expect(count, &names, count / 10);
}
