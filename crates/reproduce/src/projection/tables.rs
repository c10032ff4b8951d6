//! Tables 1 and 4 of the paper: proven norms of projections of images and of speech.

use crate::projection::published::PublishedFit;
use crate::projection::{Budget, Data, Fit, FitResults};
use crate::rendered::Rendered;
use crate::report::decimal::{down, up};
use crate::report::spread::NOTHING;
use crate::report::table::Table;
use gambeson::fit::FitRecord;
use gambeson_checker::rounding::{div_up, mul_up};

/// Significant digits of kappa and of its limit.
const KAPPA_DIGITS: usize = 6;
/// Significant digits of errors and ratios.
const DIGITS: usize = 4;

const NORMS_NOTE: &str = "κ is proven: changing each coordinate by at most ε moves the code by at most κ·ε. error: the \
    fraction of the energy lost: of the sum of squares of all values or, with the mean removed, of the squares around \
    it. limit: the root of the rank PCA needs for that error; no orthogonal projection has a smaller κ. r: the number of \
    principal components Algorithm 3 chose; the rest of its rank is sparse.";

/// A row of Table 1.
#[derive(Clone, Copy)]
enum NormsRow<'a> {
    /// As the paper prints it.
    Paper(&'a Data, &'a PublishedFit),
    Here(&'a Data, &'a Fit, Option<&'a FitRecord>),
}

impl<'a> NormsRow<'a> {
    fn data(self) -> &'a Data {
        match self {
            Self::Paper(data, _) | Self::Here(data, ..) => data,
        }
    }

    fn method(self) -> String {
        match self {
            Self::Paper(..) => "the paper".to_owned(),
            Self::Here(_, fit, _) => fit.label.clone(),
        }
    }

    /// The paper does not say.
    fn mean(self) -> String {
        match self {
            Self::Paper(..) => NOTHING,
            Self::Here(_, fit, _) if fit.centre => "removed",
            Self::Here(..) => "kept",
        }
        .to_owned()
    }

    fn rank(self, c: usize) -> String {
        match self {
            Self::Paper(_, paper) => paper.rank.to_string(),
            Self::Here(.., record) => shown(record.and_then(|record| record.channels.get(c)), |channel| {
                let split = channel.split.map_or(String::new(), |split| format!(" (r = {split})"));
                format!("{}{split}", channel.rank)
            }),
        }
    }

    fn kappa(self, c: usize) -> String {
        match self {
            Self::Paper(_, paper) => shown(paper.kappa.get(c), ToString::to_string),
            Self::Here(.., record) => shown(record.and_then(|record| record.channels.get(c)), |channel| {
                up(channel.kappa, KAPPA_DIGITS)
            }),
        }
    }

    fn error(self, c: usize) -> String {
        match self {
            Self::Paper(_, paper) => format!("≤ {}", paper.error),
            Self::Here(.., record) => {
                shown(record.and_then(|record| record.channels.get(c)), |channel| up(channel.error, DIGITS))
            }
        }
    }

    /// Of all channels together.
    fn combined(self, paper: fn(&PublishedFit) -> Option<f64>, here: fn(&FitRecord) -> String) -> String {
        match self {
            Self::Paper(_, published) => shown(paper(published).as_ref(), ToString::to_string),
            Self::Here(.., record) => shown(record, here),
        }
    }
}

fn shown<T>(value: Option<&T>, text: impl FnOnce(&T) -> String) -> String {
    value.map_or(NOTHING.to_owned(), text)
}

/// κ over its limit, rounded up.
fn ratio(record: &FitRecord) -> String {
    up(div_up(record.kappa, record.limit), DIGITS)
}

/// Table 1: a row for each data set and method, the paper's first.
pub(crate) fn norms(results: &FitResults) -> Rendered {
    let experiment = results.experiment;
    let rows: Vec<NormsRow> = experiment
        .data
        .iter()
        .flat_map(|data| {
            let here =
                experiment.fits.iter().map(move |fit| NormsRow::Here(data, fit, results.of(data, None, fit)));
            data.paper.iter().map(move |paper| NormsRow::Paper(data, paper)).chain(here)
        })
        .collect();
    let names: Vec<&str> = experiment.data.iter().map(|data| data.label.as_str()).collect();
    let caption =
        format!("Proven ∞→2 norms of projections of {}, by channel and together.", names.join(" and "));
    let mut table = Table::new(caption, notes(results));
    table.words("data", &rows, |row| row.data().label.clone());
    table.words("mean", &rows, NormsRow::mean);
    table.words("method", &rows, NormsRow::method);
    let channels = channels(results);
    for (c, name) in channels.iter().enumerate() {
        table.column(name, "rank", &rows, |row| row.rank(c));
        table.column(name, "κ ≤", &rows, |row| row.kappa(c));
        table.column(name, "error", &rows, |row| row.error(c));
    }
    let group = "together";
    table.column(group, "κ ≤", &rows, |row| {
        row.combined(|paper| paper.combined, |record| up(record.kappa, KAPPA_DIGITS))
    });
    table.column(group, "error", &rows, |row| row.combined(|_| None, |record| up(record.error, DIGITS)));
    table.column(group, "limit", &rows, |row| {
        row.combined(|_| None, |record| down(record.limit, KAPPA_DIGITS))
    });
    table.column(group, "κ / limit", &rows, |row| row.combined(|_| None, ratio));
    table.notes.push(NORMS_NOTE.to_owned());
    Rendered::of_table(table)
}

/// As the experiment names them; numbers for further channels in the data.
fn channels(results: &FitResults) -> Vec<String> {
    let named = results.experiment.data.iter().map(|data| data.channels.len()).max().unwrap_or(0);
    let there = results.runs.records().map(|record| record.output.fit.channels.len()).max().unwrap_or(1);
    let name = |c: usize| results.experiment.data.iter().find_map(|data| data.channels.get(c)).cloned();
    (0..named.max(there)).map(|c| name(c).unwrap_or_else(|| format!("channel {c}"))).collect()
}

/// A trial of Table 4, with the paper's of that number.
#[derive(Clone, Copy)]
struct Trial<'a> {
    data: &'a Data,
    number: Option<u32>,
    paper: Option<&'a PublishedFit>,
}

/// Table 4: a row for each draw of files, methods side by side, the paper's numbers first.
pub(crate) fn audio(results: &FitResults) -> Rendered {
    let experiment = results.experiment;
    let mut rows: Vec<Trial> = Vec::new();
    let mut names: Vec<String> = Vec::new();
    for (run, _) in results.runs.iter() {
        if !rows.iter().any(|row| row.data.label == run.data.label && row.number == run.trial) {
            let at = run.trial.map_or(0, |trial| trial as usize - 1);
            rows.push(Trial { data: run.data, number: run.trial, paper: run.data.paper.get(at) });
        }
        let name = if run.is_replaced() { run.data_name() } else { run.data.label.clone() };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let caption = format!("Proven ∞→2 norms of projections of frames of sound: {}.", names.join("; "));
    let mut table = Table::new(caption, Vec::new());
    table.column("", "trial", &rows, |row| shown(row.number.as_ref(), ToString::to_string));
    if rows.iter().any(|row| row.paper.is_some()) {
        let group = "the paper, other data";
        let published = |row: Trial, text: fn(&PublishedFit) -> String| shown(row.paper, text);
        table.column(group, "frames", &rows, |row| {
            published(row, |paper| shown(paper.samples.as_ref(), ToString::to_string))
        });
        table.column(group, "κ", &rows, |row| {
            published(row, |paper| shown(paper.kappa.first(), |kappa| format!("{kappa:.3}")))
        });
        table.column(group, "error (%)", &rows, |row| {
            published(row, |paper| format!("{:.3}", 100.0 * paper.error))
        });
    }
    let frames = |row: Trial| {
        experiment
            .fits
            .iter()
            .find_map(|fit| results.of(row.data, row.number, fit))
            .map(|fit| fit.moments.samples)
    };
    table.column("here", "frames", &rows, |row| shown(frames(row).as_ref(), ToString::to_string));
    for fit in &experiment.fits {
        let label = &fit.label;
        let cell =
            |row: Trial, text: fn(&FitRecord) -> String| shown(results.of(row.data, row.number, fit), text);
        table.column(label, "rank", &rows, |row| cell(row, rank));
        table.column(label, "κ ≤", &rows, |row| cell(row, |record| up(record.kappa, KAPPA_DIGITS + 1)));
        table.column(label, "error (%)", &rows, |row| {
            cell(row, |record| up(mul_up(100.0, record.error), DIGITS))
        });
        table.column(label, "κ / limit", &rows, |row| cell(row, ratio));
    }
    table.notes = notes(results);
    for (data, sound) in experiment.data.iter().filter_map(|data| data.sound.as_ref().map(|it| (data, it))) {
        table.notes.push(format!(
            "{}: {} files per trial, drawn at random; frames of {} ms, one every {} ms, in DCT coordinates.",
            data.label, sound.files, sound.window_ms, sound.hop_ms
        ));
    }
    table.notes.extend(comparisons(results, &rows));
    table.notes.push(AUDIO_NOTE.to_owned());
    Rendered::of_table(table)
}

const AUDIO_NOTE: &str = "κ is proven: changing each DCT coordinate by at most ε moves the code by at most κ·ε. error: the \
    fraction of the energy lost, with the mean kept. limit: the root of the rank PCA needs for that error; no orthogonal \
    projection has a smaller κ.";

/// All ranks, with the principal components that Algorithm 3 chose.
fn rank(record: &FitRecord) -> String {
    let ranks = record.channels.iter().map(|channel| match channel.split {
        Some(split) => format!("{} (r = {split})", channel.rank),
        None => channel.rank.to_string(),
    });
    ranks.collect::<Vec<_>>().join(", ")
}

/// How often a method at another's error has the smaller κ.
fn comparisons(results: &FitResults, rows: &[Trial]) -> Vec<String> {
    let fits = &results.experiment.fits;
    let mut notes = Vec::new();
    for fit in fits {
        let Some(Budget::Of { of }) = &fit.error else { continue };
        let Some(other) = fits.iter().find(|other| other.is(of, fit.centre)) else { continue };
        let pairs: Vec<bool> = rows
            .iter()
            .filter_map(|row| {
                let [ours, theirs] = [fit, other].map(|fit| results.of(row.data, row.number, fit));
                let (ours, theirs) = (ours?, theirs?);
                Some(ours.kappa < theirs.kappa && ours.error <= theirs.error)
            })
            .collect();
        let smaller = pairs.iter().filter(|smaller| **smaller).count();
        if !pairs.is_empty() {
            notes.push(format!(
                "{}: a smaller proven κ than {of}, at no larger error, in {smaller} of {} trials.",
                fit.label,
                pairs.len()
            ));
        }
    }
    notes
}

/// What a reader has to know: where it was run, whose numbers are quoted, what is missing.
fn notes(results: &FitResults) -> Vec<String> {
    let mut notes = vec!["Bounds and errors rounded up, limits down.".to_owned()];
    notes.extend(results.runs.measured());
    notes.extend(results.experiment.paper.as_ref().map(|paper| format!("The paper's numbers: {paper}.")));
    for fit in &results.experiment.fits {
        let mean = if fit.centre { ", mean removed" } else { "" };
        notes.extend(fit.note.as_ref().map(|note| format!("{}{mean}: {note}.", fit.label)));
    }
    notes.extend(results.runs.incomplete().map(|missing| missing + "."));
    notes.extend(results.runs.fell_short());
    notes
}
