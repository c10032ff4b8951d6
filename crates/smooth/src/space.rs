//! Where noise is added: the input itself, or the r coordinates z = Uᵀu of a projection.
//!
//! **With a projection** (Prop. 2.2 of the paper as code): u are the coordinates of the input in the projection's
//! representation, z = Uᵀu is computed in f64 with a proven bound on its error, and whatever becomes of z + η is part of
//! the classifier: here U(z + η) by a product in f32, back in the values a network was trained on. So the stored U need
//! not be orthonormal, and a mean is no more than a constant that decoding adds: mean − UUᵀmean. An image may be decoded
//! onto a smaller grid if the network works on one and the projection keeps no frequency beyond it.
//!
//! **What the radius is around.** The input as given: the error of a computed cosine transform is proven too, and taken
//! off together with that of z. Radii in ℓ∞ are for changes of u, so for cosine coefficients if that is what u is, not
//! pixels; radii in ℓ2 are the same for both (Prop. B.3).
//!
//! **Inputs** are given as stored: whole numbers of bytes or 16-bit samples, or real numbers, and [`Quantum`] says what their
//! unit means ([`Space::stored_in`]). Where the grid of the noise has the same unit and there is no projection, nothing is
//! done to them, so that bytes and samples lie exactly on it; else they are converted, and the rounding of that is taken
//! off as well.
//!
//! **Perturbed inputs.** A program that is given another input u' computes coordinates with an error of their own, so that
//! a bound on it, for every u' that a radius can be about, is taken off too ([`Space::perturbed_error`]).
//!
//! **Levels.** Noise of a level s_i of its own in each coordinate is noise of level 1 in the coordinates of
//! V = U·Diag(1/s), as rounded: V encodes, κ and σ_max are those of V ([`ProvenProjection`]), and decoding multiplies by s
//! again.

use crate::decoder::{DecodeError, Decoder};
use crate::noise::{Grid, Quantum};
use gambeson_checker::rounding::{add_up, mul_up};
use gambeson_checker::{
    CheckError, Coordinates, CosineTransform, InfToTwoBound, L2Radius, LatentRadius, LinfRadius,
    MOST_DEVIATIONS, NoiseLevel, SpectralBound, encode, encoding_error_of_blocks, encoding_error_of_both,
    encoding_error_of_moved, encoding_error_within, farthest_input, grid_error_everywhere, in_units,
    quotient_error,
};
use gambeson_lowrank::linalg::kernel::Isa;
use gambeson_lowrank::linalg::matrix::DenseMatrix;
use gambeson_lowrank::linalg::panels::Panels;
use gambeson_lowrank::projection::Channel;
use gambeson_lowrank::projection::proven::ProvenProjection;
use gambeson_lowrank::projection::representation::{EmptyGrid, Representation, Transform};
use thiserror::Error;

/// An input was given with a wrong number of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("input {index} has {found} values, but {expected} are needed")]
pub struct WrongLength {
    /// Which input.
    pub index: u64,
    /// Values the space takes.
    pub expected: usize,
    /// Values given.
    pub found: usize,
}

/// The space in which noise is added, with what is proven about the way into it.
#[derive(Clone, Debug)]
pub struct Space {
    kind: Kind,
    /// Of codes that are not those of a projection.
    quantum: Quantum,
    /// Of inputs.
    stored: Quantum,
}

#[derive(Clone, Debug)]
enum Kind {
    Identity { dim: usize },
    Projected(Box<Projected>),
}

#[derive(Clone, Debug)]
struct Projected {
    transform: Transform,
    /// The same with a proven error; not needed for pixels.
    cosines: Option<CosineTransform>,
    channels: Vec<Coder>,
    rank: usize,
    /// Values of one decoded channel.
    plane: usize,
    kappa: InfToTwoBound,
    spectral: SpectralBound,
    /// Hash of the projection.
    sha256: String,
    /// Hash of the noise levels.
    levels_sha256: Option<String>,
}

/// One channel: from u to z and from z to values.
#[derive(Clone, Debug)]
struct Coder {
    /// V, n × r.
    basis: DenseMatrix,
    /// The values of the columns of U·Diag(s), r × plane, and what decoding adds.
    decoder: Panels,
}

/// An input in the coordinates that noise is added to.
#[derive(Clone, Debug, PartialEq)]
pub struct Encoded {
    /// z; without a projection the input itself, in units of its quantum ([`Space::unit`]).
    pub code: Vec<f64>,
    /// Proven: |z − Uᵀu|₂ is at most this.
    pub error: f64,
}

/// Why noise cannot be added there.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SpaceError {
    /// There is no cosine transform with a proven error.
    #[error(transparent)]
    Cosines(#[from] CheckError),
    /// Inputs of the projection have no values.
    #[error(transparent)]
    Grid(#[from] EmptyGrid),
    /// Images of that size cannot be decoded.
    #[error(transparent)]
    Onto(#[from] DecodeError),
}

impl Space {
    /// Noise on the input itself, `dim` numbers.
    pub fn identity(dim: usize) -> Self {
        Self { kind: Kind::Identity { dim }, quantum: Quantum::One, stored: Quantum::One }
    }

    /// The same with a grid in units of a quantum, for inputs whose numbers are in these units too.
    #[must_use]
    pub fn with_quantum(mut self, quantum: Quantum) -> Self {
        (self.quantum, self.stored) = (quantum, quantum);
        self
    }

    /// The same for inputs whose numbers are in other units than those of the grid.
    #[must_use]
    pub fn stored_in(mut self, stored: Quantum) -> Self {
        self.stored = stored;
        self
    }

    /// Values, in units of 1, as the numbers that it takes for inputs; off by a rounding each where the unit of these is no
    /// power of two.
    pub fn numbers(&self, values: &[f64]) -> Vec<f64> {
        values.iter().map(|value| value * self.stored.inverse()).collect()
    }

    /// What a unit of the numbers of inputs means.
    pub fn stored(&self) -> Quantum {
        self.stored
    }

    /// What a unit of codes means: that of the grid without a projection, else 1.
    pub fn unit(&self) -> Quantum {
        if self.is_identity() { self.quantum } else { Quantum::One }
    }

    /// Noise in the coordinates of a projection, of its levels where it has any.
    ///
    /// Images of `onto` = (height, width) are decoded, by default those of the projection.
    pub fn projected(proven: &ProvenProjection, onto: Option<(usize, usize)>) -> Result<Self, SpaceError> {
        let projection = proven.projection();
        let shape = projection.shape();
        let transform = Transform::new(projection.representation(), shape.height, shape.width)?;
        let onto = onto.unwrap_or((shape.height, shape.width));
        let mut levels = proven.levels();
        let channels = projection
            .channels()
            .iter()
            .zip(proven.encoders())
            .map(|(channel, encoder)| {
                let own = levels.map(|all| all.split_at(channel.basis.columns));
                levels = own.map(|(_, rest)| rest);
                Coder::new(channel, encoder, &transform, own.map(|(own, _)| own), onto)
            })
            .collect::<Result<Vec<Coder>, SpaceError>>()?;
        let cosines = match transform.representation() {
            Representation::Pixel => None,
            Representation::Dct1 => Some(CosineTransform::new(1, transform.dim())?),
            Representation::Dct2 => Some(CosineTransform::new(shape.height, shape.width)?),
        };
        let space = Projected {
            transform,
            cosines,
            channels,
            rank: projection.rank(),
            plane: onto.0 * onto.1,
            kappa: proven.kappa(),
            spectral: proven.spectral(),
            sha256: proven.sha256().to_owned(),
            levels_sha256: proven.levels_sha256().map(ToOwned::to_owned),
        };
        let (quantum, stored) = (Quantum::One, Quantum::One);
        Ok(Self { kind: Kind::Projected(Box::new(space)), quantum, stored })
    }

    fn as_projected(&self) -> Option<&Projected> {
        match &self.kind {
            Kind::Identity { .. } => None,
            Kind::Projected(space) => Some(space),
        }
    }

    /// Whether an input has as many values as the space takes.
    pub(crate) fn check_length(&self, index: u64, values: &[f64]) -> Result<(), WrongLength> {
        let (expected, found) = (self.input_dim(), values.len());
        if expected == found { Ok(()) } else { Err(WrongLength { index, expected, found }) }
    }

    /// Numbers per input.
    pub fn input_dim(&self) -> usize {
        match &self.kind {
            Kind::Identity { dim } => *dim,
            Kind::Projected(space) => space.channels.len() * space.transform.dim(),
        }
    }

    /// Numbers that noise is added to: r.
    pub fn rank(&self) -> usize {
        match &self.kind {
            Kind::Identity { dim } => *dim,
            Kind::Projected(space) => space.rank,
        }
    }

    /// Numbers a classifier is given.
    pub fn output_dim(&self) -> usize {
        match &self.kind {
            Kind::Identity { dim } => *dim,
            Kind::Projected(space) => space.channels.len() * space.plane,
        }
    }

    /// κ, proven; none for the identity.
    pub fn kappa(&self) -> Option<InfToTwoBound> {
        self.as_projected().map(|space| space.kappa)
    }

    /// s ≥ σ_max, proven; none for the identity.
    pub fn spectral(&self) -> Option<SpectralBound> {
        self.as_projected().map(|space| space.spectral)
    }

    /// The coordinates u that the projection works in; none for the identity.
    pub fn representation(&self) -> Option<Representation> {
        self.as_projected().map(|space| space.transform.representation())
    }

    /// Hash of the projection, by which records name it; none for the identity.
    pub fn projection_sha256(&self) -> Option<&str> {
        self.as_projected().map(|space| space.sha256.as_str())
    }

    /// Hash of the noise levels, by which records name them; none where one level serves all coordinates.
    pub fn levels_sha256(&self) -> Option<&str> {
        self.as_projected().and_then(|space| space.levels_sha256.as_deref())
    }

    /// What a radius in z means for inputs, in ℓ2 and in ℓ∞. For a projection these are distances in the coordinates of
    /// its representation; the orthonormal cosine transform keeps the first.
    pub fn radii(&self, latent: LatentRadius) -> (L2Radius, LinfRadius) {
        let l2 = latent.to_l2(self.spectral());
        let linf = match self.kappa() {
            Some(kappa) => latent.to_linf(kappa),
            None => l2.to_linf_by_dimension(self.input_dim()),
        };
        (l2, linf)
    }

    /// z of an input, given by its numbers, channel after channel.
    ///
    /// Panics unless there are [`input_dim`](Self::input_dim) of them.
    pub fn encode(&self, input: &[f64]) -> Result<Encoded, CheckError> {
        assert_eq!(input.len(), self.input_dim(), "one input");
        let space = match &self.kind {
            Kind::Identity { .. } => {
                let Coordinates { values: code, error } =
                    in_units(input, self.stored.per_one(), self.quantum.per_one())?;
                return Ok(Encoded { code, error });
            }
            Kind::Projected(space) => space,
        };
        let mut code = Vec::with_capacity(space.rank);
        let mut errors = Vec::with_capacity(space.channels.len());
        for (coder, input) in space.channels.iter().zip(input.chunks_exact(space.transform.dim())) {
            let Coordinates { values, error: divided } = self.values(input)?;
            let Coordinates { values: u, error: moved } = match &space.cosines {
                None => Coordinates { values, error: 0.0 },
                Some(cosines) => cosines.forward(&values)?,
            };
            let DenseMatrix { rows, columns, entries } = &coder.basis;
            let Coordinates { values: mut z, error } = encode(entries, *rows, *columns, &u)?;
            errors.push(encoding_error_of_moved(error, add_up(moved, divided), space.spectral));
            code.append(&mut z);
        }
        Ok(Encoded { code, error: encoding_error_of_blocks(errors) })
    }

    /// Numbers of inputs as values, in units of 1.
    fn values(&self, input: &[f64]) -> Result<Coordinates, CheckError> {
        in_units(input, self.stored.per_one(), Quantum::One.per_one())
    }

    /// Proven: for every input that a radius around this one can be about, whatever numbers it consists of, what noise of
    /// level σ on a grid is added to is no further from its true coordinates than this. Values come as [`numbers`](Self::numbers)
    /// makes them of real ones; those that were bytes or samples to begin with lose less, or nothing.
    ///
    /// Panics unless there are [`input_dim`](Self::input_dim) numbers.
    pub fn perturbed_error(&self, input: &[f64], noise: NoiseLevel, grid: Grid) -> Result<f64, CheckError> {
        assert_eq!(input.len(), self.input_dim(), "one input");
        let stored = mul_up(grid.step_above(), grid_error_everywhere(self.rank()));
        let space = match &self.kind {
            Kind::Identity { .. } => {
                let farthest = mul_up(MOST_DEVIATIONS, noise.value());
                let within = add_up(self.length(input)?, farthest);
                let (_, rounded) = self.rounded(input.len(), within, self.quantum);
                return Ok(add_up(stored, rounded));
            }
            Kind::Projected(space) => space,
        };
        let farthest = farthest_input(input.len(), noise, space.kappa, space.spectral);
        let errors =
            space.channels.iter().zip(input.chunks_exact(space.transform.dim())).map(|(coder, part)| {
                let within = add_up(self.length(part)?, farthest);
                let (within, divided) = self.rounded(part.len(), within, Quantum::One);
                let moved = space.cosines.as_ref().map_or(0.0, |cosines| cosines.error_within(within));
                let DenseMatrix { rows, columns, .. } = coder.basis;
                let error = encoding_error_within(rows, columns, space.spectral, add_up(within, moved));
                Ok(encoding_error_of_moved(error, add_up(moved, divided), space.spectral))
            });
        let errors = errors.collect::<Result<Vec<f64>, CheckError>>()?;
        Ok(encoding_error_of_both(encoding_error_of_blocks(errors), stored))
    }

    /// |x|₂ of the values of an input, rounded up.
    fn length(&self, input: &[f64]) -> Result<f64, CheckError> {
        let Coordinates { values, error } = self.values(input)?;
        Ok(add_up(encoding_error_of_blocks(values.iter().map(|value| value.abs())), error))
    }

    /// What roundings may cost `dim` values of length at most `within` on their way to another unit: a rounding where a
    /// value becomes a number, and one where that is converted. The length that they may have then, and the cost.
    fn rounded(&self, dim: usize, within: f64, to: Quantum) -> (f64, f64) {
        let once = |inexact: bool, within| if inexact { quotient_error(dim, within) } else { 0.0 };
        let number = once(!self.stored.is_dyadic(), within);
        let kept = self.stored == to || self.stored.is_dyadic() && to.is_dyadic();
        let cost = add_up(number, once(!kept, add_up(within, number)));
        (add_up(within, cost), cost)
    }

    /// Whether the classifier is given codes as they are, with nothing to decode.
    pub(crate) fn is_identity(&self) -> bool {
        matches!(self.kind, Kind::Identity { .. })
    }

    /// The values of `rows` codes, row after row.
    pub(crate) fn decode(&self, codes: &[f32], rows: usize, out: &mut [f32]) {
        let space = match &self.kind {
            Kind::Identity { .. } => return out.copy_from_slice(codes),
            Kind::Projected(space) => space,
        };
        let (isa, width) = (Isa::detect(), space.channels.len() * space.plane);
        let mut first = 0;
        for (c, Coder { decoder, .. }) in space.channels.iter().enumerate() {
            decoder.multiply(isa, rows, (&codes[first..], space.rank), (&mut out[c * space.plane..], width));
            first += decoder.depth();
        }
    }
}

impl Coder {
    fn new(
        channel: &Channel,
        encoder: &DenseMatrix,
        transform: &Transform,
        levels: Option<&[f64]>,
        onto: (usize, usize),
    ) -> Result<Self, SpaceError> {
        let Decoder { rank, plane, matrix, constant } = Decoder::new(channel, transform, levels, onto)?;
        #[allow(clippy::cast_possible_truncation)] // a network's numbers are f32
        let decoder = Panels::new(rank, plane, |a, at| matrix[a * plane + at] as f32);
        #[allow(clippy::cast_possible_truncation)]
        let constant: Vec<f32> = constant.into_iter().map(|value| value as f32).collect();
        Ok(Self { basis: encoder.clone(), decoder: decoder.plus(&constant) })
    }
}
