//! Confidence limits against exact probabilities, against exact coverage, and against the intervals of others.

use crate::binomial_exact::{Chance, Enclosure, chances};
use crate::cases::generator;
use gambeson_checker::{
    ClassCounts, FailureProbability, LatentRadius, LimitMethod, LowerLimit, MOST_TRIALS, NoiseLevel,
    ProvenRadius, RadiusQuestion, RandomShare, SamplingRule, Sides, StatisticsError, Tally, UpperLimit,
};
use gambeson_smooth::limit::{lower_limit, radius_of_counts, upper_limit};
use gambeson_testing::reference_data;
use proptest::prelude::*;
use rand::RngExt;

pub(crate) fn alpha(value: f64) -> FailureProbability {
    FailureProbability::new(value).expect("between 0 and 1")
}

pub(crate) fn tally(successes: u64, trials: u64) -> Tally {
    Tally::new(successes, trials).expect("a count")
}

pub(crate) fn lower(k: u64, n: u64, failure: f64) -> LowerLimit {
    lower_limit(SamplingRule::Fixed, tally(k, n), LimitMethod::ClopperPearson, alpha(failure)).expect("fixed")
}

pub(crate) fn upper(k: u64, n: u64, failure: f64) -> UpperLimit {
    upper_limit(SamplingRule::Fixed, tally(k, n), LimitMethod::ClopperPearson, alpha(failure)).expect("fixed")
}

/// What `count` of n draws prove, where the runner-up has at most `runner_up`, at α in all.
pub(crate) fn proven(
    (count, runner_up, n): (u64, u64, u64),
    sides: Sides,
    failure: f64,
    noise: NoiseLevel,
) -> ProvenRadius {
    let (rule, method) = (SamplingRule::Fixed, LimitMethod::ClopperPearson);
    let counts = ClassCounts::new(count, runner_up, n).expect("counts");
    let failure = alpha(failure);
    radius_of_counts(&RadiusQuestion { counts, rule, method, sides, failure, noise }).expect("fixed")
}

/// The radius of one limit.
pub(crate) fn radius(count: u64, n: u64, failure: f64, noise: NoiseLevel) -> Option<LatentRadius> {
    proven((count, n - count, n), Sides::One, failure, noise).radius()
}

fn randomised(k: u64, n: u64, failure: f64, share: RandomShare) -> LowerLimit {
    let method = LimitMethod::Randomised(share);
    lower_limit(SamplingRule::Fixed, tally(k, n), method, alpha(failure)).expect("fixed")
}

fn mixed(k: u64, n: u64, failure: f64) -> LowerLimit {
    lower_limit(SamplingRule::Anytime, tally(k, n), LimitMethod::Mixture, alpha(failure)).expect("anytime")
}

/// The limit moved inwards by a relative step of p or of 1 − p, the smaller of the two.
fn inwards(limit: LowerLimit, step: f64) -> Chance {
    if limit.value() < 0.5 {
        Chance::of_success(limit.value() * (1.0 + step))
    } else {
        Chance::of_failure(limit.complement() * (1.0 - step))
    }
}

/// Whether a method for counts of a rule rejects p for k of n at this share of α, exactly.
pub(crate) fn rejects(
    method: LimitMethod,
    rule: SamplingRule,
    chance: &Chance,
    (k, n): (u64, u64),
    share: &Enclosure,
) -> bool {
    let half = Enclosure::number(0.5);
    let share = if share.at_most(&half) { share } else { &half };
    let is_last = rule == SamplingRule::MixtureAndLast { last: n };
    match method {
        // P(X ≥ k) ≤ α.
        LimitMethod::ClopperPearson => chance.tail(n, k).at_most(share),
        LimitMethod::MixtureAndLast if is_last => chance.tail(n, k).at_most(share),
        // P(X > k) + u·P(X = k) ≤ α, with u at least 2α.
        LimitMethod::Randomised(u) => {
            let (u, least) = (Enclosure::number(u.value()), share.times(&Enclosure::number(2.0)));
            let u = if u.at_most(&least) { least } else { u };
            let counted = chance.mass(n, k).times(&u);
            let all = if k == n { counted } else { chance.tail(n, k + 1).plus(&counted) };
            all.at_most(share)
        }
        // (n + 1)·q·P(X = k) ≤ α·(1 − P(X' ≥ k + 1)).
        LimitMethod::Mixture | LimitMethod::MixtureAndLast => {
            let mass = Enclosure::exact(n + 1).times(&chance.failure()).times(&chance.mass(n, k));
            mass.at_most(&chance.tail(n + 1, k + 1).complement().times(share))
        }
    }
}

/// The limit of a method is proven, and a relative 10⁻¹³ further in it would not be: exactly.
fn is_exact(method: LimitMethod, k: u64, n: u64, failure: f64) {
    let rule = if method == LimitMethod::Mixture { SamplingRule::Anytime } else { SamplingRule::Fixed };
    let limit = lower_limit(rule, tally(k, n), method, alpha(failure)).expect("fits");
    let rejects = |chance: &Chance| rejects(method, rule, chance, (k, n), &Enclosure::number(failure));
    for chance in chances(limit) {
        assert!(rejects(&chance), "{k} of {n}, {failure}, {method:?}: {limit:?} is not proven");
    }
    assert!(!rejects(&inwards(limit, 1e-13)), "{k} of {n}, {failure}, {method:?}: {limit:?} is loose");
}

fn clopper_pearson_is_exact(k: u64, n: u64, failure: f64) {
    is_exact(LimitMethod::ClopperPearson, k, n, failure);
}

fn mixture_is_exact(k: u64, n: u64, failure: f64) {
    is_exact(LimitMethod::Mixture, k, n, failure);
}

fn randomised_is_exact(k: u64, n: u64, failure: f64, share: RandomShare) {
    is_exact(LimitMethod::Randomised(share), k, n, failure);
}

const FAILURES: [f64; 7] = [0.5, 0.2, 0.05, 1e-3, 2.5e-4, 1e-6, 1e-12];

#[test]
fn limits_are_exact_for_all_small_counts() {
    for n in [1, 2, 3, 5, 9, 17, 33] {
        for k in 1..=n {
            for failure in FAILURES {
                clopper_pearson_is_exact(k, n, failure);
                mixture_is_exact(k, n, failure);
                for word in [0, 1 << 30, u32::MAX / 2, u32::MAX - 1, u32::MAX] {
                    randomised_is_exact(k, n, failure, RandomShare::of_word(word));
                }
            }
        }
    }
}

#[test]
fn limits_are_exact_for_larger_counts() {
    for (k, n) in
        [(1, 1000), (500, 1000), (900, 1000), (997, 1000), (1000, 1000), (8000, 10_000), (9999, 10_000)]
    {
        for failure in [0.3, 0.05, 1e-3, 1e-12] {
            clopper_pearson_is_exact(k, n, failure);
            mixture_is_exact(k, n, failure);
            randomised_is_exact(k, n, failure, RandomShare::of_word(1 << 29));
        }
    }
    clopper_pearson_is_exact(99_900, 100_000, 1e-3);
    mixture_is_exact(99_900, 100_000, 1e-3);
}

/// How many matrices are tested exactly; a tenth of the random counts, and a fiftieth of the public ones.
fn exact_cases() -> usize {
    std::env::var("GAMBESON_EXACT_CASES").map_or(2000, |count| count.parse().expect("a number"))
}

#[test]
fn limits_are_exact_for_random_counts() {
    // As many tenths of the cases of the matrices: one takes a few milliseconds.
    let cases =
        std::env::var("GAMBESON_EXACT_CASES").map_or(2000, |count| count.parse().expect("a number")) / 10;
    let rng = &mut generator(17);
    for _ in 0..cases {
        let n = 10_f64.powf(rng.random_range(0.0..4.3));
        let k = n * (1.0 - 10_f64.powf(rng.random_range(-4.3..0.0)));
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let (n, k) = (n as u64, (k as u64).max(1));
        let k = if rng.random() { k } else { (n - k).max(1) };
        let failure = 10_f64.powf(rng.random_range(-12.0..-0.31));
        clopper_pearson_is_exact(k, n, failure);
        mixture_is_exact(k, n, failure);
        randomised_is_exact(k, n, failure, RandomShare::of_word(rng.random()));
    }
}

/// A share of 1 is no share at all, smaller ones prove more, and below .05 they are all the same.
#[test]
fn shares_are_what_a_limit_leaves_out() {
    for (k, n) in [(1, 10), (60, 100), (990, 1000), (1000, 1000)] {
        let at = |word| randomised(k, n, 1e-3, RandomShare::of_word(word)).value();
        assert_eq!(at(u32::MAX), lower(k, n, 1e-3).value());
        let falling: Vec<f64> = (1..=64).map(|part: u32| at((part << 26).wrapping_sub(1))).collect();
        assert!(falling[4..].windows(2).all(|pair| pair[0] > pair[1]), "{falling:?}");
        assert_eq!((at(0), at(1 << 24)), (at(214_748_364), at(214_748_364)));
    }
    assert_eq!(RandomShare::WHOLE.value(), 1.0);
    assert_eq!(RandomShare::of_word(u32::MAX), RandomShare::WHOLE);
    let least = RandomShare::of_word(0).value();
    assert!((0.05..0.05 + 2.4e-10).contains(&least), "{least}");
    assert_eq!(RandomShare::of_word((1 << 31) - 1).value(), 0.5);
    // However large alpha, not every p is rejected.
    assert!(randomised(10, 10, 0.3, RandomShare::of_word(0)).value() < 0.95);
    assert_eq!(randomised(0, 10, 0.3, RandomShare::of_word(0)), LowerLimit::TRIVIAL);
}

#[test]
fn failure_probabilities_may_be_as_small_as_numbers_are() {
    let in_range = |limit: LowerLimit, k: u64, n: u64| {
        (0.0..=k as f64 / n as f64).contains(&limit.value()) && limit.complement() <= 1.0
    };
    for (k, n) in [(1, 1), (7, 10), (900, 1000), (1000, 1000)] {
        for failure in [1e-30, 1e-100, FailureProbability::LEAST] {
            assert!(in_range(lower(k, n, failure), k, n) && in_range(mixed(k, n, failure), k, n));
            if n > 1 {
                clopper_pearson_is_exact(k, n, failure);
            }
        }
        // Halves of halves, down to the least number there is.
        let mut failure = alpha(FailureProbability::LEAST);
        while failure.value() > 0.0 {
            for method in [LimitMethod::ClopperPearson, LimitMethod::Mixture] {
                let limit = lower_limit(SamplingRule::Fixed, tally(k, n), method, failure).expect("fixed");
                assert!(in_range(limit, k, n), "{failure:?}: {limit:?}");
            }
            failure = failure.half();
        }
    }
}

#[test]
fn nothing_and_everything_have_closed_forms() {
    assert_eq!((lower(0, 7, 0.01).value(), lower(0, 7, 0.01).complement()), (0.0, 1.0));
    assert_eq!((upper(7, 7, 0.01).value(), upper(7, 7, 0.01).complement()), (1.0, 0.0));
    for n in [1_u32, 10, 1000] {
        let all = lower(n.into(), n.into(), 1e-3).value();
        let root = 1e-3_f64.powf(1.0 / f64::from(n));
        assert!((all / root - 1.0).abs() < 1e-14, "{all} {root}");
        let none = upper(0, n.into(), 1e-3);
        assert_eq!((none.value(), none.complement()), (lower(n.into(), n.into(), 1e-3).complement(), all));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn limits_enclose_the_frequency_and_are_monotone(
        n in 1_u64..2_000_000_000,
        place in 0.0..1.0_f64,
        size in -12.0..-0.31_f64,
        factor in 1e-9..0.5_f64,
    ) {
        let (failure, smaller) = (10_f64.powf(size), 10_f64.powf(size) * (1.0 - factor));
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let k = ((n as f64 + 1.0) * place) as u64;
        let k = k.min(n);
        let frequency = k as f64 / n as f64;
        let low = lower(k, n, failure);
        prop_assert!(low.value() <= frequency && upper(k, n, failure).value() >= frequency);
        prop_assert!(low.value() <= 1.0 - low.complement() + f64::EPSILON);
        prop_assert!(lower(k, n, smaller).value() <= low.value());
        prop_assert!(upper(k, n, smaller).value() >= upper(k, n, failure).value());
        prop_assert!(mixed(k, n, failure).value() <= low.value(), "valid at every moment costs something");
        prop_assert!(mixed(k, n, smaller).value() <= mixed(k, n, failure).value());
        if k < n {
            prop_assert!(lower(k + 1, n, failure).value() > low.value());
            prop_assert!(lower(k + 1, n, failure).complement() < low.complement());
            prop_assert!(upper(k + 1, n, failure).value() > upper(k, n, failure).value());
            prop_assert!(mixed(k + 1, n, failure).value() > mixed(k, n, failure).value());
        }
    }
}

/// P(X = k) for k = 0, …, n in plain floats, good to 10⁻¹².
fn masses(n: u64, p: f64) -> Vec<f64> {
    let mut masses = vec![1.0];
    for _ in 0..n {
        let last = masses.len();
        let step = |k: usize| {
            let stays = if k < last { masses[k] * (1.0 - p) } else { 0.0 };
            stays + if k > 0 { masses[k - 1] * p } else { 0.0 }
        };
        masses = (0..=last).map(step).collect();
    }
    masses
}

#[test]
fn fixed_limits_miss_as_seldom_as_they_say_and_not_much_less() {
    for n in [10, 60] {
        for failure in [0.2, 0.05, 0.01] {
            let limits: Vec<f64> = (0..=n).map(|k| lower(k, n, failure).value()).collect();
            let missed = |p: f64| {
                let masses = masses(n, p);
                masses.iter().zip(&limits).filter(|(_, limit)| **limit > p).map(|(mass, _)| mass).sum::<f64>()
            };
            // Just below a limit the miss rate is α itself.
            let grid = (1..200).map(|i| f64::from(i) / 200.0);
            let places = grid.chain(limits[1..].iter().map(|limit| limit * (1.0 - 1e-9)));
            let most = places.map(missed).fold(0.0, f64::max);
            assert!(most <= failure * (1.0 + 1e-9), "{n}, {failure}: missed with probability {most}");
            assert!(most >= failure * 0.999_999, "{n}, {failure}: never missed more than {most}");
        }
    }
}

/// The probability that some look, at numbers of draws given with their limits, puts the limit above p: by carrying
/// the distribution of the count over all paths that have not crossed.
fn crossing(p: f64, looks: &[(u64, Vec<f64>)]) -> f64 {
    let mut alive = vec![1.0];
    let mut crossed = 0.0;
    let mut drawn = 0;
    for (trials, limits) in looks {
        let steps = masses(trials - drawn, p);
        let mut next = vec![0.0; alive.len() + steps.len() - 1];
        for (i, a) in alive.iter().enumerate() {
            steps.iter().enumerate().for_each(|(j, step)| next[i + j] += a * step);
        }
        for (mass, _) in next.iter_mut().zip(limits).filter(|(_, limit)| **limit > p) {
            crossed += *mass;
            *mass = 0.0;
        }
        (alive, drawn) = (next, *trials);
    }
    crossed
}

#[test]
fn mixture_limits_hold_for_the_worst_moment_to_stop() {
    let most = 200;
    for failure in [0.5, 0.1, 0.02] {
        let table = |limit: &dyn Fn(u64, u64) -> f64| {
            (1..=most).map(|n| (n, (0..=n).map(|k| limit(k, n)).collect())).collect::<Vec<(u64, Vec<f64>)>>()
        };
        let limits = table(&|k, n| mixed(k, n, failure).value());
        for p in [0.02, 0.2, 0.5, 0.8, 0.95, 0.99] {
            let crossed = crossing(p, &limits);
            assert!(crossed <= failure, "p = {p}: crossed with probability {crossed}, allowed {failure}");
            // Close to one, 200 successes in a row are no surprise yet.
            assert!(p > 0.9 || crossed >= 0.1 * failure, "p = {p}: crossed with probability {crossed} only");
        }
        if failure == 0.1 {
            let fixed = crossing(0.8, &table(&|k, n| lower(k, n, failure).value()));
            assert!(
                fixed > 2.0 * failure,
                "fixed-n limits at a moment of choice must fail this test: {fixed}"
            );
        }
    }
}

#[test]
fn limits_that_do_not_fit_the_rule_are_refused() {
    let both = SamplingRule::MixtureAndLast { last: 50 };
    let limit = |rule: SamplingRule, n, method| lower_limit(rule, tally(40, n), method, alpha(0.01));
    for (rule, method) in [
        (SamplingRule::Anytime, LimitMethod::ClopperPearson),
        (SamplingRule::Anytime, LimitMethod::MixtureAndLast),
        (SamplingRule::Fixed, LimitMethod::MixtureAndLast),
        (SamplingRule::Anytime, LimitMethod::Randomised(RandomShare::WHOLE)),
        (both, LimitMethod::Randomised(RandomShare::WHOLE)),
        (both, LimitMethod::ClopperPearson), // at the whole of alpha
    ] {
        let refused = StatisticsError::WrongLimit { method, rule: rule.name() };
        assert_eq!(limit(rule, 50, method), Err(refused.clone()));
        assert_eq!(upper_limit(rule, tally(40, 50), method, alpha(0.01)), Err(refused));
    }
    for rule in [SamplingRule::Fixed, SamplingRule::Anytime, both] {
        assert_eq!(limit(rule, 50, LimitMethod::Mixture), Ok(mixed(40, 50, 0.01)));
        assert!(limit(rule, 50, rule.method()).is_ok());
    }
}

/// Half of α at every moment by the mixture, half at one number of draws by Clopper and Pearson, whose limit is better.
#[test]
fn a_last_look_is_paid_for_by_half_of_alpha() {
    let rule = SamplingRule::MixtureAndLast { last: 100 };
    let limit = |k, n| lower_limit(rule, tally(k, n), rule.method(), alpha(0.01)).expect("valid");
    for n in [1, 64, 99, 100, 101, 5000] {
        for k in (0..=n).step_by(1 + usize::try_from(n / 23).expect("small")) {
            let expected = if n == 100 { lower(k, n, 0.005) } else { mixed(k, n, 0.005) };
            assert_eq!(limit(k, n), expected, "{k} of {n}");
            assert!(lower(k, n, 0.005).value() >= mixed(k, n, 0.005).value(), "{k} of {n}");
        }
    }
}

/// Of 4,000 sequences of draws, looked at after every one of 300, those with a limit above p at any moment are no more than
/// α allows; the limit for a fixed number at the same moments fails.
#[test]
fn limits_at_every_moment_and_at_the_last_hold_together() {
    let (p, n, failure, sequences) = (0.8, 300_u64, 0.05, 4000);
    let rule = SamplingRule::MixtureAndLast { last: n };
    // The least count at each number of draws whose limit is above p.
    let least = |limit: &dyn Fn(u64, u64) -> f64| -> Vec<u64> {
        (1..=n).map(|m| (0..=m).find(|&k| limit(k, m) > p).unwrap_or(m + 1)).collect()
    };
    let mixture =
        least(&|k, m| lower_limit(rule, tally(k, m), rule.method(), alpha(failure)).expect("valid").value());
    let fixed = least(&|k, m| lower(k, m, failure).value());
    let rng = &mut generator(31);
    let (mut wrong, mut wrong_fixed) = (0_u64, 0_u64);
    for _ in 0..sequences {
        let (mut k, mut crossed, mut crossed_fixed) = (0, false, false);
        for m in 0..usize::try_from(n).expect("small") {
            k += u64::from(rng.random::<f64>() < p);
            crossed |= k >= mixture[m];
            crossed_fixed |= k >= fixed[m];
        }
        wrong += u64::from(crossed);
        wrong_fixed += u64::from(crossed_fixed);
    }
    // Five deviations above .05 of 4,000.
    assert!(wrong < 270 && wrong > 20, "{wrong}");
    assert!(wrong_fixed > 600, "{wrong_fixed}");
}

#[test]
fn arguments_are_checked() {
    for value in [0.0, 1.0, -0.1, f64::NAN, f64::INFINITY, 5e-324, 1e-310, 9.9e-301] {
        assert!(matches!(FailureProbability::new(value), Err(StatisticsError::FailureProbability { .. })));
    }
    let message = FailureProbability::new(5e-324).expect_err("no half").to_string();
    assert!(message.contains("5e-324") && message.contains("at least 1e-300"), "{message}");
    for (successes, trials) in [(0, 0), (2, 1), (0, MOST_TRIALS + 1)] {
        assert_eq!(Tally::new(successes, trials), Err(StatisticsError::Tally { successes, trials }));
    }
    assert_eq!(alpha(0.25).half(), alpha(0.125));
    // However often: two halves are never more than the whole, and in the end no limit is left.
    for value in [0.999, 1e-3, FailureProbability::LEAST] {
        let mut whole = alpha(value);
        while whole.value() > 0.0 {
            let half = whole.half();
            assert!(half < whole && half.value() + half.value() <= whole.value(), "{whole:?}");
            whole = half;
        }
        let limit = lower_limit(SamplingRule::Fixed, tally(10, 10), LimitMethod::ClopperPearson, whole);
        assert_eq!(limit, Ok(LowerLimit::TRIVIAL));
    }
    for (count, runner_up, trials) in [(6, 5, 10), (4, 0, 10), (10, 1, 10)] {
        let refused = StatisticsError::RunnerUp { count, runner_up, trials };
        assert_eq!(ClassCounts::new(count, runner_up, trials), Err(refused));
    }
    assert!(ClassCounts::new(10, 0, 10).is_ok() && ClassCounts::new(4, 6, 10).is_ok());
    let counted = tally(3, 10);
    assert_eq!((counted.successes(), counted.trials(), counted.opposite()), (3, 10, tally(7, 10)));
    let message = Tally::new(2, 1).expect_err("more than all").to_string();
    assert!(message.contains("2 of 1"), "{message}");
}

/// logs/dsrs2022: two-sided intervals of another program (Clopper and Pearson by statsmodels, α/2 a side), in full
/// precision. The counts behind them are found again, and our limits are theirs.
#[test]
fn public_intervals_are_found_again() {
    let path = "logs/dsrs2022/intervals_sigma_0.50_n50000_alpha0.0005.txt";
    let Some(path) = reference_data(path) else { return };
    let text = std::fs::read_to_string(path).expect("reference data");
    let n = 50_000_u64;
    let failure = 0.0005 / 2.0;
    let (mut rows, mut judged) = (0, 0);
    for line in text.lines().filter(|line| line.starts_with("o ")) {
        let numbers: Vec<f64> = line.split(' ').skip(2).map(|word| word.parse().expect("a number")).collect();
        let (theirs, above) = (numbers[0], numbers[1]);
        // The limit rises with k: bisection for the k whose limit is nearest.
        let (mut low, mut high) = (0, n);
        while low < high {
            let middle = (low + high).div_ceil(2);
            if lower(middle, n, failure).value() <= theirs + 5e-9 { low = middle } else { high = middle - 1 }
        }
        let (ours, top) = (lower(low, n, failure), upper(low, n, failure));
        assert!((ours.value() - theirs).abs() < 1e-10, "{line}: {} for {low}", ours.value());
        assert!((top.value() - above).abs() < 1e-10, "{line}: {} for {low}", top.value());
        rows += 1;
        // Where the two differ by more than rounding, or every hundredth time: exact arithmetic decides.
        let differs = |ours: f64, theirs: f64| (ours - theirs).abs() > 4e-15 * theirs;
        if (differs(ours.value(), theirs) || rows % 100 == 0) && judged < exact_cases() / 50 && low > 0 {
            clopper_pearson_is_exact(low, n, failure);
            judged += 1;
        }
        if differs(top.value(), above) && judged < exact_cases() / 50 && low < n {
            clopper_pearson_is_exact(n - low, n, failure);
            judged += 1;
        }
    }
    assert!(rows == 1000 && judged > 0, "{rows} rows, {judged} judged");
}
