//! What the script looks up.

use super::super::steps::StepsData;
use super::{Certified, NormView, RadiusCurve, RadiusScale};
use serde::Serialize;

/// The numbers of a section.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct CertifiedData {
    runs: Vec<RunData>,
    norms: Vec<NormData>,
    /// Labels of the rows of classes.
    labels: Vec<u32>,
}

#[derive(Clone, Debug, Serialize)]
struct RunData {
    label: String,
    style: usize,
    limits: Option<StepsData>,
    /// Inputs certified at radius 0.
    right: Option<u64>,
}

#[derive(Clone, Debug, Serialize)]
struct NormData {
    key: &'static str,
    name: String,
    unit: u32,
    digits: u32,
    last: u32,
    start: u32,
    curves: Vec<Option<CurveData>>,
    commands: Vec<(String, String)>,
}

#[derive(Clone, Debug, Serialize)]
struct CurveData {
    all: StepsData,
    /// In the order of the labels; null where the run has no such input.
    classes: Vec<Option<StepsData>>,
}

impl Certified {
    /// The labels that occur in any run, rising.
    pub(super) fn labels(&self) -> Vec<u32> {
        let curves = self.norms.iter().flat_map(|norm| norm.curves.iter().flatten());
        let mut labels: Vec<u32> =
            curves.flat_map(|curve| curve.by_class.iter().map(|(label, _)| *label)).collect();
        labels.sort_unstable();
        labels.dedup();
        labels
    }

    pub(crate) fn data(&self) -> CertifiedData {
        let labels = self.labels();
        let curve = |curve: &RadiusCurve| CurveData {
            all: curve.steps.data(),
            classes: labels.iter().map(|&label| Some(curve.of_label(label)?.data())).collect(),
        };
        let norm = |norm: &NormView| {
            let RadiusScale { unit, digits, last, start } = norm.scale;
            let curves = norm.curves.iter().map(|it| it.as_ref().map(curve)).collect();
            let (key, name, commands) = (norm.key, norm.name.clone(), norm.commands.clone());
            NormData { key, name, unit, digits, last, start, curves, commands }
        };
        let runs = self.runs.iter().map(|run| RunData {
            label: run.run.label.clone(),
            style: run.run.style,
            limits: run.limits.as_ref().map(|limits| limits.steps.data()),
            right: run.outcomes.map(|outcomes| outcomes.right),
        });
        CertifiedData { runs: runs.collect(), norms: self.norms.iter().map(norm).collect(), labels }
    }
}

impl RadiusCurve {
    /// The inputs with a label.
    pub(super) fn of_label(&self, label: u32) -> Option<&super::Steps> {
        self.by_class.iter().find(|(own, _)| *own == label).map(|(_, steps)| steps)
    }
}
