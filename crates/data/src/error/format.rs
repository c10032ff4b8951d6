//! What is wrong with files, format by format.

use gambeson_lowrank::safetensors::SafetensorsProblem;
use symphonia::core::errors::Error as DecodeError;
use thiserror::Error;

/// What is wrong with an IDX file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum IdxProblem {
    /// It does not start as IDX files of bytes do.
    #[error("not an IDX file of bytes: it starts with {start:02x?}, 00 00 08 expected")]
    Magic {
        /// The first bytes, at most four.
        start: Vec<u8>,
    },
    /// Its elements do not fit.
    #[error("its {bytes} bytes are more than the memory limit of {:.2} GB allows", *limit as f64 / 1e9)]
    TooLarge {
        /// That it announces.
        bytes: u64,
        /// In bytes.
        limit: u64,
    },
    /// Neither images nor labels.
    #[error("{found} dimension(s) found, {expected} expected")]
    Dimensions {
        /// Dimensions found.
        found: u8,
        /// 3 for images, 1 for labels.
        expected: u8,
    },
    /// Shorter or longer than its header says.
    #[error("{expected} bytes expected, {found} found")]
    Length {
        /// Bytes by the header, itself included.
        expected: u64,
        /// Bytes found, unpacked; at most one more than expected is looked for.
        found: u64,
    },
    /// The gzip stream is damaged.
    #[error("gzip: {kind}")]
    Gzip {
        /// What the decoder said.
        kind: std::io::ErrorKind,
    },
}

/// Why an array is not samples or labels.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ArrayProblem {
    /// Too few or too many dimensions.
    #[error(
        "shape {shape:?} is not that of samples: (N, n), (N, rows, columns) or (N, channels, rows, columns) expected"
    )]
    Dimensions {
        /// The shape.
        shape: Vec<usize>,
    },
    /// The channels seem to come last.
    #[error(
        "shape {shape:?} looks as if channels came last; (N, channels, rows, columns) expected: numpy.moveaxis(x, 3, 1)"
    )]
    ChannelsLast {
        /// The shape.
        shape: Vec<usize>,
    },
    /// Elements of a type that is not read.
    #[error("samples of dtype {descr} are not read: convert to uint8 (pixels), int16 (audio) or float32")]
    Dtype {
        /// The type as numpy spells it.
        descr: String,
    },
    /// Labels that are not a list of integers.
    #[error("labels of dtype {descr} and shape {shape:?}: a one-dimensional array of integers expected")]
    NotLabels {
        /// The type as numpy spells it.
        descr: String,
        /// The shape.
        shape: Vec<usize>,
    },
    /// A label out of range.
    #[error("label {index} (counting from 0) is {value}: from 0 to 65535 expected")]
    Label {
        /// Which one.
        index: usize,
        /// The label.
        value: f64,
    },
    /// The archive has no samples.
    #[error("no array named x, images or data in the archive, which has {found:?}")]
    NoSamples {
        /// Names in the archive.
        found: Vec<String>,
    },
}

/// What is wrong with an image.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ImageProblem {
    /// Neither PNG nor JPEG.
    #[error("not a PNG or JPEG file")]
    UnknownFormat,
    /// Its pixels do not fit.
    #[error("its pixels take more than the memory limit of {:.2} GB allows", *limit as f64 / 1e9)]
    TooLarge {
        /// In bytes.
        limit: u64,
    },
    /// Its palette has a colour that is cut short.
    #[error("PNG: its palette is not whole colours of three bytes")]
    Palette,
    /// The PNG file is damaged.
    #[error("PNG: {reason}")]
    Png {
        /// What the decoder said.
        reason: png::DecodingError,
    },
    /// The JPEG file is damaged or of a rare kind.
    #[error("JPEG: {reason:?}")]
    Jpeg {
        /// What the decoder said.
        reason: zune_jpeg::errors::DecodeErrors,
    },
    /// The image is transparent somewhere.
    #[error(
        "it is transparent at row {row}, column {column} (counting from 0): remove the alpha channel first"
    )]
    Transparent {
        /// Row of the first such pixel.
        row: usize,
        /// Its column.
        column: usize,
    },
    /// The image is not in a sub-folder.
    #[error("images must lie in one sub-folder per class, not beside those folders")]
    NoClass,
    /// More classes than labels have room for.
    #[error("it is in class number {index}: at most 65536 classes")]
    TooManyClasses {
        /// Index of the class.
        index: usize,
    },
}

/// What is wrong with an audio file.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AudioProblem {
    /// Its samples do not fit.
    #[error("more than {samples} samples, which is more than the memory limit of {:.2} GB allows", *limit as f64 / 1e9)]
    TooLarge {
        /// Decoded.
        samples: usize,
        /// In bytes.
        limit: u64,
    },
    /// No bytes, or a header without any sound.
    #[error("the file holds no sound")]
    Empty,
    /// Neither WAV, FLAC nor MP3.
    #[error("not a WAV, FLAC or MP3 file ({reason})")]
    UnknownFormat {
        /// What the decoder said.
        reason: DecodeError,
    },
    /// A known container with a codec that is not read.
    #[error(
        "its codec is not supported ({reason}): PCM, FLAC or MP3 expected; convert it, for example with sox or ffmpeg"
    )]
    UnknownCodec {
        /// What the decoder said.
        reason: DecodeError,
    },
    /// The container has no audio track.
    #[error("it has no audio track")]
    NoTrack,
    /// The header lacks the sample rate.
    #[error("the sample rate is missing")]
    NoRate,
    /// More than one channel.
    #[error(
        "{channels} channels, but only mono is read: mix down first, for example `sox in.wav -c 1 out.wav`"
    )]
    NotMono {
        /// Number of channels.
        channels: usize,
    },
    /// The stream is damaged.
    #[error("damaged after {samples} samples: {reason}")]
    Damaged {
        /// Samples decoded before.
        samples: usize,
        /// What the decoder said.
        reason: DecodeError,
    },
    /// The stream ends too early.
    #[error("truncated: {expected} samples expected, {found} found")]
    Truncated {
        /// Samples by the header.
        expected: u64,
        /// Samples found.
        found: u64,
    },
    /// The checksum in the file does not match its sound.
    #[error("damaged: its own checksum does not match")]
    Checksum,
    /// A sample is NaN.
    #[error("sample {index} (counting from 0) is not a number")]
    NotANumber {
        /// The sample.
        index: usize,
    },
}

/// What is wrong with a stored set.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum StoreProblem {
    /// Not a whole safetensors file.
    #[error(transparent)]
    Safetensors(#[from] SafetensorsProblem),
    /// A safetensors file written by another program.
    #[error("not a data set as `gambeson data import` writes it: its metadata lack the format `{expected}`")]
    Foreign {
        /// The format that is read.
        expected: &'static str,
    },
    /// A text of the metadata is missing or not what it should be.
    #[error("the metadata are damaged: `{key}`: {reason}")]
    Metadata {
        /// Which text.
        key: &'static str,
        /// What the parser said.
        reason: String,
    },
    /// An array of samples or labels is missing, or of the wrong type or shape.
    #[error("array `{name}` is {found}: {expected} expected")]
    Array {
        /// Its name.
        name: &'static str,
        /// Type and shape, or that it is missing.
        found: String,
        /// What is read.
        expected: &'static str,
    },
}
