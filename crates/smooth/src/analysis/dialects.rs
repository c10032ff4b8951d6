//! The public logs, each read as what it is.
//!
//! Recognised by content, never by name. Numbers of the dialects below as our notes on the field count them:
//!
//! * tables whose header begins with `idx`, separated by tabs (with or without spaces around them) or commas, columns
//!   known by their names: certificates of Cohen et al. and all that followed them (1, 2, 3), predictions (4), ANCER
//!   (5), ACES (6), ARS (7), of any length (9);
//! * curves: radius and certified accuracy in two columns (8);
//! * DSRS: intervals (10), and radii.
//!
//! Radii are taken as they are written. Most programs write them with three digits, rounded to nearest, so that about
//! every second one is a little larger than what was certified; nobody can tell which from the log.
//!
//! What is contradictory is an error that names the line: a log is evidence, and evidence is not repaired.

use super::error::{LineProblem, LogError};
use super::text::{Place, Seen, clip, lines};
use super::{Dialect, Evidence, Input, Predicted};
use crate::limit::normal_quantile_below;
use gambeson_checker::rounding::mul_down;
use std::path::Path;

/// Whether the first line is the header of a table.
pub(super) fn recognises_table(text: &str) -> bool {
    let header = text.lines().find(|line| !line.trim().is_empty());
    header.is_some_and(|header| split(header, separator(header)).first() == Some(&"idx"))
}

/// A table with a header.
///
/// Where σ is given, p_A is found from the radius: Φ(r/σ), and 0 where it abstains.
pub(super) fn table(path: &Path, text: &str, sigma: Option<f64>) -> Result<(Dialect, Evidence), LogError> {
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
            // Of what it abstains on, the log does not tell more than that p_A may be small.
            let abstained = input.predicted == Predicted::Abstained;
            input.lower_limit = Some(if abstained { 0.0 } else { normal_share_below(radius / sigma) });
        }
        seen.add(place, input.index)?;
        inputs.push(input);
    }
    Ok((dialect, Evidence::Inputs(inputs)))
}

/// Splits a line as its file does.
pub(super) fn split(line: &str, separator: char) -> Vec<&str> {
    line.split(separator).map(str::trim).collect()
}

/// What separates the fields of a table with this header.
pub(super) fn separator(header: &str) -> char {
    if header.contains('\t') { '\t' } else { ',' }
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
    fn of(place: Place, header: &str) -> Result<Self, LogError> {
        let separator = separator(header);
        let names: Vec<String> = split(header, separator).into_iter().map(str::to_owned).collect();
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

    fn read(&self, place: Place, line: &str) -> Result<Input, LogError> {
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
                // Some programs write σ·Φ⁻¹(p) of what they abstain on.
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
        })
    }
}

/// Two columns without a header that belongs to a table of inputs: a curve, or the radii of DSRS.
pub(super) fn recognises_pairs(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let pair = |line: &str| {
        let fields: Vec<&str> = fields(line).collect();
        fields.len() == 2 && fields.iter().all(|field| field.parse::<f64>().is_ok())
    };
    match (lines.next(), lines.next()) {
        (Some(first), second) => pair(first) || (is_curve_header(first) && second.is_some_and(pair)),
        (None, _) => false,
    }
}

fn is_curve_header(line: &str) -> bool {
    fields(line).next() == Some("radius") && fields(line).count() == 2
}

fn fields(line: &str) -> impl Iterator<Item = &str> {
    line.split(|letter: char| letter.is_whitespace() || letter == ',').filter(|field| !field.is_empty())
}

/// A curve; or radii by input, whose first column has whole numbers only.
pub(super) fn pairs(path: &Path, text: &str) -> Result<(Dialect, Evidence), LogError> {
    let headed = lines(path, text).next().is_some_and(|(_, line)| is_curve_header(line));
    let rows = || lines(path, text).skip(usize::from(headed));
    let whole = |line: &str| fields(line).next().is_some_and(|first| first.parse::<u64>().is_ok());
    if !headed && rows().all(|(_, line)| whole(line)) {
        let mut seen = Seen::default();
        let mut inputs = Vec::new();
        for (place, line) in rows() {
            let [index, radius] = pair(place, line)?;
            let index = place.count("index", index)?;
            seen.add(place, index)?;
            let radius = place.real("radius", radius)?;
            if radius < 0.0 {
                return Err(place.error(LineProblem::NegativeRadius { radius }));
            }
            inputs.push(nameless(index, radius, None));
        }
        return Ok((Dialect::DsrsRadii, Evidence::Inputs(inputs)));
    }
    let mut points: Vec<(f64, f64)> = Vec::new();
    for (place, line) in rows() {
        let [radius, accuracy] = pair(place, line)?;
        let radius = place.real("radius", radius)?;
        let accuracy = place.share("accuracy", accuracy)?;
        if radius < 0.0 {
            return Err(place.error(LineProblem::NegativeRadius { radius }));
        }
        if let Some(&(before, above)) = points.last() {
            if radius <= before {
                return Err(place.error(LineProblem::NotRising { radius, before }));
            }
            if accuracy > above {
                return Err(place.error(LineProblem::Rising { accuracy, before: above }));
            }
        }
        points.push((radius, accuracy));
    }
    Ok((Dialect::Curve, Evidence::Curve(points)))
}

fn pair<'a>(place: Place, line: &'a str) -> Result<[&'a str; 2], LogError> {
    let all: Vec<&str> = fields(line).collect();
    <[&str; 2]>::try_from(all)
        .map_err(|all| place.error(LineProblem::Fields { expected: 2, found: all.len() }))
}

/// An input of DSRS, which names no class.
fn nameless(index: u64, radius: f64, lower_limit: Option<f64>) -> Input {
    let predicted = if radius > 0.0 { Predicted::Unnamed } else { Predicted::Abstained };
    let l2 = Some(radius);
    Input { index, label: None, predicted, correct: None, latent: l2, l2, linf: None, lower_limit }
}

pub(super) fn recognises_intervals(text: &str) -> bool {
    let first = text.lines().find(|line| !line.trim().is_empty()).map(|line| line.split_whitespace());
    first.is_some_and(|mut words| matches!(words.next(), Some("x" | "o")) && words.count() >= 2)
}

/// What the intervals of DSRS say about themselves.
pub(super) struct Intervals {
    pub(super) evidence: Evidence,
    /// `std`.
    pub(super) sigma: f64,
    /// `alpha`.
    pub(super) alpha: Option<f64>,
}

/// `x key value`, then `o index low high`: two-sided Clopper–Pearson intervals with α/2 a side. The lower end is taken
/// for p_A as it stands, and the radius is σ·Φ⁻¹(p_A), rounded down.
pub(super) fn intervals(path: &Path, text: &str) -> Result<Intervals, LogError> {
    let (mut sigma, mut alpha) = (None, None);
    let mut seen = Seen::default();
    let mut inputs = Vec::new();
    for (place, line) in lines(path, text) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["x", "disttype", noise] if noise != "gaussian" => {
                return Err(LogError::Noise { path: path.to_path_buf(), noise: clip(noise) });
            }
            ["x", "std", value] => match place.real("std", value)? {
                value if value > 0.0 => sigma = Some(value),
                _ => {
                    let (column, text) = ("std".to_owned(), clip(value));
                    let expected = "a positive number";
                    return Err(place.error(LineProblem::Value { column, text, expected }));
                }
            },
            ["x", "alpha", value] => alpha = Some(place.share("alpha", value)?),
            ["x", _, _] => {}
            ["o", index, low, high] => {
                let sigma = sigma.ok_or_else(|| place.error(LineProblem::Header { key: "std" }))?;
                let index = place.count("index", index)?;
                seen.add(place, index)?;
                let (low, high) = (place.share("low", low)?, place.share("high", high)?);
                if low > high {
                    return Err(place.error(LineProblem::Interval { low, high }));
                }
                inputs.push(nameless(index, gaussian_radius(low, sigma), Some(low)));
            }
            _ => return Err(place.error(LineProblem::Intervals { text: clip(line) })),
        }
    }
    let sigma = sigma.ok_or_else(|| LogError::Empty { path: path.to_path_buf() })?;
    Ok(Intervals { evidence: Evidence::Inputs(inputs), sigma, alpha })
}

/// σ·Φ⁻¹(p), rounded down; 0 where it is not positive.
fn gaussian_radius(limit: f64, sigma: f64) -> f64 {
    if limit <= 0.5 {
        return 0.0;
    }
    // Φ⁻¹(1) is infinite; no count proves p_A = 1, so such an end was rounded up, and counts as the largest number below.
    mul_down(sigma, normal_quantile_below(limit)).max(0.0)
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
