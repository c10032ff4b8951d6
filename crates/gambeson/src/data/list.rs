//! The data sets that are known by name.

use super::params::data_folder;
use crate::context::Context;
use crate::error::Error;
use crate::lossy::lossy;
use gambeson_data::dataset::Split;
use gambeson_data::format::cifar::Cifar;
use gambeson_data::store;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The data sets that are known by name; serialises to what `data info --json` prints without a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DataList {
    /// Where installed and imported sets live.
    #[serde(serialize_with = "lossy")]
    pub data_dir: PathBuf,
    /// The built-in set, those that can be fetched, and those that were imported.
    pub sets: Vec<ListedData>,
}

/// A data set that is known by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ListedData {
    /// Its name.
    pub name: String,
    /// The parts that are there: `train`, `test`.
    pub parts: Vec<&'static str>,
    /// Whether it is there.
    pub state: DataState,
}

/// Whether a data set is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DataState {
    /// Part of the library.
    BuiltIn,
    /// Fetched.
    Installed,
    /// To be fetched.
    NotInstalled,
    /// Imported.
    Imported,
}

/// Lists the data sets that are known by name, in `folder` or in the usual folder for data.
pub fn list_data(context: &Context, folder: Option<&Path>) -> Result<DataList, Error> {
    let data_dir = data_folder(folder)?;
    context.run(|| {
        let both = || vec![Split::Train.name(), Split::Test.name()];
        let mut sets =
            vec![ListedData { name: "fashion".to_owned(), parts: both(), state: DataState::BuiltIn }];
        for set in [Cifar::Ten, Cifar::Hundred] {
            let there = Cifar::in_folder(&data_dir.join(set.name())) == Some(set);
            let (state, parts) =
                if there { (DataState::Installed, both()) } else { (DataState::NotInstalled, Vec::new()) };
            sets.push(ListedData { name: set.name().to_owned(), parts, state });
        }
        for (name, parts) in store::list(&data_dir) {
            let parts = parts.into_iter().map(Split::name).collect();
            sets.push(ListedData { name, parts, state: DataState::Imported });
        }
        Ok(DataList { data_dir, sets })
    })
}
