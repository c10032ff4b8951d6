//! From arguments to a model, data and parameters, for `certify`, `predict` and `check`.

use crate::args::{ReadingArguments, SmoothArguments};
use crate::ended::Ended;
use crate::live_data::LiveData;
use crate::progress::{catch_interrupts, say};
use crate::report::decimal::up;
use crate::screen::shown;
use gambeson::{Context, DataParams, DrawParams, Model, ModelParams, Seed, open_data, open_model};
use gambeson_data::dataset::Dataset;
use gambeson_learn::runtime::Runtime;
use gambeson_lowrank::matrix_file::npy;
use gambeson_smooth::noise::Quantum;
use gambeson_smooth::selection::InputSelection;
use std::ffi::OsStr;
use std::path::Path;

/// A model and the data it is asked about.
pub(crate) struct CertifySetup {
    pub(crate) model: Model,
    pub(crate) data: Dataset,
    title: String,
}

impl CertifySetup {
    /// Opens what `certify` and `predict` name; `check` looks at the data before the model is opened.
    pub(super) fn open(
        arguments: &SmoothArguments,
        context: &Context,
        check: impl FnOnce(&Dataset) -> anyhow::Result<()>,
    ) -> anyhow::Result<Self> {
        LiveData::observed(context, |context| {
            let data = open_data(context, &arguments.data, &data_params(&arguments.reading))?;
            check(&data)?;
            let model = open_model(context, &arguments.model, &data, &model_params(arguments, context)?)?;
            let title = format!("{} on {}", shown(&arguments.model.to_string_lossy()), shown(data.name()));
            Ok(Self { model, data, title })
        })
    }

    /// What is asked about what, and what computes it.
    pub(super) fn computed(&self) -> String {
        match self.model.runtime {
            None => self.title.clone(),
            Some(Runtime::Onnx) => format!("{}, by ONNX Runtime", self.title),
            Some(Runtime::Own) => format!("{}, by our engine", self.title),
        }
    }

    /// One line on what is done.
    pub(super) fn describe(&self) -> String {
        let space = &self.model.space;
        let noise = match space.kappa() {
            None => format!("noise in all {} coordinates", space.rank()),
            Some(kappa) => format!(
                "noise in {} coordinates of a projection, kappa {}",
                space.rank(),
                up(kappa.value(), 7)
            ),
        };
        format!("{}, {noise}", self.computed())
    }
}

pub(crate) fn data_params(reading: &ReadingArguments) -> DataParams {
    DataParams { split: reading.split.into(), frames: reading.frames.into(), ..DataParams::default() }
}

/// How a network is read, without a projection.
pub(crate) fn reading_params(reading: &ReadingArguments) -> ModelParams {
    ModelParams {
        runtime: reading.runtime.into(),
        mean: reading.normalisation.mean.clone(),
        std: reading.normalisation.std.clone(),
        ..ModelParams::default()
    }
}

/// The levels of the noise in the file that is named, if one is.
pub(crate) fn noise_levels(path: Option<&Path>, context: &Context) -> anyhow::Result<Option<Vec<f64>>> {
    Ok(path.map(|path| npy::read_vector(path, context.memory_limit())).transpose()?)
}

fn model_params(arguments: &SmoothArguments, context: &Context) -> anyhow::Result<ModelParams> {
    let params = ModelParams {
        projection: arguments.projection.clone(),
        certificate: arguments.certificate.clone(),
        noise_levels: noise_levels(arguments.noise_levels.as_deref(), context)?,
        quantum: arguments.grid_quantum.map(Quantum::from),
        ..reading_params(&arguments.reading)
    };
    Ok(match &arguments.out {
        Some(out) => params.resuming(out),
        None => params,
    })
}

pub(super) fn selection(arguments: &SmoothArguments) -> InputSelection {
    InputSelection { shard: arguments.shard, ..arguments.range.selection() }
}

pub(super) fn draw_params(arguments: &SmoothArguments) -> DrawParams {
    DrawParams {
        alpha: arguments.alpha,
        seed: arguments.seed.map_or(Seed::Derived { nonce: arguments.nonce }, Seed::Given),
        batch: arguments.batch,
        grid_exponent: arguments.grid_exponent,
        inputs: selection(arguments),
        out: arguments.out.clone(),
        time_limit: arguments.time_limit,
        // With levels of its own, a model has noise of level 1.
        ..DrawParams::new(arguments.sigma.unwrap_or(1.0))
    }
}

/// Exit code 1 where a run was cut short.
pub(super) fn ended(stopped: bool) -> Ended {
    if stopped {
        say("stopped early; with --out, the same command continues where it stopped");
        return Ended::FellShort;
    }
    Ended::AsAsked
}

/// Work that Ctrl-C may end while data are still being read.
pub(crate) fn interruptible(work: impl FnOnce() -> anyhow::Result<Ended>) -> anyhow::Result<Ended> {
    catch_interrupts("stopping; finished inputs are kept (press Ctrl-C again to quit)");
    match work() {
        Err(error) if error.downcast_ref().is_some_and(gambeson::Error::is_stopped) => {
            say("stopped before the first draw");
            Ok(Ended::FellShort)
        }
        other => other,
    }
}

/// A network or toy as `check` opens it.
pub(crate) fn open_for_check(
    context: &Context,
    (model, data): (&OsStr, &OsStr),
    reading: &ReadingArguments,
    params: &ModelParams,
) -> anyhow::Result<(Model, Dataset)> {
    LiveData::observed(context, |context| {
        let data = open_data(context, data, &data_params(reading))?;
        let model = open_model(context, model, &data, params)?;
        Ok((model, data))
    })
}
