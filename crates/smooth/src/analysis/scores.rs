//! Certified accuracy, average certified radius, abstention, and the distribution of p_A, of one run.

use super::accuracy::CertifiedRadii;
use super::error::{AnalysisError, MissingRadii};
use super::logged::{Dialect, Evidence, Input, LoggedRun, Predicted};
pub use crate::sequential::RadiusNorm;
use gambeson_checker::rounding::{quotient_below, root_above};

/// Where ℓ∞ radii come from.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Scale {
    /// From the log itself.
    #[default]
    Own,
    /// The radius in the coordinates noise was added to, divided by κ.
    Kappa(f64),
    /// The ℓ2 radius, divided by the root of the number of coordinates.
    Dimension(u64),
}

/// What is asked about a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Question {
    /// The norm of radii.
    pub norm: RadiusNorm,
    /// Where ℓ∞ radii come from.
    pub scale: Scale,
    /// Whether everything certified counts, whatever its class: for logs without labels.
    pub any_class: bool,
}

/// The answers to one question about one run. "Certified" means certified and correct, unless any class counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Scores {
    counted: Counted,
    /// Lower limits on p_A of all inputs, abstentions included, rising; empty where the log has none.
    limits: Vec<f64>,
    /// The same of the inputs whose class is predicted correctly.
    right_limits: Vec<f64>,
}

#[derive(Clone, Debug, PartialEq)]
enum Counted {
    Inputs {
        radii: CertifiedRadii,
        abstained: usize,
    },
    /// Predictions only: how many are right.
    Predictions {
        images: usize,
        right: usize,
        abstained: usize,
        name: String,
    },
    Curve(Vec<(f64, f64)>),
}

impl LoggedRun {
    /// Answers a question.
    pub fn scores(&self, question: &Question) -> Result<Scores, AnalysisError> {
        let inputs = match &self.evidence {
            Evidence::Inputs(inputs) => inputs,
            Evidence::Curve(points) => {
                let listed = |&(radius, accuracy): &(f64, f64)| {
                    Ok((self.radius(question, Some(radius), Some(radius), None)?, accuracy))
                };
                let points = points.iter().map(listed).collect::<Result<_, AnalysisError>>()?;
                let (limits, right_limits) = (Vec::new(), Vec::new());
                return Ok(Scores { counted: Counted::Curve(points), limits, right_limits });
            }
        };
        let hit = |input: &Input| self.hit(question, input);
        // All are asked: a log without labels is refused even if it abstains on the first inputs.
        if let Some(input) = inputs.iter().find(|input| !question.any_class && input.correct.is_none()) {
            return Err(AnalysisError::NoLabels { log: self.name(), index: input.index });
        }
        // What is missing of a plan was perhaps left out for a reason: it is not certified.
        let missing = usize::try_from(self.missing()).unwrap_or(usize::MAX);
        let images = inputs.len().saturating_add(missing);
        let abstained = inputs.iter().filter(|input| input.predicted == Predicted::Abstained).count();
        let mut limits: Vec<f64> = inputs.iter().filter_map(|input| input.lower_limit).collect();
        if !limits.is_empty() {
            limits.resize(images, 0.0);
        }
        limits.sort_by(f64::total_cmp);
        let right = |input: &&Input| input.correct == Some(true) && input.predicted != Predicted::Abstained;
        let mut right_limits: Vec<f64> =
            inputs.iter().filter(right).filter_map(|input| input.lower_limit).collect();
        right_limits.sort_by(f64::total_cmp);
        let counted = if self.dialect == Dialect::Predictions {
            let right = inputs.iter().map(hit).filter(|hit| !matches!(hit, Ok(false)));
            let right = right.collect::<Result<Vec<_>, _>>()?.len();
            Counted::Predictions { images, right, abstained, name: self.name() }
        } else {
            let mut radii = Vec::new();
            for input in inputs {
                let radius = self.radius(question, input.latent, input.l2, input.linf)?;
                if hit(input)? {
                    radii.push(radius);
                }
            }
            Counted::Inputs { radii: CertifiedRadii::new(images, radii), abstained }
        };
        Ok(Scores { counted, limits, right_limits })
    }

    /// Whether an input counts: certified, and of its own class unless any counts.
    fn hit(&self, question: &Question, input: &Input) -> Result<bool, AnalysisError> {
        match input.predicted {
            Predicted::Abstained => Ok(false),
            _ if question.any_class => Ok(true),
            _ => {
                input.correct.ok_or_else(|| AnalysisError::NoLabels { log: self.name(), index: input.index })
            }
        }
    }

    /// The radius of an input that counts; none where it does not.
    pub fn certified_radius(&self, question: &Question, input: &Input) -> Result<Option<f64>, AnalysisError> {
        let radius = self.radius(question, input.latent, input.l2, input.linf)?;
        Ok(self.hit(question, input)?.then_some(radius))
    }

    /// The labels that its inputs have, rising.
    pub fn labels(&self) -> Vec<u32> {
        let Evidence::Inputs(inputs) = &self.evidence else { return Vec::new() };
        let labels: std::collections::BTreeSet<u32> = inputs.iter().filter_map(|input| input.label).collect();
        labels.into_iter().collect()
    }

    /// The same run, of the inputs with one label only; missing ones are left out.
    #[must_use]
    pub fn of_label(&self, label: u32) -> Self {
        let mut part = self.clone();
        if let Evidence::Inputs(inputs) = &mut part.evidence {
            inputs.retain(|input| input.label == Some(label));
        }
        part.planned = None; // the labels of missing inputs are not known
        part
    }

    fn radius(
        &self,
        question: &Question,
        latent: Option<f64>,
        l2: Option<f64>,
        linf: Option<f64>,
    ) -> Result<f64, AnalysisError> {
        if let (Scale::Dimension(given), Some(run)) = (question.scale, &self.run)
            && given < run.dimension
        {
            return Err(AnalysisError::Dimension { log: self.name(), given, own: run.dimension });
        }
        let radius = match (question.norm, question.scale) {
            (RadiusNorm::L2, _) => l2,
            (RadiusNorm::Linf, Scale::Own) => linf,
            (RadiusNorm::Linf, Scale::Kappa(kappa)) => latent.map(|radius| quotient_below(radius, kappa)),
            (RadiusNorm::Linf, Scale::Dimension(n)) => l2.map(|radius| quotient_below(radius, root_above(n))),
        };
        radius.ok_or_else(|| AnalysisError::NoRadii {
            log: self.name(),
            norm: question.norm.name(),
            why: match (question.norm, l2) {
                (RadiusNorm::Linf, Some(_)) => MissingRadii::NoScale,
                (RadiusNorm::L2, None) if linf.is_some() => MissingRadii::OtherNorm,
                _ => MissingRadii::None,
            },
        })
    }
}

impl Scores {
    /// The number of inputs; none for a curve.
    pub fn images(&self) -> Option<usize> {
        match &self.counted {
            Counted::Inputs { radii, .. } => Some(radii.inputs()),
            Counted::Predictions { images, .. } => Some(*images),
            Counted::Curve(_) => None,
        }
    }

    /// The share of inputs certified at each radius. For a curve, the accuracy at the next radius listed, or 0 beyond
    /// the last; predictions answer for radius 0 only.
    pub fn certified_accuracy(&self, radii: &[f64]) -> Result<Vec<f64>, AnalysisError> {
        radii.iter().map(|&radius| self.accuracy(radius)).collect()
    }

    fn accuracy(&self, radius: f64) -> Result<f64, AnalysisError> {
        match &self.counted {
            Counted::Inputs { radii, .. } => Ok(radii.accuracy(radius)),
            Counted::Predictions { images, right, .. } if radius == 0.0 => Ok(*right as f64 / *images as f64),
            Counted::Predictions { name, .. } => Err(AnalysisError::NoRadii {
                log: name.clone(),
                norm: "certified",
                why: MissingRadii::Predictions,
            }),
            Counted::Curve(points) => {
                Ok(points.iter().find(|(listed, _)| *listed >= radius).map_or(0.0, |&(_, accuracy)| accuracy))
            }
        }
    }

    /// The mean radius, counting 0 for what is not certified; none where there are no radii by input.
    pub fn average_radius(&self) -> Option<f64> {
        match &self.counted {
            Counted::Inputs { radii, .. } => Some(radii.average()),
            Counted::Predictions { .. } | Counted::Curve(_) => None,
        }
    }

    /// The share of abstentions; none for a curve.
    pub fn abstained(&self) -> Option<f64> {
        match &self.counted {
            Counted::Inputs { abstained, .. } | Counted::Predictions { abstained, .. } => {
                Some(*abstained as f64 / self.images()? as f64)
            }
            Counted::Curve(_) => None,
        }
    }

    /// The largest radius at which anything is certified.
    pub fn largest_radius(&self) -> f64 {
        match &self.counted {
            Counted::Inputs { radii, .. } => radii.largest(),
            Counted::Predictions { .. } => 0.0,
            Counted::Curve(points) => {
                points.iter().rev().find(|(_, accuracy)| *accuracy > 0.0).map_or(0.0, |&(radius, _)| radius)
            }
        }
    }

    /// The radii that count, input by input; none for a curve, and for predictions.
    pub fn certified_radii(&self) -> Option<&CertifiedRadii> {
        match &self.counted {
            Counted::Inputs { radii, .. } => Some(radii),
            Counted::Predictions { .. } | Counted::Curve(_) => None,
        }
    }

    /// Radii and certified accuracy as a curve lists them; none for other logs.
    pub fn listed_curve(&self) -> Option<&[(f64, f64)]> {
        match &self.counted {
            Counted::Curve(points) => Some(points),
            Counted::Inputs { .. } | Counted::Predictions { .. } => None,
        }
    }

    /// Lower limits on p_A of all inputs, rising; empty where the log has none.
    pub fn limits(&self) -> &[f64] {
        &self.limits
    }

    /// The least limit on p_A that at least the share q of all inputs does not exceed; none where the log has none.
    pub fn limit_quantile(&self, q: f64) -> Option<f64> {
        quantile(&self.limits, q)
    }

    /// The same over correct predictions only: what average certified radii hide (they reward easy inputs).
    pub fn right_limit_quantile(&self, q: f64) -> Option<f64> {
        quantile(&self.right_limits, q)
    }
}

fn quantile(rising: &[f64], q: f64) -> Option<f64> {
    let last = rising.len().checked_sub(1)?;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // between 0 and the length
    let at = (q.clamp(0.0, 1.0) * rising.len() as f64).ceil() as usize;
    Some(rising[at.saturating_sub(1).min(last)])
}

/// At each radius the best of several runs, the first of equals, and its accuracy: the envelope. `accuracies` has one
/// row per run and one column per radius.
pub fn best_at(accuracies: &[Vec<f64>]) -> Vec<(usize, f64)> {
    let radii = accuracies.iter().map(Vec::len).min().unwrap_or(0);
    let best = |at: usize| {
        let column = accuracies.iter().map(|row| row[at]).enumerate();
        column.fold(
            (0, f64::NEG_INFINITY),
            |best, (row, accuracy)| {
                if accuracy > best.1 { (row, accuracy) } else { best }
            },
        )
    };
    (0..radii).map(best).collect()
}
