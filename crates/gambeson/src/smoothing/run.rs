//! What certification and prediction have in common: the seed, the names in records, the observer, and what both results
//! say first.

use super::params::{DrawParams, Seed};
use crate::context::Context;
use crate::error::Error;
use crate::event::Event;
use gambeson_checker::{FailureProbability, NoiseLevel};
use gambeson_data::dataset::Dataset;
use gambeson_learn::inputs::row_for;
use gambeson_learn::smoothed::SmoothedModel;
use gambeson_lowrank::observe::Observer;
use gambeson_smooth::record::Entry;
use gambeson_smooth::runs::{Finished, Row, RunParams, RunProgress};
use gambeson_smooth::seed::PlannedDraws;
use gambeson_smooth::smoother::SmoothingParams;
use serde::Serialize;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

/// A classifier, data and the parameters that every run has.
pub(super) struct Job<'a, C> {
    pub(super) context: &'a Context,
    pub(super) model: &'a SmoothedModel<C>,
    pub(super) data: &'a Dataset,
    pub(super) params: &'a DrawParams,
    /// The parameters of the smoother, but for its numbers of draws and its seed.
    pub(super) smoothing: SmoothingParams,
    /// What records call everything, and which inputs are asked for.
    pub(super) run: RunParams,
}

impl<'a, C> Job<'a, C> {
    pub(super) fn new(
        context: &'a Context,
        model: &'a SmoothedModel<C>,
        data: &'a Dataset,
        params: &'a DrawParams,
    ) -> Result<Self, Error> {
        let noise = NoiseLevel::new(params.sigma).map_err(|reason| Error::field_of("sigma", reason))?;
        let failure =
            FailureProbability::new(params.alpha).map_err(|reason| Error::field_of("alpha", reason))?;
        let nonce = match params.seed {
            Seed::Given(_) => None,
            Seed::Derived { nonce } => Some(nonce),
        };
        let smoothing = SmoothingParams {
            failure,
            batch: params.batch,
            grid_exponent: params.grid_exponent,
            ..SmoothingParams::new(noise).map_err(|reason| Error::field_of("sigma", reason))?
        };
        let run = RunParams {
            names: model.names(data, nonce),
            classes: data.classes().len(),
            selection: params.inputs.of(data.len() as u64)?,
            out: params.out.clone(),
            memory: context.memory_limit(),
        };
        Ok(Self { context, model, data, params, smoothing, run })
    }

    /// Sets the seed, given or derived for these draws, when all else about the smoother is set.
    pub(super) fn choose_seed(&mut self, draws: PlannedDraws) -> Result<(), Error> {
        let SmoothingParams { noise, grid_exponent, .. } = self.smoothing;
        self.smoothing.seed = match self.params.seed {
            Seed::Given(seed) => seed,
            Seed::Derived { nonce } => self.model.seed(self.data, noise, grid_exponent, draws, nonce)?,
        };
        Ok(())
    }

    /// How many inputs are asked for.
    pub(super) fn inputs(&self) -> usize {
        self.run.selection.indices().count()
    }

    /// Input `index`, one of those asked for.
    pub(super) fn row(&self, index: u64) -> Row {
        input(self.data, index, self.model)
    }

    pub(super) fn observer(&self) -> Limited<'a> {
        Limited {
            context: self.context,
            inputs: self.inputs(),
            out: self.params.out.as_deref(),
            limit: self.params.time_limit,
            started: Instant::now(),
            draws: 0,
        }
    }

    pub(super) fn answered<E: Entry>(
        &self,
        finished: &Finished<E>,
        class: impl Fn(&E) -> Option<u32>,
    ) -> AnsweredRecord {
        let records = &finished.records;
        let right = |record: &&E| class(record).is_some_and(|class| Some(class) == record.parts().label);
        AnsweredRecord {
            inputs: self.inputs(),
            done: records.len(),
            resumed: finished.resumed,
            abstained: records.values().filter(|record| class(record).is_none()).count(),
            correct: self.data.labels().is_some().then(|| records.values().filter(right).count()),
        }
    }
}

/// Input `index` of a data set, in the units of a model.
pub(crate) fn input<C>(data: &Dataset, index: u64, model: &SmoothedModel<C>) -> Row {
    row_for(data, usize::try_from(index).unwrap_or(usize::MAX), &model.space) // an index of the data
}

/// Hands progress on; ends the run when the interrupt, the observer or the time limit says so.
pub(super) struct Limited<'a> {
    context: &'a Context,
    inputs: usize,
    /// The file of records.
    out: Option<&'a Path>,
    limit: Option<Duration>,
    /// When drawing began.
    started: Instant,
    draws: u64,
}

impl Observer<RunProgress> for Limited<'_> {
    fn observe(&mut self, progress: &RunProgress) -> ControlFlow<()> {
        match progress {
            RunProgress::Resumed { .. } => self.started = Instant::now(),
            RunProgress::Drawn(drawn) => self.draws += drawn.draws,
            RunProgress::CutOff { .. } | RunProgress::Recorded { .. } => {}
        }
        let told = match (progress, self.out) {
            (&RunProgress::CutOff { line }, Some(out)) => self.context.tell_cut_off(out, line),
            _ => self.context.tell(&Event::Inputs { inputs: self.inputs, progress }),
        };
        // However short the time, a run gets something done.
        let late = self.limit.is_some_and(|limit| self.started.elapsed() >= limit) && self.draws > 0;
        if late { ControlFlow::Break(()) } else { told }
    }
}

/// How many inputs were answered: the keys that `certify --json` and `predict --json` begin with.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AnsweredRecord {
    /// Inputs asked for.
    pub inputs: usize,
    /// Inputs with a record, now or before.
    pub done: usize,
    /// Of these, recorded before.
    pub resumed: usize,
    /// Inputs without an answer.
    pub abstained: usize,
    /// Answers that are the label; null without labels.
    pub correct: Option<usize>,
}

/// How long it took: the keys that follow those about draws.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PaceRecord {
    /// Wall-clock seconds of drawing.
    pub seconds: f64,
    /// Forward passes per second, noise included.
    pub rate: f64,
    /// Whether an interrupt or the time limit cut it short.
    pub stopped: bool,
    /// The file of records.
    pub out: Option<String>,
}

impl PaceRecord {
    pub(super) fn new<E>(finished: &Finished<E>, out: Option<&Path>) -> Self {
        let Finished { seconds, stopped, .. } = *finished;
        let out = out.map(|path| path.to_string_lossy().into_owned());
        Self { seconds, rate: finished.rate(), stopped, out }
    }
}
