//! What is asked of logs, and what is known about them.

use super::prove::{self, Proof};
use crate::args::{AnalyzeArguments, RadiiArguments, Radius};
use crate::commands::certify::cosines;
use crate::hints::explained;
use crate::machine::Resources;
use crate::progress::say;
use crate::screen::shown;
use anyhow::bail;
use gambeson_checker::FailureProbability;
use gambeson_lowrank::MemoryLimit;
use gambeson_smooth::analysis::{
    AnalysisError, Evidence, Input, LoggedRun, Paired, Question, RadiusNorm, Scale, Scores, Settings,
    bernstein_bound, best_at, false_certificates, find_logs, paired, read_logs, readable_logs,
};
use std::collections::{BTreeMap, BTreeSet};

/// More columns than this are too many for a table.
const MOST_COLUMNS: usize = 20;

/// What is known about all logs.
pub(super) struct Analysis {
    pub(super) norm: RadiusNorm,
    pub(super) any_class: bool,
    pub(super) radii: Vec<Radius>,
    pub(super) logs: Vec<AnalysedLog>,
    /// At each radius the number of the best log, and its accuracy.
    pub(super) best: Vec<(usize, f64)>,
    /// The first two logs compared, if asked for.
    pub(super) paired: Option<Vec<Paired>>,
    /// κ as given, in place of what logs say.
    pub(super) given_kappa: Option<f64>,
    /// Why logs are not compared with each other, if they are not.
    pub(super) incomparable: Option<String>,
}

/// What is known about one.
pub(super) struct AnalysedLog {
    pub(super) source: LoggedRun,
    /// Short, and different for each.
    pub(super) label: String,
    pub(super) scores: Scores,
    /// At each radius.
    pub(super) accuracy: Vec<f64>,
    pub(super) high_probability: Option<HighProbability>,
    /// The projection that proves its κ.
    pub(super) proven_by: Option<String>,
    /// The noise level, as recorded or as the path says.
    pub(super) sigma: Option<f64>,
    /// Certified accuracy at radius 0.
    pub(super) clean: Option<f64>,
    /// By class, if asked for.
    pub(super) classes: Vec<ByClass>,
}

/// Accuracy of the inputs of one class, by log.
pub(super) struct ByClass {
    pub(super) label: u32,
    pub(super) images: usize,
    /// At each radius.
    pub(super) accuracy: Vec<f64>,
}

/// Certified accuracy from below.
pub(super) struct HighProbability {
    pub(super) rho: f64,
    pub(super) alpha: f64,
    /// How many certificates may be false.
    pub(super) false_certificates: u64,
    /// By the binomial distribution.
    pub(super) exact: Vec<f64>,
    /// By Bernstein's inequality.
    pub(super) bernstein: Vec<f64>,
}

pub(super) fn analyse(arguments: &AnalyzeArguments, resources: Resources) -> anyhow::Result<Analysis> {
    let question = question(&arguments.radii)?;
    let proofs = prove::proofs(&arguments.proof, resources)?;
    let sources = sources(arguments, &question, resources.memory)?;
    all_in_one_basis(&sources, &question)?;
    let scores = sources.iter().map(|source| source.scores(&question)).collect::<Result<Vec<_>, _>>()?;
    let largest = scores.iter().map(Scores::largest_radius).fold(0.0, f64::max);
    let radii = arguments.radii.radii.clone().unwrap_or_else(|| default_radii(question.norm, largest));
    let values: Vec<f64> = radii.iter().map(|radius| radius.value).collect();
    let labels = labels_of(&sources, &arguments.label)?;
    let with_scores = sources.into_iter().zip(scores).zip(labels);
    let logs = with_scores
        .map(|((source, scores), label)| {
            AnalysedLog::new(source, label, scores, arguments, (&question, &values), &proofs)
        })
        .collect::<anyhow::Result<Vec<_>>>()?;
    let used: Vec<Option<&str>> = logs.iter().map(|log| log.proven_by.as_deref()).collect();
    prove::all_used(&proofs, &used)?;
    let accuracies: Vec<Vec<f64>> = logs.iter().map(|log| log.accuracy.clone()).collect();
    let paired = if arguments.paired { Some(pair(&logs, arguments, &question, &values)?) } else { None };
    let incomparable = differ(&logs).filter(|_| !arguments.mixed);
    if let Some(differ) = incomparable.as_ref().filter(|_| arguments.envelope) {
        bail!("--envelope: {differ}; to draw it all the same, say --mixed");
    }
    Ok(Analysis {
        norm: question.norm,
        any_class: question.any_class,
        radii,
        logs,
        best: best_at(&accuracies),
        paired,
        given_kappa: arguments.radii.kappa,
        incomparable,
    })
}

impl AnalysedLog {
    fn new(
        source: LoggedRun,
        label: String,
        scores: Scores,
        arguments: &AnalyzeArguments,
        (question, radii): (&Question, &[f64]),
        proofs: &[Proof],
    ) -> anyhow::Result<Self> {
        let rho = arguments.proof.rho.map(FailureProbability::new).transpose()?;
        let accuracy = scores.certified_accuracy(radii)?;
        Ok(Self {
            high_probability: rho
                .map(|rho| high_probability(&source, &scores, &accuracy, rho, arguments.proof.log_alpha))
                .transpose()?,
            proven_by: prove::proven(&source, proofs)?,
            classes: if arguments.per_class { classes(&source, question, radii)? } else { Vec::new() },
            clean: scores.certified_accuracy(&[0.0]).ok().and_then(|at| at.first().copied()),
            sigma: sigma_of(&source),
            source,
            label,
            scores,
            accuracy,
        })
    }
}

/// ℓ∞ radii of cosine coefficients are not those of pixels or samples.
fn all_in_one_basis(sources: &[LoggedRun], question: &Question) -> anyhow::Result<()> {
    if question.norm == RadiusNorm::L2 || matches!(question.scale, Scale::Dimension(_)) {
        return Ok(());
    }
    let (first, other): (Vec<&LoggedRun>, Vec<&LoggedRun>) =
        sources.iter().partition(|source| in_cosines(source));
    if let (Some(first), Some(other)) = (first.first(), other.first()) {
        bail!(
            "{} has l_inf radii of cosine coefficients, {} does not: they cannot be compared; analyze them \
             separately",
            first.name(),
            other.name()
        );
    }
    Ok(())
}

/// The labels given, or else what tells the paths apart.
fn labels_of(sources: &[LoggedRun], given: &[String]) -> anyhow::Result<Vec<String>> {
    if given.is_empty() {
        return Ok(labels(sources));
    }
    if given.len() != sources.len() {
        bail!(
            "{} --label for {} logs: give one per log, in order (shards of one run are one log)",
            given.len(),
            sources.len()
        );
    }
    Ok(given.iter().map(|label| shown(label)).collect())
}

/// The two logs, compared on the inputs that both have.
fn pair(
    logs: &[AnalysedLog],
    arguments: &AnalyzeArguments,
    question: &Question,
    radii: &[f64],
) -> anyhow::Result<Vec<Paired>> {
    // Other inputs may be missing from one of them, but those paired must be the same.
    if let Some(differ) = other_data(logs).filter(|_| !arguments.mixed) {
        bail!("--paired: {differ}; to compare them all the same, say --mixed");
    }
    let [first, second] = logs else { bail!("--paired compares two logs, but there are {}", logs.len()) };
    Ok(paired(&first.source, &second.source, question, radii)?)
}

/// The logs, read; those that cannot be are left out if asked for.
fn sources(
    arguments: &AnalyzeArguments,
    question: &Question,
    memory: MemoryLimit,
) -> anyhow::Result<Vec<LoggedRun>> {
    let settings = Settings {
        alpha: arguments.proof.alpha.map(FailureProbability::new).transpose()?,
        sigma: arguments.proof.sigma,
        how: arguments.proof.method.into(),
        memory,
    };
    let mut paths = find_logs(&arguments.logs)?;
    if arguments.skip_bad {
        let (good, bad) = readable_logs(&paths, &settings);
        bad.into_iter().for_each(|error| say(&format!("skipped: {}", explained(&error.into()))));
        paths = good;
    }
    let mut sources = read_logs(&paths, &settings)?;
    if arguments.skip_bad {
        sources.retain(|source| match source.scores(question) {
            Ok(_) => true,
            Err(error) => {
                say(&format!("skipped: {}", explained(&error.into())));
                false
            }
        });
        if sources.is_empty() {
            bail!("none of the logs can be read");
        }
    }
    if arguments.by_sigma {
        let level = |source: &LoggedRun| sigma_of(source).unwrap_or(f64::INFINITY);
        sources.sort_by(|a, b| level(a).total_cmp(&level(b)));
    }
    for (path, line) in sources.iter().flat_map(|source| &source.broken_off) {
        say(&format!("{}, line {line}: cut off, ignored", path.display()));
    }
    Ok(sources)
}

fn classes(source: &LoggedRun, question: &Question, radii: &[f64]) -> anyhow::Result<Vec<ByClass>> {
    let one = |label: u32| {
        let scores = source.of_label(label).scores(question)?;
        let images = scores.images().unwrap_or(0);
        Ok(ByClass { label, images, accuracy: scores.certified_accuracy(radii)? })
    };
    source.labels().into_iter().map(one).collect()
}

/// The noise level of a log: as it says, or what follows `sigma` or `noise` in its path, the last of several.
fn sigma_of(source: &LoggedRun) -> Option<f64> {
    let path = source.paths.first()?.to_string_lossy().to_lowercase();
    let named = ["sigma", "noise"].iter().filter_map(|word| {
        let at = path.rfind(word)?;
        let rest = path[at + word.len()..].trim_start_matches(['_', '=', '-']);
        let end = rest.find(|letter: char| !(letter.is_ascii_digit() || letter == '.')).unwrap_or(rest.len());
        let level: f64 = rest[..end].trim_end_matches('.').parse().ok()?;
        Some((at, level))
    });
    source.sigma.or_else(|| named.max_by_key(|(at, _)| *at).map(|(_, level)| level))
}

/// All pairs of logs.
fn pairs(logs: &[AnalysedLog]) -> impl Iterator<Item = (&AnalysedLog, &AnalysedLog)> {
    logs.iter().enumerate().flat_map(|(at, log)| logs[..at].iter().map(move |other| (other, log)))
}

/// Two logs of different data, if there are any. What a log does not say is taken to be the same.
fn other_data(logs: &[AnalysedLog]) -> Option<String> {
    pairs(logs).find_map(|(one, other)| {
        let (a, b) = (&one.label, &other.label);
        let (first, second) = (one.source.data.as_deref()?, other.source.data.as_deref()?);
        let differ = first != second;
        differ.then(|| format!("{a} and {b} are of different data ({} and {})", shown(first), shown(second)))
    })
}

/// What makes accuracies of two of the logs incomparable: other data, other images.
fn differ(logs: &[AnalysedLog]) -> Option<String> {
    if let Some(differ) = other_data(logs) {
        return Some(differ);
    }
    for (one, other) in pairs(logs) {
        let (a, b) = (&one.label, &other.label);
        if let (Some(first), Some(second)) = (one.scores.images(), other.scores.images())
            && first != second
        {
            return Some(format!("{a} and {b} have different numbers of images ({first} and {second})"));
        }
        if let (Evidence::Inputs(first), Evidence::Inputs(second)) =
            (&one.source.evidence, &other.source.evidence)
        {
            let images = |inputs: &[Input]| inputs.iter().map(|input| input.index).collect::<BTreeSet<_>>();
            if images(first) != images(second) {
                return Some(format!("{a} and {b} are of different images"));
            }
            let labels: BTreeMap<u64, u32> =
                first.iter().filter_map(|input| Some((input.index, input.label?))).collect();
            let contradicts = |input: &Input| {
                input.label.is_some_and(|label| labels.get(&input.index).is_some_and(|&other| other != label))
            };
            if let Some(input) = second.iter().find(|input| contradicts(input)) {
                return Some(format!("{a} and {b} have different labels for image {}", input.index));
            }
        }
    }
    None
}

fn question(arguments: &RadiiArguments) -> anyhow::Result<Question> {
    let scale = match (arguments.kappa, arguments.by_dimension) {
        (Some(kappa), _) => Scale::Kappa(kappa),
        (None, Some(n)) => Scale::Dimension(n),
        (None, None) => Scale::Own,
    };
    let norm = match (arguments.norm.map(RadiusNorm::from), scale) {
        (Some(RadiusNorm::L2), Scale::Kappa(_) | Scale::Dimension(_)) => {
            bail!("--kappa and --by-dimension are for linf radii: leave them out, or use --norm linf")
        }
        (Some(norm), _) => norm,
        (None, Scale::Own) => RadiusNorm::L2,
        (None, Scale::Kappa(_) | Scale::Dimension(_)) => RadiusNorm::Linf,
    };
    Ok(Question { norm, scale, any_class: arguments.any_class })
}

/// From 0 to the largest, in round steps: of 1/4 in l2, unless that makes too many.
fn default_radii(norm: RadiusNorm, largest: f64) -> Vec<Radius> {
    let step = match norm {
        RadiusNorm::L2 => {
            let mut step = 0.25;
            while largest / step > MOST_COLUMNS as f64 {
                step *= 2.0;
            }
            step
        }
        RadiusNorm::Linf if largest > 0.0 => {
            let unit = 10_f64.powf((largest / 8.0).log10().floor());
            [1.0, 2.0, 5.0, 10.0]
                .map(|factor| factor * unit)
                .into_iter()
                .find(|step| largest / step <= 8.0)
                .unwrap_or(10.0 * unit)
        }
        RadiusNorm::Linf => 1.0,
    };
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // few
    let count = (largest / step) as usize;
    // By way of decimals: 3 · 0.001 is not the nearest to 0.003.
    let rounded = |value: f64| format!("{value:.12e}").parse().unwrap_or(value);
    (0..=count).map(|at| Radius::from(rounded(at as f64 * step))).collect()
}

fn high_probability(
    source: &LoggedRun,
    scores: &Scores,
    accuracy: &[f64],
    rho: FailureProbability,
    log_alpha: Option<f64>,
) -> Result<HighProbability, AnalysisError> {
    let images = scores.images().ok_or_else(|| AnalysisError::NoInputs { log: source.name() })? as u64;
    let alpha = source.alpha.or(log_alpha).ok_or_else(|| AnalysisError::NoAlpha { log: source.name() })?;
    let false_certificates = false_certificates(images, alpha, rho)?;
    let exact = |&accuracy: &f64| (accuracy - false_certificates as f64 / images as f64).max(0.0);
    Ok(HighProbability {
        rho: rho.value(),
        alpha,
        false_certificates,
        exact: accuracy.iter().map(exact).collect(),
        bernstein: accuracy.iter().map(|&part| bernstein_bound(part, images, alpha, rho)).collect(),
    })
}

/// The shortest ends of the paths that tell the logs apart, without extensions.
fn labels(sources: &[LoggedRun]) -> Vec<String> {
    let parts: Vec<Vec<String>> = sources
        .iter()
        .map(|source| {
            let path = source.paths.first().map(|path| path.with_extension("")).unwrap_or_default();
            // The .25 of sigma_0.25 is not an extension.
            let whole = source.paths.first().cloned().unwrap_or_default();
            let ending = whole.extension().and_then(std::ffi::OsStr::to_str).unwrap_or_default();
            let numeric = ending.chars().all(|letter| letter.is_ascii_digit());
            let path = if numeric { whole } else { path };
            path.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect()
        })
        .collect();
    let longest = parts.iter().map(Vec::len).max().unwrap_or(0);
    let end = |parts: &[String], length: usize| parts[parts.len().saturating_sub(length)..].join("/");
    let label = |at: usize| {
        let others = |length: usize| {
            let own = end(&parts[at], length);
            parts.iter().enumerate().all(|(other, parts)| other == at || end(parts, length) != own)
        };
        let length = (1..=longest).find(|&length| others(length)).unwrap_or(longest);
        let more = sources[at].paths.len() - 1;
        let shards = if more > 0 { format!(" (+ {more})") } else { String::new() };
        shown(&(end(&parts[at], length) + &shards))
    };
    (0..sources.len()).map(label).collect()
}

/// Whether the ℓ∞ radii of a log are of cosine coefficients.
pub(super) fn in_cosines(source: &LoggedRun) -> bool {
    cosines(source.run.as_ref().and_then(|run| run.representation))
}
