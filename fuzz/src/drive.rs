//! Runs targets on mutated seeds.

use crate::mutate::{Random, mutated};
use crate::targets::Target;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What an input may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// Memory that one array or file may take.
const MEMORY: u64 = 1 << 28;

/// Since when a target has had which input.
type Watched = Arc<Mutex<Option<(Instant, Vec<u8>)>>>;

/// An input that a target did not survive.
#[derive(Debug)]
pub struct Fault {
    /// Which.
    pub input: Vec<u8>,
    /// How.
    pub how: String,
}

/// Runs one target for a time; returns how many inputs it was given.
pub fn run(target: &Target, seeds: &[Vec<u8>], time: Duration, seed: u64) -> Result<u64, Fault> {
    gambeson_lowrank::file::limit_memory(Some(MEMORY));
    let mut random = Random::new(seed);
    let started = Instant::now();
    let watched: Watched = Arc::default();
    let ended = Arc::new(AtomicBool::new(false));
    let watch = watchdog(target.name, Arc::clone(&watched), Arc::clone(&ended));
    let mut count = 0;
    let mut result = Ok(());
    while result.is_ok() && (started.elapsed() < time || count < seeds.len() as u64) {
        let seeded = usize::try_from(count).ok().and_then(|at| seeds.get(at));
        let input = seeded.cloned().unwrap_or_else(|| mutated(seeds, &mut random));
        *watched.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), input.clone()));
        result = catch_unwind(AssertUnwindSafe(|| (target.run)(&input))).map_err(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            let how = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            Fault { input, how: how.unwrap_or_default() }
        });
        count += 1;
    }
    ended.store(true, Ordering::Relaxed);
    watch.join().ok();
    result.map(|()| count)
}

/// Ends the program where an input takes too long: nothing else can.
fn watchdog(name: &'static str, watched: Watched, ended: Arc<AtomicBool>) -> std::thread::JoinHandle<()> {
    std::thread::spawn(move || {
        while !ended.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(50));
            let watched = watched.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((_, input)) = watched.as_ref().filter(|(since, _)| since.elapsed() > PATIENCE) {
                let place = keep(name, input);
                #[allow(clippy::print_stderr)] // there is nobody else to say it
                {
                    eprintln!("{name}: more than {PATIENCE:?} for {}", place.display());
                }
                #[allow(clippy::exit)]
                std::process::exit(1);
            }
        }
    })
}

/// Writes an input that was not survived to a file.
pub fn keep(name: &str, input: &[u8]) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("crashes");
    let _ = std::fs::create_dir_all(&folder);
    let place = folder.join(format!("{name}-{}", &gambeson_lowrank::file::sha256(input)[..12]));
    let _ = std::fs::write(&place, input);
    place
}

/// The seeds of a target: those in its folder, and what it makes by itself.
pub fn seeds(target: &Target) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds").join(target.name);
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let mut seeds: Vec<Vec<u8>> = paths.iter().filter_map(|path| std::fs::read(path).ok()).collect();
    seeds.extend((target.made)());
    seeds
}
