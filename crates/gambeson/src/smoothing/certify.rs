//! CERTIFY for the inputs of a data set.

use super::params::CertifyParams;
use super::run::{AnsweredRecord, Job, PaceRecord};
use super::tsv;
use crate::context::Context;
use crate::error::Error;
use gambeson_data::dataset::Dataset;
use gambeson_learn::smoothed::SmoothedModel;
use gambeson_smooth::analysis::RunAccuracy;
use gambeson_smooth::classifier::{Classifier, ClassifierSpec};
use gambeson_smooth::record::{Derived, Head, Record, RecordLog, Run, read_records};
use gambeson_smooth::runs::{Finished, certification_head, certify_inputs, extend_inputs};
use gambeson_smooth::selection::{InputSelection, Selection};
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
    /// How long it took.
    #[serde(flatten)]
    pub pace: PaceRecord,
    /// Certified accuracy at a few radii.
    pub accuracy: RunAccuracy,
    /// Digest of the plan, which `check` can demand.
    pub plan: String,
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

/// What a certification would do, before anything is drawn.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CertificationPlan {
    /// Its digest. Published before the run, it shows that the run was not chosen after the fact.
    pub plan: String,
    /// The inputs.
    pub selection: Selection,
    /// Draws per input, at most.
    pub draws: u64,
    /// The file that the head was written to.
    pub out: Option<String>,
}

/// Plans a certification, and writes the head of its records if a file is named: the same parameters go on from there.
pub fn plan_certification<C: Classifier>(
    context: &Context,
    model: &SmoothedModel<C>,
    data: &Dataset,
    params: &CertifyParams,
) -> Result<CertificationPlan, Error> {
    context.run(|| {
        let CertifyJob { job, .. } = certification(context, model, data, params)?;
        let space = Arc::clone(&model.space);
        let plan = SmoothingPlan::new(ClassifierSpec::of(&model.classifier), space, job.smoothing.clone())?;
        let head = certification_head(&plan, &job.run)?;
        if let Some(out) = &job.params.out {
            RecordLog::open_to_append(out, &head, context.memory_limit())?;
        }
        Ok(CertificationPlan {
            plan: plan_digest(&head)?,
            selection: head.selection,
            draws: params.n0.saturating_add(params.n),
            out: job.params.out.as_ref().map(|out| out.to_string_lossy().into_owned()),
        })
    })
}

fn plan_digest(head: &Head<Run>) -> Result<String, Error> {
    head.plan_digest().map_err(|reason| Error::Encoding { reason })
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
    let earlier = params.extend.as_deref().map(|path| Earlier::read(path, context)).transpose()?;
    let mut job = Job::new(context, model, data, &params.draws)?;
    job.smoothing.selection = params.n0;
    job.smoothing.estimation = params.n;
    job.smoothing.extended_from = earlier.as_ref().map(|earlier| earlier.last);
    job.smoothing.goal = params.sequential.clone().map(|goal| {
        if goal.targets.is_empty() && goal.tolerance.is_none() {
            let targets = default_targets(&model.space, goal.norm, job.smoothing.noise);
            return Goal { targets, ..goal };
        }
        goal
    });
    job.choose_seed(job.smoothing.planned_draws())?;
    if let Some(Earlier { planned, .. }) = &earlier
        && params.draws.inputs == InputSelection::default()
        && planned.inputs == job.run.selection.inputs
    {
        job.run.selection = *planned; // what the earlier run was about
    }
    Ok(CertifyJob { job, earlier: earlier.map(|earlier| earlier.records) })
}

/// A run to be extended.
struct Earlier {
    /// What its last look was planned for.
    last: u64,
    planned: Selection,
    records: BTreeMap<u64, Record>,
}

impl Earlier {
    fn read(path: &Path, context: &Context) -> Result<Self, Error> {
        let recorded = read_records(path, context.memory_limit())?;
        for (path, line) in recorded.broken_off() {
            let _ = context.tell_cut_off(path, *line); // the first draws ask again
        }
        let refused = |reason| Error::NotExtendable { path: path.to_path_buf(), reason };
        let last = recorded.run().extendable().map_err(refused)?;
        Ok(Self { last, planned: recorded.planned(), records: recorded.into_entries() })
    }
}

impl<C> CertifyJob<'_, C> {
    fn run<S: DrawCounter>(&self, counter: S) -> Result<CertifiedRun, Error>
    where
        S::Error: Send + Sync,
    {
        let (job, row) = (&self.job, |index| self.job.row(index));
        let mut observer = job.observer();
        let plan = plan_digest(&certification_head(counter.plan(), &job.run)?)?;
        let finished = match &self.earlier {
            Some(earlier) => extend_inputs(counter, &job.run, earlier, row, &mut observer)?,
            None => certify_inputs(counter, &job.run, row, &mut observer)?,
        };
        let summary = self.summary(&finished, plan);
        Ok(CertifiedRun { stopped: finished.stopped, records: finished.records, summary })
    }

    fn summary(&self, finished: &Finished<Record>, plan: String) -> CertifyRecord {
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
            pace: PaceRecord::new(finished, job.params.out.as_deref()),
            accuracy,
            plan,
        }
    }
}
