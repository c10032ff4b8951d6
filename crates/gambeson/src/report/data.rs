//! The data that runs are about, where they can be opened: content counts, not names.

use super::params::ReportParams;
use super::sources::Sources;
use crate::context::Context;
use crate::data::{DataParams, open_data};
use gambeson_data::dataset::{Dataset, Split};
use gambeson_report::text::shown;
use std::ffi::OsString;

/// Data as runs name them, and what was found.
#[derive(Debug)]
pub(super) struct NamedData {
    /// As the records have it: a name and a hash.
    pub(super) recorded: String,
    /// The data, or why there are none.
    pub(super) found: Result<FoundData, String>,
}

/// Data with the hash that records name.
#[derive(Debug)]
pub(super) struct FoundData {
    pub(super) data: Dataset,
    /// What opens them.
    pub(super) name: OsString,
    pub(super) split: Split,
}

/// The hash behind the name of data.
pub(super) fn hash_of(recorded: &str) -> &str {
    recorded.rsplit("sha256:").next().unwrap_or_default()
}

/// The name of data without the hash behind it.
pub(super) fn name_of(recorded: &str) -> &str {
    recorded.rsplit_once(" sha256:").map_or(recorded, |(name, _)| name)
}

/// Opens the data of all runs, each once.
pub(super) fn open_all(context: &Context, sources: &Sources, params: &ReportParams) -> Vec<NamedData> {
    let mut named: Vec<NamedData> = Vec::new();
    for run in &sources.certified {
        let Some(recorded) = run.logged.data.clone() else { continue };
        if named.iter().all(|known| hash_of(&known.recorded) != hash_of(&recorded)) {
            let specs = sources.trained.iter().filter_map(|run| run.spec.as_ref());
            let specs = specs.map(|spec| OsString::from(&spec.data.name));
            let found = open(context, &recorded, params.data.iter().cloned().chain(specs).collect(), params);
            named.push(NamedData { recorded, found });
        }
    }
    named
}

/// Tries the names given, then what the recorded name may mean.
fn open(
    context: &Context,
    recorded: &str,
    mut names: Vec<OsString>,
    params: &ReportParams,
) -> Result<FoundData, String> {
    let name = name_of(recorded);
    let without_part = name.strip_suffix("-test").or_else(|| name.strip_suffix("-train")).unwrap_or(name);
    // A name from a file is no path: it must not make anybody read one.
    let is_plain = |name: &str| !name.contains(['/', '\\']) && !name.starts_with('.');
    names.extend([without_part, name].into_iter().filter(|name| is_plain(name)).map(OsString::from));
    let mut seen: Vec<OsString> = Vec::new();
    names.retain(|name| {
        !seen.contains(name) && {
            seen.push(name.clone());
            true
        }
    });
    let splits =
        if name.ends_with("-train") { [Split::Train, Split::Test] } else { [Split::Test, Split::Train] };
    let mut other = None;
    let mut failed = None;
    for name in names {
        for split in splits {
            let folder = params.data_folder.clone();
            match open_data(context, &name, &DataParams { split, folder, ..DataParams::default() }) {
                Ok(data) if data.sha256() == hash_of(recorded) => return Ok(FoundData { data, name, split }),
                Ok(data) => {
                    other.get_or_insert_with(|| {
                        format!("{} has other content (sha256:{})", shown(data.name()), data.sha256())
                    });
                }
                Err(error) => {
                    failed.get_or_insert_with(|| shown(&error.to_string()));
                }
            }
        }
    }
    Err(other.or(failed).unwrap_or_else(|| "no data of that name are known".to_owned()))
}
