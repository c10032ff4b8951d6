//! Sequential sampling on the class frequencies of public votes.

use crate::smoothing::{quantile, upper_tail};
use gambeson_checker::{FailureProbability, LimitMethod, NoiseLevel, SamplingRule, Tally};
use gambeson_smooth::limit::{lower_limit, smoothing_radius};
use gambeson_smooth::sequential::{Goal, RadiusNorm, Sequential, Verdict, looks};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Binomial, Distribution};
use std::fmt::Write;

#[test]
fn looks_rise_and_share_no_more_than_alpha() {
    for n in [1, 99, 100, 101, 149, 150, 151, 1000, 100_000, 1 << 40] {
        let looks = looks(n);
        assert_eq!(looks.last().map(|look| look.trials), Some(n));
        assert!(looks.windows(2).all(|pair| pair[0].trials < pair[1].trials));
        let rule = SamplingRule::Staged { looks: looks.clone() };
        assert_eq!(rule.validate(), Ok(()), "{n}");
        let sum: f64 = looks.iter().map(|look| look.share).sum();
        assert!(sum > 1.0 - 1e-12, "nothing is wasted: {sum}");
        if looks.len() > 1 {
            assert!(looks[looks.len() - 1].share == 0.5 && looks[0].trials < 2 * 100);
        }
    }
}

fn plan(n: u64, targets: &[f64], tolerance: Option<f64>) -> Sequential {
    let goal = Goal { targets: targets.to_vec(), tolerance, norm: RadiusNorm::L2 };
    let alpha = FailureProbability::new(0.001).expect("a probability");
    let sigma = NoiseLevel::new(0.25).expect("a level");
    Sequential::new(n, &goal, alpha, sigma, gambeson_checker::LatentRadius::value).expect("a plan")
}

#[test]
fn what_is_certain_is_settled_and_what_is_not_is_open() {
    let n = 100_000;
    let value = gambeson_checker::LatentRadius::value;
    let at = |plan: &Sequential, count: f64, look: usize| {
        let trials = plan.trials()[look];
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        plan.verdict((count * trials as f64) as u64, trials, value).expect("a verdict")
    };
    let half = plan(n, &[0.5], None);
    let last = half.trials().len() - 1;
    // Φ(2) = .977: all draws agree, none does, and right at the target.
    assert_eq!(at(&half, 1.0, 6), Verdict::Settled);
    assert_eq!(at(&half, 0.0, 0), Verdict::Settled);
    assert_eq!(at(&half, 0.9772, 6), Verdict::Open);
    assert_eq!(at(&half, 0.9772, last), Verdict::Settled, "n draws are all there are");
    // A target that n draws cannot prove at all is refuted at once.
    assert_eq!(at(&plan(n, &[3.0], None), 1.0, 0), Verdict::Settled);
    // Nothing settles a run of agreeing draws when the target is near what n of them prove.
    let most = quantile(0.0005_f64.powf(1e-5)) * 0.25;
    assert_eq!(at(&plan(n, &[most * 0.999], None), 1.0, 10), Verdict::Open);
    // A tolerance is a matter of the radius: .9 of many draws is near enough for .02, not for .0001.
    assert_eq!(at(&plan(n, &[], Some(0.02)), 0.9, last - 2), Verdict::Settled);
    assert_eq!(at(&plan(n, &[], Some(0.0001)), 0.9, last - 2), Verdict::Open);
    assert_eq!(at(&plan(n, &[], Some(0.0001)), 0.3, 3), Verdict::Settled, "an abstention ends early");
}

/// k of n by the fixed rule: met or not at a radius.
fn fixed(count: u64, n: u64, target: f64) -> bool {
    let alpha = FailureProbability::new(0.001).expect("a probability");
    let tally = Tally::new(count, n).expect("a tally");
    let limit =
        lower_limit(&SamplingRule::Fixed, tally, LimitMethod::ClopperPearson, alpha).expect("a limit");
    let radius = smoothing_radius(limit, NoiseLevel::new(0.25).expect("a level"));
    radius.is_some_and(|radius| radius.value() >= target)
}

/// At n = 100,000, α = .001 and nominal σ = .25: at least 99 % of the decisions at 0, .25 and .5 are those of all n
/// draws, with at least five times fewer. The table is `results/sequential-votes2023.md`; `GAMBESON_WRITE_RESULTS=1`
/// writes it anew.
#[test]
fn on_public_votes_few_draws_decide_as_many_do() {
    let Some(folder) = std::env::var_os("GAMBESON_REFERENCE_DATA") else {
        #[allow(clippy::print_stderr)]
        {
            eprintln!("skipped: GAMBESON_REFERENCE_DATA is not set");
        }
        return;
    };
    let path = std::path::Path::new(&folder).join("logs/votes2023/cifar10_resnet50_votes.csv");
    let text = std::fs::read_to_string(path).expect("the votes");
    let (n, targets, repetitions) = (100_000_u64, [0.0, 0.25, 0.5], 5_u64);
    let plan = plan(n, &targets, None);
    let (mut inputs, mut draws, mut whole) = (0_u64, 0_u64, 0_u64);
    let mut equal = [0_u64; 3];
    for line in text.lines().skip(1) {
        let numbers: Vec<u64> = line.split(',').map(|number| number.parse().expect("a number")).collect();
        let (selection, estimation) = (&numbers[2..12], &numbers[12..22]);
        let class = (0..10).max_by_key(|&class| (selection[class], std::cmp::Reverse(class))).expect("ten");
        let p = estimation[class] as f64 / estimation.iter().sum::<u64>() as f64;
        for repetition in 0..repetitions {
            let mut rng = ChaCha8Rng::seed_from_u64(numbers[0] * repetitions + repetition);
            let (mut count, mut done, mut stopped) = (0, 0, None);
            for &trials in plan.trials() {
                count += Binomial::new(trials - done, p).expect("a distribution").sample(&mut rng);
                done = trials;
                let value = gambeson_checker::LatentRadius::value;
                if stopped.is_none()
                    && plan.verdict(count, done, value).expect("a verdict") == Verdict::Settled
                {
                    stopped = Some((done, plan.radius(count, done).expect("a limit").map(value)));
                }
            }
            let (trials, radius) = stopped.expect("the last look settles it");
            // All n draws of the same sequence.
            for (equal, &target) in equal.iter_mut().zip(&targets) {
                let met = radius.is_some_and(|radius| radius >= target);
                *equal += u64::from(met == fixed(count, n, target));
            }
            inputs += 1;
            draws += trials;
            whole += u64::from(trials == n);
        }
    }
    let mean = draws as f64 / inputs as f64;
    let share = |count: u64| count as f64 / inputs as f64;
    let fewer = n as f64 / mean;
    let mut table = String::from(
        "# Sequential sampling on the class frequencies of votes2023\n\n\
         1000 images, each simulated five times with its own frequency as p_A, sigma = .25 (nominal), alpha = .001,\n\
         n = 100,000, targets 0, .25 and .5. Made by `GAMBESON_WRITE_RESULTS=1 cargo test --release -p gambeson-smooth\n\
         --test it on_public_votes` with `GAMBESON_REFERENCE_DATA` set.\n\n\
         | radius | decisions equal to those of all n draws |\n|---|---|\n",
    );
    for (target, &equal) in targets.iter().zip(&equal) {
        writeln!(table, "| {target} | {:.2} % |", 100.0 * share(equal)).expect("a string");
    }
    writeln!(
        table,
        "\n{mean:.0} draws per image on average, {fewer:.1} times fewer; {:.2} % of the images need all n.",
        100.0 * share(whole)
    )
    .expect("a string");
    assert!(equal.iter().all(|&equal| share(equal) >= 0.99), "{table}");
    assert!(fewer >= 5.0, "{table}");
    let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/../../results/sequential-votes2023.md");
    if std::env::var_os("GAMBESON_WRITE_RESULTS").is_some() {
        std::fs::write(kept, &table).expect("written");
    }
    assert_eq!(std::fs::read_to_string(kept).expect("the table"), table, "results/ is out of date");
}

#[test]
fn the_tail_of_this_file_is_right() {
    assert!((upper_tail(3, 0.5, 2) - 0.5).abs() < 1e-15 && (upper_tail(2, 0.1, 2) - 0.01).abs() < 1e-15);
    assert!((quantile(0.975) - 1.959_963_984_540_054).abs() < 1e-9);
}
