//! The section as HTML: a list of cards. The script sorts and filters them where they are, and opens their counts.

use super::super::chart::swatch;
use super::super::parts::paragraphs;
use super::{Answer, AnswerOutcome, InputView, Inputs};
use crate::decimal::down;
use crate::markup::escape;
use std::fmt::Write;

/// Significant digits of radii on cards.
const DIGITS: usize = 3;

impl Inputs {
    /// Everything below the heading of the section with this name.
    pub(crate) fn html(&self, key: &str) -> String {
        let mut html = paragraphs(&self.notes);
        let pictures = if self.inputs.iter().any(|input| input.picture.is_some()) { " pictures" } else { "" };
        let _ = writeln!(
            html,
            "<div class=\"inputs{pictures}\" data-part=\"inputs\" data-key=\"{key}\">\n{}<p class=\"count\" \
             role=\"status\">{} inputs</p>\n<ul class=\"cards\">",
            self.controls(key),
            self.inputs.len()
        );
        for (at, input) in self.inputs.iter().enumerate() {
            html.push_str(&self.card(at, input));
        }
        html + "</ul>\n</div>\n"
    }

    /// What the cards are sorted and filtered by: of use with the script only.
    fn controls(&self, key: &str) -> String {
        let select = |name: &str, label: &str, options: Vec<(String, String)>| {
            let option = |(value, text): &(String, String)| {
                format!("<option value=\"{}\">{}</option>", escape(value), escape(text))
            };
            let options: Vec<String> = options.iter().map(option).collect();
            format!(
                "<label>{label} <select id=\"{key}-{name}\" data-control=\"{name}\">{}</select></label>\n",
                options.concat()
            )
        };
        let pair = |value: &str, text: &str| (value.to_owned(), text.to_owned());
        let runs = self.runs.iter().enumerate().map(|(at, run)| (at.to_string(), run.run.label.clone()));
        let norms = self.norms.iter().enumerate().map(|(at, name)| (at.to_string(), name.clone()));
        let mut labels: Vec<u32> = self.inputs.iter().filter_map(|input| input.label).collect();
        labels.sort_unstable();
        labels.dedup();
        let classes = labels.iter().map(|&label| (label.to_string(), self.class_name(label)));
        let (labelled, many) = (!labels.is_empty(), self.runs.len() > 1);
        let mut html = String::from("<form class=\"controls\" hidden>\n");
        if many {
            html.push_str(&select("run", "By run", runs.collect()));
        }
        if self.norms.len() > 1 {
            html.push_str(&select("norm", "Radii in", norms.collect()));
        }
        let sorts = [
            pair("index", "number"),
            pair("rising", "radius, smallest first"),
            pair("falling", "radius, largest first"),
            pair("label", "label"),
            pair("class", "answer"),
        ];
        html.push_str(&select("sort", "Sort by", sorts.to_vec()));
        let mut outcomes = vec![pair("all", "all")];
        if labelled {
            outcomes.extend([
                pair("right", "certified and correct"),
                pair("wrong", "certified for another class"),
            ]);
        } else {
            outcomes.push(pair("unlabelled", "certified"));
        }
        outcomes.push(pair("abstained", "not certified"));
        if many {
            outcomes.push(pair("differ", "runs differ"));
        }
        html.push_str(&select("outcome", "Show", outcomes));
        if labelled {
            let all = [pair("all", "all")].into_iter();
            html.push_str(&select("label", "Label", all.chain(classes).collect()));
        }
        html + "</form>\n"
    }

    fn card(&self, at: usize, input: &InputView) -> String {
        let label = input.label.map(|label| self.class_name(label));
        let picture = input.picture.as_ref().map(|picture| picture.img("", "thumbnail")).unwrap_or_default();
        let label =
            label.map(|label| format!("<span class=\"label\">{}</span>", escape(&label))).unwrap_or_default();
        let mut html = format!(
            "<li data-input=\"{at}\"><div class=\"card\">{picture}<span class=\"head\"><span \
             class=\"number\">{}</span> {label}</span>",
            input.index
        );
        for (run, answer) in self.runs.iter().zip(&input.answers) {
            let swatch = if self.runs.len() > 1 { swatch(run.run.style) } else { String::new() };
            let text = answer.as_ref().map_or_else(
                || "<span class=\"answer\">no record</span>".to_owned(),
                |answer| self.answer(answer),
            );
            let _ = write!(html, "<span class=\"row\">{swatch}{text}</span>");
        }
        html + "</div></li>\n"
    }

    /// The answer in words, and its first radius.
    fn answer(&self, answer: &Answer) -> String {
        let class = answer.class.map(|class| escape(&self.class_name(class)));
        let text = match (answer.outcome, class) {
            (AnswerOutcome::Right, _) => "<span class=\"answer right\">certified</span>".to_owned(),
            (AnswerOutcome::Wrong, Some(class)) => {
                format!("<span class=\"answer wrong\">as {class}</span>")
            }
            (AnswerOutcome::Unlabelled, Some(class)) => format!("<span class=\"answer\">{class}</span>"),
            _ => "<span class=\"answer abstained\">abstained</span>".to_owned(),
        };
        let radius = answer.radii.first().copied().flatten().filter(|_| answer.class.is_some());
        let radius = radius.map(|radius| format!("<span class=\"radius\">{}</span>", down(radius, DIGITS)));
        text + &radius.unwrap_or_default()
    }
}
