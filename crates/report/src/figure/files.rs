//! Figures as files.

use super::{Drawing, Figure, png, svg};
use gambeson_lowrank::file::write_file;
use std::path::PathBuf;

/// Why a figure was not drawn.
#[derive(Debug, thiserror::Error)]
pub enum FigureError {
    /// The font that is built in cannot be read.
    #[error("the built-in font cannot be read")]
    Font,
    /// No pixels, or more than fit into memory.
    #[error("the figure or a picture in it is empty or too large")]
    Size,
    /// The encoder failed.
    #[error("the figure cannot be encoded as PNG: {0}")]
    Encoding(String),
    /// A file was not written.
    #[error("{}: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: std::io::Error,
    },
}

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
