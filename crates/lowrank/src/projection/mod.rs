//! A projection as it is stored and used: one basis per channel, in the coordinates of a representation.
//!
//! The classifier sees an input u only through z = Uᵀu, r numbers; decoding gives U·z + mean − UUᵀ·mean, so a mean
//! changes what is decoded and never z. What is proven about U (κ, σ_max) is proven for the stored numbers, so its
//! columns need not be exactly orthonormal. [`proven`] joins a projection with its proof.
//!
//! **File.** Safetensors: `basis.0`, `basis.1`, … (F64, n × r_c, one per channel), `mean.0`, … where the fit was
//! centred; as metadata `format` = `gambeson projection 1`, `representation` (pixel, dct1, dct2), `shape` (channels,
//! height, width), `method`, `error` (one per channel), `data` and `data_sha256`.

pub mod certificate;
pub mod energy;
pub mod fit;
pub mod kappa;
pub mod method;
pub mod moments;
pub mod proven;
pub mod representation;

use crate::linalg::matrix::{DenseMatrix, MatrixError};
use crate::memory::MemoryLimit;
use crate::projection::representation::{EmptyGrid, Representation};
use crate::safetensors::{SafetensorsError, Tensor, Tensors};
use crate::shape::Shape;
use gambeson_checker::Quadratic;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The first words of the metadata.
pub const FORMAT: &str = "gambeson projection 1";

/// The part of a projection that belongs to one channel.
#[derive(Clone, Debug, PartialEq)]
pub struct Channel {
    /// U, n × r: coordinate by component.
    pub basis: DenseMatrix,
    /// The mean of the coordinates where the fit was centred, n numbers: decoding adds mean − UUᵀ·mean.
    pub mean: Option<Vec<f64>>,
    /// The share of the energy of the data that is lost: ⟨M, I − UUᵀ⟩ for M of trace one. A measurement.
    pub error: f64,
}

/// How a projection came to be, for people to read; nothing proven depends on it.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Origin {
    /// The method, with its parameters.
    pub method: String,
    /// Name of the data.
    pub data: String,
    /// Hash of the data.
    pub data_sha256: String,
}

/// A projection for inputs of several channels.
#[derive(Clone, Debug, PartialEq)]
pub struct Projection {
    representation: Representation,
    shape: Shape,
    channels: Vec<Channel>,
    origin: Origin,
}

/// Why parts do not make a projection.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ProjectionError {
    /// The file cannot be read or written.
    #[error(transparent)]
    File(#[from] SafetensorsError),
    /// The file holds something else.
    #[error("{}: not a projection: {problem}", path.display())]
    NotProjection {
        /// Which file.
        path: PathBuf,
        /// What is missing or wrong.
        problem: &'static str,
    },
    /// A channel does not fit the others.
    #[error("channel {channel}: {problem} (expected {expected}, found {found})")]
    Channel {
        /// Counting from 0.
        channel: usize,
        /// What does not fit.
        problem: &'static str,
        /// What would fit.
        expected: usize,
        /// What was given.
        found: usize,
    },
    /// A basis has no columns, or entries that are not finite.
    #[error("channel {channel}: {reason}")]
    Basis {
        /// Counting from 0.
        channel: usize,
        /// What is wrong.
        reason: MatrixError,
    },
    /// A mean has an entry that is not finite.
    #[error("channel {channel}: entry {index} of the mean (counting from 0) is not a finite number")]
    Mean {
        /// Counting from 0.
        channel: usize,
        /// Counting from 0.
        index: usize,
    },
    /// An input has no values.
    #[error(transparent)]
    Grid(#[from] EmptyGrid),
}

impl Projection {
    /// Joins channels, checking that all fit the shape of an input.
    pub fn new(
        representation: Representation,
        shape: Shape,
        channels: Vec<Channel>,
        origin: Origin,
    ) -> Result<Self, ProjectionError> {
        let Shape { height, width, .. } = shape;
        let n = height.checked_mul(width).filter(|&n| n > 0).ok_or(EmptyGrid { height, width })?;
        let mismatch = |channel, problem, expected, found| ProjectionError::Channel {
            channel,
            problem,
            expected,
            found,
        };
        if channels.len() != shape.channels || channels.is_empty() {
            return Err(mismatch(0, "wrong number of channels", shape.channels, channels.len()));
        }
        let check = |(at, channel): (usize, Channel)| {
            let Channel { basis: DenseMatrix { rows, columns, entries }, mean, error } = channel;
            if rows != n {
                return Err(mismatch(at, "wrong number of rows of the basis", n, rows));
            }
            if columns > n {
                return Err(mismatch(at, "a rank above the dimension", n, columns));
            }
            let basis = DenseMatrix::new(rows, columns, entries)
                .map_err(|reason| ProjectionError::Basis { channel: at, reason })?;
            if let Some(mean) = mean.as_ref().filter(|mean| mean.len() != n) {
                return Err(mismatch(at, "wrong length of the mean", n, mean.len()));
            }
            let not_finite = |mean: &Vec<f64>| mean.iter().position(|value| !value.is_finite());
            if let Some(index) = mean.as_ref().and_then(not_finite) {
                return Err(ProjectionError::Mean { channel: at, index });
            }
            Ok(Channel { basis, mean, error })
        };
        let channels = channels.into_iter().enumerate().map(check).collect::<Result<_, _>>()?;
        Ok(Self { representation, shape, channels, origin })
    }

    /// The coordinates it works in.
    pub fn representation(&self) -> Representation {
        self.representation
    }

    /// Shape of an input.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Channel by channel.
    pub fn channels(&self) -> &[Channel] {
        &self.channels
    }

    /// How it came to be.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Numbers in the code of an input: the sum of the ranks of all channels.
    pub fn rank(&self) -> usize {
        self.channels.iter().map(|channel| channel.basis.columns).sum()
    }

    /// Writes the file, whole or not at all.
    pub fn write(&self, path: &Path) -> Result<(), ProjectionError> {
        Ok(self.tensors().write(path)?)
    }

    /// The bytes that [`write`](Self::write) writes: always the same for the same projection.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.tensors().to_bytes()
    }

    fn tensors(&self) -> Tensors {
        let Shape { channels, height, width } = self.shape;
        let errors: Vec<String> = self.channels.iter().map(|channel| channel.error.to_string()).collect();
        let mut file = Tensors::default();
        for (key, value) in [
            ("format", FORMAT.to_owned()),
            ("representation", self.representation.name().to_owned()),
            ("shape", format!("{channels},{height},{width}")),
            ("method", self.origin.method.clone()),
            ("error", errors.join(",")),
            ("data", self.origin.data.clone()),
            ("data_sha256", self.origin.data_sha256.clone()),
        ] {
            file.metadata.insert(key.to_owned(), value);
        }
        for (c, channel) in self.channels.iter().enumerate() {
            let DenseMatrix { rows, columns, entries } = &channel.basis;
            let basis = Tensor { shape: vec![*rows, *columns], values: entries.clone() };
            file.tensors.insert(format!("basis.{c}"), basis);
            if let Some(mean) = &channel.mean {
                let mean = Tensor { shape: vec![mean.len()], values: mean.clone() };
                file.tensors.insert(format!("mean.{c}"), mean);
            }
        }
        file
    }

    /// The smallest images that hold everything it keeps, as (height, width): of cosine coefficients the low block with
    /// all entries that are not zero, its sides rounded up to multiples of 4 where the inputs are as large (networks halve
    /// a plane twice); otherwise the inputs' own.
    pub fn native_grid(&self) -> (usize, usize) {
        let Shape { height, width, .. } = self.shape;
        let columns = match self.representation {
            Representation::Pixel => return (height, width),
            Representation::Dct1 => height * width,
            Representation::Dct2 => width,
        };
        let (mut rows_kept, mut columns_kept) = (1, 1);
        for Channel { basis, .. } in &self.channels {
            for (index, row) in basis.entries.chunks_exact(basis.columns).enumerate() {
                if row.iter().any(|&entry| entry != 0.0) {
                    rows_kept = rows_kept.max(index / columns + 1);
                    columns_kept = columns_kept.max(index % columns + 1);
                }
            }
        }
        match self.representation {
            Representation::Dct1 => (1, columns_kept.next_multiple_of(4).min(columns)),
            _ => (rows_kept.next_multiple_of(4).min(height), columns_kept.next_multiple_of(4).min(width)),
        }
    }

    /// Reads a file.
    pub fn read(path: &Path, memory: MemoryLimit) -> Result<Self, ProjectionError> {
        Self::from_tensors(path, Tensors::read(path, memory)?)
    }

    /// Reads the bytes of a file; `path` names it in errors.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self, ProjectionError> {
        let tensors = Tensors::parse(bytes)
            .map_err(|problem| SafetensorsError::Content { path: path.to_path_buf(), problem })?;
        Self::from_tensors(path, tensors)
    }

    fn from_tensors(path: &Path, mut file: Tensors) -> Result<Self, ProjectionError> {
        let wrong = |problem| ProjectionError::NotProjection { path: path.to_path_buf(), problem };
        let word = |key: &str| file.metadata.get(key).map(String::as_str);
        if word("format") != Some(FORMAT) {
            return Err(wrong("its metadata lack `format`: `gambeson projection 1`"));
        }
        let representation = match word("representation") {
            Some("pixel") => Representation::Pixel,
            Some("dct1") => Representation::Dct1,
            Some("dct2") => Representation::Dct2,
            _ => return Err(wrong("no representation (pixel, dct1 or dct2)")),
        };
        let numbers: Option<Vec<usize>> =
            word("shape").and_then(|shape| shape.split(',').map(|number| number.parse().ok()).collect());
        let Some(&[channels, height, width]) = numbers.as_deref() else {
            return Err(wrong("no shape of the form channels,height,width"));
        };
        let errors: Option<Vec<f64>> =
            word("error").and_then(|errors| errors.split(',').map(|number| number.parse().ok()).collect());
        let errors = errors.ok_or_else(|| wrong("no errors, one per channel"))?;
        let text = |key: &str| word(key).unwrap_or_default().to_owned();
        let origin = Origin { method: text("method"), data: text("data"), data_sha256: text("data_sha256") };
        if errors.len() != channels || errors.iter().any(|error| !(0.0..=1.0).contains(error)) {
            return Err(wrong("not one error between 0 and 1 per channel"));
        }
        let mut parts = Vec::new();
        for (c, error) in errors.into_iter().enumerate() {
            let Some(Tensor { shape, values }) = file.tensors.remove(&format!("basis.{c}")) else {
                return Err(wrong("a basis is missing"));
            };
            let &[rows, columns] = shape.as_slice() else {
                return Err(wrong("a basis is not a matrix"));
            };
            let mean = file.tensors.remove(&format!("mean.{c}"));
            if mean.as_ref().is_some_and(|mean| mean.shape.len() != 1) {
                return Err(wrong("a mean is not a vector"));
            }
            let mean = mean.map(|mean| mean.values);
            parts.push(Channel { basis: DenseMatrix { rows, columns, entries: values }, mean, error });
        }
        if !file.tensors.is_empty() {
            return Err(wrong("it holds arrays that belong to no channel"));
        }
        let shape = Shape { channels, height, width };
        Self::new(representation, shape, parts, origin)
    }
}

impl Channel {
    /// The form UUᵀ, whose maximum on the cube is κ².
    pub fn form(&self) -> Quadratic<'_> {
        let DenseMatrix { rows, columns, entries } = &self.basis;
        Quadratic::Gram { factor: entries, dim: *rows, rank: *columns }
    }
}
