//! PREDICT for the inputs of a data set.

use super::params::PredictParams;
use super::run::{AnsweredRecord, Job, PaceRecord};
use super::tsv;
use crate::context::Context;
use crate::error::Error;
use gambeson_data::dataset::Dataset;
use gambeson_learn::smoothed::SmoothedModel;
use gambeson_smooth::classifier::{Classifier, ClassifierSpec};
use gambeson_smooth::record::PredictionRecord;
use gambeson_smooth::runs::predict_inputs;
use gambeson_smooth::seed::PlannedDraws;
use gambeson_smooth::session::{Batch, BatchCallback, SessionParams};
use gambeson_smooth::smoother::{DrawCounter, Smoother, SmoothingPlan};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Predictions for the inputs asked for, and what they come to.
#[derive(Clone, Debug)]
pub struct PredictedRun {
    /// By index: records of all inputs asked for that have one, those of earlier runs included.
    pub records: BTreeMap<u64, PredictionRecord>,
    /// Whether an interrupt or the time limit ended it before every input had a record.
    pub stopped: bool,
    summary: PredictRecord,
}

impl PredictedRun {
    /// What it says, as data.
    pub fn record(&self) -> &PredictRecord {
        &self.summary
    }

    /// The table of Cohen et al., without radii.
    pub fn tsv(&self) -> String {
        tsv::predicted(self.records.values())
    }
}

impl Serialize for PredictedRun {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.summary.serialize(serializer)
    }
}

/// What `predict --json` prints. Keys are only ever added.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PredictRecord {
    /// How many inputs were answered.
    #[serde(flatten)]
    pub answered: AnsweredRecord,
    /// Draws of this run.
    pub draws: u64,
    /// How long it took.
    #[serde(flatten)]
    pub pace: PaceRecord,
}

/// Predicts the class of the smoothed classifier for inputs of a data set, on the threads of the context.
///
/// An interrupt or a time limit is no error: finished inputs are kept.
pub fn predict<C: Classifier>(
    context: &Context,
    model: &SmoothedModel<C>,
    data: &Dataset,
    params: &PredictParams,
) -> Result<PredictedRun, Error> {
    context.run(|| {
        let job = prediction(context, model, data, params)?;
        let smoother = Smoother::new(&model.classifier, Arc::clone(&model.space), job.smoothing.clone())?;
        run(&job, &smoother)
    })
}

/// The same with a classifier that is asked on the caller's own thread, as by [`certify_by`](super::certify_by).
pub fn predict_by<E: std::error::Error + Send + Sync + 'static>(
    context: &Context,
    model: &SmoothedModel<ClassifierSpec>,
    data: &Dataset,
    params: &PredictParams,
    session: &SessionParams,
    classify: impl FnMut(&Batch<'_>) -> Result<Vec<u32>, E>,
) -> Result<PredictedRun, Error> {
    let pool = Some(context.pool()?);
    let job = prediction(context, model, data, params)?;
    let plan = SmoothingPlan::new(model.classifier.clone(), Arc::clone(&model.space), job.smoothing.clone())?;
    run(&job, BatchCallback::new(plan, SessionParams { pool, ..session.clone() }, classify))
}

fn prediction<'a, C>(
    context: &'a Context,
    model: &'a SmoothedModel<C>,
    data: &'a Dataset,
    params: &'a PredictParams,
) -> Result<Job<'a, C>, Error> {
    let mut job = Job::new(context, model, data, &params.draws)?;
    job.smoothing.selection = 1; // not drawn
    job.smoothing.estimation = params.n;
    job.choose_seed(PlannedDraws::Predict { draws: params.n })?;
    Ok(job)
}

fn run<C, S: DrawCounter>(job: &Job<'_, C>, counter: S) -> Result<PredictedRun, Error>
where
    S::Error: Send + Sync,
{
    let finished = predict_inputs(counter, &job.run, |index| job.row(index), &mut job.observer())?;
    let summary = PredictRecord {
        answered: job.answered(&finished, |record| record.class),
        draws: finished.draws,
        pace: PaceRecord::new(&finished, job.params.out.as_deref()),
    };
    Ok(PredictedRun { stopped: finished.stopped, records: finished.records, summary })
}
