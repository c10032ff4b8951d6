//! Experiments as files: `experiments/NAME.toml`, validated before anything is run.
//!
//! `include = "OTHER"` puts another file below, and the table `scale.NAME` holds what differs at that scale; see [`layers`].

pub(crate) mod layers;

use crate::error::{Invalid, ReproduceError, require};
use crate::name::Scale;
use crate::report::table::latex_letter;
use gambeson_lowrank::MemoryLimit;
use serde::de::DeserializeOwned;
use std::io;
use std::path::Path;
use toml::{Table, Value};

/// The contents of a TOML file of one family.
pub(crate) trait Experiment: DeserializeOwned {
    /// Resolves abbreviations before the file is deserialised.
    fn expand(_table: &mut Table, _scale: Scale) -> Result<(), Invalid> {
        Ok(())
    }

    /// Errors name the key.
    fn validate(&self) -> Result<(), Invalid>;
}

/// Where experiments come from.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    /// Its files replace built-in ones of the same name.
    pub(crate) folder: Option<&'a Path>,
    /// Built-in files that others include.
    pub(crate) included: fn(&str) -> Option<&'static str>,
    pub(crate) memory: MemoryLimit,
}

/// The experiment of a name at a scale. Other scales that the file mentions are validated too.
pub(crate) fn load<E: Experiment>(
    name: &str,
    built_in: &str,
    scale: Scale,
    source: Source<'_>,
) -> Result<E, ReproduceError> {
    let (table, file) = source.layered(name, Some(built_in))?;
    let invalid = |problem| ReproduceError::Invalid { file: file.clone(), problem };
    let others = layers::scales(&table).map_err(invalid)?;
    for other in others.into_iter().filter(|other| *other != scale) {
        at_scale::<E>(table.clone(), other, &file)?;
    }
    at_scale(table, scale, &file)
}

fn at_scale<E: Experiment>(table: Table, scale: Scale, file: &str) -> Result<E, ReproduceError> {
    let invalid = |problem: Invalid| ReproduceError::Invalid {
        file: file.to_owned(),
        problem: problem.within(format!("scale {}", scale.name())),
    };
    let mut table = layers::at_scale(table, scale).map_err(invalid)?;
    E::expand(&mut table, scale).map_err(invalid)?;
    let experiment: E = Value::Table(table)
        .try_into()
        .map_err(|error: toml::de::Error| invalid(Invalid::new(error.to_string().trim_end())))?;
    experiment.validate().map_err(invalid)?;
    Ok(experiment)
}

impl Source<'_> {
    /// A file merged over the one it includes, and its name for errors.
    fn layered(self, name: &str, built_in: Option<&str>) -> Result<(Table, String), ReproduceError> {
        let (mut table, file) = self.read(name, built_in)?;
        let invalid = |problem| ReproduceError::Invalid { file: file.clone(), problem };
        let Some(below) = layers::included(&mut table).map_err(invalid)? else { return Ok((table, file)) };
        let (mut whole, _) = match self.read(&below, (self.included)(&below)) {
            Err(ReproduceError::File { path, reason }) => {
                let problem = Invalid::new(format!("{}: {reason}", path.display()));
                return Err(invalid(problem.within("include")));
            }
            other => other?,
        };
        // One level is enough, and cannot go round in circles.
        if layers::included(&mut whole).map_err(invalid)?.is_some() {
            return Err(invalid(Invalid::new(format!("include: `{below}` includes another file"))));
        }
        layers::merge(&mut whole, table);
        Ok((whole, file))
    }

    /// A file from the folder if it is there, otherwise the built-in one; and its name for errors.
    fn read(self, name: &str, built_in: Option<&str>) -> Result<(Table, String), ReproduceError> {
        let file = format!("{name}.toml");
        let folder = self.folder.map(|folder| {
            if folder.is_dir() {
                Ok(folder.join(&file))
            } else {
                Err(ReproduceError::NotAFolder { path: folder.to_path_buf() })
            }
        });
        let path = folder.transpose()?;
        let text = path.as_ref().map(|path| {
            let bytes = self.memory.read_file(path)?;
            String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
        });
        let missing = |reason: &io::Error| reason.kind() == io::ErrorKind::NotFound;
        let (text, file) = match (text, path, built_in) {
            (Some(Ok(text)), Some(path), _) => (text, path.display().to_string()),
            (Some(Err(reason)), Some(path), built_in) if !missing(&reason) || built_in.is_none() => {
                return Err(ReproduceError::File { path, reason });
            }
            (_, _, Some(text)) => (text.to_owned(), format!("experiments/{file} (built in)")),
            _ => {
                let reason = io::ErrorKind::NotFound.into();
                return Err(ReproduceError::File { path: file.into(), reason });
            }
        };
        match text.parse() {
            Ok(table) => Ok((table, file)),
            Err(error) => {
                let error: toml::de::Error = error;
                Err(ReproduceError::Syntax { file, reason: error.to_string().trim_end().to_owned() })
            }
        }
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
