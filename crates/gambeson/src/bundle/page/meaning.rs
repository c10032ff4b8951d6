//! What the claim means, what it does not mean, and what it rests on.

use super::parts::{Subject, inputs, list, paragraph};
use crate::replay::ClaimWords;
use gambeson_report::page::escape;
use gambeson_smooth::claim::{CertifiedShare, Claim, grouped};
use std::fmt::{self, Write};

pub(super) fn write(out: &mut String, subject: &Subject<'_>) -> fmt::Result {
    let claim = subject.claim;
    writeln!(out, "<h2>What it means</h2>")?;
    if let Some(share) = example(claim) {
        paragraph(
            out,
            &format!(
                "Take the ℓ2 radius {}. Somebody may change an input as they like, with full knowledge of the classifier \
                 and any amount of computing: as long as the change is no larger than that, {} are certified to keep the {} answer.",
                share.radius,
                inputs(share.certified),
                if claim.labelled { "right" } else { "same" }
            ),
        )?;
    }
    paragraph(
        out,
        &format!(
            "The answer is that of a <i>smoothed</i> classifier. It adds random noise to the input many times, asks a neural \
             network about each noisy copy, and answers with the class that comes up most often. Noise averages out \
             small changes; this is why something can be proven. For each input {}{} noisy copies were asked about; all counts are in \
             the evidence, and every radius follows from them by a theorem.",
            if claim.sequential { "up to " } else { "" },
            grouped(claim.n)
        ),
    )?;
    writeln!(out, "<h3>What it does not mean</h3>")?;
    list(
        out,
        &[
            "Larger changes may or may not alter an answer. Nothing is said about them.",
            "Inputs that are not counted may be answered wrongly, or rightly but without a certificate.",
            "Nothing is said about other data, except in the column for a population, which needs a random sample.",
            "The claim is about the smoothed classifier, not about the network alone.",
            "Changes are small in the sense of the tables. Turning or cropping a picture is usually not a small change in \
             that sense.",
        ],
    )?;
    chance(out, claim)?;
    assumed(out, claim)
}

/// In plain words, then in those of the claim.
fn assumed(out: &mut String, claim: &Claim) -> fmt::Result {
    writeln!(out, "<h3>What is assumed</h3>")?;
    paragraph(out, "No computation can show the following. Whoever relies on the claim relies on it:")?;
    list(
        out,
        &[
            "The random numbers are as good as truly random ones. They come from a well-known generator, ChaCha8.",
            "Network and data were chosen without knowing the random numbers, and the random numbers without knowing network \
             and data. New draws with a number of your own need no such trust (see below).",
            "This run was not picked because it came out well. Whoever tries ten plans and shows the best has up to ten \
             times the probability of errors. A plan that was published before the run rules this out.",
            "The data are what their name says, and their labels are right. The check compares their content with a hash, and \
             cannot know where they come from.",
            "The program that checks the evidence, and the computer that it runs on, work correctly.",
        ],
    )?;
    paragraph(out, "The claim itself says it like this:")?;
    list(out, &claim.assumed.iter().map(|sentence| escape(sentence)).collect::<Vec<_>>())
}

/// The middle one of the radii at which some input is certified.
fn example(claim: &Claim) -> Option<&CertifiedShare> {
    let shares = claim.l2.iter().filter(|share| share.radius > 0.0 && share.certified > 0);
    let shares: Vec<&CertifiedShare> = shares.collect();
    shares.get(shares.len() / 2).copied()
}

fn chance(out: &mut String, claim: &Claim) -> fmt::Result {
    writeln!(out, "<h3>Errors of chance</h3>")?;
    paragraph(
        out,
        &format!(
            "The noise is random, so a certificate can be false by bad luck. For each one the probability of that is at most \
             α = {}. Of all {} together at most {} are expected to be false, and more than {} are false with a probability \
             of at most {}.",
            claim.alpha,
            grouped(claim.records),
            ClaimWords(claim).expected_false(),
            grouped(claim.most_false),
            claim.rho
        ),
    )
}
