//! Certified accuracy by class: a table whose cells are bars, at the radius that is shown.

use super::super::chart::{style_class, swatch};
use super::{Certified, NormView};
use crate::decimal::percent_down;
use crate::markup::escape;
use crate::spread::NOTHING;
use std::fmt::Write;

/// More classes than these are folded up at first.
const FEW: usize = 20;

impl Certified {
    /// A row for each label that occurs, at the radius that a norm shows first; nothing without labels.
    pub(super) fn class_table(&self, norm: &NormView) -> String {
        let labels = self.labels();
        if labels.len() < 2 {
            return String::new();
        }
        let open = if labels.len() <= FEW { " open" } else { "" };
        let mut html = format!(
            "<details class=\"classes\"{open}>\n<summary>By class, at radius <span class=\"r\">{}</span> in {}</summary>\n\
             <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Certified accuracy by class\">\n\
             <table class=\"bars\">\n<thead><tr><th scope=\"col\" class=\"words\">class</th>",
            norm.scale.text(norm.scale.start),
            format_args!("<span class=\"norm-name\">{}</span>", escape(&norm.name))
        );
        for (at, run) in self.runs.iter().enumerate() {
            let (swatch, label) = (swatch(run.run.style), escape(&run.run.label));
            let _ = write!(html, "<th scope=\"col\" data-run=\"{at}\">{swatch} {label}</th>");
        }
        html.push_str("</tr></thead>\n<tbody>\n");
        for label in labels {
            let _ = write!(
                html,
                "<tr><th scope=\"row\" class=\"words\">{}</th>",
                escape(&self.class_name(label))
            );
            for at in 0..self.runs.len() {
                html.push_str(&self.cell(norm, at, label));
            }
            html.push_str("</tr>\n");
        }
        html + "</tbody>\n</table>\n</div>\n</details>\n"
    }

    /// The name of a class, or its number.
    pub(super) fn class_name(&self, label: u32) -> String {
        self.classes.get(label as usize).map_or_else(|| label.to_string(), Clone::clone)
    }

    fn cell(&self, norm: &NormView, at: usize, label: u32) -> String {
        let radius = norm.scale.radius(norm.scale.start);
        let steps = norm.curves[at].as_ref().and_then(|curve| curve.of_label(label));
        let (width, percent, of) = match steps {
            None => ("0".to_owned(), NOTHING.to_owned(), String::new()),
            Some(steps) => {
                let percent = percent_down(steps.share(radius));
                let of = steps.total.map(|total| format!("{} of {total}", steps.count(radius)));
                (percent.clone(), format!("{percent} %"), of.unwrap_or_default())
            }
        };
        format!(
            "<td data-run=\"{at}\"><span class=\"value\">{percent}</span> <small>{of}</small><span class=\"bar {}\"><i \
             style=\"width:{width}%\"></i></span></td>",
            style_class(self.runs[at].run.style)
        )
    }
}
