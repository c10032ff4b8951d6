//! Figures as files.

use super::{Figure, png, svg};
use crate::args::FigureFiles;
use anyhow::Context;
use gambeson_lowrank::file::write_file;
use std::path::PathBuf;

impl Figure {
    /// Writes the files asked for on the command line.
    pub(crate) fn write(&self, files: &FigureFiles) -> anyhow::Result<()> {
        self.write_to(files.paths())
    }

    /// Writes files; the ending of each says as what.
    pub(crate) fn write_to(&self, paths: &[PathBuf]) -> anyhow::Result<()> {
        for path in paths {
            let bytes = if path.extension().is_some_and(|it| it == "png") { self.png()? } else { self.svg() };
            write_file(path, &bytes).with_context(|| path.display().to_string())?;
        }
        Ok(())
    }

    pub(crate) fn svg(&self) -> Vec<u8> {
        svg::write(&self.draw()).into_bytes()
    }

    pub(crate) fn png(&self) -> anyhow::Result<Vec<u8>> {
        png::write(&self.draw())
    }
}
