//! Experiments as files: `experiments/NAME.toml`, validated before anything is run.

use crate::report::table::latex_letter;
use anyhow::{Context, bail, ensure};
use gambeson_lowrank::MemoryLimit;
use serde::de::DeserializeOwned;
use std::path::Path;

/// What a TOML file of some family says.
pub(crate) trait Experiment: DeserializeOwned {
    /// Errors name the key.
    fn validate(&self) -> anyhow::Result<()>;
}

/// The experiment in `folder` if there is one, otherwise the built-in one.
pub(crate) fn load<E: Experiment>(
    name: &str,
    built_in: &str,
    folder: Option<&Path>,
    memory: MemoryLimit,
) -> anyhow::Result<E> {
    let file = format!("{name}.toml");
    let Some(folder) = folder else {
        return parse(built_in, &format!("experiments/{file} (built in)"));
    };
    ensure!(folder.is_dir(), "{}: is not a folder", folder.display());
    let path = folder.join(file);
    let place = || path.display().to_string();
    match memory.read_file(&path) {
        Ok(bytes) => parse(&String::from_utf8(bytes).with_context(place)?, &place()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => load(name, built_in, None, memory),
        Err(error) => Err(error).with_context(place),
    }
}

fn parse<E: Experiment>(text: &str, name: &str) -> anyhow::Result<E> {
    let experiment: E =
        toml::from_str(text).map_err(|error| anyhow::anyhow!("{name}: {}", error.to_string().trim_end()))?;
    experiment.validate().with_context(|| name.to_owned())?;
    Ok(experiment)
}

/// Whether the labels are printable and differ, and there is at least one.
pub(super) fn labels<'a>(all: impl Iterator<Item = &'a String>) -> anyhow::Result<()> {
    let all: Vec<_> = all.collect();
    ensure!(!all.is_empty(), "empty: at least one is needed");
    for (at, label) in all.iter().enumerate() {
        printable(label).context("label")?;
        ensure!(!all[..at].contains(label), "label: `{label}` appears twice");
    }
    Ok(())
}

/// Whether a text can be printed in a table, in LaTeX too.
pub(super) fn printable(text: &str) -> anyhow::Result<()> {
    ensure!(!text.trim().is_empty(), "empty: a text is needed");
    if let Some(letter) = text.chars().find(|letter| latex_letter(*letter).is_none()) {
        bail!("{text:?}: {letter:?} cannot be printed in LaTeX");
    }
    Ok(())
}
