//! Experiments with spectra: data, and the errors of projections of every rank.

use crate::error::{Invalid, RunError, require};
use crate::experiment::Experiment;
use crate::plan::{Planned, Runs};
use crate::program::{Called, Caller};
use crate::projection::{Data, Samples, validate_data};
use crate::record::Record;
use gambeson::fit::SpectrumRecord;
use serde::{Deserialize, Serialize};

/// Data of which every rank is looked at.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SpectrumExperiment {
    /// In the order of the panels.
    pub(crate) data: Vec<Data>,
    /// The most components shown.
    pub(crate) components: usize,
    /// Whether the mean is subtracted.
    #[serde(default)]
    centre: bool,
}

impl Experiment for SpectrumExperiment {
    fn validate(&self) -> Result<(), Invalid> {
        validate_data(&self.data)?;
        require!(self.components > 0, "components: 0, at least one is needed");
        let sound = self.data.iter().find(|data| data.sound.is_some());
        sound
            .map_or(Ok(()), |data| Err(Invalid::new(format!("data `{}`: sound: not known here", data.label))))
    }
}

impl SpectrumExperiment {
    pub(crate) fn plan(&self) -> Vec<PlannedSpectrum<'_>> {
        self.data.iter().map(|data| PlannedSpectrum { data, centre: self.centre }).collect()
    }
}

/// What `project spectrum` printed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SpectrumOutput {
    pub(crate) spectrum: SpectrumRecord,
}

/// A run of `gambeson project spectrum`.
#[derive(Debug)]
pub(crate) struct PlannedSpectrum<'a> {
    pub(crate) data: &'a Data,
    centre: bool,
}

impl Planned for PlannedSpectrum<'_> {
    type Case = Samples;
    type Output = SpectrumOutput;

    fn case(&self) -> Samples {
        Samples::whole(self.data.name())
    }

    fn label(&self) -> &'static str {
        "spectrum"
    }

    fn arguments(&self, _: &[&Record<Samples, SpectrumOutput>]) -> Vec<String> {
        let words = ["project", "spectrum", "--data", self.data.name(), "--basis", "dct"].into_iter();
        words.chain(self.centre.then_some("--centre")).chain(["--json"]).map(str::to_owned).collect()
    }

    fn as_asked(&self, record: &Record<Samples, SpectrumOutput>) -> bool {
        record.exit == 0
    }

    fn call(
        &self,
        arguments: &[String],
        caller: &Caller<'_>,
    ) -> Result<Option<Called<SpectrumOutput>>, RunError> {
        let called = caller.call(arguments.iter().map(Into::into).collect())?;
        Ok(called.map(|Called { exit, seconds_wall, printed }| Called {
            exit,
            seconds_wall,
            printed: SpectrumOutput { spectrum: printed },
        }))
    }
}

impl std::fmt::Display for PlannedSpectrum<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, all ranks", self.data.label)
    }
}

/// Records of spectra.
pub(crate) struct SpectrumResults<'a, 'p> {
    pub(crate) experiment: &'a SpectrumExperiment,
    pub(crate) runs: &'a Runs<PlannedSpectrum<'p>>,
}
