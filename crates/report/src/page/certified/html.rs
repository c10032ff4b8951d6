//! The section as HTML. It is complete for the radius shown first; the script only changes what is shown.

use super::super::chart::{AxisMarks, Chart, ChartAxis, ChartLine, LineShape, style_class, swatch};
use super::super::parts::{commands, paragraphs};
use super::{Certified, CertifiedRun, NormView, Outcomes};
use crate::decimal::{down, percent_down};
use crate::markup::escape;
use crate::spread::NOTHING;
use crate::table::Table;
use std::fmt::Write;

/// Significant digits of mean radii.
const AVERAGE_DIGITS: usize = 3;

/// Lines for a shell with a radius in the place kept for it.
fn at_radius(templates: &[(String, String)], radius: &str) -> Vec<String> {
    templates.iter().map(|(before, after)| format!("{before}{radius}{after}")).collect()
}

impl Certified {
    /// Everything below the heading of the section with this name.
    pub(crate) fn html(&self, key: &str) -> String {
        let mut html = paragraphs(&self.notes);
        let Some(first) = self.norms.first() else { return html };
        let start = first.scale.text(first.scale.start);
        let charts: String = self.norms.iter().enumerate().map(|it| self.of_norm(key, it)).collect();
        let last = first.scale.last;
        let _ = writeln!(
            html,
            "<div class=\"certified\" data-part=\"certified\" data-key=\"{key}\">\n{}<div class=\"columns\">\n\
             <div class=\"charts\">\n{charts}<div class=\"slide\" hidden><input type=\"range\" min=\"0\" max=\"{last}\" \
             value=\"{}\" aria-label=\"Radius\"></div>\n</div>\n<div class=\"beside\">\n\
             <p class=\"at\">{} at radius <output class=\"r\">{start}</output>\
             <input class=\"r\" type=\"text\" inputmode=\"decimal\" size=\"7\" value=\"{start}\" \
             aria-label=\"Radius as a number or a fraction\" hidden><br>in <span class=\"norm-name\">{}</span></p>\n<ul class=\"legend\">\n{}</ul>\n{}</div>\n</div>",
            self.switch(key),
            first.scale.start,
            self.what(),
            escape(&first.name),
            self.legend(first),
            self.composition_key()
        );
        for (at, norm) in self.norms.iter().enumerate() {
            let at_start = at_radius(&norm.commands, &norm.scale.text(norm.scale.start));
            let _ = writeln!(
                html,
                "<div class=\"norm\" data-norm=\"{at}\">\n{}{}</div>",
                commands("Compute these numbers again from the records", &at_start),
                self.table(norm).html()
            );
        }
        html.push_str(&self.class_table(first));
        html.push_str(&self.limits_html(key));
        html.push_str("</div>\n");
        html
    }

    fn what(&self) -> &'static str {
        if self.labelled {
            "Certified and correct"
        } else {
            "Certified, for want of labels whatever the class,"
        }
    }

    /// The norms to choose from; none where there is but one.
    fn switch(&self, key: &str) -> String {
        if self.norms.len() < 2 {
            return String::new();
        }
        let choice = |(at, norm): (usize, &NormView)| {
            let checked = if at == 0 { " checked" } else { "" };
            format!(
                "<label><input type=\"radio\" name=\"{key}-norm\" value=\"{at}\"{checked}><span>{}</span></label>",
                escape(&norm.name)
            )
        };
        let choices: String = self.norms.iter().enumerate().map(choice).collect();
        format!("<fieldset class=\"switch\" hidden><legend>Norm of the radii</legend>{choices}</fieldset>\n")
    }

    fn of_norm(&self, key: &str, (at, norm): (usize, &NormView)) -> String {
        let lines = self.runs.iter().zip(&norm.curves).map(|(run, curve)| ChartLine {
            style: run.run.style,
            thin: false,
            points: curve.as_ref().map(|curve| curve.steps.points()).unwrap_or_default(),
            shape: LineShape::Falling,
        });
        let chart = Chart {
            title: format!("{} at each radius in {}", self.what(), norm.name),
            key: format!("{key}/{at}"),
            x: ChartAxis {
                label: format!("radius in {}", norm.name),
                ends: (0.0, norm.scale.radius(norm.scale.last)),
                marks: AxisMarks::Numbers,
            },
            y: ChartAxis {
                label: "share of the inputs".to_owned(),
                ends: (0.0, 1.0),
                marks: AxisMarks::Percent,
            },
            lines: lines.collect(),
        };
        format!("<div class=\"norm\" data-norm=\"{at}\">\n{}</div>\n", chart.html())
    }

    /// The runs with their numbers at the radius shown first.
    fn legend(&self, norm: &NormView) -> String {
        let radius = norm.scale.radius(norm.scale.start);
        let item = |(at, (run, curve)): (usize, (&CertifiedRun, &Option<super::RadiusCurve>))| {
            let (percent, of) = match curve {
                None => (NOTHING.to_owned(), String::new()),
                Some(curve) => {
                    let count =
                        curve.steps.total.map(|total| format!("{} of {total}", curve.steps.count(radius)));
                    (format!("{} %", percent_down(curve.steps.share(radius))), count.unwrap_or_default())
                }
            };
            let (label, swatch) = (escape(&run.run.label), swatch(run.run.style));
            format!(
                "<li data-run=\"{at}\"><label class=\"name\"><input type=\"checkbox\" checked hidden>{swatch}\
                 <span>{label}</span></label><span class=\"value\">{percent}</span><span class=\"of\">{of}</span>{}\
                 <small>{}</small></li>\n",
                run.composition(curve.as_ref().map_or(0, |curve| curve.steps.count(radius))),
                escape(&self.about(run))
            )
        };
        self.runs.iter().zip(&norm.curves).enumerate().map(item).collect()
    }

    /// What the bars below the runs mean.
    fn composition_key(&self) -> String {
        if self.runs.iter().all(|run| run.outcomes.is_none()) {
            return String::new();
        }
        let part = |class: &str, text: &str| format!("<span><i class=\"{class}\"></i>{text}</span> ");
        let wrong = if self.labelled { part("wrong", "for another class") } else { String::new() };
        format!(
            "<p class=\"key c6\">{}{}{wrong}{}</p>\n",
            part("now", "certified at the radius"),
            part("less", "at smaller ones"),
            part("rest", "not certified")
        )
    }

    fn about(&self, run: &CertifiedRun) -> String {
        let outcomes = run.outcomes.into_iter().flat_map(|outcomes| {
            let share = move |count: u64| count as f64 / outcomes.inputs.max(1) as f64;
            let words = outcomes.words(self.labelled);
            words.into_iter().map(move |(what, count)| format!("{what} {:.1} %", 100.0 * share(count)))
        });
        [run.about.clone()]
            .into_iter()
            .filter(|about| !about.is_empty())
            .chain(outcomes)
            .collect::<Vec<_>>()
            .join(" · ")
    }

    /// Certified accuracy at a few radii.
    fn table(&self, norm: &NormView) -> Table {
        let caption = format!("{} at radii r in {} (%), rounded down.", self.what(), norm.name);
        let mut table = Table::new(caption, Vec::new());
        let rows: Vec<usize> = (0..self.runs.len()).filter(|&at| norm.curves[at].is_some()).collect();
        let curve = |at: usize| norm.curves[at].as_ref();
        table.words("run", &rows, |at| self.runs[at].run.label.clone());
        table.column("", "inputs", &rows, |at| {
            curve(at)
                .and_then(|curve| curve.steps.total)
                .map_or(NOTHING.to_owned(), |total| total.to_string())
        });
        for (radius, text) in &norm.radii {
            table.column("", &format!("r = {text}"), &rows, |at| {
                curve(at).map_or(NOTHING.to_owned(), |curve| percent_down(curve.steps.share(*radius)))
            });
        }
        table.column("", "mean radius", &rows, |at| {
            let average = curve(at).and_then(|curve| curve.average);
            average.map_or(NOTHING.to_owned(), |average| down(average, AVERAGE_DIGITS))
        });
        table.column("", "abstained", &rows, |at| {
            let abstained =
                self.runs[at].outcomes.map(|it| 100.0 * it.abstained as f64 / it.inputs.max(1) as f64);
            abstained.map_or(NOTHING.to_owned(), |abstained| format!("{abstained:.1}"))
        });
        table
    }
}

impl CertifiedRun {
    /// What became of all inputs, as a bar: certified at the radius, certified at smaller radii only, certified for another
    /// class, not certified.
    fn composition(&self, certified: u64) -> String {
        let Some(Outcomes { inputs, right, wrong, .. }) = self.outcomes else { return String::new() };
        let width = |count: u64| 100.0 * count as f64 / inputs.max(1) as f64;
        format!(
            "<span class=\"composition {}\" aria-hidden=\"true\"><i class=\"now\" style=\"width:{:.2}%\"></i><i \
             class=\"less\" style=\"width:{:.2}%\"></i><i class=\"wrong\" style=\"width:{:.2}%\"></i></span>",
            style_class(self.run.style),
            width(certified),
            width(right.saturating_sub(certified)),
            width(wrong)
        )
    }
}
