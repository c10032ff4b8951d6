//! The page of a bundle: for somebody who knows no smoothing.
//!
//! It is a function of manifest, head and claim, so that whoever checks a bundle can write it again and compare. Shares are
//! rounded down, and every number is that of the claim.

mod claimed;
mod evidence;
mod glossary;
mod meaning;
mod parts;

use super::manifest::Manifest;
use gambeson_report::page as html;
use gambeson_smooth::claim::{Claim, grouped};
use gambeson_smooth::record::{Head, Run};
use parts::Subject;
use std::fmt::{self, Write};

/// What this page adds to the style of every page.
const STYLE: &str = include_str!("page.css");

/// The page.
pub(super) fn page(manifest: &Manifest, head: &Head<Run>, claim: &Claim) -> String {
    let subject = Subject { manifest, head, claim };
    let mut body = String::new();
    // Writing to a string cannot fail.
    let _ = write(&mut body, &subject);
    html::page("Certified robustness: what is claimed and how to check it", STYLE, &body)
}

fn write(out: &mut String, subject: &Subject<'_>) -> fmt::Result {
    writeln!(out, "<h1>Certified robustness of a classifier</h1>")?;
    writeln!(
        out,
        "<p>This page says in plain words what is claimed about one classifier. The files beside it are the evidence. You \
         need not believe the page: <a href=\"#check\">one command</a> checks the evidence, and that this page says no more \
         than the evidence shows. Words with a special meaning are in the <a href=\"#glossary\">glossary</a>.</p>"
    )?;
    let Claim { missing, selection, .. } = subject.claim;
    if *missing > 0 {
        writeln!(
            out,
            "<p class=\"bad\"><b>INCOMPLETE.</b> The run is not finished: {} of the {} inputs planned have not been \
             certified yet. They count as not certified in all numbers below.</p>",
            grouped(*missing),
            grouped(selection.count)
        )?;
    }
    claimed::write(out, subject)?;
    meaning::write(out, subject)?;
    evidence::write(out, subject)?;
    glossary::write(out, subject)?;
    footer(out, subject)
}

fn footer(out: &mut String, subject: &Subject<'_>) -> fmt::Result {
    writeln!(
        out,
        "<footer><p>Written by gambeson {}. The method is randomized smoothing (Cohen, Rosenfeld and Kolter 2019, \
         arXiv:1902.02918), with projections as in Awasthi, Jain, Rawat and Vijayaraghavan 2020 (arXiv:2007.06555).</p>",
        html::escape(&subject.manifest.program)
    )?;
    writeln!(
        out,
        "<p>gambeson does not sign bundles. The file <code>manifest.json</code> has the hash of every other file, so \
         whoever signs it signs the bundle:</p>"
    )?;
    writeln!(
        out,
        "<pre>ssh-keygen -Y sign -f KEY -n gambeson manifest.json\nssh-keygen -Y verify -f SIGNERS -I NAME -n gambeson \
         -s manifest.json.sig &lt; manifest.json</pre>\n<p>or, with minisign,</p>\n<pre>minisign -S -m manifest.json\n\
         minisign -V -m manifest.json -p KEY.pub</pre>\n</footer>"
    )
}
