//! One run: the program itself in a process of its own, so that its memory is its own and a crash costs one run.

use crate::error::RunError;
use serde::de::DeserializeOwned;
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// How soon an interrupt is noticed.
const PATIENCE: Duration = Duration::from_millis(100);

/// Environment variable of processes that end with their standard input: their parent is gone then.
pub const ENDS_WITH_STDIN: &str = "GAMBESON_ENDS_WITH_STDIN";

/// How `gambeson` is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The executable.
    pub path: PathBuf,
    /// Words before those of the command line, as an interpreter needs them.
    pub words: Vec<OsString>,
}

/// What a process left behind.
#[derive(Debug)]
pub(crate) struct Called<T> {
    /// 0 or 1.
    pub(crate) exit: i32,
    /// Wall-clock seconds of the whole process.
    pub(crate) seconds_wall: f64,
    /// The object it printed; of several, the last.
    pub(crate) printed: T,
}

/// Calls the program.
pub(crate) struct Caller<'a> {
    pub(crate) program: &'a Program,
    pub(crate) threads: usize,
    /// Whether runs are to end.
    pub(crate) interrupted: &'a dyn Fn() -> bool,
}

impl Caller<'_> {
    /// Runs the program with these words. `None` if interrupted: what an interrupted process returns is not a measurement.
    /// Exit 2 is an error here too.
    pub(crate) fn call<T: DeserializeOwned>(
        &self,
        mut words: Vec<OsString>,
    ) -> Result<Option<Called<T>>, RunError> {
        words.extend(["--threads".into(), self.threads.to_string().into()]);
        let command = format!("gambeson {}", words.join(OsStr::new(" ")).display());
        let broken = |reason| RunError::Start { command: command.clone(), reason };
        let started = Instant::now();
        let mut child = Command::new(&self.program.path)
            .args(&self.program.words)
            .args(&words)
            // Nothing is written to it. It closes when this process ends, even by a kill, and the run ends with it.
            .stdin(Stdio::piped())
            .env(ENDS_WITH_STDIN, "1")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(broken)?;
        let _stdin = child.stdin.take(); // closed when the child has ended
        // stdout ends when the process does; waiting in short turns leaves time to look for an interrupt.
        let (sender, ended) = mpsc::channel();
        let (mut stdout, mut stderr) = (child.stdout.take(), child.stderr.take());
        let reader = thread::spawn(move || {
            let mut text = String::new();
            let read = stdout.as_mut().map_or(Ok(0), |pipe| pipe.read_to_string(&mut text));
            let _ = sender.send(()); // nobody listens any more after an interrupt
            read.map(|_| text)
        });
        let complaints = thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = stderr.as_mut().map_or(Ok(0), |pipe| pipe.read_to_end(&mut bytes)); // whatever could be read
            String::from_utf8_lossy(&bytes).trim().to_owned()
        });
        while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(PATIENCE) {
            if (self.interrupted)() {
                let _ = child.kill(); // it may have ended by itself
                break;
            }
        }
        let status = child.wait().map_err(broken)?;
        let seconds_wall = started.elapsed().as_secs_f64();
        let (Ok(stdout), Ok(message)) = (reader.join(), complaints.join()) else {
            return Err(broken(std::io::Error::other("its output could not be read")));
        };
        if (self.interrupted)() {
            return Ok(None);
        }
        let Some(exit @ 0..=1) = status.code() else {
            return Err(RunError::Failed { command, status: status.to_string(), message });
        };
        let stdout = stdout.map_err(broken)?;
        if exit == 1 && stdout.is_empty() {
            return Ok(None); // Ctrl-C reaches both processes, and it had nothing to show yet
        }
        // One object a line; of several, the last puts the others together.
        let last = stdout.trim_end().lines().next_back().unwrap_or_default();
        match serde_json::from_str(last) {
            Ok(printed) => Ok(Some(Called { exit, seconds_wall, printed })),
            Err(reason) => Err(RunError::Output { command, reason }),
        }
    }
}
