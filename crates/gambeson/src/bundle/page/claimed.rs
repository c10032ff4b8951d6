//! What is claimed: certified accuracy at radii, and how radii are measured.

use super::parts::{Subject, inputs, paragraph};
use crate::bundle::manifest::StoredValues;
use gambeson_learn::inputs::data_parts;
use gambeson_report::decimal::{down, share_down};
use gambeson_report::page::{escape, row, table};
use gambeson_smooth::claim::{CertifiedShare, Claim, grouped};
use gambeson_smooth::record::{Head, Run};
use std::fmt::{self, Write};

pub(super) fn write(out: &mut String, subject: &Subject<'_>) -> fmt::Result {
    let claim = subject.claim;
    writeln!(out, "<h2>What is claimed</h2>")?;
    paragraph(
        out,
        &format!(
            "The classifier was tested on {}. The data are called <b>{}</b>.",
            escape(&claim.inputs()),
            escape(data_parts(&claim.data).0)
        ),
    )?;
    paragraph(out, &answers(claim))?;
    size(out, subject)?;
    writeln!(out, "<h3>Changes measured by their length (ℓ2)</h3>")?;
    paragraph(
        out,
        "The size of a change is the square root of the sum of the squares of the changes of all values. The last column \
         says what that is if all values change equally.",
    )?;
    out.push_str(&shares(subject, &claim.l2, true));
    writeln!(out, "<h3>{}</h3>", linf_title(subject.head))?;
    paragraph(out, linf_words(subject.head))?;
    out.push_str(&shares(subject, &claim.linf, false));
    limits(out, claim)
}

/// How many inputs get an answer, and of which kind.
fn answers(claim: &Claim) -> String {
    let (certified, right) = counted(claim);
    let wrong = claim.records.saturating_sub(certified + claim.abstained);
    let first = if claim.labelled {
        format!("It gives the right answer to {}, and each of these answers is certified", inputs(certified))
    } else {
        format!("It gives a certified answer to {}; which answers are right is not known", inputs(certified))
    };
    let others = match wrong {
        wrong if claim.labelled && wrong > 0 => format!(" and to {} a wrong one", grouped(wrong)),
        _ => String::new(),
    };
    format!(
        "{first}: up to a certain size, its <i>radius</i>, no change of the input can alter the answer. (A certificate can be \
         false by chance; how often is stated below.) To {} it gives no answer{others}. The tables show for how many inputs \
         the answer is {right} with at least a given radius.",
        inputs(claim.abstained)
    )
}

/// How many inputs are certified at all, and what that is called.
fn counted(claim: &Claim) -> (u64, &'static str) {
    let certified = claim.l2.first().map_or(0, |share| share.certified);
    (certified, if claim.labelled { "right and certified" } else { "certified" })
}

/// What an input consists of.
fn size(out: &mut String, subject: &Subject<'_>) -> fmt::Result {
    let [channels, height, width] = subject.manifest.data.shape;
    let values = grouped(subject.claim.dimension);
    let range = match subject.manifest.data.values {
        StoredValues::U8 => "between 0 and 1: whole numbers from 0 to 255, divided by 255",
        StoredValues::I16 => "between −1 and 1: 16-bit samples, divided by 32,768",
        StoredValues::F32 => "as they are stored",
    };
    paragraph(out, &format!("An input has {channels} × {height} × {width} = {values} values, {range}."))
}

fn is_cosine(head: &Head<Run>) -> bool {
    head.run
        .representation
        .is_some_and(gambeson_lowrank::projection::representation::Representation::is_cosine)
}

fn linf_title(head: &Head<Run>) -> &'static str {
    if is_cosine(head) {
        "Changes measured by their largest cosine coefficient (ℓ∞)"
    } else {
        "Changes measured by their largest value (ℓ∞)"
    }
}

fn linf_words(head: &Head<Run>) -> &'static str {
    if is_cosine(head) {
        "An input can be written as a sum of waves, as in JPEG; the weights of the waves are its cosine coefficients. Here the \
         size of a change is the largest change of any one of these coefficients, and all of them may change at once. It is \
         not the largest change of a value."
    } else {
        "The size of a change is the largest change of any one value, and all values may change at once."
    }
}

/// A table of shares at radii.
fn shares(subject: &Subject<'_>, shares: &[CertifiedShare], l2: bool) -> String {
    let claim = subject.claim;
    let (_, right) = counted(claim);
    let right = right[..1].to_uppercase() + &right[1..];
    let mut head = vec!["Radius".to_owned(), right, "At least *".to_owned(), "In a population **".to_owned()];
    if l2 {
        head.push("Each value, if all change equally".to_owned());
    }
    let mut rows = vec![row("th", &head)];
    for share in shares {
        let count = claim.selection.count;
        let mut cells = vec![
            share.radius.to_string(),
            format!(
                "{} of {} ({})",
                grouped(share.certified),
                grouped(count),
                share_down(share.certified, count)
            ),
            share_down(share.certified_at_least, count),
            format!("{} %", down(100.0 * share.population_at_least, 3)),
        ];
        if l2 {
            cells.push(spread(subject, share.radius));
        }
        rows.push(row("td", &cells));
    }
    format!("<div class=\"fix\">{}</div>\n", table(&rows))
}

/// A change in ℓ2 that is the same in all values, rounded down.
fn spread(subject: &Subject<'_>, radius: f64) -> String {
    let each = radius / (subject.claim.dimension as f64).sqrt();
    let steps = match subject.manifest.data.values {
        StoredValues::U8 => Some((255.0, "255")),
        StoredValues::I16 => Some((32_768.0, "32,768")),
        StoredValues::F32 => None,
    };
    match steps {
        _ if radius == 0.0 => "0".to_owned(),
        None => down(each, 3),
        Some((steps, all)) => format!("{} ({} of {all} steps)", down(each, 3), down(each * steps, 2)),
    }
}

fn limits(out: &mut String, claim: &Claim) -> fmt::Result {
    writeln!(
        out,
        "<p class=\"note\">* The same after allowing for certificates that are false by chance; wrong with a probability of at \
         most {rho}. ** If the inputs are a random sample of a larger population: the share in that population is at least \
         this, for each radius by itself; wrong with a probability of at most {rho}. A radius of 0 means that the answer is \
         certified, but for no change of any size. Shares are rounded down.</p>",
        rho = claim.rho
    )
}
