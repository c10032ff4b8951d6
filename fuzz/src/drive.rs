//! Runs one target on mutated seeds.
//!
//! **Feedback.** Without a compiler that counts branches, a new answer of the target is taken for a new path: the first
//! mutated input that is refused for a reason not seen before, or accepted as something else, becomes a seed.

use crate::answer::kind;
use crate::mutate::{Mutator, Random};
use crate::targets::Target;
use gambeson_lowrank::MemoryLimit;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Changed inputs that a target is given in any case.
pub const FEWEST: u64 = 100;
/// What an input may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// Memory that one array or file may take.
pub const MEMORY: MemoryLimit = MemoryLimit::bytes(1 << 28);
/// Inputs that become seeds, at most.
const MOST_KEPT: usize = 300;
/// Faults of one target that are told, at most.
const MOST_FAULTS: usize = 10;
/// What the watchdog reads where there is nothing to watch any more.
const ENDED: u64 = u64::MAX;

/// What a target was given, and what it made of it.
#[derive(Debug, Default)]
pub struct Report {
    /// Inputs, seeds included.
    pub inputs: u64,
    /// Mutated ones that were accepted.
    pub accepted: u64,
    /// Seeds that were not.
    pub refused_seeds: u64,
    /// Answers that differ in more than numbers.
    pub kinds: u64,
    /// Panics, one for every place in the code.
    pub faults: Vec<Fault>,
}

/// An input that a target did not survive.
#[derive(Clone, Debug)]
pub struct Fault {
    /// Where it is kept.
    pub input: PathBuf,
    /// How.
    pub how: String,
}

/// Runs one target for a time, also beyond a panic. What ends the process, as running out of memory, of stack or of time does, is found by
/// whoever started it, with the input in the file of [`Running`].
pub fn run(target: &Target, time: Duration, seed: u64) -> Report {
    let seeds = seeds(target);
    let mut mutator = Mutator::new(&seeds);
    let mut random = Random::new(seed);
    let started = Instant::now();
    let mut running = Running::of(target.name, std::process::id());
    let watched = Arc::new(AtomicU64::new(0));
    watch(target.name, started, Arc::clone(&watched));
    let (mut report, mut kinds) = (Report::default(), BTreeSet::new());
    // However slow a machine is, some inputs are changed ones.
    let least = seeds.len() as u64 + FEWEST;
    while started.elapsed() < time || report.inputs < least {
        let own = usize::try_from(report.inputs).ok().and_then(|at| seeds.get(at));
        let input = own.cloned().unwrap_or_else(|| mutator.mutated(&mut random));
        running.note(&input);
        watched.store(milliseconds(started), Ordering::Relaxed);
        let answer = catch_unwind(AssertUnwindSafe(|| target.read(&input)));
        report.inputs += 1;
        let Ok(answer) = answer else {
            let how = PANIC.lock().map(|mut panic| std::mem::take(&mut *panic)).unwrap_or_default();
            if report.faults.len() < MOST_FAULTS && kinds.insert(place(&how).to_owned()) {
                report.faults.push(Fault { input: keep(target.name, &input), how });
            }
            continue;
        };
        match own {
            Some(_) => report.refused_seeds += u64::from(answer.is_err()),
            None => report.accepted += u64::from(answer.is_ok()),
        }
        if kinds.len() < MOST_KEPT && kinds.insert(kind(&answer, &input)) && own.is_none() {
            mutator.add(input);
        }
    }
    watched.store(ENDED, Ordering::Relaxed);
    report.kinds = kinds.len() as u64;
    report
}

/// The first panic, with its place.
static PANIC: Mutex<String> = Mutex::new(String::new());

/// What a process is to do about a panic: keep it for whoever catches it.
pub fn remember(panic: &PanicHookInfo<'_>) {
    if let Ok(mut first) = PANIC.lock()
        && first.is_empty()
    {
        *first = panic.to_string().replace('\n', " ");
    }
}

/// Where in the code, as a panic says it: `panicked at FILE:LINE:COLUMN: …`.
fn place(how: &str) -> &str {
    how.find(": ").map_or(how, |end| &how[..end])
}

fn milliseconds(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(ENDED - 1)
}

/// Ends the program where an input takes too long: nothing else can.
fn watch(name: &'static str, started: Instant, watched: Arc<AtomicU64>) {
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_millis(50));
            let since = watched.load(Ordering::Relaxed);
            if since == ENDED {
                break;
            }
            if u128::from(milliseconds(started).saturating_sub(since)) > PATIENCE.as_millis() {
                #[allow(clippy::print_stderr)] // there is nobody else to say it
                {
                    eprintln!("{name}: more than {PATIENCE:?}");
                }
                #[allow(clippy::exit)]
                std::process::exit(1);
            }
        }
    });
}

/// The file of the input that a target is being given: what is left of it where the process ends.
pub struct Running {
    path: PathBuf,
    file: Option<File>,
}

impl Running {
    /// That of a target in a process.
    fn of(name: &str, process: u32) -> Self {
        let path = Self::path(name, process);
        let file = path.parent().and_then(|folder| std::fs::create_dir_all(folder).ok());
        let file = file.and_then(|()| File::create(&path).ok());
        Self { path, file }
    }

    fn path(name: &str, process: u32) -> PathBuf {
        crashes().join(format!(".{name}-running-{process}"))
    }

    /// Its length first: what is behind it may be left from a longer one.
    fn note(&mut self, input: &[u8]) {
        if let Some(file) = &mut self.file {
            let noted = [&(input.len() as u64).to_le_bytes(), input].concat();
            let _ = file.rewind().and_then(|()| file.write_all(&noted)); // a disk that is full is no fault of the target
        }
    }

    /// The input that a process which is no more was given last.
    pub fn last(name: &str, process: u32) -> Option<Vec<u8>> {
        let path = Self::path(name, process);
        let mut bytes = Vec::new();
        File::open(&path).ok()?.read_to_end(&mut bytes).ok()?;
        let _ = std::fs::remove_file(&path);
        let (length, rest) = bytes.split_first_chunk()?;
        rest.get(..usize::try_from(u64::from_le_bytes(*length)).ok()?).map(<[u8]>::to_vec)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

fn crashes() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("crashes")
}

/// Writes an input that was not survived to a file.
pub fn keep(name: &str, input: &[u8]) -> PathBuf {
    let _ = std::fs::create_dir_all(crashes());
    let place = crashes().join(format!("{name}-{}", &gambeson_lowrank::file::sha256(input)[..12]));
    let _ = std::fs::write(&place, input);
    place
}

/// The seeds of a target: those in its folder, and what it makes by itself.
pub fn seeds(target: &Target) -> Vec<Vec<u8>> {
    let mut seeds = stored_seeds(target.name);
    seeds.extend((target.made)());
    seeds
}

/// The seeds in the folder of this name.
pub fn stored_seeds(name: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(name);
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths.iter().filter_map(|path| std::fs::read(path).ok()).collect()
}
