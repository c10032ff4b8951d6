//! What computes a network, and a network as a classifier whichever it is.

use super::own::OwnModel;
use crate::onnx::{Normalisation, OnnxError, OnnxModel};
use gambeson_smooth::classifier::Classifier;
use gambeson_smooth::input_map::InputMap;
use gambeson_smooth::record::ONNX_RUNTIME;

/// What may compute a network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RuntimeChoice {
    /// Our engine if it can, else ONNX Runtime.
    #[default]
    Auto,
    /// Our engine only.
    Own,
    /// ONNX Runtime only.
    Onnx,
}

/// What computes a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runtime {
    /// Our engine.
    Own,
    /// ONNX Runtime.
    Onnx,
}

impl Runtime {
    /// Its name in records. The number of the engine rises when its rounding changes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Own => "gambeson 3",
            Self::Onnx => ONNX_RUNTIME,
        }
    }
}

/// What records call a network: its hash, and a normalisation that is not in its file.
pub fn network_name(sha256: &str, normalisation: Option<&Normalisation>) -> String {
    match normalisation {
        None => sha256.to_owned(),
        Some(both) => format!("{sha256} mean {:?} std {:?}", both.mean(), both.std()),
    }
}

impl RuntimeChoice {
    /// The choice with which a run goes on whose records name a runtime; `None` if the name is unknown.
    pub fn recorded(name: &str) -> Option<Self> {
        [(Runtime::Own, Self::Own), (Runtime::Onnx, Self::Onnx)]
            .into_iter()
            .find_map(|(runtime, choice)| (runtime.name() == name).then_some(choice))
    }
}

/// A network as a classifier.
#[derive(Debug)]
pub enum NetworkModel {
    /// Computed by our engine.
    Own(Box<OwnModel>),
    /// Computed by ONNX Runtime.
    Onnx(Box<OnnxModel>),
}

impl NetworkModel {
    /// What computes it.
    pub fn runtime(&self) -> Runtime {
        match self {
            Self::Own(_) => Runtime::Own,
            Self::Onnx(_) => Runtime::Onnx,
        }
    }
}

impl Classifier for NetworkModel {
    type Error = OnnxError;

    fn classes(&self) -> usize {
        match self {
            Self::Own(model) => model.classes(),
            Self::Onnx(model) => model.classes(),
        }
    }

    fn dim(&self) -> usize {
        match self {
            Self::Own(model) => model.dim(),
            Self::Onnx(model) => model.dim(),
        }
    }

    fn input_map(&self) -> Option<&InputMap> {
        match self {
            Self::Own(model) => model.input_map(),
            Self::Onnx(model) => model.input_map(),
        }
    }

    fn at_once(&self) -> Option<usize> {
        match self {
            Self::Own(model) => model.at_once(),
            Self::Onnx(model) => model.at_once(),
        }
    }

    fn classify(&self, batch: &[f32], rows: usize, out: &mut [u32]) -> Result<(), OnnxError> {
        match self {
            Self::Own(model) => model.classify(batch, rows, out).map_err(|never| match never {}),
            Self::Onnx(model) => model.classify(batch, rows, out),
        }
    }
}
