//! Tables whose header begins with `idx`: certificates, predictions, ANCER, ACES, ARS.
//!
//! Separated by tabs (with or without spaces around them) or commas; columns are known by their names.

use super::parsed_log::ParsedLog;
use super::text::{LogLine, Seen, clip, lines, separator, split};
use crate::analysis::error::{LineProblem, LogError};
use crate::analysis::logged::{Dialect, Evidence, Input, Predicted, Settings};
use crate::limit::normal_quantile_below;
use std::collections::HashSet;
use std::path::Path;

/// Whether the first line is the header of a table.
pub(super) fn recognises(text: &str) -> bool {
    let header = text.lines().find(|line| !line.trim().is_empty());
    header.is_some_and(|header| split(header, separator(header)).first() == Some(&"idx"))
}

/// Where σ is given, p_A is found from the radius: Φ(r/σ), and 0 for an abstention.
pub(super) fn read(path: &Path, text: &str, settings: &Settings) -> Result<ParsedLog, LogError> {
    let sigma = settings.sigma;
    let mut rows = lines(path, text);
    let Some((place, header)) = rows.next() else {
        return Err(LogError::Empty { path: path.to_path_buf() });
    };
    let columns = Columns::of(place, header)?;
    let dialect = columns.dialect();
    let mut seen = Seen::default();
    let mut inputs = Vec::new();
    for (place, line) in rows {
        let mut input = columns.read(place, line)?;
        if let (Some(sigma), Some(radius), None) = (sigma, input.l2, input.lower_limit) {
            // Of an abstention the log says no more than that p_A may be small.
            let abstained = input.predicted == Predicted::Abstained;
            input.lower_limit = Some(if abstained { 0.0 } else { normal_share_below(radius / sigma) });
        }
        seen.add(place, input.index)?;
        inputs.push(input);
    }
    Ok(ParsedLog { dialect, evidence: Evidence::Inputs(inputs), sigma, alpha: None })
}

/// Which columns a table has, by their places.
struct Columns {
    separator: char,
    names: Vec<String>,
    index: usize,
    predicted: usize,
    label: Option<usize>,
    correct: Option<usize>,
    l2: Option<usize>,
    linf: Option<usize>,
    limit: Option<usize>,
    time: Option<usize>,
}

impl Columns {
    fn of(place: LogLine, header: &str) -> Result<Self, LogError> {
        let separator = separator(header);
        let names: Vec<String> = split(header, separator).into_iter().map(str::to_owned).collect();
        let mut seen = HashSet::new();
        if let Some(name) = names.iter().find(|name| !seen.insert(name.as_str())) {
            return Err(place.error(LineProblem::RepeatedColumn { column: clip(name) }));
        }
        let find = |name: &str| names.iter().position(|other| other == name);
        let need = |column: &'static str| {
            find(column).ok_or(LogError::Column { path: place.path.to_path_buf(), line: place.line, column })
        };
        Ok(Self {
            index: need("idx")?,
            predicted: need("predict")?,
            label: find("label"),
            correct: find("correct"),
            l2: find("radius").or_else(|| find("l2_radius")),
            linf: find("linf_radius"),
            limit: find("prob_lb"),
            time: find("time"),
            separator,
            names,
        })
    }

    fn dialect(&self) -> Dialect {
        let has = |name: &str| self.names.iter().any(|other| other == name);
        if has("min_sigma") || has("radius_proxy") {
            Dialect::Ancer
        } else if has("unperturbed predict") {
            Dialect::Aces
        } else if has("prob_lb") {
            Dialect::Ars
        } else if self.l2.is_none() && self.linf.is_none() {
            Dialect::Predictions
        } else {
            Dialect::Certificates
        }
    }

    fn read(&self, place: LogLine, line: &str) -> Result<Input, LogError> {
        let fields = split(line, self.separator);
        if fields.len() != self.names.len() {
            let (expected, found) = (self.names.len(), fields.len());
            return Err(place.error(LineProblem::Fields { expected, found }));
        }
        let name = |column: usize| self.names[column].as_str();
        let class = place.prediction(name(self.predicted), fields[self.predicted])?;
        let label = self.label.map(|at| place.class(name(at), fields[at])).transpose()?;
        let claimed = self.correct.map(|at| place.flag(name(at), fields[at])).transpose()?;
        if let (Some(label), Some(correct)) = (label, claimed)
            && correct != (class == Some(label))
        {
            let predicted = class.map_or(-1, i64::from);
            return Err(place.error(LineProblem::Contradiction {
                predicted,
                label,
                correct: u8::from(correct),
            }));
        }
        let radius = |column: Option<usize>| {
            let value = column.map(|at| place.real(name(at), fields[at])).transpose()?;
            match value {
                // Some programs write σ·Φ⁻¹(p) even for abstentions.
                Some(_) if class.is_none() => Ok(Some(0.0)),
                Some(radius) if radius < 0.0 => Err(place.error(LineProblem::NegativeRadius { radius })),
                other => Ok(other),
            }
        };
        let (l2, linf) = (radius(self.l2)?, radius(self.linf)?);
        self.time.map(|at| place.time(name(at), fields[at])).transpose()?;
        Ok(Input {
            index: place.count(name(self.index), fields[self.index])?,
            label,
            predicted: class.map_or(Predicted::Abstained, Predicted::Class),
            correct: label.map(|label| class == Some(label)).or(claimed),
            latent: l2,
            l2,
            linf,
            lower_limit: self.limit.map(|at| place.share(name(at), fields[at])).transpose()?,
            upper_limit: None,
        })
    }
}

/// The largest p found with Φ⁻¹(p) ≤ x, for x ≥ 0.
fn normal_share_below(x: f64) -> f64 {
    let (mut low, mut high) = (0.5, 1.0);
    while high - low > f64::EPSILON {
        let middle = f64::midpoint(low, high);
        if normal_quantile_below(middle) <= x {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}
