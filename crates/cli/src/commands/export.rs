//! `gambeson export`: a network as a file of another kind.

use crate::args::ExportArguments;
use crate::ended::Ended;
use crate::json;
use crate::screen::shown_path;
use anyhow::{Context, anyhow};
use gambeson_learn::convert::{self, Source};
use gambeson_learn::network_format::NetworkFormat;
use gambeson_learn::onnx::Normalisation;
use gambeson_learn::weights::format::WeightsFormat;
use gambeson_lowrank::MemoryLimit;
use serde::Serialize;
use std::io::Write;

/// What `export --json` prints.
#[derive(Serialize)]
struct Exported<'a> {
    file: &'a str,
    sha256: &'a str,
    bytes: usize,
    /// What the network was read from: gambeson, state-dict or onnx.
    from: &'static str,
    from_sha256: &'a str,
    /// channels, height, width.
    input: [usize; 3],
    classes: usize,
    layers: usize,
    parameters: usize,
    normalised: bool,
}

pub(super) fn run(
    arguments: &ExportArguments,
    stdout: &mut impl Write,
    memory: MemoryLimit,
) -> anyhow::Result<Ended> {
    convert::target(&arguments.out)?;
    let path = &arguments.network;
    let mut source = convert::read(path, arguments.shape, memory)?;
    if !arguments.mean.is_empty() {
        let channels = source.network.architecture.input.channels;
        let given =
            Normalisation::new(&arguments.mean, &arguments.std, channels).context("--mean and --std")?;
        source.normalise(path, &given).map_err(|error| anyhow!("{error}; leave out --mean and --std"))?;
    }
    let Source { network, format, sha256: from, channels_last } = source;
    let (sha256, bytes) = convert::write(&network, &arguments.out)?;
    let input = network.architecture.input;
    let exported = Exported {
        file: &arguments.out.to_string_lossy(),
        sha256: &sha256,
        bytes,
        from: match format {
            NetworkFormat::Weights(WeightsFormat::Own) => "gambeson",
            NetworkFormat::Weights(_) => "state-dict",
            NetworkFormat::Onnx => "onnx",
        },
        from_sha256: &from,
        input: [input.channels, input.height, input.width],
        classes: network.architecture.classes,
        layers: network.architecture.layers.len(),
        parameters: network.weights.parameters.len(),
        normalised: network.normalisation.is_some(),
    };
    if arguments.json {
        writeln!(stdout, "{}", json::line(&exported)?)?;
    } else {
        let from = match format {
            NetworkFormat::Weights(WeightsFormat::Own) => "a file of gambeson",
            NetworkFormat::Weights(_) => "a state dict",
            NetworkFormat::Onnx => "an ONNX graph",
        };
        let Exported { layers, parameters, classes, .. } = exported;
        writeln!(stdout, "network      {from}: {layers} layers, {parameters} parameters")?;
        let normalised = if exported.normalised { ", normalised first" } else { "" };
        writeln!(stdout, "takes        images of {input} to {classes} classes{normalised}")?;
        if channels_last {
            writeln!(stdout, "             (channels last before, channels first now)")?;
        }
        writeln!(stdout, "wrote        {} ({bytes} bytes)", shown_path(&arguments.out))?;
    }
    stdout.flush()?;
    Ok(Ended::AsAsked)
}
