//! Records of a run, drawn again or certified afresh.
//!
//! What can be checked without drawing (head, labels, classes, errors, whether counts prove radii, whether inputs are missing)
//! is checked of every record; draws are made again for some or all of them. Good ends are REDRAWN, where all draws were made
//! again, SAMPLED, where those of some records were, and NOT REFUTED, where fresh draws do not contradict the records. Bad
//! ends are REJECTED, where something is wrong, INCOMPLETE, where inputs planned have no record, NOT REPRODUCED, where a few
//! near-ties fell otherwise here and what is left proves less, and NOT REDRAWN, where no draw was made again: network or data
//! are missing, or the check was stopped before. None of them is PROVEN, the word for theorems about stored numbers: that
//! draws are random is assumed.

mod checking;
mod claim_words;
mod outcome;
mod params;
mod plan;
mod sample;

use crate::context::Context;
use crate::error::Error;
use checking::Checking;
pub use claim_words::ClaimWords;
use gambeson_data::dataset::Dataset;
use gambeson_learn::inputs::data_name;
use gambeson_learn::smoothed::SmoothedModel;
use gambeson_lowrank::projection::proven::ProvenProjection;
use gambeson_smooth::classifier::{Classifier, ClassifierSpec};
use gambeson_smooth::record::{Head, Record, RecordError, Recorded, Run};
use gambeson_smooth::session::{Batch, BatchCallback, SessionParams};
use gambeson_smooth::smoother::{Smoother, SmoothingParams, SmoothingPlan};
pub use outcome::{BrokenLine, FreshComparison, RecordFinding, RecordsCheck, RecordsVerdict};
pub use params::CheckRecordsParams;
pub use plan::NO_PROJECTION;
use plan::{compare_projection, compare_run, smoothing};
pub use sample::{MissedForgery, RecordSample};
use std::path::{Path, PathBuf};
use std::time::Instant;

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

    /// The bytes of one file; `path` names it in errors.
    pub(crate) fn parse(path: &Path, bytes: &[u8]) -> Result<Self, Error> {
        Self::of(Recorded::parse_unproven(path, bytes))
    }

    fn of(recorded: Result<Recorded<Record>, RecordError>) -> Result<Self, Error> {
        let recorded = match recorded {
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
        Ok(Self { recorded })
    }

    /// What the files say; none where they contradict each other.
    pub(crate) fn recorded(&self) -> Option<&Recorded<Record>> {
        self.recorded.as_deref().ok()
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
    RecordFile::of(Recorded::read_unproven(paths, context.memory_limit()))
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
        let counter = |smoothing| Smoother::new(&model.classifier, model.space_for(data), smoothing);
        check(context, file, (model, data), params, |smoothing, check| check.run(&counter(smoothing)?))
    })
}

/// What can be checked of records without drawing: everything but their draws.
pub(crate) fn examine_records(
    context: &Context,
    file: &RecordFile,
    model: &SmoothedModel<ClassifierSpec>,
    data: &Dataset,
    params: &CheckRecordsParams,
) -> Result<RecordsCheck, Error> {
    context.run(|| {
        check(context, file, (model, data), params, |smoothing, check| {
            let space = model.space_for(data);
            check.examine(&SmoothingPlan::new(model.classifier.clone(), space, smoothing)?)
        })
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
        let plan = SmoothingPlan::new(model.classifier.clone(), model.space_for(data), smoothing)?;
        check.run(BatchCallback::new(plan, SessionParams { pool, ..session.clone() }, classify))
    })
}

/// What can be checked of records without the data: that counts prove classes and radii, and the projection κ and s.
pub(crate) fn check_counts(
    context: &Context,
    file: &RecordFile,
    projection: Option<&ProvenProjection>,
    params: &CheckRecordsParams,
) -> Result<RecordsCheck, Error> {
    let Some(recorded) = file.recorded() else { return Ok(file.rejected().unwrap_or_default()) };
    context.run(|| {
        let inputs = recorded.head().selection.inputs;
        let mut checked = begun(recorded, params, usize::try_from(inputs).unwrap_or(usize::MAX))?;
        checked.findings.extend(compare_projection(recorded.run(), projection).map(RecordFinding::whole_run));
        for (_, line, record) in recorded.numbered() {
            if let Err(problem) = record.check_claim() {
                checked.findings.push(RecordFinding {
                    file: None,
                    line: Some(line),
                    index: Some(record.index),
                    reason: problem.to_string(),
                });
            }
        }
        checked.conclude(recorded, recorded.run().common.data.clone())?;
        Ok(checked)
    })
}

/// A check of which nothing but the plan is known.
fn begun(
    recorded: &Recorded<Record>,
    params: &CheckRecordsParams,
    inputs: usize,
) -> Result<RecordsCheck, Error> {
    if let RecordSample::Input { index } = params.sample
        && recorded.entries().all(|record| record.index != index)
    {
        return Err(Error::NoRecord { index });
    }
    let plan = recorded.head().plan_digest().map_err(|reason| Error::Encoding { reason })?;
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
        inputs,
        plan,
        nonce: recorded.run().common.nonce,
        ..RecordsCheck::default()
    };
    if let Some(wanted) = params.plan.as_deref().filter(|wanted| *wanted != checked.plan) {
        let reason = format!("the digest of its plan is {}, not {wanted}", checked.plan);
        checked.findings.push(RecordFinding::whole_run(reason));
    }
    Ok(checked)
}

/// What needs no draws first; `draw` makes them.
fn check<C>(
    context: &Context,
    file: &RecordFile,
    (model, data): (&SmoothedModel<C>, &Dataset),
    params: &CheckRecordsParams,
    draw: impl FnOnce(SmoothingParams, Checking<'_>) -> Result<RecordsCheck, Error>,
) -> Result<RecordsCheck, Error> {
    let started = Instant::now();
    let recorded = match (&file.recorded, file.rejected()) {
        (Ok(recorded), _) => recorded,
        (Err(_), rejected) => return Ok(rejected.unwrap_or_default()),
    };
    let (head, run) = (recorded.head(), recorded.run());
    let mut checked = begun(recorded, params, data.len())?;
    compare_run(head, model, data, &mut checked)?;
    if run.dimension == model.space.input_dim() as u64 {
        let fresh = params.nonce.filter(|&nonce| Some(nonce) != run.common.nonce || !checked.seed_derived);
        let smoothing = smoothing(run, (model, data), fresh, params.batch)?;
        checked = draw(smoothing, Checking::new(context, data, params, recorded, fresh, checked, started))?;
    } // else there is nothing that could be drawn
    checked.conclude(recorded, data_name(data))?;
    checked.seconds = started.elapsed().as_secs_f64();
    Ok(checked)
}
