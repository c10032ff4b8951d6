//! What is known about logs.

use super::compare::{difference, pair};
use super::dimension::NamedData;
use super::log::AnalysedLog;
use super::names::labels_of;
use super::params::{AnalyzeParams, Checked};
use super::proofs::{self, Proof};
use super::radius::{Radius, default_radii};
use crate::context::Context;
use crate::error::analyze::{AnalyzeError, Difference};
use gambeson_smooth::analysis::{LoggedRun, Paired, RadiusNorm, Scale, Scores, best_at};
use gambeson_smooth::record::LimitChoice;

/// Certified accuracy and the like, of one or several logs. It serialises to the sequence of its
/// [records](Analysis::records).
#[derive(Clone, Debug)]
pub struct Analysis {
    pub(super) norm: RadiusNorm,
    pub(super) any_class: bool,
    pub(super) radii: Vec<Radius>,
    pub(super) logs: Vec<AnalysedLog>,
    /// At each radius the number of the best log, the first of equals, and its accuracy.
    pub(super) best: Vec<(usize, f64)>,
    /// The first two logs compared, if asked for.
    pub(super) paired: Option<Vec<Paired>>,
    /// κ as given, in place of what logs say.
    pub(super) given_kappa: Option<f64>,
    /// Why logs are not compared with each other, if they are not.
    pub(super) incomparable: Option<Difference>,
    pub(super) limits: LimitChoice,
    pub(super) envelope: bool,
    pub(super) by_sigma: bool,
}

impl Analysis {
    /// Answers the question about all logs.
    pub(super) fn new(
        context: &Context,
        sources: Vec<LoggedRun>,
        params: &AnalyzeParams,
        Checked { question, rho, .. }: &Checked,
        proofs: &[Proof],
    ) -> Result<Self, AnalyzeError> {
        let scores = sources.iter().map(|source| source.scores(question)).collect::<Result<Vec<_>, _>>()?;
        let largest = scores.iter().map(Scores::largest_radius).fold(0.0, f64::max);
        let radii = params.radii.clone().unwrap_or_else(|| default_radii(question.norm, largest));
        let values: Vec<f64> = radii.iter().map(Radius::value).collect();
        let labels = labels_of(&sources, &params.labels)?;
        let (mut logs, mut named_data) = (Vec::new(), NamedData::new(context, params));
        for ((source, scores), label) in sources.into_iter().zip(scores).zip(labels) {
            if context.is_interrupted() {
                return Err(AnalyzeError::Stopped);
            }
            let mut log = AnalysedLog::new(source, label, scores, &values)?;
            if let Some(rho) = *rho {
                log.high_probability = Some(log.high_probability(rho, params.log_alpha)?);
            }
            log.proven_by = proofs::proven(&log.source, proofs)?;
            log.dimension = named_data.dimension(&log.source, question)?;
            if params.per_class {
                log.classes = Some(log.by_class(question, &values)?);
            }
            logs.push(log);
        }
        let used: Vec<Option<&str>> = logs.iter().map(|log| log.proven_by.as_deref()).collect();
        proofs::all_used(proofs, &used)?;
        let paired = if params.paired { Some(pair(&logs, params.mixed, question, &values)?) } else { None };
        let incomparable = difference(&logs).filter(|_| !params.mixed);
        if let Some(difference) = incomparable.as_ref().filter(|_| params.envelope) {
            return Err(AnalyzeError::Incomparable { field: "envelope", difference: difference.clone() });
        }
        let accuracies: Vec<Vec<f64>> = logs.iter().map(|log| log.accuracy.clone()).collect();
        Ok(Self {
            norm: question.norm,
            any_class: question.any_class,
            radii,
            logs,
            best: best_at(&accuracies),
            paired,
            given_kappa: match params.scale {
                Scale::Kappa(kappa) => Some(kappa),
                Scale::Own | Scale::Dimension(_) => None,
            },
            incomparable,
            limits: params.limits,
            envelope: params.envelope,
            by_sigma: params.by_sigma,
        })
    }

    /// The logs in the order of tables; shards of one run are one log.
    pub fn logs(&self) -> &[AnalysedLog] {
        &self.logs
    }

    /// The norm of the radii.
    pub fn norm(&self) -> RadiusNorm {
        self.norm
    }

    /// The radii at which accuracy was counted.
    pub fn radii(&self) -> &[Radius] {
        &self.radii
    }

    /// Two logs that were compared, at each radius.
    pub fn paired(&self) -> Option<&[Paired]> {
        self.paired.as_deref()
    }

    /// Why the logs are not compared with each other, if they are not.
    pub fn difference(&self) -> Option<&Difference> {
        self.incomparable.as_ref()
    }
}
