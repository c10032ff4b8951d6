//! `gambeson data`: describes data sets, fetches and imports them.

use crate::args::{DataCommand, FetchArguments, ImportArguments, InfoArguments, SourceName};
use crate::ended::Ended;
use crate::json;
use crate::live_data::LiveData;
use crate::progress::{catch_interrupts, say};
use crate::screen::{shown, shown_path, wrapped};
use anyhow::Context;
use gambeson_data::dataset::{Dataset, Split, Values};
use gambeson_data::error::DataError;
use gambeson_data::fetch::{self, Provider};
use gambeson_data::format::cifar::Cifar;
use gambeson_data::source::{self, DataSource, FileChoice, LoadOptions};
use gambeson_data::statistics::channel_statistics;
use gambeson_data::store;
use gambeson_lowrank::MemoryLimit;
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};

pub(crate) fn run(
    command: &DataCommand,
    stdout: &mut impl Write,
    memory: MemoryLimit,
) -> anyhow::Result<Ended> {
    catch_interrupts("stopping (press Ctrl-C again to quit)");
    let done = match command {
        DataCommand::Info(arguments) => info(arguments, stdout, memory),
        DataCommand::Fetch(arguments) => fetch(arguments, stdout),
        DataCommand::Import(arguments) => import(arguments, stdout, memory),
    };
    stdout.flush()?;
    match done {
        Ok(()) => Ok(Ended::AsAsked),
        Err(error) if matches!(error.downcast_ref(), Some(DataError::Stopped)) => {
            say("stopped; no data set was changed (the same command continues a download)");
            Ok(Ended::FellShort)
        }
        Err(error) => Err(error),
    }
}

/// Where data are stored.
pub(crate) fn data_dir() -> anyhow::Result<PathBuf> {
    source::data_dir().context("no data folder: set GAMBESON_DATA to a folder")
}

/// What to read of a data set.
pub(crate) fn params(audio: &crate::args::AudioArguments, split: Split) -> gambeson::DataParams {
    let files = audio.files.map(|count| FileChoice::Random { count, seed: audio.seed });
    gambeson::DataParams { split, frames: audio.frames.into(), files, folder: None }
}

pub(crate) fn options(
    audio: &crate::args::AudioArguments,
    split: Split,
    data_dir: PathBuf,
    memory: MemoryLimit,
) -> LoadOptions {
    LoadOptions {
        split,
        data_dir,
        frames: audio.frames.into(),
        files: audio.files.map(|count| FileChoice::Random { count, seed: audio.seed }),
        memory,
    }
}

/// Terms of use, where they are known.
fn terms(source: &DataSource) -> Option<&'static str> {
    match source {
        DataSource::Fashion => {
            Some("MIT, Zalando SE 2017; part of Fashion-MNIST (Xiao, Rasul, Vollgraf, 2017)")
        }
        DataSource::Cifar(..) => Some(
            "no formal licence; cite Krizhevsky, Learning multiple layers of features from tiny images, 2009",
        ),
        _ => None,
    }
}

/// What `data info --json` prints of a set.
#[derive(Serialize)]
struct Info<'a> {
    name: &'a str,
    split: &'static str,
    samples: usize,
    channels: usize,
    height: usize,
    width: usize,
    /// `u8`, `i16` or `f32`.
    storage: &'static str,
    /// value = raw · scale.
    scale: f64,
    smallest: f64,
    largest: f64,
    /// One per channel, of the values.
    mean: Vec<f64>,
    deviation: Vec<f64>,
    classes: Vec<ClassCount<'a>>,
    /// Files the samples came from; 0 if unknown.
    files: usize,
    sha256: &'a str,
    terms: Option<&'static str>,
}

#[derive(Serialize)]
struct ClassCount<'a> {
    name: &'a str,
    samples: usize,
}

impl<'a> Info<'a> {
    fn new(data: &'a Dataset, split: Split, terms: Option<&'static str>) -> Self {
        let (shape, moments) = (data.shape(), channel_statistics(data));
        let mut counts = vec![0; data.classes().len()];
        data.labels().unwrap_or_default().iter().for_each(|&label| counts[usize::from(label)] += 1);
        Self {
            name: data.name(),
            split: split.name(),
            samples: data.len(),
            channels: shape.channels,
            height: shape.height,
            width: shape.width,
            storage: match data.values() {
                Values::U8(_) => "u8",
                Values::I16(_) => "i16",
                Values::F32(_) => "f32",
            },
            scale: data.scale(),
            smallest: moments.iter().map(|channel| channel.smallest).fold(f64::INFINITY, f64::min),
            largest: moments.iter().map(|channel| channel.largest).fold(f64::NEG_INFINITY, f64::max),
            mean: moments.iter().map(|channel| channel.mean).collect(),
            deviation: moments.iter().map(|channel| channel.deviation).collect(),
            classes: data
                .classes()
                .iter()
                .zip(counts)
                .map(|(name, samples)| ClassCount { name, samples })
                .collect(),
            files: data.sources().len(),
            sha256: data.sha256(),
            terms,
        }
    }

    fn print(&self, has_parts: bool, stdout: &mut impl Write) -> std::io::Result<()> {
        let part = if has_parts { format!(", {} split", self.split) } else { String::new() };
        writeln!(stdout, "data         {}{part}", shown(self.name))?;
        write!(stdout, "samples      {}", self.samples)?;
        match self.files {
            0 | 1 => writeln!(stdout)?,
            files => writeln!(stdout, " from {files} files")?,
        }
        let (channels, height, width) = (self.channels, self.height, self.width);
        writeln!(stdout, "shape        {channels} x {height} x {width} (channels x rows x columns)")?;
        let scale = match self.storage {
            "u8" => "u8, value = raw / 255",
            "i16" => "i16, value = raw / 32768",
            _ => "f32, unchanged",
        };
        writeln!(stdout, "values       {scale}; from {:.4} to {:.4}", self.smallest, self.largest)?;
        for (k, (mean, deviation)) in self.mean.iter().zip(&self.deviation).enumerate() {
            writeln!(stdout, "channel {k:<4} mean {mean:.4}, standard deviation {deviation:.4}")?;
        }
        if self.classes.is_empty() {
            writeln!(stdout, "classes      none (the samples have no labels)")?;
        } else {
            writeln!(stdout, "classes      {}, with the number of samples of each", self.classes.len())?;
            for class in &self.classes {
                writeln!(stdout, "  {:>8} {}", class.samples, shown(class.name))?;
            }
        }
        writeln!(stdout, "sha256       {}", self.sha256)?;
        if let Some(terms) = self.terms {
            writeln!(stdout, "{}", wrapped(&format!("terms        {terms}"), 13))?;
        }
        Ok(())
    }
}

fn info(arguments: &InfoArguments, stdout: &mut impl Write, memory: MemoryLimit) -> anyhow::Result<()> {
    let data_dir = data_dir()?;
    let Some(name) = &arguments.data else { return list(&data_dir, arguments.json, stdout) };
    let source = source::find(name, &data_dir)?;
    let options = options(&arguments.audio, arguments.split.into(), data_dir, memory);
    let data = LiveData::watch(|progress| source.load(&options, progress))?;
    let info = Info::new(&data, options.split, terms(&source));
    if arguments.json {
        writeln!(stdout, "{}", json::line(&info)?)?;
    } else {
        info.print(source.has_parts(), stdout)?;
    }
    Ok(())
}

/// All data sets that are known, and whether they are installed.
fn list(data_dir: &Path, json: bool, stdout: &mut impl Write) -> anyhow::Result<()> {
    #[derive(Serialize)]
    struct Listed {
        name: String,
        /// `built-in`, `installed`, `not-installed` or `imported`.
        state: &'static str,
        parts: Vec<&'static str>,
    }
    let both = || vec!["train", "test"];
    let mut sets = vec![Listed { name: "fashion".to_owned(), state: "built-in", parts: both() }];
    for set in [Cifar::Ten, Cifar::Hundred] {
        let there = Cifar::in_folder(&data_dir.join(set.name())) == Some(set);
        let (state, parts) = if there { ("installed", both()) } else { ("not-installed", Vec::new()) };
        sets.push(Listed { name: set.name().to_owned(), state, parts });
    }
    for (name, parts) in store::list(data_dir) {
        sets.push(Listed { name, state: "imported", parts: parts.into_iter().map(Split::name).collect() });
    }
    if json {
        let list = serde_json::json!({ "data_dir": data_dir.to_string_lossy(), "sets": sets });
        writeln!(stdout, "{}", json::line(&list)?)?;
        return Ok(());
    }
    writeln!(stdout, "data folder  {}", shown_path(data_dir))?;
    for set in sets {
        let state = match set.state {
            "built-in" => "built in".to_owned(),
            "not-installed" => format!("not installed: gambeson data fetch {}", set.name),
            state => state.to_owned(),
        };
        let parts = if set.parts.is_empty() { String::new() } else { format!("; {}", set.parts.join(", ")) };
        writeln!(stdout, "  {:<20} {state}{parts}", shown(&set.name))?;
    }
    Ok(())
}

fn is_address(text: &str) -> bool {
    text.starts_with("http://") || text.starts_with("https://")
}

fn fetch(arguments: &FetchArguments, stdout: &mut impl Write) -> anyhow::Result<()> {
    let data_dir = data_dir()?;
    let set = Cifar::from(arguments.name);
    let providers = match &arguments.from {
        Some(from) => match from.to_str().filter(|from| is_address(from)) {
            Some(url) => vec![Provider::url(url)],
            None => vec![Provider::File(from.into())],
        },
        None => match arguments.source {
            Some(SourceName::Npm) => vec![Provider::Npm],
            Some(SourceName::Official) => vec![Provider::official(set)],
            None => Provider::by_default(set),
        },
    };
    let fetched = LiveData::named(set.name(), |progress| {
        if fetch::is_installed(set, &data_dir, progress)? {
            return Ok(None);
        }
        fetch::fetch(set, &providers, &data_dir, progress).map(Some)
    })?;
    if let Some(fetched) = &fetched {
        for failure in &fetched.failures {
            say(&format!("not {failure}; fetched from {}", fetched.provider));
        }
    }
    let (folder, fetched) =
        fetched.map_or((data_dir.join(set.name()), false), |fetched| (fetched.folder, true));
    if arguments.json {
        let record = serde_json::json!({ "name": set.name(), "folder": folder.to_string_lossy(), "fetched": fetched, "verified": true });
        writeln!(stdout, "{}", json::line(&record)?)?;
    } else {
        let state = if fetched { "installed and verified" } else { "was installed already; verified" };
        writeln!(stdout, "{}: {state} in {}", set.name(), shown_path(&folder))?;
    }
    Ok(())
}

fn import(arguments: &ImportArguments, stdout: &mut impl Write, memory: MemoryLimit) -> anyhow::Result<()> {
    let data_dir = data_dir()?;
    if !store::is_name(&arguments.name) {
        return Err(DataError::BadName { name: arguments.name.clone() }.into());
    }
    let source = source::find(&arguments.data, &data_dir)?;
    let splits = match arguments.split {
        Some(split) => vec![Split::from(split)],
        None if source.has_parts() => vec![Split::Train, Split::Test],
        None => vec![Split::Train],
    };
    for &split in &splits {
        let path = store::path(&data_dir, &arguments.name, split);
        if path.exists() && !arguments.replace {
            return Err(DataError::Exists { path }.into()); // rather than after long work
        }
    }
    // All parts are read before the first is written, so that an error leaves none of them.
    let options = |split| options(&arguments.audio, split, data_dir.clone(), memory);
    let (data, paths) = LiveData::watch(|progress| {
        let mut data = Vec::new();
        for &split in &splits {
            data.push(source.load(&options(split), progress)?);
        }
        let save = |(data, &split)| {
            store::save(data, &data_dir, &arguments.name, split, arguments.replace, progress)
        };
        let paths = data.iter().zip(&splits).map(save).collect::<Result<Vec<_>, DataError>>()?;
        Ok::<_, DataError>((data, paths))
    })?;
    if arguments.json {
        let parts: Vec<_> = data
            .iter()
            .zip(paths.iter().zip(&splits))
            .map(|(data, (path, split))| {
                serde_json::json!({
                    "split": split.name(), "samples": data.len(), "sha256": data.sha256(), "path": path.to_string_lossy(),
                })
            })
            .collect();
        let record = serde_json::json!({ "name": arguments.name, "parts": parts });
        writeln!(stdout, "{}", json::line(&record)?)?;
        return Ok(());
    }
    for (data, (path, split)) in data.iter().zip(paths.iter().zip(&splits)) {
        let (samples, shape) = (data.len(), data.shape());
        let name = &arguments.name;
        writeln!(stdout, "{name} {}: {samples} samples of {shape} in {}", split.name(), shown_path(path))?;
    }
    Ok(())
}
