//! What `--model` names.

use crate::args::Toy;
use crate::progress::say;
use anyhow::{Context, anyhow, bail};
use gambeson_data::dataset::Shape;
use gambeson_learn::convert::ConvertProblem;
use gambeson_learn::onnx::{Batching, Normalisation, OnnxError};
use gambeson_learn::runtime::{ModelError, NetworkModel};
use gambeson_learn::smoothed::{NamedClassifier, OpenedModel, SmoothedError, SmoothedModel, SmoothedParams};
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::file::sha256_of_numbers;
use gambeson_lowrank::matrix_file::npy::read_vector;
use gambeson_lowrank::projection::representation::{Representation, Transform};
use gambeson_smooth::classifier::Classifier;
use gambeson_smooth::input_map::InputMap;
use gambeson_smooth::toys::{Ball, HalfSpace};
use std::ffi::OsStr;
use std::path::Path;

/// A classifier from the command line.
pub(crate) enum Model {
    Network(NetworkModel),
    HalfSpace(HalfSpace),
    Ball(Ball),
}

impl Classifier for Model {
    type Error = OnnxError;

    fn classes(&self) -> usize {
        match self {
            Self::Network(model) => model.classes(),
            Self::HalfSpace(toy) => toy.classes(),
            Self::Ball(toy) => toy.classes(),
        }
    }

    fn dim(&self) -> usize {
        match self {
            Self::Network(model) => model.dim(),
            Self::HalfSpace(toy) => toy.dim(),
            Self::Ball(toy) => toy.dim(),
        }
    }

    fn input_map(&self) -> Option<&InputMap> {
        match self {
            Self::Network(model) => model.input_map(),
            Self::HalfSpace(_) | Self::Ball(_) => None,
        }
    }

    fn at_once(&self) -> Option<usize> {
        match self {
            Self::Network(model) => model.at_once(),
            Self::HalfSpace(_) | Self::Ball(_) => None,
        }
    }

    fn classify(&self, batch: &[f32], rows: usize, out: &mut [u32]) -> Result<(), OnnxError> {
        match self {
            Self::Network(model) => return model.classify(batch, rows, out),
            Self::HalfSpace(toy) => toy.classify(batch, rows, out),
            Self::Ball(toy) => toy.classify(batch, rows, out),
        }
        .unwrap_or_else(|never| match never {});
        Ok(())
    }
}

/// The network of `--model`, ready to be smoothed.
pub(super) fn network(params: &SmoothedParams<'_>) -> anyhow::Result<SmoothedModel<Model>> {
    let OpenedModel { smoothed, unsupported, not_compared } = SmoothedModel::open(params).map_err(hinted)?;
    let path = params.network.display();
    if let Some(unsupported) = unsupported {
        say(&format!("{path}: run by ONNX Runtime, since our engine does not have {unsupported}"));
    }
    if let Some(reason) = not_compared {
        say(&format!("run by our engine without the usual comparison: {reason}"));
    }
    if let NetworkModel::Onnx(model) = &smoothed.classifier
        && let Batching::Fixed(rows) = model.batching()
    {
        say(&format!("{path}: the graph takes batches of {rows} only, which is slow"));
    }
    Ok(smoothed.map(Model::Network))
}

/// The normalisation of --mean and --std, if they are given.
pub(crate) fn normalisation(
    mean: &[f32],
    std: &[f32],
    shape: Shape,
) -> anyhow::Result<Option<Normalisation>> {
    if mean.is_empty() && std.is_empty() {
        return Ok(None);
    }
    Ok(Some(Normalisation::new(mean, std, shape.channels).context("--mean and --std")?))
}

/// The error, with what to do about it.
pub(crate) fn hinted(error: SmoothedError) -> anyhow::Error {
    const TWICE: &str = "leave out --mean and --std";
    let hint = match &error {
        SmoothedError::Model(model) => match **model {
            ModelError::Unsupported { .. } => "--runtime onnx leaves the graph to ONNX Runtime",
            ModelError::Disagree { .. } => {
                "--runtime own or --runtime onnx takes one of them without comparing"
            }
            ModelError::NormalisedTwice { .. } => TWICE,
            _ => return error.into(),
        },
        SmoothedError::Network(network) => match *network.problem {
            ConvertProblem::NormalisedTwice => TWICE,
            _ => return error.into(),
        },
        _ => return error.into(),
    };
    anyhow!("{error}; {hint}")
}

/// The classifier of `toy:half-space,offset=B,cosine=K` and so on.
pub(super) fn toy_classifier(
    toy: &Toy<'_>,
    text: &str,
    images: Shape,
    memory: MemoryLimit,
) -> anyhow::Result<NamedClassifier<Model>> {
    let (classifier, name) =
        toy_model(toy, text, images, memory).with_context(|| format!("--model {text}"))?;
    Ok(NamedClassifier { classifier, name, runtime: None, images })
}

/// A toy and its name in records.
fn toy_model(
    toy: &Toy<'_>,
    text: &str,
    shape: Shape,
    memory: MemoryLimit,
) -> anyhow::Result<(Model, String)> {
    let kind = toy.kind.as_str();
    let allowed: &[&str] = match kind {
        "half-space" => &["offset", "cosine", "normal"],
        "ball" => &["radius", "centre"],
        _ => bail!("unknown toy `{kind}`: expected half-space or ball"),
    };
    let mut given: Vec<(&str, &OsStr)> = Vec::new();
    for (key, value) in &toy.given {
        let Some(value) = value.filter(|_| allowed.contains(&key.as_str())) else {
            let word = value.map_or_else(|| key.clone(), |value| format!("{key}={}", value.display()));
            bail!("unknown parameter `{word}`: expected {}=...", allowed.join("=..., "));
        };
        if given.iter().any(|(other, _)| other == key) {
            bail!("{key} is given twice");
        }
        given.push((key, value));
    }
    let value = |key: &str| given.iter().find(|(other, _)| *other == key).map(|(_, value)| *value);
    let number = |key: &str| {
        let parse = |value: &OsStr| {
            let value = value.to_string_lossy();
            value.parse::<f64>().with_context(|| format!("{key}={value}: not a number"))
        };
        value(key).map(parse).transpose()
    };
    if kind == "ball" {
        let Some(radius) = number("radius")? else { bail!("a ball needs radius=R") };
        let centre = vec![number("centre")?.unwrap_or(0.0); shape.len()];
        return Ok((Model::Ball(Ball::new(centre, radius)?), text.to_owned()));
    }
    let mut name = text.to_owned();
    let normal = match (value("cosine"), value("normal")) {
        (Some(_), Some(_)) => bail!("give cosine or normal, not both"),
        (None, None) => vec![1.0 / shape.len() as f64; shape.len()],
        (Some(index), None) => cosine(&index.to_string_lossy(), shape)?,
        (None, Some(path)) => {
            let normal = read_vector(Path::new(path), memory)?;
            if normal.len() != shape.len() {
                let path = path.display();
                bail!("{path}: has {} numbers, but the inputs have {}", normal.len(), shape.len());
            }
            name = format!("{name} sha256 {}", sha256_of_numbers(&normal));
            normal
        }
    };
    let toy = HalfSpace::new(normal, number("offset")?.unwrap_or(0.0))?;
    Ok((Model::HalfSpace(toy), name))
}

/// The values of one coordinate of the cosine transform of the first channel.
fn cosine(index: &str, shape: Shape) -> anyhow::Result<Vec<f64>> {
    let plane = shape.height * shape.width;
    let Some(index) = index.parse::<usize>().ok().filter(|&index| index < plane) else {
        bail!("cosine={index}: expected a whole number from 0 to {}", plane - 1);
    };
    let kind = if shape.height == 1 { Representation::Dct1 } else { Representation::Dct2 };
    let mut normal = vec![0.0; shape.len()];
    normal[index] = 1.0;
    Transform::new(kind, shape.height, shape.width)?.inverse(&mut normal[..plane]);
    Ok(normal)
}
