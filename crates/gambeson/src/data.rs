//! Data sets.

use crate::context::Context;
use crate::error::Error;
use crate::event::Event;
use gambeson_data::dataset::{Dataset, Split};
use gambeson_data::format::audio::FrameParams;
use gambeson_data::source::{self, FileChoice, LoadOptions};
use std::ffi::OsStr;
use std::path::PathBuf;

/// Parameters of [`open_data`].
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
    pub(crate) fn options(&self, context: &Context) -> Result<LoadOptions, Error> {
        let folder = self.folder.clone().or_else(source::data_dir).ok_or(Error::NoDataFolder)?;
        let (split, frames, files) = (self.split, self.frames, self.files.clone());
        Ok(LoadOptions { split, frames, files, memory: context.memory_limit(), ..LoadOptions::new(folder) })
    }
}

/// Opens a data set: `fashion`, which is built in; an installed or imported set by its name; or a file or folder of
/// images, arrays or sound.
pub fn open_data(context: &Context, name: impl AsRef<OsStr>, params: &DataParams) -> Result<Dataset, Error> {
    let (name, options) = (name.as_ref(), params.options(context)?);
    context.run(|| Ok(source::load(name, &options, &mut context.watch(|step| Event::Load(step)))?))
}
