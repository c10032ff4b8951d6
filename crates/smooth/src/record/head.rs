//! The head of a file of records: what was to be done, written before anything is drawn.
//!
//! It has two parts. The *run* says how every input is treated: classifier, projection, data, noise, numbers of draws,
//! failure probability. Each record names it by its digest, and says nothing of it besides. The *selection* says which
//! inputs of the data set are treated, so that a missing record is noticed. Together they are the *plan*, whose digest can
//! be published before the first draw. The shard, and the names of files, belong to the file alone and not to the plan.

use super::error::RecordProblem;
use super::line::{Fault, parse_sealed, seal};
use super::run::{FileNames, Run, VERSION};
use crate::selection::Selection;
use gambeson_lowrank::file::{sha256, without_mark};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::Read;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

/// How every head begins. A file whose first line begins otherwise is not one of records.
pub(crate) const HEAD_START: &[u8] = b"{\"gambeson\":\"";

/// What is common to all entries of a file.
pub trait RunContent: Clone + PartialEq + Serialize + DeserializeOwned {
    /// What a head calls files of this kind.
    const KIND: &'static str;

    /// What is wrong with it in itself.
    fn validate(&self) -> Result<(), RecordProblem>;
}

/// A run and its digest, by which entries name it.
#[derive(Clone, Debug, PartialEq)]
pub struct DigestedRun<R> {
    run: R,
    digest: String,
}

impl<R: RunContent> DigestedRun<R> {
    /// Takes the digest of a run: SHA-256 of kind, version and run as a head has them.
    pub fn new(run: R) -> Result<Arc<Self>, serde_json::Error> {
        #[derive(Serialize)]
        struct Content<'a, R> {
            gambeson: &'static str,
            version: u32,
            run: &'a R,
        }
        let content = Content { gambeson: R::KIND, version: VERSION, run: &run };
        let digest = sha256(&serde_json::to_vec(&content)?);
        Ok(Arc::new(Self { run, digest }))
    }

    /// The digest.
    pub fn digest(&self) -> &str {
        &self.digest
    }
}

impl<R> Deref for DigestedRun<R> {
    type Target = R;

    fn deref(&self) -> &R {
        &self.run
    }
}

/// The first line of a file of records. Files that were joined have several, of one plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Head<R> {
    /// How every input is treated.
    pub run: Arc<DigestedRun<R>>,
    /// Which inputs.
    pub selection: Selection,
    /// The files that were named. Nothing follows from them.
    pub files: FileNames,
}

/// A head as a line has it.
#[derive(Serialize, Deserialize)]
struct HeadLine<R> {
    gambeson: String,
    version: u32,
    run: R,
    selection: Selection,
    #[serde(default, skip_serializing_if = "FileNames::is_empty")]
    files: FileNames,
    /// Digest of the plan.
    plan: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
}

impl<R: RunContent> Head<R> {
    /// The digest of the plan: SHA-256 of kind, version, run, and selection with all shards together.
    pub fn plan_digest(&self) -> Result<String, serde_json::Error> {
        #[derive(Serialize)]
        struct Content<'a, R> {
            gambeson: &'static str,
            version: u32,
            run: &'a R,
            selection: Selection,
        }
        let selection = self.selection.whole();
        let content = Content { gambeson: R::KIND, version: VERSION, run: &**self.run, selection };
        serde_json::to_vec(&content).map(|bytes| sha256(&bytes))
    }

    /// Whether another head is of the same plan.
    pub fn has_plan_of(&self, other: &Self) -> bool {
        self.run.digest == other.run.digest && self.selection.whole() == other.selection.whole()
    }

    /// The line, its digest included, without its end.
    pub fn to_line(&self) -> Result<String, serde_json::Error> {
        seal(&HeadLine {
            gambeson: R::KIND.to_owned(),
            version: VERSION,
            run: &**self.run,
            selection: self.selection,
            files: self.files.clone(),
            plan: self.plan_digest()?,
            digest: None,
        })
    }

    /// Reads a line.
    pub(super) fn parse(line: &[u8]) -> Result<Self, Fault> {
        #[derive(Deserialize)]
        struct Version {
            gambeson: String,
            version: u32,
        }
        let invalid = |problem| Err(Fault::Invalid(problem));
        let Version { gambeson, version } = serde_json::from_slice(line).map_err(Fault::Malformed)?;
        if version != VERSION {
            return invalid(RecordProblem::Version { found: version });
        }
        if gambeson != R::KIND {
            return invalid(RecordProblem::Kind { found: gambeson, expected: R::KIND });
        }
        let read: HeadLine<R> = parse_sealed(line, |head: &mut HeadLine<R>| head.digest.take())?;
        let HeadLine { run, selection, files, plan, .. } = read;
        run.validate().map_err(Fault::Invalid)?;
        if !selection.is_consistent() {
            return invalid(RecordProblem::Selected { selection });
        }
        let head = Self { run: DigestedRun::new(run).map_err(Fault::Malformed)?, selection, files };
        if head.plan_digest().map_err(Fault::Malformed)? != plan {
            return invalid(RecordProblem::PlanDigest);
        }
        Ok(head)
    }
}

/// Whether bytes can be a file of records: whether its first line begins like a head.
pub(crate) fn begins_with_head(bytes: &[u8]) -> bool {
    without_mark(bytes).trim_ascii_start().starts_with(HEAD_START)
}

/// Whether a file holds no more than a head that a kill broke off. Fewer bytes than its first key could be the beginning of
/// any file.
pub(super) fn is_broken_head(bytes: &[u8]) -> bool {
    begins_with_head(bytes)
        && !bytes.contains(&b'\n')
        && serde_json::from_slice::<IgnoredAny>(without_mark(bytes)).is_err()
}

/// Whether a file begins like one of certification records, of whatever version.
pub fn is_certification(path: &Path) -> bool {
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(64).read_to_end(&mut start));
    let wanted = [HEAD_START, Run::KIND.as_bytes(), b"\""].concat();
    read.is_ok() && without_mark(&start).trim_ascii_start().starts_with(&wanted)
}

/// What a head calls its file, if the bytes begin with one.
pub(crate) fn kind_of(bytes: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Kind {
        gambeson: String,
    }
    let bytes = without_mark(bytes).trim_ascii_start();
    let line = bytes.split(|&byte| byte == b'\n').next()?;
    serde_json::from_slice::<Kind>(line).ok().map(|kind| kind.gambeson)
}
