//! `gambeson project inspect`: what a projection file is, and what its certificate proves.

use crate::args::InspectArguments;
use crate::ended::Ended;
use crate::json;
use crate::machine::Resources;
use crate::report::decimal::{up, up_to_places};
use crate::screen::{proven, shown, wrapped};
use gambeson_lowrank::projection::Projection;
use gambeson_lowrank::projection::certificate::{ProjectionBound, ProjectionCertificate, certificate_path};
use serde::Serialize;
use std::io::Write;

/// What `project inspect --json` prints.
#[derive(Serialize)]
struct Inspected<'a> {
    basis: &'static str,
    /// channels, height, width.
    shape: [usize; 3],
    rank: usize,
    centred: bool,
    method: &'a str,
    data: &'a str,
    data_sha256: &'a str,
    channels: Vec<InspectedChannel>,
    /// Proven; null without a certificate that proves it.
    kappa: Option<f64>,
    /// Why there is no kappa.
    reason: Option<String>,
}

#[derive(Serialize)]
struct InspectedChannel {
    rank: usize,
    error: f64,
    /// Fraction of the entries of the basis that are not zero.
    density: f64,
    kappa: Option<f64>,
    /// Proven: the largest singular value of the stored basis is at most this.
    spectral: Option<f64>,
}

pub(super) fn run(
    arguments: &InspectArguments,
    stdout: &mut impl Write,
    resources: Resources,
) -> anyhow::Result<Ended> {
    let projection = Projection::read(&arguments.projection, resources.memory)?;
    let path = arguments
        .certificate
        .clone()
        .or_else(|| Some(certificate_path(&arguments.projection)).filter(|path| path.exists()));
    let checked: Result<ProjectionBound, String> = match &path {
        None => Err("no certificate".to_owned()),
        Some(path) => ProjectionCertificate::read_for(&projection, path, resources.memory)?
            .check(&projection, resources.threads)
            .map_err(|rejected| rejected.to_string()),
    };
    let bound = checked.as_ref().ok();
    let shape = projection.shape();
    let channel = |(c, channel): (usize, &gambeson_lowrank::projection::Channel)| {
        let filled = channel.basis.entries.iter().filter(|&&entry| entry != 0.0).count();
        InspectedChannel {
            rank: channel.basis.columns,
            error: channel.error,
            density: filled as f64 / channel.basis.entries.len() as f64,
            kappa: bound.map(|bound| bound.squares[c].sqrt().value()),
            spectral: bound.map(|bound| bound.spectral[c].value()),
        }
    };
    let inspected = Inspected {
        basis: projection.representation().name(),
        shape: [shape.channels, shape.height, shape.width],
        rank: projection.rank(),
        centred: projection.channels().iter().any(|channel| channel.mean.is_some()),
        method: &projection.origin().method,
        data: &projection.origin().data,
        data_sha256: &projection.origin().data_sha256,
        channels: projection.channels().iter().enumerate().map(channel).collect(),
        kappa: bound.map(|bound| bound.kappa.value()),
        reason: checked.as_ref().err().cloned(),
    };
    if arguments.json {
        writeln!(stdout, "{}", json::line(&inspected)?)?;
    } else {
        print(&inspected, stdout)?;
    }
    stdout.flush()?;
    Ok(if path.is_some() && bound.is_none() { Ended::FellShort } else { Ended::AsAsked })
}

fn print(inspected: &Inspected<'_>, stdout: &mut impl Write) -> std::io::Result<()> {
    let [channels, height, width] = inspected.shape;
    let centred = if inspected.centred { "centred" } else { "not centred" };
    writeln!(
        stdout,
        "projection of {channels} x {height} x {width} inputs in {} coordinates, {centred}, rank {}",
        inspected.basis, inspected.rank
    )?;
    // What the file says of itself is shown as such, whatever it says.
    writeln!(stdout, "{}", wrapped(&format!("method  {}", shown(inspected.method)), 8))?;
    writeln!(stdout, "data    {}\nsha256  {}", shown(inspected.data), shown(inspected.data_sha256))?;
    writeln!(stdout, "channel  rank      kappa     error  density  singular values")?;
    for (c, channel) in inspected.channels.iter().enumerate() {
        let bound = |value: Option<f64>, digits| value.map_or("-".to_owned(), |value| up(value, digits));
        writeln!(
            stdout,
            "{c:>7} {:>5} {:>10} {:>9} {:>8.4}  <= {}",
            channel.rank,
            bound(channel.kappa, 7),
            up_to_places(channel.error, 6),
            channel.density,
            bound(channel.spectral, 15),
        )?;
    }
    match (&inspected.kappa, &inspected.reason) {
        (Some(kappa), _) => writeln!(stdout, "{}: kappa <= {}", proven(), up(*kappa, 17)),
        (None, Some(reason)) => {
            writeln!(stdout, "{}", wrapped(&format!("nothing proven: {}", shown(reason)), 2))
        }
        (None, None) => Ok(()),
    }
}
