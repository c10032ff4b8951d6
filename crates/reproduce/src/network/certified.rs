//! Networks trained and certified side by side.

use super::stage::{Entry, Stage, Work};
use crate::error::{Invalid, require};
use crate::experiment::{Experiment, labels};
use crate::plan::Runs;
use serde::Deserialize;
use serde_json::Value;
use std::path::Path;

/// Networks, how they are certified, and at which radii they are shown.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NetworkExperiment {
    pub(crate) caption: String,
    #[serde(default)]
    pub(crate) notes: Vec<String>,
    /// Radii of the table.
    pub(crate) l2: Vec<f64>,
    pub(crate) linf: Vec<f64>,
    /// As far as curves go.
    pub(crate) l2_to: f64,
    pub(crate) linf_to: f64,
    certify: Certify,
    pub(crate) network: Vec<Entry>,
    /// What others published.
    #[serde(default)]
    pub(crate) published: Vec<Published>,
}

/// How all of them are certified.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Certify {
    every: usize,
    n: u64,
    alpha: f64,
}

/// A row of somebody's table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Published {
    pub(crate) label: String,
    /// Certified accuracy by the radii of the table, as far as it is known; negative where it is not.
    pub(crate) l2: Vec<f64>,
    #[serde(default)]
    pub(crate) acr: Option<f64>,
}

/// Points of a curve.
const POINTS: usize = 120;

impl Experiment for NetworkExperiment {
    fn validate(&self) -> Result<(), Invalid> {
        labels(self.network.iter().map(|entry| &entry.label)).map_err(|problem| problem.within("network"))?;
        for entry in &self.network {
            entry
                .spec
                .validate()
                .map_err(|problem| Invalid::from(problem).within(format!("network `{}`", entry.label)))?;
            require!(entry.spec.objective.has_noise(), "network `{}`: is not smoothed", entry.label);
        }
        for (key, radii) in [("l2", &self.l2), ("linf", &self.linf)] {
            let rising = radii.is_sorted_by(|a, b| a < b) && radii.iter().all(|radius| *radius >= 0.0);
            require!(rising && !radii.is_empty(), "{key}: radii of at least 0, rising");
        }
        require!(self.l2_to > 0.0 && self.linf_to > 0.0, "l2_to, linf_to: must be above 0");
        for published in &self.published {
            require!(
                published.l2.len() == self.l2.len(),
                "published `{}`: one number per radius",
                published.label
            );
        }
        require!(self.certify.every > 0 && self.certify.n > 0, "certify: every and n must be at least 1");
        Ok(())
    }
}

impl NetworkExperiment {
    /// Radii of a curve, with those of the table among them.
    pub(crate) fn radii(&self, norm: &str) -> Vec<f64> {
        let (table, to) = if norm == "l2" { (&self.l2, self.l2_to) } else { (&self.linf, self.linf_to) };
        let step = to / POINTS as f64;
        let curve = (0..=POINTS).map(|at| (at as f64 * step * 1e6).round() / 1e6);
        let mut all: Vec<f64> = curve.chain(table.iter().copied()).collect();
        all.sort_by(f64::total_cmp);
        all.dedup();
        all
    }

    pub(crate) fn plan(&self, runs: &Path) -> Vec<Stage<'_>> {
        let Certify { every, n, alpha } = &self.certify;
        let sampling: Vec<String> =
            ["--every", &every.to_string(), "--n", &n.to_string(), "--alpha", &alpha.to_string()]
                .map(ToOwned::to_owned)
                .to_vec();
        let mut plan = Vec::new();
        for entry in &self.network {
            let trained = Some(plan.len());
            let certified = Some(plan.len() + 1);
            let stage = |work, after| Stage::of_network(entry, work, after, runs).sampled(&sampling);
            plan.push(stage(Work::Train, None));
            plan.push(stage(Work::Certify(sampling.clone()), trained));
            for norm in ["l2", "linf"] {
                plan.push(stage(Work::Analyze(norm, self.radii(norm)), certified));
            }
            if entry.attacked {
                plan.push(stage(Work::Challenge("l2"), certified));
                plan.push(stage(Work::Challenge("linf"), certified));
            }
        }
        plan
    }
}

/// Records of networks.
pub(crate) struct NetworkResults<'a, 'p> {
    pub(crate) experiment: &'a NetworkExperiment,
    pub(crate) runs: &'a Runs<Stage<'p>>,
}

impl NetworkResults<'_, '_> {
    /// What a run of a network printed.
    pub(crate) fn output(&self, label: &str, stage: &str) -> Option<&Value> {
        let found =
            self.runs.records().find(|record| record.case.network == label && record.case.stage == stage);
        found.map(|record| &record.output.printed)
    }

    /// Certified accuracy at a radius of the plan.
    pub(crate) fn accuracy(&self, label: &str, norm: &str, radius: f64) -> Option<f64> {
        let output = self.output(label, &format!("analyze {norm}"))?;
        let at = output["radii"].as_array()?.iter().position(|x| x.as_f64() == Some(radius))?;
        output["certified_accuracy"][at].as_f64()
    }
}
