//! CERTIFY for the inputs of a data set.

use super::params::CertifyParams;
use super::run::{AnsweredRecord, Job, PaceRecord};
use super::tsv;
use crate::context::Context;
use crate::error::Error;
use gambeson_data::dataset::Dataset;
use gambeson_learn::smoothed::SmoothedModel;
use gambeson_lowrank::MemoryLimit;
use gambeson_smooth::analysis::RunAccuracy;
use gambeson_smooth::classifier::{Classifier, ClassifierSpec};
use gambeson_smooth::limit::LimitRule;
use gambeson_smooth::record::{Derived, Record, merge_records};
use gambeson_smooth::runs::{Finished, certify_inputs, extend_inputs};
use gambeson_smooth::sequential::Goal;
use gambeson_smooth::session::{Batch, BatchCallback, SessionParams};
use gambeson_smooth::smoother::{DrawCounter, Smoother, SmoothingPlan, default_targets};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Records of the inputs asked for, and what they come to.
#[derive(Clone, Debug)]
pub struct CertifiedRun {
    /// By index: records of all inputs asked for that have one, those of earlier runs included.
    pub records: BTreeMap<u64, Record>,
    /// Whether an interrupt or the time limit ended it before every input had a record. With a file of records the same call
    /// goes on from there.
    pub stopped: bool,
    summary: CertifyRecord,
}

impl CertifiedRun {
    /// What it says, as data.
    pub fn record(&self) -> &CertifyRecord {
        &self.summary
    }

    /// The table of Cohen et al.: radii in ℓ2, cut off after four significant digits.
    pub fn tsv(&self) -> String {
        tsv::certified(self.records.values())
    }
}

impl Serialize for CertifiedRun {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.summary.serialize(serializer)
    }
}

/// What `certify --json` prints. Keys are only ever added.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CertifyRecord {
    /// How many inputs were answered.
    #[serde(flatten)]
    pub answered: AnsweredRecord,
    /// Half of the answers have an ℓ2 radius of at least this; abstentions count as 0.
    pub median_l2: f64,
    /// Likewise in ℓ∞.
    pub median_linf: f64,
    /// Selection and estimation draws of this run.
    pub draws: u64,
    /// Estimation draws per input, on average.
    pub mean_estimation: f64,
    /// Limits on the probabilities of classes.
    pub limits: LimitRule,
    /// How long it took.
    #[serde(flatten)]
    pub pace: PaceRecord,
    /// Certified accuracy at a few radii.
    pub accuracy: RunAccuracy,
}

/// Certifies inputs of a data set, on the threads of the context.
///
/// A run with a file of records goes on where an earlier one stopped. An interrupt or a time limit is no error: finished
/// inputs are kept.
pub fn certify<C: Classifier>(
    context: &Context,
    model: &SmoothedModel<C>,
    data: &Dataset,
    params: &CertifyParams,
) -> Result<CertifiedRun, Error> {
    context.run(|| {
        let job = certification(context, model, data, params)?;
        let space = Arc::clone(&model.space);
        let smoother = Smoother::new(&model.classifier, space, job.job.smoothing.clone())?;
        job.run(&smoother)
    })
}

/// The same with a classifier that is asked on the caller's own thread, `draws.batch` rows at a time, while threads of the
/// context make the next rows. Counts are those of [`certify`].
pub fn certify_by<E: std::error::Error + Send + Sync + 'static>(
    context: &Context,
    model: &SmoothedModel<ClassifierSpec>,
    data: &Dataset,
    params: &CertifyParams,
    session: &SessionParams,
    classify: impl FnMut(&Batch<'_>) -> Result<Vec<u32>, E>,
) -> Result<CertifiedRun, Error> {
    let pool = Some(context.pool()?);
    let job = certification(context, model, data, params)?;
    let space = Arc::clone(&model.space);
    let plan = SmoothingPlan::new(model.classifier.clone(), space, job.job.smoothing.clone())?;
    job.run(BatchCallback::new(plan, SessionParams { pool, ..session.clone() }, classify))
}

/// A certification ready to run.
struct CertifyJob<'a, C> {
    job: Job<'a, C>,
    earlier: Option<BTreeMap<u64, Record>>,
}

fn certification<'a, C>(
    context: &'a Context,
    model: &'a SmoothedModel<C>,
    data: &'a Dataset,
    params: &'a CertifyParams,
) -> Result<CertifyJob<'a, C>, Error> {
    let mut job = Job::new(context, model, data, &params.draws)?;
    let earlier =
        params.extend.as_deref().map(|path| earlier_records(path, context.memory_limit())).transpose()?;
    job.smoothing.selection = params.n0;
    job.smoothing.estimation = params.n;
    job.smoothing.limits = params.limits;
    job.smoothing.extended_from = earlier.as_ref().map(|(last, _)| *last);
    job.smoothing.goal = params.sequential.clone().map(|goal| {
        if goal.targets.is_empty() && goal.tolerance.is_none() {
            let targets = default_targets(&model.space, goal.norm, job.smoothing.noise);
            return Goal { targets, ..goal };
        }
        goal
    });
    if let Some((_, earlier)) = &earlier {
        job.run.indices.retain(|index| earlier.contains_key(index));
    }
    Ok(CertifyJob { job, earlier: earlier.map(|(_, records)| records) })
}

/// The records of a run to be extended, by index, and what its last look was planned for.
fn earlier_records(path: &Path, memory: MemoryLimit) -> Result<(u64, BTreeMap<u64, Record>), Error> {
    let records = merge_records(&[path.to_path_buf()], memory)?;
    let Some(first) = records.first() else { return Err(Error::NoRecords { path: path.to_path_buf() }) };
    let last =
        first.run.extendable().map_err(|reason| Error::NotExtendable { path: path.to_path_buf(), reason })?;
    Ok((last, records.into_iter().map(|record| (record.index, record)).collect()))
}

impl<C> CertifyJob<'_, C> {
    fn run<S: DrawCounter>(&self, counter: S) -> Result<CertifiedRun, Error>
    where
        S::Error: Send + Sync,
    {
        let (job, row) = (&self.job, |index| self.job.row(index));
        let mut observer = job.observer();
        let finished = match &self.earlier {
            Some(earlier) => extend_inputs(counter, &job.run, earlier, row, &mut observer)?,
            None => certify_inputs(counter, &job.run, row, &mut observer)?,
        };
        let summary = self.summary(&finished);
        Ok(CertifiedRun { stopped: finished.stopped, records: finished.records, summary })
    }

    fn summary(&self, finished: &Finished<Record>) -> CertifyRecord {
        let (job, records) = (&self.job, &finished.records);
        let median = |radius: fn(&Derived) -> Option<f64>| {
            let mut radii: Vec<f64> =
                records.values().map(|record| radius(&record.derived).unwrap_or(0.0)).collect();
            radii.sort_by(f64::total_cmp);
            // The lower one of two, so that at least half reach it.
            radii.len().checked_sub(1).map_or(0.0, |last| radii[last / 2])
        };
        let estimation: u64 = records.values().map(Record::draws).sum();
        let labelled = job.data.labels().is_some();
        let accuracy =
            RunAccuracy::of_records(&records.values(), &job.model.space, job.params.sigma, labelled);
        CertifyRecord {
            answered: job.answered(finished, |record| record.derived.class),
            median_l2: median(|derived| derived.l2),
            median_linf: median(|derived| derived.linf),
            draws: finished.draws,
            mean_estimation: estimation as f64 / records.len().max(1) as f64,
            limits: job.smoothing.limit_rule(),
            pace: PaceRecord::new(finished, job.params.out.as_deref()),
            accuracy,
        }
    }
}
