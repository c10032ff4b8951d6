//! One step of training: Algorithm 1 of the paper, and everything else that is trained here, by other values of its parts.
//!
//! **Problem.** min over weights of E max_{|d| ≤ ε} ℓ(G(x + d), y), eq. (7), with G the soft smoothed classifier in the
//! coordinates of a projection, eq. (6).
//!
//! **Method.** Lines 5 to 7 of the box: a mini batch; for each of its inputs projected gradient ascent on the loss of G over
//! m fixed draws of noise, the network in evaluation mode; a step of SGD on the loss at the perturbed inputs, over the same
//! draws, the network in training mode. Without an attack it is training under noise, without noise ordinary training.
//!
//! **Deviations.** The ball is one of codes, which for an orthonormal basis is the same (see [`crate::input_codec`]). What is
//! minimised at the perturbed input is, unless asked otherwise, the mean of the losses of the draws instead of the loss of
//! their mean: the authors of SmoothAdv found it better.

use super::batches::{images, order};
use super::schedule::{RunPosition, epsilon, learning_rate};
use super::setup::TrainSetup;
use super::sgd::{average, descend};
use crate::attack::noisy::Noisy;
use crate::attack::perturbation_basis::PerturbationBasis;
use crate::attack::pgd::{AttackedNetwork, Perturbed, PgdParams, Victims, pgd};
use crate::net::architecture::ArchitectureError;
use crate::net::kernel::Isa;
use crate::net::loss::{Loss, Targets};
use crate::net::parameters::{ParameterLayout, Weights};
use crate::net::pass::{Mode, Pass, Wanted};
use crate::net::plan::Choice;
use gambeson_data::dataset::Dataset;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// How much running statistics move towards those of a batch.
const STATISTICS_MOMENTUM: f32 = 0.1;
/// Seeds of what is random, from the seed of the run: no two are the same, and none is the seed with which somebody will
/// certify the network.
const NOISE: u64 = 0x4e4f_4953_455f_5452;
const STARTS: u64 = 0x5354_4152_5453_5f54;
const WEIGHTS: u64 = 0x5745_4947_4854_535f;
const EVALUATION: u64 = 0x4556_414c_5541_5445;

/// The numbers that change in the course of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Steps done.
    pub step: usize,
    /// The network's.
    pub weights: Weights,
    /// The last step of the optimiser.
    pub velocity: Vec<f32>,
    /// The running mean of the weights, where one is kept.
    pub mean: Option<Weights>,
}

impl State {
    /// At the beginning of a run.
    fn initial(setup: &TrainSetup) -> Result<Self, ArchitectureError> {
        let places = ParameterLayout::new(&setup.architecture)?;
        let mut rng = ChaCha8Rng::seed_from_u64(setup.spec.seed ^ WEIGHTS);
        let weights = Weights::initial(&places, &mut rng);
        let mean = setup.spec.optimiser.average.map(|_| weights.clone());
        let velocity = vec![0.0; weights.parameters.len()];
        Ok(Self { step: 0, weights, velocity, mean })
    }
}

/// Room for the passes of a step.
fn first_of(setup: &TrainSetup) -> Result<Pass, ArchitectureError> {
    let rows = setup.spec.optimiser.batch * setup.spec.objective.draws();
    Pass::new(&setup.architecture, rows, Choice::ByShape, Isa::detect(), setup.memory)
}

/// What a step did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepReport {
    /// Sum of the losses of its inputs.
    pub loss: f64,
    /// Inputs whose mean answer was right.
    pub correct: usize,
    /// Inputs.
    pub inputs: usize,
    /// Step size.
    pub learning_rate: f64,
    /// Radius of the attack; 0 without one.
    pub epsilon: f64,
}

/// A network in training.
pub struct Trainer<'a> {
    setup: &'a TrainSetup,
    state: State,
    per_epoch: usize,
    pass: Pass,
    /// Of which epoch, and in it.
    order: (usize, Vec<u32>),
    noisy: Noisy,
    perturbed: Perturbed,
    images: Vec<f32>,
    codes: Vec<f32>,
    by_scores: Vec<f32>,
}

impl<'a> Trainer<'a> {
    /// At the beginning of a run.
    pub fn new(setup: &'a TrainSetup) -> Result<Self, ArchitectureError> {
        let pass = first_of(setup)?; // refuses what does not fit into memory before any weight is made
        Ok(Self::with(setup, pass, State::initial(setup)?))
    }

    /// Anywhere in a run. The state must be one of this setup.
    pub fn resume(setup: &'a TrainSetup, state: State) -> Result<Self, ArchitectureError> {
        Ok(Self::with(setup, first_of(setup)?, state))
    }

    /// With a pass that has room for the batches of the setup.
    pub(super) fn with(setup: &'a TrainSetup, pass: Pass, state: State) -> Self {
        Self {
            per_epoch: (setup.train.len() / setup.spec.optimiser.batch).max(1),
            pass,
            order: (usize::MAX, Vec::new()),
            noisy: Noisy::default(),
            perturbed: Perturbed::default(),
            images: Vec::new(),
            codes: Vec::new(),
            by_scores: Vec::new(),
            setup,
            state,
        }
    }

    /// What another can go on with.
    pub(super) fn into_parts(self) -> (Pass, State) {
        (self.pass, self.state)
    }

    /// Where it is.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Steps of an epoch.
    pub fn per_epoch(&self) -> usize {
        self.per_epoch
    }

    /// Steps of the whole run.
    pub fn steps(&self) -> usize {
        self.per_epoch.saturating_mul(self.setup.spec.optimiser.epochs)
    }

    /// The weights that are kept in the end: the running mean, or the last.
    pub fn kept(&self) -> &Weights {
        self.state.mean.as_ref().unwrap_or(&self.state.weights)
    }

    /// One step.
    #[allow(clippy::missing_panics_doc)] // labels were looked for in the setup
    pub fn step(&mut self) -> StepReport {
        let TrainSetup { spec, train, codec, sigma, .. } = self.setup;
        let (batch, draws, rank) = (spec.optimiser.batch, spec.objective.draws(), codec.rank());
        let place = RunPosition { step: self.state.step, per_epoch: self.per_epoch };
        let (epoch, at) = (place.step / self.per_epoch, place.step % self.per_epoch);
        if self.order.0 != epoch {
            self.order = (epoch, order(spec.seed, epoch, train.len()));
        }

        // Line 5: a mini batch.
        let samples = &self.order.1[at * batch..][..batch];
        let first = place.step as u64 * batch as u64;
        let numbers: Vec<u64> = (first..first + batch as u64).collect();
        let all_labels = train.labels().expect("labels");
        let labels: Vec<u16> = samples.iter().map(|&sample| all_labels[sample as usize]).collect();
        self.images.resize(batch * codec.input().len(), 0.0);
        images(train, &spec.data, spec.seed, samples, first, &mut self.images);
        self.codes.resize(batch * rank, 0.0);
        codec.encode(&self.images, &mut self.codes);
        self.noisy.draw(spec.seed ^ NOISE, &numbers, *sigma, draws, rank);
        self.pass.load(&self.state.weights);

        // Line 6: projected gradient ascent.
        let inner = spec.objective.inner();
        let radius = inner.map_or(0.0, |inner| epsilon(&inner, place));
        let mut codes = &self.codes;
        if let Some(inner) = inner.filter(|_| radius > 0.0) {
            let params = PgdParams { range: self.setup.range, ..PgdParams::new(inner.norm, inner.steps) };
            let epsilons = vec![radius; batch];
            let victims = Victims {
                values: &self.images,
                codes,
                labels: &labels,
                epsilons: &epsilons,
                numbers: &numbers,
            };
            let mut attacked = AttackedNetwork {
                pass: &mut self.pass,
                codec,
                noisy: &mut self.noisy,
                loss: Loss::SoftCrossEntropy,
            };
            pgd(
                &params,
                &PerturbationBasis::Code,
                victims,
                &mut attacked,
                spec.seed ^ STARTS,
                &mut self.perturbed,
            );
            codes = &self.perturbed.codes;
        }

        // Line 7: a step of SGD.
        let rows = self.noisy.rows(codec, codes);
        let scores = self.pass.forward(rows, Mode::Training);
        self.by_scores.resize(scores.len(), 0.0);
        let classes = self.setup.architecture.classes;
        let targets = Targets { labels: &labels, draws, classes, smoothing: spec.optimiser.label_smoothing };
        let value = spec.objective.loss().of(scores, targets, &mut self.by_scores);
        self.pass.backward(&self.by_scores, Wanted { weights: true, input: false });
        let rate = learning_rate(&spec.optimiser, place);
        let State { step, weights, velocity, mean } = &mut self.state;
        descend(&spec.optimiser, rate, self.pass.parameter_gradient(), velocity, &mut weights.parameters);
        self.pass.update_statistics(STATISTICS_MOMENTUM, &mut weights.statistics);
        *step += 1;
        if let (Some(mean), Some(old)) = (mean, spec.optimiser.average) {
            average(old, *step, weights, mean);
        }
        StepReport {
            loss: value.sum,
            correct: value.correct,
            inputs: batch,
            learning_rate: rate,
            epsilon: radius,
        }
    }

    /// How many of `count` samples, evenly chosen, the kept network answers rightly, each under one draw of noise, and of
    /// how many.
    pub fn evaluate(&mut self, data: &Dataset, count: usize) -> (usize, usize) {
        let TrainSetup { codec, sigma, spec, .. } = self.setup;
        let Some(labels) = data.labels() else { return (0, 0) };
        let (count, each, rank) = (count.min(data.len()), codec.input().len(), codec.rank());
        let kept = self.kept().clone();
        self.pass.load(&kept);
        let (classes, mut correct) = (self.setup.architecture.classes, 0);
        let samples: Vec<usize> = (0..count).map(|at| at * data.len() / count).collect();
        for part in samples.chunks(spec.optimiser.batch) {
            let numbers: Vec<u64> = part.iter().map(|&sample| sample as u64).collect();
            self.images.resize(part.len() * each, 0.0);
            for (&sample, image) in part.iter().zip(self.images.chunks_exact_mut(each)) {
                data.sample_f32(sample, image);
            }
            self.codes.resize(part.len() * rank, 0.0);
            codec.encode(&self.images, &mut self.codes);
            self.noisy.draw(spec.seed ^ EVALUATION, &numbers, *sigma, 1, rank);
            let rows = self.noisy.rows(codec, &self.codes);
            let scores = self.pass.forward(rows, Mode::Evaluation);
            let answers = scores.chunks_exact(classes).map(gambeson_smooth::classifier::highest);
            let right = answers.zip(part).filter(|(answer, sample)| *answer == u32::from(labels[**sample]));
            correct += right.count();
        }
        (correct, count)
    }
}
