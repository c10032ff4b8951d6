//! What to do about an error, by options of the command line: libraries, whose texts these are, know none.

use gambeson::analyze::AnalyzeError;
use gambeson::report::ReportError;
use gambeson::{AttackError, BundleError, BundleProblem};
use gambeson_checker::MatrixProblem;
use gambeson_data::error::{DataError, DownloadProblem, NpmProblem};
use gambeson_learn::convert::{ConvertError, ConvertProblem};
use gambeson_learn::runtime::RuntimeError;
use gambeson_learn::smoothed::SmoothedError;
use gambeson_lowrank::parameter::ParameterError;
use gambeson_lowrank::sdp::problem::ProblemError;
use gambeson_reproduce::{ReproduceError, RunError};
use gambeson_smooth::analysis::{AnalysisError, LogError, MissingRadii};
use gambeson_smooth::record::{NotExtendable, ProjectionMismatch};
use gambeson_smooth::selection::SelectionError;
use std::error::Error;

const NOT_TWICE: &str = "leave out --mean and --std";

/// The text of an error with all its causes, in the words of the command line, and what to do about it.
pub(crate) fn explained(error: &anyhow::Error) -> String {
    let text = format!("{error:#}");
    let text = match error.chain().find_map(|cause| cause.downcast_ref::<gambeson::Error>()) {
        Some(call) => in_options(call, &text),
        None => text,
    };
    match error.chain().find_map(hint) {
        Some(hint) => format!("{text}; {hint}"),
        None => text,
    }
}

/// The text of an error of the library, with options in place of the fields of parameters.
fn in_options(call: &gambeson::Error, text: &str) -> String {
    if let Some(phrase) = phrase_in_options(call) {
        return text.replacen(&call.to_string(), &phrase, 1);
    }
    match call.field() {
        // The option is for one label, and there is none for the size of a page.
        None | Some("labels" | "most_bytes") => text.to_owned(),
        Some("target") => with_option(text, "rank"),
        Some(field) => with_option(text, field),
    }
}

/// Texts that may say what is wrong without the name of the field, and then get the option in front.
fn leaves_field_out(call: &gambeson::Error) -> bool {
    match call {
        gambeson::Error::Smoothing(_) | gambeson::Error::Grid(_) => true,
        gambeson::Error::Attack(attack) => matches!(**attack, AttackError::Perturb(_)),
        _ => false,
    }
}

/// A text in which the name of a parameter, where it first stands as a word, is that of its option.
fn with_option(text: &str, field: &str) -> String {
    let inside = |letter: Option<char>| letter.is_some_and(|it| it.is_alphanumeric() || "_-".contains(it));
    let is_word = |&(at, _): &(usize, &str)| {
        let (before, after) = (text[..at].chars().next_back(), text[at + field.len()..].chars().next());
        !inside(before) && !inside(after)
    };
    match text.match_indices(field).find(is_word) {
        None => text.to_owned(),
        Some((at, _)) => {
            let option = field.replace('_', "-");
            format!("{}--{option}{}", &text[..at], &text[at + field.len()..])
        }
    }
}

/// What the library says of several fields at once, or of values of a field, in options.
fn phrase_in_options(call: &gambeson::Error) -> Option<String> {
    let attack = match call {
        gambeson::Error::Parameter(ParameterError { name, value, range }) => {
            return Some(format!("--{} {value}: must be {range}", name.replace('_', "-")));
        }
        gambeson::Error::Normalisation(reason) => return Some(format!("--mean and --std: {reason}")),
        gambeson::Error::NormalisedByCaller => {
            return Some("--mean and --std are for networks: a toy takes its inputs as they are".to_owned());
        }
        gambeson::Error::Selection(reason @ SelectionError::Empty { .. }) => {
            let mut text = reason.to_string();
            for field in ["start", "stop", "every", "shard"] {
                text = with_option(&text, field);
            }
            return Some(text);
        }
        call if leaves_field_out(call) => {
            let field = match call.field()? {
                "targets" => "target", // the option is for one of them
                field => field,
            };
            let (text, option) = (call.to_string(), field.replace('_', "-"));
            let named = with_option(&text, field);
            return Some(if named == text { format!("--{option}: {text}") } else { named });
        }
        gambeson::Error::Attack(attack) => &**attack,
        _ => return None,
    };
    let text = match attack {
        AttackError::NoSparsity => "--method sparse needs --sparsity, the number of coefficients",
        AttackError::UnusedSparsity => "--sparsity goes with --method sparse",
        AttackError::NoModel => "--model: only --method sparse needs none",
        AttackError::CertifiedMethod => "--certified goes with --method pgd",
        AttackError::FgsmNorm => "--method fgsm is in l_inf: give --norm linf",
        AttackError::CertifiedBasis | AttackError::Alpha(_) | AttackError::Sigma(_) => {
            return Some(format!("--{attack}"));
        }
        _ => return None,
    };
    Some(text.to_owned())
}

/// The options that an error calls for.
pub(crate) fn hint(error: &(dyn Error + 'static)) -> Option<&'static str> {
    None.or_else(|| error.downcast_ref().and_then(of_call))
        .or_else(|| error.downcast_ref().and_then(of_problem))
        .or_else(|| error.downcast_ref().and_then(of_model))
        .or_else(|| error.downcast_ref().and_then(of_data))
        .or_else(|| error.downcast_ref().and_then(of_analyze))
        .or_else(|| error.downcast_ref().and_then(of_extension))
        .or_else(|| error.downcast_ref().and_then(of_experiment))
        .or_else(|| error.downcast_ref().and_then(of_run))
}

/// The library's own error shows its cause instead of handing it on.
fn of_call(error: &gambeson::Error) -> Option<&'static str> {
    match error {
        gambeson::Error::Problem { reason, .. } => of_problem(reason),
        gambeson::Error::Data(reason) => of_data(reason),
        gambeson::Error::Model(reason) => of_model(reason),
        gambeson::Error::NotExtendable { reason, .. } => of_extension(reason),
        gambeson::Error::Analyze(reason) => of_analyze(reason),
        gambeson::Error::Convert(reason) => of_network(reason),
        gambeson::Error::Bundle(error) => of_bundle(error),
        gambeson::Error::Report(error) => of_report(error),
        gambeson::Error::Attack(error) => match &**error {
            AttackError::Model(reason) => of_model(reason),
            _ => None,
        },
        _ => None,
    }
}

fn of_bundle(error: &BundleError) -> Option<&'static str> {
    match error {
        BundleError::NoRun { .. } => Some("see --model, --data and --projection"),
        BundleError::Write { reason, .. } => {
            let problem = reason.get_ref().and_then(|reason| reason.downcast_ref());
            matches!(problem, Some(BundleProblem::TooLargeForZip { .. })).then_some("--out DIR writes one")
        }
        _ => None,
    }
}

fn of_report(error: &ReportError) -> Option<&'static str> {
    match error {
        ReportError::Labels { .. } => Some("give --label once per run, in order"),
        ReportError::Find(reason) => of_log(reason),
        ReportError::Analysis(reason) => of_analysis(reason),
        _ => None,
    }
}

fn of_experiment(error: &ReproduceError) -> Option<&'static str> {
    match error {
        ReproduceError::NoRecords { .. } => Some("run it without --render-only"),
        ReproduceError::NoSound { .. } => Some("leave out --data"),
        _ => None,
    }
}

fn of_run(error: &RunError) -> Option<&'static str> {
    match error {
        RunError::NoData { looked: None, .. } => {
            Some("$GAMBESON_REFERENCE_DATA is not set: set it, or name a folder with --data")
        }
        RunError::NoData { looked: Some(_), .. } => {
            Some("set $GAMBESON_REFERENCE_DATA, or name a folder with --data")
        }
        _ => None,
    }
}

fn of_network(error: &ConvertError) -> Option<&'static str> {
    matches!(*error.problem, ConvertProblem::NormalisedTwice).then_some(NOT_TWICE)
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

fn of_model(error: &SmoothedError) -> Option<&'static str> {
    match error {
        SmoothedError::Model(model) => match **model {
            RuntimeError::Unsupported { .. } => Some("--runtime onnx leaves the graph to ONNX Runtime"),
            RuntimeError::Disagree { .. } => {
                Some("--runtime own or --runtime onnx takes one of them without comparing")
            }
            RuntimeError::NormalisedTwice { .. } => Some(NOT_TWICE),
            _ => None,
        },
        SmoothedError::Network(network) => of_network(network),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_stand_for_parameters() {
        assert_eq!(with_option("gap is NaN, but gap must be", "gap"), "--gap is NaN, but gap must be");
        assert_eq!(
            with_option("the stopgap: time_limit is 0", "time_limit"),
            "the stopgap: --time-limit is 0"
        );
        assert_eq!(with_option("stopgap", "gap"), "stopgap");
    }
}
