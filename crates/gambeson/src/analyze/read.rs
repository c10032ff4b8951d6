//! Logs, read and put in order.

use super::names::sigma_of;
use super::params::{AnalyzeParams, Checked};
use crate::context::Context;
use crate::error::analyze::AnalyzeError;
use crate::event::{Event, Note};
use gambeson_lowrank::projection::representation::Representation;
use gambeson_smooth::analysis::{
    LoggedRun, Question, RadiusNorm, Scale, find_logs, read_logs, readable_logs,
};
use std::path::PathBuf;
use std::sync::Arc;

/// Reads the logs; those that cannot be read are left out if asked for.
pub(super) fn sources(
    context: &Context,
    logs: &[PathBuf],
    params: &AnalyzeParams,
    Checked { question, settings, .. }: &Checked,
) -> Result<Vec<LoggedRun>, AnalyzeError> {
    let mut paths = find_logs(logs)?;
    if params.skip_bad {
        let (good, bad) = readable_logs(&paths, settings);
        bad.into_iter().try_for_each(|error| skipped(context, error.into()))?;
        paths = good;
    }
    let mut sources = read_logs(&paths, settings)?;
    if params.skip_bad {
        let mut answering = Vec::new();
        for source in sources {
            match source.scores(question) {
                Ok(_) => answering.push(source),
                Err(error) => skipped(context, error.into())?,
            }
        }
        sources = answering;
    }
    if sources.is_empty() {
        return Err(if params.skip_bad { AnalyzeError::AllSkipped } else { AnalyzeError::NoLogs });
    }
    if params.by_sigma {
        let level = |source: &LoggedRun| sigma_of(source).unwrap_or(f64::INFINITY);
        sources.sort_by(|a, b| level(a).total_cmp(&level(b)));
    }
    for (path, line) in sources.iter().flat_map(|source| &source.broken_off) {
        if context.tell_cut_off(path, *line).is_break() {
            return Err(AnalyzeError::Stopped);
        }
    }
    all_in_one_basis(&sources, question)?;
    Ok(sources)
}

fn skipped(context: &Context, reason: AnalyzeError) -> Result<(), AnalyzeError> {
    say(context, &Note::LogSkipped { reason: Arc::new(reason) })
}

/// Tells the observer, who may end the work.
fn say(context: &Context, note: &Note) -> Result<(), AnalyzeError> {
    if context.tell(&Event::Note(note)).is_break() { Err(AnalyzeError::Stopped) } else { Ok(()) }
}

/// ℓ∞ radii of cosine coefficients are not those of pixels or samples. Without a projection they are ℓ2 radii over the root
/// of the dimension, which hold in any orthonormal basis.
fn all_in_one_basis(sources: &[LoggedRun], question: &Question) -> Result<(), AnalyzeError> {
    if question.norm == RadiusNorm::L2 || matches!(question.scale, Scale::Dimension(_)) {
        return Ok(());
    }
    let (cosines, other): (Vec<&LoggedRun>, Vec<&LoggedRun>) =
        sources.iter().filter(|source| !in_any_basis(source)).partition(|source| in_cosines(source));
    match (cosines.first(), other.first()) {
        (Some(cosines), Some(other)) => {
            Err(AnalyzeError::TwoBases { cosines: cosines.name(), other: other.name() })
        }
        _ => Ok(()),
    }
}

/// Whether the ℓ∞ radii of a log hold in every orthonormal basis.
fn in_any_basis(source: &LoggedRun) -> bool {
    source.run.as_ref().is_some_and(|run| run.kappa.is_none())
}

/// Whether the ℓ∞ radii of a log are of cosine coefficients.
pub(super) fn in_cosines(source: &LoggedRun) -> bool {
    let representation = source.run.as_ref().and_then(|run| run.representation);
    representation.is_some_and(Representation::is_cosine)
}
