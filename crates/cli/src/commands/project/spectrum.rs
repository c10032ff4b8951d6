//! `gambeson project spectrum`: the error of principal components, and of coordinates, for every number of them.

use super::Fittable;
use crate::Outcome;
use crate::args::SpectrumArguments;
use crate::report::decimal::up_to_places;
use gambeson_lowrank::projection::energy::Energy;
use gambeson_lowrank::projection::method::coordinates;
use gambeson_lowrank::projection::method::pca::Spectrum;
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::time::Instant;

/// Numbers of components in the table for people, repeated ten times as large.
const SHOWN: [usize; 3] = [1, 2, 5];

/// What `project spectrum --json` prints.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SpectrumRecord {
    pub(crate) channels: Vec<ChannelSpectrum>,
    pub(crate) centred: bool,
    /// pixel, dct1 or dct2.
    pub(crate) basis: String,
    /// Low block of frequencies used, if not all.
    pub(crate) grid: Option<usize>,
    pub(crate) data: String,
    pub(crate) data_sha256: String,
    pub(crate) samples: usize,
    /// channels, height, width.
    pub(crate) shape: [usize; 3],
    /// Reading the data and adding up their moments.
    pub(crate) seconds_read: f64,
    pub(crate) seconds_eigen: f64,
}

/// Part of the energy lost, by rank from 0 to the number of coordinates.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ChannelSpectrum {
    /// By principal components; no orthogonal projection of that rank loses less.
    pub(crate) pca: Vec<f64>,
    /// By the coordinates of largest energy.
    pub(crate) coordinates: Vec<f64>,
}

impl ChannelSpectrum {
    /// Of the coordinates that are allowed; errors count what lies outside.
    fn new(energy: &Energy, allowed: Option<impl Fn(usize) -> bool>) -> Self {
        let restricted = allowed.map(|allowed| energy.restricted(allowed));
        let energy = restricted.as_ref().unwrap_or(energy);
        let cut_off = restricted.as_ref().map_or(0.0, |inner| 1.0 - inner.diagonal().iter().sum::<f64>());
        let pca = Spectrum::new(energy).errors();
        Self {
            pca: pca.into_iter().map(|error| error + cut_off.max(0.0)).collect(),
            coordinates: coordinates::errors(energy, &coordinates::by_energy(energy)),
        }
    }
}

pub(super) fn run(arguments: &SpectrumArguments, stdout: &mut impl Write) -> anyhow::Result<Outcome> {
    let data = Fittable::load(&arguments.data)?;
    let started = Instant::now();
    let channels = data.energies.iter().map(|energy| ChannelSpectrum::new(energy, data.allowed())).collect();
    let shape = data.shape;
    let record = SpectrumRecord {
        channels,
        centred: arguments.data.centre,
        basis: data.transform.representation().name().to_owned(),
        grid: data.grid,
        data: data.name.clone(),
        data_sha256: data.sha256.clone(),
        samples: data.samples,
        shape: [shape.channels, shape.height, shape.width],
        seconds_read: data.seconds,
        seconds_eigen: started.elapsed().as_secs_f64(),
    };
    if arguments.json {
        writeln!(stdout, "{}", serde_json::to_string(&record)?)?;
    } else {
        print(&record, &data.describe(record.centred), stdout)?;
    }
    stdout.flush()?;
    Ok(Outcome::Success)
}

/// 1, 2, 5, 10, … up to n, and n.
fn shown(n: usize) -> Vec<usize> {
    let scales = std::iter::successors(Some(1_usize), |scale| scale.checked_mul(10));
    let round = scales.take_while(|scale| *scale < n).flat_map(|scale| SHOWN.map(|digit| digit * scale));
    round.filter(|rank| *rank < n).chain([n]).collect()
}

fn print(record: &SpectrumRecord, title: &str, stdout: &mut impl Write) -> std::io::Result<()> {
    writeln!(stdout, "{title}: part of the energy lost")?;
    write!(stdout, "{:>6}", "rank")?;
    for c in 0..record.channels.len() {
        write!(stdout, "  {:>10} {:>13}", format!("{c}: pca"), format!("{c}: coord."))?;
    }
    writeln!(stdout)?;
    for rank in shown(record.shape[1] * record.shape[2]) {
        write!(stdout, "{rank:>6}")?;
        for channel in &record.channels {
            let [pca, coordinates] = [&channel.pca, &channel.coordinates].map(|errors| errors[rank]);
            write!(stdout, "  {:>10} {:>13}", up_to_places(pca, 6), up_to_places(coordinates, 6))?;
        }
        writeln!(stdout)?;
    }
    Ok(())
}
