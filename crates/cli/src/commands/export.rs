//! `gambeson export`: a network as a file of another kind.

use crate::args::ExportArguments;
use crate::ended::Ended;
use crate::json;
use crate::screen::shown_path;
use gambeson::{Context, ExportParams, export};
use gambeson_learn::network_format::NetworkFormat;
use gambeson_learn::weights::format::WeightsFormat;
use std::io::Write;

pub(super) fn run(
    arguments: &ExportArguments,
    stdout: &mut impl Write,
    context: &Context,
) -> anyhow::Result<Ended> {
    let params =
        ExportParams { shape: arguments.shape, mean: arguments.mean.clone(), std: arguments.std.clone() };
    let exported = export(context, &arguments.network, &arguments.out, &params)?;
    json::print_or(arguments.json, &exported, stdout, |stdout| {
        let from = match exported.format {
            NetworkFormat::Weights(WeightsFormat::Own) => "a file of gambeson",
            NetworkFormat::Weights(_) => "a state dict",
            NetworkFormat::Onnx => "an ONNX graph",
        };
        let record = exported.record();
        writeln!(stdout, "network      {from}: {} layers, {} parameters", record.layers, record.parameters)?;
        let normalised = if record.normalised { ", normalised first" } else { "" };
        let (input, classes) = (exported.input, record.classes);
        writeln!(stdout, "takes        images of {input} to {classes} classes{normalised}")?;
        if exported.channels_last {
            writeln!(stdout, "             (channels last before, channels first now)")?;
        }
        writeln!(stdout, "wrote        {} ({} bytes)", shown_path(&exported.path), record.bytes)
    })?;
    Ok(Ended::AsAsked)
}
