//! A network as a classifier, computed by our engine.
//!
//! Rows are normalised by whoever makes them ([`InputMap`]), after noise and projection. Batches are computed on the thread
//! that asks, a few images at a time: draws are parallel already. Answers do not depend on what shares a batch, nor on its
//! size.

use crate::net::architecture::{Architecture, ArchitectureError};
use crate::net::inference::Inference;
use crate::net::kernel::Isa;
use crate::net::parameters::Weights;
use crate::onnx::affine;
use crate::weights::network::Network;
use gambeson_data::dataset::Shape;
use gambeson_lowrank::MemoryLimit;
use gambeson_smooth::classifier::{Classifier, highest};
use gambeson_smooth::input_map::{InputMap, InputMapError, Layout};
use std::convert::Infallible;
use std::sync::{Mutex, PoisonError};
use thiserror::Error;

/// A network and how it takes its rows.
pub struct OwnModel {
    inference: Inference,
    /// `None`: rows are taken as they are.
    input_map: Option<InputMap>,
    /// Scores of batches that are done.
    idle: Mutex<Vec<Vec<f32>>>,
}

/// Why a network is no classifier.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OwnModelError {
    /// Layers that do not fit together.
    #[error(transparent)]
    Architecture(#[from] ArchitectureError),
    /// Normalised numbers would leave the range of a network's.
    #[error(transparent)]
    InputMap(#[from] InputMapError),
}

impl std::fmt::Debug for OwnModel {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Architecture { input, classes, layers } = self.inference.architecture();
        write!(formatter, "OwnModel({} layers, {input} to {classes})", layers.len())
    }
}

impl OwnModel {
    /// The map is for images of the architecture's input. Refused where images that go together take more than `memory`.
    pub fn new(
        architecture: &Architecture,
        weights: &Weights,
        input_map: Option<InputMap>,
        memory: MemoryLimit,
    ) -> Result<Self, ArchitectureError> {
        let rows = input_map.as_ref().map_or(Layout::ChannelsFirst, InputMap::layout);
        let inference = Inference::of_rows(architecture, weights, Isa::detect(), rows, memory)?;
        Ok(Self { inference, input_map, idle: Mutex::new(Vec::new()) })
    }

    /// A network with its own normalisation, or none.
    pub fn of_network(network: &Network, memory: MemoryLimit) -> Result<Self, OwnModelError> {
        let Shape { height, width, .. } = network.architecture.input;
        let map = network.normalisation.as_ref().map(|(mean, std)| {
            let maps = mean.iter().zip(std).map(|(mean, std)| affine(*mean, *std)).collect();
            InputMap::new(maps, height * width, Layout::ChannelsFirst)
        });
        Ok(Self::new(&network.architecture, &network.weights, map.transpose()?, memory)?)
    }

    /// Shape of the images it takes.
    pub fn shape(&self) -> Shape {
        self.inference.architecture().input
    }

    /// Scores of rows as [`classify`](Classifier::classify) takes them, rows × classes.
    ///
    /// Panics unless there is room for each.
    pub fn scores(&self, batch: &[f32], scores: &mut [f32]) {
        self.inference.scores_on_one_thread(batch, scores);
    }
}

impl Classifier for OwnModel {
    type Error = Infallible;

    fn classes(&self) -> usize {
        self.inference.architecture().classes
    }

    fn dim(&self) -> usize {
        self.shape().len()
    }

    fn input_map(&self) -> Option<&InputMap> {
        self.input_map.as_ref()
    }

    fn at_once(&self) -> Option<usize> {
        Some(self.inference.together())
    }

    fn classify(&self, batch: &[f32], rows: usize, out: &mut [u32]) -> Result<(), Infallible> {
        assert!(batch.len() == rows * self.dim() && out.len() == rows, "a batch of {rows} rows");
        let lock = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let mut scores = lock().pop().unwrap_or_default();
        scores.resize(rows * self.classes(), 0.0);
        self.scores(batch, &mut scores);
        let answers = out.iter_mut().zip(scores.chunks_exact(self.classes()));
        answers.for_each(|(out, row)| *out = highest(row));
        lock().push(scores);
        Ok(())
    }
}
