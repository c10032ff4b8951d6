//! Data of the caller, stored under a name.

use super::params::{DataParams, data_folder};
use crate::context::Context;
use crate::error::Error;
use crate::event::Event;
use crate::lossy::lossy;
use gambeson_data::DataError;
use gambeson_data::dataset::{Shape, Split};
use gambeson_data::format::audio::FrameParams;
use gambeson_data::source::{self, FileChoice};
use gambeson_data::store;
use serde::Serialize;
use std::ffi::OsStr;
use std::path::PathBuf;

/// Parameters of [`import_data`].
#[derive(Clone, Debug, Default)]
pub struct ImportParams {
    /// Which part to store: both if the data have two and otherwise the training part, if `None`.
    pub split: Option<Split>,
    /// How sound is cut into frames; without meaning for images.
    pub frames: FrameParams,
    /// Which sound files of a folder to take; all if `None`.
    pub files: Option<FileChoice>,
    /// Where to store them: `$GAMBESON_DATA`, or the data directory of the platform, if `None`.
    pub folder: Option<PathBuf>,
    /// Whether a set of this name may be replaced.
    pub replace: bool,
}

/// A set that was stored; serialises to what `data import --json` prints.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ImportedData {
    /// Its name.
    pub name: String,
    /// Its parts.
    pub parts: Vec<ImportedPart>,
}

/// A part of a set that was stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ImportedPart {
    /// Its file.
    #[serde(serialize_with = "lossy")]
    pub path: PathBuf,
    /// Number of samples.
    pub samples: usize,
    /// Hash of the content.
    pub sha256: String,
    /// `train` or `test`.
    pub split: &'static str,
    /// Of a sample.
    #[serde(skip)]
    pub shape: Shape,
}

/// Reads data in any known format and stores them under a name.
///
/// All parts are read before the first is written, so that an error leaves none of them. An interrupt ends in an error for
/// which [`Error::is_stopped`] holds.
pub fn import_data(
    context: &Context,
    data: impl AsRef<OsStr>,
    name: &str,
    params: &ImportParams,
) -> Result<ImportedData, Error> {
    let (data, data_dir) = (data.as_ref(), data_folder(params.folder.as_deref())?);
    context.run(|| {
        if !store::is_name(name) {
            return Err(DataError::BadName { name: name.to_owned() }.into());
        }
        let source = source::find(data, &data_dir)?;
        let splits = match params.split {
            Some(split) => vec![split],
            None if source.has_parts() => vec![Split::Train, Split::Test],
            None => vec![Split::Train],
        };
        for &split in &splits {
            let path = store::path(&data_dir, name, split);
            if path.exists() && !params.replace {
                return Err(DataError::Exists { path }.into()); // rather than after long work
            }
        }
        let mut observer = context.watch(|step| Event::Load(step));
        let mut read = Vec::new();
        for split in splits {
            let ImportParams { frames, files, .. } = params;
            let (frames, files, folder) = (*frames, files.clone(), Some(data_dir.clone()));
            let options = DataParams { split, frames, files, folder }.options(context)?;
            read.push((split, source.load(&options, &mut observer)?));
        }
        let mut parts = Vec::new();
        for (split, data) in read {
            let path = store::save(&data, &data_dir, name, split, params.replace, &mut observer)?;
            parts.push(ImportedPart {
                path,
                samples: data.len(),
                sha256: data.sha256().to_owned(),
                split: split.name(),
                shape: data.shape(),
            });
        }
        Ok(ImportedData { name: name.to_owned(), parts })
    })
}
