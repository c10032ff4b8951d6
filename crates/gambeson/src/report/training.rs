//! Folders of training as a section, and what was trained in a few words.

use super::sources::TrainedSource;
use gambeson_learn::net::models::Model;
use gambeson_learn::train::TrainSpec;
use gambeson_learn::train::run::Metrics;
use gambeson_learn::train::spec::Objective;
use gambeson_report::page::{Epoch, TrainedRun, Training};
use gambeson_report::text::shown;

/// The curves of all folders that have epochs; `None` without any.
pub(super) fn training(trained: &[TrainedSource]) -> Option<Training> {
    let run = |source: &TrainedSource| TrainedRun {
        run: source.label.clone(),
        about: source.spec.as_ref().map(about).unwrap_or_default(),
        epochs: source.metrics.iter().map(epoch).collect(),
    };
    let runs: Vec<TrainedRun> = trained.iter().filter(|source| !source.metrics.is_empty()).map(run).collect();
    let notes = vec!["Measured in training: nothing here is proven. Training inputs are varied, noisy and attacked as the spec says; test inputs have one draw of noise.".to_owned()];
    (!runs.is_empty()).then_some(Training { notes, runs })
}

fn epoch(metrics: &Metrics) -> Epoch {
    Epoch {
        number: metrics.epoch,
        loss: metrics.loss,
        accuracy: metrics.accuracy,
        test: metrics.test_accuracy,
        seconds: metrics.spent.seconds,
    }
}

/// What a spec trains.
pub(super) fn about(spec: &TrainSpec) -> String {
    let model = match &spec.model {
        Model::ResNet { depth, width } => format!("ResNet-{depth} of width {width}"),
        Model::Cnn { width } => format!("CNN of width {width}"),
        Model::Mlp { hidden } => format!("MLP with hidden layers of {hidden:?}"),
    };
    let objective = match &spec.objective {
        Objective::Standard => "without an adversary".to_owned(),
        Objective::Gaussian { .. } => "with noise (Cohen et al.)".to_owned(),
        Objective::Madry { epsilon, .. } => {
            format!("against an adversary of radius {epsilon} (Madry et al.)")
        }
        Objective::SmoothAdv(own) => {
            format!("against an adversary of radius {} (Salman et al.)", own.epsilon)
        }
        Objective::Algorithm1(own) => format!("by Algorithm 1, radius {}", own.epsilon),
        Objective::Consistency { .. } => "for consistency under noise".to_owned(),
    };
    format!("{model} on {}, {objective}, {} epochs", shown(&spec.data.name), spec.optimiser.epochs)
}
