//! Which data are read, and how.

use crate::context::Context;
use crate::error::Error;
use gambeson_data::dataset::Split;
use gambeson_data::format::audio::FrameParams;
use gambeson_data::source::{self, FileChoice, LoadOptions};
use std::path::{Path, PathBuf};

/// Parameters of [`open_data`](crate::open_data).
#[derive(Clone, Debug)]
pub struct DataParams {
    /// Which part, of sets that have two.
    pub split: Split,
    /// How sound is cut into frames; without meaning for images.
    pub frames: FrameParams,
    /// Which sound files of a folder to take; all if `None`.
    pub files: Option<FileChoice>,
    /// Where installed and imported sets live: `$GAMBESON_DATA`, or the data directory of the platform, if `None`.
    pub folder: Option<PathBuf>,
}

impl Default for DataParams {
    /// The test part.
    fn default() -> Self {
        Self { split: Split::Test, frames: FrameParams::default(), files: None, folder: None }
    }
}

impl DataParams {
    /// The training part.
    pub fn train() -> Self {
        Self { split: Split::Train, ..Self::default() }
    }

    /// As the library for data takes them.
    pub(super) fn options(&self, context: &Context) -> Result<LoadOptions, Error> {
        let folder = data_folder(self.folder.as_deref())?;
        let (split, frames, files) = (self.split, self.frames, self.files.clone());
        Ok(LoadOptions { split, frames, files, memory: context.memory_limit(), ..LoadOptions::new(folder) })
    }
}

/// The folder given, or the usual one.
pub(crate) fn data_folder(given: Option<&Path>) -> Result<PathBuf, Error> {
    given.map(Path::to_path_buf).or_else(source::data_dir).ok_or(Error::NoDataFolder)
}
