//! Two runs on the same inputs: which certifies more, and whether that is more than chance.
//!
//! Problem: two runs have certified accuracies a₁ and a₂ at a radius, on the same inputs. Inputs are hard or easy for both,
//! so the accuracies are not independent and their two intervals say little about the difference.
//! Reference: McNemar (1947), in its exact form; for the interval, Tango (1998).
//! Method: only inputs count on which the runs differ. Of d such inputs the first run certifies b and the second c. If
//! neither were better, b would be binomial with parameters d and ½: the p-value is twice the smaller tail.
//! `score_interval.rs` has the interval for the difference of the accuracies.
//! Guarantee: the p-value is valid for any number of inputs; the interval has 95 % asymptotically, so that a p-value near
//! 0.05 and the interval may disagree about 0.
//! Deviations: none.

use super::error::AnalysisError;
use super::logged::{Evidence, Input, LoggedRun};
use super::score_interval::score_interval;
use super::scores::Question;
use std::collections::{BTreeMap, BTreeSet};

/// What two runs certify at one radius, of the inputs that both have or planned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Paired {
    /// The radius.
    pub radius: f64,
    /// Inputs that both runs have. One that was planned and has no record is not certified, also where neither has one.
    pub inputs: u64,
    /// Certified by both.
    pub both: u64,
    /// Certified by the first only.
    pub first: u64,
    /// Certified by the second only.
    pub second: u64,
    /// Exact two-sided p-value of McNemar's test.
    pub p_value: f64,
    /// Accuracy of the first less that of the second.
    pub difference: f64,
    /// A 95 % interval for it among all inputs that these were drawn from.
    pub interval: (f64, f64),
}

/// The radius of an input, negative where nothing is certified, and its label.
type Certified = (f64, Option<u32>);

/// An input in either run, and its index.
type Common = (Certified, Certified, u64);

/// Compares two runs at radii, on the inputs that both have or planned.
pub fn paired(
    first: &LoggedRun,
    second: &LoggedRun,
    question: &Question,
    radii: &[f64],
) -> Result<Vec<Paired>, AnalysisError> {
    let (a, b) = (certified(first, question)?, certified(second, question)?);
    // What one run planned and has no record of, it does not certify.
    let of = |own: &BTreeMap<u64, Certified>, run: &LoggedRun, index: u64| {
        let planned = || run.planned.is_some_and(|planned| planned.contains(index));
        own.get(&index).copied().or_else(|| planned().then_some((-1.0, None)))
    };
    let indices: BTreeSet<u64> = a.keys().chain(b.keys()).copied().collect();
    let common: Vec<Common> = indices
        .into_iter()
        .filter_map(|index| Some((of(&a, first, index)?, of(&b, second, index)?, index)))
        .collect();
    // Neither has a record of some that both planned.
    let planned = first.planned.zip(second.planned).map_or(0, |(one, other)| one.in_common(&other));
    let inputs = planned.max(common.len() as u64);
    if inputs == 0 {
        return Err(AnalysisError::NothingInCommon { first: first.name(), second: second.name() });
    }
    if let Some((_, _, index)) = common.iter().find(|(a, b, _)| a.1.is_some() && b.1.is_some() && a.1 != b.1)
    {
        return Err(AnalysisError::OtherLabel { first: first.name(), second: second.name(), index: *index });
    }
    Ok(radii.iter().map(|&radius| at(radius, inputs, &common)).collect())
}

/// The inputs that have a record, by index.
fn certified(run: &LoggedRun, question: &Question) -> Result<BTreeMap<u64, Certified>, AnalysisError> {
    let Evidence::Inputs(inputs) = &run.evidence else {
        return Err(AnalysisError::NoInputs { log: run.name() });
    };
    inputs
        .iter()
        .map(|input: &Input| {
            let radius = run.certified_radius(question, input)?;
            Ok((input.index, (radius.unwrap_or(-1.0), input.label)))
        })
        .collect()
}

fn at(radius: f64, inputs: u64, common: &[Common]) -> Paired {
    let (mut both, mut first, mut second) = (0, 0, 0);
    for ((a, _), (b, _), _) in common {
        match (*a >= radius, *b >= radius) {
            (true, true) => both += 1,
            (true, false) => first += 1,
            (false, true) => second += 1,
            (false, false) => {}
        }
    }
    let (differing, m) = (first + second, inputs as f64);
    Paired {
        radius,
        inputs,
        both,
        first,
        second,
        p_value: p_value(first.max(second), differing),
        difference: (first as f64 - second as f64) / m,
        interval: score_interval(first, second, inputs),
    }
}

/// min(1, 2·P(Bin(n, ½) ≥ k)), summed from the largest term down.
fn p_value(k: u64, n: u64) -> f64 {
    // ln of the term at k, then term by term upwards.
    let ln_factorial = |n: u64| (1..=n).map(|i| (i as f64).ln()).sum::<f64>();
    let first = ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k) - n as f64 * std::f64::consts::LN_2;
    let (mut term, mut sum) = (first.exp(), 0.0);
    for i in k..=n {
        sum += term;
        term *= (n - i) as f64 / (i + 1) as f64;
    }
    (2.0 * sum).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::p_value;

    #[test]
    fn p_values_are_those_of_the_binomial_distribution() {
        // 2·(1 + 8)/2⁸, 2/2⁸, 2·(5 choose 3 and more)/2⁵ capped, and the middle.
        for (k, n, expected) in
            [(7, 8, 18.0 / 256.0), (8, 8, 2.0 / 256.0), (3, 5, 1.0), (0, 0, 1.0), (4, 5, 12.0 / 32.0)]
        {
            assert!((p_value(k, n) - expected).abs() < 1e-12, "{k} of {n}: {}", p_value(k, n));
        }
        assert!(p_value(900, 1000) < 1e-150 && p_value(5000, 10_000) > 0.999);
    }
}
