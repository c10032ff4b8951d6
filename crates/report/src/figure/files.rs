//! Figures as files.

use super::error::FigureError;
use super::{Drawing, Figure, png, svg};
use gambeson_lowrank::file::write_file;
use std::path::PathBuf;

impl Figure {
    /// Draws and writes files; the ending of each says as what.
    pub fn write(&self, paths: &[PathBuf]) -> Result<(), FigureError> {
        self.draw().write(paths)
    }
}

impl Drawing {
    /// Writes files; the ending of each says as what.
    pub fn write(&self, paths: &[PathBuf]) -> Result<(), FigureError> {
        for path in paths {
            let bytes =
                if path.extension().is_some_and(|it| it == "png") { self.png()? } else { self.svg()? };
            write_file(path, &bytes).map_err(|reason| FigureError::File { path: path.clone(), reason })?;
        }
        Ok(())
    }

    /// As SVG.
    pub fn svg(&self) -> Result<Vec<u8>, FigureError> {
        Ok(svg::write(self)?.into_bytes())
    }

    /// As PNG.
    pub fn png(&self) -> Result<Vec<u8>, FigureError> {
        png::write(self)
    }
}
