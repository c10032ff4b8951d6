//! Errors of loading data. Every message names the file or address, says what is wrong with it and, where that is not
//! plain, what to do.
//!
//! Causes are part of the message and not repeated as [`std::error::Error::source`]. What can be wrong with one format is
//! a type of its own here, below the modules that read the formats, so that those depend on this one and not it on them.

mod fetch;
mod format;

use crate::dataset::{DatasetError, Shape};
pub use fetch::{ArchiveProblem, DownloadProblem, NpmProblem};
pub use format::{ArrayProblem, AudioProblem, IdxProblem, ImageProblem, StoreProblem};
use gambeson_lowrank::matrix_file::ParseError;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why data could not be read, fetched or stored.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DataError {
    /// The observer asked to stop. Nothing was changed, except that a download keeps what came in its `.part` file.
    #[error("stopped")]
    Stopped,
    /// A file or folder could not be read.
    #[error("{}: {reason}", path.display())]
    Read {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        reason: io::Error,
    },
    /// A file or folder could not be written.
    #[error("{}: {reason}", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        reason: io::Error,
    },
    /// The content does not fit into memory.
    #[error("{}: not enough memory for {bytes} bytes", path.display())]
    OutOfMemory {
        /// The file.
        path: PathBuf,
        /// What it would take.
        bytes: u64,
    },
    /// Neither the name of a data set nor a path.
    #[error(
        "unknown data `{name}`: expected a file, a folder, fashion (built in), cifar10 or cifar100 (after `gambeson data \
         fetch`), or a name that `gambeson data import` has put into {}", data_dir.display()
    )]
    UnknownName {
        /// The name given.
        name: String,
        /// Where imported sets are looked for.
        data_dir: PathBuf,
    },
    /// A known set is not in the data directory.
    #[error("{name} is not in {}: `gambeson data fetch {name}` brings it", folder.display())]
    NotInstalled {
        /// Name of the set.
        name: String,
        /// Where it would be.
        folder: PathBuf,
    },
    /// An imported set lacks the part asked for.
    #[error("{name} has no {split} part in {}", folder.display())]
    NoSuchPart {
        /// Name of the set.
        name: String,
        /// `train` or `test`.
        split: &'static str,
        /// Where it would be.
        folder: PathBuf,
    },
    /// No format that is read.
    #[error(
        "{}: unknown format, starting with \"{start}\": expected IDX, npy, npz, WAV, FLAC, MP3, or safetensors as \
         `gambeson data import` writes it", path.display()
    )]
    UnknownFormat {
        /// The file.
        path: PathBuf,
        /// The first bytes (at most 16), escaped.
        start: String,
    },
    /// The file has no bytes.
    #[error("{}: the file is empty", path.display())]
    EmptyFile {
        /// The file.
        path: PathBuf,
    },
    /// Nothing in the folder is data.
    #[error(
        "{}: nothing in this folder is data: expected CIFAR batches, IDX files, sub-folders of PNG or JPEG images, or \
         WAV, FLAC or MP3 files", path.display()
    )]
    EmptyFolder {
        /// The folder.
        path: PathBuf,
    },
    /// The folder has both images and audio.
    #[error("the folder holds both images ({}) and audio ({}): name one of its sub-folders", image.display(), audio.display())]
    MixedFolder {
        /// One of the images.
        image: PathBuf,
        /// One of the audio files.
        audio: PathBuf,
    },
    /// Folders are nested too deeply, as where a link leads back up.
    #[error("{}: more than {limit} nested folders (does a link lead back up?)", path.display())]
    TooDeep {
        /// The folder.
        path: PathBuf,
        /// The most that is followed.
        limit: usize,
    },
    /// A file is not what it should be to the last bit.
    #[error(
        "{}: the checksum is wrong: SHA-256 {expected} expected, {found} found. The file is damaged, or \
         another one under its name: fetch it again", path.display()
    )]
    Checksum {
        /// The file.
        path: PathBuf,
        /// The right SHA-256, hexadecimal.
        expected: String,
        /// That of the file.
        found: String,
    },
    /// A CIFAR record has a label without a class.
    #[error("{}: record {record} (counting from 0) has label {label}, but there are {classes} classes", path.display())]
    CifarLabel {
        /// The file.
        path: PathBuf,
        /// The record.
        record: usize,
        /// Its label.
        label: u8,
        /// Number of classes.
        classes: usize,
    },
    /// A file of CIFAR records has the wrong length.
    #[error("{}: {length} bytes are not a whole number of records of {record} bytes", path.display())]
    CifarLength {
        /// The file.
        path: PathBuf,
        /// Bytes of the file.
        length: usize,
        /// Bytes of a record.
        record: usize,
    },
    /// An IDX file is damaged.
    #[error("{}: {reason}", path.display())]
    Idx {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: IdxProblem,
    },
    /// An array could not be read.
    #[error("{}: {reason}", path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: ParseError,
    },
    /// An array is not samples or labels.
    #[error("{}: {reason}", path.display())]
    Array {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: ArrayProblem,
    },
    /// The numbers of a file are not a data set.
    #[error("{}: {reason}", path.display())]
    Content {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong with it.
        reason: DatasetError,
    },
    /// An image could not be read.
    #[error("{}: {reason}", path.display())]
    Image {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: ImageProblem,
    },
    /// Two images are not of one size, or not both grey or both coloured.
    #[error(
        "{} is {first_shape} (channels x rows x columns), but {} is {second_shape}: all images must have one shape",
        first.display(), second.display()
    )]
    ShapesDiffer {
        /// The first image of all.
        first: PathBuf,
        /// Its shape.
        first_shape: Shape,
        /// The first image that differs.
        second: PathBuf,
        /// Its shape.
        second_shape: Shape,
    },
    /// An audio file could not be read.
    #[error("{}: {reason}", path.display())]
    Audio {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: AudioProblem,
    },
    /// Two audio files differ in sample rate.
    #[error("{} has {first_rate} Hz, but {} has {second_rate} Hz: all files must have one sample rate",
        first.display(), second.display())]
    RatesDiffer {
        /// The first file of all.
        first: PathBuf,
        /// Its rate in Hz.
        first_rate: u32,
        /// The first file that differs.
        second: PathBuf,
        /// Its rate in Hz.
        second_rate: u32,
    },
    /// All audio files are shorter than one window.
    #[error("none of the {files} audio files is as long as one window of {window} samples")]
    NoFrames {
        /// Number of files.
        files: usize,
        /// Window in samples.
        window: usize,
    },
    /// Impossible frames.
    #[error("{name} = {value} ms is not possible: expected at least one sample and at most an hour")]
    FrameParams {
        /// `window` or `hop`.
        name: &'static str,
        /// The value, in ms.
        value: f64,
    },
    /// More files are asked for than there are.
    #[error("{}: {wanted} audio files asked for, {found} found", path.display())]
    TooFewFiles {
        /// The folder.
        path: PathBuf,
        /// Number asked for.
        wanted: usize,
        /// Number found.
        found: usize,
    },
    /// No audio files are chosen.
    #[error("no audio files chosen")]
    NoFiles,
    /// An archive is damaged, or not the one wanted.
    #[error("{}: {reason}", path.display())]
    Archive {
        /// The archive.
        path: PathBuf,
        /// What is wrong with it.
        reason: ArchiveProblem,
    },
    /// A download failed.
    #[error("{url}: {reason}")]
    Download {
        /// The address.
        url: String,
        /// Why.
        reason: DownloadProblem,
    },
    /// npm did not bring the package.
    #[error("{reason}")]
    Npm {
        /// Why.
        reason: NpmProblem,
    },
    /// Every provider of a set failed.
    #[error("{name} could not be fetched {}", list(failures))]
    NoProvider {
        /// Name of the set.
        name: String,
        /// What was tried, in order.
        failures: Vec<FailedProvider>,
    },
    /// A file as `gambeson data import` writes it is damaged.
    #[error("{}: {reason}", path.display())]
    Store {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: StoreProblem,
    },
    /// Not a name for an imported set.
    #[error(
        "`{name}` cannot name an imported set: expected letters, digits, `-`, `_` and `.` (not first), and not fashion, \
         cifar10 or cifar100"
    )]
    BadName {
        /// The name.
        name: String,
    },
    /// The place of a set to be fetched holds something else.
    #[error(
        "{} holds {}, which is no file of the set: it would be lost; move it away, or use another data folder \
         (GAMBESON_DATA)",
        path.display(),
        entry.display()
    )]
    Foreign {
        /// The place.
        path: PathBuf,
        /// What is there.
        entry: PathBuf,
    },
    /// An imported set of this name exists.
    #[error("{} exists: choose another name, or replace it", path.display())]
    Exists {
        /// Its file.
        path: PathBuf,
    },
}

/// A provider that was tried in vain.
#[derive(Debug, Error)]
#[error("from {provider}: {reason}")]
pub struct FailedProvider {
    /// Its name.
    pub provider: String,
    /// Why it did not work.
    pub reason: DataError,
}

fn list(failures: &[FailedProvider]) -> String {
    failures.iter().map(ToString::to_string).collect::<Vec<_>>().join("; nor ")
}
