//! The draws themselves: noise, decoding, and the classifier's input map. No other file makes rows with noise.

use super::plan::SmoothingPlan;
use crate::noise::{Centre, Draw, RoundedNoise};

/// What draws are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DrawPurpose {
    /// To choose the class.
    Selection,
    /// To count it.
    Estimation,
}

impl DrawPurpose {
    /// A draw of the series, counting from 0.
    pub(crate) fn draw(self, number: u64) -> Draw {
        match self {
            Self::Selection => Draw::Selection(number),
            Self::Estimation => Draw::Estimation(number),
        }
    }
}

/// An input with its noise.
pub(crate) struct NoisyInput {
    /// What noise is added to.
    pub(crate) centre: Centre,
    pub(crate) noise: RoundedNoise,
}

impl NoisyInput {
    /// The numbers that noise is added to, one row per draw, on the scale of the centre. Sets whether each was decided;
    /// rows that were not mean nothing.
    ///
    /// Panics unless there are as many draws as there is room for.
    pub(crate) fn codes(
        &self,
        draws: impl ExactSizeIterator<Item = Draw>,
        out: &mut [f32],
        decided: &mut [bool],
    ) {
        assert_eq!(draws.len(), decided.len(), "one row per draw");
        let rows = out.chunks_exact_mut(out.len() / decided.len().max(1));
        for ((draw, row), decided) in draws.zip(rows).zip(decided) {
            *decided = self.noise.perturb(draw, &self.centre, row);
        }
    }
}

/// Memory for what rows are made from, used again.
#[derive(Debug, Default)]
pub(crate) struct RowMemory {
    pub(crate) codes: Vec<f32>,
    values: Vec<f32>,
}

impl SmoothingPlan {
    /// The rows of draws as the classifier takes them.
    pub(crate) fn rows(
        &self,
        input: &NoisyInput,
        draws: impl ExactSizeIterator<Item = Draw>,
        RowMemory { codes, values }: &mut RowMemory,
        out: &mut [f32],
        decided: &mut [bool],
    ) {
        let (space, rows) = (self.space(), decided.len());
        if space.is_identity() {
            return input.codes(draws, out, decided);
        }
        let codes = room(codes, rows * space.rank());
        input.codes(draws, codes, decided);
        let Some(map) = &self.classifier().input_map else { return space.decode(codes, rows, out) };
        let width = space.output_dim();
        let values = room(values, rows * width);
        space.decode(codes, rows, values);
        let rows = values.chunks_exact(width).zip(out.chunks_exact_mut(width));
        rows.for_each(|(row, mapped)| map.apply(row, mapped));
    }
}

/// The first numbers of a buffer, which never shrinks: what is in them is not specified.
pub(crate) fn room<T: Clone + Default>(buffer: &mut Vec<T>, length: usize) -> &mut [T] {
    if buffer.len() < length {
        buffer.resize(length, T::default());
    }
    &mut buffer[..length]
}
