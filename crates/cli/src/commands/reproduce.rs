//! `gambeson reproduce`: the runs of an experiment that are not there yet, then its table and figure.

use crate::Outcome;
use crate::args::ReproduceArguments;
use crate::progress::{catch_interrupts, live_line, say};
use crate::reproduce::experiment::Experiment;
use crate::reproduce::record::{Setup, Store, read};
use crate::reproduce::results::Results;
use crate::reproduce::{OBJECTS, Object, file, run};
use anyhow::{Context, bail, ensure};
use clap::ValueEnum;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

/// How the runs ended.
enum End {
    /// All there are, or all there was time for, but for so many that failed.
    Done {
        failed: usize,
    },
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
    let (mut store, mut records) = if arguments.render_only {
        ensure!(path.exists(), "{}: no records yet; without --render-only the runs are made", path.display());
        (None, read(&path)?)
    } else {
        std::fs::create_dir_all(&arguments.results)
            .with_context(|| format!("{}: cannot be made", arguments.results.display()))?;
        let (store, records) = Store::open(&path)?;
        (Some(store), records)
    };
    // Means over two machines or versions would be of neither: a report is of one setup, this one if runs are made.
    let latest = records.last().filter(|_| arguments.render_only).map(|record| record.setup.clone());
    let setup = latest.unwrap_or_else(|| Setup::here(threads));
    let all = records.len();
    records.retain(|record| record.setup == setup);
    if records.len() < all {
        let others = all - records.len();
        say(&format!("{}: {others} records are not of {setup}, and are left alone", path.display()));
    }
    let mut results = Results::new(&experiment, experiment.scale(arguments.scale), records, peers);
    let mut end = End::Done { failed: 0 };
    if let Some(store) = &mut store {
        end = make_missing(object.name, &mut results, store, &setup, arguments.time_limit)?;
    }
    let End::Done { failed } = end else {
        say(&format!("stopped; the same command goes on from {}", path.display()));
        return Ok(Outcome::FellShort);
    };
    let outcome = report(object, &results, &stem, arguments.json, stdout)?;
    if failed > 0 {
        bail!("runs that failed, with the messages above: {failed}; the same command makes them again");
    }
    Ok(outcome)
}

fn make_missing(
    name: &str,
    results: &mut Results,
    store: &mut Store,
    setup: &Setup,
    time_limit: Option<Duration>,
) -> anyhow::Result<End> {
    let started = Instant::now();
    catch_interrupts("stopping; what is done is kept (press again to quit)");
    let missing = results.missing() as u64;
    let bar = live_line(Some(missing), "{spinner} {elapsed} run {pos} of {len} done, now {msg}");
    let mut failed = 0;
    for (planned, record) in results.runs_mut().filter(|(_, record)| record.is_none()) {
        if time_limit.is_some_and(|limit| started.elapsed() >= limit) {
            break;
        }
        bar.set_message(planned.to_string());
        let made = match run::make(name, &planned, setup) {
            Ok(Some(made)) => made,
            Ok(None) => {
                bar.finish_and_clear();
                return Ok(End::Interrupted);
            }
            Err(error) => {
                bar.suspend(|| say(&format!("{planned}: failed: {error:#}")));
                failed += 1;
                continue;
            }
        };
        store.append(&made)?;
        if !planned.as_asked(&made) {
            bar.suspend(|| say(&format!("{planned}: fell short of what was asked")));
        }
        *record = Some(made);
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(End::Done { failed })
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
