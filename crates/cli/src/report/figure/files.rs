//! Figures as files.

use super::{Drawing, Figure, png, svg};
use crate::args::FigureFiles;
use anyhow::Context;
use gambeson_lowrank::file::write_file;
use std::path::PathBuf;

impl Figure {
    /// Writes the files asked for on the command line.
    pub(crate) fn write(&self, files: &FigureFiles) -> anyhow::Result<()> {
        self.draw().write(files.paths())
    }
}

impl Drawing {
    /// Writes files; the ending of each says as what.
    pub(crate) fn write(&self, paths: &[PathBuf]) -> anyhow::Result<()> {
        for path in paths {
            let bytes =
                if path.extension().is_some_and(|it| it == "png") { self.png()? } else { self.svg()? };
            write_file(path, &bytes).with_context(|| path.display().to_string())?;
        }
        Ok(())
    }

    pub(crate) fn svg(&self) -> anyhow::Result<Vec<u8>> {
        Ok(svg::write(self)?.into_bytes())
    }

    pub(crate) fn png(&self) -> anyhow::Result<Vec<u8>> {
        png::write(self)
    }
}
