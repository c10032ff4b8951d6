//! The data that runs are about, where they can be opened: content counts, not names.

use super::params::ReportParams;
use super::sources::{CertifiedSource, Sources};
use crate::context::Context;
use crate::data::{DataParams, open_data};
use crate::error::analyze::AnalyzeError;
use gambeson_data::dataset::{Dataset, Split};
use gambeson_learn::inputs::data_parts;
use gambeson_report::text::shown;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

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
    pub(super) data: Arc<Dataset>,
    /// What opens them.
    pub(super) name: OsString,
    pub(super) split: Split,
}

impl FoundData {
    /// What a run says that the data contradict: its inputs have another number of coordinates. Radii in ℓ∞ without a
    /// projection rest on that number.
    pub(super) fn contradiction(&self, run: &CertifiedSource) -> Option<String> {
        let (recorded, found) = (run.recorded.as_ref()?.run().dimension, self.data.shape().len() as u64);
        let data = shown(run.logged.data.as_deref().unwrap_or_default());
        let error = AnalyzeError::Coordinates { log: run.logged.name(), data, recorded, found };
        (recorded != found).then(|| shown(&error.to_string()))
    }
}

/// Opens the data of all runs, each once; and says which of those that were named are no use.
pub(super) fn open_all(
    context: &Context,
    sources: &Sources,
    params: &ReportParams,
) -> (Vec<NamedData>, Vec<String>) {
    let mut library = Library { context, folder: params.data_folder.clone(), tried: Vec::new() };
    let mut problems = Vec::new();
    for name in &params.data {
        let opened = [Split::Test, Split::Train].map(|split| library.open(name, split).map(|_| ()));
        if let [Err(error), Err(_)] = opened {
            problems.push(format!("{}: {error}", shown(&name.to_string_lossy())));
        }
    }
    let mut named: Vec<NamedData> = Vec::new();
    for run in &sources.certified {
        let Some(recorded) = run.logged.data.clone() else { continue };
        let (name, hash) = data_parts(&recorded);
        if named.iter().all(|known| data_parts(&known.recorded).1 != hash) {
            let specs = sources.trained.iter().filter_map(|run| run.spec.as_ref());
            let specs = specs.flat_map(|spec| meant(&spec.data.name));
            let names = params.data.iter().cloned().chain(specs).chain(meant(name)).collect();
            let found = library.find(hash, names);
            named.push(NamedData { recorded, found });
        }
    }
    (named, problems)
}

/// What the name of data in records or in a spec may be opened by. A name from a file is no path: it must not make anybody
/// read one.
pub(super) fn meant(name: &str) -> impl Iterator<Item = OsString> + use<> {
    let without_part = name.strip_suffix("-test").or_else(|| name.strip_suffix("-train")).unwrap_or(name);
    let is_plain = |name: &&str| !name.contains(['/', '\\']) && !name.starts_with('.');
    let names: Vec<OsString> =
        [without_part, name].into_iter().filter(is_plain).map(OsString::from).collect();
    names.into_iter()
}

/// Data that were opened before, with the names that open them.
struct Library<'a> {
    context: &'a Context,
    folder: Option<PathBuf>,
    tried: Vec<(OsString, Split, Result<Arc<Dataset>, String>)>,
}

impl Library<'_> {
    fn open(&mut self, name: &OsString, split: Split) -> Result<Arc<Dataset>, String> {
        if let Some((.., known)) = self.tried.iter().find(|(own, part, _)| own == name && *part == split) {
            return known.clone();
        }
        let params = DataParams { split, folder: self.folder.clone(), ..DataParams::default() };
        let opened =
            open_data(self.context, name, &params).map(Arc::new).map_err(|error| shown(&error.to_string()));
        self.tried.push((name.clone(), split, opened.clone()));
        opened
    }

    /// The data with a hash, by the first of the names that opens them; or why none does.
    fn find(&mut self, hash: &str, names: Vec<OsString>) -> Result<FoundData, String> {
        let (mut other, mut failed) = (None, None);
        for name in names {
            for split in [Split::Test, Split::Train] {
                match self.open(&name, split) {
                    Ok(data) if data.sha256() == hash => return Ok(FoundData { data, name, split }),
                    Ok(data) => {
                        other.get_or_insert_with(|| {
                            format!("{} has other content, sha256:{}", shown(data.name()), data.sha256())
                        });
                    }
                    Err(error) => {
                        failed.get_or_insert(error);
                    }
                }
            }
        }
        Err(other.or(failed).unwrap_or_else(|| "no data of that name are known".to_owned()))
    }
}
