//! What the records of a plan claim, in numbers and in words.
//!
//! **Problem.** Records prove something about each input, but for a probability of α. What do they claim together, and what
//! is assumed? Whoever reads the sentence must not learn more from it than follows.
//!
//! **Method.** Counted are the inputs planned: one without a record is not certified. Of m certificates more than k are
//! false with probability ρ at most ([`false_certificates`]), whatever the radius, so that the certified accuracy of the
//! smoothed classifier on these inputs is at least that counted less k/m. If the inputs were drawn at random from a
//! population, the number c* of inputs that are truly certified at a radius is binomial, and c* ≥ c − k: so with half of ρ
//! for k and half for the limit of Clopper and Pearson on c − k of m, the accuracy in the population is at least that limit
//! but for a probability of ρ, for each radius by itself.
//!
//! **Guarantee.** Shares are rounded down, expected numbers of errors up.

use crate::analysis::{AnalysisError, CertifiedRadii, false_certificates, three_digits};
use crate::limit::lower_limit;
use crate::record::{ASSUMED, Derived, FileNames, Head, ONNX_RUNTIME, Record, Rule, Run};
use crate::selection::Selection;
use gambeson_checker::rounding::{div_down, mul_up, root_above};
use gambeson_checker::{FailureProbability, SamplingRule, Tally};
use serde::Serialize;

/// Radii of a claim, in multiples of σ.
const MULTIPLES: [f64; 6] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0];

/// The probability that a limit of a claim is wrong.
pub const CLAIM_RHO: f64 = 0.001;

/// What the records of a plan claim.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Claim {
    /// Digest of the plan.
    pub plan: String,
    /// Digest of the run, which every record carries.
    pub run: String,
    /// Hash of the network, with the normalisation before it; or a text that says what the classifier computes.
    pub network: String,
    /// What computed the network.
    pub runtime: Option<String>,
    /// Name and hash of the data.
    pub data: String,
    /// Hash of the projection; null where noise is added to the input itself.
    pub projection: Option<String>,
    /// Names of the files, which prove nothing.
    pub files: FileNames,
    /// σ.
    pub sigma: f64,
    /// Failure probability of each certificate.
    pub alpha: f64,
    /// Draws that choose the class.
    pub n0: u64,
    /// Draws that are counted; at most, in a sequential run.
    pub n: u64,
    /// Whether each input was drawn until its answer was settled.
    pub sequential: bool,
    /// κ: ℓ∞ radii are ℓ2 radii in the coordinates of the projection, divided by it; null without a projection.
    pub kappa: Option<f64>,
    /// Coordinates of an input.
    pub dimension: u64,
    /// The inputs planned.
    pub selection: Selection,
    /// Inputs that have a record.
    pub records: u64,
    /// Inputs planned that have none. They count as not certified.
    pub missing: u64,
    /// The number of false certificates that is expected, at most.
    pub expected_false: f64,
    /// The probability that a limit of this claim is wrong.
    pub rho: f64,
    /// But for that probability, no more certificates are false.
    pub most_false: u64,
    /// Whether certified means that the class is the label; else any class counts, for want of labels.
    pub labelled: bool,
    /// Inputs on which the smoothed classifier abstains.
    pub abstained: u64,
    /// At radii in ℓ2.
    pub l2: Vec<CertifiedShare>,
    /// At radii in ℓ∞; of cosine coefficients where the projection works in them.
    pub linf: Vec<CertifiedShare>,
    /// What is assumed, in sentences.
    pub assumed: Vec<String>,
}

/// Certified accuracy at a radius.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CertifiedShare {
    /// The radius.
    pub radius: f64,
    /// Inputs certified at it.
    pub certified: u64,
    /// Their share of the inputs planned.
    pub accuracy: f64,
    /// But for the probability ρ, the share on these inputs is at least this.
    pub at_least: f64,
    /// But for the probability ρ, the share in the population is at least this if the inputs were drawn from it at random.
    pub population_at_least: f64,
}

/// The claim of records that are one input each of what a head plans. `data` is what the reader calls the data. Classes and
/// radii are those that stand in the records: readers have proven them again.
pub fn claim<'a>(
    head: &Head<Run>,
    plan: String,
    data: String,
    records: &(impl Iterator<Item = &'a Record> + Clone),
) -> Result<Claim, AnalysisError> {
    let run = &head.run;
    let planned = head.selection.whole();
    let count = records.clone().count() as u64;
    let labelled = count > 0 && records.clone().all(|record| record.label.is_some());
    let alpha = run.common.alpha;
    let rho = FailureProbability::new(CLAIM_RHO)?;
    let most_false = false_certificates(planned.count, alpha, rho)?;
    let with_population = false_certificates(planned.count, alpha, rho.half())?;
    let right = |record: &&Record| !labelled || record.derived.class == record.label;
    let shares = |unit: f64, radius: fn(&Derived) -> Option<f64>| {
        let found = records.clone().filter(right).filter_map(|record| radius(&record.derived));
        let found = CertifiedRadii::new(size(planned.count), found.collect());
        let at = |multiple: f64| {
            let radius = three_digits(multiple * unit);
            let certified = found.certified(radius) as u64;
            let share = |certified: u64| div_down(certified as f64, planned.count as f64);
            let tally = Tally::new(certified.saturating_sub(with_population), planned.count)?;
            let rule = SamplingRule::Fixed;
            Ok(CertifiedShare {
                radius,
                certified,
                accuracy: share(certified),
                at_least: share(certified.saturating_sub(most_false)),
                population_at_least: lower_limit(rule, tally, rule.method(), rho.half())?.value(),
            })
        };
        let shares = MULTIPLES.into_iter().map(at).collect::<Result<Vec<_>, AnalysisError>>()?;
        // One radius beyond the largest certified says enough.
        let some = shares.iter().position(|share| share.certified == 0).map_or(shares.len(), |at| at + 1);
        Ok::<_, AnalysisError>(shares.into_iter().take(some).collect::<Vec<_>>())
    };
    let sigma = run.common.sigma;
    let kappa = run.kappa.unwrap_or_else(|| root_above(run.dimension));
    Ok(Claim {
        plan,
        run: run.digest().to_owned(),
        network: run.common.model.clone(),
        runtime: run.common.runtime.clone(),
        data,
        projection: run.common.projection.clone(),
        files: head.files.clone(),
        sigma,
        alpha,
        n0: run.n0,
        n: run.common.n,
        sequential: run.rule != Rule::Fixed,
        kappa: run.kappa,
        dimension: run.dimension,
        selection: planned,
        records: count,
        missing: planned.count.saturating_sub(count),
        expected_false: mul_up(alpha, count as f64),
        rho: CLAIM_RHO,
        most_false,
        labelled,
        abstained: records.clone().filter(|record| record.derived.class.is_none()).count() as u64,
        l2: shares(sigma / run.spectral.unwrap_or(1.0), |derived| derived.l2)?,
        linf: shares(sigma / kappa, |derived| derived.linf)?,
        assumed: assumptions(run),
    })
}

/// What is assumed of any records of a run.
fn assumptions(run: &Run) -> Vec<String> {
    let mut assumed = vec![format!("{ASSUMED}.")];
    assumed.push(match run.common.nonce {
        Some(nonce) => format!(
            "This plan was the only one tried: M plans cost up to M * alpha (the seed is hashed from network, projection, \
             data, sigma, grid and the numbers of draws, with nonce {nonce})."
        ),
        None => "The seed was given by hand, and no other was tried: M seeds cost up to M * alpha.".to_owned(),
    });
    if run.common.runtime.as_deref() == Some(ONNX_RUNTIME) {
        assumed.push(
            "ONNX Runtime computes the same function on every call; other versions may answer near-ties otherwise."
                .to_owned(),
        );
    }
    assumed.push(
        "The certificate is about the smoothed classifier, which answers by majority over noise, not about the network \
         alone."
            .to_owned(),
    );
    assumed
}

impl Claim {
    /// The inputs in words, such as `107 of the 10,000 inputs, every 5th`.
    pub fn inputs(&self) -> String {
        let Selection { start, stop, every, count, inputs, .. } = self.selection;
        let every = if every > 1 { format!(", every {}", ordinal(every)) } else { String::new() };
        let range = match (start, stop) {
            (0, stop) if stop == inputs => String::new(),
            _ => format!(", from {start} to {}", stop.saturating_sub(1)),
        };
        let missing = match self.missing {
            0 => String::new(),
            missing => format!("; {} without a record count as not certified", grouped(missing)),
        };
        format!("{} of the data's {} inputs{every}{range}{missing}", grouped(count), grouped(inputs))
    }
}

/// A number with commas between thousands.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn ordinal(number: u64) -> String {
    let ending = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

fn size(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_counted() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(
            [1, 2, 3, 4, 11, 12, 13, 21, 112].map(ordinal).join(" "),
            "1st 2nd 3rd 4th 11th 12th 13th 21st 112th"
        );
    }
}
