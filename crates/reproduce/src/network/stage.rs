//! One run of the program between a spec and a table: training, certification, analysis, comparison, attack.
//!
//! In arguments and records the folder of runs is called `runs`, so that records stay valid when it moves.

use crate::error::RunError;
use crate::plan::{CertifyWork, NetworkWork, Planned};
use crate::program::{Called, Caller};
use crate::record::Record;
use gambeson_learn::attack::BallNorm;
use gambeson_learn::net::models::Model;
use gambeson_learn::train::TrainSpec;
use gambeson_learn::train::run::{METRICS, NETWORK, SPEC};
use gambeson_learn::train::setup::PROJECTION;
use gambeson_learn::train::spec::Basis;
use gambeson_lowrank::file::{sha256, write_file};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// The folder of runs in arguments and records.
const RUNS: &str = "runs";
/// Digits of a hash that name a run.
const DIGITS: usize = 10;

/// A network to train.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    /// Its name in panels and comparisons [default: the label].
    name: Option<String>,
    pub(crate) label: String,
    pub(crate) spec: TrainSpec,
    /// Its own sampling, in place of the experiment's.
    certify: Option<Sampling>,
    /// Whether its certified inputs are attacked.
    #[serde(default)]
    pub(crate) attacked: bool,
}

impl Entry {
    pub(crate) fn name(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.label)
    }

    /// Its own sampling, or the experiment's.
    pub(crate) fn sampling(&self, others: Sampling) -> Sampling {
        self.certify.unwrap_or(others)
    }

    /// The usual name of its data.
    pub(crate) fn data(&self) -> String {
        match self.spec.data.name.as_str() {
            "cifar10" => "CIFAR-10",
            "cifar100" => "CIFAR-100",
            "fashion" => "Fashion-MNIST",
            other => other,
        }
        .to_owned()
    }

    /// The network's shape in words.
    pub(crate) fn architecture(&self) -> String {
        match &self.spec.model {
            Model::ResNet { depth, width } => format!("ResNet-{depth} of width {width}"),
            Model::Cnn { width } => format!("a small convolutional network of width {width}"),
            Model::Mlp { hidden } => format!("a network with hidden layers of {hidden:?}"),
        }
    }

    /// Its spec's name among all: a few digits of a hash.
    pub(crate) fn digits(&self) -> String {
        sha256(self.spec.to_toml().as_bytes()).chars().take(DIGITS).collect()
    }

    /// Whether its projection works in pixels.
    fn has_pixel_basis(&self) -> bool {
        let fit = self.spec.projection.as_ref().and_then(|projection| projection.fit);
        fit.is_some_and(|fit| fit.basis == Basis::Pixel)
    }

    /// The folder of its run, as arguments name it.
    fn folder(&self) -> String {
        format!("{RUNS}/{}", self.digits())
    }

    /// Its certified inputs, as arguments name them.
    fn certified(&self, sampling: &Sampling) -> String {
        format!("{}/{}", self.folder(), sampling.file())
    }
}

/// Which inputs are certified, and how.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sampling {
    /// Interval between test inputs.
    pub(crate) every: usize,
    /// Counted draws per input.
    pub(crate) n: u64,
    pub(crate) alpha: f64,
}

impl Sampling {
    fn words(&self) -> Vec<String> {
        let [every, n, alpha] = [self.every.to_string(), self.n.to_string(), self.alpha.to_string()];
        ["--every", &every, "--n", &n, "--alpha", &alpha].map(ToOwned::to_owned).to_vec()
    }

    /// The name of the file of records.
    fn file(&self) -> String {
        let digits: String = sha256(self.words().join(" ").as_bytes()).chars().take(6).collect();
        format!("certified-{digits}.jsonl")
    }
}

/// What a run does.
#[derive(Clone, Debug)]
pub(crate) enum Work {
    Train,
    Certify(Sampling),
    /// Certified accuracy in this norm at these radii.
    Analyze(Sampling, BallNorm, Vec<f64>),
    /// The same of two networks, input by input; the second's name and certified inputs.
    Compare(Sampling, BallNorm, Vec<f64>, Second),
    /// An attack at certified radii in this norm.
    Challenge(Sampling, BallNorm),
    /// Words beside model, data and projection.
    Attack(Vec<String>),
    /// All words of an attack without a network.
    Sparse(Vec<String>),
}

/// The network that another is compared with.
#[derive(Clone, Debug)]
pub(crate) struct Second {
    name: String,
    certified: String,
}

impl Second {
    pub(crate) fn new(entry: &Entry, sampling: &Sampling) -> Self {
        Self { name: entry.name().to_owned(), certified: entry.certified(sampling) }
    }
}

impl Work {
    /// As records and messages have it.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Train => "train".to_owned(),
            Self::Certify(_) => "certify".to_owned(),
            Self::Analyze(_, norm, _) => format!("analyze {}", norm.name()),
            Self::Compare(_, norm, _, second) => comparison(*norm, &second.name),
            Self::Challenge(_, norm) => format!("challenge {}", norm.name()),
            Self::Attack(_) => "attack".to_owned(),
            Self::Sparse(_) => "sparse".to_owned(),
        }
    }
}

/// The stage that compares a network with another.
pub(crate) fn comparison(norm: BallNorm, second: &str) -> String {
    format!("compare {} with {second}", norm.name())
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
    /// Its name in records.
    pub(crate) label: String,
    pub(crate) work: Work,
    /// The runs that it builds on, in the plan: of training first, then of certification.
    after: Vec<usize>,
    folders: Folders,
}

/// Folders of runs and of results.
#[derive(Clone, Debug, Default)]
pub(crate) struct Folders {
    pub(crate) runs: PathBuf,
    pub(crate) results: PathBuf,
}

/// What a run printed, under a key of its own: it may have any names in it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StageOutput {
    pub(crate) printed: Value,
}

pub(crate) type StageRecord = Record<StageCase, StageOutput>;

impl<'a> Stage<'a> {
    pub(crate) fn of_network(entry: &'a Entry, work: Work, after: &[usize], folders: &Folders) -> Self {
        let label = entry.name().to_owned();
        Self { entry: Some(entry), label, work, after: after.to_vec(), folders: folders.clone() }
    }

    pub(crate) fn alone(label: String, work: Work) -> Self {
        Self { entry: None, label, work, after: Vec::new(), folders: Folders::default() }
    }

    /// A word with the real folder of runs, whose name need not be text.
    fn place(&self, word: &str) -> OsString {
        match word.strip_prefix(RUNS) {
            Some(rest) if is_run(rest) => [self.folders.runs.as_os_str(), rest.as_ref()].join(OsStr::new("")),
            _ => word.into(),
        }
    }

    /// The printed object, with the folder of runs called `runs`.
    fn without_places(&self, mut printed: Value) -> Value {
        let folder = self.folders.runs.to_string_lossy();
        for value in printed.as_object_mut().into_iter().flat_map(|all| all.values_mut()) {
            let inside = value
                .as_str()
                .and_then(|text| text.strip_prefix(&*folder))
                .filter(|rest| rest.starts_with('/'));
            if let Some(rest) = inside {
                *value = format!("{RUNS}{rest}").into();
            }
        }
        printed
    }

    /// The folder in the results for the copies of a network's files.
    fn kept(&self, entry: &Entry) -> PathBuf {
        self.folders.results.join("networks").join(entry.digits())
    }

    /// Copies spec, metrics and certification records of a network to the results.
    fn keep(&self, entry: &Entry, sampling: &Sampling) -> Result<(), RunError> {
        let folder = self.kept(entry);
        std::fs::create_dir_all(&folder).map_err(|reason| RunError::File { path: folder.clone(), reason })?;
        for name in [SPEC, METRICS, &sampling.file()] {
            let from = self.folders.runs.join(entry.digits()).join(name);
            let bytes = std::fs::read(&from).map_err(|reason| RunError::File { path: from, reason })?;
            let path = folder.join(name);
            write_file(&path, &bytes).map_err(|reason| RunError::File { path, reason })?;
        }
        Ok(())
    }
}

/// Whether the rest of a path names a run; other words stay as they are.
fn is_run(rest: &str) -> bool {
    let name = rest.strip_prefix('/').and_then(|name| name.get(..DIGITS));
    name.is_some_and(|name| name.bytes().all(|letter| letter.is_ascii_hexdigit()))
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

fn at_radii(norm: BallNorm, radii: &[f64]) -> Vec<String> {
    let radii: Vec<String> = radii.iter().map(ToString::to_string).collect();
    words(&["--norm", norm.name(), "--radii", &radii.join(",")])
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

    fn needs(&self) -> &[usize] {
        &self.after
    }

    fn arguments(&self, needed: &[&StageRecord]) -> Vec<String> {
        let Some(entry) = self.entry else {
            return match &self.work {
                Work::Sparse(all) => all.clone(),
                _ => Vec::new(), // everything else has a network
            };
        };
        let at = |name: &str| format!("{}/{name}", entry.folder());
        let trained = needed.first().map_or(&Value::Null, |record| &record.output.printed);
        let sigma = trained["sigma"].as_f64().map(|sigma| sigma.to_string()).unwrap_or_default();
        let mut model = words(&["--model", &at(NETWORK), "--data", &entry.spec.data.name]);
        if entry.spec.projection.is_some() {
            model.extend(words(&["--projection", &at(PROJECTION)]));
        }
        let mut all = match &self.work {
            Work::Train => words(&["train", &format!("{}.toml", entry.folder()), "--out", &entry.folder()]),
            Work::Certify(sampling) => {
                let out = entry.certified(sampling);
                [words(&["certify", "--sigma", &sigma, "--out", &out]), model, sampling.words()].concat()
            }
            Work::Analyze(sampling, norm, radii) => {
                let mut all = words(&["analyze", &entry.certified(sampling)]);
                all.extend(at_radii(*norm, radii));
                // Radii of pixels are none of cosine coefficients; by the dimension they hold in any orthonormal basis.
                if *norm == BallNorm::Linf && entry.has_pixel_basis() {
                    let side = |at: usize| trained["grid"][at].as_u64().unwrap_or_default();
                    all.extend(words(&["--by-dimension", &(side(0) * side(1) * side(2)).to_string()]));
                }
                all
            }
            Work::Compare(sampling, norm, radii, second) => {
                let all = words(&["analyze", &entry.certified(sampling), &second.certified, "--paired"]);
                [all, at_radii(*norm, radii)].concat()
            }
            Work::Challenge(sampling, norm) => {
                let certified = entry.certified(sampling);
                let all = ["attack", "--sigma", &sigma, "--certified", &certified, "--norm", norm.name()];
                [words(&all), model].concat()
            }
            Work::Attack(more) => [words(&["attack"]), model, more.clone()].concat(),
            Work::Sparse(all) => all.clone(),
        };
        all.push("--json".to_owned());
        all
    }

    fn network_work(&self) -> Option<NetworkWork<'_>> {
        let entry = self.entry?;
        let certified = match &self.work {
            Work::Train => None,
            Work::Certify(sampling) => Some(CertifyWork {
                kept: self.kept(entry).join(sampling.file()),
                every: sampling.every,
                n: sampling.n,
            }),
            _ => return None,
        };
        let (title, data) = (entry.label.clone(), entry.data());
        Some(NetworkWork { run: entry.digits(), title, data, spec: &entry.spec, certified })
    }

    fn network(record: &StageRecord) -> Option<String> {
        record.output.printed["network"].as_str().map(ToOwned::to_owned)
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
            let runs = &self.folders.runs;
            std::fs::create_dir_all(runs).map_err(|reason| RunError::File { path: runs.clone(), reason })?;
            let path = runs.join(format!("{}.toml", entry.digits()));
            write_file(&path, entry.spec.to_toml().as_bytes())
                .map_err(|reason| RunError::File { path, reason })?;
        }
        let called = caller.call(arguments.iter().map(|word| self.place(word)).collect())?;
        if let (Work::Certify(sampling), Some(entry), Some(_)) = (&self.work, self.entry, &called) {
            self.keep(entry, sampling)?;
        }
        Ok(called.map(|Called { exit, seconds_wall, printed }| Called {
            exit,
            seconds_wall,
            printed: StageOutput { printed: self.without_places(printed) },
        }))
    }
}
