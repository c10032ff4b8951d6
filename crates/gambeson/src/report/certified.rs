//! Certified accuracy of runs on the same data: the numbers of `analyze`, at every radius.

use super::data::FoundData;
use super::made_with::KappaProof;
use super::params::CommandLine;
use super::recheck::{PLACE, Recheck, around};
use super::sources::CertifiedSource;
use crate::analyze::{AnalysedLog, Radius, SHARES, default_radii, difference};
use crate::error::report::ReportError;
use gambeson_report::decimal::{down, up};
use gambeson_report::page::{
    Certified, CertifiedRun, Limits, NormView, Outcomes, RadiusCurve, RadiusScale, Step, Steps,
};
use gambeson_smooth::analysis::{AnalysisError, Evidence, Predicted, Question, RadiusNorm, Scale, Scores};
use gambeson_smooth::claim::grouped;
use gambeson_smooth::record::{Rule, Run};
use std::path::PathBuf;

/// Digits of κ.
const KAPPA_DIGITS: usize = 7;

/// A run with what else is known about it.
pub(super) struct GroupRun<'a> {
    pub(super) source: &'a CertifiedSource,
    pub(super) kappa: &'a KappaProof,
}

/// In which coordinates ℓ∞ radii are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LinfBasis {
    /// Cosine coefficients.
    Cosines,
    /// The values themselves.
    Values,
    /// Either: what holds for every ℓ2 ball around an input holds in any orthonormal coordinates.
    Any,
}

/// A number whose digits all stand elsewhere on the page: the first of them, and … where there are more.
fn first_digits(number: f64) -> String {
    const DIGITS: usize = 4;
    let (whole, first) = (number.to_string(), down(number, DIGITS));
    if whole.len() <= first.len() { whole } else { format!("{first}…") }
}

impl GroupRun<'_> {
    fn basis(&self) -> LinfBasis {
        match self.source.logged.run.as_deref().map(|run| run.representation) {
            Some(None) => LinfBasis::Any,
            Some(Some(representation)) if representation.is_cosine() => LinfBasis::Cosines,
            Some(Some(_)) | None => LinfBasis::Values,
        }
    }

    fn about(&self) -> String {
        let sigma = self.source.logged.sigma.map(|sigma| format!("σ = {}", first_digits(sigma)));
        let run = self.source.logged.run.as_deref();
        let kappa = run.and_then(|run| run.kappa).map(|kappa| {
            let proven = if matches!(self.kappa, KappaProof::Proven(_)) { ", proven" } else { "" };
            format!("κ ≤ {}{proven}", up(kappa, KAPPA_DIGITS))
        });
        let most = |run: &Run| if run.rule == Rule::Fixed { "" } else { "up to " };
        let draws = run.map(|run| format!("{}{} draws", most(run), grouped(run.common.n)));
        [sigma, kappa, draws].into_iter().flatten().collect::<Vec<_>>().join(" · ")
    }

    fn scores(&self, question: &Question) -> Result<Scores, AnalysisError> {
        self.source.logged.scores(question)
    }
}

/// Everything about runs on the same data, which may have been found, and what makes them incomparable, if something does.
pub(super) fn certified(
    runs: &[GroupRun<'_>],
    data: Option<&FoundData>,
    digits: Option<usize>,
    command_line: Option<CommandLine>,
) -> Result<Certified, ReportError> {
    let labelled = runs.iter().all(|run| is_labelled(run.source));
    let question = |norm| Question { norm, scale: Scale::Own, any_class: !labelled };
    let mut norms = Vec::new();
    let views = [
        ("l2", "ℓ2", RadiusNorm::L2, None),
        ("linf-cosine", "ℓ∞ of cosine coefficients", RadiusNorm::Linf, Some(LinfBasis::Cosines)),
        ("linf", "ℓ∞", RadiusNorm::Linf, Some(LinfBasis::Values)),
    ];
    for (key, name, norm, basis) in views {
        let belongs = |run: &&GroupRun<'_>| match basis {
            None => true,
            Some(basis) => [basis, LinfBasis::Any].contains(&run.basis()),
        };
        // What holds in any coordinates alone needs no view of its own beside another.
        let own = |run: &GroupRun<'_>| basis.is_none_or(|basis| run.basis() == basis);
        let others = norms.iter().any(|view: &NormView| view.key != "l2");
        if !runs.iter().any(own) && (others || basis == Some(LinfBasis::Cosines)) {
            continue;
        }
        let curve = |run: &GroupRun<'_>| {
            if !belongs(&run) {
                return Ok(None);
            }
            curve(run, &question(norm), labelled, digits)
        };
        let curves = runs.iter().map(curve).collect::<Result<Vec<_>, _>>()?;
        if curves.iter().all(Option::is_none) {
            continue;
        }
        let largest = curves.iter().flatten().map(|curve| curve.steps.largest()).fold(0.0, f64::max);
        let radii = default_radii(norm, largest);
        let with_curve = runs.iter().zip(&curves).filter(|(_, curve)| curve.is_some()).map(|(run, _)| run);
        let commands = command_line
            .map(|line| accuracy_lines(&with_curve.collect::<Vec<_>>(), norm, !labelled, line))
            .unwrap_or_default();
        norms.push(NormView {
            key,
            name: name.to_owned(),
            radii: radii.iter().map(|radius| (radius.value(), radius.text().to_owned())).collect(),
            scale: RadiusScale::up_to(largest).starting_at(first_radius(&curves, &radii)),
            curves,
            commands,
        });
    }
    let of_run = |run: &GroupRun<'_>| {
        let scores =
            run.scores(&question(RadiusNorm::L2)).or_else(|_| run.scores(&question(RadiusNorm::Linf)));
        CertifiedRun {
            run: run.source.label.clone(),
            about: run.about(),
            outcomes: outcomes(run.source, labelled),
            limits: scores.ok().and_then(|scores| limits(&scores, digits)),
        }
    };
    let notes =
        incomparable(runs, &question(RadiusNorm::L2)).into_iter().chain(uncompared(runs, data)).collect();
    let (runs, classes) =
        (runs.iter().map(of_run).collect(), data.map(|found| found.data.classes().to_vec()));
    Ok(Certified { notes, runs, norms, classes: classes.unwrap_or_default(), labelled })
}

/// The numbers of coordinates that were not compared with the data, where radii rest on them.
fn uncompared(runs: &[GroupRun<'_>], data: Option<&FoundData>) -> Option<String> {
    let recorded = runs.iter().filter_map(|run| run.source.logged.run.as_deref());
    let dimension = recorded.filter(|run| run.kappa.is_none()).map(|run| run.dimension).next();
    let dimension = dimension.filter(|_| data.is_none())?;
    Some(format!(
        "Without a projection, ℓ∞ radii are ℓ2 radii divided by √n. That inputs have n = {dimension} coordinates is the \
         records' word: the data they name were not found here."
    ))
}

/// A radius of the table at which every curve has something to show.
fn first_radius(curves: &[Option<RadiusCurve>], radii: &[Radius]) -> f64 {
    let ends = curves.iter().flatten().map(|curve| curve.steps.largest()).filter(|&end| end > 0.0);
    let middle = 0.4 * ends.fold(f64::INFINITY, f64::min);
    let away = |radius: &f64| (radius - middle).abs();
    let rest = radii.iter().skip(1).map(Radius::value);
    rest.min_by(|a, b| away(a).total_cmp(&away(b))).unwrap_or(0.0)
}

/// Whether every input of a run has a label.
fn is_labelled(source: &CertifiedSource) -> bool {
    match &source.logged.evidence {
        Evidence::Inputs(inputs) => inputs.iter().all(|input| input.correct.is_some()),
        Evidence::Curve(_) => true, // it says "accuracy"
    }
}

/// A curve; `None` where the run has no radii in the norm.
fn curve(
    run: &GroupRun<'_>,
    question: &Question,
    labelled: bool,
    digits: Option<usize>,
) -> Result<Option<RadiusCurve>, AnalysisError> {
    let scores = match run.scores(question) {
        Err(AnalysisError::NoRadii { .. }) => return Ok(None),
        other => other?,
    };
    let mut by_class = Vec::new();
    if labelled {
        for label in run.source.logged.labels() {
            let scores = run.source.logged.of_label(label).scores(question)?;
            by_class.extend(steps(&scores, digits).map(|steps| (label, steps)));
        }
    }
    let average = scores.average_radius();
    Ok(steps(&scores, digits).map(|steps| RadiusCurve { steps, average, by_class }))
}

/// The steps of certified accuracy; `None` for predictions.
fn steps(scores: &Scores, digits: Option<usize>) -> Option<Steps> {
    let steps = match (scores.certified_radii(), scores.listed_curve()) {
        (Some(radii), _) => Steps::counted(radii.inputs() as u64, radii.rising().to_vec()),
        (None, Some(curve)) => {
            let step = |&(value, share): &(f64, f64)| Step { value, count: None, share };
            Steps { total: None, steps: curve.iter().map(step).collect() }
        }
        (None, None) => return None,
    };
    Some(digits.map_or(steps.clone(), |digits| steps.rounded_down(digits)))
}

fn limits(scores: &Scores, digits: Option<usize>) -> Option<Limits> {
    let limits = scores.limits();
    if limits.is_empty() {
        return None;
    }
    let steps = Steps::counted(limits.len() as u64, limits.to_vec());
    let quantiles = |of: &dyn Fn(f64) -> Option<f64>| -> Vec<(f64, f64)> {
        SHARES.into_iter().filter_map(|share| Some((share, of(share)?))).collect()
    };
    Some(Limits {
        steps: digits.map_or(steps.clone(), |digits| steps.rounded_down(digits)),
        quantiles: quantiles(&|share| scores.limit_quantile(share)),
        right_quantiles: quantiles(&|share| scores.right_limit_quantile(share)),
    })
}

fn outcomes(source: &CertifiedSource, labelled: bool) -> Option<Outcomes> {
    let Evidence::Inputs(inputs) = &source.logged.evidence else { return None };
    let missing = source.logged.missing();
    let mut found = Outcomes { inputs: inputs.len() as u64 + missing, missing, ..Outcomes::default() };
    for input in inputs {
        match (input.predicted, input.correct) {
            (Predicted::Abstained, _) => found.abstained += 1,
            (_, Some(false)) if labelled => found.wrong += 1,
            _ => found.right += 1,
        }
    }
    Some(found)
}

/// Why accuracies of the runs cannot be compared, if they cannot.
fn incomparable(runs: &[GroupRun<'_>], question: &Question) -> Option<String> {
    let analysed = |run: &GroupRun<'_>| {
        let scores = run.scores(question).ok()?;
        AnalysedLog::new(run.source.logged.clone(), run.source.label.label.clone(), scores, &[]).ok()
    };
    let logs: Vec<AnalysedLog> = runs.iter().filter_map(analysed).collect();
    difference(&logs)
        .map(|difference| format!("These runs cannot be compared with each other: {difference}."))
}

/// Lines that compute certified accuracy again. What is measured in other coordinates needs a line of its own.
fn accuracy_lines(
    runs: &[&GroupRun<'_>],
    norm: RadiusNorm,
    any_class: bool,
    line: CommandLine,
) -> Vec<(String, String)> {
    let bases = [LinfBasis::Cosines, LinfBasis::Values, LinfBasis::Any];
    let groups: Vec<Vec<&&GroupRun<'_>>> = match norm {
        RadiusNorm::L2 => vec![runs.iter().collect()],
        RadiusNorm::Linf => {
            bases.iter().map(|basis| runs.iter().filter(|run| run.basis() == *basis).collect()).collect()
        }
    };
    let of_group = |group: Vec<&&GroupRun<'_>>| {
        let logs: Vec<PathBuf> = group.iter().flat_map(|run| run.source.logged.paths.clone()).collect();
        let mut projections: Vec<PathBuf> = Vec::new();
        let mut all = true;
        for run in &group {
            match run.kappa {
                KappaProof::Proven(path) if !projections.contains(path) => projections.push(path.clone()),
                KappaProof::Proven(_) | KappaProof::NoProjection => {}
                KappaProof::Recorded(_) => all = false,
            }
        }
        // All that have one, or none: so `analyze` wants it.
        let projections: &[PathBuf] = if all { &projections } else { &[] };
        around(&line(&Recheck::Accuracy { logs: &logs, projections, norm, radius: PLACE, any_class }))
    };
    groups.into_iter().filter(|group| !group.is_empty()).map(of_group).collect()
}

#[cfg(test)]
mod tests {
    use super::first_digits;

    #[test]
    fn long_numbers_are_cut() {
        for (number, shown) in
            [(0.5, "0.5"), (0.12, "0.12"), (0.118_793_939_239_339_98, "0.1187…"), (12.0, "12")]
        {
            assert_eq!(first_digits(number), shown);
        }
    }
}
