//! Shares of inputs that fall in steps as a radius, or a limit, rises.

use crate::decimal::percent_down;
use serde::Serialize;

/// How many inputs have at least each of some values. Nothing is interpolated: between two values the share is that of the
/// larger one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Steps {
    /// The number of inputs; `None` where only shares are known.
    pub total: Option<u64>,
    /// By rising value, each once.
    pub steps: Vec<Step>,
}

/// Inputs with at least a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The value.
    pub value: f64,
    /// How many inputs have at least it.
    pub count: Option<u64>,
    /// Their share.
    pub share: f64,
}

impl Steps {
    /// Of so many inputs, those that have a value.
    pub fn counted(total: u64, mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let mut steps: Vec<Step> = Vec::new();
        for (at, &value) in values.iter().enumerate() {
            if steps.last().is_none_or(|last| last.value != value) {
                let count = (values.len() - at) as u64;
                steps.push(Step { value, count: Some(count), share: count as f64 / total.max(1) as f64 });
            }
        }
        Self { total: Some(total), steps }
    }

    /// The step that holds at a value; `None` beyond the last.
    pub fn at(&self, value: f64) -> Option<&Step> {
        self.steps.get(self.steps.partition_point(|step| step.value < value))
    }

    /// How many inputs have at least a value.
    pub fn count(&self, value: f64) -> u64 {
        self.at(value).and_then(|step| step.count).unwrap_or(0)
    }

    /// The share of inputs with at least a value.
    pub fn share(&self, value: f64) -> f64 {
        self.at(value).map_or(0.0, |step| step.share)
    }

    /// The largest value; 0 without any.
    pub fn largest(&self) -> f64 {
        self.steps.last().map_or(0.0, |step| step.value)
    }

    /// The points of a line.
    pub fn points(&self) -> Vec<(f64, f64)> {
        self.steps.iter().map(|step| (step.value, step.share)).collect()
    }

    /// The same with values rounded down to so many significant digits: fewer steps, none of which says more than before.
    #[must_use]
    pub fn rounded_down(&self, digits: usize) -> Self {
        let mut steps: Vec<Step> = Vec::new();
        for step in &self.steps {
            // The number nearest to a decimal that is not above the value is not above the value either.
            let value = crate::decimal::down(step.value, digits).parse().unwrap_or(0.0);
            if steps.last().is_none_or(|last| last.value != value) {
                steps.push(Step { value, ..*step });
            }
        }
        Self { total: self.total, steps }
    }

    pub(crate) fn data(&self) -> StepsData {
        StepsData {
            total: self.total,
            values: self.steps.iter().map(|step| step.value).collect(),
            counts: self.steps.iter().map(|step| step.count).collect(),
            percent: self.steps.iter().map(|step| percent_down(step.share)).collect(),
        }
    }
}

/// What the script looks numbers up in.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct StepsData {
    total: Option<u64>,
    values: Vec<f64>,
    counts: Option<Vec<u64>>,
    percent: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_counts_up_to_and_including_itself() {
        let steps = Steps::counted(4, vec![0.5, 0.25, 0.5]);
        let count = |value| steps.count(value);
        assert_eq!([count(0.0), count(0.25), count(0.250_000_1), count(0.5), count(0.51)], [3, 3, 2, 2, 0]);
        assert_eq!((steps.share(0.0), steps.share(1.0), steps.largest()), (0.75, 0.0, 0.5));
        assert_eq!(Steps::counted(0, Vec::new()).share(0.0), 0.0);
        let data = steps.data();
        assert_eq!((data.values, data.counts), (vec![0.25, 0.5], Some(vec![3, 2])));
        assert_eq!(data.percent, ["75.0", "50.0"]);
    }

    #[test]
    fn rounding_down_never_certifies_more() {
        let values: Vec<f64> = (1..200).map(|at| f64::from(at) * 0.003_141_59).collect();
        let exact = Steps::counted(200, values.clone());
        let coarse = exact.rounded_down(2);
        assert!(coarse.steps.len() < exact.steps.len());
        for value in values.iter().flat_map(|&value| [value, value * 0.999, value * 1.001]) {
            assert!(coarse.count(value) <= exact.count(value), "{value}");
        }
        // At a number of as many digits nothing is lost.
        for value in [0.1, 0.25, 0.4, 0.62] {
            assert_eq!(coarse.count(value), exact.count(value), "{value}");
        }
    }
}
