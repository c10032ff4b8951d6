//! What to do about an error, by options of the command line: libraries, whose texts these are, know none.

use gambeson::analyze::AnalyzeError;
use gambeson_checker::MatrixProblem;
use gambeson_data::error::{DataError, DownloadProblem, NpmProblem};
use gambeson_lowrank::sdp::problem::ProblemError;
use gambeson_smooth::analysis::{AnalysisError, LogError, MissingRadii};
use gambeson_smooth::record::{NotExtendable, ProjectionMismatch};
use std::error::Error;

/// The text of an error with all its causes, and what to do about it.
pub(crate) fn explained(error: &anyhow::Error) -> String {
    match error.chain().find_map(hint) {
        Some(hint) => format!("{error:#}; {hint}"),
        None => format!("{error:#}"),
    }
}

/// The options that an error calls for.
pub(crate) fn hint(error: &(dyn Error + 'static)) -> Option<&'static str> {
    None.or_else(|| error.downcast_ref().and_then(of_call))
        .or_else(|| error.downcast_ref().and_then(of_problem))
        .or_else(|| error.downcast_ref().and_then(of_data))
        .or_else(|| error.downcast_ref().and_then(of_analyze))
        .or_else(|| error.downcast_ref().and_then(of_extension))
}

/// The library's own error shows its cause instead of handing it on.
fn of_call(error: &gambeson::Error) -> Option<&'static str> {
    match error {
        gambeson::Error::Problem { reason, .. } => of_problem(reason),
        gambeson::Error::Data(reason) => of_data(reason),
        gambeson::Error::Analyze(reason) => of_analyze(reason),
        _ => None,
    }
}

fn of_problem(error: &ProblemError) -> Option<&'static str> {
    match error {
        ProblemError::Matrix(MatrixProblem::NegativeDiagonal { .. }) => {
            Some("use --domain vertices to bound x'Mx over x in {-1, 1}^n")
        }
        ProblemError::NotSquare { .. } => {
            Some("for its factor use --gram, for a norm --norm inf-to-two or inf-to-one")
        }
        ProblemError::GramInfToOne => Some("leave out --gram, or give another --norm"),
        ProblemError::NotOnVertices => Some("leave out --domain vertices"),
        _ => None,
    }
}

fn of_data(error: &DataError) -> Option<&'static str> {
    const OTHER: &str = "use --source official or --from FILE";
    match error {
        DataError::Exists { .. } => Some("replace it with --replace"),
        DataError::Npm { reason: NpmProblem::NotFound { .. } | NpmProblem::NoPackage { .. } } => Some(OTHER),
        DataError::Download { reason: DownloadProblem::NoCurl { .. }, .. } => Some("--from FILE takes it"),
        DataError::NoProvider { failures, .. } => failures
            .iter()
            .any(|failure| of_data(&failure.reason).is_some())
            .then_some("--from FILE takes an archive at hand"),
        _ => None,
    }
}

fn of_analyze(error: &AnalyzeError) -> Option<&'static str> {
    match error {
        AnalyzeError::Log(reason) => of_log(reason),
        AnalyzeError::Analysis(reason) => of_analysis(reason),
        AnalyzeError::ScaleOfL2 => Some("leave out --kappa and --by-dimension, or use --norm linf"),
        AnalyzeError::Labels { .. } => Some("give --label once per log, in order"),
        AnalyzeError::Incomparable { field: "paired", .. } => {
            Some("to compare them all the same, say --mixed")
        }
        AnalyzeError::Incomparable { .. } => Some("to draw it all the same, say --mixed"),
        AnalyzeError::Unproven { reason: ProjectionMismatch::OneLevel, .. } => {
            Some("leave out --noise-levels")
        }
        AnalyzeError::Unproven { reason: ProjectionMismatch::Levels { .. }, .. } => {
            Some("give them with --noise-levels")
        }
        _ => None,
    }
}

fn of_log(error: &LogError) -> Option<&'static str> {
    match error {
        LogError::NoSigma { .. } => Some("give it with --sigma"),
        LogError::NoAlpha { .. } => Some("give it with --alpha"),
        LogError::NoCounts { .. } => Some("leave out --alpha and --method, or analyze it separately"),
        _ => None,
    }
}

fn of_analysis(error: &AnalysisError) -> Option<&'static str> {
    match error {
        AnalysisError::NoLabels { .. } => Some("--any-class counts what is certified whatever its class"),
        AnalysisError::NoRadii { why: MissingRadii::NoScale, .. } => Some("give --kappa or --by-dimension"),
        AnalysisError::NoRadii { why: MissingRadii::OtherNorm, .. } => Some("ask for --norm linf"),
        AnalysisError::NoAlpha { .. } => Some("--rho needs it: give it with --log-alpha"),
        _ => None,
    }
}

fn of_extension(error: &NotExtendable) -> Option<&'static str> {
    matches!(error, NotExtendable::Spent { .. }).then_some("--sequential makes runs that can be extended")
}
