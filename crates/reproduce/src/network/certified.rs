//! Networks trained and certified side by side.

use super::parts;
use super::stage::{Entry, Folders, Sampling, Second, Stage, Work, comparison};
use crate::error::{Invalid, require};
use crate::experiment::{Experiment, labels, printable};
use crate::name::Scale;
use crate::plan::Runs;
use gambeson::analyze::PairedRecord;
use gambeson_learn::attack::BallNorm;
use serde::Deserialize;
use serde_json::Value;
use toml::Table;

/// Networks, how they are certified, and at which radii they are shown. See [`parts`] for how a file abbreviates them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NetworkExperiment {
    pub(crate) caption: String,
    #[serde(default)]
    pub(crate) notes: Vec<String>,
    /// Radii of the table.
    #[serde(default)]
    pub(crate) l2: Vec<f64>,
    #[serde(default)]
    pub(crate) linf: Vec<f64>,
    /// As far as curves go.
    #[serde(default)]
    pub(crate) l2_to: f64,
    #[serde(default)]
    pub(crate) linf_to: f64,
    pub(crate) certify: Sampling,
    /// All that panels may show; without panels, all are shown.
    pub(crate) network: Vec<Entry>,
    #[serde(default)]
    pub(crate) panel: Vec<PanelOf>,
    #[serde(default)]
    pub(crate) compare: Vec<Comparison>,
    #[serde(default)]
    pub(crate) claim: Vec<Claim>,
    /// What others published.
    #[serde(default)]
    pub(crate) published: Vec<Published>,
}

/// Curves in one pair of axes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PanelOf {
    /// Behind the name of the data; empty for that alone.
    #[serde(default)]
    pub(crate) title: String,
    pub(crate) norm: BallNorm,
    /// Names of networks.
    pub(crate) curves: Vec<String>,
}

/// Two networks compared on the same inputs.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Comparison {
    pub(crate) norm: BallNorm,
    pub(crate) first: String,
    pub(crate) second: String,
}

/// A sentence of the paper: of the networks that certify so much at a radius, the best natural accuracy.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Claim {
    pub(crate) radius: f64,
    pub(crate) certified: f64,
    pub(crate) rows: Vec<ClaimRow>,
}

/// A method in such a sentence.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClaimRow {
    pub(crate) label: String,
    /// The paper's natural accuracy.
    pub(crate) paper: f64,
    pub(crate) networks: Vec<String>,
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

const NORMS: [BallNorm; 2] = [BallNorm::L2, BallNorm::Linf];

impl Experiment for NetworkExperiment {
    fn expand(table: &mut Table, scale: Scale) -> Result<(), Invalid> {
        parts::expand(table, scale)
    }

    fn validate(&self) -> Result<(), Invalid> {
        let names: Vec<String> = self.network.iter().map(|entry| entry.name().to_owned()).collect();
        labels(names.iter()).map_err(|problem| problem.within("network"))?;
        for entry in &self.network {
            let within = |problem: Invalid| problem.within(format!("network `{}`", entry.name()));
            printable(&entry.label).map_err(within)?;
            entry.spec.validate().map_err(|problem| within(problem.into()))?;
            require!(entry.spec.objective.has_noise(), "network `{}`: is not smoothed", entry.name());
        }
        for (key, radii) in [("l2", &self.l2), ("linf", &self.linf)] {
            let rising = radii.is_sorted_by(|a, b| a < b) && radii.iter().all(|radius| *radius >= 0.0);
            require!(rising, "{key}: radii of at least 0, rising");
        }
        require!(self.norms().next().is_some(), "l2, linf: radii of one of them are needed");
        for (norm, to) in [(BallNorm::L2, self.l2_to), (BallNorm::Linf, self.linf_to)] {
            let shown = self.norms().any(|other| other == norm);
            require!(!shown || to > 0.0, "{}_to: must be above 0", norm.name());
        }
        for published in &self.published {
            require!(
                published.l2.len() == self.l2.len(),
                "published `{}`: one number per radius",
                published.label
            );
        }
        let samplings = self.network.iter().map(|entry| entry.sampling(self.certify));
        for sampling in samplings.chain([self.certify]) {
            require!(sampling.every > 0 && sampling.n > 0, "certify: every and n must be at least 1");
        }
        self.validate_references()
    }
}

impl NetworkExperiment {
    /// What panels, comparisons and claims name is there.
    fn validate_references(&self) -> Result<(), Invalid> {
        let shown: Vec<&str> = self.shown().map(Entry::name).collect();
        let needs = |place: &str, name: &str| -> Result<(), Invalid> {
            require!(shown.contains(&name), "{place}: no network `{name}` is shown");
            Ok(())
        };
        let known = |name: &str| self.network.iter().any(|entry| entry.name() == name);
        for panel in &self.panel {
            for name in &panel.curves {
                require!(known(name), "panel: there is no network `{name}`");
            }
            require!(self.norms().any(|norm| norm == panel.norm), "panel: {}: no radii", panel.norm.name());
        }
        for Comparison { norm, first, second } in &self.compare {
            needs("compare: first", first)?;
            needs("compare: second", second)?;
            require!(self.norms().any(|other| other == *norm), "compare: {}: no radii", norm.name());
        }
        for claim in &self.claim {
            require!(self.l2.contains(&claim.radius), "claim: radius {} is not in l2", claim.radius);
            for row in &claim.rows {
                row.networks.iter().try_for_each(|name| needs("claim", name))?;
            }
        }
        Ok(())
    }

    /// The networks that are shown, in the order of the file.
    pub(crate) fn shown(&self) -> impl Iterator<Item = &Entry> {
        let in_panel = |entry: &&Entry| {
            self.panel.is_empty()
                || self.panel.iter().any(|panel| panel.curves.iter().any(|name| name == entry.name()))
        };
        self.network.iter().filter(in_panel)
    }

    pub(crate) fn entry(&self, name: &str) -> Option<&Entry> {
        self.network.iter().find(|entry| entry.name() == name)
    }

    /// The data that are shown.
    pub(crate) fn data(&self) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for data in self.shown().map(Entry::data) {
            if !all.contains(&data) {
                all.push(data);
            }
        }
        all
    }

    /// The norms that are shown.
    pub(crate) fn norms(&self) -> impl Iterator<Item = BallNorm> {
        NORMS.into_iter().filter(|norm| !self.table_radii(*norm).is_empty())
    }

    /// Radii of the table.
    pub(crate) fn table_radii(&self, norm: BallNorm) -> &[f64] {
        match norm {
            BallNorm::L2 => &self.l2,
            BallNorm::Linf => &self.linf,
        }
    }

    /// Radii of a curve, with those of the table among them.
    pub(crate) fn radii(&self, norm: BallNorm) -> Vec<f64> {
        let to = match norm {
            BallNorm::L2 => self.l2_to,
            BallNorm::Linf => self.linf_to,
        };
        let step = to / POINTS as f64;
        let curve = (0..=POINTS).map(|at| (at as f64 * step * 1e6).round() / 1e6);
        let mut all: Vec<f64> = curve.chain(self.table_radii(norm).iter().copied()).collect();
        all.sort_by(f64::total_cmp);
        all.dedup();
        all
    }

    pub(crate) fn plan(&self, folders: &Folders) -> Vec<Stage<'_>> {
        let mut plan = Vec::new();
        let mut certified: Vec<(&str, usize)> = Vec::new();
        for entry in self.shown() {
            let sampling = entry.sampling(self.certify);
            let trained = plan.len();
            let both = [trained, trained + 1];
            certified.push((entry.name(), both[1]));
            let stage = |work, after: &[usize]| Stage::of_network(entry, work, after, folders);
            plan.push(stage(Work::Train, &[]));
            plan.push(stage(Work::Certify(sampling), &[trained]));
            for norm in self.norms() {
                plan.push(stage(Work::Analyze(sampling, norm, self.radii(norm)), &both));
            }
            if entry.attacked {
                for norm in NORMS {
                    plan.push(stage(Work::Challenge(sampling, norm), &both));
                }
            }
        }
        let at = |name: &str| certified.iter().find(|(other, _)| *other == name).map(|(_, at)| *at);
        for Comparison { norm, first, second } in &self.compare {
            let (Some(one), Some(other)) = (self.entry(first), self.entry(second)) else { continue };
            let after: Vec<usize> = [first, second].into_iter().filter_map(|name| at(name)).collect();
            let radii = self.table_radii(*norm).to_vec();
            let second = Second::new(other, &other.sampling(self.certify));
            let work = Work::Compare(one.sampling(self.certify), *norm, radii, second);
            plan.push(Stage::of_network(one, work, &after, folders));
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
    pub(crate) fn output(&self, name: &str, stage: &str) -> Option<&Value> {
        let found =
            self.runs.records().find(|record| record.case.network == name && record.case.stage == stage);
        found.map(|record| &record.output.printed)
    }

    /// What training printed.
    pub(crate) fn trained(&self, entry: &Entry) -> Option<&Value> {
        self.output(entry.name(), "train")
    }

    /// What the analysis in a norm printed.
    pub(crate) fn analysed(&self, entry: &Entry, norm: BallNorm) -> Option<&Value> {
        self.output(entry.name(), &format!("analyze {}", norm.name()))
    }

    /// A comparison of two networks.
    pub(crate) fn compared(&self, pair: &Comparison) -> Option<PairedRecord> {
        PairedRecord::deserialize(self.output(&pair.first, &comparison(pair.norm, &pair.second))?).ok()
    }

    /// Certified accuracy at a radius of the plan.
    pub(crate) fn accuracy(&self, entry: &Entry, norm: BallNorm, radius: f64) -> Option<f64> {
        let output = self.analysed(entry, norm)?;
        let at = output["radii"].as_array()?.iter().position(|x| x.as_f64() == Some(radius))?;
        output["certified_accuracy"][at].as_f64()
    }
}
