//! `gambeson check BUNDLE`: everything that a bundle claims.

use super::records;
use super::records_text;
use crate::args::CheckArguments;
use crate::commands::certify::{data_params, interruptible};
use crate::ended::Ended;
use crate::json;
use crate::live_data::LiveData;
use crate::progress::{live_line, say};
use crate::report::decimal::up;
use crate::screen::{proven, shown, shown_path};
use gambeson::bundle::manifest::LeftOut;
use gambeson::bundle::{CheckedBundle, NotChecked, PageCheck, PartOrigin};
use gambeson::{BundleCheck, CheckBundleParams, Context, check_bundle, open_bundle};
use gambeson_smooth::claim::grouped;
use std::io::{self, Write};
use std::path::Path;

pub(super) fn run(
    path: &Path,
    arguments: &CheckArguments,
    stdout: &mut impl Write,
    context: &Context,
) -> anyhow::Result<Ended> {
    interruptible(|| check(path, arguments, stdout, context))
}

fn check(
    path: &Path,
    arguments: &CheckArguments,
    stdout: &mut impl Write,
    context: &Context,
) -> anyhow::Result<Ended> {
    records::refuse_other_questions(arguments)?;
    let replay = &arguments.replay;
    let bundle = LiveData::observed(context, |context| open_bundle(context, path))?;
    let params = CheckBundleParams {
        model: replay.model.clone(),
        data: replay.data.clone(),
        data_params: data_params(&replay.reading),
        model_params: records::model_params(replay, context)?,
        records: records::check_params(arguments),
    };
    let bar = live_line(None, "{spinner} {elapsed} [{bar:20}] {pos} of {len} records");
    let checked = check_bundle(&records::observed(context, &bar), &bundle, &params);
    bar.finish_and_clear();
    let checked = checked?;
    json::print_or(arguments.json, &checked, stdout, |stdout| print(path, &checked, stdout))?;
    if checked.records.stopped {
        say("stopped before the check was done");
    }
    Ok(if checked.passed() { Ended::AsAsked } else { Ended::FellShort })
}

fn print(path: &Path, checked: &BundleCheck, stdout: &mut impl Write) -> io::Result<()> {
    let BundleCheck { records, bundle } = checked;
    records_text::print(records, stdout)?;
    writeln!(stdout)?;
    let CheckedBundle { files, bytes, manifest_sha256, program, .. } = bundle;
    let about = format!(
        "{}: {} files, {} bytes, written by gambeson {}",
        shown_path(path),
        files + 1,
        grouped(*bytes),
        shown(program)
    );
    records_text::row(stdout, "bundle", &about)?;
    records_text::row(stdout, "manifest", manifest_sha256)?;
    for name in &bundle.signatures {
        let text = format!("{}: not verified here; the tool that made it does", shown(name));
        records_text::row(stdout, "signature", &text)?;
    }
    let page = match bundle.page {
        PageCheck::Same => "says what follows from the records",
        PageCheck::Differs => "says something else than what follows from the records",
        PageCheck::OtherVersion => "not compared: another version of gambeson wrote it",
        PageCheck::NotCompared => "not compared",
    };
    records_text::row(stdout, "page", page)?;
    if let Some(kappa) = bundle.kappa {
        records_text::row(stdout, "kappa", &format!("{}: kappa <= {}", proven(), up(kappa, 7)))?;
    }
    let parts = [("network", bundle.network), ("data", bundle.data), ("projection", bundle.projection)];
    for (name, origin) in parts {
        let text = match origin {
            PartOrigin::Bundle => "from the bundle",
            PartOrigin::Given => "given here",
            PartOrigin::Missing => "left out of the bundle, and not given",
            PartOrigin::None => continue,
        };
        records_text::row(stdout, name, text)?;
    }
    for NotChecked { what, missing } in &bundle.not_checked {
        let way_out = match missing {
            LeftOut::Network => "the network is not in the bundle; give it with --model",
            LeftOut::Data => "the data are not in the bundle; give them with --data",
        };
        records_text::row(stdout, "not checked", &format!("{what}: {way_out}"))?;
    }
    Ok(())
}
