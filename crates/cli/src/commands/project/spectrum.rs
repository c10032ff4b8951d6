//! `gambeson project spectrum`: the error of principal components and of coordinates, by rank.

use super::energies::{describe, energy_params, load};
use crate::args::SpectrumArguments;
use crate::ended::Ended;
use crate::json;
use crate::live_data::LiveData;
use crate::report::decimal::up_to_places;
use crate::report::table::Table;
use gambeson::fit::SpectrumRecord;
use gambeson::{Context, spectrum, spectrum_figure};
use std::io::Write;

/// Ranks in the table for people, repeated ten times as large.
const SHOWN: [usize; 3] = [1, 2, 5];

pub(super) fn run(
    arguments: &SpectrumArguments,
    stdout: &mut impl Write,
    context: &Context,
) -> anyhow::Result<Ended> {
    let (data, seconds) = load(&arguments.data, context)?;
    let params = energy_params(&arguments.data);
    let record = LiveData::observed(context, |context| spectrum(context, &data, &params))?;
    let record = SpectrumRecord { seconds_read: record.seconds_read + seconds, ..record };
    json::print_or(arguments.json, &record, stdout, |stdout| {
        write!(stdout, "{}", table(&record, &describe(&record.moments)).terminal())
    })?;
    if let Some(figure) = &arguments.figure.figure {
        spectrum_figure(&record).write(figure.paths())?;
    }
    Ok(Ended::AsAsked)
}

/// 1, 2, 5, 10, … up to n, and n.
fn shown(n: usize) -> Vec<usize> {
    let scales = std::iter::successors(Some(1_usize), |scale| scale.checked_mul(10));
    let round = scales.take_while(|scale| *scale < n).flat_map(|scale| SHOWN.map(|digit| digit * scale));
    round.filter(|rank| *rank < n).chain([n]).collect()
}

fn table(record: &SpectrumRecord, title: &str) -> Table {
    let mut table = Table::new(format!("{title}: fraction of the energy lost"), Vec::new());
    let ranks = shown(record.moments.shape[1] * record.moments.shape[2]);
    table.column("", "rank", &ranks, |rank| rank.to_string());
    for (name, channel) in record.channel_names().iter().zip(&record.channels) {
        table.column(name, "PCA", &ranks, |rank| up_to_places(channel.pca[rank], 6));
        table.column(name, "coordinates", &ranks, |rank| up_to_places(channel.coordinates[rank], 6));
    }
    table
}
