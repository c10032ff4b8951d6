//! A page of sections.

use super::certified::Certified;
use super::certified::data::CertifiedData;
use super::document::page_with_script;
use super::facts::FactCard;
use super::gallery::PictureGallery;
use super::inputs::Inputs;
use super::inputs::data::InputsData;
use super::parts::paragraphs;
use super::training::{Training, TrainingData};
use crate::figure::Drawing;
use crate::markup::escape;
use crate::table::Table;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Style of sections, after that of every page.
const STYLE: &str = concat!(
    include_str!("assets/report.css"),
    include_str!("assets/chart.css"),
    include_str!("assets/certified.css"),
    include_str!("assets/inputs.css"),
    include_str!("assets/facts.css"),
);
/// In this order.
const SCRIPT: &str = concat!(
    "(() => {\n\"use strict\";\n",
    include_str!("assets/common.js"),
    include_str!("assets/certified.js"),
    include_str!("assets/inputs.js"),
    include_str!("assets/others.js"),
    "})();\n"
);

/// A page of sections.
#[derive(Clone, Debug, Default)]
pub struct ReportPage {
    /// Heading of the page.
    pub title: String,
    /// Paragraphs below it.
    pub lead: Vec<String>,
    /// What could not be shown, and why.
    pub problems: Vec<String>,
    /// In this order.
    pub sections: Vec<ReportSection>,
    /// Paragraphs at the end.
    pub foot: Vec<String>,
}

/// A part of a page.
#[derive(Clone, Debug)]
pub struct ReportSection {
    /// Its heading.
    pub heading: String,
    /// What it shows.
    pub content: SectionContent,
}

/// What a section shows.
#[derive(Clone, Debug)]
pub enum SectionContent {
    /// Certified accuracy of runs.
    Certified(Box<Certified>),
    /// The inputs themselves.
    Inputs(Box<Inputs>),
    /// Training by epoch.
    Training(Training),
    /// Names and values.
    Facts(Vec<FactCard>),
    /// Tables.
    Tables(Vec<Table>),
    /// Pictures beside what became of them.
    Pictures(PictureGallery),
    /// A figure, with what it shows in words.
    Figure {
        /// The figure; it keeps its own colours.
        drawing: Drawing,
        /// What it shows; empty where that is said elsewhere.
        caption: String,
    },
    /// Paragraphs.
    Text(Vec<String>),
    /// Figures, pictures, tables and text below one heading.
    Parts(Vec<SectionContent>),
}

/// A section of a page, as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SectionRecord {
    /// Its name in the page, after `#`.
    pub id: String,
    /// What kind it is.
    pub kind: &'static str,
    /// Its heading.
    pub heading: String,
}

/// Data of one section.
#[derive(Serialize)]
#[serde(untagged)]
enum SectionData {
    Certified(CertifiedData),
    Inputs(InputsData),
    Training(TrainingData),
}

impl SectionContent {
    /// A name for programs.
    fn kind(&self) -> &'static str {
        match self {
            Self::Certified(_) => "certified",
            Self::Inputs(_) => "inputs",
            Self::Training(_) => "training",
            Self::Facts(_) => "facts",
            Self::Tables(_) => "tables",
            Self::Pictures(_) => "pictures",
            Self::Figure { .. } => "figure",
            Self::Text(_) => "text",
            Self::Parts(_) => "parts",
        }
    }

    fn html(&self, key: &str) -> String {
        match self {
            Self::Certified(certified) => certified.html(key),
            Self::Inputs(inputs) => inputs.html(key),
            Self::Training(training) => training.html(key),
            Self::Facts(cards) => cards.iter().map(FactCard::html).collect(),
            Self::Tables(tables) => tables.iter().map(Table::html).collect(),
            Self::Pictures(gallery) => gallery.html(key),
            Self::Figure { drawing, caption } => figure(drawing, caption),
            Self::Text(texts) => paragraphs(texts),
            Self::Parts(parts) => parts.iter().map(|part| part.html(key)).collect(),
        }
    }

    fn data(&self) -> Option<SectionData> {
        match self {
            Self::Certified(certified) => Some(SectionData::Certified(certified.data())),
            Self::Inputs(inputs) => Some(SectionData::Inputs(inputs.data())),
            Self::Training(training) => Some(SectionData::Training(training.data())),
            _ => None,
        }
    }
}

/// A figure on a white ground; one that cannot be drawn is said to be missing.
fn figure(drawing: &Drawing, caption: &str) -> String {
    let written = if caption.is_empty() {
        String::new()
    } else {
        format!("<figcaption>{}</figcaption>", escape(caption))
    };
    match drawing.svg() {
        Ok(svg) => {
            format!("<figure class=\"drawing\">{}{written}</figure>\n", String::from_utf8_lossy(&svg))
        }
        Err(error) => format!("<p>{} {}</p>\n", escape(caption), escape(&error.to_string())),
    }
}

impl ReportPage {
    /// What there is on the page.
    pub fn contents(&self) -> Vec<SectionRecord> {
        let mut seen: BTreeMap<&'static str, usize> = BTreeMap::new();
        let record = |section: &ReportSection| {
            let kind = section.content.kind();
            let count = seen.entry(kind).or_default();
            *count += 1;
            let id = if *count > 1 { format!("{kind}-{count}") } else { kind.to_owned() };
            SectionRecord { id, kind, heading: section.heading.clone() }
        };
        self.sections.iter().map(record).collect()
    }

    /// The file.
    pub fn html(&self) -> serde_json::Result<String> {
        let contents = self.contents();
        let mut data = BTreeMap::new();
        let mut body = format!("<header>\n<h1>{}</h1>\n{}", escape(&self.title), paragraphs(&self.lead));
        if contents.len() > 1 {
            body.push_str("<nav aria-label=\"Sections\"><ul>");
            for SectionRecord { id, heading, .. } in &contents {
                let _ = write!(body, "<li><a href=\"#{id}\">{}</a></li>", escape(heading));
            }
            body.push_str("</ul></nav>\n");
        }
        body.push_str("</header>\n<main>\n");
        if !self.problems.is_empty() {
            body.push_str(
                "<aside class=\"problems\" aria-label=\"Problems\">\n<h2>What is missing here</h2>\n<ul>\n",
            );
            for problem in &self.problems {
                let _ = writeln!(body, "<li>{}</li>", escape(problem));
            }
            body.push_str("</ul>\n</aside>\n");
        }
        for (SectionRecord { id, kind, heading }, section) in contents.iter().zip(&self.sections) {
            let _ = writeln!(
                body,
                "<section id=\"{id}\" class=\"{kind}-section\" aria-labelledby=\"{id}-heading\">\n\
                 <h2 id=\"{id}-heading\">{}</h2>\n{}</section>",
                escape(heading),
                section.content.html(id)
            );
            data.extend(section.content.data().map(|data| (id.clone(), data)));
        }
        let _ = writeln!(
            body,
            "</main>\n<footer>\n{}</footer>\n<dialog id=\"details\" aria-labelledby=\"details-title\"></dialog>",
            paragraphs(&self.foot)
        );
        page_with_script(&self.title, STYLE, &body, &data, SCRIPT)
    }
}
