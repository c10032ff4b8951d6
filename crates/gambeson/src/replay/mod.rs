//! Records of a run, drawn again or certified afresh.
//!
//! What can be checked without drawing (labels, classes, errors, whether counts prove radii) is checked of every record;
//! draws are made again for some or all of them. There are two good ends: PROVEN, where draws made again have the recorded
//! counts, or prove as much; NOT REFUTED, where fresh draws do not contradict the records; and two bad ones: REJECTED, where
//! something is wrong, and NOT REPRODUCED, where a few near-ties fell otherwise here and what is left proves less.

mod outcome;

use crate::context::Context;
use crate::error::Error;
use crate::event::{Event, ReplayProgress};
use crate::smoothing::input;
use gambeson_checker::{FailureProbability, NoiseLevel};
use gambeson_data::dataset::Dataset;
use gambeson_learn::runtime::Runtime;
use gambeson_learn::smoothed::SmoothedModel;
use gambeson_lowrank::observe::Observer;
use gambeson_smooth::classifier::{Classifier, ClassifierSpec};
use gambeson_smooth::noise::Grid;
use gambeson_smooth::record::{ONNX_RUNTIME, Record, RecordError, Run, read_numbered_records};
use gambeson_smooth::replay::{Contrast, Finding, ReplayError, compare, examine, replay, tolerated};
use gambeson_smooth::session::{Batch, BatchCallback, SessionParams};
use gambeson_smooth::smoother::{DrawCounter, Drawn, Smoother, SmoothingParams, SmoothingPlan};
pub use outcome::{FreshComparison, RecordFinding, RecordsCheck, RecordsVerdict};
use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Of the draws of a record computed by ONNX Runtime, how many may differ as those of another version do.
const NEAR_TIES: f64 = 1e-3;

/// The finding where a run was made with a projection and the model has none.
pub const NO_PROJECTION: &str = "it was made with a projection, but none was given";

/// Which records are drawn again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordSample {
    /// All.
    All,
    /// So many, chosen at random.
    Random {
        /// How many, at most.
        count: u64,
        /// What chooses them; the system's randomness if `None`, so that nobody knows which lines will be looked at.
        seed: Option<u64>,
    },
}

/// Parameters of [`check_records`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckRecordsParams {
    /// Which records are drawn again.
    pub sample: RecordSample,
    /// Certify afresh with the seed of this nonce, and compare statistically: the maker of the run could not know these
    /// draws.
    pub nonce: Option<u64>,
    /// Draws per call of the classifier.
    pub batch: usize,
    /// When to stop drawing.
    pub time_limit: Option<Duration>,
}

impl Default for CheckRecordsParams {
    /// Ten records at random, 64 draws at a time.
    fn default() -> Self {
        let sample = RecordSample::Random { count: 10, seed: None };
        Self { sample, nonce: None, batch: 64, time_limit: None }
    }
}

/// A file of records to be checked: nothing it says is believed.
#[derive(Clone, Debug)]
pub struct RecordFile {
    /// Records with their line numbers, from 1; none where one contradicts itself or the others, which is evidence against
    /// the run, not a mistake of whoever asks.
    lines: Result<Vec<(usize, Record)>, String>,
}

impl RecordFile {
    /// The run that the records say they are of; none where they contradict each other.
    pub fn run(&self) -> Option<&Run> {
        self.lines.as_ref().ok()?.first().map(|(_, record)| &record.run)
    }

    /// The verdict on records that contradict themselves or each other: none where they do not.
    pub fn rejected(&self) -> Option<RecordsCheck> {
        let reason = self.lines.as_ref().err()?;
        let findings = vec![RecordFinding::whole_run(reason.clone())];
        Some(RecordsCheck { findings, ..RecordsCheck::default() })
    }
}

/// Reads records to be checked.
pub fn open_records(context: &Context, path: &Path) -> Result<RecordFile, Error> {
    let lines = match read_numbered_records(path, context.memory_limit()) {
        Ok(records) if records.is_empty() => return Err(Error::NoRecords { path: path.to_path_buf() }),
        Ok(records) => Ok(records),
        Err(
            error @ (RecordError::Invalid { .. }
            | RecordError::OtherRun { .. }
            | RecordError::Conflict { .. }),
        ) => Err(error.to_string()),
        Err(error) => return Err(error.into()),
    };
    Ok(RecordFile { lines })
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
    let records = match (&file.lines, file.rejected()) {
        (Ok(records), _) => records,
        (Err(_), rejected) => return Ok(rejected.unwrap_or_default()),
    };
    let Some((_, Record { run, .. })) = records.first() else { return Ok(RecordsCheck::default()) };
    let indices = || records.iter().map(|(_, record)| record.index);
    let mut checked = RecordsCheck {
        records: records.len(),
        inputs: data.len(),
        first: indices().min().unwrap_or(0),
        last: indices().max().unwrap_or(0),
        nonce: run.common.nonce,
        ..RecordsCheck::default()
    };
    compare_run(run, model, data, &mut checked)?;
    if run.dimension == model.space.input_dim() as u64 {
        let fresh = params.nonce.filter(|&nonce| Some(nonce) != run.common.nonce || !checked.seed_derived);
        let smoothing = smoothing(run, (model, data), fresh, params.batch)?;
        let chosen = chosen(records, params.sample, &mut checked);
        let to_draw = chosen.len();
        let checking =
            Checking { context, model, data, params, records, chosen, to_draw, fresh, checked, started };
        checked = draw(smoothing, checking)?;
    } // else there is nothing that could be drawn
    checked.seconds = started.elapsed().as_secs_f64();
    Ok(checked)
}

/// The run itself: what it was made with, and whether its seed is the one that its nonce gives.
fn compare_run<C>(
    run: &Run,
    model: &SmoothedModel<C>,
    data: &Dataset,
    checked: &mut RecordsCheck,
) -> Result<(), Error> {
    checked.findings.extend(mismatches(run, model, data).into_iter().map(RecordFinding::whole_run));
    let Some(nonce) = run.common.nonce else { return Ok(()) };
    let derived = derived_seed(run, (model, data), nonce)?;
    checked.seed_derived = derived == run.common.seed;
    if !checked.seed_derived {
        checked.findings.push(RecordFinding::whole_run(format!(
            "its seed is {}, but network, projection, data, sigma and grid give {derived} with its nonce",
            run.common.seed
        )));
    }
    Ok(())
}

fn derived_seed<C>(
    run: &Run,
    (model, data): (&SmoothedModel<C>, &Dataset),
    nonce: u64,
) -> Result<u64, Error> {
    let noise = NoiseLevel::new(run.common.sigma).map_err(|reason| Error::field_of("sigma", reason))?;
    Ok(model.seed(data, noise, Some(run.common.grid.exponent), nonce)?)
}

/// As the run was made, or with the seed of another nonce.
fn smoothing<C>(
    run: &Run,
    made_with: (&SmoothedModel<C>, &Dataset),
    fresh: Option<u64>,
    batch: usize,
) -> Result<SmoothingParams, Error> {
    let common = &run.common;
    let noise = NoiseLevel::new(common.sigma).map_err(|reason| Error::field_of("sigma", reason))?;
    let seed = fresh.map_or(Ok(common.seed), |nonce| derived_seed(run, made_with, nonce))?;
    Ok(SmoothingParams {
        selection: run.n0,
        estimation: common.n,
        failure: FailureProbability::new(common.alpha).map_err(|reason| Error::field_of("alpha", reason))?,
        limits: Some(run.limits),
        batch,
        seed,
        grid_exponent: Some(common.grid.exponent),
        ..SmoothingParams::new(noise).map_err(|reason| Error::field_of("sigma", reason))?
    })
}

/// In what a run differs from what was given.
fn mismatches<C>(run: &Run, model: &SmoothedModel<C>, data: &Dataset) -> Vec<String> {
    let common = &run.common;
    let names = model.names(data, common.nonce);
    let mut found = Vec::new();
    let mut differ = |what: &str, recorded: &str, given: &str| {
        if recorded != given {
            found.push(format!("its {what} is {recorded}, but that given is {given}"));
        }
    };
    let hash = |data: &str| data.rsplit("sha256:").next().unwrap_or_default().to_owned();
    differ("model", &common.model, &names.model);
    differ("data", &hash(&common.data), &hash(&names.data));
    let grid = |grid: Grid| format!("{} * 2^{}", grid.quantum.name(), grid.exponent);
    let given = Grid::new(common.sigma, model.space.unit(), Some(common.grid.exponent));
    differ("grid", &grid(common.grid), &given.map_or_else(|_| "none".to_owned(), grid));
    let dimension = model.space.input_dim();
    differ("number of coordinates", &run.dimension.to_string(), &dimension.to_string());
    // Both runtimes compute the network, but not to the same last place.
    let runtime = |name: Option<&str>| name.unwrap_or("none").to_owned();
    differ("runtime", &runtime(common.runtime.as_deref()), &runtime(model.runtime.map(Runtime::name)));
    match (&common.projection, &model.projection) {
        (None, None) => {}
        (Some(_), None) => found.push(NO_PROJECTION.to_owned()),
        (_, Some(proven)) => found.extend(run.check_projection(proven).err().map(|error| error.to_string())),
    }
    found
}

/// The records to draw again: all, or some at random.
fn chosen<'a>(
    records: &'a [(usize, Record)],
    sample: RecordSample,
    checked: &mut RecordsCheck,
) -> Vec<&'a (usize, Record)> {
    let RecordSample::Random { count, seed } = sample else { return records.iter().collect() };
    let wanted = usize::try_from(count).unwrap_or(usize::MAX);
    if wanted >= records.len() {
        return records.iter().collect();
    }
    let seed = seed.unwrap_or_else(|| RandomState::new().hash_one("sample"));
    checked.sample_seed = Some(seed);
    let mut places = BTreeSet::new();
    let mut state = seed;
    while places.len() < wanted {
        // SplitMix64 (Steele, Lea and Flood 2014).
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        let place = (mixed ^ mixed >> 31) % records.len() as u64;
        places.insert(usize::try_from(place).unwrap_or(0));
    }
    places.into_iter().map(|place| &records[place]).collect()
}

/// A check under way.
struct Checking<'a, C> {
    context: &'a Context,
    model: &'a SmoothedModel<C>,
    data: &'a Dataset,
    params: &'a CheckRecordsParams,
    records: &'a [(usize, Record)],
    /// To be drawn again.
    chosen: Vec<&'a (usize, Record)>,
    /// How many they are.
    to_draw: usize,
    /// The nonce to certify afresh with.
    fresh: Option<u64>,
    checked: RecordsCheck,
    started: Instant,
}

impl<C> Checking<'_, C> {
    fn run<S: DrawCounter>(mut self, mut counter: S) -> Result<RecordsCheck, Error>
    where
        S::Error: Send + Sync,
    {
        let examined = self.examine_all(counter.plan())?;
        self.chosen.retain(|(_, record)| examined.contains(&record.index));
        self.to_draw = self.chosen.len();
        match self.fresh {
            None => self.draw_again(&mut counter)?,
            Some(nonce) => self.certify_afresh(&mut counter, nonce)?,
        }
        Ok(self.checked.decided())
    }

    /// Everything that needs no draws, of every record. The inputs that are there to be drawn.
    fn examine_all(&mut self, plan: &SmoothingPlan) -> Result<BTreeSet<u64>, Error> {
        let (inputs, classes) = (self.data.len(), self.data.classes().len());
        let mut there = BTreeSet::new();
        for (line, record) in self.records {
            let index = record.index;
            if index >= inputs as u64 {
                let reason = format!("the data have only {inputs} inputs");
                self.checked.findings.push(RecordFinding::of(*line, record, reason));
                continue;
            }
            let findings = examine(plan, record, &input(self.data, index, self.model), classes)
                .map_err(|reason| Error::Replay { index, reason: Box::new(reason) })?;
            let findings = findings.iter().map(|it| RecordFinding::of(*line, record, it.to_string()));
            self.checked.findings.extend(findings);
            there.insert(index);
        }
        Ok(there)
    }

    /// The draws of the run once more.
    fn draw_again<S: DrawCounter>(&mut self, counter: &mut S) -> Result<(), Error>
    where
        S::Error: Send + Sync,
    {
        for (line, record) in std::mem::take(&mut self.chosen) {
            let row = input(self.data, record.index, self.model);
            let classes = self.data.classes().len();
            let found =
                self.observed(record, |observer| replay(&mut *counter, record, &row, classes, observer))?;
            let Some(replayed) = found else { break };
            let checked = &mut self.checked;
            checked.differing += replayed.differing;
            let radius = |record: &Record| record.derived.latent.unwrap_or(0.0);
            checked.smaller_by = checked.smaller_by.max(radius(record) - radius(&replayed.again));
            // Another version of ONNX Runtime rounds otherwise, so that near-ties may fall otherwise: no lie, but what is
            // claimed must follow from the draws as they fell here.
            let near_ties = record.run.common.runtime.as_deref() == Some(ONNX_RUNTIME)
                && replayed.differing as f64 <= (NEAR_TIES * record.draws() as f64).max(3.0);
            let counts = replayed.findings.iter().filter(|it| matches!(it, Finding::Counts { .. }));
            for finding in counts {
                let finding = RecordFinding::of(*line, record, finding.to_string());
                if !near_ties {
                    checked.findings.push(finding);
                } else if !replayed.proves(record) {
                    checked.not_reproduced.push(finding);
                }
            }
        }
        Ok(())
    }

    /// Draws with the seed of another nonce.
    fn certify_afresh<S: DrawCounter>(&mut self, counter: &mut S, nonce: u64) -> Result<(), Error>
    where
        S::Error: Send + Sync,
    {
        let (mut refuted, mut right, mut right_afresh) = (Vec::new(), 0_usize, 0_usize);
        let chosen = std::mem::take(&mut self.chosen);
        let (all, alpha) = (chosen.len() as u64, chosen.first().map_or(0.001, |(_, it)| it.run.common.alpha));
        for (line, record) in chosen {
            let row = input(self.data, record.index, self.model);
            let found =
                self.observed(record, |observer| compare(&mut *counter, record, &row, all, observer))?;
            let Some(compared) = found else { break };
            let correct = |record: &Record| {
                record.derived.class.is_some() && (row.label.is_none() || record.derived.class == row.label)
            };
            right += usize::from(correct(record));
            right_afresh += usize::from(correct(&compared.fresh));
            let reason = compared.claim.map(contrasted).unwrap_or_default();
            if compared.impossible {
                let chance = "; honest draws differ so much once in a million runs";
                let finding = RecordFinding::of(*line, record, reason.clone() + chance);
                self.checked.findings.push(finding);
            }
            if compared.refuted() {
                refuted.push(RecordFinding::of(*line, record, reason));
            }
        }
        let done = self.checked.checked.max(1);
        let alpha = FailureProbability::new(alpha).map_err(|reason| Error::field_of("alpha", reason))?;
        let tolerated = tolerated(done as u64, alpha)?;
        if refuted.len() as u64 > tolerated && self.checked.findings.is_empty() {
            self.checked.findings.extend(refuted.iter().cloned());
        }
        self.checked.fresh = Some(FreshComparison {
            nonce,
            refuted,
            tolerated,
            recorded_accuracy: right as f64 / done as f64,
            fresh_accuracy: right_afresh as f64 / done as f64,
        });
        Ok(())
    }

    /// Draws for one record, seen by the observer; none if it ended them.
    fn observed<T, E: std::error::Error + Send + Sync + 'static>(
        &mut self,
        record: &Record,
        draw: impl FnOnce(&mut Watch<'_>) -> Result<Option<T>, ReplayError<E>>,
    ) -> Result<Option<T>, Error> {
        let deadline = self.params.time_limit.and_then(|limit| self.started.checked_add(limit));
        let total = self.to_draw;
        let mut watch = Watch { context: self.context, records: total, deadline, draws: 0 };
        let found = draw(&mut watch)
            .map_err(|reason| Error::Replay { index: record.index, reason: Box::new(reason) })?;
        self.checked.draws += watch.draws;
        if found.is_some() {
            self.checked.checked += 1;
            let event = Event::Replay { records: total, progress: ReplayProgress::Checked };
            let _ = self.context.tell(&event); // the next draws ask again
        } else {
            self.checked.stopped = true;
        }
        Ok(found)
    }
}

/// What a record claims, and what fresh draws prove.
fn contrasted(claim: Contrast) -> String {
    let Contrast { claimed, at_most, others_claimed, others_at_least } = claim;
    match others_claimed.zip(others_at_least).filter(|_| !claim.contradicts_class()) {
        Some((claimed, at_least)) => format!(
            "it claims a probability of at most {claimed:.5} for every other class, but fresh draws prove at least \
             {at_least:.5} for one"
        ),
        None => {
            format!(
                "it claims a probability of at least {claimed:.5}, but fresh draws prove at most {at_most:.5}"
            )
        }
    }
}

/// Counts draws, and ends them when the observer or the time limit says so.
struct Watch<'a> {
    context: &'a Context,
    records: usize,
    deadline: Option<Instant>,
    draws: u64,
}

impl Observer<Drawn> for Watch<'_> {
    fn observe(&mut self, drawn: &Drawn) -> ControlFlow<()> {
        self.draws += drawn.draws;
        let progress = ReplayProgress::Drawn { draws: drawn.draws };
        let told = self.context.tell(&Event::Replay { records: self.records, progress });
        let late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if late { ControlFlow::Break(()) } else { told }
    }
}
