//! Runs as they are read: logs with their records, folders of training, names and colours, and what went wrong.

use super::find::Found;
use super::params::ReportParams;
use crate::analyze::distinct_ends;
use crate::context::Context;
use crate::error::report::ReportError;
use gambeson_learn::train::TrainSpec;
use gambeson_learn::train::run::{METRICS, Metrics, NETWORK, SPEC};
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::file::{broken_off, sha256};
use gambeson_report::page::RunLabel;
use gambeson_report::text::shown;
use gambeson_smooth::analysis::{Dialect, LoggedRun, Settings, read_logs};
use gambeson_smooth::record::{Record, Recorded};
use std::path::{Path, PathBuf};

/// How a line of metrics begins.
const METRICS_START: &[u8] = b"{\"epoch\":";
/// How the names of records in a folder of training begin: there the folder names the run.
const USUAL: &str = "certified";

/// Everything that was read.
#[derive(Debug, Default)]
pub(super) struct Sources {
    pub(super) certified: Vec<CertifiedSource>,
    pub(super) trained: Vec<TrainedSource>,
    /// What was left out, and why.
    pub(super) problems: Vec<String>,
    /// What is worth knowing and leaves nothing out but what a kill broke off.
    pub(super) remarks: Vec<String>,
}

/// A run of certification.
#[derive(Debug)]
pub(super) struct CertifiedSource {
    pub(super) label: RunLabel,
    /// As `analyze` reads it.
    pub(super) logged: LoggedRun,
    /// With its counts, if they are our own records.
    pub(super) recorded: Option<Recorded<Record>>,
}

/// A folder of training.
#[derive(Debug)]
pub(super) struct TrainedSource {
    pub(super) label: RunLabel,
    pub(super) folder: PathBuf,
    /// As it is written.
    pub(super) spec_text: Option<String>,
    pub(super) spec: Option<TrainSpec>,
    pub(super) metrics: Vec<Metrics>,
    /// Hash of the network, if training came to its end.
    pub(super) network: Option<String>,
}

impl Sources {
    pub(super) fn read(
        context: &Context,
        runs: &[PathBuf],
        params: &ReportParams,
    ) -> Result<Self, ReportError> {
        if runs.is_empty() && !params.has_sections() {
            return Err(ReportError::NoRuns);
        }
        let found = Found::of(runs)?;
        let memory = context.memory_limit();
        let mut sources = Self { problems: params.problems.clone(), ..Self::default() };
        let logged = sources.read_logs(&found.logs, memory);
        let mut certified = Vec::new();
        for logged in logged {
            if context.is_interrupted() {
                return Err(ReportError::Stopped);
            }
            let recorded =
                (logged.dialect == Dialect::Records).then(|| Recorded::read(&logged.paths, memory));
            match recorded.transpose() {
                Ok(recorded) => certified.push((logged, recorded)),
                Err(error) => sources.problems.push(shown(&error.to_string())),
            }
        }
        let folders = found.trained;
        let trained: Vec<UnnamedFolder> =
            folders.iter().filter_map(|folder| sources.read_folder(folder.clone(), memory)).collect();
        if certified.is_empty() && trained.is_empty() && !params.has_sections() {
            return Err(ReportError::Nothing { problems: sources.problems });
        }
        sources.name(certified, trained, (&found.all, &folders), params)?;
        Ok(sources)
    }

    /// Those of the logs that can be read, shards merged; the others become problems.
    fn read_logs(&mut self, paths: &[PathBuf], memory: MemoryLimit) -> Vec<LoggedRun> {
        let settings = Settings { memory, ..Settings::default() };
        let runs = read_logs(paths, &settings).unwrap_or_else(|_| {
            let mut good: Vec<PathBuf> = Vec::new();
            for path in paths {
                // Together with those before: a file may contradict another.
                good.push(path.clone());
                if let Err(error) = read_logs(&good, &settings) {
                    self.problems.push(shown(&error.to_string()));
                    good.pop();
                }
            }
            read_logs(&good, &settings).unwrap_or_default() // read before
        });
        for (path, line) in runs.iter().flat_map(|run| &run.broken_off) {
            let path = path.display();
            self.remarks
                .push(shown(&format!("{path}, line {line}: broken off, left out; the run can go on")));
        }
        let (predictions, runs): (Vec<_>, Vec<_>) =
            runs.into_iter().partition(|run| run.dialect == Dialect::Predictions);
        for run in predictions {
            self.problems.push(shown(&format!("{}: predictions, which have no radii", run.name())));
        }
        runs
    }

    fn read_folder(&mut self, folder: PathBuf, memory: MemoryLimit) -> Option<UnnamedFolder> {
        let text = |name: &str| memory.read_file(&folder.join(name)).ok();
        let spec_text = text(SPEC).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let spec = match spec_text.as_deref().map(|text| TrainSpec::parse(text, &[])) {
            Some(Err(error)) => {
                self.problems.push(shown(&format!("{}: {error}", folder.join(SPEC).display())));
                None
            }
            Some(Ok(spec)) => Some(spec),
            None => None,
        };
        let metrics =
            text(METRICS).map(|bytes| self.read_metrics(&folder.join(METRICS), &bytes)).unwrap_or_default();
        let network = text(NETWORK).map(|bytes| sha256(&bytes));
        (spec.is_some() || !metrics.is_empty()).then_some(UnnamedFolder {
            folder,
            spec_text,
            spec,
            metrics,
            network,
        })
    }

    /// The epochs of a file, up to the first line that is none.
    fn read_metrics(&mut self, path: &Path, bytes: &[u8]) -> Vec<Metrics> {
        let mut metrics = Vec::new();
        for (at, line) in bytes.split_inclusive(|&byte| byte == b'\n').enumerate() {
            if line.trim_ascii().is_empty() {
                continue;
            }
            match serde_json::from_slice(line) {
                Ok(epoch) => metrics.push(epoch),
                Err(error) => {
                    let (path, line_number) = (path.display(), at + 1);
                    if broken_off(line, METRICS_START) {
                        self.remarks
                            .push(shown(&format!("{path}, line {line_number}: broken off, left out")));
                    } else {
                        self.problems.push(shown(&format!("{path}, line {line_number}: no epoch: {error}")));
                    }
                    break;
                }
            }
        }
        metrics
    }

    /// Gives every run a name of its own and a colour. A folder of training and the records in it are one run. Names belong to
    /// paths as they were found, whatever could be read of them.
    fn name(
        &mut self,
        certified: Vec<(LoggedRun, Option<Recorded<Record>>)>,
        trained: Vec<UnnamedFolder>,
        (all, folders): (&[PathBuf], &[PathBuf]),
        params: &ReportParams,
    ) -> Result<(), ReportError> {
        let place = |path: &Path| {
            let name = params.names.iter().find(|name| name.paths.iter().any(|own| own == path));
            let origin = || if folders.iter().any(|own| own == path) { named(path) } else { origin(path) };
            name.and_then(|name| name.paths.first().cloned()).unwrap_or_else(origin)
        };
        // Further shards of a run have no name of their own.
        let shards: Vec<&PathBuf> = certified.iter().flat_map(|(run, _)| run.paths.iter().skip(1)).collect();
        let mut places: Vec<PathBuf> = Vec::new();
        for place in all.iter().filter(|path| !shards.contains(path)).map(|path| place(path)) {
            if !places.contains(&place) {
                places.push(place);
            }
        }
        let given = &params.labels;
        if !given.is_empty() && given.len() != places.len() {
            return Err(ReportError::Labels { labels: given.len(), runs: places.len() });
        }
        let labels = if given.is_empty() { distinct_ends(&places) } else { given.clone() };
        let label = |path: &Path| {
            let place = place(path);
            let style = places.iter().position(|known| *known == place).unwrap_or(places.len());
            let by_path = params.names.iter().find(|name| name.paths.first() == Some(&place));
            let label = by_path.map(|name| &name.label).or_else(|| labels.get(style));
            RunLabel { label: shown(label.map_or("", String::as_str)), style }
        };
        let one = |(logged, recorded): (LoggedRun, Option<Recorded<Record>>)| {
            let label = label(logged.paths.first().map_or(Path::new(""), PathBuf::as_path));
            CertifiedSource { label, logged, recorded }
        };
        self.certified = certified.into_iter().map(one).collect();
        let one = |UnnamedFolder { folder, spec_text, spec, metrics, network }| TrainedSource {
            label: label(&folder),
            folder,
            spec_text,
            spec,
            metrics,
            network,
        };
        self.trained = trained.into_iter().map(one).collect();
        Ok(())
    }
}

/// A folder of training before all are known.
struct UnnamedFolder {
    folder: PathBuf,
    spec_text: Option<String>,
    spec: Option<TrainSpec>,
    metrics: Vec<Metrics>,
    network: Option<String>,
}

/// The path that names a log: without its extension, and without the name that says nothing.
fn origin(path: &Path) -> PathBuf {
    let ending = path.extension().and_then(std::ffi::OsStr::to_str).unwrap_or_default();
    // The .25 of sigma_0.25 is not an extension.
    let whole = ending.chars().all(|letter| letter.is_ascii_digit());
    if path.file_stem().is_some_and(|stem| stem == USUAL) || is_alone(path) {
        return named(path.parent().unwrap_or(Path::new("")));
    }
    if whole { path.to_path_buf() } else { path.with_extension("") }
}

/// Whether these are the only records beside a spec, of a name such as `certified-1a2b3c.jsonl`.
fn is_alone(path: &Path) -> bool {
    let is_usual = |path: &Path| {
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        stem.starts_with(USUAL) && path.extension().is_some_and(|ending| ending == "jsonl")
    };
    let Some(folder) = path.parent().filter(|folder| folder.join(SPEC).exists()) else { return false };
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    is_usual(path) && files.filter(|file| is_usual(&file.path())).count() == 1
}

/// A folder by a path that ends in its name.
fn named(folder: &Path) -> PathBuf {
    let own = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let ends_in_name = own.file_name().is_some();
    if ends_in_name { own.to_path_buf() } else { own.canonicalize().unwrap_or_else(|_| own.to_path_buf()) }
}
