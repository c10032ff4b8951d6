//! Intervals of DSRS: `x key value` lines, then `o index low high`.
//!
//! Two-sided Clopper–Pearson intervals with α/2 on each side. The lower end is taken for p_A as it stands, and the radius
//! is σ·Φ⁻¹(p_A), rounded down.

use super::parsed_log::{ParsedLog, unnamed};
use super::text::{Seen, clip, lines};
use crate::analysis::error::{LineProblem, LogError};
use crate::analysis::logged::{Dialect, Evidence};
use crate::limit::normal_quantile_below;
use gambeson_checker::rounding::mul_down;
use std::path::Path;

/// Whether the first line begins with `x` or `o` and has at least two more words.
pub(super) fn recognises(text: &str) -> bool {
    let first = text.lines().find(|line| !line.trim().is_empty()).map(|line| line.split_whitespace());
    first.is_some_and(|mut words| matches!(words.next(), Some("x" | "o")) && words.count() >= 2)
}

pub(super) fn read(path: &Path, text: &str) -> Result<ParsedLog, LogError> {
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
                inputs.push(unnamed(index, gaussian_radius(low, sigma), Some(low)));
            }
            _ => return Err(place.error(LineProblem::Intervals { text: clip(line) })),
        }
    }
    let sigma = sigma.ok_or_else(|| LogError::Empty { path: path.to_path_buf() })?;
    let evidence = Evidence::Inputs(inputs);
    Ok(ParsedLog { dialect: Dialect::DsrsIntervals, evidence, sigma: Some(sigma), alpha })
}

/// σ·Φ⁻¹(p), rounded down; 0 where it is not positive.
fn gaussian_radius(limit: f64, sigma: f64) -> f64 {
    if limit <= 0.5 {
        return 0.0;
    }
    // Φ⁻¹(1) is infinite; no count proves p_A = 1, so such an end was rounded up, and counts as the largest number below.
    mul_down(sigma, normal_quantile_below(limit)).max(0.0)
}
