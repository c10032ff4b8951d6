//! Data sets: [`open_data`], [`list_data`] and [`describe_data`], [`fetch_data`] and [`import_data`].

mod fetch;
mod import;
mod info;
mod list;
mod params;

use crate::context::Context;
use crate::error::Error;
use crate::event::Event;
pub use fetch::{FetchParams, FetchedData, fetch_data};
pub use gambeson_data::DataError;
use gambeson_data::dataset::Dataset;
use gambeson_data::source;
pub use import::{ImportParams, ImportedData, ImportedPart, import_data};
pub use info::{ClassCount, DataInfo, describe_data};
pub use list::{DataList, DataState, ListedData, list_data};
pub use params::DataParams;
pub(crate) use params::data_folder;
use std::ffi::OsStr;

/// Opens a data set: `fashion`, which is built in; an installed or imported set by its name; or a file or folder of
/// images, arrays or sound.
pub fn open_data(context: &Context, name: impl AsRef<OsStr>, params: &DataParams) -> Result<Dataset, Error> {
    let (name, options) = (name.as_ref(), params.options(context)?);
    context.run(|| Ok(source::load(name, &options, &mut context.watch(|step| Event::Load(step)))?))
}
