//! The one type that data come in.
//!
//! **Axis order**: sample by sample; within a sample channel, then row, then column (NCHW, the order of CIFAR's own
//! planes). A sample of shape c × h × w is c·h·w consecutive values. An audio frame of n samples is 1 × 1 × n.
//!
//! **Value range**: values are kept as stored; [`Dataset::scale`] turns them into real numbers, value = raw · scale:
//!
//! | stored as | scale | range |
//! |---|---|---|
//! | [`Values::U8`], pixels | 1/255 | [0, 1] |
//! | [`Values::I16`], audio | 1/32768 | [−1, 1) |
//! | [`Values::F32`] | 1 | any finite number |
//!
//! **Checksum**: [`Dataset::sha256`] is over the content alone, so the same samples and labels have the same hash
//! whichever file they come from. What is hashed, integers as little-endian u64: the text `gambeson dataset 1\n`; one byte
//! for the storage (0 u8, 1 i16, 2 f32); the numbers of samples, channels, rows, columns; all values, little-endian; one
//! byte 1 and then all labels as little-endian u16, or one byte 0 where there are none. Names are not hashed.

use gambeson_lowrank::file::hex;
use gambeson_lowrank::safetensors::Element;
pub use gambeson_lowrank::shape::Shape;
use sha2::{Digest, Sha256};
use std::sync::OnceLock;
use thiserror::Error;

/// Raw sample values as stored: 8-bit pixels, 16-bit audio, or 32-bit floating point.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Pixels; 255 means 1.
    U8(Vec<u8>),
    /// Audio; 32768 would mean 1.
    I16(Vec<i16>),
    /// Numbers as they are, all finite.
    F32(Vec<f32>),
}

impl Values {
    /// Number of values, over all samples.
    pub fn len(&self) -> usize {
        match self {
            Self::U8(values) => values.len(),
            Self::I16(values) => values.len(),
            Self::F32(values) => values.len(),
        }
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What one unit of the stored numbers means: 1/255, 1/32768 or 1.
    pub fn scale(&self) -> f64 {
        match self {
            Self::U8(_) => 1.0 / 255.0,
            Self::I16(_) => 1.0 / 32768.0,
            Self::F32(_) => 1.0,
        }
    }

    /// Bytes of one value.
    pub(crate) fn width(&self) -> usize {
        match self {
            Self::U8(_) => 1,
            Self::I16(_) => 2,
            Self::F32(_) => 4,
        }
    }
}

/// Feeds numbers to a hash, little-endian.
fn update<T: Element>(hash: &mut Sha256, values: &[T]) {
    const CHUNK: usize = 1 << 14;
    let mut bytes = Vec::with_capacity(T::WIDTH * CHUNK.min(values.len()));
    for chunk in values.chunks(CHUNK) {
        bytes.clear();
        T::append(chunk, &mut bytes);
        hash.update(&bytes);
    }
}

/// Which part of a set: the one to learn from or the one to test on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Split {
    /// To learn from.
    #[default]
    Train,
    /// To test on.
    Test,
}

impl Split {
    /// `train` or `test`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Test => "test",
        }
    }
}

/// A file that samples came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// Its name, for people: a path, or a name within an archive or set.
    pub name: String,
    /// How many consecutive samples came from it, in the order of [`Dataset::sources`].
    pub samples: usize,
}

/// What a [`Dataset`] is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct DatasetParts {
    /// What people call it.
    pub name: String,
    /// Shape of every sample.
    pub shape: Shape,
    /// All values, in the axis order of the module.
    pub values: Values,
    /// One label per sample, counting classes from 0.
    pub labels: Option<Vec<u16>>,
    /// Names of the classes. May be empty where the labels have no names: they are then `0`, `1`, and so on.
    pub classes: Vec<String>,
    /// Files the samples came from, in order; may be empty if that does not matter.
    pub sources: Vec<SourceFile>,
}

/// Samples of one shape, with labels or without. See the module for axis order, value range and checksum.
///
/// There is at least one sample, every value is finite, and every label is less than the number of classes.
#[derive(Clone, Debug)]
pub struct Dataset {
    parts: DatasetParts,
    samples: usize,
    sha256: OnceLock<String>,
}

/// Why numbers are not a data set. Samples, values and labels count from 0.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum DatasetError {
    /// There are no samples.
    #[error("there are no samples")]
    Empty,
    /// The values are not a whole number of samples.
    #[error("{values} values are not a whole number of samples of shape {shape}")]
    Ragged {
        /// Number of values.
        values: usize,
        /// Shape of a sample.
        shape: Shape,
    },
    /// A value is NaN or infinite.
    #[error(
        "sample {sample} has the value {value} at channel {channel}, row {row}, column {column} (counting from 0): \
         values must be finite"
    )]
    NotFinite {
        /// The sample.
        sample: usize,
        /// Its channel.
        channel: usize,
        /// Its row.
        row: usize,
        /// Its column.
        column: usize,
        /// The value.
        value: f32,
    },
    /// More or fewer labels than samples.
    #[error("{labels} labels for {samples} samples")]
    LabelCount {
        /// Number of labels.
        labels: usize,
        /// Number of samples.
        samples: usize,
    },
    /// A label without a class.
    #[error("sample {sample} has label {label}, but there are {classes} classes (labels count from 0)")]
    Label {
        /// The sample.
        sample: usize,
        /// Its label.
        label: u16,
        /// Number of classes.
        classes: usize,
    },
    /// The source files account for another number of samples.
    #[error("the source files have {found} samples, but there are {samples}")]
    SourceCount {
        /// Samples of the files.
        found: usize,
        /// Number of samples.
        samples: usize,
    },
}

impl Dataset {
    /// Checks the parts and joins them.
    pub fn new(mut parts: DatasetParts) -> Result<Self, DatasetError> {
        let (shape, count) = (parts.shape, parts.values.len());
        if count == 0 || shape.is_empty() {
            return Err(DatasetError::Empty);
        }
        if !count.is_multiple_of(shape.len()) {
            return Err(DatasetError::Ragged { values: count, shape });
        }
        let samples = count / shape.len();
        if let Values::F32(values) = &parts.values
            && let Some(at) = values.iter().position(|value| !value.is_finite())
        {
            let (sample, within) = (at / shape.len(), at % shape.len());
            let plane = shape.height * shape.width;
            return Err(DatasetError::NotFinite {
                sample,
                channel: within / plane,
                row: within % plane / shape.width,
                column: within % shape.width,
                value: values[at],
            });
        }
        if let Some(labels) = &parts.labels {
            if labels.len() != samples {
                return Err(DatasetError::LabelCount { labels: labels.len(), samples });
            }
            if parts.classes.is_empty() {
                let largest = labels.iter().copied().max().unwrap_or(0);
                parts.classes = (0..=largest).map(|class| class.to_string()).collect();
            }
            let classes = parts.classes.len();
            if let Some(sample) = labels.iter().position(|&label| usize::from(label) >= classes) {
                return Err(DatasetError::Label { sample, label: labels[sample], classes });
            }
        }
        let found = parts.sources.iter().fold(0, |sum: usize, source| sum.saturating_add(source.samples));
        if !parts.sources.is_empty() && found != samples {
            return Err(DatasetError::SourceCount { found, samples });
        }
        Ok(Self { parts, samples, sha256: OnceLock::new() })
    }

    /// What people call it.
    pub fn name(&self) -> &str {
        &self.parts.name
    }

    /// Number of samples, at least 1.
    pub fn len(&self) -> usize {
        self.samples
    }

    /// Never true.
    pub fn is_empty(&self) -> bool {
        self.samples == 0
    }

    /// Shape of every sample.
    pub fn shape(&self) -> Shape {
        self.parts.shape
    }

    /// All values as stored, sample by sample; see the module for the order.
    pub fn values(&self) -> &Values {
        &self.parts.values
    }

    /// What a stored unit means: value = raw · scale, with 1/255, 1/32768 or 1.
    pub fn scale(&self) -> f64 {
        self.parts.values.scale()
    }

    /// One label per sample, each less than `classes().len()`.
    pub fn labels(&self) -> Option<&[u16]> {
        self.parts.labels.as_deref()
    }

    /// Names of the classes; empty where there are no labels.
    pub fn classes(&self) -> &[String] {
        &self.parts.classes
    }

    /// Files the samples came from, in order; empty if that does not matter.
    pub fn sources(&self) -> &[SourceFile] {
        &self.parts.sources
    }

    /// SHA-256 of the content in hexadecimal digits, as the module defines it. Computed when first asked for.
    pub fn sha256(&self) -> &str {
        self.sha256.get_or_init(|| {
            let DatasetParts { shape, values, labels, .. } = &self.parts;
            let mut hash = Sha256::new();
            hash.update(b"gambeson dataset 1\n");
            hash.update([match values {
                Values::U8(_) => 0,
                Values::I16(_) => 1,
                Values::F32(_) => 2,
            }]);
            for size in [self.samples, shape.channels, shape.height, shape.width] {
                hash.update((size as u64).to_le_bytes());
            }
            match values {
                Values::U8(values) => hash.update(values),
                Values::I16(values) => update(&mut hash, values),
                Values::F32(values) => update(&mut hash, values),
            }
            hash.update([u8::from(labels.is_some())]);
            update(&mut hash, labels.as_deref().unwrap_or_default());
            hex(&hash.finalize())
        })
    }

    /// Writes the real values of a sample, raw · scale rounded to f32, in the order channel, row, column.
    ///
    /// # Panics
    /// If there is no such sample, or `out` does not have the length of the shape.
    pub fn sample_f32(&self, index: usize, out: &mut [f32]) {
        let scale = self.scale();
        #[expect(clippy::cast_possible_truncation, reason = "rounding to f32 is the purpose")]
        self.each(index, out.len(), |at, raw| out[at] = (raw * scale) as f32);
    }

    /// The same in f64.
    ///
    /// # Panics
    /// As [`Dataset::sample_f32`].
    pub fn sample_f64(&self, index: usize, out: &mut [f64]) {
        let scale = self.scale();
        self.each(index, out.len(), |at, raw| out[at] = raw * scale);
    }

    /// The numbers of a sample as they are stored, without their scale.
    ///
    /// # Panics
    /// As [`Dataset::sample_f32`].
    pub fn sample_raw(&self, index: usize, out: &mut [f64]) {
        self.each(index, out.len(), |at, raw| out[at] = raw);
    }

    fn each(&self, index: usize, length: usize, mut put: impl FnMut(usize, f64)) {
        let size = self.parts.shape.len();
        assert_eq!(length, size, "the place for a sample has its size");
        let range = index * size..(index + 1) * size;
        match &self.parts.values {
            Values::U8(values) => values[range].iter().enumerate().for_each(|(k, &v)| put(k, v.into())),
            Values::I16(values) => values[range].iter().enumerate().for_each(|(k, &v)| put(k, v.into())),
            Values::F32(values) => values[range].iter().enumerate().for_each(|(k, &v)| put(k, v.into())),
        }
    }

    /// The same samples under another name.
    #[must_use]
    pub fn renamed(mut self, name: impl Into<String>) -> Self {
        self.parts.name = name.into();
        self
    }

    /// The chosen samples, in the order given, with their labels and all class names; `None` if one does not
    /// exist or nothing is chosen. The files they came from are left out.
    pub fn select(&self, indices: &[usize]) -> Option<Self> {
        fn pick<T: Copy>(values: &[T], size: usize, indices: &[usize]) -> Vec<T> {
            indices.iter().flat_map(|&index| &values[index * size..(index + 1) * size]).copied().collect()
        }
        if indices.is_empty() || indices.iter().any(|&index| index >= self.samples) {
            return None;
        }
        let size = self.parts.shape.len();
        let values = match &self.parts.values {
            Values::U8(values) => Values::U8(pick(values, size, indices)),
            Values::I16(values) => Values::I16(pick(values, size, indices)),
            Values::F32(values) => Values::F32(pick(values, size, indices)),
        };
        let parts = DatasetParts {
            name: self.parts.name.clone(),
            shape: self.parts.shape,
            values,
            labels: self.labels().map(|labels| pick(labels, 1, indices)),
            classes: self.parts.classes.clone(),
            sources: Vec::new(),
        };
        Some(Self { parts, samples: indices.len(), sha256: OnceLock::new() })
    }
}
