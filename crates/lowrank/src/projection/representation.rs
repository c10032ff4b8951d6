//! The coordinates a projection works in: values as they are, or the orthonormal cosine transform (DCT-II) of images
//! and frames.
//!
//! **Definition.** In one dimension u_k = s_k Σ_i x_i cos(π k (2i + 1) / 2n) with s_0 = √(1/n) and s_k = √(2/n)
//! otherwise: an orthogonal matrix, so l2 lengths stay the same (Prop. B.3 of the paper). In two dimensions along rows,
//! then along columns. Each channel is transformed by itself.
//!
//! **Smaller grids.** The low G × G block of an H × W spectrum is the spectrum of a G × G image; times √(G²/HW) it has
//! the range of the original's values ([`Transform::inverse_onto`]).

use crate::linalg::cosines::Cosines;
use crate::linalg::products::{rows_times, transpose};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::fmt;
use thiserror::Error;

/// The coordinates a projection works in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Representation {
    /// The values as they are.
    Pixel,
    /// Cosine transform along the row-major values of a channel: for frames of sound.
    Dct1,
    /// Cosine transform along rows and columns: for images.
    Dct2,
}

impl Representation {
    /// As in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pixel => "pixel",
            Self::Dct1 => "dct1",
            Self::Dct2 => "dct2",
        }
    }

    /// Whether coordinates are cosine coefficients: l_inf of these is not l_inf of pixels or samples.
    pub fn is_cosine(self) -> bool {
        match self {
            Self::Pixel => false,
            Self::Dct1 | Self::Dct2 => true,
        }
    }
}

/// A grid that no transform can have.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("a grid of {height} x {width} values: neither may be 0, and their product must fit into memory")]
pub struct EmptyGrid {
    /// Rows.
    pub height: usize,
    /// Columns.
    pub width: usize,
}

/// From the values of one channel (height × width, row-major) to a representation and back.
#[derive(Clone)]
pub struct Transform {
    representation: Representation,
    height: usize,
    width: usize,
    cosines: CosineTables,
}

/// The cosines a representation needs.
#[derive(Clone)]
enum CosineTables {
    /// None: pixels.
    Plain,
    /// Along a frame.
    Frame(Cosines),
    /// Along the rows and the columns of an image.
    Image { rows: Cosines, columns: Cosines },
}

impl fmt::Debug for Transform {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Transform({} of {} x {})", self.representation.name(), self.height, self.width)
    }
}

impl Transform {
    /// Tabulates the cosines.
    pub fn new(representation: Representation, height: usize, width: usize) -> Result<Self, EmptyGrid> {
        let turn = height.checked_mul(width).and_then(|n| n.checked_mul(4));
        if turn.is_none_or(|turn| turn == 0) {
            return Err(EmptyGrid { height, width });
        }
        let cosines = match representation {
            Representation::Pixel => CosineTables::Plain,
            Representation::Dct1 => CosineTables::Frame(Cosines::new(height * width)),
            Representation::Dct2 => {
                CosineTables::Image { rows: Cosines::new(width), columns: Cosines::new(height) }
            }
        };
        Ok(Self { representation, height, width, cosines })
    }

    /// Which coordinates it leads to.
    pub fn representation(&self) -> Representation {
        self.representation
    }

    /// Values of one channel.
    pub fn dim(&self) -> usize {
        self.height * self.width
    }

    /// Rows and columns.
    pub fn grid(&self) -> (usize, usize) {
        (self.height, self.width)
    }

    /// Replaces values by coordinates. Panics unless there are height·width of them.
    pub fn forward(&self, values: &mut [f64]) {
        assert_eq!(values.len(), self.dim(), "one channel");
        self.each_side(values, Cosines::forward);
    }

    /// Replaces coordinates by values. Panics unless there are height·width of them.
    pub fn inverse(&self, coordinates: &mut [f64]) {
        assert_eq!(coordinates.len(), self.dim(), "one channel");
        self.each_side(coordinates, Cosines::inverse);
    }

    /// One direction of the transform, along each side.
    fn each_side(&self, data: &mut [f64], along: fn(&Cosines, &mut [f64])) {
        match &self.cosines {
            CosineTables::Plain => {}
            CosineTables::Frame(frame) => along(frame, data),
            CosineTables::Image { rows, columns } => {
                data.chunks_exact_mut(self.width).for_each(|row| along(rows, row));
                let mut turned = transpose(data, self.height, self.width);
                turned.chunks_exact_mut(self.height).for_each(|column| along(columns, column));
                data.copy_from_slice(&transpose(&turned, self.width, self.height));
            }
        }
    }

    /// The image on a smaller grid whose spectrum is the low block of `coordinates`, in the range of the original's
    /// values: for Dct2 height × width as given, for Dct1 their product. None where the grid is larger than the
    /// original's, empty, or there is no spectrum (pixels).
    pub fn inverse_onto(&self, coordinates: &[f64], height: usize, width: usize) -> Option<Vec<f64>> {
        let small = Self::new(self.representation, height, width).ok()?;
        let mut block: Vec<f64> = match self.representation {
            Representation::Pixel => return None,
            Representation::Dct1 => coordinates.get(..small.dim())?.to_vec(),
            Representation::Dct2 if height > self.height || width > self.width => return None,
            Representation::Dct2 => coordinates
                .chunks_exact(self.width)
                .take(height)
                .flat_map(|row| &row[..width])
                .copied()
                .collect(),
        };
        small.inverse(&mut block);
        let scale = (small.dim() as f64 / self.dim() as f64).sqrt();
        block.iter_mut().for_each(|value| *value *= scale);
        Some(block)
    }

    /// O·M·Oᵀ for a symmetric row-major M in values: the same form in coordinates.
    ///
    /// Panics unless M is dim × dim.
    pub fn rotate_form(&self, matrix: &mut Vec<f64>) {
        let n = self.dim();
        assert_eq!(matrix.len(), n * n, "dim × dim");
        let times =
            |left: &[f64], depth: usize, right: &[f64]| rows_times(left, depth, right, right.len() / depth);
        match &self.cosines {
            CosineTables::Plain => return,
            CosineTables::Frame(frame) => {
                let frame = frame.matrix();
                let half = times(matrix, n, &transpose(&frame, n, n)); // M·Oᵀ
                *matrix = times(&frame, n, &half);
            }
            CosineTables::Image { rows, columns } => {
                let (height, width) = self.grid();
                let rows = transpose(&rows.matrix(), width, width);
                let columns = columns.matrix();
                // Every row of M is an image: X·Cᵀ along its rows for all at once, then C·X for each.
                for _ in 0..2 {
                    *matrix = times(matrix, width, &rows);
                    matrix.par_chunks_mut(n).for_each(|image| {
                        image.copy_from_slice(&times(&columns, height, image));
                    });
                    *matrix = transpose(matrix, n, n);
                }
            }
        }
        // Rounding errors of the two sides differ: make it symmetric again.
        for i in 0..n {
            for j in 0..i {
                let mean = 0.5 * (matrix[i * n + j] + matrix[j * n + i]);
                (matrix[i * n + j], matrix[j * n + i]) = (mean, mean);
            }
        }
    }

    /// Whether a coordinate lies inside the low block of `size` × `size` frequencies (of a spectrum in one dimension: the
    /// first `size`).
    pub fn in_low_block(&self, index: usize, size: usize) -> bool {
        match self.representation {
            Representation::Dct1 => index < size,
            Representation::Pixel | Representation::Dct2 => self.in_block(index, size, size),
        }
    }

    /// Whether a coordinate lies inside the low block whose frequencies images of `height` × `width` have.
    pub fn in_block(&self, index: usize, height: usize, width: usize) -> bool {
        match self.representation {
            Representation::Dct1 => index < height * width,
            Representation::Pixel | Representation::Dct2 => {
                index / self.width < height && index % self.width < width
            }
        }
    }
}
