//! Why a figure was not drawn.

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
