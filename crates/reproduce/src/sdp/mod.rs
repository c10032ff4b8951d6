//! Experiments with SDP solvers: which meet which random matrices, and what the paper measured.

pub(crate) mod figures;
mod peers;
pub(crate) mod results;
pub(crate) mod tables;

use crate::error::{Invalid, RunError, require};
use crate::experiment::{Experiment, labels, printable};
use crate::plan::Planned;
use crate::program::{Called, Caller};
use crate::record::Record;
use gambeson::bound::BoundRecord;
use gambeson::check::CheckRecord;
use gambeson::{Method, RandomInstance, RandomKind};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;

/// `experiments/NAME.toml`, validated.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SdpExperiment {
    /// The family of random matrices.
    pub(crate) kind: RandomKind,
    /// Dimensions, ascending.
    pub(crate) n: Vec<usize>,
    /// Matrices for each dimension; trial t has seed t, from 1.
    pub(crate) trials: u32,
    /// In the order of the columns.
    #[serde(rename = "solver")]
    pub(crate) solvers: Vec<Solver>,
    /// What the paper measured, if it gives numbers.
    pub(crate) paper: Option<Published>,
}

/// One way to call `gambeson bound`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Solver {
    pub(crate) label: String,
    #[serde(default)]
    pub(crate) method: Method,
    /// upper/sdp_lower − 1 at which to stop.
    pub(crate) gap: f64,
    /// Iterations at most. A run that did them all is as asked, whatever gap it reached.
    pub(crate) iterations: Option<u32>,
    /// Whether the certificate is checked again in a process of its own.
    #[serde(default)]
    pub(crate) check: bool,
    /// The series of the paper whose times are divided by ours.
    pub(crate) against: Option<String>,
}

/// Numbers printed in the paper.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Published {
    /// What they were measured on.
    pub(crate) machine: String,
    pub(crate) series: Vec<PublishedSeries>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PublishedSeries {
    pub(crate) label: String,
    pub(crate) points: Vec<PublishedPoint>,
}

/// Seconds for one dimension.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PublishedPoint {
    pub(crate) n: usize,
    pub(crate) mean: f64,
    pub(crate) deviation: f64,
}

impl PublishedSeries {
    pub(crate) fn at(&self, n: usize) -> Option<PublishedPoint> {
        self.points.iter().copied().find(|point| point.n == n)
    }
}

/// What `gambeson bound` was run on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Matrix {
    /// The family of random matrices, `psd` or `qp`.
    pub(crate) kind: String,
    pub(crate) n: usize,
    /// The trial, and the seed of its matrix.
    pub(crate) seed: u32,
}

/// What came out.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Proof {
    /// What `bound` printed.
    pub(crate) bound: BoundRecord,
    /// Where the experiment asks for it.
    pub(crate) check: Option<CheckRun>,
}

/// A check of the certificate in a process of its own.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CheckRun {
    pub(crate) exit: i32,
    /// Wall-clock seconds of the whole process.
    pub(crate) seconds_wall: f64,
    /// What `check` printed.
    pub(crate) result: CheckRecord,
}

pub(crate) type SdpRecord = Record<Matrix, Proof>;

/// A run of the plan.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlannedBound<'a> {
    pub(crate) kind: RandomKind,
    pub(crate) n: usize,
    pub(crate) seed: u32,
    pub(crate) solver: &'a Solver,
}

impl Experiment for SdpExperiment {
    fn validate(&self) -> Result<(), Invalid> {
        dimensions(&self.n).map_err(|problem| problem.within("n"))?;
        require!(self.trials > 0, "trials: 0, at least one is needed");
        labels(self.solvers.iter().map(|solver| &solver.label))
            .map_err(|problem| problem.within("solver"))?;
        let published = self.paper.as_ref().map_or(&[][..], |paper| &paper.series);
        for Solver { label, gap, iterations, against, .. } in &self.solvers {
            require!(*gap > 0.0 && gap.is_finite(), "solver `{label}`: gap: {gap} is not a positive number");
            require!(*iterations != Some(0), "solver `{label}`: iterations: 0, at least one is needed");
            let known = |against: &String| published.iter().any(|series| series.label == *against);
            if let Some(against) = against.as_ref().filter(|against| !known(against)) {
                return Err(Invalid::new(format!(
                    "solver `{label}`: against: the paper has no series `{against}` here"
                )));
            }
        }
        if let Some(paper) = &self.paper {
            printable(&paper.machine).map_err(|problem| problem.within("paper.machine"))?;
            labels(published.iter().map(|series| &series.label))
                .map_err(|problem| problem.within("paper.series"))?;
        }
        for PublishedSeries { label, points } in published {
            let place = || format!("paper.series `{label}`: points");
            dimensions(&points.iter().map(|point| point.n).collect::<Vec<_>>())
                .map_err(|problem| problem.within(place()))?;
            let sound = |value: f64| value.is_finite() && value >= 0.0;
            let odd = points
                .iter()
                .find(|point| !(point.mean > 0.0 && sound(point.mean) && sound(point.deviation)));
            if let Some(PublishedPoint { n, mean, deviation }) = odd {
                return Err(Invalid::new(format!(
                    "{}: {mean} ± {deviation} at n = {n} is not a time",
                    place()
                )));
            }
        }
        Ok(())
    }
}

impl SdpExperiment {
    /// All runs. Within a trial every solver has its turn, so that all meet the same noise.
    pub(crate) fn plan(&self) -> Vec<PlannedBound<'_>> {
        let trials = self.n.iter().flat_map(|&n| (1..=self.trials).map(move |seed| (n, seed)));
        let kind = self.kind;
        trials
            .flat_map(|(n, seed)| {
                self.solvers.iter().map(move |solver| PlannedBound { kind, n, seed, solver })
            })
            .collect()
    }
}

impl PlannedBound<'_> {
    /// The matrix, as on the command line.
    fn instance(&self) -> String {
        format!("{}:{}:{}", self.kind.name(), self.n, self.seed)
    }
}

impl Planned for PlannedBound<'_> {
    type Case = Matrix;
    type Output = Proof;

    fn case(&self) -> Matrix {
        Matrix { kind: self.kind.name().to_owned(), n: self.n, seed: self.seed }
    }

    fn label(&self) -> &str {
        &self.solver.label
    }

    fn arguments(&self, _: &[&SdpRecord]) -> Vec<String> {
        let method = self.solver.method.name();
        let gap = format!("{:e}", self.solver.gap);
        let mut words: Vec<String> =
            ["bound", "--random", &self.instance(), "--method", method, "--gap", &gap, "--json"]
                .map(str::to_owned)
                .into();
        if let Some(iterations) = self.solver.iterations {
            words.extend(["--iterations".to_owned(), iterations.to_string()]);
        }
        words
    }

    fn is_whole(&self, proof: &Proof) -> bool {
        proof.check.is_some() || !self.solver.check
    }

    fn as_asked(&self, SdpRecord { exit, output: Proof { bound, check }, .. }: &SdpRecord) -> bool {
        let solved = *exit == 0 || self.solver.iterations.is_some() && bound.used_all_iterations();
        solved && check.as_ref().is_none_or(|check| check.exit == 0)
    }

    fn call(&self, arguments: &[String], caller: &Caller<'_>) -> Result<Option<Called<Proof>>, RunError> {
        let folder =
            tempfile::tempdir().map_err(|reason| RunError::File { path: std::env::temp_dir(), reason })?;
        let certificate = folder.path().join("certificate.json").into_os_string();
        let mut words: Vec<OsString> = arguments.iter().map(Into::into).collect();
        if self.solver.check {
            words.extend(["--certificate".into(), certificate.clone()]);
        }
        let Some(Called { exit, seconds_wall, printed }) = caller.call::<BoundRecord>(words)? else {
            return Ok(None);
        };
        if printed.was_interrupted() {
            return Ok(None); // Ctrl-C reaches both processes, not at the same moment
        }
        let mut proof = Proof { bound: printed, check: None };
        if self.solver.check {
            let words =
                ["check".into(), "--random".into(), self.instance().into(), certificate, "--json".into()];
            let Some(Called { exit, seconds_wall, printed }) = caller.call(words.into())? else {
                return Ok(None);
            };
            proof.check = Some(CheckRun { exit, seconds_wall, result: printed });
        }
        Ok(Some(Called { exit, seconds_wall, printed: proof }))
    }
}

impl std::fmt::Display for PlannedBound<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, n = {}, trial {}", self.solver.label, self.n, self.seed)
    }
}

fn dimensions(all: &[usize]) -> Result<(), Invalid> {
    require!(!all.is_empty(), "empty: at least one dimension is needed");
    if let Some(n) = all.iter().find(|n| !RandomInstance::DIMENSIONS.contains(n)) {
        return Err(Invalid::new(format!("dimension {n} is not in {:?}", RandomInstance::DIMENSIONS)));
    }
    if let Some((first, second)) = all.iter().zip(&all[1..]).find(|(first, second)| first >= second) {
        return Err(Invalid::new(format!("{second} after {first}: dimensions must ascend")));
    }
    Ok(())
}
