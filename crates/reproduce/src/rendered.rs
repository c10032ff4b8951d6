//! Tables and figures as files.

use crate::error::ReproduceError;
use crate::report::figure::Drawing;
use crate::report::mark::{LATEX, MARKUP};
use crate::report::table::Table;
use gambeson_lowrank::file::write_file;
use std::path::{Path, PathBuf};

/// What a reader gets to see; a function of the records alone.
pub(crate) struct Rendered {
    /// The first is what the object is about; others follow from it.
    pub(crate) tables: Vec<Table>,
    pub(crate) figure: Option<Drawing>,
}

impl Rendered {
    /// Writes `STEM.md` and `STEM.tex`, for figures also `STEM.svg` and `STEM.png`; returns the paths.
    pub(crate) fn write(&self, stem: &Path) -> Result<Vec<PathBuf>, ReproduceError> {
        let mut files = vec![
            ("md", format!("{MARKUP}\n{}", joined(&self.tables, Table::markdown)).into_bytes()),
            ("tex", format!("{LATEX}\n{}", joined(&self.tables, Table::latex)).into_bytes()),
        ];
        if let Some(figure) = &self.figure {
            files.extend([("svg", figure.svg()?), ("png", figure.png()?)]);
        }
        files
            .into_iter()
            .map(|(extension, bytes)| {
                let path = file(stem, extension);
                match write_file(&path, &bytes) {
                    Ok(()) => Ok(path),
                    Err(reason) => Err(ReproduceError::File { path, reason }),
                }
            })
            .collect()
    }
}

/// One table after the other.
fn joined(tables: &[Table], text: fn(&Table) -> String) -> String {
    tables.iter().map(text).collect::<Vec<_>>().join("\n")
}

/// `STEM.extension`, whatever dots the stem has.
pub(crate) fn file(stem: &Path, extension: &str) -> PathBuf {
    let mut path = stem.as_os_str().to_owned();
    path.push(".");
    path.push(extension);
    path.into()
}
