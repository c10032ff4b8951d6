//! 20,000 certifications of a half-space at α = .05 and n = 1000, whose true radius is its distance.
//!
//! The test of a procedure: its misses, radii above the true one, are counted, and it fails if that many would have a
//! probability below 10⁻⁶ were its failure probability .05. Three procedures that are wrong in the usual ways must fail.

use super::{params, quantile, upper_tail};
use crate::support::one_sided_radius;
use gambeson_smooth::sequential::{EVERY, Goal, RadiusNorm};
use gambeson_smooth::smoother::{Certification, Smoother};
use gambeson_smooth::space::Space;
use gambeson_smooth::toys::HalfSpace;
use rayon::prelude::*;

const TIMES: u64 = 20_000;
const N: u64 = 1000;
const ALPHA: f64 = 0.05;

/// The exact one-sided test at level 1e-6.
fn passes(misses: usize) -> bool {
    upper_tail(TIMES, ALPHA, misses as u64) >= 1e-6
}

/// All certifications of a half-space at distance `margin`, σ = 1.
fn runs(margin: f64, goal: Option<Goal>) -> Vec<Certification> {
    let toy = HalfSpace::new(vec![1.0], 0.0).expect("a half-space");
    let space = Space::identity(1);
    let params = gambeson_smooth::smoother::SmoothingParams { goal, ..params(1.0, N, ALPHA) };
    let smoother = Smoother::new(&toy, space.clone(), params).expect("it fits");
    let certify = |index| smoother.certify(index, &[margin], &mut ()).expect("drawn").expect("not stopped");
    (0..TIMES).into_par_iter().map(certify).collect()
}

fn misses(runs: &[Certification], wrong: impl Fn(&Certification) -> bool) -> usize {
    runs.iter().filter(|run| wrong(run)).count()
}

/// The radius of a count by the limit for a number of draws set beforehand.
fn fixed_radius(count: u64, trials: u64) -> f64 {
    one_sided_radius(count, trials, ALPHA, 1.0).map_or(0.0, gambeson_checker::LatentRadius::value)
}

#[test]
fn misses_are_as_rare_as_promised_and_broken_procedures_are_found_out() {
    let margin = quantile(0.9);
    let runs_at = runs(margin, None);
    // The class is 1, at least of all that are certified here: the half-space is 1 with probability .9.
    let wrong = |run: &Certification| {
        run.certified.is_some_and(|found| found.class != 1 || found.l2.value() > margin)
    };
    let fixed = misses(&runs_at, wrong);
    assert!(passes(fixed), "{fixed} misses");
    assert!(fixed as f64 >= 0.04 * TIMES as f64, "{fixed} misses: too few for a test that can fail");
    // Broken: the frequency for the limit. Φ rises, so the radius is too large where the frequency is above .9.
    let frequency = misses(&runs_at, |run| run.estimation.of(1) as f64 > 0.9 * N as f64);
    assert!(!passes(frequency), "{frequency} misses");

    // At distance 0 every certificate is a miss: neither class is more frequent.
    let level = runs(0.0, None);
    let honest = misses(&level, |run| run.certified.is_some());
    assert!(passes(honest), "{honest} misses");
    // Broken: the class chosen on the draws that are counted.
    let same = misses(&level, |run| {
        let count = run.estimation.of(0).max(run.estimation.of(1));
        fixed_radius(count, N) > 0.0
    });
    assert!(!passes(same), "{same} misses");
}

#[test]
fn sequential_runs_keep_alpha_and_a_fixed_limit_at_a_stopped_count_does_not() {
    let margin = quantile(0.9);
    let goal = Goal { targets: vec![margin], tolerance: None, norm: RadiusNorm::L2 };
    let sequential = runs(margin, Some(goal));
    let wrong = |run: &Certification| run.certified.is_some_and(|found| found.l2.value() >= margin);
    let count = misses(&sequential, wrong);
    assert!(passes(count) && count > 0, "{count} misses");
    let draws = sequential.iter().map(|run| run.estimation.draws()).sum::<u64>();
    assert!(draws < TIMES * N, "some stop early");
    // Every number of draws is a look.
    let looks: Vec<u64> = (1..=N / EVERY).map(|k| k * EVERY).chain([N]).collect();
    assert!(sequential.iter().all(|run| looks.contains(&run.estimation.draws())));

    // Broken: the same looks, each with the limit for a fixed number of draws, ending when that meets the target. The
    // engine with n set to each look gives the counts a run has there.
    let toy = HalfSpace::new(vec![1.0], 0.0).expect("a half-space");
    let space = Space::identity(1);
    let broken = |index: u64| {
        let mut at_looks = looks.iter().map(|&n| {
            let smoother = Smoother::new(&toy, space.clone(), params(1.0, n, ALPHA)).expect("it fits");
            smoother.certify(index, &[margin], &mut ()).expect("drawn").expect("not stopped").estimation.of(1)
        });
        let reached = looks.iter().any(|&n| fixed_radius(at_looks.next().unwrap_or(0), n) >= margin);
        u64::from(reached)
    };
    // Far from .05, so a part of the runs is enough: 100 misses of 1,000 have a probability below 1e-10.
    let few = 1000;
    let count: u64 = (0..few).into_par_iter().map(broken).sum();
    assert!(upper_tail(few, ALPHA, count) < 1e-6, "{count} misses of {few}");
}
