//! What all sections of the page use.

use crate::bundle::manifest::Manifest;
use gambeson_smooth::claim::{Claim, grouped};
use gambeson_smooth::record::{Head, Run};
use std::fmt::{self, Write};

/// What the page is about.
pub(super) struct Subject<'a> {
    pub(super) manifest: &'a Manifest,
    pub(super) head: &'a Head<Run>,
    pub(super) claim: &'a Claim,
}

/// A paragraph.
pub(super) fn paragraph(out: &mut String, text: &str) -> fmt::Result {
    writeln!(out, "<p>{text}</p>")
}

/// A list of sentences.
pub(super) fn list<S: AsRef<str>>(out: &mut String, items: &[S]) -> fmt::Result {
    writeln!(out, "<ul>")?;
    items.iter().try_for_each(|item| writeln!(out, "<li>{}</li>", item.as_ref()))?;
    writeln!(out, "</ul>")
}

/// `1 input`, `2 inputs`.
pub(super) fn inputs(count: u64) -> String {
    format!("{} input{}", grouped(count), if count == 1 { "" } else { "s" })
}
