//! Whether a finished run may go on to more draws.
//!
//! A limit for a number of draws set beforehand is paid for with all of α: looking again after more draws, because the first
//! look did not prove enough, makes certificates wrong more often than α. The mixture part of
//! [`Rule::MixtureAndLast`] is valid at every moment, whatever was seen before (`statistics/limit.rs` of the checker).

use super::run::{Rule, Run};
use thiserror::Error;

/// Why a run may not go on.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NotExtendable {
    /// Its rule has spent all of α.
    #[error(
        "its rule is `{rule}`, which spent all of alpha on the draws that were planned: a second look, at more draws, would \
         make certificates wrong more often than alpha. Only sequential runs can be extended; certify anew, with another \
         nonce if the draws are to be fresh"
    )]
    Spent {
        /// Its name.
        rule: &'static str,
    },
    /// It differs in more than the number of draws and the goal.
    #[error("its {field} differs: an extended run must have the same")]
    Other {
        /// In what.
        field: &'static str,
    },
    /// Not to more draws.
    #[error("it already has up to {from} draws; {to} are not more")]
    NotMore {
        /// Of the earlier run.
        from: u64,
        /// Asked for.
        to: u64,
    },
}

impl Run {
    /// The number of draws that a run's last look was planned for, if its rule stays valid beyond.
    pub fn extendable(&self) -> Result<u64, NotExtendable> {
        match self.rule {
            Rule::MixtureAndLast { last } => Ok(last),
            Rule::Fixed => Err(NotExtendable::Spent { rule: "fixed" }),
            Rule::Anytime => Err(NotExtendable::Spent { rule: "anytime" }),
        }
    }

    /// Whether this run may be extended to become another: its rule stays valid, and they differ in the number of draws and
    /// the goal only.
    pub fn check_extension(&self, to: &Self) -> Result<(), NotExtendable> {
        let last = self.extendable()?;
        let (own, other) = (&self.common, &to.common);
        if other.n <= own.n {
            return Err(NotExtendable::NotMore { from: own.n, to: other.n });
        }
        let same = [
            ("rule", to.rule == Rule::MixtureAndLast { last }),
            ("limits", self.limits == to.limits),
            ("model", own.model == other.model),
            ("runtime", own.runtime == other.runtime),
            ("data", own.data == other.data),
            ("projection", own.projection == other.projection && self.representation == to.representation),
            ("noise", self.noise == to.noise),
            ("sigma", own.sigma == other.sigma),
            ("generator", own.generator == other.generator && own.grid == other.grid),
            ("seed", own.seed == other.seed && own.nonce == other.nonce),
            ("alpha", own.alpha == other.alpha),
            ("n0", self.n0 == to.n0),
            ("kappa", self.kappa == to.kappa && self.spectral == to.spectral),
            ("dimension", self.dimension == to.dimension),
        ];
        match same.into_iter().find(|(_, same)| !same) {
            Some((field, _)) => Err(NotExtendable::Other { field }),
            None => Ok(()),
        }
    }
}
