//! Data sets from their servers.

use super::params::data_folder;
use crate::context::Context;
use crate::error::Error;
use crate::event::Event;
use crate::lossy::lossy;
use gambeson_data::error::FailedProvider;
use gambeson_data::fetch::{self, Fetched, Provider};
use gambeson_data::format::cifar::Cifar;
use serde::Serialize;
use std::path::PathBuf;

/// Parameters of [`fetch_data`].
#[derive(Clone, Debug, Default)]
pub struct FetchParams {
    /// Where the set may come from, in order; the usual providers if `None`.
    pub providers: Option<Vec<Provider>>,
    /// Where to install it: `$GAMBESON_DATA`, or the data directory of the platform, if `None`.
    pub folder: Option<PathBuf>,
}

/// A set that is installed; serialises to what `data fetch --json` prints.
#[derive(Debug, Serialize)]
pub struct FetchedData {
    /// Whether it was fetched now. If not, it was there already.
    pub fetched: bool,
    /// Where it is.
    #[serde(serialize_with = "lossy")]
    pub folder: PathBuf,
    /// Its name.
    pub name: &'static str,
    /// Whether the SHA-256 of every file is right; without that there is no result.
    pub verified: bool,
    /// The provider that had it.
    #[serde(skip)]
    pub provider: Option<String>,
    /// Those that were tried before in vain.
    #[serde(skip)]
    pub failures: Vec<FailedProvider>,
}

/// Installs CIFAR-10 or CIFAR-100, unless it is there. Every file is verified by SHA-256.
///
/// An interrupt ends in an error for which [`Error::is_stopped`] holds. The same call goes on with the download.
pub fn fetch_data(context: &Context, set: Cifar, params: &FetchParams) -> Result<FetchedData, Error> {
    let data_dir = data_folder(params.folder.as_deref())?;
    let providers = params.providers.clone().unwrap_or_else(|| Provider::by_default(set));
    context.run(|| {
        let mut observer = context.watch(|step| Event::Load(step));
        let name = set.name();
        if fetch::is_installed(set, &data_dir, &mut observer)? {
            let folder = data_dir.join(name);
            let (provider, failures) = (None, Vec::new());
            return Ok(FetchedData { fetched: false, folder, name, verified: true, provider, failures });
        }
        let Fetched { folder, provider, failures } = fetch::fetch(set, &providers, &data_dir, &mut observer)?;
        Ok(FetchedData { fetched: true, folder, name, verified: true, provider: Some(provider), failures })
    })
}
