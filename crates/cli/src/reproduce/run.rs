//! One run: the program itself in a process of its own, so that its memory is its own and a crash costs one run.

use crate::progress::interrupted;
use anyhow::{Context, bail};
use serde::de::DeserializeOwned;
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// How soon Ctrl-C is noticed.
const PATIENCE: Duration = Duration::from_millis(100);

/// What a process left behind.
#[derive(Debug)]
pub(crate) struct Called<T> {
    /// 0 or 1.
    pub(crate) exit: i32,
    /// Wall-clock seconds of the whole process.
    pub(crate) seconds_wall: f64,
    /// The object it printed.
    pub(crate) printed: T,
}

/// This program, even if its file has been replaced since it started.
fn program() -> anyhow::Result<PathBuf> {
    let running = Path::new("/proc/self/exe"); // what runs, not what has its name now
    if cfg!(target_os = "linux") && running.metadata().is_ok() {
        return Ok(running.to_owned());
    }
    std::env::current_exe().context("cannot find the program's own file")
}

/// Runs this program with these words. None if interrupted: what an interrupted process returns is not a measurement.
/// Exit 2 is an error here too.
pub(crate) fn call<T: DeserializeOwned>(
    mut words: Vec<OsString>,
    threads: usize,
) -> anyhow::Result<Option<Called<T>>> {
    words.extend(["--threads".into(), threads.to_string().into()]);
    let name = || format!("gambeson {}", words.join(OsStr::new(" ")).display());
    let program = program()?;
    let started = Instant::now();
    let mut child = Command::new(program)
        .args(&words)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(name)?;
    // stdout ends when the process does; waiting in short turns leaves time to look for Ctrl-C.
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
        let _ = stderr.as_mut().map_or(Ok(0), |pipe| pipe.read_to_end(&mut bytes)); // whatever could be read
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
    let stdout = stdout.with_context(name)?;
    if exit == 1 && stdout.is_empty() {
        return Ok(None); // Ctrl-C reaches both processes, and it had nothing to show yet
    }
    let printed = serde_json::from_str(&stdout);
    let printed = printed.with_context(|| format!("{}: not the JSON expected", name()))?;
    Ok(Some(Called { exit, seconds_wall: seconds, printed }))
}
