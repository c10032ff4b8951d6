//! Experiments with projections: which methods meet which data, and what the paper measured.

pub(crate) mod figures;
mod published;
pub(crate) mod spectrum;
pub(crate) mod tables;
mod tones;

use crate::error::{Invalid, RunError, require};
use crate::experiment::{Experiment, labels, printable};
use crate::plan::{Planned, Runs};
use crate::program::{Called, Caller};
use crate::projection::published::PublishedFit;
use crate::record::Record;
use gambeson::FitMethodKind;
use gambeson::fit::FitRecord;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::PathBuf;

/// Where sound files are.
#[derive(Clone, Debug, Default)]
pub(crate) struct SoundFolders {
    /// Stands in for the folder of the experiment.
    pub(crate) given: Option<PathBuf>,
    /// The folder that the experiment's own is in.
    pub(crate) reference: Option<PathBuf>,
    /// Where sound that is made goes.
    pub(crate) made: PathBuf,
}

/// Methods, each run on all data.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FitExperiment {
    /// In the order of the rows.
    pub(crate) data: Vec<Data>,
    #[serde(rename = "fit")]
    pub(crate) fits: Vec<Fit>,
    /// What the paper's numbers were measured on.
    pub(crate) paper: Option<String>,
}

/// A data set.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Data {
    pub(crate) label: String,
    /// As in `gambeson data`; of sound, the folder below the reference data.
    name: String,
    /// Names of the channels; empty for one without a name.
    #[serde(default)]
    pub(crate) channels: Vec<String>,
    /// That it is a folder of sound files, and how they are drawn and cut.
    pub(crate) sound: Option<Sound>,
    /// The paper's row; of several trials one each.
    #[serde(default)]
    pub(crate) paper: Vec<PublishedFit>,
}

/// Frames of sound files drawn at random.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Sound {
    pub(crate) window_ms: f64,
    pub(crate) hop_ms: f64,
    /// Drawn for each trial.
    pub(crate) files: usize,
    /// Trial t has seed t, from 1.
    pub(crate) trials: u32,
    /// That the files are no recordings: so many tones are made.
    tones: Option<usize>,
}

/// One way to call `gambeson project fit`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fit {
    pub(crate) label: String,
    pub(crate) method: FitMethodKind,
    pub(crate) rank: Option<usize>,
    pub(crate) error: Option<Budget>,
    /// How tightly kappa squared is proven, if not as by default.
    gap: Option<f64>,
    #[serde(default)]
    pub(crate) centre: bool,
    /// What a reader has to know of it.
    pub(crate) note: Option<String>,
}

/// The error allowed.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "an error is a number or { of = \"label of a fit\" }")]
pub(crate) enum Budget {
    Fixed(f64),
    /// What another fit lost of the same samples: of several channels the least.
    Of {
        of: String,
    },
}

impl Experiment for FitExperiment {
    fn validate(&self) -> Result<(), Invalid> {
        validate_data(&self.data)?;
        require!(!self.fits.is_empty(), "fit: empty: at least one is needed");
        for centre in
            [false, true].into_iter().filter(|centre| self.fits.iter().any(|fit| fit.centre == *centre))
        {
            let these = self.fits.iter().filter(|fit| fit.centre == centre);
            labels(these.map(|fit| &fit.label)).map_err(|problem| problem.within("fit"))?;
        }
        for (at, fit) in self.fits.iter().enumerate() {
            fit.validate(&self.fits[..at])
                .map_err(|problem| problem.within(format!("fit `{}`", fit.label)))?;
        }
        self.paper
            .as_ref()
            .map_or(Ok(()), |paper| printable(paper))
            .map_err(|problem| problem.within("paper"))
    }
}

pub(super) fn validate_data(all: &[Data]) -> Result<(), Invalid> {
    labels(all.iter().map(|data| &data.label)).map_err(|problem| problem.within("data"))?;
    for Data { label, name, channels, sound, paper } in all {
        let place = || format!("data `{label}`");
        require!(!name.trim().is_empty(), "{}: name: empty: a data set is needed", place());
        if !channels.is_empty() {
            labels(channels.iter()).map_err(|problem| problem.within(format!("{}: channels", place())))?;
        }
        if let Some(Sound { window_ms, hop_ms, files, trials, tones }) = sound {
            for (key, value) in [("window-ms", *window_ms), ("hop-ms", *hop_ms)] {
                require!(value > 0.0 && value.is_finite(), "{}: {key}: {value} is not a time", place());
            }
            require!(*files > 0, "{}: files: 0, at least one is needed", place());
            require!(*trials > 0, "{}: trials: 0, at least one is needed", place());
            require!(tones.is_none_or(|tones| tones >= *files), "{}: tones: fewer than files", place());
        }
        for row in paper {
            row.validate().map_err(|problem| problem.within(format!("{}: paper", place())))?;
        }
    }
    Ok(())
}

impl Data {
    pub(super) fn name(&self) -> &str {
        &self.name
    }
}

impl Fit {
    /// A label may be there once with the mean kept and once without.
    pub(crate) fn is(&self, label: &str, centre: bool) -> bool {
        self.label == label && self.centre == centre
    }

    fn validate(&self, before: &[Self]) -> Result<(), Invalid> {
        require!(self.rank != Some(0), "rank: 0, at least 1 is needed");
        match &self.error {
            Some(Budget::Fixed(error)) => {
                require!(*error > 0.0 && *error < 1.0, "error: {error} is not in (0, 1)");
            }
            Some(Budget::Of { of }) => {
                let known = before.iter().any(|other| other.is(of, self.centre));
                require!(
                    known,
                    "error: no fit before it that is centred in the same way has the label `{of}`"
                );
            }
            None => require!(self.rank.is_some(), "a rank or an error is needed"),
        }
        let both = self.rank.is_some() && self.error.is_some();
        require!(!both || self.method == FitMethodKind::Algorithm3, "a rank or an error, not both");
        if let Some(note) = &self.note {
            printable(note).map_err(|problem| problem.within("note"))?;
        }
        if let Some(gap) = self.gap {
            require!(gap > 0.0 && gap.is_finite(), "gap: {gap} is not a positive number");
        }
        Ok(())
    }
}

impl FitExperiment {
    pub(crate) fn has_sound(&self) -> bool {
        self.data.iter().any(|data| data.sound.is_some())
    }

    /// All runs. Within a trial every method has its turn.
    pub(crate) fn plan(&self, folders: &SoundFolders) -> Vec<PlannedFit<'_>> {
        let mut plan = Vec::new();
        for data in &self.data {
            let trials: Vec<Option<u32>> =
                data.sound.as_ref().map_or(vec![None], |sound| (1..=sound.trials).map(Some).collect());
            for trial in trials {
                let first = plan.len();
                for fit in &self.fits {
                    let needs = match &fit.error {
                        Some(Budget::Of { of }) => {
                            self.fits.iter().position(|other| other.is(of, fit.centre))
                        }
                        _ => None,
                    };
                    let folders = folders.clone();
                    plan.push(PlannedFit {
                        data,
                        trial,
                        fit,
                        folders,
                        needs: needs.map(|at| first + at).into_iter().collect(),
                    });
                }
            }
        }
        plan
    }
}

/// What was run on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Samples {
    data: String,
    /// And seed, of files drawn at random.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    trial: Option<u32>,
}

impl Samples {
    /// All of a data set.
    pub(super) fn whole(name: &str) -> Self {
        Self { data: name.to_owned(), trial: None }
    }
}

/// What `project fit` printed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FitOutput {
    pub(crate) fit: FitRecord,
}

/// A run of `gambeson project fit`.
#[derive(Debug)]
pub(crate) struct PlannedFit<'a> {
    pub(crate) data: &'a Data,
    pub(crate) trial: Option<u32>,
    pub(crate) fit: &'a Fit,
    folders: SoundFolders,
    needs: Vec<usize>,
}

impl PlannedFit<'_> {
    /// A folder goes by its last name, so that records are the same wherever it lies.
    pub(crate) fn data_name(&self) -> String {
        match (&self.folders.given, &self.data.sound) {
            (Some(folder), Some(_)) => {
                folder.file_name().map_or("sound".to_owned(), |name| name.to_string_lossy().into_owned())
            }
            _ => self.data.name.clone(),
        }
    }

    /// Whether other data than the experiment's stand in.
    pub(crate) fn is_replaced(&self) -> bool {
        self.folders.given.is_some() && self.data.sound.is_some()
    }

    /// What `--data` is told.
    fn place(&self) -> Result<OsString, RunError> {
        let Some(sound) = &self.data.sound else { return Ok(self.data.name.clone().into()) };
        if let Some(folder) = &self.folders.given {
            return Ok(folder.into());
        }
        if let Some(tones) = sound.tones {
            let made = &self.folders.made;
            let folder = tones::folder(made, tones);
            return folder.map(Into::into).map_err(|reason| RunError::File { path: made.clone(), reason });
        }
        let looked = self.folders.reference.as_ref().map(|reference| reference.join(&self.data.name));
        match looked {
            Some(folder) if folder.is_dir() => Ok(folder.into()),
            looked => Err(RunError::NoData { folder: self.data.name.clone(), looked }),
        }
    }
}

impl Planned for PlannedFit<'_> {
    type Case = Samples;
    type Output = FitOutput;

    fn case(&self) -> Samples {
        Samples { data: self.data_name(), trial: self.trial }
    }

    fn label(&self) -> &str {
        &self.fit.label
    }

    fn needs(&self) -> &[usize] {
        &self.needs
    }

    fn arguments(&self, needed: &[&Record<Samples, FitOutput>]) -> Vec<String> {
        let name = self.data_name();
        let mut words: Vec<String> =
            ["project", "fit", "--data", &name, "--basis", "dct", "--method", self.fit.method.name()]
                .map(str::to_owned)
                .into();
        let mut option = |name: &str, value: String| words.extend([name.to_owned(), value]);
        if let Some(rank) = self.fit.rank {
            option("--rank", rank.to_string());
        }
        let error = match (&self.fit.error, needed.first()) {
            (Some(Budget::Fixed(error)), _) => Some(*error),
            (Some(Budget::Of { .. }), Some(needed)) => {
                needed.output.fit.channels.iter().map(|channel| channel.error).reduce(f64::min)
            }
            _ => None,
        };
        if let Some(error) = error {
            option("--error", error.to_string());
        }
        if let Some(gap) = self.fit.gap {
            option("--gap", format!("{gap:e}"));
        }
        if let (Some(sound), Some(trial)) = (&self.data.sound, self.trial) {
            option("--window-ms", sound.window_ms.to_string());
            option("--hop-ms", sound.hop_ms.to_string());
            option("--files", sound.files.to_string());
            option("--seed", trial.to_string());
        }
        if self.fit.centre {
            words.push("--centre".to_owned());
        }
        words.push("--json".to_owned());
        words
    }

    fn as_asked(&self, record: &Record<Samples, FitOutput>) -> bool {
        record.exit == 0
    }

    fn call(&self, arguments: &[String], caller: &Caller<'_>) -> Result<Option<Called<FitOutput>>, RunError> {
        let mut words: Vec<OsString> = arguments.iter().map(Into::into).collect();
        if let Some(at) = words.iter().position(|word| word == "--data") {
            words[at + 1] = self.place()?;
        }
        let called = caller.call::<FitRecord>(words)?;
        // Ctrl-C reaches both processes, not at the same moment.
        Ok(called.filter(|called| !called.printed.stopped).map(|called| Called {
            exit: called.exit,
            seconds_wall: called.seconds_wall,
            printed: FitOutput { fit: called.printed },
        }))
    }
}

impl std::fmt::Display for PlannedFit<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let centred = if self.fit.centre { ", centred" } else { "" };
        write!(f, "{}, {}{centred}", self.data.label, self.fit.label)?;
        self.trial.map_or(Ok(()), |trial| write!(f, ", trial {trial}"))
    }
}

/// Records of fits.
pub(crate) struct FitResults<'a, 'p> {
    pub(crate) experiment: &'a FitExperiment,
    pub(crate) runs: &'a Runs<PlannedFit<'p>>,
}

impl FitResults<'_, '_> {
    /// Of one method on one sample.
    pub(crate) fn of(&self, data: &Data, trial: Option<u32>, fit: &Fit) -> Option<&FitRecord> {
        let same = |run: &PlannedFit| {
            run.data.label == data.label && run.trial == trial && run.fit.is(&fit.label, fit.centre)
        };
        let (_, record) = self.runs.iter().find(|(run, _)| same(run))?;
        record.map(|record| &record.output.fit)
    }
}
