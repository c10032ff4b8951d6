//! What an attack came to.

use super::answers::Answers;
use super::scene::Scene;
use crate::args::{AttackArguments, FigureFiles, MethodName, RadiusNormName};
use crate::progress::duration;
use crate::report::base64;
use crate::screen::{shown, shown_path, wrapped};
use gambeson_learn::attack::inputs::{Adversarial, Victim};
use serde::{Serialize, Serializer};
use std::io::Write;
use std::time::Duration;

/// Pictures that are shown unless asked otherwise.
const PICTURES: usize = 6;

/// What `attack --json` prints.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Summary {
    pub(crate) inputs: usize,
    pub(crate) method: String,
    pub(crate) norm: String,
    pub(crate) basis: String,
    /// Radius, the same for all; null where each input has its certified one.
    pub(crate) epsilon: Option<f64>,
    /// Coefficients changed, of sparse changes.
    pub(crate) sparsity: Option<usize>,
    /// Share of answers that are the class, before and after; null without a network.
    pub(crate) before: Option<f64>,
    pub(crate) after: Option<f64>,
    /// Inputs on which nothing was answered, after.
    pub(crate) abstained: Option<usize>,
    /// Certified inputs for which another class came back; null where none were certified.
    pub(crate) broken: Option<usize>,
    /// The median of the radii.
    pub(crate) median_epsilon: f64,
    /// The longest perturbation, in its norm and basis; of sparse changes, the largest amplitude of a coefficient.
    pub(crate) longest: f64,
    /// The largest change of a value.
    pub(crate) largest: f64,
    pub(crate) seconds: f64,
    pub(crate) pictures: Vec<Shown>,
}

/// An input before and after, for people to see.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Shown {
    pub(crate) index: u64,
    /// Names of the class, and of the answers.
    pub(crate) class: String,
    pub(crate) before: Option<String>,
    pub(crate) after: Option<String>,
    /// Values, channel by channel; in JSON as bytes, 255 for 1, in base64.
    #[serde(serialize_with = "bytes")]
    pub(crate) original: Vec<f64>,
    #[serde(serialize_with = "bytes")]
    pub(crate) perturbed: Vec<f64>,
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // between 0 and 255
fn bytes<S: Serializer>(values: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
    let bytes: Vec<u8> = values.iter().map(|value| (255.0 * value.clamp(0.0, 1.0)).round() as u8).collect();
    serializer.serialize_str(&base64::encode(&bytes))
}

impl Summary {
    pub(super) fn new(
        arguments: &AttackArguments,
        scene: &Scene,
        victims: &[Victim],
        perturbed: &[Adversarial],
        answers: Option<&Answers>,
        elapsed: Duration,
    ) -> Self {
        let right = |answers: &[Option<u32>]| {
            let each = answers.iter().zip(victims);
            each.filter(|(answer, victim)| **answer == Some(victim.class.into())).count() as f64
                / victims.len() as f64
        };
        let broken = |answers: &Answers| {
            let each = answers.after.iter().zip(victims);
            each.filter(|(answer, victim)| answer.is_some_and(|answer| answer != u32::from(victim.class)))
                .count()
        };
        let mut epsilons: Vec<f64> = victims.iter().map(|victim| victim.epsilon).collect();
        epsilons.sort_by(f64::total_cmp);
        let most = |of: fn(&Adversarial) -> f64| perturbed.iter().map(of).fold(0.0, f64::max);
        let wanted = match (arguments.pictures, &arguments.figure.figure) {
            (Some(count), _) => count,
            (None, Some(_)) => PICTURES,
            (None, None) => 0,
        };
        let name = |class: u32| {
            let names = scene.data.classes();
            names.get(class as usize).cloned().unwrap_or_else(|| class.to_string())
        };
        let shown = |at: usize| Shown {
            index: victims[at].index,
            class: name(victims[at].class.into()),
            before: answers.and_then(|answers| answers.before[at]).map(name),
            after: answers.and_then(|answers| answers.after[at]).map(name),
            original: victims[at].values.clone(),
            perturbed: perturbed[at].values.clone(),
        };
        // In a figure of this command those that were led astray come first; a record has the first ones.
        let first = answers.filter(|_| arguments.figure.figure.is_some());
        let pictures = chosen(victims, first, wanted).into_iter().map(shown).collect();
        Self {
            inputs: victims.len(),
            method: match arguments.method {
                MethodName::Pgd => "pgd",
                MethodName::Fgsm => "fgsm",
                MethodName::Sparse => "sparse",
            }
            .to_owned(),
            norm: match (arguments.method, arguments.norm) {
                (MethodName::Pgd, RadiusNormName::L2) => "l2",
                _ => "linf",
            }
            .to_owned(),
            basis: if scene.of_cosines(arguments) { "dct" } else { "values" }.to_owned(),
            epsilon: arguments.epsilon,
            sparsity: arguments.sparsity,
            before: answers.map(|answers| right(&answers.before)),
            after: answers.map(|answers| right(&answers.after)),
            abstained: answers.map(|answers| answers.after.iter().filter(|answer| answer.is_none()).count()),
            broken: answers.filter(|_| arguments.certified.is_some()).map(broken),
            median_epsilon: epsilons[epsilons.len() / 2],
            longest: most(|adversarial| adversarial.length),
            largest: most(|adversarial| adversarial.largest),
            seconds: elapsed.as_secs_f64(),
            pictures,
        }
    }

    pub(super) fn print(
        &self,
        arguments: &AttackArguments,
        scene: &Scene,
        stdout: &mut impl Write,
    ) -> std::io::Result<()> {
        let data = shown(scene.data.name());
        let what = match (&arguments.model, arguments.sigma) {
            (None, _) => data,
            (Some(path), None) => format!("{} on {data}", shown_path(path)),
            (Some(path), Some(sigma)) => {
                format!("{} on {data}, smoothed by noise {sigma}", shown_path(path))
            }
        };
        writeln!(stdout, "{}", wrapped(&what, 2))?;
        let basis = if self.basis == "dct" { "cosine coefficients" } else { "values" };
        let ball = match (&self.epsilon, self.method.as_str()) {
            (None, _) => format!(
                "{} at certified radii in {}, median {:.4}",
                self.method, self.norm, self.median_epsilon
            ),
            (Some(epsilon), "sparse") => format!(
                "{} random cosine coefficients, largest change of a value {epsilon}",
                self.sparsity.unwrap_or(0)
            ),
            (Some(epsilon), _) => format!("{} in {} of {basis}, radius {epsilon}", self.method, self.norm),
        };
        writeln!(stdout, "attack       {ball}")?;
        writeln!(stdout, "inputs       {} in {}", self.inputs, duration(self.seconds))?;
        if let (Some(before), Some(after), Some(abstained)) = (self.before, self.after, self.abstained) {
            let name = if self.broken.is_some() { "kept" } else { "accuracy" };
            writeln!(
                stdout,
                "{name:<12} {:.1} % before, {:.1} % after; {abstained} without an answer",
                100.0 * before,
                100.0 * after
            )?;
        }
        if let Some(broken) = self.broken {
            writeln!(stdout, "broken       {broken} of {} certificates", self.inputs)?;
        }
        writeln!(stdout, "changed      values by at most {:.4}", self.largest)?;
        for path in arguments.out.iter().chain(arguments.figure.figure.iter().flat_map(FigureFiles::paths)) {
            writeln!(stdout, "wrote        {}", shown_path(path))?;
        }
        Ok(())
    }
}

/// Which inputs are shown: those whose answer was led astray first.
fn chosen(victims: &[Victim], answers: Option<&Answers>, count: usize) -> Vec<usize> {
    let astray = |&at: &usize| {
        answers.is_some_and(|answers| {
            answers.before[at] == Some(victims[at].class.into()) && answers.after[at] != answers.before[at]
        })
    };
    let (mut first, rest): (Vec<usize>, Vec<usize>) = (0..victims.len()).partition(astray);
    first.extend(rest);
    first.truncate(count);
    first
}
