//! Passes through a network, one round at a time on request: the part of `bench/peers/training/compare.py` that is ours.
//!
//!     RAYON_NUM_THREADS=2 cargo run --release -p gambeson-learn --example network_worker -- FOLDER SIZE NAME
//!
//! FOLDER has `weights.safetensors` (a state dict of a CIFAR ResNet), `images.f32` (images × 3 × SIZE × SIZE, little-endian,
//! one batch) and `labels.u8` (a byte per image); for Algorithm 1 also `pool.u8` (images × 3 × 32 × 32), `pool-labels.u8` and
//! `coordinates.u32` (row and column of every frequency that is kept). Every line of standard input is a command, answered by one JSON object:
//!
//! - `WORKLOAD SECONDS`: does it once, then again and again for that long; `{iterations, seconds}` of the latter.
//! - `check WORKLOAD`: does it once and writes `NAME.WORKLOAD.QUANTITY.f32` for every quantity it computes; `{quantities}`.
//! - `memory STEPS`: so many steps of plain SGD; `{resident: [[step, KiB], …]}` after steps 10, 100, 500, … and the last.
//!
//! In between it waits for input, and all its threads sleep.

#![allow(clippy::print_stdout)]

use gambeson_data::dataset::{Dataset, DatasetParts, Shape, Values};
use gambeson_learn::net::inference::Inference;
use gambeson_learn::net::kernel::Isa;
use gambeson_learn::net::loss::{Loss, Targets};
use gambeson_learn::net::parameters::Weights;
use gambeson_learn::net::pass::{Mode, Pass, Wanted};
use gambeson_learn::net::plan::Choice;
use gambeson_learn::train::TrainSpec;
use gambeson_learn::train::setup::{TrainSetup, UsedProjection};
use gambeson_learn::train::trainer::{State, Trainer};
use gambeson_learn::weights::network::Network;
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::linalg::matrix::DenseMatrix;
use gambeson_lowrank::projection::representation::Representation;
use gambeson_lowrank::projection::{Channel, Origin, Projection};
use serde_json::{Value, json};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// What a round repeats.
#[derive(Clone, Copy)]
enum Workload {
    /// Scores of the batch, normalisations folded into the weights beforehand.
    Forward,
    /// Weights into the kernels' layout, forward by the batch's statistics, cross-entropy, backward by the weights, running
    /// statistics. No optimiser.
    Train,
    /// The same, and the gradient by the images.
    TrainInput,
    /// Forward by the running statistics, cross-entropy, backward by the images alone: a step of an attack on fixed weights.
    Attack,
    /// A whole step of Algorithm 1 on the native grid.
    Algorithm1,
}

impl Workload {
    fn named(name: &str) -> Option<Self> {
        match name {
            "forward" => Some(Self::Forward),
            "train" => Some(Self::Train),
            "train-input" => Some(Self::TrainInput),
            "attack" => Some(Self::Attack),
            "algorithm-1" => Some(Self::Algorithm1),
            _ => None,
        }
    }
}

/// What `compare.py` trains by Algorithm 1: the constants are those of `networks.py`.
const SPEC: &str = r#"
[data]
name = "pool"
crop = 4
flip = true
[model]
family = "res-net"
depth = 8
width = 16
[projection]
file = "coordinates"
grid = "native"
[noise]
sigma = 0.25
[objective]
kind = "algorithm-1"
epsilon = 0.25
steps = 2
draws = 2
[optimiser]
epochs = 1000000
batch = 128
learning_rate = 0.02
"#;

/// The setup of Algorithm 1 from the folder; none where it has no pool.
fn setup(folder: &Path) -> Result<Option<TrainSetup>, Box<dyn Error>> {
    if !folder.join("pool.u8").exists() {
        return Ok(None);
    }
    let shape = Shape { channels: 3, height: 32, width: 32 };
    let labels: Vec<u16> = std::fs::read(folder.join("pool-labels.u8"))?.into_iter().map(u16::from).collect();
    let pool = Dataset::new(DatasetParts {
        name: "pool".into(),
        shape,
        values: Values::U8(std::fs::read(folder.join("pool.u8"))?),
        labels: Some(labels),
        classes: (0..10).map(|class| class.to_string()).collect(),
        sources: Vec::new(),
    })?;
    let bytes = std::fs::read(folder.join("coordinates.u32"))?;
    let numbers: Vec<u32> = bytes.as_chunks().0.iter().map(|&number| u32::from_le_bytes(number)).collect();
    let rank = numbers.len() / 2;
    let mut entries = vec![0.0; 1024 * rank];
    for (a, place) in numbers.chunks_exact(2).enumerate() {
        entries[(place[0] * 32 + place[1]) as usize * rank + a] = 1.0;
    }
    let basis = DenseMatrix { rows: 1024, columns: rank, entries };
    let channel = || Channel { basis: basis.clone(), mean: None, error: 0.0 };
    let channels = vec![channel(), channel(), channel()];
    let projection = Projection::new(Representation::Dct2, shape, channels, Origin::default())?;
    let used = UsedProjection { projection, certificate: None };
    Ok(Some(TrainSetup::new(&TrainSpec::parse(SPEC, &[])?, pool, None, Some(used))?))
}

/// A network, a batch and room for all results.
struct Worker<'a> {
    /// Where the folder has what Algorithm 1 needs.
    trainer: Option<Trainer<'a>>,
    inference: Inference,
    pass: Pass,
    weights: Weights,
    images: Vec<f32>,
    labels: Vec<u16>,
    classes: usize,
    scores: Vec<f32>,
    loss: f32,
    by_scores: Vec<f32>,
    by_images: Vec<f32>,
}

impl<'a> Worker<'a> {
    fn read(folder: &Path, size: usize, setup: Option<&'a TrainSetup>) -> Result<Self, Box<dyn Error>> {
        let input = Shape { channels: 3, height: size, width: size };
        let (network, _) = Network::read(&folder.join("weights.safetensors"), input, MemoryLimit::NONE)?;
        let bytes = std::fs::read(folder.join("images.f32"))?;
        let images: Vec<f32> = bytes.as_chunks().0.iter().map(|&number| f32::from_le_bytes(number)).collect();
        let labels: Vec<u16> = std::fs::read(folder.join("labels.u8"))?.into_iter().map(u16::from).collect();
        let classes = network.architecture.classes;
        if images.len() != labels.len() * input.len()
            || labels.iter().any(|&label| usize::from(label) >= classes)
        {
            return Err("images and labels are not one batch".into());
        }
        let pass = Pass::new(
            &network.architecture,
            labels.len(),
            Choice::ByShape,
            Isa::detect(),
            MemoryLimit::NONE,
        )?;
        let velocity = vec![0.0; network.weights.parameters.len()];
        let state = State { step: 0, weights: network.weights.clone(), velocity, mean: None };
        let native = setup.filter(|setup| setup.architecture == network.architecture);
        let trainer = native.map(|setup| Trainer::resume(setup, state)).transpose()?;
        Ok(Self {
            trainer,
            inference: Inference::new(
                &network.architecture,
                &network.weights,
                Isa::detect(),
                MemoryLimit::NONE,
            )?,
            pass,
            weights: network.weights,
            scores: vec![0.0; labels.len() * classes],
            loss: 0.0,
            by_scores: vec![0.0; labels.len() * classes],
            by_images: vec![0.0; images.len()],
            images,
            labels,
            classes,
        })
    }

    fn run(&mut self, workload: Workload) {
        let (mode, wanted) = match workload {
            Workload::Forward => {
                self.inference.scores(&self.images, &mut self.scores);
                return;
            }
            Workload::Algorithm1 => {
                let trainer = self.trainer.as_mut().expect("asked of the native grid only");
                let report = trainer.step();
                #[allow(clippy::cast_possible_truncation)] // for a comparison
                let loss = (report.loss / report.inputs as f64) as f32;
                self.loss = loss;
                return;
            }
            Workload::Train => (Mode::Training, Wanted { weights: true, input: false }),
            Workload::TrainInput => (Mode::Training, Wanted { weights: true, input: true }),
            Workload::Attack => (Mode::Evaluation, Wanted { weights: false, input: true }),
        };
        if mode == Mode::Training {
            self.pass.load(&self.weights); // an optimiser has changed them
        }
        let scores = self.pass.forward(&self.images, mode);
        let targets = Targets { labels: &self.labels, draws: 1, classes: self.classes, smoothing: 0.0 };
        let value = Loss::MeanCrossEntropy.of(scores, targets, &mut self.by_scores);
        #[allow(clippy::cast_possible_truncation)] // for a comparison
        let loss = (value.sum / self.labels.len() as f64) as f32;
        self.loss = loss;
        self.pass.backward(&self.by_scores, wanted);
        if wanted.input {
            self.pass.input_gradient(&mut self.by_images);
        }
        if mode == Mode::Training {
            self.pass.update_statistics(0.1, &mut self.weights.statistics);
        }
    }

    /// Once before, so that threads are awake; then for at least this long.
    fn round(&mut self, workload: Workload, seconds: f64) -> Value {
        self.pass.load(&self.weights); // a training pass has put its own statistics into the normalisations
        self.run(workload);
        let (started, mut iterations) = (Instant::now(), 0);
        loop {
            self.run(workload);
            iterations += 1;
            let elapsed = started.elapsed().as_secs_f64();
            if elapsed >= seconds {
                return json!({ "iterations": iterations, "seconds": elapsed });
            }
        }
    }

    fn check(&mut self, workload: Workload, prefix: &str) -> Result<Value, Box<dyn Error>> {
        if let Workload::Algorithm1 = workload {
            let mut losses = Vec::new();
            for _ in 0..60 {
                self.run(workload);
                losses.push(self.loss);
            }
            let mean = losses[40..].iter().sum::<f32>() / 20.0;
            std::fs::write(format!("{prefix}.progress.f32"), mean.to_le_bytes())?;
            return Ok(json!({ "quantities": ["progress"] }));
        }
        // The running statistics stay those of the file.
        let statistics = self.weights.statistics.clone();
        self.pass.load(&self.weights);
        self.run(workload);
        self.weights.statistics = statistics;
        let loss = [self.loss];
        let quantities: &[(&str, &[f32])] = match workload {
            Workload::Forward | Workload::Algorithm1 => &[("scores", &self.scores)],
            Workload::Train => &[("loss", &loss), ("weights", self.pass.parameter_gradient())],
            Workload::TrainInput => {
                &[("loss", &loss), ("weights", self.pass.parameter_gradient()), ("images", &self.by_images)]
            }
            Workload::Attack => &[("loss", &loss), ("images", &self.by_images)],
        };
        let mut names = Vec::new();
        for (name, numbers) in quantities {
            let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
            std::fs::write(format!("{prefix}.{name}.f32"), bytes)?;
            names.push(*name);
        }
        Ok(json!({ "quantities": names }))
    }

    fn memory(&mut self, steps: usize) -> Result<Value, Box<dyn Error>> {
        let mut seen = Vec::new();
        for step in 1..=steps {
            self.run(Workload::Train);
            for (weight, gradient) in self.weights.parameters.iter_mut().zip(self.pass.parameter_gradient()) {
                *weight -= 0.01 * gradient;
            }
            if [10, 100, 500].contains(&step) || step == steps {
                seen.push((step, resident()?));
            }
        }
        Ok(json!({ "resident": seen, "loss": self.loss }))
    }
}

/// Memory of this process that is in use, in KiB.
fn resident() -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
    Ok(line.trim().trim_end_matches("kB").trim().parse()?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [folder, size, name] = words.as_slice() else {
        return Err("usage: network_worker FOLDER SIZE NAME".into());
    };
    let folder = PathBuf::from(folder);
    let setup = setup(&folder)?;
    let mut worker = Worker::read(&folder, size.parse()?, setup.as_ref())?;
    for line in std::io::stdin().lines() {
        let line = line?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let workload = |name: &str| Workload::named(name).ok_or_else(|| format!("no such workload: {name}"));
        let answer = match *words.as_slice() {
            ["check", what] => {
                let prefix = folder.join(format!("{name}.{what}"));
                worker.check(workload(what)?, &prefix.to_string_lossy())?
            }
            ["memory", steps] => worker.memory(steps.parse()?)?,
            [what, seconds] => worker.round(workload(what)?, seconds.parse()?),
            _ => return Err(format!("not a command: {line}").into()),
        };
        println!("{answer}");
    }
    Ok(())
}
