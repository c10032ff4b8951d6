//! `train`, `attack` and `quickstart`.

/// Adversarial examples, and certified inputs at their radii.
mod attack;
/// The whole tour, small.
mod quickstart;
/// Runs: kills, bad specs, full disks.
mod train;

/// A spec that trains in a moment on a part of the built-in data.
pub(crate) const SPEC: &str = r#"
seed = 3
[data]
name = "fashion"
samples = 640
crop = 1
evaluate = 100
[model]
family = "cnn"
width = 4
[projection]
fit = { method = "axis", rank = 20, grid = 8 }
grid = "native"
[noise]
sigma = 0.3
[objective]
kind = "algorithm-1"
epsilon = 0.3
steps = 2
draws = 2
[optimiser]
epochs = 3
batch = 64
learning_rate = 0.1
average = 0.9
schedule = { kind = "one-cycle", warm_up = 0.2 }
"#;
