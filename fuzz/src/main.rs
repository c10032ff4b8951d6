//! Mutates seeds for as long as it is told, and prints how many inputs each target was given.

use gambeson_fuzz::drive::{keep, run, seeds};
use gambeson_fuzz::targets::{TARGETS, faults_at};
use std::io::Write;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let after = |name: &str| words.iter().position(|word| word == name).and_then(|at| words.get(at + 1));
    let number = |name: &str| after(name).and_then(|text| text.parse::<u64>().ok());
    let now = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let seed = number("--seed").unwrap_or_else(now);
    // --margin P --cases N: how often the kernel would be wrong with a part of its margin.
    if let Some(part) = after("--margin").and_then(|text| text.parse::<f64>().ok()) {
        let outcome = faults_at(part, seed, number("--cases").unwrap_or(100_000));
        let _ = writeln!(std::io::stdout(), "{part} of the margin, seed {seed}: {outcome:?}");
        return ExitCode::SUCCESS;
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
