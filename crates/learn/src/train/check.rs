//! From a TOML text, or a file of one, to a spec that can be trained.

use super::spec::{
    FitSpec, NoiseSpec, Objective, OptimiserSpec, ProjectionSpec, Schedule, SmoothAdv, TrainSpec,
};
use gambeson_lowrank::MemoryLimit;
use std::path::{Path, PathBuf};
use std::string::FromUtf8Error;
use thiserror::Error;
use toml::{Table, Value};

/// Why a spec cannot be trained.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum SpecError {
    /// A text that is not TOML, or has a value of the wrong kind; the reason says where.
    #[error("{reason}")]
    Toml {
        /// In the reader's words.
        reason: String,
    },
    /// A key that no spec has.
    #[error("unknown key `{key}`{}{}", place(.table), suggestion(.nearest.as_deref()))]
    UnknownKey {
        /// The key.
        key: String,
        /// The table it stands in; empty for the top.
        table: String,
        /// The known key that is nearest, if one is near.
        nearest: Option<String>,
    },
    /// An override that names no key, or gives none a value.
    #[error("`{text}`: expected KEY=VALUE, such as optimiser.epochs=20")]
    Override {
        /// As it was given.
        text: String,
    },
    /// A value that makes no sense.
    #[error("{key} = {value}: {expected}")]
    Value {
        /// Which, as table.key.
        key: &'static str,
        /// What was given.
        value: String,
        /// What would make sense.
        expected: &'static str,
    },
    /// Parts that do not go together.
    #[error("{0}")]
    Conflict(Conflict),
}

/// A file that is not a spec.
#[derive(Debug, Error)]
#[error("{}: {problem}", path.display())]
pub struct SpecFileError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub problem: SpecFileProblem,
}

/// Why a file is not a spec.
#[derive(Debug, Error)]
pub enum SpecFileProblem {
    /// The system.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// Not text.
    #[error(transparent)]
    Text(#[from] FromUtf8Error),
    /// Not a spec that can be trained.
    #[error(transparent)]
    Spec(#[from] SpecError),
}

/// Parts of a spec that do not go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Conflict {
    /// No level of noise.
    #[error("[noise] is missing: this objective needs `sigma`, or `base` and `lambda`")]
    NoNoise,
    /// A level that is not used.
    #[error("[noise] is not used by this objective: leave it out")]
    Noise,
    /// Two levels.
    #[error("[noise] has both `sigma` and `base` or `lambda`: give one of them")]
    TwoLevels,
    /// Algorithm 1 is training in a projection.
    #[error("algorithm-1 needs a [projection]; without one it is smooth-adv")]
    NoProjection,
    /// Salman et al. have none.
    #[error("smooth-adv has no [projection]; with one it is algorithm-1")]
    Projection,
    /// A ball of values needs values.
    #[error("madry attacks values: leave out [projection]")]
    MadryProjection,
    /// A projection comes from one place.
    #[error("[projection] needs either `file` or `fit`")]
    Source,
    /// A fit has one target.
    #[error("projection.fit needs either `rank` or `error`")]
    Target,
    /// Values have no frequencies.
    #[error("projection.fit.grid selects frequencies: it does not work with basis = \"pixel\"")]
    PixelGrid,
}

/// Images of a step and draws of each, at most: more fit into no memory.
const MOST: usize = 1 << 16;

fn place(table: &str) -> String {
    if table.is_empty() { String::new() } else { format!(" in [{table}]") }
}

fn suggestion(nearest: Option<&str>) -> String {
    nearest.map_or(String::new(), |nearest| format!("; did you mean `{nearest}`?"))
}

impl TrainSpec {
    /// Reads a file of at most `memory`, with overrides `table.key=value`, and checks it.
    pub fn read(path: &Path, overrides: &[String], memory: MemoryLimit) -> Result<Self, SpecFileError> {
        let read = || Ok(Self::parse(&String::from_utf8(memory.read_file(path)?)?, overrides)?);
        read().map_err(|problem| SpecFileError { path: path.to_path_buf(), problem })
    }

    /// Reads a TOML text, with overrides `table.key=value`, and checks it.
    pub fn parse(text: &str, overrides: &[String]) -> Result<Self, SpecError> {
        let mut table: Table =
            text.parse().map_err(|error: toml::de::Error| SpecError::Toml { reason: trimmed(&error) })?;
        for text in overrides {
            override_key(&mut table, text).ok_or_else(|| SpecError::Override { text: text.clone() })?;
        }
        // From text, also after a change: errors then know their place.
        let text =
            if overrides.is_empty() { text.to_owned() } else { toml::to_string(&table).unwrap_or_default() };
        let spec: Self = toml::from_str(&text).map_err(|error| explained(&error, &text))?;
        spec.validate()?;
        Ok(spec)
    }

    /// The whole spec as a TOML text.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).unwrap_or_default() // a spec is tables of plain values
    }

    /// Whether it can be trained.
    pub fn validate(&self) -> Result<(), SpecError> {
        let Self { data, projection, noise, objective, optimiser, .. } = self;
        if data.samples == Some(0) {
            return Err(wrong("data.samples", 0, "must be at least 1"));
        }
        validate_noise(noise.as_ref(), objective)?;
        if let Some(projection) = projection {
            validate_projection(projection)?;
        }
        match (objective, projection.is_some()) {
            (Objective::Algorithm1(_), false) => return Err(SpecError::Conflict(Conflict::NoProjection)),
            (Objective::SmoothAdv(_), true) => return Err(SpecError::Conflict(Conflict::Projection)),
            (Objective::Madry { .. }, true) => return Err(SpecError::Conflict(Conflict::MadryProjection)),
            _ => {}
        }
        validate_objective(objective)?;
        validate_optimiser(optimiser)
    }
}

fn wrong(key: &'static str, value: impl std::fmt::Display, expected: &'static str) -> SpecError {
    SpecError::Value { key, value: value.to_string(), expected }
}

fn positive(key: &'static str, value: f64) -> Result<(), SpecError> {
    if value > 0.0 && value.is_finite() {
        Ok(())
    } else {
        Err(wrong(key, value, "must be a finite number above 0"))
    }
}

fn at_least(key: &'static str, value: f64, least: f64, expected: &'static str) -> Result<(), SpecError> {
    if value >= least && value.is_finite() { Ok(()) } else { Err(wrong(key, value, expected)) }
}

fn share(key: &'static str, value: f64) -> Result<(), SpecError> {
    if (0.0..1.0).contains(&value) {
        Ok(())
    } else {
        Err(wrong(key, value, "must be at least 0 and below 1"))
    }
}

fn count(key: &'static str, value: usize, least: usize, expected: &'static str) -> Result<(), SpecError> {
    if value >= least { Ok(()) } else { Err(wrong(key, value, expected)) }
}

fn at_most(key: &'static str, value: usize) -> Result<(), SpecError> {
    if value <= MOST { Ok(()) } else { Err(wrong(key, value, "must be at most 65536")) }
}

fn validate_noise(noise: Option<&NoiseSpec>, objective: &Objective) -> Result<(), SpecError> {
    match noise {
        None | Some(NoiseSpec { sigma: None, base: None, .. }) if objective.has_noise() => {
            Err(SpecError::Conflict(Conflict::NoNoise))
        }
        Some(_) if !objective.has_noise() => Err(SpecError::Conflict(Conflict::Noise)),
        Some(NoiseSpec { sigma: Some(_), base, lambda }) if base.is_some() || lambda.is_some() => {
            Err(SpecError::Conflict(Conflict::TwoLevels))
        }
        Some(NoiseSpec { sigma, base, lambda }) => {
            for (key, value) in [("noise.sigma", sigma), ("noise.base", base), ("noise.lambda", lambda)] {
                value.map_or(Ok(()), |value| positive(key, value))?;
            }
            Ok(())
        }
        None => Ok(()),
    }
}

fn validate_projection(projection: &ProjectionSpec) -> Result<(), SpecError> {
    let ProjectionSpec { file, fit, .. } = projection;
    if file.is_some() == fit.is_some() {
        return Err(SpecError::Conflict(Conflict::Source));
    }
    let Some(FitSpec { basis, rank, error, grid, .. }) = fit else { return Ok(()) };
    if rank.is_some() == error.is_some() {
        return Err(SpecError::Conflict(Conflict::Target));
    }
    if let Some(rank) = rank {
        count("projection.fit.rank", *rank, 1, "must be at least 1")?;
    }
    if let Some(error) = error {
        share("projection.fit.error", *error)?;
    }
    match grid {
        Some(_) if *basis == super::spec::Basis::Pixel => Err(SpecError::Conflict(Conflict::PixelGrid)),
        Some(0) => Err(wrong("projection.fit.grid", 0, "must be at least 1")),
        _ => Ok(()),
    }
}

fn validate_objective(objective: &Objective) -> Result<(), SpecError> {
    let warm_up = |epochs| at_least("objective.warm_up", epochs, 0.0, "must be at least 0 epochs");
    count("objective.draws", objective.draws(), 1, "must be at least 1")?;
    at_most("objective.draws", objective.draws())?;
    match *objective {
        Objective::Standard | Objective::Gaussian { .. } => Ok(()),
        Objective::Madry { epsilon, steps, warm_up: epochs, .. }
        | Objective::SmoothAdv(SmoothAdv { epsilon, steps, warm_up: epochs, .. })
        | Objective::Algorithm1(SmoothAdv { epsilon, steps, warm_up: epochs, .. }) => {
            positive("objective.epsilon", epsilon)?;
            count("objective.steps", steps, 1, "must be at least 1")?;
            warm_up(epochs)
        }
        Objective::Consistency { draws, lambda, eta } => {
            count("objective.draws", draws, 2, "must be at least 2: answers to several draws are to agree")?;
            at_least("objective.lambda", lambda, 0.0, "must be at least 0")?;
            at_least("objective.eta", eta, 0.0, "must be at least 0")
        }
    }
}

fn validate_optimiser(optimiser: &OptimiserSpec) -> Result<(), SpecError> {
    count("optimiser.epochs", optimiser.epochs, 1, "must be at least 1")?;
    count("optimiser.batch", optimiser.batch, 2, "must be at least 2: statistics are taken over a batch")?;
    at_most("optimiser.batch", optimiser.batch)?;
    positive("optimiser.learning_rate", optimiser.learning_rate)?;
    share("optimiser.momentum", optimiser.momentum)?;
    at_least("optimiser.weight_decay", optimiser.weight_decay, 0.0, "must be at least 0")?;
    share("optimiser.label_smoothing", optimiser.label_smoothing)?;
    optimiser.average.map_or(Ok(()), |average| share("optimiser.average", average))?;
    match optimiser.schedule {
        Schedule::Step { every, factor } => {
            count("optimiser.schedule.every", every, 1, "must be at least 1 epoch")?;
            positive("optimiser.schedule.factor", factor)
        }
        Schedule::OneCycle { warm_up } => share("optimiser.schedule.warm_up", warm_up),
    }
}

/// Puts `table.key=value` into a table; the value is TOML, or else a word.
fn override_key(table: &mut Table, text: &str) -> Option<()> {
    let (path, value) = text.split_once('=')?;
    let value = value.trim();
    let parsed = format!("value = {value}").parse::<Table>().ok().and_then(|mut table| table.remove("value"));
    let value = parsed.unwrap_or_else(|| Value::String(value.to_owned()));
    let keys: Vec<&str> = path.trim().split('.').collect();
    let (last, tables) = keys.split_last()?;
    if keys.iter().any(|key| key.is_empty()) {
        return None;
    }
    let mut place = table;
    for key in tables {
        let inner = place.entry((*key).to_owned()).or_insert_with(|| Value::Table(Table::new()));
        place = inner.as_table_mut()?;
    }
    place.insert((*last).to_owned(), value);
    Some(())
}

fn trimmed(error: &toml::de::Error) -> String {
    error.to_string().trim_end().to_owned()
}

/// An error of the reader; where it is about an unknown key, with the known one that is nearest.
fn explained(error: &toml::de::Error, text: &str) -> SpecError {
    // serde: unknown field `a`, expected one of `b`, `c`; or: expected `b`
    let message = error.message();
    let Some(rest) = message.strip_prefix("unknown field ") else {
        return SpecError::Toml { reason: trimmed(error) };
    };
    let mut words = rest.split('`').skip(1).step_by(2);
    let key = words.next().unwrap_or_default().to_owned();
    let nearest = words
        .map(|known| (distance(&key, known), known))
        .min()
        .filter(|(distance, known)| *distance <= 1 + key.len().max(known.len()) / 3)
        .map(|(_, known)| known.to_owned());
    let table = error.span().map(|span| table_of(text, span.start)).unwrap_or_default();
    SpecError::UnknownKey { key, table, nearest }
}

/// The table that a place of a text is in: the last heading before it, or there.
fn table_of(text: &str, place: usize) -> String {
    // The whole line: of some tables only the heading's own place is known.
    let end = text.get(place..).unwrap_or_default().find('\n').map_or(text.len(), |line| place + line);
    let before = text.get(..end).unwrap_or_default();
    let mut headings = before.lines().map(str::trim).filter(|line| line.starts_with('['));
    headings.next_back().map_or(String::new(), |line| line.trim_matches(['[', ']']).to_owned())
}

/// Letters to change, add or take away to turn one word into another (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, a) in a.chars().enumerate() {
        let mut before = row[0];
        row[0] = i + 1;
        for j in 0..b.len() {
            let changed = before + usize::from(a != b[j]);
            before = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(before + 1);
        }
    }
    row[b.len()]
}
