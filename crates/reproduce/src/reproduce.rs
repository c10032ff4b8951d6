//! One call: the missing runs of an experiment are made, then its table and figure.

use crate::error::ReproduceError;
use crate::event::{ReproduceEvent, Watch};
use crate::experiment::load;
use crate::name::{ObjectName, Scale};
use crate::network::{NetworkExperiment, NetworkResults, PictureExperiment, PictureResults};
use crate::objects::{Family, object};
use crate::plan::{End, Limits, Planned, RecordOf, Runs};
use crate::program::{Caller, Program};
use crate::projection::spectrum::{SpectrumExperiment, SpectrumResults};
use crate::projection::{FitExperiment, FitResults, SoundFolders};
use crate::record::{OWN, PEERS, Setup, Store, read};
use crate::rendered::{Rendered, file};
use crate::report::table::Table;
use crate::sdp::SdpExperiment;
use crate::sdp::results::Results;
use gambeson::Context;
use std::path::PathBuf;
use std::time::Duration;

/// Parameters of [`reproduce`].
#[derive(Clone, Debug)]
pub struct ReproduceParams {
    /// The table or figure.
    pub name: ObjectName,
    /// How much of the experiment to run.
    pub scale: Scale,
    /// How the runs are started.
    pub program: Program,
    /// Folder for records, tables and figures.
    pub results: PathBuf,
    /// Folder for networks that are trained on the way.
    pub runs: PathBuf,
    /// Folder whose NAME.toml replaces the built-in experiment.
    pub experiments: Option<PathBuf>,
    /// Folder of sound files that replaces those of the experiment.
    pub data: Option<PathBuf>,
    /// Folder of public reference data, where the sound files of the experiment are.
    pub reference_data: Option<PathBuf>,
    /// Run nothing: make the table and figure from existing records.
    pub render_only: bool,
    /// Start no further run after this time.
    pub time_limit: Option<Duration>,
}

impl ReproduceParams {
    /// At the scale of a desk, in the folders `results` and `runs`.
    pub fn new(name: ObjectName, program: Program) -> Self {
        Self {
            name,
            scale: Scale::default(),
            program,
            results: "results".into(),
            runs: "runs".into(),
            experiments: None,
            data: None,
            reference_data: None,
            render_only: false,
            time_limit: None,
        }
    }

    /// Files of results, without an extension.
    pub fn stem(&self) -> PathBuf {
        self.results.join(format!("{}.{}", self.name.name(), self.scale.name()))
    }

    /// The records.
    pub fn records(&self) -> PathBuf {
        file(&self.stem(), "jsonl")
    }
}

/// How an experiment ended.
#[derive(Clone, Debug)]
pub enum Reproduced {
    /// It was interrupted; the same call goes on.
    Interrupted,
    /// All runs there was time for were tried.
    Done(Report),
}

/// What an experiment comes to.
#[derive(Clone, Debug)]
pub struct Report {
    /// The records shown, one JSON object each.
    pub records: Vec<String>,
    /// The table made from them.
    pub table: Table,
    /// The files written: the table, and the figure if there is one.
    pub files: Vec<PathBuf>,
    /// Runs without a record.
    pub missing: usize,
    /// Runs that did not reach what was asked of them.
    pub fell_short: usize,
    /// Runs that failed in this call.
    pub failed: usize,
}

/// Makes the missing runs of an experiment, each in a process of its own, and its table and figure from all records.
///
/// A record is on the disk before the next run begins, so that the same call goes on where an earlier one was stopped.
pub fn reproduce(
    context: &Context,
    params: &ReproduceParams,
    watch: &dyn Fn(&ReproduceEvent<'_>),
) -> Result<Reproduced, ReproduceError> {
    let (memory, name) = (context.memory_limit(), params.name.name());
    let object = object(params.name);
    let folder = params.experiments.as_deref();
    let session = Session { context, params, watch };
    match object.family {
        Family::Sdp(render) => {
            session.reads_no_sound()?;
            let experiment: SdpExperiment = load(name, object.toml, folder, memory)?;
            let scale = experiment.scale(params.scale);
            let peers = params.results.join("peers-sdp.jsonl");
            let peers = if peers.exists() { read(&peers, PEERS, memory, watch)? } else { Vec::new() };
            let plan = experiment.plan(scale);
            session.run(plan, |runs| render(&Results::new(&experiment, scale, runs, peers)))
        }
        Family::Fit(render) => {
            let experiment: FitExperiment = load(name, object.toml, folder, memory)?;
            if !experiment.has_sound() {
                session.reads_no_sound()?;
            }
            let folders =
                SoundFolders { given: params.data.clone(), reference: params.reference_data.clone() };
            let plan = experiment.plan(&folders);
            session.run(plan, |runs| render(&FitResults { experiment: &experiment, runs }))
        }
        Family::Spectrum(render) => {
            session.reads_no_sound()?;
            let experiment: SpectrumExperiment = load(name, object.toml, folder, memory)?;
            session.run(experiment.plan(), |runs| render(&SpectrumResults { experiment: &experiment, runs }))
        }
        Family::Networks(render) => {
            session.reads_no_sound()?;
            let experiment: NetworkExperiment = load(name, object.toml, folder, memory)?;
            let plan = experiment.plan(&params.runs);
            session.run(plan, |runs| render(&NetworkResults { experiment: &experiment, runs }))
        }
        Family::Pictures(render) => {
            session.reads_no_sound()?;
            let experiment: PictureExperiment = load(name, object.toml, folder, memory)?;
            let plan = experiment.plan(&params.runs);
            session.run(plan, |runs| render(&PictureResults { experiment: &experiment, runs }))
        }
    }
}

/// One call.
struct Session<'a> {
    context: &'a Context,
    params: &'a ReproduceParams,
    watch: &'a Watch<'a>,
}

impl Session<'_> {
    /// Refuses a folder that would not be read.
    fn reads_no_sound(&self) -> Result<(), ReproduceError> {
        match self.params.data {
            Some(_) => Err(ReproduceError::NoSound { name: self.params.name.name() }),
            None => Ok(()),
        }
    }

    /// Makes the missing runs of the plan, then shows all records.
    fn run<P: Planned>(
        &self,
        plan: Vec<P>,
        render: impl FnOnce(&Runs<P>) -> Rendered,
    ) -> Result<Reproduced, ReproduceError> {
        let (params, memory) = (self.params, self.context.memory_limit());
        let path = params.records();
        let (mut store, mut records): (_, Vec<RecordOf<P>>) = if params.render_only {
            if !path.exists() {
                return Err(ReproduceError::NoRecords { path });
            }
            (None, read(&path, OWN, memory, self.watch)?)
        } else {
            std::fs::create_dir_all(&params.results)
                .map_err(|reason| ReproduceError::File { path: params.results.clone(), reason })?;
            let (store, records) = Store::open(&path, memory, self.watch)?;
            (Some(store), records)
        };
        // Means over two machines or versions would be of neither: a report is of one setup, this one if runs are made.
        let latest = records.last().filter(|_| params.render_only).map(|record| record.setup.clone());
        let setup = latest.unwrap_or_else(|| Setup::here(self.context.threads()));
        let all = records.len();
        records.retain(|record| record.setup.goes_with(&setup, P::TIMES));
        if records.len() < all {
            let records = all - records.len();
            (self.watch)(&ReproduceEvent::OtherSetup { path, records, setup: setup.to_string() });
        }
        let mut runs = Runs::new(plan, records);
        let mut failed = 0;
        if let Some(store) = &mut store {
            let interrupted = || self.context.is_interrupted();
            let caller =
                Caller { program: &params.program, threads: setup.threads, interrupted: &interrupted };
            let limits = Limits { time: params.time_limit, watch: self.watch };
            match runs.make_missing(params.name.name(), store, &setup, &caller, &limits)? {
                End::Done { failed: count } => failed = count,
                End::Interrupted => return Ok(Reproduced::Interrupted),
            }
        }
        let rendered = render(&runs);
        let files = rendered.write(&params.stem())?;
        let lines: Result<Vec<String>, _> = runs.records().map(gambeson_report::json::line).collect();
        Ok(Reproduced::Done(Report {
            records: lines?,
            table: rendered.table,
            files,
            missing: runs.missing(),
            fell_short: runs.short().count(),
            failed,
        }))
    }
}
