//! What is known about logs as data: JSON objects, and a table of comma-separated values.

use super::analysis::Analysis;
use super::dimension::DimensionSource;
use super::log::{AnalysedLog, ByClass};
use super::radius::Radius;
use gambeson_report::mark::SCORES;
use gambeson_report::text::shown;
use gambeson_smooth::analysis::{LoggedRun, Paired, RadiusNorm};
use gambeson_smooth::record::LimitChoice;
use serde::{Deserialize, Serialize};

/// Shares of inputs at which the distribution of p_A is given.
pub(crate) const SHARES: [f64; 7] = [0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0];

/// What `analyze --json` prints on a line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum AnalysisRecord {
    /// A log.
    Log(Box<LogRecord>),
    /// The best of all logs, if asked for.
    Envelope(EnvelopeRecord),
    /// Two logs compared, if asked for.
    Paired(PairedRecord),
}

/// What `analyze --json` prints about a log. Keys are only ever added.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogRecord {
    /// The files of the log.
    pub source: String,
    /// Number of inputs; null for a curve.
    pub images: Option<usize>,
    /// The norm of the radii.
    pub norm: RadiusNorm,
    /// The radii asked for.
    pub radii: Vec<f64>,
    /// Share of inputs that are certified at each radius, and correct unless any class counts.
    pub certified_accuracy: Vec<f64>,
    /// Average certified radius; null where there are no radii by input.
    pub acr: Option<f64>,
    /// Share of abstentions; null for a curve.
    pub abstained: Option<f64>,
    /// Noise level; null if the log does not say.
    pub sigma: Option<f64>,
    /// Failure probability of a certificate; null if the log does not say.
    pub alpha: Option<f64>,
    /// Lower bounds on certified accuracy; null unless `rho` is given.
    pub high_probability: Option<AccuracyBoundRecord>,
    /// Distribution of the lower limits on p_A over all inputs; null if the log has none.
    pub p_a: Option<LimitsRecord>,
    /// Hash of the projection that the log was made with; null without one.
    pub projection: Option<String>,
    /// κ that ℓ∞ radii rest on; null without one.
    pub kappa: Option<f64>,
    /// Where κ comes from.
    pub kappa_from: KappaSource,
    /// The number of coordinates that ℓ∞ radii rest on; null where they rest on κ, and for ℓ2.
    pub dimension: Option<u64>,
    /// Where it comes from.
    pub dimension_from: Option<DimensionSource>,
    /// Why this log is not compared with the others.
    pub not_compared: Option<String>,
    /// Distribution of the lower limits on p_A over correct predictions.
    pub p_a_correct: Option<LimitsRecord>,
    /// Accuracy by class; null unless asked for, and without labels.
    pub per_class: Option<Vec<ClassRecord>>,
    /// The file of the projection that proves κ.
    pub proven_by: Option<String>,
    /// For our records: inputs planned that have none. They are among `images`, and count as not certified.
    pub missing: Option<u64>,
    /// For our records: true if α or the limits are not those of the plan. Then the numbers are no claim: whoever chooses
    /// them after seeing the counts may choose what suits.
    pub chosen_afterwards: Option<bool>,
    /// True for our records, whose noise has exactly the law that certificates are about; null for other logs, which do not
    /// say.
    pub noise_exact: Option<bool>,
}

/// Where a κ comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KappaSource {
    /// From the parameters; nothing proves it here.
    Given,
    /// Proven again, from the projection.
    Proven,
    /// From the log; not proven here.
    Recorded,
    /// The log was made without a projection.
    NoProjection,
    /// The log does not say.
    Unknown,
}

/// Lower bounds on certified accuracy that hold with probability 1 − ρ over all draws, for all radii at once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AccuracyBoundRecord {
    /// ρ.
    pub rho: f64,
    /// Failure probability of a certificate.
    pub alpha: f64,
    /// How many certificates may be false.
    pub false_certificates: u64,
    /// By the binomial distribution, at each radius.
    pub exact: Vec<f64>,
    /// By Bernstein's inequality, as Cohen et al. do, at each radius.
    pub bernstein: Vec<f64>,
}

/// Quantiles of the lower limits on p_A, the probability of the class under noise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LimitsRecord {
    /// Shares of inputs.
    pub shares: Vec<f64>,
    /// The least limit that so many inputs do not exceed.
    pub lower_limits: Vec<f64>,
}

/// Accuracy of the inputs of one class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClassRecord {
    /// The class.
    pub label: u32,
    /// Inputs of the class.
    pub images: usize,
    /// At each radius.
    pub certified_accuracy: Vec<f64>,
}

/// The best log at each radius. Keys that it shares with [`LogRecord`] are null.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EnvelopeRecord {
    /// `envelope`.
    pub source: String,
    /// Null.
    pub images: Option<usize>,
    /// The norm of the radii.
    pub norm: RadiusNorm,
    /// The radii asked for.
    pub radii: Vec<f64>,
    /// Of the best log at each radius.
    pub certified_accuracy: Vec<f64>,
    /// Null.
    pub acr: Option<f64>,
    /// Null.
    pub abstained: Option<f64>,
    /// The files of the best log at each radius, the first of equals.
    pub best: Vec<String>,
}

/// Two logs compared on the inputs that both have or planned, at each radius.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairedRecord {
    /// `paired`.
    pub source: String,
    /// The files of one log.
    pub first: String,
    /// The files of the other.
    pub second: String,
    /// Inputs that both have or planned; of one planned that has no record nothing is certified.
    pub inputs: u64,
    /// The radii asked for.
    pub radii: Vec<f64>,
    /// Inputs certified by both.
    pub both: Vec<u64>,
    /// Inputs certified by the first only.
    pub only_first: Vec<u64>,
    /// Inputs certified by the second only.
    pub only_second: Vec<u64>,
    /// Exact two-sided p-value of McNemar's test.
    pub p_value: Vec<f64>,
    /// Accuracy of the first less that of the second.
    pub difference: Vec<f64>,
    /// Lower end of a 95 % interval for the difference.
    pub low: Vec<f64>,
    /// Its upper end.
    pub high: Vec<f64>,
}

impl Serialize for Analysis {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.records())
    }
}

impl Analysis {
    /// What `analyze --json` prints, line by line: each log, then the envelope and the comparison of two, if asked for.
    pub fn records(&self) -> Vec<AnalysisRecord> {
        let log = |log| AnalysisRecord::Log(Box::new(self.log_record(log)));
        let envelope = self.envelope.then(|| AnalysisRecord::Envelope(self.envelope_record()));
        let paired = self.paired_record().map(AnalysisRecord::Paired);
        self.logs.iter().map(log).chain(envelope).chain(paired).collect()
    }

    fn radius_values(&self) -> Vec<f64> {
        self.radii.iter().map(Radius::value).collect()
    }

    fn log_record(&self, log: &AnalysedLog) -> LogRecord {
        let AnalysedLog { source, scores, .. } = log;
        let run = source.run.as_deref();
        let classes = log.classes.as_ref().filter(|classes| !classes.is_empty());
        LogRecord {
            source: source.name(),
            images: scores.images(),
            norm: self.norm,
            radii: self.radius_values(),
            certified_accuracy: log.accuracy.clone(),
            acr: scores.average_radius(),
            abstained: scores.abstained(),
            sigma: source.sigma,
            alpha: source.alpha,
            high_probability: log.high_probability.as_ref().map(|bound| AccuracyBoundRecord {
                rho: bound.rho,
                alpha: bound.alpha,
                false_certificates: bound.false_certificates,
                exact: bound.exact.clone(),
                bernstein: bound.bernstein.clone(),
            }),
            p_a: quantiles(|share| scores.limit_quantile(share)),
            projection: run.and_then(|run| run.common.projection.clone()),
            kappa: self.given_kappa.or(run.and_then(|run| run.kappa)),
            kappa_from: self.kappa_from(log),
            dimension: log.dimension.as_ref().map(|dimension| dimension.value),
            dimension_from: log.dimension.as_ref().map(|dimension| dimension.from),
            not_compared: self.incomparable.as_ref().map(ToString::to_string),
            p_a_correct: quantiles(|share| scores.right_limit_quantile(share)),
            per_class: classes.map(|classes| classes.iter().map(class_record).collect()),
            proven_by: log.proven_by.clone(),
            missing: source.planned.is_some().then(|| source.missing()),
            chosen_afterwards: self.chosen_afterwards(source),
            noise_exact: run.is_some().then_some(true),
        }
    }

    /// Whether our records are analysed by another α or other limits than planned; none for other logs.
    pub(super) fn chosen_afterwards(&self, source: &LoggedRun) -> Option<bool> {
        let run = source.run.as_ref()?;
        Some(source.alpha != Some(run.common.alpha) || self.limits != LimitChoice::Natural)
    }

    /// Whether there is a κ, and who says so.
    fn kappa_from(&self, log: &AnalysedLog) -> KappaSource {
        let projected = log.source.run.as_ref().map(|run| run.kappa.is_some());
        match (self.given_kappa, projected, &log.proven_by) {
            (Some(_), ..) => KappaSource::Given,
            (None, Some(true), Some(_)) => KappaSource::Proven,
            (None, Some(true), None) => KappaSource::Recorded,
            (None, Some(false), _) => KappaSource::NoProjection,
            (None, None, _) => KappaSource::Unknown,
        }
    }

    fn envelope_record(&self) -> EnvelopeRecord {
        EnvelopeRecord {
            source: "envelope".to_owned(),
            images: None,
            norm: self.norm,
            radii: self.radius_values(),
            certified_accuracy: self.best.iter().map(|&(_, accuracy)| accuracy).collect(),
            acr: None,
            abstained: None,
            best: self.best.iter().map(|&(at, _)| self.logs[at].source.name()).collect(),
        }
    }

    fn paired_record(&self) -> Option<PairedRecord> {
        let found = self.paired.as_ref()?;
        let (first, second) = (self.logs.first()?, self.logs.get(1)?);
        let all = |of: fn(&Paired) -> f64| found.iter().map(of).collect::<Vec<f64>>();
        let counts = |of: fn(&Paired) -> u64| found.iter().map(of).collect::<Vec<u64>>();
        Some(PairedRecord {
            source: "paired".to_owned(),
            first: first.source.name(),
            second: second.source.name(),
            inputs: found.first().map_or(0, |paired| paired.inputs),
            radii: all(|paired| paired.radius),
            both: counts(|paired| paired.both),
            only_first: counts(|paired| paired.first),
            only_second: counts(|paired| paired.second),
            p_value: all(|paired| paired.p_value),
            difference: all(|paired| paired.difference),
            low: all(|paired| paired.interval.0),
            high: all(|paired| paired.interval.1),
        })
    }

    /// Comma-separated values: a header and one line per log, then the envelope if asked for. Numbers are the shortest
    /// decimals that read back to the same.
    pub fn csv(&self) -> String {
        let list = |values: &[f64]| values.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
        let some = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
        let mut lines = vec![format!("{SCORES}{}", list(&self.radius_values()))];
        for AnalysedLog { source, scores, accuracy, .. } in &self.logs {
            lines.push(format!(
                "{},{},{},{},{}",
                quoted(&source.name()),
                scores.images().map_or(String::new(), |images| images.to_string()),
                some(scores.average_radius()),
                some(scores.abstained()),
                list(accuracy)
            ));
        }
        if self.envelope {
            lines.push(format!("envelope,,,,{}", list(&self.envelope_record().certified_accuracy)));
        }
        lines.join("\n") + "\n"
    }
}

/// Quantiles at all shares; none where there are no limits.
fn quantiles(of: impl Fn(f64) -> Option<f64>) -> Option<LimitsRecord> {
    let lower_limits: Option<Vec<f64>> = SHARES.iter().map(|&share| of(share)).collect();
    lower_limits.map(|lower_limits| LimitsRecord { shares: SHARES.to_vec(), lower_limits })
}

fn class_record(class: &ByClass) -> ClassRecord {
    ClassRecord { label: class.label, images: class.images, certified_accuracy: class.accuracy.clone() }
}

/// A field of comma-separated values. One that a spreadsheet would compute is made a text.
fn quoted(text: &str) -> String {
    let formula = if text.starts_with(['=', '+', '-', '@']) { "'" } else { "" };
    let text = format!("{formula}{}", shown(text));
    if text.contains([',', '"']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_a_csv_file_are_quoted_where_they_must() {
        assert_eq!(quoted("a.tsv"), "a.tsv");
        assert_eq!(quoted("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(quoted("=1+2,a\nb"), "\"'=1+2,a\\u{a}b\"");
    }
}
