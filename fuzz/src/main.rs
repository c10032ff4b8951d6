//! Mutates seeds for as long as it is told, and prints what each target made of them.

use gambeson_fuzz::child::{cores, run_all, serve};
use gambeson_fuzz::drive::{Fault, Report};
use gambeson_fuzz::program::{READERS, Reader, run as run_program};
use gambeson_fuzz::targets::{Family, TARGETS, Target, faults_at};
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let after = |name: &str| words.iter().position(|word| word == name).and_then(|at| words.get(at + 1));
    let number = |name: &str| after(name).and_then(|text| text.parse::<u64>().ok());
    let now = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let seed = number("--seed").unwrap_or_else(now);
    // --child NAME: what the driver starts itself for.
    if let Some(name) = after("--child") {
        let time = Duration::from_secs(number("--seconds").unwrap_or(1));
        let Some(answer) = serve(name, time, seed) else { return ExitCode::from(2) };
        let _ = writeln!(std::io::stdout(), "{answer}");
        return ExitCode::SUCCESS;
    }
    // --target NAME --input FILE: one input that was kept, once more.
    if let (Some(name), Some(path)) = (after("--target"), after("--input")) {
        let target = TARGETS.iter().find(|target| target.name == name);
        let (Some(target), Ok(input)) = (target, std::fs::read(path)) else { return ExitCode::from(2) };
        let _ = writeln!(std::io::stdout(), "{:?}", target.read(&input));
        return ExitCode::SUCCESS;
    }
    let _ = writeln!(std::io::stdout(), "seed {seed}");
    // --margin P --cases N: how often the kernel would be wrong with a part of its margin.
    if let Some(part) = after("--margin").and_then(|text| text.parse::<f64>().ok()) {
        let cases = number("--cases").unwrap_or(100_000);
        for family in Family::ALL {
            let outcome = faults_at(family, part, seed, cases);
            let _ = writeln!(std::io::stdout(), "{part} of the margin, {family:?}: {outcome:?}");
        }
        return ExitCode::SUCCESS;
    }
    // --program PATH --cases N [--target NAME]: files given to the program, counted by its exit codes.
    if let Some(path) = after("--program") {
        let chosen = |reader: &&Reader| after("--target").is_none_or(|name| name == reader.target);
        let readers: Vec<&Reader> = READERS.iter().filter(chosen).collect();
        let cases = number("--cases").unwrap_or(200_000).div_ceil(readers.len().max(1) as u64);
        return program(Path::new(path), &readers, cases, seed);
    }
    let chosen: Vec<&Target> =
        TARGETS.iter().filter(|target| after("--target").is_none_or(|name| name == target.name)).collect();
    targets(&chosen, number("--seconds").unwrap_or(60), seed)
}

/// All targets in so many seconds together.
fn targets(chosen: &[&Target], seconds: u64, seed: u64) -> ExitCode {
    let Ok(own) = std::env::current_exe() else { return ExitCode::from(2) };
    let side_by_side = cores().min(chosen.len()) as u64;
    let each = (seconds * side_by_side / (chosen.len().max(1) as u64)).max(1);
    let (all, faults) = (AtomicU64::new(0), Mutex::new(Vec::new()));
    run_all(&own, chosen, Duration::from_secs(each), seed, &|target, report| {
        let Report { inputs, accepted, refused_seeds, kinds, faults: own } = report;
        all.fetch_add(*inputs, Ordering::Relaxed);
        let mut lines = vec![format!("{inputs:>9} inputs, {accepted:>8} accepted, {kinds:>4} answers")];
        if *refused_seeds > 0 {
            lines.push(format!("{refused_seeds} SEEDS REFUSED"));
        }
        for Fault { input, how } in own {
            lines.push(format!("FAULT: {how}"));
            let text = format!("{}: {how}: {}", target.name, input.display());
            faults.lock().map(|mut faults| faults.push(text)).ok();
        }
        let line = lines.join("; ");
        let _ = writeln!(std::io::stdout(), "{:<16} {line}", target.name);
    });
    let _ = writeln!(std::io::stdout(), "{:<16} {:>9} inputs, seed {seed}", "all", all.into_inner());
    ended(&faults.into_inner().unwrap_or_default())
}

/// Readers side by side, on all cores.
fn program(path: &Path, readers: &[&Reader], cases: u64, seed: u64) -> ExitCode {
    let (next, total, faults) = (AtomicUsize::new(0), AtomicU64::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some(&reader) = readers.get(next.fetch_add(1, Ordering::Relaxed)) {
            let line = match run_program(path, reader, cases, seed) {
                Ok(codes) => {
                    total.fetch_add(cases, Ordering::Relaxed);
                    let [good, short, bad] = codes;
                    format!("{good:>8} ended with 0, {short:>8} with 1, {bad:>8} with 2")
                }
                Err(Fault { input, how }) => {
                    let text = format!("{}: {how}: {}", reader.target, input.display());
                    faults.lock().map(|mut faults| faults.push(text)).ok();
                    format!("FAULT: {how}")
                }
            };
            let _ = writeln!(std::io::stdout(), "{:<16} {line}", reader.target);
        }
    };
    std::thread::scope(|scope| {
        (0..cores()).for_each(|_| drop(scope.spawn(work)));
    });
    let _ = writeln!(std::io::stdout(), "{} files, seed {seed}", total.load(Ordering::Relaxed));
    ended(&faults.into_inner().unwrap_or_default())
}

/// The faults once more, at the end, where they are seen.
fn ended(faults: &[String]) -> ExitCode {
    for fault in faults {
        let _ = writeln!(std::io::stdout(), "{fault}");
    }
    if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) }
}
