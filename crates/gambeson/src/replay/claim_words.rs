//! What records claim, in words: the same for a terminal and for a page.

use gambeson_report::decimal::{down, share_down, up};
use gambeson_report::table::Table;
use gambeson_smooth::claim::{CertifiedShare, Claim, grouped};

/// A claim in words.
#[derive(Clone, Copy, Debug)]
pub struct ClaimWords<'a>(pub &'a Claim);

/// A share of the inputs in print, as a row of the tables has it.
type ShareText = fn(&Claim, &CertifiedShare) -> String;

impl ClaimWords<'_> {
    /// The claim at a radius, as one sentence: half a noise level away, or where anything is certified.
    pub fn sentence(&self) -> Option<String> {
        let claim = self.0;
        let share = claim.l2.iter().take(2).rfind(|share| share.certified > 0)?;
        let what = if claim.labelled {
            "are certified to be answered correctly"
        } else {
            "are certified to keep their answer"
        };
        Some(format!(
            "Of {}, {} {what} under every change of at most {} in l2; with probability 1 - {} over all draws, at least {} \
             truly are.",
            claim.inputs(),
            share_down(share.certified, claim.selection.count),
            share.radius,
            claim.rho,
            share_down(share.certified_at_least, claim.selection.count)
        ))
    }

    /// What it is about, and how much may be wrong: names with texts, before the tables.
    pub fn subject(&self) -> Vec<(&'static str, String)> {
        let claim = self.0;
        let mut rows = vec![("network", claim.network.clone()), ("data", claim.data.clone())];
        rows.extend(claim.projection.clone().map(|hash| ("projection", hash)));
        rows.push(("inputs", claim.inputs()));
        let kappa = claim.kappa.map_or(String::new(), |kappa| format!(", kappa = {}", up(kappa, 7)));
        let most = if claim.sequential { "up to " } else { "" };
        rows.push((
            "noise",
            format!("sigma = {}{kappa}, n0 = {}, n = {most}{}", claim.sigma, claim.n0, grouped(claim.n)),
        ));
        rows.push((
            "errors",
            format!(
                "alpha = {} for each certificate: at most {} * {} = {} false ones are expected, and more than {} have a \
                 probability of at most {}",
                claim.alpha,
                claim.records,
                claim.alpha,
                self.expected_false(),
                claim.most_false,
                claim.rho
            ),
        ));
        rows
    }

    /// The number of false certificates that is expected at most: the product itself where it has few digits, else rounded up.
    pub fn expected_false(&self) -> String {
        const LETTERS: usize = 6;
        let product = (self.0.records as f64 * self.0.alpha).to_string();
        if product.len() <= LETTERS { product } else { up(self.0.expected_false, 3) }
    }

    /// The rows of the tables: what stands before a row, and the share in it, never above the number.
    pub fn shares(&self) -> [(&'static str, ShareText); 3] {
        let what = if self.0.labelled { "certified and correct" } else { "certified (no labels)" };
        [
            (what, |claim, share| share_down(share.certified, claim.selection.count)),
            ("at least, here", |claim, share| share_down(share.certified_at_least, claim.selection.count)),
            ("at least, population *", |_, share| {
                format!("{} %", down(100.0 * share.population_at_least, 3))
            }),
        ]
    }

    /// A radius in print, however small: a column of a terminal has room for eight letters.
    pub fn radius(share: &CertifiedShare) -> String {
        Some(share.radius.to_string())
            .filter(|text| text.len() <= 8)
            .unwrap_or_else(|| format!("{:.2e}", share.radius))
    }

    /// The norms with their shares.
    pub fn norms(&self) -> [(&'static str, &[CertifiedShare]); 2] {
        [("l2", &self.0.l2), ("l_inf", &self.0.linf)]
    }

    /// What the limits in the tables are worth.
    pub fn limits(&self) -> String {
        format!(
            "each limit is wrong with a probability of at most {}; * if the inputs are a random sample of the population, \
             for each radius by itself",
            self.0.rho
        )
    }

    /// Names with texts, after the tables.
    pub fn basis(&self) -> Vec<(&'static str, String)> {
        let assumed = self.0.assumed.iter().enumerate();
        let assumed = assumed.map(|(at, sentence)| (if at == 0 { "assumed" } else { "" }, sentence.clone()));
        [("limits", self.limits()), ("plan", self.0.plan.clone())].into_iter().chain(assumed).collect()
    }

    /// The tables, one per norm.
    pub fn tables(&self) -> Vec<Table> {
        let table = |(norm, shares): (&str, &[CertifiedShare])| {
            let mut table = Table::new(format!("At {norm} radii."), Vec::new());
            let rows = self.shares();
            table.words(&format!("{norm} radius"), &rows, |(what, _)| what.to_owned());
            for share in shares {
                table.column("", &Self::radius(share), &rows, |(_, of)| of(self.0, share));
            }
            table
        };
        self.norms().into_iter().map(table).collect()
    }
}
