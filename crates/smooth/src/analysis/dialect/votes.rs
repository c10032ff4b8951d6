//! Votes as hierarchical smoothing publishes them: `idx,label,selection_0,…,estimation_0,…`, counts by class.
//!
//! The file states neither the noise level nor a failure probability: both must be given.

use super::parsed_log::ParsedLog;
use super::text::{LogLine, Seen, lines, separator, split};
use crate::analysis::error::{LineProblem, LogError};
use crate::analysis::logged::{Dialect, Evidence, Input, Predicted, Settings};
use crate::limit::{ClassDraws, LimitRule, Sample};
use gambeson_checker::{
    LatentRadius, LowerLimit, NoiseLevel, ProvenRadius, RandomShare, SamplingRule, UpperLimit,
};
use std::collections::HashMap;
use std::path::Path;

/// Whether the first line is a header with votes.
pub(super) fn recognises(text: &str) -> bool {
    text.lines().find(|line| !line.trim().is_empty()).is_some_and(|header| {
        let names = split(header, separator(header));
        names.first() == Some(&"idx") && names.contains(&"selection_0") && names.contains(&"estimation_0")
    })
}

/// The inputs, certified as the settings say.
pub(super) fn read(path: &Path, text: &str, settings: &Settings) -> Result<ParsedLog, LogError> {
    let sigma = settings.sigma.ok_or_else(|| LogError::NoSigma { path: path.to_path_buf() })?;
    let alpha = settings.alpha.ok_or_else(|| LogError::NoAlpha { path: path.to_path_buf() })?;
    let mut rows = lines(path, text);
    let Some((place, header)) = rows.next() else {
        return Err(LogError::Empty { path: path.to_path_buf() });
    };
    let columns = Columns::of(place, header)?;
    let mut seen = Seen::default();
    let mut draws = None;
    let mut inputs = Vec::new();
    for (place, line) in rows {
        let row = columns.read(place, line)?;
        seen.add(place, row.index)?;
        let total = |counts: &[u64]| counts.iter().fold(0_u64, |sum, &count| sum.saturating_add(count));
        let (selection, estimation) = (total(&row.selection), total(&row.estimation));
        if selection == 0 || estimation == 0 {
            return Err(place.error(LineProblem::NoVotes));
        }
        let (n0, n) = *draws.get_or_insert((selection, estimation));
        // The limit is for a fixed number of draws.
        if (selection, estimation) != (n0, n) {
            return Err(place.error(LineProblem::Draws { selection, estimation, n0, n }));
        }
        let refused = |reason| LogError::Statistics { path: path.to_path_buf(), line: place.line, reason };
        let sample = Sample {
            selection: ClassDraws { classes: &row.selection, none: 0, undecided: 0 },
            estimation: ClassDraws { classes: &row.estimation, none: 0, undecided: 0 },
            rule: SamplingRule::Fixed,
            planned: n,
            limits: LimitRule::OneSided,
            share: RandomShare::WHOLE,
            noise: NoiseLevel::new(sigma).map_err(refused)?,
        };
        let proven = sample.prove(alpha, settings.how).map_err(refused)?;
        let radius = proven.and_then(ProvenRadius::radius);
        let class = sample.selected().filter(|_| radius.is_some());
        let radius = Some(radius.map_or(0.0, LatentRadius::value));
        inputs.push(Input {
            index: row.index,
            label: row.label,
            predicted: class.map_or(Predicted::Abstained, Predicted::Class),
            correct: row.label.map(|label| class == Some(label)),
            latent: radius,
            l2: radius,
            linf: None,
            lower_limit: proven.map(ProvenRadius::lower).map(LowerLimit::value),
            upper_limit: proven.and_then(ProvenRadius::upper).map(UpperLimit::value),
        });
    }
    let evidence = Evidence::Inputs(inputs);
    Ok(ParsedLog { dialect: Dialect::Votes, evidence, sigma: Some(sigma), alpha: Some(alpha.value()) })
}

struct Columns {
    separator: char,
    names: Vec<String>,
    label: Option<usize>,
    selection: Vec<usize>,
    estimation: Vec<usize>,
}

struct Row {
    index: u64,
    label: Option<u32>,
    selection: Vec<u64>,
    estimation: Vec<u64>,
}

impl Columns {
    fn of(place: LogLine, header: &str) -> Result<Self, LogError> {
        let separator = separator(header);
        let names: Vec<String> = split(header, separator).into_iter().map(str::to_owned).collect();
        // The first of a name: a second one is counted below.
        let mut places = HashMap::new();
        for (at, name) in names.iter().enumerate().rev() {
            places.insert(name.as_str(), at);
        }
        let find = |name: &str| places.get(name).copied();
        let of = |part: &str| (0..).map_while(|class: usize| find(&format!("{part}_{class}"))).collect();
        let (selection, estimation): (Vec<usize>, Vec<usize>) = (of("selection"), of("estimation"));
        let label = find("label");
        let known = 1 + usize::from(label.is_some()) + selection.len() + estimation.len();
        if selection.len() != estimation.len() || known != names.len() {
            let column = "per class for selection and for estimation, and no other";
            return Err(LogError::Column { path: place.path.to_path_buf(), line: place.line, column });
        }
        Ok(Self { separator, names, label, selection, estimation })
    }

    fn read(&self, place: LogLine, line: &str) -> Result<Row, LogError> {
        let fields = split(line, self.separator);
        if fields.len() != self.names.len() {
            let (expected, found) = (self.names.len(), fields.len());
            return Err(place.error(LineProblem::Fields { expected, found }));
        }
        let count = |at: &usize| place.count(&self.names[*at], fields[*at]);
        Ok(Row {
            index: place.count("idx", fields[0])?,
            label: self.label.map(|at| place.class("label", fields[at])).transpose()?,
            selection: self.selection.iter().map(count).collect::<Result<_, _>>()?,
            estimation: self.estimation.iter().map(count).collect::<Result<_, _>>()?,
        })
    }
}
