//! What the tour came to: a table, curves, one JSON object.

use super::contender::Contender;
use crate::args::REPORT;
use crate::json;
use crate::report::decimal::{percent_down, up};
use crate::report::figure::{Axis, Curve, Figure, Panel, Point, Style};
use crate::report::page::{ReportSection, SectionContent};
use crate::screen::{command, shown, shown_path};
use gambeson::{ReportParams, Trained};
use gambeson_learn::train::run::{NETWORK, SPEC};
use gambeson_learn::train::setup::PROJECTION;
use gambeson_smooth::record::{Derived, Record};
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Radii of the table, in units of σ.
const MULTIPLES: [f64; 6] = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5];
/// Points of a curve.
const POINTS: usize = 200;

/// Certified accuracy of both at some radii.
pub(super) struct AtRadii {
    pub(super) radii: Vec<f64>,
    pub(super) ours: Vec<f64>,
    pub(super) theirs: Vec<f64>,
}

pub(super) struct Comparison {
    pub(super) l2: AtRadii,
    /// Of cosine coefficients.
    pub(super) linf: AtRadii,
}

type Radius = fn(&Derived) -> Option<f64>;

/// The share of inputs that are answered rightly with at least a radius.
fn accuracy(records: &[Record], radius: Radius, least: f64) -> f64 {
    let certified = |record: &&Record| {
        record.derived.class == record.label && radius(&record.derived).is_some_and(|radius| radius >= least)
    };
    records.iter().filter(certified).count() as f64 / records.len().max(1) as f64
}

impl Comparison {
    /// In ℓ∞ the baseline's radius is its ℓ2 radius over √n, in any orthonormal coordinates.
    pub(super) fn new(ours: &[Record], theirs: &[Record], sigma: f64, kappa: f64) -> Self {
        let at = |unit: f64, radius: Radius| {
            let radii: Vec<f64> = MULTIPLES.iter().map(|multiple| short(multiple * unit)).collect();
            let of =
                |records: &[Record]| radii.iter().map(|&least| accuracy(records, radius, least)).collect();
            AtRadii { ours: of(ours), theirs: of(theirs), radii }
        };
        Self { l2: at(sigma, |derived| derived.l2), linf: at(sigma / kappa, |derived| derived.linf) }
    }

    pub(super) fn print(&self, stdout: &mut impl Write) -> std::io::Result<()> {
        for (name, AtRadii { radii, ours, theirs }) in
            [("l2 radius", &self.l2), ("l_inf radius*", &self.linf)]
        {
            let row = |cells: Vec<String>| -> String {
                cells.iter().map(|cell| format!("{cell:>9}")).collect::<Vec<_>>().concat()
            };
            let percent = |shares: &[f64]| {
                row(shares.iter().map(|&share| format!("{} %", percent_down(share))).collect())
            };
            writeln!(stdout, "   {name:<14}{}", row(radii.iter().map(ToString::to_string).collect()))?;
            writeln!(stdout, "   {:<14}{}", "Algorithm 1", percent(ours))?;
            writeln!(stdout, "   {:<14}{}", "baseline", percent(theirs))?;
        }
        writeln!(stdout, "   * of cosine coefficients; the baseline's is its l2 radius over sqrt n")
    }
}

/// Three digits, which people can read; not above the given number.
fn short(value: f64) -> f64 {
    if value <= 0.0 {
        return 0.0;
    }
    let scale = 10_f64.powf(2.0 - value.log10().floor());
    // A little more than nothing: 0.5 is 0.5, whatever its multiples are rounded to.
    (((value * scale) + 1e-9).floor() / scale * 1e12).round() / 1e12
}

pub(super) struct Results {
    pub(super) run: PathBuf,
    pub(super) kappa: f64,
    pub(super) comparison: Comparison,
    /// In l2 and in l_inf.
    pub(super) attacked: [usize; 2],
    pub(super) broken: usize,
    pub(super) seconds: f64,
}

impl Results {
    /// One object.
    pub(super) fn json(&self) -> anyhow::Result<String> {
        let Comparison { l2, linf } = &self.comparison;
        Ok(json::line(&json!({
            "run": self.run,
            "kappa": self.kappa,
            "radii": l2.radii,
            "certified_accuracy": l2.ours,
            "baseline": l2.theirs,
            "linf": { "radii": linf.radii, "certified_accuracy": linf.ours, "baseline": linf.theirs },
            "attacked": self.attacked,
            "broken": self.broken,
            "seconds": self.seconds,
        }))?)
    }

    /// What the page of the tour has besides what any page of runs has.
    pub(super) fn page(&self, ours: &Contender, (first, second): &(Trained, Trained)) -> ReportParams {
        let (codec, setup) = (&ours.setup.codec, &ours.setup);
        let lead = vec![
            format!(
                "A ResNet-8 sees images of {} through {} of their {} cosine coefficients, as images of {}. Noise of level {} is \
                 added to these coordinates alone. A change of the image by at most ε in every cosine coefficient moves them \
                 by at most κ·ε, with κ ≤ {} proven; without a projection κ would be {:.1}.",
                shown(setup.train.name()),
                codec.rank(),
                codec.input().len(),
                codec.output(),
                setup.sigma,
                up(self.kappa, 7),
                (codec.input().len() as f64).sqrt(),
            ),
            format!(
                "Trained by Algorithm 1 of Awasthi et al. (arXiv:2007.06555) in {:.0} s; the baseline, without a projection \
                 (Salman et al. 2019), in {:.0} s.",
                first.spent.seconds, second.spent.seconds
            ),
        ];
        let tried = vec![format!(
            "Certified images were attacked at their certified radii by projected gradient ascent, {} in ℓ2 and {} in ℓ∞; {} \
             changed their class. κ and all radii were proven again from the files.",
            self.attacked[0], self.attacked[1], self.broken
        )];
        ReportParams {
            out: Some(self.run.join(REPORT)),
            title: Some("Certified robustness from low-rank structure".to_owned()),
            lead,
            labels: ["Algorithm 1", "baseline"].map(ToOwned::to_owned).to_vec(),
            sections: vec![ReportSection {
                heading: "Tried and checked".to_owned(),
                content: SectionContent::Text(tried),
            }],
            ..ReportParams::default()
        }
    }

    /// What the files are, and what to type next.
    pub(super) fn farewell(&self, ours: &Contender, stdout: &mut impl Write) -> std::io::Result<()> {
        let at = |name: &str| shown_path(&ours.folder.join(name));
        writeln!(stdout, "Files in {} ({:.0} s in all):", shown_path(&self.run), self.seconds)?;
        for (name, what) in [
            (REPORT, "this tour as a page, with every input"),
            ("certified.png", "the curves"),
            (&*format!("algorithm-1/{SPEC}"), "what was trained: a place to start from"),
            (&*format!("algorithm-1/{NETWORK}"), "the network"),
            (&*format!("algorithm-1/{PROJECTION}"), "the projection; .cert.json is its proof"),
            ("algorithm-1/certified.jsonl", "the counts that prove every radius"),
        ] {
            writeln!(stdout, "   {name:<36} {what}")?;
        }
        writeln!(stdout, "Next:")?;
        for line in [
            format!("gambeson check {} {}", at(PROJECTION), at("projection.cert.json")),
            format!("gambeson analyze {} --projection {}", at("certified.jsonl"), at(PROJECTION)),
            format!("gambeson train {} --set data.name=YOUR_DATA --out mine", at(SPEC)),
        ] {
            writeln!(stdout, "   {}", command(&line, 7))?;
        }
        Ok(())
    }
}

/// A falling curve as far as a little beyond `largest`; it ends where it has come down.
fn curve_points(largest: f64, accuracy: impl Fn(f64) -> f64) -> Vec<Option<Point>> {
    let mut points = Vec::new();
    for point in 0..=POINTS {
        let radius = 1.02 * largest * point as f64 / POINTS as f64;
        let share = accuracy(radius);
        points.push(Some(Point::quoted(radius, share, 0.0)));
        if share == 0.0 {
            break;
        }
    }
    points
}

/// Curves of certified accuracy, as `certified.svg` and `.png`.
pub(super) fn draw(ours: &[Record], theirs: &[Record], folder: &Path) -> anyhow::Result<()> {
    Ok(curves(ours, theirs).draw().write(&[folder.join("certified.svg"), folder.join("certified.png")])?)
}

fn curves(ours: &[Record], theirs: &[Record]) -> Figure {
    let panel = |title: &str, x: &'static str, radius: Radius| {
        let all = ours.iter().chain(theirs);
        let largest = all.filter_map(|record| radius(&record.derived)).fold(0.0, f64::max);
        let curve = |at: usize, label: &str, records: &[Record]| Curve {
            label: label.to_owned(),
            points: curve_points(largest, |least| accuracy(records, radius, least)),
            style: Style::curve(at),
        };
        Panel {
            title: title.to_owned(),
            x: Axis::linear(x),
            y: Axis::linear("certified accuracy"),
            series: vec![curve(0, "Algorithm 1", ours), curve(1, "baseline", theirs)],
        }
    };
    Figure {
        panels: vec![
            panel("l2", "l2 radius", |derived| derived.l2),
            panel("l_inf of cosine coefficients", "l_inf radius", |derived| derived.linf),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn radii_are_short_and_not_larger() {
        for (value, three) in
            [(0.0, 0.0), (0.25, 0.25), (1.25, 1.25), (0.055_901_7, 0.0559), (0.111_8, 0.111), (2.999, 2.99)]
        {
            assert_eq!(short(value), three);
        }
    }
}
