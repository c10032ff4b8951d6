//! `gambeson data`: describes data sets, fetches and imports them.

use crate::args::{AudioArguments, DataCommand, FetchArguments, ImportArguments, InfoArguments, SourceName};
use crate::ended::Ended;
use crate::json;
use crate::live_data::LiveData;
use crate::progress::{catch_interrupts, say};
use crate::screen::{shown, shown_path, wrapped};
use gambeson::data::{DataInfo, DataList, DataState};
use gambeson::{
    Context, DataParams, Error, FetchParams, ImportParams, describe_data, fetch_data, import_data, list_data,
};
use gambeson_data::dataset::Split;
use gambeson_data::fetch::Provider;
use gambeson_data::format::cifar::Cifar;
use gambeson_data::source::FileChoice;
use std::io::Write;

pub(crate) fn run(
    command: &DataCommand,
    stdout: &mut impl Write,
    context: &Context,
) -> anyhow::Result<Ended> {
    catch_interrupts("stopping (press Ctrl-C again to quit)");
    let done = match command {
        DataCommand::Info(arguments) => info(arguments, stdout, context),
        DataCommand::Fetch(arguments) => fetch(arguments, stdout, context),
        DataCommand::Import(arguments) => import(arguments, stdout, context),
    };
    stdout.flush()?;
    match done {
        Ok(()) => Ok(Ended::AsAsked),
        Err(error) if error.downcast_ref().is_some_and(Error::is_stopped) => {
            say("stopped; no data set was changed (the same command continues a download)");
            Ok(Ended::FellShort)
        }
        Err(error) => Err(error),
    }
}

/// What to read of a data set.
pub(crate) fn params(audio: &AudioArguments, split: Split) -> DataParams {
    DataParams { split, frames: audio.frames.into(), files: files(audio), folder: None }
}

fn files(audio: &AudioArguments) -> Option<FileChoice> {
    audio.files.map(|count| FileChoice::Random { count, seed: audio.seed })
}

fn info(arguments: &InfoArguments, stdout: &mut impl Write, context: &Context) -> anyhow::Result<()> {
    let Some(name) = &arguments.data else {
        let list = list_data(context, None)?;
        return json::print_or(arguments.json, &list, stdout, |stdout| print_list(&list, stdout));
    };
    let params = params(&arguments.audio, arguments.split.into());
    let info = LiveData::observed(context, |context| describe_data(context, name, &params))?;
    json::print_or(arguments.json, &info, stdout, |stdout| print_info(&info, stdout))
}

fn print_info(info: &DataInfo, stdout: &mut impl Write) -> std::io::Result<()> {
    let part = if info.has_parts { format!(", {} split", info.split) } else { String::new() };
    writeln!(stdout, "data         {}{part}", shown(&info.name))?;
    write!(stdout, "samples      {}", info.samples)?;
    match info.files {
        0 | 1 => writeln!(stdout)?,
        files => writeln!(stdout, " from {files} files")?,
    }
    let (channels, height, width) = (info.channels, info.height, info.width);
    writeln!(stdout, "shape        {channels} x {height} x {width} (channels x rows x columns)")?;
    let scale = match info.storage {
        "u8" => "u8, value = raw / 255",
        "i16" => "i16, value = raw / 32768",
        _ => "f32, unchanged",
    };
    writeln!(stdout, "values       {scale}; from {:.4} to {:.4}", info.smallest, info.largest)?;
    for (k, (mean, deviation)) in info.mean.iter().zip(&info.deviation).enumerate() {
        writeln!(stdout, "channel {k:<4} mean {mean:.4}, standard deviation {deviation:.4}")?;
    }
    if info.classes.is_empty() {
        writeln!(stdout, "classes      none (the samples have no labels)")?;
    } else {
        writeln!(stdout, "classes      {}, with the number of samples of each", info.classes.len())?;
        for class in &info.classes {
            writeln!(stdout, "  {:>8} {}", class.samples, shown(&class.name))?;
        }
    }
    writeln!(stdout, "sha256       {}", info.sha256)?;
    if let Some(terms) = info.terms {
        writeln!(stdout, "{}", wrapped(&format!("terms        {terms}"), 13))?;
    }
    Ok(())
}

/// All data sets that are known, and whether they are installed.
fn print_list(list: &DataList, stdout: &mut impl Write) -> std::io::Result<()> {
    writeln!(stdout, "data folder  {}", shown_path(&list.data_dir))?;
    for set in &list.sets {
        let state = match set.state {
            DataState::BuiltIn => "built in".to_owned(),
            DataState::Installed => "installed".to_owned(),
            DataState::NotInstalled => format!("not installed: gambeson data fetch {}", set.name),
            DataState::Imported => "imported".to_owned(),
        };
        let parts = if set.parts.is_empty() { String::new() } else { format!("; {}", set.parts.join(", ")) };
        writeln!(stdout, "  {:<20} {state}{parts}", shown(&set.name))?;
    }
    Ok(())
}

fn fetch(arguments: &FetchArguments, stdout: &mut impl Write, context: &Context) -> anyhow::Result<()> {
    let set = Cifar::from(arguments.name);
    let provider = match (&arguments.from, arguments.source) {
        (Some(from), _) => Some(Provider::parse(from)),
        (None, Some(SourceName::Npm)) => Some(Provider::Npm),
        (None, Some(SourceName::Official)) => Some(Provider::official(set)),
        (None, None) => None,
    };
    let params = FetchParams { providers: provider.map(|provider| vec![provider]), folder: None };
    let fetched = LiveData::named(set.name(), context, |context| fetch_data(context, set, &params))?;
    for failure in &fetched.failures {
        say(&format!("not {failure}; fetched from {}", fetched.provider.as_deref().unwrap_or_default()));
    }
    json::print_or(arguments.json, &fetched, stdout, |stdout| {
        let state =
            if fetched.fetched { "installed and verified" } else { "was installed already; verified" };
        writeln!(stdout, "{}: {state} in {}", fetched.name, shown_path(&fetched.folder))
    })
}

fn import(arguments: &ImportArguments, stdout: &mut impl Write, context: &Context) -> anyhow::Result<()> {
    let params = ImportParams {
        split: arguments.split.map(Split::from),
        frames: arguments.audio.frames.into(),
        files: files(&arguments.audio),
        folder: None,
        replace: arguments.replace,
    };
    let imported = LiveData::observed(context, |context| {
        import_data(context, &arguments.data, &arguments.name, &params)
    })?;
    json::print_or(arguments.json, &imported, stdout, |stdout| {
        imported.parts.iter().try_for_each(|part| {
            let (split, samples, shape) = (part.split, part.samples, part.shape);
            let path = shown_path(&part.path);
            writeln!(stdout, "{} {split}: {samples} samples of {shape} in {path}", imported.name)
        })
    })
}
