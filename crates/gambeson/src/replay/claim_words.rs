//! What records claim, in words: the same for a terminal and for a page.

use gambeson_report::decimal::{down, up};
use gambeson_report::table::Table;
use gambeson_smooth::claim::{CertifiedShare, Claim, grouped};

/// A claim in words.
#[derive(Clone, Copy, Debug)]
pub struct ClaimWords<'a>(pub &'a Claim);

/// A share of the inputs, as a row of the tables has it.
type Share = fn(&CertifiedShare) -> f64;

impl ClaimWords<'_> {
    /// What it is about, and how much may be wrong: names with texts, before the tables.
    pub fn subject(&self) -> Vec<(&'static str, String)> {
        let claim = self.0;
        let mut rows = vec![("network", claim.network.clone()), ("data", claim.data.clone())];
        rows.extend(claim.projection.as_ref().map(|hash| ("projection", format!("sha256:{hash}"))));
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
                "alpha = {} for each certificate: at most {} false ones are expected, and more than {} have a probability \
                 of at most {}",
                claim.alpha,
                up(claim.expected_false, 3),
                claim.most_false,
                claim.rho
            ),
        ));
        rows
    }

    /// The rows of the tables: what stands before a row, and the share in it.
    pub fn shares(&self) -> [(&'static str, Share); 3] {
        let what = if self.0.labelled { "certified and correct" } else { "certified (no labels)" };
        [
            (what, |share| share.accuracy),
            ("at least, here", |share| share.at_least),
            ("at least, population *", |share| share.population_at_least),
        ]
    }

    /// The norms with their shares.
    pub fn norms(&self) -> [(&'static str, &[CertifiedShare]); 2] {
        [("l2", &self.0.l2), ("l_inf", &self.0.linf)]
    }

    /// A share in print, never above it.
    pub fn percent(share: f64) -> String {
        format!("{} %", down(100.0 * share, 4))
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
                table.column("", &share.radius.to_string(), &rows, |(_, of)| Self::percent(of(share)));
            }
            table
        };
        self.norms().into_iter().map(table).collect()
    }
}
