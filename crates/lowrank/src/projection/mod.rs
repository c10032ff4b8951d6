//! A projection as it is stored and used: one basis a channel, in the coordinates of a representation.
//!
//! The classifier sees an input u only through z = Uᵀ(u − mean), r numbers. What is proven about it (κ, σ_max) is
//! proven for the stored numbers, so the columns of U need not be exactly orthonormal.
//!
//! **File.** Safetensors: `basis.0`, `basis.1`, … (F64, n × r_c, one a channel), `mean.0`, … where the fit was
//! centred; as metadata `format` = `gambeson projection 1`, `representation` (pixel, dct1, dct2), `shape` (channels,
//! height, width), `method`, `error` (one a channel), `data` and `data_sha256`.

pub mod certificate;
pub mod energy;
pub mod fit;
pub mod kappa;
pub mod method;
pub mod moments;
pub mod representation;

use crate::linalg::matrix::{DenseMatrix, MatrixError};
use crate::projection::representation::{EmptyGrid, Representation};
use crate::safetensors::{SafetensorsError, Tensor, Tensors};
use gambeson_checker::Quadratic;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The first words of the metadata.
pub const FORMAT: &str = "gambeson projection 1";

/// Channels × height × width of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grid {
    /// Channels.
    pub channels: usize,
    /// Rows.
    pub height: usize,
    /// Columns.
    pub width: usize,
}

/// The part of a projection that belongs to one channel.
#[derive(Clone, Debug, PartialEq)]
pub struct Channel {
    /// U, n × r: coordinate by component.
    pub basis: DenseMatrix,
    /// Taken off the coordinates before encoding, n numbers.
    pub mean: Option<Vec<f64>>,
    /// The part of the energy of the data that is lost: ⟨M, I − UUᵀ⟩ for M of trace one. A measurement.
    pub error: f64,
}

/// How a projection came to be. Words for people; nothing proven depends on them.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Origin {
    /// The method, with its parameters.
    pub method: String,
    /// What the data are called.
    pub data: String,
    /// Hash of the data.
    pub data_sha256: String,
}

/// A projection for inputs of several channels.
#[derive(Clone, Debug, PartialEq)]
pub struct Projection {
    representation: Representation,
    grid: Grid,
    channels: Vec<Channel>,
    origin: Origin,
}

/// Why parts do not make a projection.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ProjectionError {
    /// The file.
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
        /// What would.
        expected: usize,
        /// What is there.
        found: usize,
    },
    /// A basis has no columns, or entries that are no numbers.
    #[error("channel {channel}: {reason}")]
    Basis {
        /// Counting from 0.
        channel: usize,
        /// What is wrong.
        reason: MatrixError,
    },
    /// The grid is empty.
    #[error(transparent)]
    Grid(#[from] EmptyGrid),
}

impl Projection {
    /// Joins channels, checking that all fit the grid.
    pub fn new(
        representation: Representation,
        grid: Grid,
        channels: Vec<Channel>,
        origin: Origin,
    ) -> Result<Self, ProjectionError> {
        let Grid { height, width, .. } = grid;
        let n = height.checked_mul(width).filter(|&n| n > 0).ok_or(EmptyGrid { height, width })?;
        let mismatch = |channel, problem, expected, found| ProjectionError::Channel {
            channel,
            problem,
            expected,
            found,
        };
        if channels.len() != grid.channels || channels.is_empty() {
            return Err(mismatch(0, "wrong number of channels", grid.channels, channels.len()));
        }
        for (at, channel) in channels.iter().enumerate() {
            let DenseMatrix { rows, columns, entries } = &channel.basis;
            if *rows != n {
                return Err(mismatch(at, "wrong number of rows of the basis", n, *rows));
            }
            if *columns > n {
                return Err(mismatch(at, "a rank above the dimension", n, *columns));
            }
            DenseMatrix::new(*rows, *columns, entries.clone())
                .map_err(|reason| ProjectionError::Basis { channel: at, reason })?;
            let mean = channel.mean.as_deref().unwrap_or(&[]);
            if channel.mean.is_some() && mean.len() != n {
                return Err(mismatch(at, "wrong length of the mean", n, mean.len()));
            }
            if let Some(index) = mean.iter().position(|value| !value.is_finite()) {
                return Err(mismatch(at, "a mean that is no number, at", n, index));
            }
        }
        Ok(Self { representation, grid, channels, origin })
    }

    /// The coordinates it works in.
    pub fn representation(&self) -> Representation {
        self.representation
    }

    /// Shape of an input.
    pub fn grid(&self) -> Grid {
        self.grid
    }

    /// Channel by channel.
    pub fn channels(&self) -> &[Channel] {
        &self.channels
    }

    /// How it came to be.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Numbers an input is encoded to: the sum of the ranks.
    pub fn rank(&self) -> usize {
        self.channels.iter().map(|channel| channel.basis.columns).sum()
    }

    /// z = Uᵀ(u − mean), channel after channel, for an input of channels × n coordinates.
    ///
    /// Panics unless `coordinates` holds channels·n numbers.
    pub fn encode(&self, coordinates: &[f64]) -> Vec<f64> {
        let n = self.grid.height * self.grid.width;
        assert_eq!(coordinates.len(), self.channels.len() * n, "one input");
        let mut code = Vec::with_capacity(self.rank());
        for (channel, u) in self.channels.iter().zip(coordinates.chunks_exact(n)) {
            let mut z = vec![0.0; channel.basis.columns];
            for (i, (row, u)) in channel.basis.entries.chunks_exact(z.len()).zip(u).enumerate() {
                let u = u - channel.mean.as_ref().map_or(0.0, |mean| mean[i]);
                z.iter_mut().zip(row).for_each(|(z, entry)| *z += entry * u);
            }
            code.append(&mut z);
        }
        code
    }

    /// u = U·z + mean.
    ///
    /// Panics unless `code` holds [`rank`](Self::rank) numbers.
    pub fn decode(&self, code: &[f64]) -> Vec<f64> {
        assert_eq!(code.len(), self.rank(), "one code");
        let mut coordinates = Vec::new();
        let mut rest = code;
        for channel in &self.channels {
            let (z, after) = rest.split_at(channel.basis.columns);
            rest = after;
            for (i, row) in channel.basis.entries.chunks_exact(z.len()).enumerate() {
                let mean = channel.mean.as_ref().map_or(0.0, |mean| mean[i]);
                coordinates.push(mean + row.iter().zip(z).map(|(entry, z)| entry * z).sum::<f64>());
            }
        }
        coordinates
    }

    /// Writes the file, whole or not at all.
    pub fn write(&self, path: &Path) -> Result<(), ProjectionError> {
        let Grid { channels, height, width } = self.grid;
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
        Ok(file.write(path)?)
    }

    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self, ProjectionError> {
        let mut file = Tensors::read(path)?;
        let wrong = |problem| ProjectionError::NotProjection { path: path.to_path_buf(), problem };
        let word = |key: &str| file.metadata.get(key).map(String::as_str);
        if word("format") != Some(FORMAT) {
            return Err(wrong("its metadata do not say `format`: `gambeson projection 1`"));
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
        let errors = errors.ok_or_else(|| wrong("no errors, one a channel"))?;
        let text = |key: &str| word(key).unwrap_or_default().to_owned();
        let origin = Origin { method: text("method"), data: text("data"), data_sha256: text("data_sha256") };
        let grid = Grid { channels, height, width };
        if errors.len() != channels || errors.iter().any(|error| !(0.0..=1.0).contains(error)) {
            return Err(wrong("not one error between 0 and 1 a channel"));
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
        Self::new(representation, grid, parts, origin)
    }
}

impl Channel {
    /// The form UUᵀ, whose maximum on the cube is κ².
    pub fn form(&self) -> Quadratic<'_> {
        let DenseMatrix { rows, columns, entries } = &self.basis;
        Quadratic::Gram { factor: entries, dim: *rows, rank: *columns }
    }
}
