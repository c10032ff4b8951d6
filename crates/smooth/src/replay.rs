//! Records drawn again: what a third party needs to believe no one.
//!
//! **Problem.** A record says how often each class was counted. Counts cannot be checked from themselves, but the draws are
//! a function of seed, input and number: whoever has the network and the data can make them again.
//!
//! **Method.** For each record: its label is that of the data, and it counts the classes of network and data; the errors it
//! takes off its radius are no smaller than those the checker proves for the input; its counts prove its class and radii; and
//! the same draws, made again, have the same counts. For the run: network, data and projection are those it names, κ and s no
//! better than proven ([`Run::check_projection`](crate::record::Run::check_projection)), and a seed with a nonce is the one
//! that these parts give ([`crate::seed`]).
//!
//! **Fresh draws.** With a nonce of the verifier's own the draws are independent of the record. They prove nothing about the
//! record's own draws, but can contradict it in two ways.
//!
//! *One record by itself.* Its counts prove p_A ≥ L_δ at any δ, by the rule it was stopped by, and fresh draws prove
//! p_A ≤ U_δ. Where L_δ > U_δ ([`Compared::impossible`]), one of two things of probability δ happened; over m records, with
//! δ = 10⁻⁶/2m, the chance that an honest run shows any such record is at most 10⁻⁶.
//!
//! *All together.* Each record claims p_A ≥ L, wrong with probability α at most. Fresh draws refute that where an upper
//! limit on p_A, wrong with probability [`REFUTED`] at most, lies below L. Among m honest records at most a binomially
//! distributed number with parameters m and α + [`REFUTED`] is refuted, however each of them was stopped; more than
//! [`tolerated`] of them have a probability below 10⁻⁶.
//!
//! *Two limits.* A record with two limits claims p_c ≤ U of every other answer c as well, and both claims together are wrong
//! with probability α at most. Fresh draws then have half of their failure probability for each: for the upper limit on p_A,
//! and, in equal parts, for lower limits on all other answers, one of which must exceed U to refute it.
//!
//! **Networks that are computed elsewhere** may answer near-ties otherwise in another version of the program: then some
//! draws differ ([`Replayed::differing`]). What a record claims is then proven only where the counts as drawn now prove as
//! much ([`Replayed::proves`]).

use crate::analysis::{AnalysisError, false_certificates};
use crate::limit::{lower_limit, upper_limit};
use crate::record::{LimitChoice, Proven, Record, RecordProblem};
use crate::runs::{Row, text};
use crate::smoother::{
    Counts, DrawCounter, Drawn, Errors, InputError, Procedure, SmoothingError, SmoothingPlan,
};
use gambeson_checker::{FailureProbability, LowerLimit, SamplingRule, StatisticsError, Tally, UpperLimit};
use gambeson_lowrank::observe::Observer;
use thiserror::Error;

/// How often fresh draws may refute a true claim.
pub const REFUTED: f64 = 1e-6;

/// What is wrong with a record.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum Finding {
    /// Its label is not that of the input.
    #[error("its label is {}, but that of the data is {}", text(*.recorded), text(*.found))]
    Label {
        /// In the record.
        recorded: Option<u32>,
        /// In the data.
        found: Option<u32>,
    },
    /// It counts another number of classes.
    #[error("it counts {recorded} classes, but there are {expected}")]
    Classes {
        /// In the record.
        recorded: usize,
        /// Of the classifier, or of the data if they have more.
        expected: usize,
    },
    /// It takes less off its radius than has to be.
    #[error("its {field} is {recorded}, but what is proven is {proven}")]
    Error {
        /// Which.
        field: &'static str,
        /// In the record.
        recorded: f64,
        /// By the checker.
        proven: f64,
    },
    /// Its counts do not prove what it says.
    #[error(transparent)]
    Claim(RecordProblem),
    /// The same draws have other counts.
    #[error(
        "{series} counts of class {class}: {recorded} in the record, {drawn} drawn again; at least {differing} draws differ"
    )]
    Counts {
        /// selection or estimation.
        series: &'static str,
        /// The first class that differs; the number of classes stands for none, and one more for undecided draws.
        class: usize,
        /// In the record.
        recorded: u64,
        /// Now.
        drawn: u64,
        /// Draws with another answer, at least.
        differing: u64,
    },
}

/// A record, drawn again.
#[derive(Clone, Debug, PartialEq)]
pub struct Replayed {
    /// What is wrong, in the order in which it was looked at.
    pub findings: Vec<Finding>,
    /// Draws with another answer, at least.
    pub differing: u64,
    /// The record with the counts as drawn now, and what they prove.
    pub again: Record,
}

impl Replayed {
    /// Whether the counts as drawn now prove what the record claims: its class, and no smaller a radius.
    pub fn proves(&self, record: &Record) -> bool {
        let (claimed, found) = (&record.derived, &self.again.derived);
        let radius = |latent: Option<f64>| latent.unwrap_or(0.0);
        // A radius without a class is a claim as well.
        (claimed.class.is_none() || claimed.class == found.class)
            && radius(found.latent) >= radius(claimed.latent)
    }
}

/// Why a record could not be drawn again.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReplayError<E: std::error::Error + 'static> {
    /// The classifier, or the input.
    #[error(transparent)]
    Smoothing(#[from] SmoothingError<E>),
    /// The checker.
    #[error(transparent)]
    Statistics(#[from] StatisticsError),
    /// The run of the fresh draws cannot be written.
    #[error(transparent)]
    Run(#[from] serde_json::Error),
}

impl<E: std::error::Error + 'static> From<InputError> for ReplayError<E> {
    fn from(error: InputError) -> Self {
        Self::Smoothing(error.into())
    }
}

/// What can be found wrong with a record without drawing anything: its label, its number of classes, the errors it takes off
/// its radius, and whether its counts prove what it says. `classes` are those of the data.
pub fn examine(
    plan: &SmoothingPlan,
    record: &Record,
    row: &Row,
    classes: usize,
) -> Result<Vec<Finding>, InputError> {
    let mut findings = Vec::new();
    let (recorded, expected) = (record.estimation.len(), classes.max(plan.classifier().classes));
    if recorded != expected {
        findings.push(Finding::Classes { recorded, expected });
    }
    if record.label != row.label {
        findings.push(Finding::Label { recorded: record.label, found: row.label });
    }
    let proven: Errors = plan.errors(&row.values)?;
    let errors = [
        ("encoding_error", record.encoding_error, proven.encoding),
        ("perturbed_error", record.perturbed_error, proven.perturbed),
    ];
    for (field, recorded, proven) in errors {
        // Written so that NaN is found.
        if !(recorded >= proven) {
            findings.push(Finding::Error { field, recorded, proven });
        }
    }
    if let Err(problem) = record.check_claim() {
        findings.push(Finding::Claim(problem));
    }
    Ok(findings)
}

/// Draws a record again with the seed and numbers of draws of the counter's run, and compares. None where the observer
/// ended it.
pub fn replay<S: DrawCounter>(
    mut counter: S,
    record: &Record,
    row: &Row,
    classes: usize,
    observer: &mut (impl Observer<Drawn> + Send),
) -> Result<Option<Replayed>, ReplayError<S::Error>> {
    let mut findings = examine(counter.plan(), record, row, classes)?;
    let proven: Errors = counter.plan().errors(&row.values)?;
    let draws = Procedure::draws(counter.plan(), record.index, &row.values, record.draws())?;
    let Some((selection, estimation)) = counter.count(draws, observer)? else { return Ok(None) };
    let recorded = record.counts();
    let mut differing = 0;
    for (series, recorded, drawn) in
        [("selection", &recorded.0, &selection), ("estimation", &recorded.1, &estimation)]
    {
        let finding = difference(series, recorded, drawn);
        differing += finding.as_ref().map_or(0, |(_, differing)| *differing);
        findings.extend(finding.map(|(finding, _)| finding));
    }
    let padded = |counts: &Counts| {
        let mut classes = counts.classes.clone();
        classes.resize(classes.len().max(record.estimation.len()), 0);
        classes
    };
    let again = Record {
        selection: padded(&selection),
        estimation: padded(&estimation),
        selection_none: selection.none,
        estimation_none: estimation.none,
        selection_undecided: selection.undecided,
        estimation_undecided: estimation.undecided,
        encoding_error: proven.encoding,
        perturbed_error: proven.perturbed,
        label: row.label,
        ..record.clone()
    };
    Ok(Some(Replayed { findings, differing, again: again.with_derived()? }))
}

/// The first class whose counts differ, and the least number of draws that must have had another answer.
fn difference(series: &'static str, recorded: &Counts, drawn: &Counts) -> Option<(Finding, u64)> {
    let all = |counts: &Counts, classes: usize| {
        let mut all = counts.classes.clone();
        all.resize(classes, 0);
        all.extend([counts.none, counts.undecided]);
        all
    };
    let classes = recorded.classes.len().max(drawn.classes.len());
    let (recorded, drawn) = (all(recorded, classes), all(drawn, classes));
    let more: u64 = recorded.iter().zip(&drawn).map(|(a, b)| a.saturating_sub(*b)).sum();
    let fewer: u64 = recorded.iter().zip(&drawn).map(|(a, b)| b.saturating_sub(*a)).sum();
    let differing = more.max(fewer);
    let class = (0..recorded.len()).find(|&class| recorded[class] != drawn[class])?;
    let (recorded, drawn) = (recorded[class], drawn[class]);
    Some((Finding::Counts { series, class, recorded, drawn, differing }, differing))
}

/// A claim about probabilities, and what fresh draws prove of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contrast {
    /// The record claims that its class has at least this probability,
    pub claimed: f64,
    /// and fresh draws prove that it has at most this.
    pub at_most: f64,
    /// With two limits, the record claims that every other answer has at most this probability,
    pub others_claimed: Option<f64>,
    /// and fresh draws prove that one has at least this.
    pub others_at_least: Option<f64>,
}

impl Contrast {
    /// Whether fresh draws contradict the claim about the class.
    pub fn contradicts_class(&self) -> bool {
        self.at_most < self.claimed
    }

    /// Whether they contradict the claim about the other answers.
    pub fn contradicts_others(&self) -> bool {
        self.others_claimed.zip(self.others_at_least).is_some_and(|(claimed, at_least)| at_least > claimed)
    }

    /// Whether they contradict either.
    pub fn is_contradiction(&self) -> bool {
        self.contradicts_class() || self.contradicts_others()
    }
}

/// What fresh draws say of a record's claim.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// The claim, and fresh limits that are wrong with probability [`REFUTED`] at most; none where the record abstained.
    pub claim: Option<Contrast>,
    /// Whether the record's counts and the fresh ones exclude each other; see the head of this file.
    pub impossible: bool,
    /// A record of the fresh draws.
    pub fresh: Record,
}

impl Compared {
    /// Whether the claim is refuted.
    pub fn refuted(&self) -> bool {
        self.claim.is_some_and(|claim| claim.is_contradiction())
    }
}

/// Certifies the input of a record with fresh draws, as many as it has: the counter has a seed of the verifier's own.
/// `records` is how many are compared in all. None where the observer ended it.
pub fn compare<S: DrawCounter>(
    mut counter: S,
    record: &Record,
    row: &Row,
    records: u64,
    observer: &mut (impl Observer<Drawn> + Send),
) -> Result<Option<Compared>, ReplayError<S::Error>> {
    let draws = Procedure::draws(counter.plan(), record.index, &row.values, record.draws())?;
    let Some((selection, estimation)) = counter.count(draws, observer)? else { return Ok(None) };
    let errors: Errors = counter.plan().errors(&row.values)?;
    let alpha = FailureProbability::new(record.run.common.alpha)?;
    // What the counts prove is claimed, whatever stands beside them.
    let proven = record.derive(alpha, LimitChoice::Natural)?;
    let (mut claim, mut impossible) = (None, false);
    if let Some(class) = proven.derived.class {
        claim = contrast(&proven, class, &estimation, FailureProbability::new(REFUTED)?)?;
        let rarely = FailureProbability::new(REFUTED / (2.0 * records.max(1) as f64))?;
        let proven = record.derive(rarely, LimitChoice::Natural)?;
        impossible = contrast(&proven, class, &estimation, rarely)?.is_some_and(|it| it.is_contradiction());
    }
    let fresh = Record {
        selection: selection.classes.clone(),
        estimation: estimation.classes.clone(),
        selection_none: selection.none,
        estimation_none: estimation.none,
        selection_undecided: selection.undecided,
        estimation_undecided: estimation.undecided,
        encoding_error: errors.encoding,
        perturbed_error: errors.perturbed,
        label: row.label,
        ..record.clone()
    };
    // The number of draws was that of the record, chosen without these: a fixed number.
    let fresh = fresh.with_fixed_rule()?.with_derived()?;
    Ok(Some(Compared { claim, impossible, fresh }))
}

/// What counts proved about a class, beside limits from fresh draws that are all wrong with this probability at most.
fn contrast(
    proven: &Proven,
    class: u32,
    fresh: &Counts,
    failure: FailureProbability,
) -> Result<Option<Contrast>, StatisticsError> {
    let Some(claimed) = proven.lower_limit.map(LowerLimit::value) else { return Ok(None) };
    let (rule, draws) = (SamplingRule::Fixed, fresh.draws());
    let tally = Tally::new(fresh.of(class) + fresh.undecided, draws)?;
    let at_most = |failure| Ok(upper_limit(rule, tally, rule.method(), failure)?.value());
    let Some(others_claimed) = proven.upper_limit.map(UpperLimit::value) else {
        let at_most = at_most(failure)?;
        return Ok(Some(Contrast { claimed, at_most, others_claimed: None, others_at_least: None }));
    };
    // Every other class, and no class.
    let others = fresh.classes.iter().enumerate().filter(|(other, _)| *other != class as usize);
    let others: Vec<u64> = others.map(|(_, &count)| count).chain([fresh.none]).collect();
    let share = FailureProbability::new(failure.half().value() / others.len() as f64)?;
    // The limit rises with the count.
    let most = Tally::new(others.into_iter().max().unwrap_or(0), draws)?;
    let at_least = lower_limit(rule, most, rule.method(), share)?.value();
    let at_most = at_most(failure.half())?;
    Ok(Some(Contrast {
        claimed,
        at_most,
        others_claimed: Some(others_claimed),
        others_at_least: Some(at_least),
    }))
}

/// How many of `records` honest claims may be refuted before that has a probability below 10⁻⁶.
pub fn tolerated(records: u64, alpha: FailureProbability) -> Result<u64, AnalysisError> {
    let p = alpha.value() + REFUTED;
    false_certificates(records, p, FailureProbability::new(REFUTED)?)
}
