//! How a network sees an input: as a code that noise is added to, decoded and normalised. And back: gradients.
//!
//! An input x (values, channel by channel) has the code z: x itself, or z = Uᵀu in the coordinates of a projection. What the
//! network is given is w = D(z + ση) + c, with the decoder D onto the full grid or a smaller one, normalisation included:
//! a linear map, so gradients by w become gradients by z through Dᵀ, and by x through the encoder's transpose.
//!
//! This is the way of [`Space`](gambeson_smooth::space::Space), which certifies, in single precision and without proof, for
//! training and attacks. Where the columns of U are orthonormal, as they are up to rounding in every projection that is
//! fitted here, the ball |δ|₂ ≤ ε around x covers exactly the ball of that radius around z: an attack on z is an attack on x,
//! with r numbers instead of n.

use gambeson_data::dataset::Shape;
use gambeson_lowrank::linalg::kernel::Isa;
use gambeson_lowrank::linalg::panels::Panels;
use gambeson_lowrank::projection::Projection;
use gambeson_lowrank::projection::representation::{EmptyGrid, Transform};
use gambeson_smooth::decoder::{DecodeError, Decoder};
use rayon::prelude::*;
use thiserror::Error;

/// Inputs of one parallel task.
const TOGETHER: usize = 16;

/// Mean and deviation per channel, as [`Network`](crate::weights::network::Network) has them.
type Normalisation = (Vec<f64>, Vec<f64>);

/// From inputs to codes, from codes to rows of a network, and gradients back.
#[derive(Clone, Debug)]
pub struct InputCodec {
    input: Shape,
    /// What the network takes.
    output: Shape,
    kind: Kind,
    isa: Isa,
}

#[derive(Clone, Debug)]
enum Kind {
    /// Codes are values; w = scale·x + shift, per channel.
    Values(Vec<(f32, f32)>),
    Projected(Vec<ChannelMaps>),
}

/// The four linear maps of a channel.
#[derive(Clone, Debug)]
struct ChannelMaps {
    encode: Panels,
    decode: Panels,
    encode_back: Panels,
    decode_back: Panels,
}

/// Why there is no codec.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum InputCodecError {
    /// Not one mean and deviation per channel, or one that is none.
    #[error("normalisation needs a finite mean and a deviation above 0 for each of {channels} channels")]
    Normalisation {
        /// Channels of the input.
        channels: usize,
    },
    /// Inputs without values.
    #[error(transparent)]
    Grid(#[from] EmptyGrid),
    /// Images of that size cannot be decoded.
    #[error(transparent)]
    Decode(#[from] DecodeError),
}

impl InputCodec {
    /// Codes are the values themselves.
    pub fn values(input: Shape, normalisation: Option<&Normalisation>) -> Result<Self, InputCodecError> {
        #[allow(clippy::cast_possible_truncation)] // a network's numbers are f32
        let map = |(mean, std): (f64, f64)| ((1.0 / std) as f32, (-mean / std) as f32);
        let kind = Kind::Values(channels(normalisation, input.channels)?.into_iter().map(map).collect());
        Ok(Self { input, output: input, kind, isa: Isa::detect() })
    }

    /// Codes are the coordinates of a projection; images of `onto` = (height, width) are decoded from them.
    pub fn projected(
        projection: &Projection,
        onto: (usize, usize),
        normalisation: Option<&Normalisation>,
    ) -> Result<Self, InputCodecError> {
        let input = projection.shape();
        let normalisation = channels(normalisation, input.channels)?;
        let transform = Transform::new(projection.representation(), input.height, input.width)?;
        let channels = projection.channels().iter().zip(normalisation).map(|(channel, (mean, std))| {
            let full = Decoder::new(channel, &transform, None, transform.grid())?;
            let small = Decoder::new(channel, &transform, None, onto)?;
            #[allow(clippy::cast_possible_truncation)]
            let maps = {
                let (n, plane, rank) = (full.plane, small.plane, full.rank);
                let encode = |value: usize, a: usize| full.matrix[a * n + value] as f32;
                let decode = |a: usize, at: usize| (small.matrix[a * plane + at] / std) as f32;
                let constant: Vec<f32> =
                    small.constant.iter().map(|value| ((value - mean) / std) as f32).collect();
                ChannelMaps {
                    encode: Panels::new(n, rank, encode),
                    decode: Panels::new(rank, plane, decode).plus(&constant),
                    encode_back: Panels::new(rank, n, |a, value| encode(value, a)),
                    decode_back: Panels::new(plane, rank, |at, a| decode(a, at)),
                }
            };
            Ok(maps)
        });
        let channels = channels.collect::<Result<Vec<ChannelMaps>, InputCodecError>>()?;
        let output = Shape { height: onto.0, width: onto.1, ..input };
        Ok(Self { input, output, kind: Kind::Projected(channels), isa: Isa::detect() })
    }

    /// Shape of an input.
    pub fn input(&self) -> Shape {
        self.input
    }

    /// Shape of what the network takes.
    pub fn output(&self) -> Shape {
        self.output
    }

    /// Numbers of a code: r, or those of an input.
    pub fn rank(&self) -> usize {
        match &self.kind {
            Kind::Values(_) => self.input.len(),
            Kind::Projected(channels) => channels.iter().map(|maps| maps.decode.depth()).sum(),
        }
    }

    /// Whether codes are the values themselves.
    pub fn is_values(&self) -> bool {
        matches!(self.kind, Kind::Values(_))
    }

    /// Codes of inputs, or of differences of inputs: the map is linear.
    ///
    /// Panics, like all maps here, unless both sides hold as many whole rows.
    pub fn encode(&self, inputs: &[f32], codes: &mut [f32]) {
        match &self.kind {
            Kind::Values(_) => codes.copy_from_slice(inputs),
            Kind::Projected(channels) => self.multiply(channels, |maps| &maps.encode, inputs, codes),
        }
    }

    /// From codes to what the network is given.
    pub fn decode(&self, codes: &[f32], rows: &mut [f32]) {
        match &self.kind {
            Kind::Values(channels) => self.scale(channels, codes, rows),
            Kind::Projected(channels) => self.multiply(channels, |maps| &maps.decode, codes, rows),
        }
    }

    /// From gradients by what the network was given to gradients by codes.
    pub fn decode_back(&self, by_rows: &[f32], by_codes: &mut [f32]) {
        match &self.kind {
            Kind::Values(channels) => {
                let without: Vec<_> = channels.iter().map(|&(scale, _)| (scale, 0.0)).collect();
                self.scale(&without, by_rows, by_codes);
            }
            Kind::Projected(channels) => {
                self.multiply(channels, |maps| &maps.decode_back, by_rows, by_codes);
            }
        }
    }

    /// From gradients by codes to gradients by inputs.
    pub fn encode_back(&self, by_codes: &[f32], by_inputs: &mut [f32]) {
        match &self.kind {
            Kind::Values(_) => by_inputs.copy_from_slice(by_codes),
            Kind::Projected(channels) => {
                self.multiply(channels, |maps| &maps.encode_back, by_codes, by_inputs);
            }
        }
    }

    fn scale(&self, channels: &[(f32, f32)], from: &[f32], to: &mut [f32]) {
        let (each, plane) = (self.input.len(), self.input.height * self.input.width);
        assert!(from.len() == to.len() && from.len().is_multiple_of(each), "whole rows");
        to.par_chunks_mut(each).zip(from.par_chunks(each)).for_each(|(to, from)| {
            let rows = to.chunks_exact_mut(plane).zip(from.chunks_exact(plane));
            for ((to, from), &(scale, shift)) in rows.zip(channels) {
                to.iter_mut().zip(from).for_each(|(to, from)| *to = scale * from + shift);
            }
        });
    }

    /// Block by block: channel c of a row is the c-th piece of it, as long as its map takes.
    fn multiply(
        &self,
        channels: &[ChannelMaps],
        map: impl Fn(&ChannelMaps) -> &Panels + Sync,
        from: &[f32],
        to: &mut [f32],
    ) {
        let total =
            |length: fn(&Panels) -> usize| channels.iter().map(|maps| length(map(maps))).sum::<usize>();
        let (depth, width) = (total(Panels::depth), total(Panels::width));
        assert!(
            from.len().is_multiple_of(depth) && to.len() == from.len() / depth * width,
            "as many rows on both sides"
        );
        let parts = to.par_chunks_mut(TOGETHER * width).zip(from.par_chunks(TOGETHER * depth));
        parts.for_each(|(to, from)| {
            let (mut first, mut place) = (0, 0);
            for maps in channels {
                let panels = map(maps);
                let count = from.len() / depth;
                panels.multiply(self.isa, count, (&from[first..], depth), (&mut to[place..], width));
                first += panels.depth();
                place += panels.width();
            }
        });
    }
}

/// One mean and one deviation per channel; 0 and 1 without a normalisation.
fn channels(
    normalisation: Option<&Normalisation>,
    channels: usize,
) -> Result<Vec<(f64, f64)>, InputCodecError> {
    let Some((mean, std)) = normalisation else { return Ok(vec![(0.0, 1.0); channels]) };
    let fine = |(mean, std): &(f64, f64)| mean.is_finite() && std.is_finite() && *std > 0.0;
    let both: Vec<(f64, f64)> = mean.iter().copied().zip(std.iter().copied()).collect();
    if mean.len() == channels && std.len() == channels && both.iter().all(fine) {
        return Ok(both);
    }
    Err(InputCodecError::Normalisation { channels })
}
