//! The data of `project`: loaded, and as energies that projections are fitted to.

use crate::args::{BasisName, FitDataArguments};
use crate::commands::data::{data_dir, options};
use crate::json::MomentsRecord;
use crate::live_data::LiveData;
use crate::screen::shown;
use anyhow::anyhow;
use gambeson_data::DataError;
use gambeson_data::energies::{Basis, DataEnergies, DataEnergiesError, EnergyParams};
use gambeson_data::source;
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::projection::representation::Representation;
use std::time::Instant;

/// Loads the data and adds up their energies; also the seconds that took.
pub(super) fn load(arguments: &FitDataArguments, memory: MemoryLimit) -> anyhow::Result<(DataEnergies, f64)> {
    let started = Instant::now();
    let options = options(&arguments.audio, arguments.split.into(), data_dir()?, memory);
    let params = EnergyParams {
        basis: match arguments.basis {
            BasisName::Dct => Basis::Dct,
            BasisName::Pixel => Basis::Pixel,
        },
        grid: arguments.grid.map(|grid| grid as usize),
        centre: arguments.centre,
        memory,
    };
    let data = LiveData::watch(|progress| source::load(&arguments.data, &options, progress))?;
    let energies = LiveData::watch(|progress| DataEnergies::new(&data, &params, progress));
    let energies = energies.map_err(|error| match error {
        DataEnergiesError::Stopped => anyhow::Error::from(DataError::Stopped),
        // The parameter has the name of the option.
        DataEnergiesError::PixelGrid | DataEnergiesError::Grid { .. } => anyhow!("--{error}"),
        other => other.into(),
    })?;
    Ok((energies, started.elapsed().as_secs_f64()))
}

/// What results say about data and coordinates.
pub(super) fn record_of(data: &DataEnergies, centred: bool) -> MomentsRecord {
    let shape = data.shape();
    MomentsRecord {
        centred,
        basis: data.transform().representation().name().to_owned(),
        grid: data.grid(),
        data: data.name().to_owned(),
        data_sha256: data.sha256().to_owned(),
        samples: data.samples(),
        shape: [shape.channels, shape.height, shape.width],
    }
}

/// One line on data and coordinates.
pub(super) fn describe(data: &DataEnergies, centred: bool) -> String {
    let representation = data.transform().representation();
    let grid = data.grid().map_or(String::new(), |grid| match representation {
        Representation::Dct1 => format!(", first {grid} frequencies"),
        _ => format!(", low {grid} x {grid} block"),
    });
    format!(
        "{}: {} samples of {}, {}{grid}, {}",
        shown(data.name()),
        data.samples(),
        data.shape(),
        representation.name(),
        if centred { "centred" } else { "not centred" }
    )
}
