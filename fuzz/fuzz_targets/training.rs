//! Specs, checkpoints, and folders of runs.

use super::{as_file, repair, sets};
use crate::answer::{Answer, answer};
use crate::bundle::{joined, mapped, parts};
use gambeson_data::dataset::Values;
use gambeson_learn::net::parameters::{ParameterLayout, Weights};
use gambeson_learn::train::checkpoint::{CHECKPOINT, Checkpoint, PREVIOUS, Progress};
use gambeson_learn::train::run::{METRICS, SPEC, train};
use gambeson_learn::train::setup::TrainSetup;
use gambeson_learn::train::trainer::State;
use gambeson_learn::train::{TrainProgress, TrainSpec};
use gambeson_lowrank::safetensors::Tensors;
use std::ops::ControlFlow;
use std::sync::LazyLock;
use std::time::Duration;

/// A spec, and overrides in a second file, one per line.
pub(super) fn spec(bytes: &[u8]) -> Answer {
    let files = parts(bytes);
    let text = String::from_utf8_lossy(files.first().map_or(bytes, |(_, text)| text));
    let overrides = files.get(1).map(|(_, lines)| String::from_utf8_lossy(lines)).unwrap_or_default();
    let overrides: Vec<String> = overrides.lines().map(ToOwned::to_owned).collect();
    let spec = TrainSpec::parse(&text, &overrides).map_err(|error| error.to_string())?;
    let again = TrainSpec::parse(&spec.to_toml(), &[]);
    assert!(again.is_ok_and(|again| again == spec), "another spec after writing and reading");
    Ok(String::new())
}

/// Every kind of objective, model and schedule.
pub(super) fn specs() -> Vec<Vec<u8>> {
    let start = "seed = 3\n[data]\nname = \"fashion\"\nsamples = 20\ncrop = 2\nflip = true\n";
    let end = "[optimiser]\nepochs = 1\nlearning_rate = 0.1\nbatch = 7\naverage = 0.9\nnesterov = true\n\
        label_smoothing = 0.1\nschedule = { kind = \"step\", every = 3, factor = 0.5 }\n";
    let of = |middle: &str| [start, middle, end].concat();
    let consistent = "[model]\nfamily = \"cnn\"\nwidth = 2\n[noise]\nsigma = 0.25\n[objective]\nkind = \"consistency\"\n\
        draws = 2\nlambda = 5.0\n";
    let projected = "[model]\nfamily = \"res-net\"\ndepth = 8\nwidth = 2\n[projection]\nfit = { method = \"pca\", rank = 9, \
        grid = 8 }\ngrid = \"native\"\n[noise]\nbase = 0.25\nlambda = 0.5\n[objective]\nkind = \"algorithm-1\"\n\
        epsilon = 0.25\nsteps = 2\ndraws = 2\nouter = \"soft\"\n";
    let madry = "[model]\nfamily = \"mlp\"\nhidden = [3, 4]\n[objective]\nkind = \"madry\"\nnorm = \"linf\"\n\
        epsilon = 0.1\nsteps = 1\nwarm_up = 0.5\n";
    let overridden = joined(&[
        ("spec.toml", of(madry)),
        ("overrides", "optimiser.epochs=2\ndata.name=\"fashion\"\nobjective.norm=\"l2\"".to_owned()),
    ]);
    vec![of(consistent).into_bytes(), of(projected).into_bytes(), of(madry).into_bytes(), overridden]
}

/// What all checkpoints here are of: a network of a few numbers, on two images.
static SETUP: LazyLock<TrainSetup> = LazyLock::new(|| {
    let text = "[data]\nname = \"x\"\n[model]\nfamily = \"mlp\"\nhidden = [2]\n[noise]\nsigma = 0.25\n[objective]\n\
        kind = \"gaussian\"\n[optimiser]\nepochs = 6\nbatch = 2\nlearning_rate = 0.1\naverage = 0.9\n";
    let spec = TrainSpec::parse(text, &[]).expect("a spec");
    let data = sets::data(Values::U8((0..8).collect()), Some(vec![0, 1])).expect("data");
    TrainSetup::new(&spec, data, None, None).expect("a setup")
});

pub(super) fn checkpoint(bytes: &[u8]) -> Answer {
    let places = ParameterLayout::new(&SETUP.architecture).map_err(|error| error.to_string())?;
    let with_mean =
        Tensors::<f32>::parse(bytes).is_ok_and(|file| file.tensors.contains_key("mean.parameters"));
    let _ = Checkpoint::parse(bytes, &places, !with_mean);
    answer(Checkpoint::parse(bytes, &places, with_mean))
}

/// With the hash of what it holds.
pub(super) fn with_hash(bytes: &[u8]) -> Vec<u8> {
    let bytes = repair::safetensors(bytes);
    hashed(&bytes).unwrap_or(bytes)
}

fn hashed(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut file = Tensors::<f32>::parse(bytes).ok()?;
    let list = |name: &str| file.tensors.get(name).map(|tensor| tensor.values.clone());
    let weights = |prefix: &str| {
        let part = |name: &str| list(&format!("{prefix}{name}"));
        Some(Weights { parameters: part("parameters")?, statistics: part("statistics")? })
    };
    let progress: Progress = serde_json::from_str(file.metadata.get("progress")?).ok()?;
    let (step, spec) = (progress.step, file.metadata.get("spec").cloned().unwrap_or_default());
    let state = State { step, weights: weights("")?, velocity: list("velocity")?, mean: weights("mean.") };
    let right = Tensors::<f32>::parse(&Checkpoint { spec, progress, state }.to_bytes()).ok()?;
    file.metadata.insert("sha256".to_owned(), right.metadata.get("sha256")?.clone());
    Some(file.to_bytes())
}

/// After one step, with the running mean of the weights and without.
pub(super) fn checkpoints() -> Vec<Vec<u8>> {
    [true, false].map(|mean| made(mean, 1).to_bytes()).to_vec()
}

fn made(mean: bool, step: usize) -> Checkpoint {
    let places = ParameterLayout::new(&SETUP.architecture).expect("an architecture");
    let weights =
        Weights { parameters: vec![0.25; places.parameters], statistics: vec![0.5; places.statistics] };
    let velocity = vec![0.0; places.parameters];
    let progress = Progress { step, epoch: (0.5, 1, 1), ..Progress::default() };
    let mean = mean.then(|| weights.clone());
    Checkpoint { spec: SETUP.identity(), progress, state: State { step, weights, velocity, mean } }
}

/// Goes on with a folder for one step.
pub(super) fn run(bytes: &[u8]) -> Answer {
    as_file(bytes, SPEC, |path| {
        let folder = path.parent().unwrap_or(path);
        let mut stop = |progress: &TrainProgress| match progress {
            TrainProgress::Step { .. } => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        };
        let outcome =
            train(&SETUP, folder, Duration::from_secs(60), &mut stop).map_err(|error| error.to_string())?;
        Ok(if outcome.network.is_some() { "at its end" } else { "on its way" }.to_owned())
    })
}

/// With the hashes of its checkpoints.
pub(super) fn of_run(bytes: &[u8]) -> Vec<u8> {
    mapped(bytes, |name, bytes| if name.ends_with("safetensors") { with_hash(bytes) } else { bytes.to_vec() })
}

/// Nothing done yet; on its way; the last checkpoint gone; at its end.
pub(super) fn folders() -> Vec<Vec<u8>> {
    let spec = || (SPEC, SETUP.identity().into_bytes());
    let checkpoint = |name, step| (name, made(true, step).to_bytes());
    let epoch = |epoch: usize| {
        format!(
            "{{\"epoch\":{epoch},\"step\":{epoch},\"loss\":0.5,\"accuracy\":0.5,\"test_accuracy\":null,\"learning_rate\":0.1,\
             \"epsilon\":0.0,\"seconds\":0.1,\"processor_seconds\":0.1}}\n"
        )
    };
    let metrics = || (METRICS, (1..=3).map(epoch).collect::<String>().into_bytes());
    vec![
        joined(&[spec()]),
        joined(&[spec(), checkpoint(CHECKPOINT, 3), checkpoint(PREVIOUS, 2), metrics()]),
        joined(&[spec(), checkpoint(PREVIOUS, 2), metrics()]),
        joined(&[spec(), checkpoint(CHECKPOINT, 6), metrics()]),
    ]
}
