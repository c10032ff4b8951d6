//! Data as projections see them.

use crate::args::{BasisName, FitDataArguments};
use crate::commands::data::{data_dir, options};
use crate::json::MomentsRecord;
use crate::live_data::LiveData;
use crate::screen::shown;
use anyhow::{Context, bail};
use gambeson_data::dataset::{Dataset, Shape};
use gambeson_data::second_moments::second_moments;
use gambeson_data::source;
use gambeson_lowrank::projection::energy::Energy;
use gambeson_lowrank::projection::representation::{Representation, Transform};
use std::time::Instant;

/// The energy of data in coordinates, channel by channel.
pub(super) struct Fittable {
    /// Name and hash of the data set, whose samples are no longer kept.
    pub(super) name: String,
    pub(super) sha256: String,
    pub(super) samples: usize,
    pub(super) shape: Shape,
    pub(super) transform: Transform,
    pub(super) energies: Vec<Energy>,
    pub(super) grid: Option<usize>,
    pub(super) seconds: f64,
}

impl Fittable {
    pub(super) fn load(arguments: &FitDataArguments) -> anyhow::Result<Self> {
        let started = Instant::now();
        let options = options(&arguments.audio, arguments.split.into(), data_dir()?);
        let data: Dataset = LiveData::watch(|progress| source::load(&arguments.data, &options, progress))?;
        let moments =
            LiveData::watch(|progress| second_moments(&data, progress)).map_err(|error| match error {
                gambeson_data::second_moments::SecondMomentsError::Stopped => {
                    anyhow::Error::from(gambeson_data::error::DataError::Stopped)
                }
                other => anyhow::Error::from(other).context(data.name().to_owned()),
            })?;
        let shape = data.shape();
        let grid = arguments.grid.map(|grid| grid as usize);
        if grid.is_some() && arguments.basis == BasisName::Pixel {
            bail!("--grid selects frequencies: it does not work with --basis pixel");
        }
        let most = if shape.height == 1 { shape.width } else { shape.height.min(shape.width) };
        if let Some(grid) = grid.filter(|&grid| grid > most) {
            bail!("--grid {grid}: {} has only {most} frequencies", data.name());
        }
        let representation = match (arguments.basis, shape.height) {
            (BasisName::Pixel, _) => Representation::Pixel,
            (BasisName::Dct, 1) => Representation::Dct1,
            (BasisName::Dct, _) => Representation::Dct2,
        };
        let transform = Transform::new(representation, shape.height, shape.width)?;
        let energies = moments
            .iter()
            .enumerate()
            .map(|(c, moments)| {
                Energy::new(moments, &transform, arguments.centre)
                    .with_context(|| format!("{}, channel {c}", data.name()))
            })
            .collect::<anyhow::Result<Vec<Energy>>>()?;
        let (name, sha256, samples) = (data.name().to_owned(), data.sha256().to_owned(), data.len());
        let seconds = started.elapsed().as_secs_f64();
        Ok(Self { name, sha256, samples, shape, transform, energies, grid, seconds })
    }

    /// Whether a coordinate may be used; None where all may.
    pub(super) fn allowed(&self) -> Option<impl Fn(usize) -> bool> {
        self.grid.map(|size| move |index: usize| self.transform.in_low_block(index, size))
    }

    pub(super) fn record(&self, centred: bool) -> MomentsRecord {
        MomentsRecord {
            centred,
            basis: self.transform.representation().name().to_owned(),
            grid: self.grid,
            data: self.name.clone(),
            data_sha256: self.sha256.clone(),
            samples: self.samples,
            shape: [self.shape.channels, self.shape.height, self.shape.width],
        }
    }

    pub(super) fn describe(&self, centred: bool) -> String {
        let grid = self.grid.map_or(String::new(), |grid| match self.transform.representation() {
            Representation::Dct1 => format!(", first {grid} frequencies"),
            _ => format!(", low {grid} x {grid} block"),
        });
        format!(
            "{}: {} samples of {}, {}{grid}, {}",
            shown(&self.name),
            self.samples,
            self.shape,
            self.transform.representation().name(),
            if centred { "centred" } else { "not centred" }
        )
    }
}
