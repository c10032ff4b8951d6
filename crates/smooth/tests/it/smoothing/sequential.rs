//! Sequential sampling on the class frequencies of public votes.

use crate::smoothing::{quantile, upper_tail};
use crate::support::one_sided_radius;
use gambeson_checker::{FailureProbability, NoiseLevel};
use gambeson_smooth::sequential::{Decision, EVERY, Goal, RadiusNorm, Sequential};
use gambeson_testing::reference_data;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Binomial, Distribution};
use std::fmt::Write;

fn plan(n: u64, targets: &[f64], tolerance: Option<f64>) -> Sequential {
    planned(n, n, targets, tolerance)
}

fn planned(last: u64, n: u64, targets: &[f64], tolerance: Option<f64>) -> Sequential {
    let goal = Goal { targets: targets.to_vec(), tolerance, norm: RadiusNorm::L2 };
    let alpha = FailureProbability::new(0.001).expect("a probability");
    let sigma = NoiseLevel::new(0.25).expect("a level");
    Sequential::new(n, last, &goal, alpha, sigma, gambeson_checker::LatentRadius::value).expect("a plan")
}

#[test]
fn what_is_certain_is_settled_and_what_is_not_is_open() {
    let n = 100_000;
    let value = gambeson_checker::LatentRadius::value;
    let at = |plan: &Sequential, count: f64, trials: u64| {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        plan.verdict((count * trials as f64) as u64, trials, value).expect("a verdict")
    };
    let half = plan(n, &[0.5], None);
    // Φ(2) = .977: all draws agree, none does, and right at the target.
    assert_eq!(at(&half, 1.0, 1152), Decision::Settled);
    assert_eq!(at(&half, 0.0, 128), Decision::Settled);
    assert_eq!(at(&half, 0.9772, 1152), Decision::Open);
    assert_eq!(at(&half, 0.9772, n), Decision::Settled, "n draws are all there are");
    // A target that n draws cannot prove at all is refuted at once.
    assert_eq!(at(&plan(n, &[3.0], None), 1.0, 64), Decision::Settled);
    // Nothing settles a run of agreeing draws when the target is near what n of them prove.
    let most = quantile(0.0005_f64.powf(1e-5)) * 0.25;
    assert_eq!(at(&plan(n, &[most * 0.999], None), 1.0, 5760), Decision::Open);
    // A tolerance is a matter of the radius: .9 of many draws is near enough for .02, not for .0001.
    assert_eq!(at(&plan(n, &[], Some(0.02)), 0.9, 44_416), Decision::Settled);
    assert_eq!(at(&plan(n, &[], Some(0.0001)), 0.9, 44_416), Decision::Open);
    assert_eq!(at(&plan(n, &[], Some(0.0001)), 0.3, 320), Decision::Settled, "an abstention ends early");
}

/// k of n by the fixed rule: met or not at a radius.
fn fixed(count: u64, n: u64, target: f64) -> bool {
    one_sided_radius(count, n, 0.001, 0.25).is_some_and(|radius| radius.value() >= target)
}

/// Looks are at every 64 draws, at n, and where a run was extended at the n of before.
#[test]
fn looks_are_where_they_are_said_to_be() {
    let looks = |plan: &Sequential| {
        let mut looks = vec![0];
        while *looks.last().expect("one") < plan.most() {
            looks.push(plan.next_look(*looks.last().expect("one")));
        }
        looks.split_off(1)
    };
    assert_eq!(looks(&plan(200, &[0.1], None)), [64, 128, 192, 200]);
    assert_eq!(looks(&plan(128, &[0.1], None)), [64, 128]);
    assert_eq!(looks(&plan(1, &[0.1], None)), [1]);
    let extended = planned(100, 260, &[0.1], None);
    assert_eq!(looks(&extended), [64, 100, 128, 192, 256, 260]);
    assert_eq!(EVERY, 64);
}

/// What a plan needs on the frequencies of public votes.
struct Needed {
    /// Draws per image, on average.
    mean: f64,
    /// Shares of decisions equal to those of all n draws, by target.
    equal: Vec<f64>,
    /// Share of the images that need all n.
    whole: f64,
}

fn simulate(text: &str, plan: &Sequential, targets: &[f64]) -> Needed {
    let (n, repetitions) = (plan.most(), 5_u64);
    let (mut inputs, mut draws, mut whole) = (0_u64, 0_u64, 0_u64);
    let mut equal = vec![0_u64; targets.len()];
    for line in text.lines().skip(1) {
        let numbers: Vec<u64> = line.split(',').map(|number| number.parse().expect("a number")).collect();
        let (selection, estimation) = (&numbers[2..12], &numbers[12..22]);
        let class = (0..10).max_by_key(|&class| (selection[class], std::cmp::Reverse(class))).expect("ten");
        let p = estimation[class] as f64 / estimation.iter().sum::<u64>() as f64;
        for repetition in 0..repetitions {
            let mut rng = ChaCha8Rng::seed_from_u64(numbers[0] * repetitions + repetition);
            let (mut count, mut done, mut stopped) = (0, 0, None);
            while done < n {
                let trials = if stopped.is_none() { plan.next_look(done) } else { n };
                count += Binomial::new(trials - done, p).expect("a distribution").sample(&mut rng);
                done = trials;
                let value = gambeson_checker::LatentRadius::value;
                if stopped.is_none()
                    && plan.verdict(count, done, value).expect("a verdict") == Decision::Settled
                {
                    stopped = Some((done, plan.radius(count, done).expect("a limit").map(value)));
                }
            }
            let (trials, radius) = stopped.expect("the last look settles it");
            // All n draws of the same sequence.
            for (equal, &target) in equal.iter_mut().zip(targets) {
                let met = radius.is_some_and(|radius| radius >= target);
                *equal += u64::from(met == fixed(count, n, target));
            }
            inputs += 1;
            draws += trials;
            whole += u64::from(trials == n);
        }
    }
    let share = |count: u64| count as f64 / inputs as f64;
    Needed { mean: share(draws), equal: equal.into_iter().map(share).collect(), whole: share(whole) }
}

/// At n = 100,000, α = .001 and nominal σ = .25: at least 99 % of the decisions at 0, .25 and .5 are those of all n
/// draws, with at least five times fewer. The table is `results/sequential-votes2023.md`; `GAMBESON_WRITE_RESULTS=1` writes it anew.
#[test]
fn on_public_votes_few_draws_decide_as_many_do() {
    let Some(path) = reference_data("logs/votes2023/cifar10_resnet50_votes.csv") else { return };
    let text = std::fs::read_to_string(path).expect("the votes");
    let (n, targets) = (100_000_u64, [0.0, 0.25, 0.5]);
    let Needed { mean, equal, whole } = simulate(&text, &plan(n, &targets, None), &targets);
    let mut table = String::from(
        "# Sequential sampling on the class frequencies of votes2023\n\n\
         1000 images, each simulated five times with its own frequency as p_A, sigma = .25 (nominal), alpha = .001,\n\
         n = 100,000, targets 0, .25 and .5. Made by `GAMBESON_WRITE_RESULTS=1 cargo test --release -p gambeson-smooth\n\
         --test it on_public_votes` with `GAMBESON_REFERENCE_DATA` set.\n\n\
         | rule | draws per image | fewer than n | images that need all n | decisions at 0, .25, .5 equal to those of n |\n\
         |---|---|---|---|---|\n",
    );
    let shares: Vec<String> = equal.iter().map(|share| format!("{:.2} %", 100.0 * share)).collect();
    let (fewer, percent) = (n as f64 / mean, 100.0 * whole);
    let name = "a mixture, every 64 draws, and a last look (the default)";
    writeln!(table, "| {name} | {mean:.0} | {fewer:.1} times | {percent:.2} % | {} |", shares.join(", "))
        .expect("a string");
    assert!(equal.iter().all(|&share| share >= 0.99) && fewer >= 5.0, "{table}");
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
