//! `gambeson reproduce`: makes the missing runs of an experiment, then its table and figure.

use crate::args::{ObjectName, ReproduceArguments};
use crate::ended::Ended;
use crate::json;
use crate::machine::Resources;
use crate::progress::say;
use crate::reproduce::experiment::load;
use crate::reproduce::network::{NetworkExperiment, NetworkResults, PictureExperiment, PictureResults};
use crate::reproduce::objects::{Family, object};
use crate::reproduce::plan::{End, Planned, RecordOf, Runs};
use crate::reproduce::projection::spectrum::{SpectrumExperiment, SpectrumResults};
use crate::reproduce::projection::{FitExperiment, FitResults};
use crate::reproduce::record::{OWN, PEERS, Setup, Store, read};
use crate::reproduce::rendered::{Rendered, file};
use crate::reproduce::sdp::SdpExperiment;
use crate::reproduce::sdp::results::Results;
use anyhow::{Context, bail, ensure};
use clap::ValueEnum;
use std::io::Write;
use std::path::PathBuf;

pub(crate) fn run(
    arguments: &ReproduceArguments,
    stdout: &mut impl Write,
    resources: Resources,
) -> anyhow::Result<Ended> {
    if arguments.list {
        for value in ObjectName::value_variants().iter().filter_map(ValueEnum::to_possible_value) {
            let about = value.get_help().map(ToString::to_string).unwrap_or_default();
            writeln!(stdout, "{:15} {about}", value.get_name())?;
        }
        stdout.flush()?;
        return Ok(Ended::AsAsked);
    }
    let object = object(arguments.name.context("no table or figure named")?); // clap requires one
    let folder = arguments.experiments.as_deref();
    let mut session = Session { name: object.name.name(), arguments, resources, stdout };
    match object.family {
        Family::Sdp(render) => {
            session.has_no_sound()?;
            let experiment: SdpExperiment = load(object.name.name(), object.toml, folder, resources.memory)?;
            let scale = experiment.scale(arguments.scale);
            let peers = arguments.results.join("peers-sdp.jsonl");
            let peers = if peers.exists() { read(&peers, PEERS, resources.memory)? } else { Vec::new() };
            let plan = experiment.plan(scale);
            session.run(plan, |runs| render(&Results::new(&experiment, scale, runs, peers)))
        }
        Family::Fit(render) => {
            let experiment: FitExperiment = load(object.name.name(), object.toml, folder, resources.memory)?;
            if !experiment.has_sound() {
                session.has_no_sound()?;
            }
            let plan = experiment.plan(arguments.data.as_deref());
            session.run(plan, |runs| render(&FitResults { experiment: &experiment, runs }))
        }
        Family::Spectrum(render) => {
            session.has_no_sound()?;
            let experiment: SpectrumExperiment =
                load(object.name.name(), object.toml, folder, resources.memory)?;
            session.run(experiment.plan(), |runs| render(&SpectrumResults { experiment: &experiment, runs }))
        }
        Family::Networks(render) => {
            session.has_no_sound()?;
            let experiment: NetworkExperiment =
                load(object.name.name(), object.toml, folder, resources.memory)?;
            let plan = experiment.plan(&arguments.runs);
            session.run(plan, |runs| render(&NetworkResults { experiment: &experiment, runs }))
        }
        Family::Pictures(render) => {
            session.has_no_sound()?;
            let experiment: PictureExperiment =
                load(object.name.name(), object.toml, folder, resources.memory)?;
            let plan = experiment.plan(&arguments.runs);
            session.run(plan, |runs| render(&PictureResults { experiment: &experiment, runs }))
        }
    }
}

/// One call of the command.
struct Session<'a, W> {
    /// Of the table or figure.
    name: &'static str,
    arguments: &'a ReproduceArguments,
    resources: Resources,
    stdout: &'a mut W,
}

impl<W: Write> Session<'_, W> {
    /// Refuses a folder that would not be read.
    fn has_no_sound(&self) -> anyhow::Result<()> {
        ensure!(self.arguments.data.is_none(), "--data: {} does not read sound files", self.name);
        Ok(())
    }

    /// Results, without an extension.
    fn stem(&self) -> PathBuf {
        self.arguments.results.join(format!("{}.{}", self.name, self.arguments.scale.name()))
    }

    /// Makes the missing runs of the plan, then shows all records.
    fn run<P: Planned>(
        &mut self,
        plan: Vec<P>,
        render: impl FnOnce(&Runs<P>) -> Rendered,
    ) -> anyhow::Result<Ended> {
        let arguments = self.arguments;
        let path = file(&self.stem(), "jsonl");
        let (mut store, mut records): (_, Vec<RecordOf<P>>) = if arguments.render_only {
            ensure!(path.exists(), "{}: no records yet; run it without --render-only", path.display());
            (None, read(&path, OWN, self.resources.memory)?)
        } else {
            std::fs::create_dir_all(&arguments.results)
                .with_context(|| format!("{}: cannot be created", arguments.results.display()))?;
            let (store, records) = Store::open(&path, self.resources.memory)?;
            (Some(store), records)
        };
        // Means over two machines or versions would be of neither: a report is of one setup, this one if runs are made.
        let latest = records.last().filter(|_| arguments.render_only).map(|record| record.setup.clone());
        let setup = latest.unwrap_or_else(|| Setup::here(self.resources.threads));
        let all = records.len();
        records.retain(|record| record.setup.goes_with(&setup, P::TIMES));
        if records.len() < all {
            let others = all - records.len();
            say(&format!("{}: {others} records are not of {setup} and are ignored", path.display()));
        }
        let mut runs = Runs::new(plan, records);
        let mut end = End::Done { failed: 0 };
        if let Some(store) = &mut store {
            end = runs.make_missing(self.name, store, &setup, arguments.time_limit)?;
        }
        let End::Done { failed } = end else {
            say(&format!("stopped; run the same command again to continue from {}", path.display()));
            return Ok(Ended::FellShort);
        };
        self.report(&runs, &render(&runs))?;
        if failed > 0 {
            bail!("{failed} runs failed, with the messages above; run the same command again to retry them");
        }
        let complete = runs.missing() == 0 && runs.short().next().is_none();
        Ok(if complete { Ended::AsAsked } else { Ended::FellShort })
    }

    /// Table and figure, from the records alone.
    fn report<P: Planned>(&mut self, runs: &Runs<P>, rendered: &Rendered) -> anyhow::Result<()> {
        for path in rendered.write(&self.stem())? {
            say(&format!("wrote {}", path.display()));
        }
        if self.arguments.json {
            for record in runs.records() {
                writeln!(self.stdout, "{}", json::line(record)?)?;
            }
        } else {
            write!(self.stdout, "{}", rendered.table.terminal())?;
        }
        self.stdout.flush()?;
        Ok(())
    }
}
