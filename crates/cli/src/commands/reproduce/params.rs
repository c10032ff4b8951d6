//! What the library is asked for.

use crate::args::ReproduceArguments;
use anyhow::Context as _;
use gambeson_reproduce::{ObjectName, Program, ReproduceParams};
use std::path::{Path, PathBuf};

/// Where the folder of reference data is named.
const REFERENCE_DATA: &str = "GAMBESON_REFERENCE_DATA";

pub(super) fn params(arguments: &ReproduceArguments, name: ObjectName) -> anyhow::Result<ReproduceParams> {
    Ok(ReproduceParams {
        scale: arguments.scale,
        results: arguments.results.clone(),
        runs: arguments.runs.clone(),
        experiments: arguments.experiments.clone(),
        // Of all names, those that read sound take it.
        data: arguments.data.clone().filter(|_| !arguments.all || name == ObjectName::TableAudio),
        reference_data: std::env::var_os(REFERENCE_DATA).filter(|value| !value.is_empty()).map(Into::into),
        render_only: arguments.render_only,
        time_limit: arguments.time_limit,
        ..ReproduceParams::new(name, Program { path: program()?, words: Vec::new() })
    })
}

/// This program, even if its file has been replaced since it started.
fn program() -> anyhow::Result<PathBuf> {
    let running = Path::new("/proc/self/exe"); // what runs, not what has its name now
    if cfg!(target_os = "linux") && running.metadata().is_ok() {
        return Ok(running.to_owned());
    }
    std::env::current_exe().context("cannot find the program's own file")
}
