//! Records of a run, drawn again or certified afresh.
//!
//! What can be checked without drawing (head, labels, classes, errors, whether counts prove radii, whether inputs are missing)
//! is checked of every record; draws are made again for some or all of them. Good ends are REDRAWN, where all draws were made
//! again, SAMPLED, where those of some records were, and NOT REFUTED, where fresh draws do not contradict the records. Bad
//! ends are REJECTED, where something is wrong, INCOMPLETE, where inputs planned have no record, and NOT REPRODUCED, where a
//! few near-ties fell otherwise here and what is left proves less. None of them is PROVEN, the word for theorems about stored
//! numbers: that draws are random is assumed.

mod checking;
mod claim_words;
mod outcome;
mod plan;
mod sample;

use crate::context::Context;
use crate::error::Error;
use checking::Checking;
pub use claim_words::ClaimWords;
use gambeson_data::dataset::Dataset;
use gambeson_learn::inputs::data_name;
use gambeson_learn::smoothed::SmoothedModel;
use gambeson_smooth::classifier::{Classifier, ClassifierSpec};
use gambeson_smooth::record::{Head, Record, RecordError, Recorded, Run};
use gambeson_smooth::session::{Batch, BatchCallback, SessionParams};
use gambeson_smooth::smoother::{Smoother, SmoothingParams, SmoothingPlan};
pub use outcome::{BrokenLine, FreshComparison, RecordFinding, RecordsCheck, RecordsVerdict};
pub use plan::NO_PROJECTION;
use plan::{compare_run, smoothing};
pub use sample::{MissedForgery, RecordSample};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Parameters of [`check_records`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckRecordsParams {
    /// Which records are drawn again.
    pub sample: RecordSample,
    /// Certify afresh with the seed of this nonce, and compare statistically: the maker of the run could not know these
    /// draws.
    pub nonce: Option<u64>,
    /// The digest that the plan must have: one that was published before the run, say.
    pub plan: Option<String>,
    /// Rows per call of the classifier; as many as in the run if `None`.
    pub batch: Option<usize>,
    /// When to stop.
    pub time_limit: Option<Duration>,
}

/// Files of records to be checked: nothing they say is believed.
#[derive(Clone, Debug)]
pub struct RecordFile {
    /// None where a record contradicts itself or the others, which is evidence against the run, not a mistake of whoever
    /// asks.
    recorded: Result<Box<Recorded<Record>>, String>,
}

impl RecordFile {
    /// The head of the records; none where they contradict each other.
    pub fn head(&self) -> Option<&Head<Run>> {
        self.recorded.as_ref().ok().map(|recorded| recorded.head())
    }

    /// The verdict on records that contradict themselves or each other: none where they do not.
    pub fn rejected(&self) -> Option<RecordsCheck> {
        let reason = self.recorded.as_ref().err()?;
        let findings = vec![RecordFinding::whole_run(reason.clone())];
        Some(RecordsCheck { findings, ..RecordsCheck::default() })
    }
}

/// Reads records to be checked, from one file or the shards of one plan.
pub fn open_records(context: &Context, paths: &[PathBuf]) -> Result<RecordFile, Error> {
    let recorded = match Recorded::read_unproven(paths, context.memory_limit()) {
        Ok(recorded) => Ok(Box::new(recorded)),
        Err(
            error @ (RecordError::Invalid { .. }
            | RecordError::OtherRun { .. }
            | RecordError::OtherSelection { .. }
            | RecordError::NotSelected { .. }
            | RecordError::Conflict { .. }),
        ) => Err(error.to_string()),
        Err(error) => return Err(error.into()),
    };
    Ok(RecordFile { recorded })
}

/// Checks records with the model and the data that they are about ([`ModelParams::replaying`](crate::ModelParams::replaying)
/// opens the model as the run had it).
///
/// An interrupt or a time limit is no error: the result says what was checked until then.
pub fn check_records<C: Classifier>(
    context: &Context,
    file: &RecordFile,
    model: &SmoothedModel<C>,
    data: &Dataset,
    params: &CheckRecordsParams,
) -> Result<RecordsCheck, Error> {
    context.run(|| {
        let counter = |smoothing| Smoother::new(&model.classifier, Arc::clone(&model.space), smoothing);
        check(context, file, (model, data), params, |smoothing, check| check.run(&counter(smoothing)?))
    })
}

/// The same with a classifier that is asked on the caller's own thread, as by [`certify_by`](crate::certify_by).
pub fn check_records_by<E: std::error::Error + Send + Sync + 'static>(
    context: &Context,
    file: &RecordFile,
    model: &SmoothedModel<ClassifierSpec>,
    data: &Dataset,
    params: &CheckRecordsParams,
    session: &SessionParams,
    classify: impl FnMut(&Batch<'_>) -> Result<Vec<u32>, E>,
) -> Result<RecordsCheck, Error> {
    let pool = Some(context.pool()?);
    check(context, file, (model, data), params, |smoothing, check| {
        let plan = SmoothingPlan::new(model.classifier.clone(), Arc::clone(&model.space), smoothing)?;
        check.run(BatchCallback::new(plan, SessionParams { pool, ..session.clone() }, classify))
    })
}

/// What needs no draws first; `draw` makes them.
fn check<C>(
    context: &Context,
    file: &RecordFile,
    (model, data): (&SmoothedModel<C>, &Dataset),
    params: &CheckRecordsParams,
    draw: impl FnOnce(SmoothingParams, Checking<'_, C>) -> Result<RecordsCheck, Error>,
) -> Result<RecordsCheck, Error> {
    let started = Instant::now();
    let recorded = match (&file.recorded, file.rejected()) {
        (Ok(recorded), _) => recorded,
        (Err(_), rejected) => return Ok(rejected.unwrap_or_default()),
    };
    if let RecordSample::Input { index } = params.sample
        && recorded.entries().all(|record| record.index != index)
    {
        return Err(Error::NoRecord { index });
    }
    let (head, run) = (recorded.head(), recorded.run());
    let plan = head.plan_digest().map_err(|reason| Error::Encoding { reason })?;
    let mut checked = RecordsCheck {
        records: recorded.len(),
        missing: recorded.missing(),
        first_missing: recorded.missing_inputs().next(),
        repeated: recorded.repeated(),
        broken_off: recorded
            .broken_off()
            .iter()
            .map(|(path, line)| BrokenLine { file: path.display().to_string(), line: *line })
            .collect(),
        inputs: data.len(),
        plan,
        nonce: run.common.nonce,
        ..RecordsCheck::default()
    };
    if let Some(wanted) = params.plan.as_deref().filter(|wanted| *wanted != checked.plan) {
        let reason = format!("the digest of its plan is {}, not {wanted}", checked.plan);
        checked.findings.push(RecordFinding::whole_run(reason));
    }
    compare_run(head, model, data, &mut checked)?;
    if run.dimension == model.space.input_dim() as u64 {
        let fresh = params.nonce.filter(|&nonce| Some(nonce) != run.common.nonce || !checked.seed_derived);
        let smoothing = smoothing(run, (model, data), fresh, params.batch)?;
        checked = draw(
            smoothing,
            Checking::new(context, (model, data), params, recorded, fresh, checked, started),
        )?;
    } // else there is nothing that could be drawn
    checked.conclude(recorded, data_name(data))?;
    checked.seconds = started.elapsed().as_secs_f64();
    Ok(checked)
}
