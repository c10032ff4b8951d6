//! How a run over inputs ended, for `certify` and `predict` alike.

use super::setup::Setup;
use crate::ended::Ended;
use crate::progress::{catch_interrupts, say};
use crate::screen::{shown_path, wrapped};
use gambeson_data::error::DataError;
use gambeson_smooth::record::Entry;
use gambeson_smooth::runs::Finished;
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};

/// How many inputs were answered: the keys that `--json` begins with.
#[derive(Serialize)]
pub(super) struct Answered {
    /// Inputs asked for.
    inputs: usize,
    /// Inputs with a record, now or before.
    pub(super) done: usize,
    /// Of these, recorded before.
    resumed: usize,
    pub(super) abstained: usize,
    /// Answers that are the label; null without labels.
    pub(super) correct: Option<usize>,
}

impl Answered {
    /// `class` is what a record answers.
    pub(super) fn new<E: Entry>(
        finished: &Finished<E>,
        setup: &Setup,
        class: impl Fn(&E) -> Option<u32>,
    ) -> Self {
        let records = &finished.records;
        let right = |record: &&E| class(record).is_some_and(|class| Some(class) == record.parts().label);
        Self {
            inputs: setup.indices.len(),
            done: records.len(),
            resumed: finished.resumed,
            abstained: records.values().filter(|record| class(record).is_none()).count(),
            correct: setup.labelled().then(|| records.values().filter(right).count()),
        }
    }

    /// What was asked about what, and how many inputs are done.
    pub(super) fn print(&self, setup: &Setup, stdout: &mut impl Write) -> std::io::Result<()> {
        let Self { inputs, done, resumed, abstained, .. } = self;
        let before = if *resumed > 0 { format!(", {resumed} of them before") } else { String::new() };
        writeln!(stdout, "{}", wrapped(&setup.describe(), 2))?;
        writeln!(stdout, "inputs       {done} of {inputs}{before}; {abstained} abstained")
    }
}

/// How long it took: the keys that follow those about draws.
#[derive(Serialize)]
pub(super) struct Pace {
    seconds: f64,
    /// Forward passes per second, noise included.
    rate: f64,
    /// Whether Ctrl-C or the time limit cut it short.
    stopped: bool,
    #[serde(serialize_with = "crate::json::lossy")]
    out: Option<PathBuf>,
}

impl Pace {
    pub(super) fn new<E>(finished: &Finished<E>, out: Option<&Path>) -> Self {
        let Finished { seconds, stopped, .. } = *finished;
        Self { seconds, rate: finished.rate(), stopped, out: out.map(Path::to_path_buf) }
    }

    /// The draws of this run and a word more on them, and where the records are.
    pub(super) fn print(&self, draws: u64, more: &str, stdout: &mut impl Write) -> std::io::Result<()> {
        let Self { seconds, rate, out, .. } = self;
        writeln!(stdout, "draws        {draws} in {seconds:.1} s, {rate:.0} per second{more}")?;
        out.as_ref().map_or(Ok(()), |out| writeln!(stdout, "records      {}", shown_path(out)))
    }
}

pub(super) fn ended<R>(finished: &Finished<R>) -> Ended {
    if finished.stopped {
        say("stopped early; with --out, the same command continues where it stopped");
        return Ended::FellShort;
    }
    Ended::AsAsked
}

/// Work that Ctrl-C may end while data are still being read.
pub(crate) fn interruptible(work: impl FnOnce() -> anyhow::Result<Ended>) -> anyhow::Result<Ended> {
    catch_interrupts("stopping; finished inputs are kept (press Ctrl-C again to quit)");
    match work() {
        Err(error) if matches!(error.downcast_ref(), Some(DataError::Stopped)) => {
            say("stopped before the first draw");
            Ok(Ended::FellShort)
        }
        other => other,
    }
}
