//! From the coordinates of a projection back to the values a network is given, channel by channel.
//!
//! A code z becomes U·Diag(s)·z + mean − UUᵀ·mean in the representation, and from there values on a grid: that of the
//! inputs, or a smaller one, whose images have the lowest frequencies only ([`Transform::inverse_onto`]). A projection that
//! keeps frequencies beyond a grid is refused there: nothing it keeps may be lost.

use gambeson_lowrank::linalg::matrix::DenseMatrix;
use gambeson_lowrank::projection::Channel;
use gambeson_lowrank::projection::representation::Transform;
use thiserror::Error;

/// The decoder of one channel, in double precision.
#[derive(Clone, Debug, PartialEq)]
pub struct Decoder {
    /// Coordinates.
    pub rank: usize,
    /// Values of the channel on its grid.
    pub plane: usize,
    /// rank × plane: the values of every component, times its level.
    pub matrix: Vec<f64>,
    /// What is added, one number per value; zeros where the projection has no mean.
    pub constant: Vec<f64>,
}

/// Why images of some size cannot be decoded.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// There are no such images.
    #[error(
        "images of {height} x {width} cannot be decoded from the {representation} coordinates of a projection"
    )]
    Size {
        /// Rows asked for.
        height: usize,
        /// Columns asked for.
        width: usize,
        /// pixel, dct1 or dct2.
        representation: &'static str,
    },
    /// A smaller image would lose a part of what the projection keeps.
    #[error(
        "images of {height} x {width} have the lowest {height} x {width} frequencies only, but component {component} of \
         a basis has an entry at row {row}, column {column} of the spectrum (all counting from 0)"
    )]
    Outside {
        /// Rows asked for.
        height: usize,
        /// Columns asked for.
        width: usize,
        /// Of the frequency.
        row: usize,
        /// Of the frequency.
        column: usize,
        /// The component.
        component: usize,
    },
}

impl Decoder {
    /// Of a channel, onto images of `onto` = (height, width); `levels` are those of its coordinates, 1 without them.
    pub fn new(
        channel: &Channel,
        transform: &Transform,
        levels: Option<&[f64]>,
        onto: (usize, usize),
    ) -> Result<Self, DecodeError> {
        let DenseMatrix { columns: rank, entries, .. } = &channel.basis;
        let rank = *rank;
        let (height, width) = onto;
        let values = |coordinates: Vec<f64>| {
            if onto == transform.grid() {
                let mut values = coordinates;
                transform.inverse(&mut values);
                return Ok(values);
            }
            let representation = transform.representation().name();
            let impossible = DecodeError::Size { height, width, representation };
            transform.inverse_onto(&coordinates, height, width).ok_or(impossible)
        };
        let lost = |(at, &entry): (usize, &f64)| {
            entry != 0.0 && onto != transform.grid() && !transform.in_block(at / rank, height, width)
        };
        let mut matrix = Vec::with_capacity(rank * height * width);
        for a in 0..rank {
            let level = levels.map_or(1.0, |levels| levels[a]);
            let column = entries.iter().skip(a).step_by(rank).map(|entry| entry * level);
            matrix.extend(values(column.collect())?);
        }
        // After the size itself was found possible.
        if let Some(at) = entries.iter().enumerate().position(lost) {
            let (index, columns) = (at / rank, transform.grid().1);
            let (row, column) = (index / columns, index % columns);
            return Err(DecodeError::Outside { height, width, row, column, component: at % rank });
        }
        let constant = match &channel.mean {
            None => vec![0.0; height * width],
            Some(mean) => {
                let mut code = vec![0.0; rank];
                for (row, mean) in entries.chunks_exact(rank).zip(mean) {
                    code.iter_mut().zip(row).for_each(|(z, entry)| *z += entry * mean);
                }
                let part = |row: &[f64]| row.iter().zip(&code).map(|(entry, z)| entry * z).sum::<f64>();
                let rows = mean.iter().zip(entries.chunks_exact(rank));
                values(rows.map(|(mean, row)| mean - part(row)).collect())?
            }
        };
        Ok(Self { rank, plane: height * width, matrix, constant })
    }
}
