//! Mutates seeds for as long as it is told, and prints how many inputs each target was given.

use gambeson_fuzz::drive::{keep, run, seeds};
use gambeson_fuzz::program::{READERS, run as run_program};
use gambeson_fuzz::targets::{Family, TARGETS, faults_at};
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let after = |name: &str| words.iter().position(|word| word == name).and_then(|at| words.get(at + 1));
    let number = |name: &str| after(name).and_then(|text| text.parse::<u64>().ok());
    let now = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let seed = number("--seed").unwrap_or_else(now);
    // --margin P --cases N: how often the kernel would be wrong with a part of its margin.
    if let Some(part) = after("--margin").and_then(|text| text.parse::<f64>().ok()) {
        let cases = number("--cases").unwrap_or(100_000);
        for family in Family::ALL {
            let outcome = faults_at(family, part, seed, cases);
            let _ = writeln!(std::io::stdout(), "{part} of the margin, {family:?}, seed {seed}: {outcome:?}");
        }
        return ExitCode::SUCCESS;
    }
    // --program PATH --cases N: files given to the program, counted by its exit codes.
    if let Some(path) = after("--program") {
        let cases = number("--cases").unwrap_or(200_000).div_ceil(READERS.len() as u64);
        return program(Path::new(path), cases, seed);
    }
    let chosen: Vec<_> =
        TARGETS.iter().filter(|target| after("--target").is_none_or(|name| name == target.name)).collect();
    let seconds = number("--seconds").unwrap_or(60).max(chosen.len() as u64) / (chosen.len().max(1) as u64);
    std::panic::set_hook(Box::new(|_| {}));
    let mut stdout = std::io::stdout();
    let mut total = 0;
    for target in chosen {
        match run(target, &seeds(target), Duration::from_secs(seconds.max(1)), seed) {
            Ok(count) => {
                total += count;
                let _ = writeln!(stdout, "{:<14} {count:>10} inputs", target.name);
            }
            Err(fault) => {
                let place = keep(target.name, &fault.input);
                let _ = writeln!(stdout, "{}: {} (seed {seed}): {}", target.name, fault.how, place.display());
                return ExitCode::from(1);
            }
        }
    }
    let _ = writeln!(stdout, "{:<14} {total:>10} inputs, seed {seed}", "all");
    ExitCode::SUCCESS
}

/// Readers side by side, on all cores.
fn program(path: &Path, cases: u64, seed: u64) -> ExitCode {
    let next = AtomicUsize::new(0);
    let (total, failed) = (AtomicU64::new(0), AtomicBool::new(false));
    let work = || {
        while let Some(reader) = READERS.get(next.fetch_add(1, Ordering::Relaxed)) {
            let mut stdout = std::io::stdout();
            match run_program(path, reader, cases, seed) {
                Ok(codes) => {
                    total.fetch_add(cases, Ordering::Relaxed);
                    let [good, short, bad] = codes;
                    let _ = writeln!(
                        stdout,
                        "{:<12} {good:>8} ended with 0, {short:>8} with 1, {bad:>8} with 2",
                        reader.target
                    );
                }
                Err(fault) => {
                    failed.store(true, Ordering::Relaxed);
                    let place = keep(reader.target, &fault.input);
                    let _ = writeln!(
                        stdout,
                        "{}: {} (seed {seed}): {}",
                        reader.target,
                        fault.how,
                        place.display()
                    );
                }
            }
        }
    };
    std::thread::scope(|scope| {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        (0..cores).for_each(|_| drop(scope.spawn(work)));
    });
    let _ = writeln!(std::io::stdout(), "{} files, seed {seed}", total.load(Ordering::Relaxed));
    if failed.load(Ordering::Relaxed) { ExitCode::from(1) } else { ExitCode::SUCCESS }
}
