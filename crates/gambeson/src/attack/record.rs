//! An attack as data.

use super::answers::Answers;
use super::attacked::Attacked;
use super::params::AttackMethod;
use gambeson_learn::attack::BallNorm;
use gambeson_learn::attack::inputs::Adversarial;
use gambeson_report::base64;
use serde::{Serialize, Serializer};

/// What `attack --json` prints. Keys are only ever added.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AttackRecord {
    /// Inputs attacked.
    pub inputs: usize,
    /// `pgd`, `fgsm` or `sparse`.
    pub method: &'static str,
    /// `l2` or `linf`.
    pub norm: &'static str,
    /// Coordinates of the ball: `values` or `dct`.
    pub basis: &'static str,
    /// Radius, the same for all; null where each input has its certified one.
    pub epsilon: Option<f64>,
    /// Coefficients changed, of sparse changes.
    pub sparsity: Option<usize>,
    /// Share of answers that are the class, before; null without a network.
    pub before: Option<f64>,
    /// The same, after.
    pub after: Option<f64>,
    /// Inputs on which nothing was answered, after.
    pub abstained: Option<usize>,
    /// Certified inputs for which another class came back; null where none were certified.
    pub broken: Option<usize>,
    /// The median of the radii.
    pub median_epsilon: f64,
    /// The longest perturbation, in its norm and basis; of sparse changes, the largest amplitude of a coefficient.
    pub longest: f64,
    /// The largest change of a value.
    pub largest: f64,
    /// Seconds that everything took.
    pub seconds: f64,
    /// Inputs before and after, for people to see.
    pub pictures: Vec<AttackPicture>,
}

/// An input before and after, for people to see.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AttackPicture {
    /// Number of the input.
    pub index: u64,
    /// Name of the class.
    pub class: String,
    /// Name of the answer before.
    pub before: Option<String>,
    /// Name of the answer after.
    pub after: Option<String>,
    /// Values, channel by channel; in JSON as bytes, 255 for 1, in base64.
    #[serde(serialize_with = "bytes")]
    pub original: Vec<f64>,
    /// The same, perturbed.
    #[serde(serialize_with = "bytes")]
    pub perturbed: Vec<f64>,
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // between 0 and 255
fn bytes<S: Serializer>(values: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
    let bytes: Vec<u8> = values.iter().map(|value| (255.0 * value.clamp(0.0, 1.0)).round() as u8).collect();
    serializer.serialize_str(&base64::encode(&bytes))
}

impl Attacked {
    /// What it says, as data.
    pub fn record(&self) -> AttackRecord {
        let answers = self.answers.as_ref();
        let mut epsilons: Vec<f64> = self.inputs.iter().map(|input| input.epsilon).collect();
        epsilons.sort_by(f64::total_cmp);
        let most = |of: fn(&Adversarial) -> f64| self.perturbed.iter().map(of).fold(0.0, f64::max);
        AttackRecord {
            inputs: self.inputs.len(),
            method: self.method.name(),
            norm: match self.method {
                AttackMethod::Pgd => self.norm,
                AttackMethod::Fgsm | AttackMethod::Sparse => BallNorm::Linf,
            }
            .name(),
            basis: self.basis.name(),
            epsilon: self.epsilon,
            sparsity: self.sparsity,
            before: answers.map(|answers| self.right(&answers.before)),
            after: answers.map(|answers| self.right(&answers.after)),
            abstained: answers.map(|answers| answers.after.iter().filter(|answer| answer.is_none()).count()),
            broken: self.broken(),
            median_epsilon: epsilons.get(epsilons.len() / 2).copied().unwrap_or(0.0),
            longest: most(|adversarial| adversarial.length),
            largest: self.largest(),
            seconds: self.seconds,
            pictures: self.pictures(),
        }
    }

    /// The largest change of a value.
    pub(super) fn largest(&self) -> f64 {
        self.perturbed.iter().map(|adversarial| adversarial.largest).fold(0.0, f64::max)
    }

    /// Certified inputs for which another class came back; `None` where none were certified, or nothing was answered.
    pub fn broken(&self) -> Option<usize> {
        let Answers { after, .. } = self.answers.as_ref().filter(|_| self.epsilon.is_none())?;
        let wrong = after
            .iter()
            .zip(&self.inputs)
            .filter(|(answer, input)| answer.is_some_and(|answer| answer != u32::from(input.class)));
        Some(wrong.count())
    }

    /// Share of answers that are the class.
    fn right(&self, answers: &[Option<u32>]) -> f64 {
        let each = answers.iter().zip(&self.inputs);
        let right = each.filter(|(answer, input)| **answer == Some(input.class.into())).count();
        right as f64 / self.inputs.len().max(1) as f64
    }

    /// As many inputs as asked for, before and after.
    pub(super) fn pictures(&self) -> Vec<AttackPicture> {
        let answers = self.answers.as_ref();
        let misled = |&at: &usize| {
            answers.is_some_and(|answers| {
                answers.before[at] == Some(self.inputs[at].class.into())
                    && answers.after[at] != answers.before[at]
            })
        };
        let (mut shown, rest): (Vec<usize>, Vec<usize>) =
            (0..self.inputs.len()).partition(|at| self.misled_first && misled(at));
        shown.extend(rest);
        shown.truncate(self.shown);
        let name =
            |class: u32| self.classes.get(class as usize).cloned().unwrap_or_else(|| class.to_string());
        let picture = |at: usize| AttackPicture {
            index: self.inputs[at].index,
            class: name(self.inputs[at].class.into()),
            before: answers.and_then(|answers| answers.before[at]).map(name),
            after: answers.and_then(|answers| answers.after[at]).map(name),
            original: self.inputs[at].values.clone(),
            perturbed: self.perturbed[at].values.clone(),
        };
        shown.into_iter().map(picture).collect()
    }
}

impl Serialize for Attacked {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.record().serialize(serializer)
    }
}
