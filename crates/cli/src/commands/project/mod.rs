//! `gambeson project`: fit projections, look at them, compare methods.

mod fit;
mod frontier;
mod inspect;
mod spectrum;
mod sweep;

use crate::args::{BasisName, FitDataArguments, FitMethodName, ProjectCommand, SparseArguments};
use crate::commands::data::{data_dir, options};
use crate::ended::Ended;
use crate::live_data::LiveData;
use crate::progress::{catch_interrupts, interrupted, live_line, show};
use anyhow::{Context, bail};
use gambeson_data::dataset::{Dataset, Shape};
use gambeson_data::error::DataError;
use gambeson_data::second_moments::second_moments;
use gambeson_data::source;
use gambeson_lowrank::projection::energy::Energy;
use gambeson_lowrank::projection::fit::{FitMethod, FitObserver, FitStep};
use gambeson_lowrank::projection::method::algorithm3::SparseParams;
use gambeson_lowrank::projection::representation::{Representation, Transform};
use indicatif::ProgressBar;
use std::io::Write;
use std::ops::ControlFlow;
use std::time::Instant;

pub(crate) fn run(
    command: &ProjectCommand,
    stdout: &mut impl Write,
    threads: usize,
) -> anyhow::Result<Ended> {
    catch_interrupts("stopping with the best result so far (press Ctrl-C again to quit)");
    let done = match command {
        ProjectCommand::Fit(arguments) => fit::run(arguments, stdout, threads),
        ProjectCommand::Inspect(arguments) => inspect::run(arguments, stdout, threads),
        ProjectCommand::Sweep(arguments) => sweep::run(arguments, stdout, threads),
        ProjectCommand::Spectrum(arguments) => spectrum::run(arguments, stdout),
    };
    match done {
        Err(error) if matches!(error.downcast_ref(), Some(DataError::Stopped)) => {
            crate::progress::say("stopped; nothing was written");
            Ok(Ended::FellShort)
        }
        other => other,
    }
}

/// Data as projections see them: their energy in coordinates, channel by channel.
struct Fittable {
    /// The data set, for its name and hash; its samples are gone.
    name: String,
    sha256: String,
    samples: usize,
    shape: Shape,
    transform: Transform,
    energies: Vec<Energy>,
    grid: Option<usize>,
    seconds: f64,
}

impl Fittable {
    fn load(arguments: &FitDataArguments) -> anyhow::Result<Self> {
        let started = Instant::now();
        let options = options(&arguments.audio, arguments.split.into(), data_dir()?);
        let data: Dataset = LiveData::watch(|progress| source::load(&arguments.data, &options, progress))?;
        let moments =
            LiveData::watch(|progress| second_moments(&data, progress)).map_err(|error| match error {
                gambeson_data::second_moments::SecondMomentsError::Stopped(stopped) => {
                    anyhow::Error::from(stopped)
                }
                other => anyhow::Error::from(other).context(data.name().to_owned()),
            })?;
        let shape = data.shape();
        let grid = arguments.grid.map(|grid| grid as usize);
        if grid.is_some() && arguments.basis == BasisName::Pixel {
            bail!("--grid selects frequencies: it does not work with --basis pixel");
        }
        let most = if shape.height == 1 { shape.width } else { shape.height.min(shape.width) };
        if let Some(grid) = grid.filter(|&grid| grid > most) {
            bail!("--grid {grid}: {} has only {most} frequencies", data.name());
        }
        let representation = match (arguments.basis, shape.height) {
            (BasisName::Pixel, _) => Representation::Pixel,
            (BasisName::Dct, 1) => Representation::Dct1,
            (BasisName::Dct, _) => Representation::Dct2,
        };
        let transform = Transform::new(representation, shape.height, shape.width)?;
        let energies = moments
            .iter()
            .enumerate()
            .map(|(c, moments)| {
                Energy::new(moments, &transform, arguments.centre)
                    .with_context(|| format!("{}, channel {c}", data.name()))
            })
            .collect::<anyhow::Result<Vec<Energy>>>()?;
        let (name, sha256, samples) = (data.name().to_owned(), data.sha256().to_owned(), data.len());
        let seconds = started.elapsed().as_secs_f64();
        Ok(Self { name, sha256, samples, shape, transform, energies, grid, seconds })
    }

    /// Whether a coordinate may be used; None where all may.
    fn allowed(&self) -> Option<impl Fn(usize) -> bool> {
        self.grid.map(|size| move |index: usize| self.transform.in_low_block(index, size))
    }

    fn describe(&self, centred: bool) -> String {
        let grid = self.grid.map_or(String::new(), |grid| match self.transform.representation() {
            Representation::Dct1 => format!(", first {grid} frequencies"),
            _ => format!(", low {grid} x {grid} block"),
        });
        format!(
            "{}: {} samples of {}, {}{grid}, {}",
            self.name,
            self.samples,
            self.shape,
            self.transform.representation().name(),
            if centred { "centred" } else { "not centred" }
        )
    }
}

/// How a projection was found, in few words beside its rank.
fn found(how: &str, rank: usize) -> String {
    match how.split_once(" principal and ") {
        Some((principal, rest)) => {
            format!("{principal} principal, {}", rest.trim_end_matches(" components"))
        }
        None => how.strip_prefix(&format!("{rank} ")).unwrap_or(how).to_owned(),
    }
}

/// The method with its parameters.
fn method_of(
    name: FitMethodName,
    sparse: &SparseArguments,
    rank: Option<usize>,
    error: Option<f64>,
    splits: &[usize],
) -> FitMethod {
    let default = SparseParams::default();
    let sparse = SparseParams {
        alpha: sparse.alpha.unwrap_or(default.alpha),
        max_iterations: sparse.rounds.map_or(default.max_iterations, |rounds| rounds as usize),
        ..default
    };
    match name {
        FitMethodName::Axis => FitMethod::Axis,
        FitMethodName::Pca => FitMethod::Pca,
        FitMethodName::SparsePca => FitMethod::SparsePca(sparse),
        FitMethodName::Algorithm3 => FitMethod::Algorithm3 { rank, error, splits: splits.to_vec(), sparse },
        FitMethodName::Robust => FitMethod::Robust,
    }
}

/// A live line for a fit; Ctrl-C and the time limit stop it.
struct LiveFit {
    bar: ProgressBar,
    prefix: String,
    stage: String,
    deadline: Option<Instant>,
    /// Whether anything stopped it.
    stopped: bool,
}

impl LiveFit {
    fn new(deadline: Option<Instant>) -> Self {
        let bar = live_line(None, "{spinner} {elapsed} {wide_msg}");
        Self { bar, prefix: String::new(), stage: String::new(), deadline, stopped: false }
    }

    fn set_prefix(&mut self, prefix: String) {
        self.prefix = prefix;
        self.stage.clear();
    }

    fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl FitObserver for LiveFit {
    fn step(&mut self, step: &FitStep) -> ControlFlow<()> {
        let detail = match step {
            FitStep::Eigen => {
                "principal components".clone_into(&mut self.stage);
                String::new()
            }
            FitStep::Split { split, done, total } => {
                self.stage = format!("r = {split} ({} of {total})", done + 1);
                String::new()
            }
            FitStep::Candidate { kind } => {
                (*kind).clone_into(&mut self.stage);
                String::new()
            }
            FitStep::Solver(progress) => format!(", iteration {}", progress.iteration),
        };
        show(&self.bar, &format!("{}{}{detail}", self.prefix, self.stage));
        if interrupted() || self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            self.stopped = true;
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}
