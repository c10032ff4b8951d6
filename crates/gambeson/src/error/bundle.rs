//! Why there is no bundle, or why a file or folder is none.

use gambeson_data::DataError;
use gambeson_lowrank::MemoryLimit;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why there is no bundle, or why a file or folder is none.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BundleError {
    /// A file or folder cannot be read.
    #[error("{}: {reason}", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        reason: io::Error,
    },
    /// A file or folder cannot be written.
    #[error("{}: {reason}", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        reason: io::Error,
    },
    /// The content of a bundle that cannot be one.
    #[error("{}: {problem}", path.display())]
    Content {
        /// The bundle.
        path: PathBuf,
        /// What is wrong.
        problem: BundleProblem,
    },
    /// A folder that is not that of a training run.
    #[error("{}: holds no {missing}; give the file of records, and what they are about", path.display())]
    NoRun {
        /// The folder.
        path: PathBuf,
        /// What a run would have.
        missing: &'static str,
    },
    /// A folder that holds the folders of training runs.
    #[error("{}: holds the runs {}: bundle one of them", path.display(), runs.join(", "))]
    SeveralRuns {
        /// The folder.
        path: PathBuf,
        /// Names of the folders in it.
        runs: Vec<String>,
    },
    /// Records that prove nothing.
    #[error("the records are rejected: {first}{}", more(*findings))]
    Rejected {
        /// What is wrong first.
        first: String,
        /// How much is wrong.
        findings: usize,
    },
    /// The check of the records was interrupted.
    #[error("stopped before all records were examined")]
    Stopped,
    /// A network whose hash is asked for, but which has none.
    #[error(
        "without_network: the network is a toy, which its name describes, and there is nothing to leave out"
    )]
    ToyHash,
    /// A folder that holds other files.
    #[error("{}: the folder holds {name}, which no bundle has; give a new folder", path.display())]
    OtherFolder {
        /// The folder.
        path: PathBuf,
        /// One of its files.
        name: String,
    },
    /// Data in a bundle that cannot be read.
    #[error(transparent)]
    Data(#[from] Box<DataError>),
}

impl BundleError {
    /// The parameter that is wrong, where one is.
    pub fn field(&self) -> Option<&'static str> {
        match self {
            Self::ToyHash => Some("without_network"),
            _ => None,
        }
    }
}

fn more(findings: usize) -> String {
    if findings > 1 { format!(" (and {} more)", findings - 1) } else { String::new() }
}

/// What is wrong with the content of a bundle.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BundleProblem {
    /// Neither a folder nor a zip archive.
    #[error("is neither a folder nor a zip archive")]
    NotArchive,
    /// A damaged archive, or one in a form that bundles do not have.
    #[error("damaged archive: {what}")]
    Damaged {
        /// What is wrong.
        what: &'static str,
    },
    /// A damaged file in an archive.
    #[error("{name}: {what}")]
    File {
        /// Its name.
        name: String,
        /// What is wrong.
        what: &'static str,
    },
    /// Too many files.
    #[error("has more than {most} files")]
    Many {
        /// How many are read.
        most: usize,
    },
    /// More bytes than memory may take.
    #[error("its files have {bytes} bytes, more than the memory limit of {:.1} GB", memory.gigabytes())]
    Large {
        /// Of all files together.
        bytes: u64,
        /// The limit.
        memory: MemoryLimit,
    },
    /// More bytes than a zip archive can hold.
    #[error("its files have {bytes} bytes: a zip archive holds at most 4 GiB; give a folder")]
    TooLargeForZip {
        /// Of all files together.
        bytes: u64,
    },
    /// A file that decompresses to another length than it says.
    #[error("{name}: has not the {claimed} bytes that the archive says")]
    Length {
        /// Its name.
        name: String,
        /// According to the archive.
        claimed: u64,
    },
    /// A name that no file of a bundle has.
    #[error("`{name}`: {what}")]
    Name {
        /// The name.
        name: String,
        /// What is wrong.
        what: &'static str,
    },
    /// Two files of one name.
    #[error("`{name}`: another file has the same name, `{other}`")]
    Twice {
        /// The name.
        name: String,
        /// That of the other, which may differ in capital letters.
        other: String,
    },
    /// No manifest.
    #[error("not a bundle: there is no manifest.json")]
    NoManifest,
    /// A manifest that is not read.
    #[error("manifest.json: {reason}")]
    Manifest {
        /// Why not.
        reason: String,
    },
    /// A file that the manifest does not name.
    #[error("`{name}`: not in the manifest")]
    Unknown {
        /// The name.
        name: String,
    },
    /// A file that the manifest names.
    #[error("`{name}`: the manifest names it, but it is missing")]
    Missing {
        /// The name.
        name: String,
    },
}
