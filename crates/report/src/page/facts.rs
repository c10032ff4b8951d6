//! Names and values: what a run claims, and what it was made of; with lines for a shell that check it.

use super::certified::RunLabel;
use super::chart::swatch;
use super::parts::commands;
use crate::markup::escape;
use crate::table::Table;
use std::fmt::Write;

/// What is known about one thing.
#[derive(Clone, Debug, Default)]
pub struct FactCard {
    /// The run it is about, if it is one.
    pub run: Option<RunLabel>,
    /// What it is about, where that is not a run.
    pub heading: String,
    /// A paragraph before everything; empty for none.
    pub lead: String,
    /// In this order.
    pub facts: Vec<Fact>,
    /// Below the facts.
    pub tables: Vec<Table>,
    /// Below the tables.
    pub notes: Vec<Fact>,
    /// Lines for a shell, each list under a heading.
    pub commands: Vec<(String, Vec<String>)>,
    /// Longer texts, folded up, each under a heading.
    pub texts: Vec<(String, String)>,
}

/// A name and a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    /// What it is.
    pub name: String,
    /// In words.
    pub text: String,
    /// Whether every letter counts, as in a hash: then it is shown as code.
    pub exact: bool,
}

impl Fact {
    /// Something in words.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into(), exact: false }
    }

    /// A hash, a seed, a file.
    pub fn exact(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into(), exact: true }
    }
}

impl FactCard {
    pub(super) fn html(&self) -> String {
        let heading = match &self.run {
            Some(run) => format!("{} {}", swatch(run.style), escape(&run.label)),
            None => escape(&self.heading),
        };
        let mut html = format!("<article class=\"facts\">\n<h3>{heading}</h3>\n");
        if !self.lead.is_empty() {
            let _ = writeln!(html, "<p>{}</p>", escape(&self.lead));
        }
        html.push_str(&list(&self.facts));
        html.extend(self.tables.iter().map(Table::html));
        html.push_str(&list(&self.notes));
        for (what, lines) in &self.commands {
            html.push_str(&commands(what, lines));
        }
        for (what, text) in &self.texts {
            let (what, text) = (escape(what), text.lines().map(escape).collect::<Vec<_>>().join("\n"));
            let _ = writeln!(
                html,
                "<details><summary>{what}</summary><pre tabindex=\"0\"><code>{text}</code></pre></details>"
            );
        }
        html + "</article>\n"
    }
}

/// Names with their values; values of one name stand below each other.
fn list(facts: &[Fact]) -> String {
    if facts.is_empty() {
        return String::new();
    }
    let mut html = "<dl>\n".to_owned();
    let mut before = "";
    for fact in facts {
        if fact.name != before {
            let _ = writeln!(html, "<dt>{}</dt>", escape(&fact.name));
        }
        before = &fact.name;
        let text = escape(&fact.text);
        let text = if fact.exact { format!("<code>{text}</code>") } else { text };
        let _ = writeln!(html, "<dd>{text}</dd>");
    }
    html + "</dl>\n"
}
