//! What a bundle says of itself: its files with their hashes, what is not among them, and the claim.
//!
//! A manifest is JSON in one form, that which [`Manifest::to_bytes`] writes: what a person reads in it and what a program
//! reads are the same. Its own hash stands for the whole bundle, so that whoever signs the manifest signs everything.

use super::archive::Files;
use crate::error::bundle::BundleProblem;
use gambeson_lowrank::file::sha256;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;

/// The version of bundles.
pub const VERSION: u32 = 1;

/// What a manifest calls its bundle.
const KIND: &str = "bundle";

/// How the bytes of an archive go on behind its first signature: bundles are told by it.
pub const MARK: &[u8] = b"manifest.json{\n  \"gambeson\": \"bundle\",";

/// The manifest.
pub const MANIFEST: &str = "manifest.json";
/// The page for people.
pub const PAGE: &str = "index.html";
/// The head and the records.
pub const RECORDS: &str = "records.jsonl";
/// The projection, where there is one.
pub const PROJECTION: &str = "projection.safetensors";
/// Its certificate.
pub const CERTIFICATE: &str = "projection.cert.json";
/// The data, where they are included.
pub const DATA: &str = "data.safetensors";
/// A network, by the format of its file.
pub const NETWORKS: [&str; 3] = ["network.safetensors", "network.onnx", "network.pth"];
/// How the files begin that a graph refers to; a number follows.
pub const WEIGHTS: &str = "network.weights.";
/// Signatures of the manifest by other programs: they may lie beside it.
pub const SIGNATURES: [&str; 2] = ["manifest.json.sig", "manifest.json.minisig"];

/// What a bundle says of itself. Nothing of it is believed: readers compare it with the files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    gambeson: String,
    /// Version of the format.
    pub version: u32,
    /// Version of the program that wrote it.
    pub program: String,
    /// Whether every input planned has a record.
    pub complete: bool,
    /// Every file but this one, by name.
    pub files: Vec<FileEntry>,
    /// What was left out and so cannot be checked from the bundle alone.
    pub left_out: Vec<LeftOut>,
    /// The network.
    pub network: NetworkEntry,
    /// The data.
    pub data: DataEntry,
    /// Relative level of the noise in each coordinate of the projection; null where there is one level.
    pub noise_levels: Option<Vec<f64>>,
    /// The claim, as [`Claim`](gambeson_smooth::claim::Claim) serialises.
    pub claim: Value,
}

/// A file of a bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileEntry {
    /// Its name.
    pub name: String,
    /// Its length.
    pub bytes: u64,
    /// Its hash.
    pub sha256: String,
}

/// A part that a bundle may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LeftOut {
    /// The network.
    Network,
    /// The data.
    Data,
}

impl LeftOut {
    /// As in manifests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Network => "network",
            Self::Data => "data",
        }
    }
}

/// The network of a bundle.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkEntry {
    /// Its file; null where it was left out, or is a toy that its name describes.
    pub file: Option<String>,
    /// The files that its graph refers to.
    pub external: Vec<ExternalEntry>,
    /// Mean of the inputs that it is given, where its file does not have it: one number or one per channel.
    pub mean: Vec<f32>,
    /// Standard deviation, likewise.
    pub std: Vec<f32>,
}

/// A file that a graph refers to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExternalEntry {
    /// What the graph calls it.
    pub location: String,
    /// Its file in the bundle.
    pub file: String,
}

/// The data of a bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataEntry {
    /// Their file; null where they were left out.
    pub file: Option<String>,
    /// The name under which everybody can get them; null where there is none.
    pub public: Option<PublicData>,
    /// How numbers are stored.
    pub values: StoredValues,
    /// channels, height, width of an input.
    pub shape: [usize; 3],
}

/// Data that everybody can get.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublicData {
    /// `fashion`, `cifar10` or `cifar100`.
    pub name: String,
    /// `train` or `test`.
    pub split: String,
}

/// How the numbers of inputs are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StoredValues {
    /// Bytes; 255 means 1.
    U8,
    /// 16-bit sound; 32768 would mean 1.
    I16,
    /// Numbers as they are.
    F32,
}

/// What is not yet known of a manifest's files.
pub(super) struct Draft {
    pub(super) complete: bool,
    pub(super) left_out: Vec<LeftOut>,
    pub(super) network: NetworkEntry,
    pub(super) data: DataEntry,
    pub(super) noise_levels: Option<Vec<f64>>,
    pub(super) claim: Value,
}

impl Manifest {
    /// Of these files.
    pub(super) fn new(draft: Draft, files: &Files) -> Self {
        let Draft { complete, left_out, network, data, noise_levels, claim } = draft;
        let entry = |(name, bytes): (&String, &Vec<u8>)| FileEntry::new(name, bytes);
        Self {
            gambeson: KIND.to_owned(),
            version: VERSION,
            program: env!("CARGO_PKG_VERSION").to_owned(),
            complete,
            files: files.iter().map(entry).collect(),
            left_out,
            network,
            data,
            noise_levels,
            claim,
        }
    }

    /// The same of other files.
    pub(super) fn with_files(mut self, files: &Files) -> Self {
        self.files = files.iter().map(|(name, bytes)| FileEntry::new(name, bytes)).collect();
        self
    }

    /// The file: always the same for the same content.
    pub fn to_bytes(&self) -> Result<Vec<u8>, serde_json::Error> {
        let mut bytes = serde_json::to_vec_pretty(self)?;
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// Reads the file, and compares the names in it with each other.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, BundleProblem> {
        #[derive(Deserialize)]
        struct Version {
            gambeson: String,
            version: u32,
        }
        let refused = |reason: String| BundleProblem::Manifest { reason };
        let malformed = |reason: serde_json::Error| refused(reason.to_string());
        let Version { gambeson, version } = serde_json::from_slice(bytes).map_err(malformed)?;
        if gambeson != KIND {
            return Err(refused("is not that of a bundle".to_owned()));
        }
        if version != VERSION {
            return Err(refused(format!("version {version} is unknown, only {VERSION} is known")));
        }
        let manifest: Self = serde_json::from_slice(bytes).map_err(malformed)?;
        // Keys that stand twice, and numbers in other forms, say one thing to a person and another to a program.
        if manifest.to_bytes().map_err(malformed)? != bytes {
            return Err(refused("is not in the form in which it is written".to_owned()));
        }
        match manifest.contradiction() {
            Some(reason) => Err(refused(reason)),
            None => Ok(manifest),
        }
    }

    /// In what its parts contradict each other: every file has one part to play, and what has none is left out.
    fn contradiction(&self) -> Option<String> {
        let names: BTreeSet<&str> = self.files.iter().map(|file| &*file.name).collect();
        if names.len() != self.files.len() || !self.files.is_sorted_by_key(|file| &file.name) {
            return Some("its files are not in order, or one stands twice".to_owned());
        }
        let NetworkEntry { file, external, .. } = &self.network;
        let external = external.iter().map(|external| &*external.file);
        let network = file.iter().map(String::as_str).chain(external);
        let mut known: BTreeSet<&str> = network.chain(self.data.file.as_deref()).collect();
        known.extend([PAGE, RECORDS]);
        for pair in [PROJECTION, CERTIFICATE] {
            known.extend(names.get(pair));
        }
        if let Some(name) = names.difference(&known).next() {
            return Some(format!("`{name}` has no part to play"));
        }
        if let Some(name) = known.difference(&names).next() {
            return Some(format!("`{name}` is not among its files"));
        }
        if names.contains(PROJECTION) != names.contains(CERTIFICATE) {
            return Some("a projection without a certificate, or the other way round".to_owned());
        }
        let is_network = |name: &String| NETWORKS.contains(&name.as_str());
        let is_data = |name: &String| name == DATA;
        let named = file.as_ref().is_none_or(is_network) && self.data.file.as_ref().is_none_or(is_data);
        let mut external = self.network.external.iter().enumerate();
        if !named || !external.all(|(at, external)| external.file == format!("{WEIGHTS}{at}")) {
            return Some("a file does not have the name of its part".to_owned());
        }
        let sizes = self.data.shape.iter().try_fold(1_usize, |product, &size| product.checked_mul(size));
        if sizes.is_none_or(|size| size == 0) {
            return Some("its inputs have no values".to_owned());
        }
        let missing = self.left_out.contains(&LeftOut::Data) == self.data.file.is_none();
        // A toy has no file and is not left out.
        let network = file.is_none() || !self.left_out.contains(&LeftOut::Network);
        let in_order = self.left_out.is_sorted() && self.left_out.windows(2).all(|pair| pair[0] != pair[1]);
        if !missing || !network || !in_order {
            return Some("what it says is left out is not what is missing".to_owned());
        }
        None
    }

    /// Whether a part was left out.
    pub fn lacks(&self, part: LeftOut) -> bool {
        self.left_out.contains(&part)
    }
}

impl FileEntry {
    pub(super) fn new(name: &str, bytes: &[u8]) -> Self {
        Self { name: name.to_owned(), bytes: bytes.len() as u64, sha256: sha256(bytes) }
    }
}
