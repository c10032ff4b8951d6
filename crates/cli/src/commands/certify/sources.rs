//! What is smoothed, and on what, whichever command asks.

use crate::args::{ReadingArguments, RuntimeName, SmoothArguments, SplitName};
use gambeson_data::format::audio::FrameParams;
use gambeson_learn::runtime::RuntimeChoice;
use gambeson_smooth::noise::Quantum;
use gambeson_smooth::record::recorded_runtime;
use std::ffi::OsStr;
use std::path::Path;

/// What is smoothed, and on what: all that a run must be given again to be replayed.
pub(crate) struct Sources<'a> {
    pub(crate) model: &'a OsStr,
    pub(crate) runtime: RuntimeChoice,
    pub(crate) data: &'a OsStr,
    pub(crate) split: SplitName,
    pub(crate) frames: FrameParams,
    pub(crate) projection: Option<&'a Path>,
    pub(crate) certificate: Option<&'a Path>,
    pub(crate) noise_levels: Option<&'a Path>,
    pub(crate) mean: &'a [f32],
    pub(crate) std: &'a [f32],
    /// Where it is not that of the data.
    pub(crate) quantum: Option<Quantum>,
}

impl<'a> Sources<'a> {
    /// Without a projection, and with the quantum of the data; `records` are those that the run goes on with.
    pub(crate) fn new(
        (model, data): (&'a OsStr, &'a OsStr),
        reading: &'a ReadingArguments,
        records: Option<&Path>,
    ) -> Self {
        Self {
            model,
            runtime: runtime_choice(reading.runtime, records),
            data,
            split: reading.split,
            frames: reading.frames.into(),
            projection: None,
            certificate: None,
            noise_levels: None,
            mean: &reading.normalisation.mean,
            std: &reading.normalisation.std,
            quantum: None,
        }
    }
}

impl<'a> From<&'a SmoothArguments> for Sources<'a> {
    fn from(arguments: &'a SmoothArguments) -> Self {
        let files = (&*arguments.model, &*arguments.data);
        Self {
            projection: arguments.projection.as_deref(),
            certificate: arguments.certificate.as_deref(),
            noise_levels: arguments.noise_levels.as_deref(),
            quantum: arguments.grid_quantum.map(Quantum::from),
            ..Self::new(files, &arguments.reading, arguments.out.as_deref())
        }
    }
}

/// What --runtime says; left to itself, a run goes on with what computed its records.
fn runtime_choice(chosen: RuntimeName, records: Option<&Path>) -> RuntimeChoice {
    let recorded = || RuntimeChoice::recorded(&recorded_runtime(records?)?);
    match RuntimeChoice::from(chosen) {
        RuntimeChoice::Auto => recorded().unwrap_or_default(),
        chosen => chosen,
    }
}
