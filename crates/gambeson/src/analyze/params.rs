//! The parameters, and their ranges.

use super::radius::Radius;
use crate::error::Error;
use crate::error::analyze::AnalyzeError;
use gambeson_checker::FailureProbability;
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::parameter::ParameterError;
use gambeson_smooth::analysis::{Question, RadiusNorm, Scale, Settings};
use gambeson_smooth::record::LimitChoice;
use std::path::PathBuf;

/// Parameters of [`analyze`](crate::analyze()).
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(clippy::struct_excessive_bools)] // switches
pub struct AnalyzeParams {
    /// Radii at which accuracy is counted. If `None`: from 0 to the largest, in steps of 0.25; for linf about eight.
    pub radii: Option<Vec<Radius>>,
    /// The norm of the radii. If `None`: l2, and linf where there is a scale.
    pub norm: Option<RadiusNorm>,
    /// Where linf radii come from. By default from the log itself.
    pub scale: Scale,
    /// Count every certified input, whatever its class: for logs without labels.
    pub any_class: bool,
    /// Projections from which the κ of our own logs is proven again. By default κ is taken as recorded.
    pub projections: Vec<ProjectionFiles>,
    /// Noise levels that logs were made with, one per coordinate of the projection. `None` if one level served all.
    pub noise_levels: Option<Vec<f64>>,
    /// Failure probability with which counts are certified again. If `None`, that of the records; votes need one.
    pub alpha: Option<f64>,
    /// Confidence limits on class probabilities. By default those of the run; one-sided ones for votes.
    pub limits: LimitChoice,
    /// Noise level of votes, which need one. For other logs with radii it gives the limits on p_A.
    pub sigma: Option<f64>,
    /// Adds lower bounds on certified accuracy that hold with probability 1 − ρ over all draws. `None` adds none.
    pub rho: Option<f64>,
    /// For `rho`: the failure probability of logs that do not say theirs.
    pub log_alpha: Option<f64>,
    /// Leave out logs that cannot be read or do not answer, with a note, instead of stopping.
    pub skip_bad: bool,
    /// Order logs by noise level, and make one envelope for each level.
    pub by_sigma: bool,
    /// Add certified accuracy by class.
    pub per_class: bool,
    /// Compare two logs on the inputs that both have or planned.
    pub paired: bool,
    /// Add the best of all logs at each radius.
    pub envelope: bool,
    /// Compare logs even if their inputs differ.
    pub mixed: bool,
    /// Where installed and imported data sets live, with which the dimension of logs is compared: `$GAMBESON_DATA`, or the
    /// data directory of the platform, if `None`.
    pub data_folder: Option<PathBuf>,
    /// Names of the logs in tables and figures, one each. If empty, they are made from the paths.
    pub labels: Vec<String>,
}

/// The files that prove κ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectionFiles {
    /// The projection.
    pub projection: PathBuf,
    /// Its certificate; `P.cert.json` beside it if `None`.
    pub certificate: Option<PathBuf>,
}

/// Parameters within their ranges.
pub(super) struct Checked {
    pub(super) question: Question,
    pub(super) settings: Settings,
    pub(super) rho: Option<FailureProbability>,
}

impl AnalyzeParams {
    /// Refuses numbers out of range, and parameters that contradict each other.
    pub(super) fn checked(&self, memory: MemoryLimit) -> Result<Checked, Error> {
        for radius in self.radii.iter().flatten() {
            let value = radius.value();
            in_range("radii", value, value.is_finite() && value >= 0.0, "finite and at least 0")?;
        }
        self.contradictions()?;
        let question = self.question()?;
        let positive =
            |name, value: f64| in_range(name, value, value.is_finite() && value > 0.0, "finite and above 0");
        match self.scale {
            Scale::Own => {}
            Scale::Kappa(kappa) => positive("scale", kappa)?,
            Scale::Dimension(n) => positive("scale", n as f64)?,
        }
        self.sigma.map(|sigma| positive("sigma", sigma)).transpose()?;
        let alpha = self.alpha.map(|alpha| probability("alpha", alpha)).transpose()?;
        self.log_alpha.map(|alpha| probability("log_alpha", alpha)).transpose()?;
        let settings = Settings { alpha, sigma: self.sigma, how: self.limits, memory };
        let rho = self.rho.map(|rho| probability("rho", rho)).transpose()?;
        Ok(Checked { question, settings, rho })
    }

    fn contradictions(&self) -> Result<(), AnalyzeError> {
        let conflict = |field, other| Err(AnalyzeError::Conflict { field, other });
        let alone = |field, other| Err(AnalyzeError::Alone { field, other });
        if self.per_class && self.any_class {
            conflict("per_class", "any_class")
        } else if !self.projections.is_empty() && matches!(self.scale, Scale::Kappa(_)) {
            conflict("projections", "scale")
        } else if self.noise_levels.is_some() && self.projections.is_empty() {
            alone("noise_levels", "projections")
        } else if self.log_alpha.is_some() && self.rho.is_none() {
            alone("log_alpha", "rho")
        } else {
            Ok(())
        }
    }

    fn question(&self) -> Result<Question, AnalyzeError> {
        let norm = match (self.norm, self.scale) {
            (Some(RadiusNorm::L2), Scale::Kappa(_) | Scale::Dimension(_)) => {
                return Err(AnalyzeError::ScaleOfL2);
            }
            (Some(norm), _) => norm,
            (None, Scale::Own) => RadiusNorm::L2,
            (None, Scale::Kappa(_) | Scale::Dimension(_)) => RadiusNorm::Linf,
        };
        Ok(Question { norm, scale: self.scale, any_class: self.any_class })
    }
}

fn in_range(name: &'static str, value: f64, holds: bool, range: &'static str) -> Result<(), ParameterError> {
    if holds { Ok(()) } else { Err(ParameterError { name, value, range }) }
}

fn probability(name: &'static str, value: f64) -> Result<FailureProbability, ParameterError> {
    FailureProbability::new(value).map_err(|_| ParameterError { name, value, range: "between 1e-300 and 1" })
}
