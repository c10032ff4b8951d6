//! What a check of a bundle comes to.

use super::manifest::LeftOut;
use crate::replay::RecordsCheck;
use serde::Serialize;

/// What `check --json` prints about a bundle: what it prints about records, and a part about the bundle.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BundleCheck {
    /// Verdict, claim and all that belongs to them. What is wrong with the bundle is among the findings.
    #[serde(flatten)]
    pub records: RecordsCheck,
    /// About the bundle itself.
    pub bundle: CheckedBundle,
}

impl BundleCheck {
    /// Whether nothing speaks against the bundle, and all that was asked for was done.
    pub fn passed(&self) -> bool {
        self.records.passed()
    }
}

/// About a bundle itself.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CheckedBundle {
    /// Version of the program that wrote it.
    pub program: String,
    /// Hash of its manifest, which names the hash of every other file.
    pub manifest_sha256: String,
    /// How many files it has besides the manifest.
    pub files: usize,
    /// Their bytes.
    pub bytes: u64,
    /// Signatures beside the manifest. Nobody has verified them.
    pub signatures: Vec<String>,
    /// Whether the page is the one that follows from the claim.
    pub page: PageCheck,
    /// Proven: κ of the projection as stored; null without one.
    pub kappa: Option<f64>,
    /// Where the network is from.
    pub network: PartOrigin,
    /// Where the data are from.
    pub data: PartOrigin,
    /// Where the projection is from.
    pub projection: PartOrigin,
    /// What was not checked for want of a part.
    pub not_checked: Vec<NotChecked>,
}

/// What was not checked for want of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct NotChecked {
    /// What, in words.
    pub what: &'static str,
    /// The part.
    pub missing: LeftOut,
}

/// Whether the page of a bundle is the one that follows from its claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PageCheck {
    /// To the byte.
    Same,
    /// It is another.
    Differs,
    /// Another version of the program wrote it, whose page this one does not know.
    OtherVersion,
    /// Nothing to compare it with.
    NotCompared,
}

/// Where a part of the evidence is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PartOrigin {
    /// From the bundle.
    Bundle,
    /// From whoever checks.
    Given,
    /// From nowhere: left out, and not given.
    Missing,
    /// The run has no such part, or its name says it all.
    None,
}
