//! What the runs are that were named: folders of training, files of records, logs of other programs.

use crate::error::report::ReportError;
use gambeson_learn::train::run::{METRICS, NETWORK, SPEC};
use gambeson_smooth::analysis::find_logs;
use gambeson_smooth::record::is_certification;
use std::path::{Path, PathBuf};

/// What was found, each once, in the order in which it was named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// Folders of training.
    pub(super) trained: Vec<PathBuf>,
    /// Files of records, and other logs.
    pub(super) logs: Vec<PathBuf>,
    /// Both, in the order in which they were found.
    pub(super) all: Vec<PathBuf>,
}

/// The files that a report on these runs reads, as far as they can be told beforehand.
pub fn report_files(runs: &[PathBuf]) -> Vec<PathBuf> {
    let found = Found::of(runs).unwrap_or_default(); // what cannot be found is refused later
    let own = |folder: &PathBuf| [SPEC, METRICS, NETWORK].map(|name| folder.join(name));
    found.trained.iter().flat_map(own).chain(found.logs.iter().cloned()).collect()
}

impl Found {
    /// Folders are searched whole, hidden files left out. Where they hold nothing of ours, every file in them is a log.
    pub(super) fn of(runs: &[PathBuf]) -> Result<Self, ReportError> {
        let mut found = Self::default();
        for run in runs {
            let pattern = run.to_string_lossy().contains(['*', '?']) && !run.exists();
            if !pattern && !run.exists() {
                return Err(ReportError::Missing { path: run.clone() });
            }
            if run.is_dir() {
                found.add_folder(run)?;
            } else if run.is_file() && is_trained(run) {
                found.add_trained(run);
            } else {
                find_logs(std::slice::from_ref(run))?.into_iter().for_each(|path| found.add_log(path));
            }
        }
        Ok(found)
    }

    fn add_folder(&mut self, folder: &Path) -> Result<(), ReportError> {
        let files = find_logs(&[folder.to_path_buf()])?;
        let is_own = |path: &&PathBuf| is_certification(path);
        let mut any = false;
        for trained in files.iter().filter(|path| is_trained(path)) {
            any = true;
            self.add_trained(trained);
        }
        for record in files.iter().filter(is_own) {
            any = true;
            self.add_log(record.clone());
        }
        if !any {
            files.into_iter().for_each(|path| self.add_log(path));
        }
        Ok(())
    }

    fn add_log(&mut self, path: PathBuf) {
        if !self.logs.contains(&path) {
            self.all.push(path.clone());
            self.logs.push(path);
        }
    }

    /// The folder of a spec or of metrics.
    fn add_trained(&mut self, path: &Path) {
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        if !self.trained.contains(&folder) {
            self.all.push(folder.clone());
            self.trained.push(folder);
        }
    }
}

/// Whether a file tells of training: its folder is a run.
fn is_trained(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == METRICS || name == SPEC)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_give_what_they_hold() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        for name in ["run/a", "run/b", "logs", "empty"] {
            std::fs::create_dir_all(at(name)).expect("a folder");
        }
        for (name, text) in [
            ("run/a/spec.toml", "seed = 0"),
            ("run/a/metrics.jsonl", "{}"),
            ("run/a/certified.jsonl", "{\"gambeson\":\"certification\",\"version\":3"),
            ("run/a/.hidden.jsonl", "{\"gambeson\":\"certification\",\"version\":3"),
            ("run/b/notes.txt", "nothing of ours"),
            ("logs/one.tsv", "idx\tlabel"),
        ] {
            std::fs::write(at(name), text).expect("written");
        }
        let found = |names: &[&str]| Found::of(&names.iter().map(|name| at(name)).collect::<Vec<_>>());
        let run = found(&["run", "run/a"]).expect("found");
        assert_eq!((run.trained, run.logs), (vec![at("run/a")], vec![at("run/a/certified.jsonl")]));
        assert_eq!(found(&["logs"]).expect("found").logs, [at("logs/one.tsv")]);
        assert_eq!(found(&["logs/*.tsv"]).expect("found").logs, [at("logs/one.tsv")]);
        assert!(matches!(found(&["missing"]), Err(ReportError::Missing { .. })));
        assert!(matches!(found(&["empty"]), Err(ReportError::Find(_))));
        assert!(matches!(found(&["*.csv"]), Err(ReportError::Find(_))));
    }
}
