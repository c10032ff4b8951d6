//! The coordinates in which a ball is meant.
//!
//! A perturbation d changes the code of an input by a linear map, z + L·d, and a gradient by z becomes one by d through Lᵀ:
//!
//! | frame | d is a change of | L |
//! |---|---|---|
//! | code | z itself | identity |
//! | values | the input's values | the encoder |
//! | cosines | the cosine coefficients of every channel | the encoder after the inverse transform |
//!
//! In ℓ2 all three are the same where the encoder has orthonormal rows; in ℓ∞ they are three different balls.

use crate::view::View;
use gambeson_lowrank::projection::representation::{EmptyGrid, Representation, Transform};
use rayon::prelude::*;

/// What a perturbation is a change of.
#[derive(Clone, Debug)]
pub enum Frame {
    /// The code.
    Code,
    /// The values of the input.
    Values,
    /// Cosine coefficients of the input.
    Cosines(Box<Transform>),
}

impl Frame {
    /// Cosine coefficients of the inputs of a view: along rows and columns, or along frames of one row.
    pub fn cosines(view: &View) -> Result<Self, EmptyGrid> {
        let (height, width) = (view.input().height, view.input().width);
        let representation = if height == 1 { Representation::Dct1 } else { Representation::Dct2 };
        Ok(Self::Cosines(Box::new(Transform::new(representation, height, width)?)))
    }

    /// Numbers of a perturbation.
    pub fn dim(&self, view: &View) -> usize {
        match self {
            Self::Code => view.rank(),
            Self::Values | Self::Cosines(_) => view.input().len(),
        }
    }

    /// What a perturbation changes of the values of an input, in double precision. Of a code it is not known.
    pub(crate) fn invert(&self, d: &mut [f64]) {
        if let Self::Cosines(transform) = self {
            d.chunks_exact_mut(transform.dim()).for_each(|channel| transform.inverse(channel));
        }
    }

    /// `codes` ← L·d, row by row.
    pub(crate) fn encode(&self, view: &View, d: &[f32], room: &mut Vec<f32>, codes: &mut [f32]) {
        match self {
            Self::Code => codes.copy_from_slice(d),
            Self::Values => view.encode(d, codes),
            Self::Cosines(transform) => {
                room.clear();
                room.extend_from_slice(d);
                transformed(transform, room, Transform::inverse);
                view.encode(room, codes);
            }
        }
    }

    /// `by_d` ← Lᵀ·by_codes, row by row.
    pub(crate) fn encode_back(&self, view: &View, by_codes: &[f32], by_d: &mut [f32]) {
        match self {
            Self::Code => by_d.copy_from_slice(by_codes),
            Self::Values => view.encode_back(by_codes, by_d),
            Self::Cosines(transform) => {
                view.encode_back(by_codes, by_d);
                // The transform is orthogonal: the transpose of its inverse is itself.
                transformed(transform, by_d, Transform::forward);
            }
        }
    }
}

/// Every plane of rows of f32 by a transform in f64.
fn transformed(transform: &Transform, planes: &mut [f32], along: fn(&Transform, &mut [f64])) {
    planes.par_chunks_mut(transform.dim()).for_each(|plane| {
        let mut values: Vec<f64> = plane.iter().map(|&x| f64::from(x)).collect();
        along(transform, &mut values);
        #[allow(clippy::cast_possible_truncation)] // perturbations are f32
        plane.iter_mut().zip(values).for_each(|(out, value)| *out = value as f32);
    });
}
