//! The data of `project`: loaded, and in words.

use crate::args::FitDataArguments;
use crate::commands::data::params;
use crate::live_data::LiveData;
use crate::screen::shown;
use gambeson::fit::MomentsRecord;
use gambeson::{Context, Dataset, EnergyParams, Shape, open_data};
use std::time::Instant;

/// Reads the data; also the seconds that took.
pub(super) fn load(arguments: &FitDataArguments, context: &Context) -> anyhow::Result<(Dataset, f64)> {
    let started = Instant::now();
    let params = params(&arguments.audio, arguments.split.into());
    let data = LiveData::observed(context, |context| open_data(context, &arguments.data, &params))?;
    Ok((data, started.elapsed().as_secs_f64()))
}

/// The coordinates asked for.
pub(super) fn energy_params(arguments: &FitDataArguments) -> EnergyParams {
    EnergyParams {
        basis: arguments.basis.into(),
        grid: arguments.grid.map(|grid| grid as usize),
        centre: arguments.centre,
        ..EnergyParams::default()
    }
}

/// One line on data and coordinates.
pub(super) fn describe(moments: &MomentsRecord) -> String {
    let grid = moments.grid.map_or(String::new(), |grid| match moments.basis.as_str() {
        "dct1" => format!(", first {grid} frequencies"),
        _ => format!(", low {grid} x {grid} block"),
    });
    let [channels, height, width] = moments.shape;
    format!(
        "{}: {} samples of {}, {}{grid}, {}",
        shown(&moments.data),
        moments.samples,
        Shape { channels, height, width },
        moments.basis,
        if moments.centred { "centred" } else { "not centred" }
    )
}
