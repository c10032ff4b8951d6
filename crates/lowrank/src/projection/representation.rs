//! The orthonormal cosine transform (DCT-II) of images and frames, and its inverse.
//!
//! **Definition.** In one dimension u_k = s_k Σ_i x_i cos(π k (2i + 1) / 2n) with s_0 = √(1/n) and s_k = √(2/n)
//! otherwise: an orthogonal matrix, so l2 lengths stay (Prop. B.3 of the paper). In two dimensions rows, then
//! columns. Each channel is transformed by itself.
//!
//! **Smaller grids.** The low G × G block of an H × W spectrum is the spectrum of a G × G image; times √(G²/HW) it has
//! the range of the original's values ([`Transform::inverse_onto`]).

use rayon::prelude::*;
use rustdct::{DctPlanner, TransformType2And3};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;
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
}

/// No transform has such sizes.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("a grid of {height} x {width} values: neither may be 0, nor their product too large")]
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
    along_rows: Arc<dyn TransformType2And3<f64>>,
    along_columns: Arc<dyn TransformType2And3<f64>>,
}

impl fmt::Debug for Transform {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Transform({} of {} x {})", self.representation.name(), self.height, self.width)
    }
}

impl Transform {
    /// Plans the transform.
    pub fn new(representation: Representation, height: usize, width: usize) -> Result<Self, EmptyGrid> {
        if height == 0 || width == 0 || height.checked_mul(width).is_none() {
            return Err(EmptyGrid { height, width });
        }
        let mut planner = DctPlanner::new();
        // A frame is one long row.
        let (row, column) = match representation {
            Representation::Dct1 => (height * width, 1),
            Representation::Pixel | Representation::Dct2 => (width, height),
        };
        let (along_rows, along_columns) = (planner.plan_dct2(row), planner.plan_dct2(column));
        Ok(Self { representation, height, width, along_rows, along_columns })
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
        self.both(values, forward_rows);
    }

    /// Replaces coordinates by values. Panics unless there are height·width of them.
    pub fn inverse(&self, coordinates: &mut [f64]) {
        assert_eq!(coordinates.len(), self.dim(), "one channel");
        self.both(coordinates, inverse_rows);
    }

    fn both(&self, data: &mut [f64], rows: fn(&dyn TransformType2And3<f64>, &mut [f64])) {
        match self.representation {
            Representation::Pixel => {}
            Representation::Dct1 => rows(self.along_rows.as_ref(), data),
            Representation::Dct2 => {
                rows(self.along_rows.as_ref(), data);
                let mut turned = transposed(data, self.height, self.width);
                rows(self.along_columns.as_ref(), &mut turned);
                data.copy_from_slice(&transposed(&turned, self.width, self.height));
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
        if self.representation == Representation::Pixel {
            return;
        }
        for _ in 0..2 {
            matrix.par_chunks_mut(n).for_each(|row| self.forward(row));
            *matrix = transposed(matrix, n, n);
        }
        // Rounding errors of the two sides differ: make it symmetric again.
        for i in 0..n {
            for j in 0..i {
                let mean = 0.5 * (matrix[i * n + j] + matrix[j * n + i]);
                (matrix[i * n + j], matrix[j * n + i]) = (mean, mean);
            }
        }
    }

    /// The coordinates inside the low block of `size` × `size` frequencies (of a spectrum in one dimension: the first
    /// `size`).
    pub fn in_low_block(&self, index: usize, size: usize) -> bool {
        match self.representation {
            Representation::Dct1 => index < size,
            Representation::Pixel | Representation::Dct2 => {
                index / self.width < size && index % self.width < size
            }
        }
    }
}

fn forward_rows(plan: &dyn TransformType2And3<f64>, data: &mut [f64]) {
    let n = plan.len();
    let mut scratch = vec![0.0; plan.get_scratch_len()];
    let (first, others) = ((1.0 / n as f64).sqrt(), (2.0 / n as f64).sqrt());
    for row in data.chunks_exact_mut(n) {
        plan.process_dct2_with_scratch(row, &mut scratch);
        row[0] *= first;
        row[1..].iter_mut().for_each(|value| *value *= others);
    }
}

fn inverse_rows(plan: &dyn TransformType2And3<f64>, data: &mut [f64]) {
    let n = plan.len();
    let mut scratch = vec![0.0; plan.get_scratch_len()];
    // The third transform halves its first entry.
    let (first, others) = (2.0 * (1.0 / n as f64).sqrt(), (2.0 / n as f64).sqrt());
    for row in data.chunks_exact_mut(n) {
        row[0] *= first;
        row[1..].iter_mut().for_each(|value| *value *= others);
        plan.process_dct3_with_scratch(row, &mut scratch);
    }
}

fn transposed(data: &[f64], rows: usize, columns: usize) -> Vec<f64> {
    let mut turned = vec![0.0; data.len()];
    for (i, row) in data.chunks_exact(columns).enumerate() {
        row.iter().enumerate().for_each(|(j, &value)| turned[j * rows + i] = value);
    }
    turned
}
