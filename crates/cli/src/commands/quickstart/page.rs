//! The tour as a page: everything in one file.

use super::contender::Contender;
use super::results::{AtRadii, Results};
use crate::report::decimal::{percent_down, up};
use crate::report::page::{self as html, escape};
use gambeson::Trained;
use std::fmt::Write;

pub(super) fn write(
    results: &Results,
    ours: &Contender,
    (first, second): (&Trained, &Trained),
    figure: &str,
) -> String {
    let mut page = "<h1>Certified robustness from low-rank structure</h1>\n".to_owned();
    let view = &ours.setup.codec;
    // Writing to a string cannot fail.
    let _ = writeln!(
        page,
        "<p>A ResNet-8 sees images of {} through {} of their {} cosine coefficients, as images of {}. Noise of level {} is \
         added to these coordinates alone. A change of the image by at most ε in every cosine coefficient moves them by at \
         most κ·ε, with κ ≤ {} <span class=\"proven\">proven</span>; without a projection κ would be {:.1}.</p>",
        escape(ours.setup.train.name()),
        view.rank(),
        view.input().len(),
        view.output(),
        ours.setup.sigma,
        up(results.kappa, 7),
        (view.input().len() as f64).sqrt(),
    );
    let _ = writeln!(
        page,
        "<p>Trained by Algorithm 1 of <a href=\"https://arxiv.org/abs/2007.06555\">Awasthi et al. 2020</a> in {:.0} s; the \
         baseline, without a projection (Salman et al. 2019), in {:.0} s.</p>",
        first.spent.seconds, second.spent.seconds
    );
    page.push_str("<h2>Certified accuracy</h2>\n");
    table(&mut page, "l2 radius", &results.comparison.l2);
    table(&mut page, "l_inf radius of cosine coefficients", &results.comparison.linf);
    let _ = writeln!(page, "<p>{figure}</p>");
    let _ = writeln!(
        page,
        "<h2>Tried and checked</h2>\n<p>Certified images were attacked at their certified radii by projected gradient ascent, {} \
         in ℓ2 and {} in ℓ∞; {} changed their class. κ and all radii were proven again from the files.</p>",
        results.attacked[0], results.attacked[1], results.broken
    );
    page.push_str(
        "<h2>Files</h2>\n<p><code>algorithm-1/</code> and <code>baseline/</code> hold the specs, networks, metrics and \
         records (counts first: every radius can be derived again); <code>algorithm-1/projection.cert.json</code> proves κ \
         to anybody who has <code>gambeson check</code>.</p>\n",
    );
    html::page("gambeson quickstart", "", &page)
}

fn table(page: &mut String, name: &str, AtRadii { radii, ours, theirs }: &AtRadii) {
    let named = |name: &str, cells: Vec<String>| [vec![name.to_owned()], cells].concat();
    let percent = |shares: &[f64]| shares.iter().map(|&share| format!("{} %", percent_down(share))).collect();
    page.push_str(&html::table(&[
        html::row("th", &named(name, radii.iter().map(ToString::to_string).collect())),
        html::row("td", &named("Algorithm 1", percent(ours))),
        html::row("td", &named("baseline", percent(theirs))),
    ]));
}
