//! Two columns of numbers: a curve of radius and certified accuracy, or the radii of DSRS by input.

use super::parsed_log::{ParsedLog, unnamed};
use super::text::{LogLine, Seen, lines};
use crate::analysis::error::{LineProblem, LogError};
use crate::analysis::logged::{Dialect, Evidence};
use std::path::Path;

/// Whether the first line is a pair of numbers, or the header of a curve and the second is one.
pub(super) fn recognises(text: &str) -> bool {
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

/// A curve; or radii by input, if the first column has whole numbers only.
pub(super) fn read(path: &Path, text: &str) -> Result<ParsedLog, LogError> {
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
            inputs.push(unnamed(index, radius, None));
        }
        let evidence = Evidence::Inputs(inputs);
        return Ok(ParsedLog { dialect: Dialect::DsrsRadii, evidence, sigma: None, alpha: None });
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
    let evidence = Evidence::Curve(points);
    Ok(ParsedLog { dialect: Dialect::Curve, evidence, sigma: None, alpha: None })
}

fn pair<'a>(place: LogLine, line: &'a str) -> Result<[&'a str; 2], LogError> {
    let all: Vec<&str> = fields(line).collect();
    <[&str; 2]>::try_from(all)
        .map_err(|all| place.error(LineProblem::Fields { expected: 2, found: all.len() }))
}
