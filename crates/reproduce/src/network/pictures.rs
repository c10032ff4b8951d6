//! Perturbed images for people to see.

use super::parts;
use super::stage::{Entry, Folders, Stage, Work};
use crate::error::{Invalid, require};
use crate::experiment::{Experiment, printable};
use crate::name::Scale;
use crate::plan::Runs;
use serde::Deserialize;
use toml::Table;

/// Images, and what is done to them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PictureExperiment {
    pub(crate) caption: String,
    #[serde(default)]
    pub(crate) notes: Vec<String>,
    data: String,
    /// channels, height, width.
    pub(crate) shape: [usize; 3],
    /// Every so many of the test images are perturbed, and the first `pictures` of them are shown.
    every: usize,
    pictures: usize,
    /// The largest change of a value.
    epsilon: f64,
    /// Numbers of cosine coefficients that are changed at random.
    #[serde(default)]
    sparsity: Vec<usize>,
    /// A network that is attacked by projected gradient ascent.
    #[serde(default)]
    pub(crate) network: Option<Entry>,
    #[serde(default)]
    steps: usize,
}

impl Experiment for PictureExperiment {
    fn expand(table: &mut Table, scale: Scale) -> Result<(), Invalid> {
        parts::expand(table, scale)
    }

    fn validate(&self) -> Result<(), Invalid> {
        require!(!self.sparsity.is_empty() || self.network.is_some(), "sparsity or network: one is needed");
        require!(self.every > 0 && self.pictures > 0, "every, pictures: must be at least 1");
        require!(self.epsilon > 0.0 && self.epsilon.is_finite(), "epsilon: must be above 0");
        if let Some(entry) = &self.network {
            printable(&entry.label).map_err(|problem| problem.within("network"))?;
            entry
                .spec
                .validate()
                .map_err(|problem| Invalid::from(problem).within(format!("network `{}`", entry.label)))?;
            require!(self.steps > 0, "steps: must be at least 1");
        }
        Ok(())
    }
}

impl PictureExperiment {
    /// Whether its perturbations differ in how many coefficients they change.
    pub(crate) fn changes_coefficients(&self) -> bool {
        !self.sparsity.is_empty()
    }

    pub(crate) fn plan(&self, folders: &Folders) -> Vec<Stage<'_>> {
        let mut common: Vec<String> = Vec::new();
        for (key, value) in [
            ("--epsilon", self.epsilon.to_string()),
            ("--every", self.every.to_string()),
            ("--pictures", self.pictures.to_string()),
            ("--norm", "linf".to_owned()),
        ] {
            common.extend([key.to_owned(), value]);
        }
        let mut plan = Vec::new();
        if let Some(entry) = &self.network {
            plan.push(Stage::of_network(entry, Work::Train, &[], folders));
            let more = common.iter().cloned().chain(["--steps".to_owned(), self.steps.to_string()]);
            plan.push(Stage::of_network(entry, Work::Attack(more.collect()), &[0], folders));
        }
        for k in &self.sparsity {
            let mut all: Vec<String> = [
                "attack",
                "--method",
                "sparse",
                "--sparsity",
                &k.to_string(),
                "--data",
                &self.data,
                "--json",
            ]
            .map(ToOwned::to_owned)
            .to_vec();
            all.extend(common.iter().cloned());
            plan.push(Stage::alone(format!("k = {k}"), Work::Sparse(all)));
        }
        plan
    }
}

/// Records of perturbed images.
pub(crate) struct PictureResults<'a, 'p> {
    pub(crate) experiment: &'a PictureExperiment,
    pub(crate) runs: &'a Runs<Stage<'p>>,
}
