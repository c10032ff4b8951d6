//! An experiment: which solvers meet which random matrices, at two scales, and what the paper measured.

use super::Object;
use super::record::Record;
use super::table::latex_letter;
use crate::args::{DIMENSIONS, MethodName, RandomKind, ScaleName};
use anyhow::{Context, bail, ensure};
use clap::ValueEnum;
use serde::Deserialize;
use std::path::Path;

/// `experiments/NAME.toml`, validated.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Experiment {
    /// The family of random matrices.
    pub(crate) kind: RandomKind,
    scale: Scales,
    /// In the order of the columns.
    #[serde(rename = "solver")]
    pub(crate) solvers: Vec<Solver>,
    /// What the paper measured, if it gives numbers.
    pub(crate) paper: Option<Published>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Scales {
    desk: Scale,
    paper: Scale,
}

/// How much of the experiment is run.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Scale {
    /// Dimensions, ascending.
    pub(crate) n: Vec<usize>,
    /// Matrices for each dimension; trial t has seed t, from 1.
    pub(crate) trials: u32,
}

/// One way to call `gambeson bound`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Solver {
    pub(crate) label: String,
    #[serde(default)]
    pub(crate) method: MethodName,
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

/// A run of the plan.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Planned<'a> {
    pub(crate) kind: RandomKind,
    pub(crate) n: usize,
    pub(crate) seed: u32,
    pub(crate) solver: &'a Solver,
}

impl Experiment {
    /// The experiment of `folder` if it has one, else the one built in.
    pub(crate) fn load(object: &Object, folder: Option<&Path>) -> anyhow::Result<Self> {
        let file = format!("{}.toml", object.name);
        let Some(folder) = folder else {
            return Self::parse(object.toml, &format!("experiments/{file} (built in)"));
        };
        ensure!(folder.is_dir(), "{}: there is no such folder of experiments", folder.display());
        let path = folder.join(file);
        match std::fs::read_to_string(&path) {
            Ok(text) => Self::parse(&text, &path.display().to_string()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Self::load(object, None),
            Err(error) => Err(error).with_context(|| path.display().to_string()),
        }
    }

    fn parse(text: &str, name: &str) -> anyhow::Result<Self> {
        let experiment: Self = toml::from_str(text)
            .map_err(|error| anyhow::anyhow!("{name}: {}", error.to_string().trim_end()))?;
        experiment.validate().with_context(|| name.to_owned())?;
        Ok(experiment)
    }

    fn validate(&self) -> anyhow::Result<()> {
        for (name, scale) in [("desk", &self.scale.desk), ("paper", &self.scale.paper)] {
            dimensions(&scale.n).with_context(|| format!("scale.{name}.n"))?;
            ensure!(scale.trials > 0, "scale.{name}.trials: 0, at least one is needed");
        }
        labels(self.solvers.iter().map(|solver| &solver.label)).context("solver")?;
        let published = self.paper.as_ref().map_or(&[][..], |paper| &paper.series);
        for Solver { label, gap, iterations, against, .. } in &self.solvers {
            ensure!(*gap > 0.0 && gap.is_finite(), "solver `{label}`: gap: {gap} is not a positive number");
            ensure!(*iterations != Some(0), "solver `{label}`: iterations: 0, at least one is needed");
            let known = |against: &String| published.iter().any(|series| series.label == *against);
            if let Some(against) = against.as_ref().filter(|against| !known(against)) {
                bail!("solver `{label}`: against: the paper has no series `{against}` here");
            }
        }
        if let Some(paper) = &self.paper {
            printable(&paper.machine).context("paper.machine")?;
            labels(published.iter().map(|series| &series.label)).context("paper.series")?;
        }
        for PublishedSeries { label, points } in published {
            let place = || format!("paper.series `{label}`: points");
            dimensions(&points.iter().map(|point| point.n).collect::<Vec<_>>()).with_context(place)?;
            let sound = |value: f64| value.is_finite() && value >= 0.0;
            let odd = points
                .iter()
                .find(|point| !(point.mean > 0.0 && sound(point.mean) && sound(point.deviation)));
            if let Some(PublishedPoint { n, mean, deviation }) = odd {
                bail!("{}: {mean} ± {deviation} at n = {n} is not a time", place());
            }
        }
        Ok(())
    }

    pub(crate) fn scale(&self, name: ScaleName) -> &Scale {
        match name {
            ScaleName::Desk => &self.scale.desk,
            ScaleName::Paper => &self.scale.paper,
        }
    }

    /// All runs. Within a trial every solver has its turn, so that all meet the same noise.
    pub(crate) fn plan(&self, scale: &Scale) -> Vec<Planned<'_>> {
        let trials = scale.n.iter().flat_map(|&n| (1..=scale.trials).map(move |seed| (n, seed)));
        let kind = self.kind;
        trials
            .flat_map(|(n, seed)| self.solvers.iter().map(move |solver| Planned { kind, n, seed, solver }))
            .collect()
    }
}

impl Planned<'_> {
    /// The matrix, as on the command line.
    pub(crate) fn instance(&self) -> String {
        format!("{}:{}:{}", self.kind.name(), self.n, self.seed)
    }

    /// What `gambeson` is called with, without what changes from one call to the next.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let method = self.solver.method.to_possible_value();
        let method = method.as_ref().map_or("auto", |method| method.get_name());
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

    /// Whether a record is of this run. A run with other arguments is another run, whatever its label.
    pub(crate) fn matches(&self, record: &Record) -> bool {
        record.solver == self.solver.label
            && record.arguments == self.arguments()
            && (record.check.is_some() || !self.solver.check)
    }

    /// Whether the run reached what was asked of it.
    pub(crate) fn as_asked(&self, record: &Record) -> bool {
        let solved =
            record.exit == 0 || self.solver.iterations.is_some() && record.bound.used_all_iterations();
        solved && record.check.as_ref().is_none_or(|check| check.exit == 0)
    }
}

impl std::fmt::Display for Planned<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, n = {}, trial {}", self.solver.label, self.n, self.seed)
    }
}

fn dimensions(all: &[usize]) -> anyhow::Result<()> {
    ensure!(!all.is_empty(), "empty, at least one dimension is needed");
    if let Some(n) = all.iter().find(|n| !DIMENSIONS.contains(n)) {
        bail!("dimension {n} is not in {DIMENSIONS:?}");
    }
    if let Some((first, second)) = all.iter().zip(&all[1..]).find(|(first, second)| first >= second) {
        bail!("{second} after {first}: dimensions ascend");
    }
    Ok(())
}

fn labels<'a>(all: impl Iterator<Item = &'a String>) -> anyhow::Result<()> {
    let all: Vec<_> = all.collect();
    ensure!(!all.is_empty(), "empty, at least one is needed");
    for (at, label) in all.iter().enumerate() {
        printable(label).context("label")?;
        ensure!(!all[..at].contains(label), "label: `{label}` is there twice");
    }
    Ok(())
}

/// Whether a text can be printed in a table, in LaTeX too.
fn printable(text: &str) -> anyhow::Result<()> {
    ensure!(!text.trim().is_empty(), "empty, a text is needed");
    if let Some(letter) = text.chars().find(|letter| latex_letter(*letter).is_none()) {
        bail!("{text:?}: {letter:?} cannot be printed in LaTeX");
    }
    Ok(())
}
