//! One run: the program itself in a process of its own, so that its memory is its own and a crash costs one run.

use super::experiment::Planned;
use super::record::{CheckRun, Record, Setup};
use crate::commands::bound::BoundRecord;
use crate::progress::interrupted;
use anyhow::{Context, bail};
use serde::de::DeserializeOwned;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// How soon Ctrl-C is noticed.
const PATIENCE: Duration = Duration::from_millis(100);

/// Makes the run; none if it was interrupted, for what an interrupted process returns is no measurement.
pub(crate) fn make(experiment: &str, run: &Planned, setup: &Setup) -> anyhow::Result<Option<Record>> {
    let threads = setup.threads;
    let folder = tempfile::tempdir().context("a folder for the certificate")?;
    let certificate = folder.path().join("certificate.json").display().to_string();
    let arguments = run.arguments();
    let mut words = arguments.clone();
    if run.solver.check {
        words.extend(["--certificate".to_owned(), certificate.clone()]);
    }
    let Some((exit, seconds_wall, bound)) = call::<BoundRecord>(words, threads)? else { return Ok(None) };
    if bound.was_interrupted() {
        return Ok(None); // Ctrl-C reaches both processes, and not at one moment
    }
    let mut check = None;
    if run.solver.check {
        let words = ["check", "--random", &run.instance(), &certificate, "--json"].map(str::to_owned);
        let Some((exit, seconds_wall, result)) = call(words.into(), threads)? else { return Ok(None) };
        check = Some(CheckRun { exit, seconds_wall, result });
    }
    Ok(Some(Record {
        experiment: experiment.to_owned(),
        kind: run.kind.name().to_owned(),
        n: run.n,
        seed: run.seed,
        solver: run.solver.label.clone(),
        arguments,
        exit,
        seconds_wall,
        bound,
        check,
        setup: setup.clone(),
    }))
}

/// This program, also where its file has been replaced since it started.
fn program() -> anyhow::Result<PathBuf> {
    let running = Path::new("/proc/self/exe"); // what runs, not what has its name now
    if cfg!(target_os = "linux") && running.metadata().is_ok() {
        return Ok(running.to_owned());
    }
    std::env::current_exe().context("the program does not know where it is")
}

/// Exit code, wall-clock seconds and the object printed; none if interrupted. Exit 2 is an error here too.
fn call<T: DeserializeOwned>(
    mut words: Vec<String>,
    threads: usize,
) -> anyhow::Result<Option<(i32, f64, T)>> {
    words.extend(["--threads".to_owned(), threads.to_string()]);
    let name = || format!("gambeson {}", words.join(" "));
    let program = program()?;
    let started = Instant::now();
    let mut child = Command::new(program)
        .args(&words)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(name)?;
    // The end of stdout is the end of the process; waiting for it with patience leaves an eye on Ctrl-C.
    let (sender, ended) = mpsc::channel();
    let (mut stdout, mut stderr) = (child.stdout.take(), child.stderr.take());
    let reader = thread::spawn(move || {
        let mut text = String::new();
        let read = stdout.as_mut().map_or(Ok(0), |pipe| pipe.read_to_string(&mut text));
        let _ = sender.send(()); // nobody listens any more after Ctrl-C
        read.map(|_| text)
    });
    let complaints = thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stderr.as_mut().map_or(Ok(0), |pipe| pipe.read_to_end(&mut bytes)); // as much as there is
        String::from_utf8_lossy(&bytes).trim().to_owned()
    });
    while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(PATIENCE) {
        if interrupted() {
            let _ = child.kill(); // it may have ended by itself
            break;
        }
    }
    let status = child.wait().with_context(name)?;
    let seconds = started.elapsed().as_secs_f64();
    let (Ok(stdout), Ok(stderr)) = (reader.join(), complaints.join()) else {
        bail!("{}: its output could not be read", name());
    };
    if interrupted() {
        return Ok(None);
    }
    let Some(exit @ 0..=1) = status.code() else {
        bail!("{} ended with {status}: {stderr}", name());
    };
    let printed = serde_json::from_str(&stdout.with_context(name)?);
    Ok(Some((exit, seconds, printed.with_context(|| format!("{}: not the JSON expected", name()))?)))
}
