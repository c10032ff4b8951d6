//! `gambeson project spectrum`: the error of principal components and of coordinates, by rank.

use super::energies::{describe, load, record_of};
use crate::args::SpectrumArguments;
use crate::ended::Ended;
use crate::json::{self, ChannelSpectrum, SpectrumRecord};
use crate::report::decimal::up_to_places;
use crate::report::figure::{Axis, Figure, Panel, Point, Series, Style};
use crate::report::table::Table;
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::projection::energy::Energy;
use gambeson_lowrank::projection::method::coordinates::RankedCoordinates;
use gambeson_lowrank::projection::method::pca::Spectrum;
use std::io::Write;
use std::time::Instant;

/// Ranks in the table for people, repeated ten times as large.
const SHOWN: [usize; 3] = [1, 2, 5];

/// Of the coordinates that are allowed; errors include what lies outside.
fn channel_spectrum(energy: &Energy, allowed: Option<&dyn Fn(usize) -> bool>) -> ChannelSpectrum {
    let restricted = allowed.map(|allowed| energy.restricted(allowed));
    let energy = restricted.as_ref().unwrap_or(energy);
    let cut_off = restricted.as_ref().map_or(0.0, |inner| 1.0 - inner.diagonal().iter().sum::<f64>());
    let pca = Spectrum::new(energy).errors();
    ChannelSpectrum {
        pca: pca.into_iter().map(|error| error + cut_off.max(0.0)).collect(),
        coordinates: RankedCoordinates::of(energy).errors,
    }
}

pub(super) fn run(
    arguments: &SpectrumArguments,
    stdout: &mut impl Write,
    memory: MemoryLimit,
) -> anyhow::Result<Ended> {
    let (data, seconds_read) = load(&arguments.data, memory)?;
    let started = Instant::now();
    let channels = data.energies().iter().map(|energy| channel_spectrum(energy, data.allowed())).collect();
    let record = SpectrumRecord {
        channels,
        moments: record_of(&data, arguments.data.centre),
        seconds_read,
        seconds_eigen: started.elapsed().as_secs_f64(),
    };
    if arguments.json {
        writeln!(stdout, "{}", json::line(&record)?)?;
    } else {
        write!(stdout, "{}", table(&record, &describe(&data, record.moments.centred)).terminal())?;
    }
    stdout.flush()?;
    if let Some(figure) = &arguments.figure.figure {
        draw(&record).write(figure.paths())?;
    }
    Ok(Ended::AsAsked)
}

/// Names of the channels: R, G and B for pictures in colour, empty for a single one.
fn names(record: &SpectrumRecord) -> Vec<String> {
    match record.moments.shape {
        [1, ..] => vec![String::new()],
        [3, height, _] if height > 1 => ["R", "G", "B"].map(str::to_owned).into(),
        [channels, ..] => (0..channels).map(|c| format!("channel {c}")).collect(),
    }
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
    for (name, channel) in names(record).iter().zip(&record.channels) {
        table.column(name, "PCA", &ranks, |rank| up_to_places(channel.pca[rank], 6));
        table.column(name, "coordinates", &ranks, |rank| up_to_places(channel.coordinates[rank], 6));
    }
    table
}

fn draw(record: &SpectrumRecord) -> Figure {
    let curve = |errors: &[f64]| -> Vec<Option<Point>> {
        let shown = errors.iter().enumerate().skip(1);
        shown.map(|(rank, error)| Some(Point::quoted(rank as f64, *error, 0.0))).collect()
    };
    let mut series: Vec<Series> = Vec::new();
    for (at, (name, channel)) in names(record).iter().zip(&record.channels).enumerate() {
        let style = Style::channel(name, at);
        let before = if name.is_empty() { String::new() } else { format!("{name}, ") };
        let curves = [("PCA", &channel.pca, style), ("coordinates", &channel.coordinates, style.thin())];
        series.extend(curves.map(|(what, errors, style)| Series {
            label: format!("{before}{what}"),
            points: curve(errors),
            style,
        }));
    }
    let panel = Panel {
        title: record.moments.data.clone(),
        x: Axis::linear("rank"),
        y: Axis::log("fraction of the energy lost"),
        series,
    };
    Figure { panels: vec![panel] }
}
