//! Experiments as files: `experiments/NAME.toml`, validated before anything is run.

use crate::error::{Invalid, ReproduceError, require};
use crate::report::table::latex_letter;
use gambeson_lowrank::MemoryLimit;
use serde::de::DeserializeOwned;
use std::io;
use std::path::Path;

/// What a TOML file of some family says.
pub(crate) trait Experiment: DeserializeOwned {
    /// Errors name the key.
    fn validate(&self) -> Result<(), Invalid>;
}

/// The experiment in `folder` if there is one, otherwise the built-in one.
pub(crate) fn load<E: Experiment>(
    name: &str,
    built_in: &str,
    folder: Option<&Path>,
    memory: MemoryLimit,
) -> Result<E, ReproduceError> {
    let file = format!("{name}.toml");
    let Some(folder) = folder else {
        return parse(built_in, format!("experiments/{file} (built in)"));
    };
    if !folder.is_dir() {
        return Err(ReproduceError::NotAFolder { path: folder.to_path_buf() });
    }
    let path = folder.join(file);
    let text = memory.read_file(&path).and_then(|bytes| {
        String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
    });
    match text {
        Ok(text) => parse(&text, path.display().to_string()),
        Err(reason) if reason.kind() == io::ErrorKind::NotFound => load(name, built_in, None, memory),
        Err(reason) => Err(ReproduceError::File { path, reason }),
    }
}

fn parse<E: Experiment>(text: &str, file: String) -> Result<E, ReproduceError> {
    let experiment: E = match toml::from_str(text) {
        Ok(experiment) => experiment,
        Err(error) => {
            return Err(ReproduceError::Syntax { file, reason: error.to_string().trim_end().to_owned() });
        }
    };
    match experiment.validate() {
        Ok(()) => Ok(experiment),
        Err(problem) => Err(ReproduceError::Invalid { file, problem }),
    }
}

/// Whether the labels are printable and differ, and there is at least one.
pub(crate) fn labels<'a>(all: impl Iterator<Item = &'a String>) -> Result<(), Invalid> {
    let all: Vec<_> = all.collect();
    require!(!all.is_empty(), "empty: at least one is needed");
    for (at, label) in all.iter().enumerate() {
        printable(label).map_err(|problem| problem.within("label"))?;
        require!(!all[..at].contains(label), "label: `{label}` appears twice");
    }
    Ok(())
}

/// Whether a text can be printed in a table, in LaTeX too.
pub(crate) fn printable(text: &str) -> Result<(), Invalid> {
    require!(!text.trim().is_empty(), "empty: a text is needed");
    match text.chars().find(|letter| latex_letter(*letter).is_none()) {
        Some(letter) => Err(Invalid::new(format!("{text:?}: {letter:?} cannot be printed in LaTeX"))),
        None => Ok(()),
    }
}
