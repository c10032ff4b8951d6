//! From a data set to what a projection is fitted to: the energy of every channel in the coordinates of a basis.

use crate::dataset::{Dataset, Shape};
use crate::progress::LoadProgress;
use crate::second_moments::{SecondMomentsError, second_moments};
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::observe::Observer;
use gambeson_lowrank::projection::energy::{Energy, EnergyError};
use gambeson_lowrank::projection::fit::FitData;
use gambeson_lowrank::projection::representation::{EmptyGrid, Representation, Transform};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Coordinates that a projection is fitted in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// Coefficients of the cosine transform: of rows and columns for images, of time for audio.
    #[default]
    Dct,
    /// The values themselves.
    Pixel,
}

impl Basis {
    fn representation(self, shape: Shape) -> Representation {
        match (self, shape.height) {
            (Self::Pixel, _) => Representation::Pixel,
            (Self::Dct, 1) => Representation::Dct1,
            (Self::Dct, _) => Representation::Dct2,
        }
    }
}

/// Which energies to compute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EnergyParams {
    /// The coordinates.
    pub basis: Basis,
    /// Only the lowest `grid` × `grid` frequencies may be used (audio: the first `grid`); without it, all. Needs
    /// [`Basis::Dct`].
    pub grid: Option<usize>,
    /// Whether the mean is subtracted first.
    pub centre: bool,
    /// What the sums may take in memory. By default there is no limit.
    pub memory: MemoryLimit,
}

/// The energy of a data set, channel by channel. The samples themselves are not kept.
pub struct DataEnergies {
    name: String,
    sha256: String,
    samples: usize,
    shape: Shape,
    grid: Option<usize>,
    transform: Transform,
    energies: Vec<Energy>,
    allowed: Option<Box<dyn Fn(usize) -> bool + Send + Sync>>,
}

/// Why a data set has no such energies.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DataEnergiesError {
    /// Pixels have no frequencies.
    #[error("grid selects frequencies: it does not work with basis pixel")]
    PixelGrid,
    /// More frequencies than there are.
    #[error("grid {grid}: {data} has only {frequencies} frequencies")]
    Grid {
        /// Name of the data.
        data: String,
        /// The grid asked for.
        grid: usize,
        /// Frequencies along the shorter side.
        frequencies: usize,
    },
    /// Samples without values.
    #[error(transparent)]
    Transform(#[from] EmptyGrid),
    /// The observer asked to stop.
    #[error("stopped")]
    Stopped,
    /// The values have no second moments.
    #[error("{data}: {reason}")]
    Moments {
        /// Name of the data.
        data: String,
        /// Why not.
        reason: SecondMomentsError,
    },
    /// A channel that no projection can be fitted to.
    #[error("{data}, channel {channel}: {reason}")]
    Energy {
        /// Name of the data.
        data: String,
        /// Counting from 0.
        channel: usize,
        /// Why not.
        reason: EnergyError,
    },
}

impl DataEnergies {
    /// Adds up the second moments of all samples and transforms them.
    pub fn new(
        data: &Dataset,
        params: &EnergyParams,
        observer: &mut dyn Observer<LoadProgress>,
    ) -> Result<Self, DataEnergiesError> {
        let (name, shape) = (data.name().to_owned(), data.shape());
        if let Some(grid) = params.grid {
            if params.basis == Basis::Pixel {
                return Err(DataEnergiesError::PixelGrid);
            }
            let frequencies = if shape.height == 1 { shape.width } else { shape.height.min(shape.width) };
            if grid > frequencies {
                return Err(DataEnergiesError::Grid { data: name, grid, frequencies });
            }
        }
        let transform = Transform::new(params.basis.representation(shape), shape.height, shape.width)?;
        let moments = second_moments(data, params.memory, observer).map_err(|reason| match reason {
            SecondMomentsError::Stopped => DataEnergiesError::Stopped,
            reason => DataEnergiesError::Moments { data: name.clone(), reason },
        })?;
        let energy = |(channel, moments)| {
            Energy::new(moments, &transform, params.centre).map_err(|reason| DataEnergiesError::Energy {
                data: name.clone(),
                channel,
                reason,
            })
        };
        let energies = moments.iter().enumerate().map(energy).collect::<Result<Vec<_>, _>>()?;
        let inside = |grid| (0..transform.dim()).map(|index| transform.in_low_block(index, grid)).collect();
        let allowed = params.grid.map(|grid| {
            let inside: Vec<bool> = inside(grid);
            Box::new(move |index: usize| inside[index]) as Box<dyn Fn(usize) -> bool + Send + Sync>
        });
        let (sha256, samples) = (data.sha256().to_owned(), data.len());
        Ok(Self { name, sha256, samples, shape, grid: params.grid, transform, energies, allowed })
    }

    /// Name of the data set.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Hash of the data set.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// Number of samples.
    pub fn samples(&self) -> usize {
        self.samples
    }

    /// Shape of a sample.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// The grid of frequencies that may be used, if not all.
    pub fn grid(&self) -> Option<usize> {
        self.grid
    }

    /// From values to the coordinates of the energies.
    pub fn transform(&self) -> &Transform {
        &self.transform
    }

    /// One per channel.
    pub fn energies(&self) -> &[Energy] {
        &self.energies
    }

    /// Whether a coordinate may be used; `None` if all may.
    pub fn allowed(&self) -> Option<&dyn Fn(usize) -> bool> {
        self.allowed.as_deref().map(|allowed| allowed as &dyn Fn(usize) -> bool)
    }

    /// What [`fit_projection`](gambeson_lowrank::projection::fit::fit_projection) takes.
    pub fn fit_data(&self) -> FitData<'_> {
        FitData {
            representation: self.transform.representation(),
            shape: self.shape,
            energies: &self.energies,
            allowed: self.allowed(),
            name: &self.name,
            sha256: &self.sha256,
        }
    }
}
