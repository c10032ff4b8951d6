//! Optional things in tests: reference data, `curl`, signals, and how a test says that it goes without.
//!
//! A test that needs something a machine may lack calls [`skipped`] and returns. The message goes to standard error
//! even while the test harness captures output, and into the file named by `GAMBESON_SKIPPED`, from which `./test`
//! prints the list of all skipped tests at its end.

use std::fmt::Display;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// Reports that the running test, or part of it, is skipped.
pub fn skipped<T: Display + ?Sized>(why: &T) {
    let thread = std::thread::current();
    let why = why.to_string();
    // The first sentence: errors go on with advice.
    let why = why.lines().next().and_then(|line| line.split(". ").next()).unwrap_or_default();
    let line = format!("skipped {}: {why}\n", thread.name().unwrap_or("a test"));
    // `eprintln!` would be captured. A report that cannot be written fails nothing.
    let _ = std::io::stderr().write_all(line.as_bytes());
    if let Some(list) = std::env::var_os("GAMBESON_SKIPPED") {
        let file = std::fs::OpenOptions::new().append(true).create(true).open(list);
        let _ = file.and_then(|mut file| file.write_all(line.as_bytes()));
    }
}

/// A path inside the public reference data; `None`, reported as skipped, where `GAMBESON_REFERENCE_DATA` is unset.
pub fn reference_data(path: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("GAMBESON_REFERENCE_DATA");
    if folder.is_none() {
        skipped("GAMBESON_REFERENCE_DATA is not set");
    }
    folder.map(|folder| PathBuf::from(folder).join(path))
}

/// Whether the system has `curl`; reported as skipped if not.
pub fn has_curl() -> bool {
    let found = Command::new("curl").arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).status();
    let found = found.is_ok_and(|status| status.success());
    if !found {
        skipped("there is no curl");
    }
    found
}

/// Sends Ctrl-C to a process, by the `kill` that every shell has built in: some machines have no program of that name.
pub fn interrupt(child: &Child) {
    let command = format!("kill -INT {}", child.id());
    let sent = Command::new("sh").args(["-c", &command]).status();
    assert!(sent.is_ok_and(|status| status.success()), "a signal was sent");
}
