//! Our own records as sources: merged by run, certified again from their counts.

use super::error::LogError;
use super::{Dialect, Evidence, Input, Predicted, Settings, Source};
use crate::record::{Certification, Derived, Line, Merged, Record, Run, parse_records};
use gambeson_checker::{FailureProbability, LowerLimit};
use std::path::{Path, PathBuf};

/// Files of records, gathered by run.
#[derive(Default)]
pub(super) struct Gathered {
    runs: Vec<(Run, Vec<PathBuf>, Merged)>,
}

impl Gathered {
    /// Adds a file. Returns the number of its run if that is new.
    pub(super) fn add(&mut self, path: &Path, bytes: &[u8]) -> Result<Option<usize>, LogError> {
        let lines = parse_records(path, bytes)?;
        let Some(first) = lines.first() else {
            return Err(LogError::Empty { path: path.to_path_buf() });
        };
        let run = first.record.run.clone();
        let known = self.runs.iter().position(|(other, ..)| *other == run);
        let at = known.unwrap_or(self.runs.len());
        if known.is_none() {
            self.runs.push((run.clone(), Vec::new(), Merged::new(run)));
        }
        let (_, paths, merged) = &mut self.runs[at];
        paths.push(path.to_path_buf());
        for line in lines {
            merged.add(path, line)?;
        }
        Ok(known.is_none().then_some(at))
    }

    /// A source for every run, in the order of their numbers.
    pub(super) fn certify(self, settings: &Settings) -> Result<Vec<Option<Source>>, LogError> {
        let source = |(run, paths, merged): (Run, Vec<PathBuf>, Merged)| {
            let mut alpha = run.alpha;
            let mut inputs = Vec::new();
            for (path, line) in merged.into_lines() {
                let (input, used) = input(&path, &line, settings)?;
                alpha = used.value();
                inputs.push(input);
            }
            let evidence = Evidence::Inputs(inputs);
            let (sigma, alpha) = (Some(run.sigma), Some(alpha));
            Ok(Some(Source { paths, dialect: Dialect::Records, evidence, sigma, alpha }))
        };
        self.runs.into_iter().map(source).collect()
    }
}

fn input(path: &Path, line: &Line, settings: &Settings) -> Result<(Input, FailureProbability), LogError> {
    let record = &line.record;
    let refused = |reason| LogError::Statistics { path: path.to_path_buf(), line: line.number, reason };
    let own = FailureProbability::new(record.run.alpha).map_err(refused)?;
    let natural = record.derive(own, Certification::Natural).map_err(refused)?;
    check_claim(path, line, &natural.derived)?;
    let alpha = settings.alpha.unwrap_or(own);
    let proven = record.derive(alpha, settings.how).map_err(refused)?;
    let Derived { class, latent, l2, linf } = proven.derived;
    Ok((
        Input {
            index: record.index,
            label: record.label,
            predicted: class.map_or(Predicted::Abstained, Predicted::Class),
            correct: record.label.map(|label| class == Some(label)),
            latent: Some(latent.unwrap_or(0.0)),
            l2: Some(l2.unwrap_or(0.0)),
            linf: Some(linf.unwrap_or(0.0)),
            lower_limit: proven.lower_limit.map(LowerLimit::value),
        },
        alpha,
    ))
}

/// What a record says must not be more than what its counts prove.
fn check_claim(path: &Path, line: &Line, proven: &Derived) -> Result<(), LogError> {
    let Line { number, record: Record { index, derived: claimed, .. } } = line;
    let claim = |field, claimed, proven| LogError::Claim {
        path: path.to_path_buf(),
        line: *number,
        index: *index,
        field,
        claimed,
        proven,
    };
    if let Some(class) = claimed.class.filter(|_| claimed.class != proven.class) {
        return Err(claim("class", f64::from(class), proven.class.map_or(-1.0, f64::from)));
    }
    let radii = [
        ("latent", claimed.latent, proven.latent),
        ("l2", claimed.l2, proven.l2),
        ("linf", claimed.linf, proven.linf),
    ];
    for (field, claimed, proven) in radii {
        let proven = proven.unwrap_or(0.0);
        if let Some(claimed) = claimed.filter(|claimed| !(*claimed <= proven)) {
            return Err(claim(field, claimed, proven));
        }
    }
    Ok(())
}
