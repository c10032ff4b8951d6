//! What was read, and the page of it: complete, or smaller where it would be too large.

use super::certified::{GroupRun, certified};
use super::data::{FoundData, NamedData, meant, open_all};
use super::facts::{claim_card, provenance_card, training_card};
use super::inputs::{InputsSource, inputs};
use super::made_with::{Candidates, KappaProof};
use super::params::ReportParams;
use super::recheck::MadeWith;
use super::record::ReportedRun;
use super::sources::{CertifiedSource, Sources};
use super::training::training;
use crate::context::Context;
use crate::error::report::ReportError;
use gambeson_data::dataset::Split;
use gambeson_learn::inputs::data_parts;
use gambeson_report::page::{ReportPage, ReportSection, SectionContent};
use gambeson_report::text::shown;
use gambeson_smooth::analysis::Evidence;
use std::ffi::OsString;

/// How much goes on a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Economy {
    /// Inputs of each data set, at most.
    inputs: usize,
    /// Digits that radii of curves are rounded down to; all of them if `None`.
    digits: Option<usize>,
}

impl Economy {
    pub(super) fn generous(material: &Material) -> Self {
        Self { inputs: material.params.inputs, digits: None }
    }

    /// A smaller page: fewer inputs, then none, then curves with fewer steps.
    pub(super) fn tighter(self) -> Option<Self> {
        match self {
            Self { inputs, .. } if inputs > 50 => Some(Self { inputs: inputs / 2, ..self }),
            Self { inputs, .. } if inputs > 0 => Some(Self { inputs: 0, ..self }),
            Self { digits: None, .. } => Some(Self { digits: Some(4), ..self }),
            Self { digits: Some(4), .. } => Some(Self { digits: Some(3), ..self }),
            _ => None,
        }
    }
}

/// Everything that the page is made of.
pub(super) struct Material {
    params: ReportParams,
    sources: Sources,
    data: Vec<NamedData>,
    /// One per run of certification.
    kappas: Vec<KappaProof>,
    /// Likewise; `None` for logs of other programs.
    made_with: Vec<Option<MadeWith>>,
}

impl Material {
    pub(super) fn gather(
        context: &Context,
        runs: &[std::path::PathBuf],
        params: ReportParams,
    ) -> Result<Self, ReportError> {
        let mut sources = Sources::read(context, runs, &params)?;
        let candidates = Candidates::of(context, &sources, &params);
        let (data, mut problems) = open_all(context, &sources, &params);
        let mut kept = Vec::new();
        let (mut kappas, mut made_with) = (Vec::new(), Vec::new());
        for run in std::mem::take(&mut sources.certified) {
            if context.is_interrupted() {
                return Err(ReportError::Stopped);
            }
            let found = named(&data, &run).and_then(|data| data.found.as_ref().ok());
            if let Some(problem) = found.and_then(|found| found.contradiction(&run)) {
                problems.push(problem);
                continue;
            }
            problems.extend(candidates.others(&run));
            let kappa = match run.recorded.as_ref().map(|recorded| candidates.prove(recorded.run())) {
                None => KappaProof::NoProjection,
                Some(Ok(kappa)) => kappa,
                // What a projection does not prove is not shown.
                Some(Err(error)) => {
                    problems.push(shown(&format!("{}: {error}", run.logged.name())));
                    continue;
                }
            };
            made_with.push(candidates.made_with(&run, data_argument(&run, found)).map(|made_with| {
                MadeWith {
                    split: found.map(|found| found.split).filter(|&split| split != Split::Test),
                    ..made_with
                }
            }));
            kappas.push(kappa);
            kept.push(run);
        }
        sources.certified = kept;
        sources.problems.extend(problems);
        if sources.certified.is_empty() && sources.trained.is_empty() && !params.has_sections() {
            return Err(ReportError::Nothing { problems: sources.problems });
        }
        Ok(Self { params, sources, data, kappas, made_with })
    }

    /// The page.
    pub(super) fn page(&self, economy: Economy) -> Result<ReportPage, ReportError> {
        let mut sections = self.params.opening.clone();
        let groups = self.groups();
        let several = groups.len() > 1;
        for group in &groups {
            self.group_sections(group, several, economy, &mut sections)?;
        }
        let section = |heading: &str, content| ReportSection { heading: heading.to_owned(), content };
        let trained = training(&self.sources.trained);
        sections.extend(trained.map(|training| section("Training", SectionContent::Training(training))));
        sections.extend(self.params.sections.iter().cloned());
        let (mut claims, mut provenance) = (Vec::new(), Vec::new());
        let line = self.params.command_line;
        for ((run, kappa), made_with) in self.sources.certified.iter().zip(&self.kappas).zip(&self.made_with)
        {
            claims.extend(claim_card(run, made_with.as_ref(), line)?);
            provenance.push(provenance_card(run, kappa, named(&self.data, run), made_with.as_ref(), line)?);
        }
        provenance.extend(self.sources.trained.iter().map(|run| training_card(run, line)));
        if !claims.is_empty() {
            sections.push(section("What is claimed", SectionContent::Facts(claims)));
        }
        if !provenance.is_empty() {
            sections.push(section("Where it comes from", SectionContent::Facts(provenance)));
        }
        let problems = self.sources.problems.iter().chain(&self.sources.remarks);
        Ok(ReportPage {
            title: self.params.title.clone().unwrap_or_else(|| self.title()),
            lead: self.lead(),
            problems: problems.cloned().collect(),
            sections,
            foot: vec![self.foot()],
        })
    }

    /// The numbers of the runs that are about the same data.
    fn groups(&self) -> Vec<Vec<usize>> {
        let hash =
            |at: usize| self.sources.certified[at].logged.data.as_deref().map(|data| data_parts(data).1);
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for at in 0..self.sources.certified.len() {
            match groups.iter_mut().find(|group| hash(group[0]) == hash(at)) {
                Some(group) => group.push(at),
                None => groups.push(vec![at]),
            }
        }
        groups
    }

    fn group_sections(
        &self,
        group: &[usize],
        several: bool,
        economy: Economy,
        sections: &mut Vec<ReportSection>,
    ) -> Result<(), ReportError> {
        let Some(first) = group.first().map(|&at| &self.sources.certified[at]) else { return Ok(()) };
        let data = named(&self.data, first);
        let found = data.and_then(|data| data.found.as_ref().ok());
        let runs: Vec<GroupRun<'_>> = group
            .iter()
            .map(|&at| GroupRun { source: &self.sources.certified[at], kappa: &self.kappas[at] })
            .collect();
        let line = self.params.command_line;
        let certified = certified(&runs, found, economy.digits, line)?;
        let runs: Vec<InputsSource<'_>> = group
            .iter()
            .enumerate()
            .map(|(curve, &at)| InputsSource {
                source: &self.sources.certified[at],
                curve,
                made_with: self.made_with[at].as_ref(),
            })
            .collect();
        let inputs = inputs(&runs, &certified.norms, data, economy.inputs, line);
        let of = first
            .logged
            .data
            .as_deref()
            .filter(|_| several)
            .map(|data| format!(": {}", shown(data_parts(data).0)));
        let of = of.unwrap_or_default();
        sections.push(ReportSection {
            heading: format!("Certified accuracy{of}"),
            content: SectionContent::Certified(Box::new(certified)),
        });
        sections.extend(inputs.map(|inputs| ReportSection {
            heading: format!("Inputs{of}"),
            content: SectionContent::Inputs(Box::new(inputs)),
        }));
        Ok(())
    }

    fn lead(&self) -> Vec<String> {
        if !self.params.lead.is_empty() || self.sources.certified.is_empty() {
            return self.params.lead.clone();
        }
        vec![
            "Certified accuracy at a radius r is the share of inputs that the smoothed classifier answers correctly, with a \
             proof that no change of the input by at most r changes its answer. A proof holds but for a probability of α over \
             the noise that was drawn. Shares and radii are rounded down."
                .to_owned(),
        ]
    }

    fn foot(&self) -> String {
        let has_runs = !(self.sources.certified.is_empty() && self.sources.trained.is_empty());
        let files = if has_runs { " from the files named above" } else { "" };
        format!("Made by gambeson {}{files}.", env!("CARGO_PKG_VERSION"))
    }

    fn title(&self) -> String {
        let data = self.data.first().map(|data| shown(data_parts(&data.recorded).0));
        match (self.sources.certified.is_empty(), data) {
            (true, _) => self.sources.trained.first().map_or_else(String::new, |run| {
                let others = if self.sources.trained.len() > 1 { " and others" } else { "" };
                format!("Training of {}{others}", run.label.label)
            }),
            (false, Some(data)) if self.data.len() == 1 => format!("Certified accuracy on {data}"),
            (false, _) => "Certified accuracy".to_owned(),
        }
    }

    pub(super) fn problems(&self) -> &[String] {
        &self.sources.problems
    }

    pub(super) fn remarks(&self) -> &[String] {
        &self.sources.remarks
    }

    pub(super) fn runs(&self) -> Vec<ReportedRun> {
        let certified = self.sources.certified.iter().map(|run| ReportedRun {
            label: run.label.label.clone(),
            source: run.logged.name(),
            kind: "certification",
            inputs: match &run.logged.evidence {
                Evidence::Inputs(inputs) => Some(inputs.len()),
                Evidence::Curve(_) => None,
            },
        });
        let trained = self.sources.trained.iter().map(|run| ReportedRun {
            label: run.label.label.clone(),
            source: run.folder.to_string_lossy().into_owned(),
            kind: "training",
            inputs: None,
        });
        certified.chain(trained).collect()
    }
}

/// The data that a run is about.
fn named<'a>(data: &'a [NamedData], run: &CertifiedSource) -> Option<&'a NamedData> {
    let recorded = run.logged.data.as_deref()?;
    data.iter().find(|data| data_parts(&data.recorded).1 == data_parts(recorded).1)
}

/// What lines for a shell call the data of a run.
fn data_argument(run: &CertifiedSource, found: Option<&FoundData>) -> OsString {
    let recorded = || run.logged.data.as_deref().map(|data| data_parts(data).0);
    found.map_or_else(
        || recorded().and_then(|name| meant(name).next()).unwrap_or_else(|| OsString::from("DATA")),
        |found| found.name.clone(),
    )
}
