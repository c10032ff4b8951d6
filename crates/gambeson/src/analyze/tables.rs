//! What is known about logs as tables for people.

use super::analysis::Analysis;
use super::details::{self, NOTHING, number};
use super::dimension::{Dimension, DimensionSource};
use super::log::AnalysedLog;
use super::read::in_cosines;
use gambeson_learn::inputs::data_parts;
use gambeson_report::decimal::down_to_places;
use gambeson_report::table::Table;
use gambeson_report::text::shown;
use gambeson_smooth::analysis::{Dialect, LoggedRun, RadiusNorm};
use gambeson_smooth::record::LimitChoice;

/// What notes below tables call the parameters that they recommend: a program puts its options there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Advice {
    /// What compares logs of different inputs.
    pub mixed: &'static str,
    /// What proves κ again.
    pub projections: &'static str,
    /// What compares records with their data.
    pub check: &'static str,
}

impl Default for Advice {
    /// Fields of [`AnalyzeParams`](crate::AnalyzeParams).
    fn default() -> Self {
        Self {
            mixed: "the parameter mixed",
            projections: "the parameter projections",
            check: "check_records",
        }
    }
}

/// A row of the main table.
#[derive(Clone, Copy)]
enum Row<'a> {
    Log(&'a AnalysedLog),
    /// Its bound by the binomial distribution.
    Exact(&'a AnalysedLog),
    /// Its bound by Bernstein's inequality.
    Bernstein(&'a AnalysedLog),
    Envelope,
}

impl Analysis {
    /// The accuracies, the distributions of p_A if known, and what else was asked for, with so many decimal places.
    pub fn tables(&self, digits: u8) -> Vec<Table> {
        self.tables_with(digits, Advice::default())
    }

    /// The same with other names in what they recommend.
    pub fn tables_with(&self, digits: u8, advice: Advice) -> Vec<Table> {
        let digits = usize::from(digits);
        let mut tables = vec![self.accuracies(digits, advice)];
        tables.extend(details::limits(self));
        if self.envelope {
            tables.push(details::envelope(self, digits));
        }
        tables.extend(self.logs.iter().filter_map(|log| details::by_class(log, self, digits)));
        tables.extend(self.paired.as_ref().map(|found| details::paired(found, self, digits)));
        tables
    }

    /// Whether the best log is marked.
    fn compared(&self) -> bool {
        self.logs.len() > 1 && self.incomparable.is_none()
    }

    fn accuracies(&self, digits: usize, advice: Advice) -> Table {
        let what = if self.any_class { "Fraction of inputs certified" } else { "Certified accuracy" };
        let caption = format!("{what} at {} radii r.", self.norm.name());
        let mut rows = Vec::new();
        for log in &self.logs {
            rows.push(Row::Log(log));
            if log.high_probability.is_some() {
                rows.extend([Row::Exact(log), Row::Bernstein(log)]);
            }
        }
        if self.envelope {
            rows.push(Row::Envelope);
        }
        let mut table = Table::new(caption, self.notes(advice));
        table.words("log", &rows, |row| match row {
            Row::Log(log) => log.label.clone(),
            Row::Exact(_) => "  exact".to_owned(),
            Row::Bernstein(_) => "  Bernstein".to_owned(),
            Row::Envelope => "envelope".to_owned(),
        });
        table.column("", "images", &rows, |row| match row {
            Row::Log(log) => log.scores.images().map_or(NOTHING.to_owned(), |images| images.to_string()),
            _ => String::new(),
        });
        let accuracy = |value: f64| format!("{value:.digits$}");
        let (bound, none) = (|value| down_to_places(value, digits), || NOTHING.to_owned());
        for (at, radius) in self.radii.iter().enumerate() {
            table.column("", &format!("r = {radius}"), &rows, |row| match row {
                Row::Log(log) => {
                    let shown = accuracy(log.accuracy[at]);
                    let best = self.compared() && shown == accuracy(self.best[at].1);
                    shown + if best { "*" } else { "" }
                }
                Row::Exact(log) => log.high_probability.as_ref().map_or(none(), |it| bound(it.exact[at])),
                Row::Bernstein(log) => {
                    log.high_probability.as_ref().map_or(none(), |it| bound(it.bernstein[at]))
                }
                Row::Envelope => accuracy(self.best[at].1),
            });
        }
        table.column("", "ACR", &rows, |row| match row {
            Row::Log(log) => number(log.scores.average_radius(), acr_digits(self.norm, digits)),
            _ => String::new(),
        });
        table.column("", "abstained", &rows, |row| match row {
            Row::Log(log) => number(log.scores.abstained(), digits),
            _ => String::new(),
        });
        table
    }

    /// What stands below the accuracies.
    fn notes(&self, advice: Advice) -> Vec<String> {
        let mut notes = Vec::new();
        if self.compared() {
            notes.push("*: the highest accuracy at that radius.".to_owned());
        } else if let Some(difference) = &self.incomparable {
            notes.push(format!("Not compared: {difference}; {} compares them all the same.", advice.mixed));
        }
        if let Some(kappa) = self.given_kappa {
            notes.push(format!(
                "ℓ∞ radii are those of z divided by κ = {kappa} as given, which nothing here proves."
            ));
        }
        if let Some(Dimension { value, from: DimensionSource::Given }) =
            self.logs.first().and_then(|log| log.dimension.as_ref())
        {
            notes.push(format!(
                "ℓ∞ radii are those in ℓ2 divided by √n for n = {value} coordinates as given, which nothing here proves."
            ));
        }
        if let Some(bound) = self.logs.iter().find_map(|log| log.high_probability.as_ref()) {
            notes.push(format!(
                "exact, Bernstein: lower bounds with probability 1 − {} over all draws, for all radii at once; exact \
                 from the binomial distribution of false certificates, Bernstein as in Cohen et al.",
                bound.rho
            ));
        }
        notes.extend(self.logs.iter().filter_map(missing));
        notes.extend(self.logs.iter().filter_map(|log| self.certified(log, advice)));
        notes
    }

    /// How a log with counts was certified here.
    fn certified(&self, log: &AnalysedLog, advice: Advice) -> Option<String> {
        let source = &log.source;
        let counts = matches!(source.dialect, Dialect::Records | Dialect::Votes);
        let (sigma, alpha) = (source.sigma.filter(|_| counts)?, source.alpha?);
        let limits = match self.limits {
            LimitChoice::Natural => source.run.as_ref().map_or("one-sided", |run| run.limits.name()),
            LimitChoice::OneSided => "one-sided",
            LimitChoice::Chosen => "chosen",
            LimitChoice::Mixture => "mixture",
            LimitChoice::TwoSided => "two-sided",
        };
        let given = if source.dialect == Dialect::Votes { " as given" } else { "" };
        let run = source.run.as_deref();
        let kappa = run.and_then(|run| run.kappa).filter(|_| self.given_kappa.is_none()).map_or_else(
            String::new,
            |kappa| match &log.proven_by {
                Some(projection) => format!(" κ = {kappa}, proven again, as is σ_max, from {projection}."),
                None => {
                    format!(" κ = {kappa} and σ_max as recorded: {} proves them again.", advice.projections)
                }
            },
        );
        let dimension = log.dimension.as_ref().map_or_else(String::new, |it| dimension(it, source, advice));
        let cosines = if in_cosines(source) { " ℓ∞ is of cosine coefficients." } else { "" };
        let goal = run.and_then(|run| run.goal.as_ref()).map_or_else(String::new, |goal| {
            let targets: Vec<String> = goal.targets.iter().map(ToString::to_string).collect();
            let tolerance =
                goal.tolerance.map_or_else(String::new, |tolerance| format!(" within {tolerance}"));
            let norm = goal.norm.name();
            format!(
                " Drawing stopped when the {norm} radii {}{tolerance} were settled; other radii are lower bounds of what \
                 all draws would give.",
                targets.join(", ")
            )
        });
        let afterwards = if self.chosen_afterwards(source) == Some(true) {
            " α or the limits were chosen afterwards: these numbers are no claim."
        } else {
            ""
        };
        Some(format!(
            "{}: certified from its counts, σ = {sigma}{given}, α = {alpha}, {limits} limits.{afterwards}{kappa}{dimension}{cosines}{goal}",
            log.label
        ))
    }
}

/// How many inputs of a plan have no record.
fn missing(log: &AnalysedLog) -> Option<String> {
    let (planned, missing) = (log.source.planned?, log.source.missing());
    (missing > 0).then(|| {
        format!(
            "{}: {missing} of the {} inputs planned have no record; they count as not certified.",
            log.label, planned.count
        )
    })
}

/// Whether the number of coordinates that ℓ∞ radii rest on is known to be right; nothing where it was given.
fn dimension(Dimension { value, from }: &Dimension, source: &LoggedRun, advice: Advice) -> String {
    let data = source.data.as_deref().map_or("the data", |data| data_parts(data).0);
    let sure = match from {
        DimensionSource::Given => return String::new(),
        DimensionSource::Data => format!("as {} has", shown(data)),
        DimensionSource::Recorded => {
            format!("as recorded, which was not compared with {}: {} does", shown(data), advice.check)
        }
    };
    format!(" ℓ∞ radii are those in ℓ2 divided by √n for n = {value} coordinates, {sure}.")
}

/// Radii in ℓ∞ are small.
fn acr_digits(norm: RadiusNorm, digits: usize) -> usize {
    match norm {
        RadiusNorm::L2 => digits,
        RadiusNorm::Linf => digits + 2,
    }
}
