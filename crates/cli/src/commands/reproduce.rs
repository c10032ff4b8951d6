//! `gambeson reproduce`: the runs of an experiment that are not there yet, then its table and figure.

use crate::Outcome;
use crate::args::ReproduceArguments;
use crate::progress::{catch_interrupts, live_line, say};
use crate::reproduce::experiment::Experiment;
use crate::reproduce::record::{Store, read};
use crate::reproduce::results::Results;
use crate::reproduce::{OBJECTS, Object, file, run};
use anyhow::{Context, ensure};
use clap::ValueEnum;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

/// How the runs ended.
#[derive(PartialEq, Eq)]
enum End {
    /// All there are, or all there was time for.
    Done,
    Interrupted,
}

pub(crate) fn run(
    arguments: &ReproduceArguments,
    stdout: &mut impl Write,
    threads: usize,
) -> anyhow::Result<Outcome> {
    if arguments.list {
        for Object { name, about, .. } in OBJECTS {
            writeln!(stdout, "{name:15} {about}")?;
        }
        stdout.flush()?;
        return Ok(Outcome::Success);
    }
    let object = OBJECTS.iter().find(|object| arguments.name.as_deref() == Some(object.name));
    let object = object.context("no such table or figure")?; // clap lets only names of the list through
    let experiment = Experiment::load(object, arguments.experiments.as_deref())?;
    let scale = arguments.scale.to_possible_value();
    let scale = scale.as_ref().map_or("", |scale| scale.get_name());
    let stem = arguments.results.join(format!("{}.{scale}", object.name));
    let path = file(&stem, "jsonl");
    let peers = arguments.results.join("peers-sdp.jsonl");
    let peers = if peers.exists() { read(&peers)? } else { Vec::new() };
    let (mut store, records) = if arguments.render_only {
        ensure!(path.exists(), "{}: no records yet; without --render-only the runs are made", path.display());
        (None, read(&path)?)
    } else {
        std::fs::create_dir_all(&arguments.results)
            .with_context(|| format!("{}: cannot be made", arguments.results.display()))?;
        let (store, records) = Store::open(&path)?;
        (Some(store), records)
    };
    let mut results = Results::new(&experiment, experiment.scale(arguments.scale), records, peers);
    if let Some(store) = &mut store
        && make_missing(object.name, &mut results, store, threads, arguments.time_limit)? == End::Interrupted
    {
        say(&format!("stopped; the same command goes on from {}", path.display()));
        return Ok(Outcome::FellShort);
    }
    report(object, &results, &stem, arguments.json, stdout)
}

fn make_missing(
    name: &str,
    results: &mut Results,
    store: &mut Store,
    threads: usize,
    time_limit: Option<Duration>,
) -> anyhow::Result<End> {
    let started = Instant::now();
    catch_interrupts("stopping; what is done is kept (press again to quit)");
    let missing = results.missing() as u64;
    let bar = live_line(Some(missing), "{spinner} {elapsed} run {pos} of {len} done, now {msg}");
    for (planned, record) in results.runs_mut().filter(|(_, record)| record.is_none()) {
        if time_limit.is_some_and(|limit| started.elapsed() >= limit) {
            break;
        }
        bar.set_message(planned.to_string());
        let Some(made) = run::make(name, &planned, threads)? else {
            bar.finish_and_clear();
            return Ok(End::Interrupted);
        };
        store.append(&made)?;
        if !planned.as_asked(&made) {
            bar.suspend(|| say(&format!("{planned}: fell short of what was asked")));
        }
        *record = Some(made);
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(End::Done)
}

/// Table and figure, from the records alone.
fn report(
    object: &Object,
    results: &Results,
    stem: &Path,
    json: bool,
    stdout: &mut impl Write,
) -> anyhow::Result<Outcome> {
    let rendered = (object.render)(results);
    for path in rendered.write(stem)? {
        say(&format!("wrote {}", path.display()));
    }
    if json {
        for record in results.records() {
            writeln!(stdout, "{}", serde_json::to_string(record)?)?;
        }
    } else {
        write!(stdout, "{}", rendered.table.markdown())?;
    }
    stdout.flush()?;
    let complete = results.missing() == 0 && results.short().next().is_none();
    Ok(if complete { Outcome::Success } else { Outcome::FellShort })
}
