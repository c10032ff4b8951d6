//! The coordinates in which a ball is meant.
//!
//! A perturbation d changes the code of an input by a linear map, z + L·d, and a gradient by z becomes one by d through Lᵀ:
//!
//! | basis | d is a change of | L |
//! |---|---|---|
//! | code | z itself | identity |
//! | values | the input's values | the encoder |
//! | cosines | the cosine coefficients of every channel | the encoder after the inverse transform |
//!
//! In ℓ2 all three are the same where the encoder has orthonormal rows; in ℓ∞ they are three different balls.

use crate::input_codec::InputCodec;
use gambeson_lowrank::projection::representation::{EmptyGrid, Representation, Transform};
use rayon::prelude::*;

/// What a perturbation is a change of.
#[derive(Clone, Debug)]
pub enum PerturbationBasis {
    /// The code.
    Code,
    /// The values of the input.
    Values,
    /// Cosine coefficients of the input.
    Cosines(Box<Transform>),
}

impl PerturbationBasis {
    /// Cosine coefficients of the inputs of a codec: along rows and columns, or along frames of one row.
    pub fn cosines(codec: &InputCodec) -> Result<Self, EmptyGrid> {
        let (height, width) = (codec.input().height, codec.input().width);
        let representation = if height == 1 { Representation::Dct1 } else { Representation::Dct2 };
        Ok(Self::Cosines(Box::new(Transform::new(representation, height, width)?)))
    }

    /// Numbers of a perturbation.
    pub fn dim(&self, codec: &InputCodec) -> usize {
        match self {
            Self::Code => codec.rank(),
            Self::Values | Self::Cosines(_) => codec.input().len(),
        }
    }

    /// What a perturbation changes of the values of an input, in double precision. Of a code it is not known.
    pub(crate) fn invert(&self, d: &mut [f64]) {
        if let Self::Cosines(transform) = self {
            d.chunks_exact_mut(transform.dim()).for_each(|channel| transform.inverse(channel));
        }
    }

    /// `codes` ← L·d, row by row.
    pub(crate) fn encode(&self, codec: &InputCodec, d: &[f32], room: &mut Vec<f32>, codes: &mut [f32]) {
        match self {
            Self::Code => codes.copy_from_slice(d),
            Self::Values => codec.encode(d, codes),
            Self::Cosines(transform) => {
                room.clear();
                room.extend_from_slice(d);
                transformed(transform, room, Transform::inverse);
                codec.encode(room, codes);
            }
        }
    }

    /// `by_d` ← Lᵀ·by_codes, row by row.
    pub(crate) fn encode_back(&self, codec: &InputCodec, by_codes: &[f32], by_d: &mut [f32]) {
        match self {
            Self::Code => by_d.copy_from_slice(by_codes),
            Self::Values => codec.encode_back(by_codes, by_d),
            Self::Cosines(transform) => {
                codec.encode_back(by_codes, by_d);
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
