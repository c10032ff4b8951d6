//! Why there are no data. Every message names the file or address, says what is wrong with it and, where that is not
//! plain, what to do.
//!
//! Causes are part of the message and not repeated as [`std::error::Error::source`].

use crate::dataset::{DatasetError, Shape};
use crate::fetch::NpmProblem;
use crate::fetch::archive::ArchiveProblem;
use crate::fetch::download::DownloadProblem;
use crate::format::array::ArrayProblem;
use crate::format::audio::AudioProblem;
use crate::format::idx::IdxProblem;
use crate::format::images::ImageProblem;
use crate::store::StoreProblem;
use gambeson_lowrank::matrix_file::ParseError;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why data could not be read, fetched or stored.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DataError {
    /// The observer asked to stop. Nothing was changed, but that a download keeps what has come in its `.part` file.
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
    #[error("{}: no memory for {bytes} bytes", path.display())]
    OutOfMemory {
        /// The file.
        path: PathBuf,
        /// What it would take.
        bytes: u64,
    },
    /// The name is that of no data set, and no path.
    #[error(
        "`{name}` is neither a data set nor a file or folder. Known are fashion (built in), cifar10 and cifar100 \
         (`gambeson data fetch`), and what `gambeson data import` has put into {}", data_dir.display()
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
    /// The file is of no kind that is read.
    #[error(
        "{}: unknown format, starting with \"{start}\": none of IDX, npy, npz, safetensors as `gambeson data import` \
         writes it, WAV, FLAC, MP3", path.display()
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
    /// The folder has nothing that is read.
    #[error(
        "{}: nothing in this folder is data: CIFAR batches, IDX files, sub-folders of PNG or JPEG images, or WAV, FLAC \
         or MP3 files expected", path.display()
    )]
    EmptyFolder {
        /// The folder.
        path: PathBuf,
    },
    /// The folder has both images and audio.
    #[error("this folder has both images ({}) and audio ({}): name one of its sub-folders", image.display(), audio.display())]
    MixedFolder {
        /// One of the images.
        image: PathBuf,
        /// One of the audio files.
        audio: PathBuf,
    },
    /// Folders lie within each other too deeply, as where a link leads back up.
    #[error("{}: more than {limit} folders within each other (a link that leads back?)", path.display())]
    TooDeep {
        /// The folder.
        path: PathBuf,
        /// The most that is followed.
        limit: usize,
    },
    /// A file is not what it should be to the last bit.
    #[error(
        "{}: the checksum is wrong: SHA-256 {expected} expected, {found} found. The file is damaged, or another one \
         under its name: fetch it again", path.display()
    )]
    Checksum {
        /// The file.
        path: PathBuf,
        /// The right SHA-256, hexadecimal.
        expected: String,
        /// That of the file.
        found: String,
    },
    /// A file of CIFAR records has the wrong length or a wrong label.
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
    /// A file of CIFAR records is cut off.
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
    /// The frames asked for cannot be.
    #[error("{name} = {value} ms is not possible: at least one sample and at most an hour")]
    FrameParams {
        /// `window` or `hop`.
        name: &'static str,
        /// The value, in ms.
        value: f64,
    },
    /// More files are asked for than there are.
    #[error("{}: {wanted} audio files asked for, but there are {found}", path.display())]
    TooFewFiles {
        /// The folder.
        path: PathBuf,
        /// Number asked for.
        wanted: usize,
        /// Number there is.
        found: usize,
    },
    /// No audio files are chosen.
    #[error("no audio files are chosen")]
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
    /// A file as `gambeson data import` writes it is damaged.
    #[error("{}: {reason}", path.display())]
    Store {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: StoreProblem,
    },
    /// A name that an imported set cannot have.
    #[error(
        "`{name}` cannot name an imported set: letters, digits, `-`, `_` and `.` (not first), and none of fashion, \
         cifar10, cifar100"
    )]
    BadName {
        /// The name.
        name: String,
    },
    /// An imported set of this name is there already.
    #[error("{} is there already: choose another name, or replace it with --replace", path.display())]
    Exists {
        /// Its file.
        path: PathBuf,
    },
}
