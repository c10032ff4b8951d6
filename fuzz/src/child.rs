//! Every target in a process of its own, whose memory is limited: one that aborts takes nobody with it, and the input that
//! it was given last is kept.

use crate::drive::{Fault, Report, Running, keep};
use crate::targets::{TARGETS, Target};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Kilobytes of addresses that a process may have: more than threads and allocators reserve, less than a length in a file
/// can claim.
const ADDRESSES: &str = "4194304";

/// The child's part: one target, and what came of it as JSON on stdout.
pub fn serve(name: &str, time: Duration, seed: u64) -> Option<Value> {
    let target = TARGETS.iter().find(|target| target.name == name)?;
    std::panic::set_hook(Box::new(crate::drive::remember));
    let Report { inputs, accepted, refused_seeds, kinds, faults } = crate::drive::run(target, time, seed);
    let faults: Vec<Value> =
        faults.iter().map(|Fault { input, how }| json!({ "how": how, "input": input })).collect();
    Some(json!({
        "inputs": inputs, "accepted": accepted, "refused_seeds": refused_seeds, "kinds": kinds, "faults": faults,
    }))
}

/// The parent's: starts `program`, this one, for a target and waits for it.
fn run(program: &Path, target: &Target, time: Duration, seed: u64) -> Report {
    started(program, target, time, seed)
        .unwrap_or_else(|fault| Report { faults: vec![fault], ..Report::default() })
}

fn started(program: &Path, target: &Target, time: Duration, seed: u64) -> Result<Report, Fault> {
    let none = |how: String| Fault { input: Path::new("no input").to_owned(), how };
    let mut command = if cfg!(unix) {
        let mut shell = Command::new("sh");
        shell.args(["-c", "ulimit -v \"$0\"; exec \"$@\"", ADDRESSES]).arg(program);
        shell
    } else {
        Command::new(program)
    };
    // Files that are there for a moment need no disk, which other processes may be waiting for.
    let memory = Path::new("/dev/shm");
    let folder = tempfile::tempdir_in(memory).or_else(|_| tempfile::tempdir());
    let folder = folder.map_err(|error| none(error.to_string()))?;
    let seconds = time.as_secs().max(1).to_string();
    let child = command
        .args(["--child", target.name, "--seconds", &seconds, "--seed", &seed.to_string()])
        .env("TMPDIR", folder.path())
        // Each thread takes addresses for memory of its own.
        .env("RAYON_NUM_THREADS", "2")
        .env("MALLOC_ARENA_MAX", "2")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| none(error.to_string()))?;
    let process = child.id(); // `exec` keeps it
    let output = child.wait_with_output().map_err(|error| none(error.to_string()))?;
    let said: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let number = |key: &str| said[key].as_u64();
    let fault = |fault: &Value| {
        Some(Fault { input: fault["input"].as_str()?.into(), how: fault["how"].as_str()?.to_owned() })
    };
    if let (Some(inputs), Some(accepted), Some(refused_seeds), Some(kinds), Some(faults)) = (
        number("inputs"),
        number("accepted"),
        number("refused_seeds"),
        number("kinds"),
        said["faults"].as_array(),
    ) {
        let faults = faults.iter().filter_map(fault).collect();
        return Ok(Report { inputs, accepted, refused_seeds, kinds, faults });
    }
    let words = String::from_utf8_lossy(&output.stderr);
    let first = words.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let fault = none(format!("{}: {first}", output.status));
    let input = Running::last(target.name, process);
    Err(Fault { input: input.map_or(fault.input, |input| keep(target.name, &input)), how: fault.how })
}

/// Runs targets side by side, on all cores; `see` is told of each as it ends.
pub fn run_all(
    program: &Path,
    targets: &[&Target],
    time: Duration,
    seed: u64,
    see: &(dyn Fn(&Target, &Report) + Sync),
) {
    let (next, talking) = (AtomicUsize::new(0), Mutex::new(()));
    let work = || {
        while let Some(target) = targets.get(next.fetch_add(1, Ordering::Relaxed)) {
            let report = run(program, target, time, seed);
            let _one_at_a_time = talking.lock();
            see(target, &report);
        }
    };
    std::thread::scope(|scope| {
        (0..cores()).for_each(|_| drop(scope.spawn(work)));
    });
}

/// Processes that can run at once.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}
