//! Limits, quantiles and radii are the same to the bit as those of the program that pinned them, before searches left
//! the checker; on every machine, since only the four operations and roots are used.
//!
//! `tests/fixtures/limits.txt` holds one case per line: what was asked, and the answers as the hexadecimal digits of
//! their bits. With `GAMBESON_WRITE_FIXTURES=1` it is written anew from the present program.

use crate::record::{record, run};
use gambeson_checker::{
    ClassCounts, FailureProbability, LatentRadius, LimitMethod, LowerLimit, NoiseLevel, RadiusQuestion,
    SamplingRule, Sides, Tally, UpperLimit,
};
use gambeson_smooth::limit::{
    lower_limit, normal_quantile_above, normal_quantile_below, radius_of_counts, upper_limit,
};
use gambeson_smooth::record::{LimitChoice, Record};
use std::fmt::Write;
use std::path::Path;

fn hex(value: f64) -> String {
    format!("{:016x}", value.to_bits())
}

fn radius(found: Option<LatentRadius>) -> String {
    found.map_or_else(|| "-".to_owned(), |radius| hex(radius.value()))
}

/// Both numbers of a limit.
fn both(value: f64, complement: f64) -> String {
    format!("{} {}", hex(value), hex(complement))
}

fn limits(text: &mut String) {
    let trials = [1, 2, 10, 100, 1000, 9999, 100_000, 10_000_000, 1_000_000_000];
    for (at, n) in trials.into_iter().enumerate() {
        let mut counts = vec![0, 1, n / 100, n / 3, n / 2, n / 2 + 1, n - n / 10, n - n / 1000, n - 1, n];
        counts.dedup();
        for (k, alpha) in counts.iter().flat_map(|&k| [0.3, 0.05, 1e-3, 1e-6, 1e-12].map(|alpha| (k, alpha)))
        {
            // One rule in turn for most, to keep the file small.
            let rules = [Some(SamplingRule::Fixed), None, Some(SamplingRule::Anytime)];
            let Some(rule) = rules[(at + usize::try_from(k % 7).expect("small")) % 3] else { continue };
            let tally = Tally::new(k, n).expect("a count");
            let failure = FailureProbability::new(alpha).expect("a probability");
            let method = rule.method();
            let lower: LowerLimit = lower_limit(rule, tally, method, failure).expect("fits");
            let upper: UpperLimit = upper_limit(rule, tally, method, failure).expect("fits");
            let proven = |sides, alpha: f64| {
                let question = RadiusQuestion {
                    counts: ClassCounts::new(k, n - k, n).expect("two classes"),
                    rule,
                    method,
                    sides,
                    failure: FailureProbability::new(alpha).expect("a probability"),
                    noise: NoiseLevel::new(0.25).expect("positive"),
                };
                radius_of_counts(&question).expect("fits")
            };
            // Two limits at half of twice alpha.
            let (one, two) = (proven(Sides::One, alpha), proven(Sides::Two, 2.0 * alpha));
            assert_eq!((one.lower(), one.upper()), (lower, None));
            assert_eq!((two.lower(), two.upper()), (lower, Some(lower.of_opposite())));
            writeln!(
                text,
                "{} {k}/{n} {alpha:e} = {} {} {} {}",
                method.name(),
                both(lower.value(), lower.complement()),
                both(upper.value(), upper.complement()),
                radius(one.radius()),
                radius(two.radius()),
            )
            .expect("text");
        }
    }
    // The methods at the same counts.
    for (k, n) in [(3, 5), (77, 90), (990, 1000), (70_001, 100_000)] {
        for alpha in [0.9, 0.5, 0.01, 1e-9] {
            let tally = Tally::new(k, n).expect("a count");
            let failure = FailureProbability::new(alpha).expect("a probability");
            let fixed =
                lower_limit(SamplingRule::Fixed, tally, LimitMethod::ClopperPearson, failure).expect("fits");
            let mixture =
                lower_limit(SamplingRule::Fixed, tally, LimitMethod::Mixture, failure).expect("fits");
            let (fixed, mixture) =
                (both(fixed.value(), fixed.complement()), both(mixture.value(), mixture.complement()));
            writeln!(text, "methods {k}/{n} {alpha:e} = {fixed} {mixture}").expect("text");
        }
    }
}

fn quantiles(text: &mut String) {
    let mut shares: Vec<f64> = (1..64).map(|i| f64::from(i) / 64.0).collect();
    shares.extend([0.04, 0.039_999, 0.96, 1e-3, 1e-9, 1e-16, 1e-100, 1e-300, 5e-324, 0.999, 1.0 - 1e-12]);
    shares.extend([0.499_999_999, 0.500_000_001, 0.0, 1.0, -1.0, 2.0, f64::NAN]);
    for p in shares {
        let (below, above) = (normal_quantile_below(p), normal_quantile_above(p));
        writeln!(text, "quantile {p:e} = {}", both(below, above)).expect("text");
    }
}

fn records(text: &mut String) {
    let projected = |kappa: f64, spectral: f64| {
        let mut run = run();
        (run.kappa, run.spectral, run.common.projection) =
            (Some(kappa), Some(spectral), Some("p".to_owned()));
        run.representation = Some(gambeson_lowrank::projection::representation::Representation::Pixel);
        run
    };
    let mut odd = run();
    odd.dimension = 12_345;
    let runs = [(0, run()), (1, projected(11.3, 1.0 + 1e-9)), (2, projected(3.0, 0.7)), (4, odd)];
    for (at, run) in runs {
        for counts in [[990, 5, 5], [500, 300, 200], [1000, 0, 0], [480, 470, 50], [620, 380, 0]] {
            let mut record: Record = record(0, run.clone(), [9, 1, 0], counts);
            record.encoding_error = 1e-9 * f64::from(at);
            for how in [LimitChoice::Natural, LimitChoice::Mixture, LimitChoice::TwoSided] {
                let alpha = FailureProbability::new(0.001).expect("a probability");
                let proven = record.derive(alpha, how).expect("valid");
                let numbers = [proven.derived.latent, proven.derived.l2, proven.derived.linf];
                let numbers = numbers.map(|number| number.map_or_else(|| "-".to_owned(), hex)).join(" ");
                writeln!(text, "record {at} {counts:?} {how:?} = {numbers}").expect("text");
            }
        }
    }
}

fn lines() -> String {
    let mut text = String::new();
    limits(&mut text);
    quantiles(&mut text);
    records(&mut text);
    text
}

#[test]
fn limits_are_those_of_the_program_that_pinned_them() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/limits.txt");
    let found = lines();
    if std::env::var_os("GAMBESON_WRITE_FIXTURES").is_some() {
        std::fs::write(&path, found).expect("written");
        return;
    }
    let expected = std::fs::read_to_string(&path).expect("the fixture is there");
    assert_eq!(found.lines().count(), expected.lines().count());
    for (found, expected) in found.lines().zip(expected.lines()) {
        assert_eq!(found, expected);
    }
}
