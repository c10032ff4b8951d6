//! A run of the program on the way from a spec to a table.

use crate::error::RunError;
use crate::plan::Planned;
use crate::program::{Called, Caller};
use crate::record::Record;
use gambeson_learn::train::TrainSpec;
use gambeson_learn::train::run::NETWORK;
use gambeson_learn::train::setup::PROJECTION;
use gambeson_learn::train::spec::Basis;
use gambeson_lowrank::file::{sha256, write_file};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Values of an image of CIFAR.
const DIMENSION: usize = 3 * 32 * 32;

/// A network to train.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    pub(crate) label: String,
    pub(crate) spec: TrainSpec,
    /// Whether its certified inputs are attacked.
    #[serde(default)]
    pub(crate) attacked: bool,
}

impl Entry {
    /// Its spec's name among all: a few digits of a hash.
    fn digits(&self) -> String {
        sha256(self.spec.to_toml().as_bytes()).chars().take(10).collect()
    }

    /// Whether its projection works in pixels.
    fn has_pixel_basis(&self) -> bool {
        let fit = self.spec.projection.as_ref().and_then(|projection| projection.fit);
        fit.is_some_and(|fit| fit.basis == Basis::Pixel)
    }

    /// The folder of its run.
    pub(crate) fn folder(&self, runs: &Path) -> PathBuf {
        runs.join(self.digits())
    }
}

/// What a run does.
#[derive(Clone, Debug)]
pub(crate) enum Work {
    Train,
    /// Words beside model, data, noise and projection.
    Certify(Vec<String>),
    /// Norm, and radii.
    Analyze(&'static str, Vec<f64>),
    /// At certified radii in this norm.
    Challenge(&'static str),
    /// Words beside model, data and projection.
    Attack(Vec<String>),
    /// All words of an attack without a network.
    Sparse(Vec<String>),
}

impl Work {
    fn name(&self) -> String {
        match self {
            Self::Train => "train".to_owned(),
            Self::Certify(_) => "certify".to_owned(),
            Self::Analyze(norm, _) => format!("analyze {norm}"),
            Self::Challenge(norm) => format!("challenge {norm}"),
            Self::Attack(_) => "attack".to_owned(),
            Self::Sparse(_) => "sparse".to_owned(),
        }
    }
}

/// What a record is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StageCase {
    pub(crate) network: String,
    pub(crate) stage: String,
}

/// A planned run.
pub(crate) struct Stage<'a> {
    pub(crate) entry: Option<&'a Entry>,
    pub(crate) label: String,
    pub(crate) work: Work,
    /// The run that it builds on, in the plan: of training, or of certification.
    pub(crate) after: Option<usize>,
    /// How inputs are certified, in the names of files.
    sampling: String,
    runs: PathBuf,
}

/// What a run printed, under a key of its own: it may have any names in it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StageOutput {
    pub(crate) printed: Value,
}

pub(crate) type StageRecord = Record<StageCase, StageOutput>;

impl<'a> Stage<'a> {
    pub(crate) fn of_network(entry: &'a Entry, work: Work, after: Option<usize>, runs: &Path) -> Self {
        let (label, sampling) = (entry.label.clone(), String::new());
        Self { entry: Some(entry), label, work, after, sampling, runs: runs.to_path_buf() }
    }

    /// The same for records of inputs certified in this way.
    pub(crate) fn sampled(self, sampling: &[String]) -> Self {
        let digits: String = sha256(sampling.join(" ").as_bytes()).chars().take(6).collect();
        Self { sampling: digits, ..self }
    }

    pub(crate) fn alone(label: String, work: Work) -> Self {
        Self { entry: None, label, work, after: None, sampling: String::new(), runs: PathBuf::new() }
    }

    /// A word as the program is given it: what is in the folder of runs, by the folder's own name, which need not be text.
    fn place(&self, word: &str) -> OsString {
        let folder = self.runs.as_os_str();
        match word.strip_prefix(&*folder.to_string_lossy()).filter(|_| !folder.is_empty()) {
            Some(rest) => [folder, rest.as_ref()].join(OsStr::new("")),
            None => word.into(),
        }
    }

    fn spec_path(&self, entry: &Entry) -> PathBuf {
        self.runs.join(format!("{}.toml", entry.digits()))
    }
}

impl std::fmt::Display for Stage<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.label, self.work.name())
    }
}

/// Words of a command line.
fn words(all: &[&str]) -> Vec<String> {
    all.iter().map(|&word| word.to_owned()).collect()
}

impl Planned for Stage<'_> {
    const TIMES: bool = false;

    type Case = StageCase;
    type Output = StageOutput;

    fn case(&self) -> StageCase {
        StageCase { network: self.label.clone(), stage: self.work.name() }
    }

    fn label(&self) -> &str {
        &self.label
    }

    fn needs(&self) -> Option<usize> {
        self.after
    }

    fn arguments(&self, needed: Option<&StageRecord>) -> Vec<String> {
        let Some(entry) = self.entry else {
            return match &self.work {
                Work::Sparse(all) => all.clone(),
                _ => Vec::new(), // everything else has a network
            };
        };
        let folder = entry.folder(&self.runs);
        let at = |name: &str| folder.join(name).display().to_string();
        // Training prints the level; certification was given it.
        let given = |record: &StageRecord| {
            let at = record.arguments.iter().position(|word| word == "--sigma")?;
            record.arguments.get(at + 1).cloned()
        };
        let printed =
            |record: &StageRecord| record.output.printed["sigma"].as_f64().map(|sigma| sigma.to_string());
        let sigma = needed.and_then(|record| printed(record).or_else(|| given(record))).unwrap_or_default();
        let mut model = words(&["--model", &at(NETWORK), "--data", &entry.spec.data.name]);
        if entry.spec.projection.is_some() {
            model.extend(words(&["--projection", &at(PROJECTION)]));
        }
        let records = at(&format!("certified-{}.jsonl", self.sampling));
        let mut all = match &self.work {
            Work::Train => words(&[
                "train",
                &self.spec_path(entry).display().to_string(),
                "--out",
                &folder.display().to_string(),
            ]),
            Work::Certify(more) => {
                let mut all = words(&["certify", "--sigma", &sigma, "--out", &records]);
                all.extend(model);
                all.extend(more.iter().cloned());
                all
            }
            Work::Analyze(norm, radii) => {
                let radii: Vec<String> = radii.iter().map(ToString::to_string).collect();
                let mut all = words(&["analyze", &records, "--norm", norm, "--radii", &radii.join(",")]);
                // Radii of pixels are none of cosine coefficients; by the dimension they hold in any orthonormal basis.
                if *norm == "linf" && entry.has_pixel_basis() {
                    all.extend(words(&["--by-dimension", &DIMENSION.to_string()]));
                }
                all
            }
            Work::Challenge(norm) => {
                let mut all = words(&["attack", "--sigma", &sigma, "--certified", &records, "--norm", norm]);
                all.extend(model);
                all
            }
            Work::Attack(more) => {
                let mut all = words(&["attack"]);
                all.extend(model);
                all.extend(more.iter().cloned());
                all
            }
            Work::Sparse(all) => all.clone(),
        };
        all.push("--json".to_owned());
        all
    }

    fn as_asked(&self, record: &StageRecord) -> bool {
        record.exit == 0
    }

    fn call(
        &self,
        arguments: &[String],
        caller: &Caller<'_>,
    ) -> Result<Option<Called<StageOutput>>, RunError> {
        if let (Work::Train, Some(entry)) = (&self.work, self.entry) {
            std::fs::create_dir_all(&self.runs)
                .map_err(|reason| RunError::File { path: self.runs.clone(), reason })?;
            let path = self.spec_path(entry);
            write_file(&path, entry.spec.to_toml().as_bytes())
                .map_err(|reason| RunError::File { path, reason })?;
        }
        let called = caller.call(arguments.iter().map(|word| self.place(word)).collect())?;
        Ok(called.map(|Called { exit, seconds_wall, printed }| Called {
            exit,
            seconds_wall,
            printed: StageOutput { printed },
        }))
    }
}
