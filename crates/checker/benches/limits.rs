//! Speed of confidence limits and radii: `cargo bench -p gambeson-checker --bench limits`.
//!
//! Prints microseconds per call, the best of many runs.

#![allow(clippy::print_stdout, missing_docs)]

use gambeson_checker::{
    ClassCounts, FailureProbability, LimitMethod, NoiseLevel, RadiusQuestion, SamplingRule, Sides,
    StatisticsError, Tally, encode,
};
use gambeson_smooth::limit::{lower_limit, radius_of_counts};
use std::hint::black_box;
use std::time::Instant;

fn main() -> Result<(), StatisticsError> {
    println!(
        "           k of           n  alpha   clopper-pearson   mixture    radius  two-sided   (microseconds)"
    );
    for (k, n) in [
        (90, 100),
        (900, 1000),
        (99_000, 100_000),
        (60_000, 100_000),
        (100_000, 100_000),
        (500_000_000, 1_000_000_000),
        (999_000_000, 1_000_000_000),
    ] {
        for alpha in [0.3, 0.05, 1e-3, 1e-6, 1e-12] {
            let (tally, failure) = (Tally::new(k, n)?, FailureProbability::new(alpha)?);
            let (counts, noise) = (ClassCounts::new(k, n - k, n)?, NoiseLevel::new(0.25)?);
            let limit = |rule, method| lower_limit(rule, black_box(tally), method, failure);
            let question = |sides| RadiusQuestion {
                counts,
                rule: SamplingRule::Fixed,
                method: LimitMethod::ClopperPearson,
                sides,
                failure,
                noise,
            };
            println!(
                "{k:12} of {n:11} {alpha:6.0e}  {:16.2}  {:8.2}  {:8.2}  {:9.2}",
                best(|| limit(SamplingRule::Fixed, LimitMethod::ClopperPearson)),
                best(|| limit(SamplingRule::Anytime, LimitMethod::Mixture)),
                best(|| radius_of_counts(black_box(&question(Sides::One)))),
                best(|| radius_of_counts(black_box(&question(Sides::Two)))),
            );
        }
    }
    let (dim, rank) = (3072, 200);
    let basis: Vec<f64> = (0..dim * rank).map(|i| ((i * 7919) % 1009) as f64 / 504.0 - 1.0).collect();
    let time = best(|| encode(&basis, dim, rank, &basis[..dim]));
    println!("encoding with {dim} x {rank}: {time:.0} microseconds");
    Ok(())
}

fn best<T>(mut work: impl FnMut() -> T) -> f64 {
    let mut least = f64::INFINITY;
    for _ in 0..100 {
        let started = Instant::now();
        black_box(work());
        least = least.min(started.elapsed().as_secs_f64());
    }
    least * 1e6
}
