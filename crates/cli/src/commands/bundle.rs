//! `gambeson bundle`: a run in one folder or archive, for others to check.

use super::certify::{data_params, interruptible, noise_levels, reading_params};
use crate::args::BundleArguments;
use crate::ended::Ended;
use crate::json;
use crate::live_data::LiveData;
use crate::progress::say;
use crate::screen::{command, shown, shown_path, wrapped};
use anyhow::bail;
use gambeson::bundle::manifest::{LeftOut, PublicData};
use gambeson::{Bundle, BundleParams, Context, ModelParams};
use gambeson_smooth::claim::grouped;
use serde_json::Value;
use std::io::{self, Write};

/// Columns before the text of a line.
const INDENT: usize = 13;

pub(super) fn run(
    arguments: &BundleArguments,
    stdout: &mut impl Write,
    context: &Context,
) -> anyhow::Result<Ended> {
    interruptible(|| {
        let params = params(arguments, context)?;
        let mut bundle = LiveData::observed(context, |context| gambeson::bundle(context, &params))?;
        bundle.save(&arguments.out)?;
        json::print_or(arguments.json, &bundle, stdout, |stdout| print(&bundle, arguments, stdout))?;
        if bundle.manifest().complete {
            return Ok(Ended::AsAsked);
        }
        say("the run is incomplete, and the bundle says so");
        Ok(Ended::FellShort)
    })
}

/// What the folder of a run has, or what is named in its place.
fn params(arguments: &BundleArguments, context: &Context) -> anyhow::Result<BundleParams> {
    let folder = match &arguments.run[..] {
        [folder] if folder.is_dir() => Some(folder),
        several => match several.iter().find(|path| path.is_dir()) {
            Some(folder) => bail!("{}: give the folder of one run, or files of records", folder.display()),
            None => None,
        },
    };
    let mut params = match (folder, &arguments.model, &arguments.data) {
        (Some(folder), ..) => BundleParams::of_folder(context, folder)?,
        (None, Some(model), Some(data)) => BundleParams::new(arguments.run.clone(), model, data),
        (None, ..) => bail!("give the --model and the --data that the records are about"),
    };
    if let Some(model) = &arguments.model {
        params.model.clone_from(model);
    }
    if let Some(data) = &arguments.data {
        params.data.clone_from(data);
    }
    let found = params.model_params.projection.take();
    params.model_params = ModelParams {
        projection: arguments.projection.clone().or(found),
        certificate: arguments.projection_certificate.clone(),
        noise_levels: noise_levels(arguments.noise_levels.as_deref(), context)?,
        ..reading_params(&arguments.reading)
    };
    params.data_params = data_params(&arguments.reading);
    (params.with_data, params.without_network) = (arguments.with_data, arguments.without_network);
    Ok(params)
}

fn print(bundle: &Bundle, arguments: &BundleArguments, stdout: &mut impl Write) -> io::Result<()> {
    let manifest = bundle.manifest();
    let mut row =
        |name: &str, text: &str| writeln!(stdout, "{}", wrapped(&format!("{name:<INDENT$}{text}"), INDENT));
    let out = shown_path(&arguments.out);
    let count = manifest.files.len() + 1;
    row("bundle", &format!("{out}: {count} files, {} bytes", grouped(bundle.bytes())))?;
    let records = &manifest.claim["records"];
    let planned = &manifest.claim["selection"]["count"];
    let state = if manifest.complete { "" } else { "INCOMPLETE: " };
    let number = |value: &Value| grouped(value.as_u64().unwrap_or(0));
    row(
        "records",
        &format!(
            "{state}{} of the {} inputs planned; head, labels, errors, radii and projection were checked, draws were not",
            number(records),
            number(planned)
        ),
    )?;
    let mut given = String::new();
    for part in &manifest.left_out {
        let (name, option) = match (part, &manifest.data.public) {
            (LeftOut::Network, _) => ("the network".to_owned(), "--model NETWORK".to_owned()),
            (LeftOut::Data, Some(PublicData { name, split })) => {
                let split =
                    if split == "test" { String::new() } else { format!(" --split {}", shown(split)) };
                (
                    format!("the data, which are public as {}", shown(name)),
                    format!("--data {}{split}", shown(name)),
                )
            }
            (LeftOut::Data, None) => ("the data".to_owned(), "--data DATA".to_owned()),
        };
        row("left out", &name)?;
        given.push(' ');
        given.push_str(&option);
    }
    row("manifest", bundle.sha256())?;
    let check = format!("gambeson check {out} --all{given}");
    writeln!(stdout, "Check it:\n   {}", command(&check, 7))
}
