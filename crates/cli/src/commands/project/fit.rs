//! `gambeson project fit`.

use super::{Fittable, LiveFit, method_of};
use crate::Outcome;
use crate::args::FitArguments;
use crate::output::writable;
use crate::progress::say;
use crate::report::decimal::{down, up, up_to_places};
use anyhow::{Context, bail};
use gambeson_checker::InfToTwoBound;
use gambeson_checker::rounding::root_below;
use gambeson_lowrank::projection::certificate::ProjectionCertificate;
use gambeson_lowrank::projection::fit::{Fitted, Target, fit};
use gambeson_lowrank::projection::{Channel, Grid, Origin, Projection};
use gambeson_lowrank::sdp::bracket::BoundParams;
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// What `project fit --json` prints.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FitRecord {
    pub(crate) channels: Vec<ChannelRecord>,
    /// Proven, of all channels together.
    pub(crate) kappa: f64,
    /// Lost of the energy of all channels together.
    pub(crate) error: f64,
    /// √ of the sum of the ranks PCA needs for the channels' errors: the least kappa of a projection that treats each
    /// channel by itself and loses that much of each. Rounded down.
    pub(crate) limit: f64,
    /// kappa / limit.
    pub(crate) ratio: f64,
    pub(crate) method: String,
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
    /// Whether Ctrl-C or the time limit cut it short.
    pub(crate) stopped: bool,
    /// Reading the data and adding up their moments.
    pub(crate) seconds_read: f64,
    pub(crate) seconds_fit: f64,
    pub(crate) projection: Option<PathBuf>,
    pub(crate) certificate: Option<PathBuf>,
}

/// One channel of a [`FitRecord`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ChannelRecord {
    pub(crate) rank: usize,
    /// Proven.
    pub(crate) kappa: f64,
    pub(crate) error: f64,
    /// √ of the rank PCA needs for that error, rounded down.
    pub(crate) limit: f64,
    /// How it was found, for people.
    pub(crate) how: String,
    /// Algorithm 3: the r it chose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) split: Option<usize>,
    /// kappa is no better than √n, which needs no proof.
    pub(crate) trivial: bool,
}

pub(super) fn run(
    arguments: &FitArguments,
    stdout: &mut impl Write,
    threads: usize,
) -> anyhow::Result<Outcome> {
    let target = target(arguments)?;
    let certificate = arguments
        .out
        .as_ref()
        .map(|out| arguments.certificate.clone().unwrap_or_else(|| certificate_beside(out)));
    if let (Some(out), Some(certificate)) = (&arguments.out, &certificate) {
        writable(out)?;
        writable(certificate)?;
        if out == certificate {
            bail!("{}: the projection and its certificate need a file each", out.display());
        }
    }
    let data = Fittable::load(&arguments.data)?;
    let started = Instant::now();
    let method =
        method_of(arguments.method, &arguments.sparse, arguments.rank, arguments.error, &arguments.splits);
    let bound = BoundParams { gap: arguments.gap, threads, ..BoundParams::default() };
    let deadline = arguments.time_limit.and_then(|limit| started.checked_add(limit));
    let mut live = LiveFit::new(deadline);
    let allowed = data.allowed();
    let allowed = allowed.as_ref().map(|allowed| allowed as &dyn Fn(usize) -> bool);
    let mut fitted = Vec::new();
    for (c, energy) in data.energies.iter().enumerate() {
        live.set_prefix(format!("channel {} of {}: ", c + 1, data.energies.len()));
        let result = fit(energy, allowed, target, &method, &bound, &mut live)
            .with_context(|| format!("{}, channel {c}", data.name));
        if result.is_err() {
            live.finish();
        }
        fitted.push(result?);
    }
    live.finish();
    let stopped = live.stopped;
    let mut record = record(&data, &fitted, arguments, stopped, started.elapsed().as_secs_f64());
    if let (Some(out), Some(certificate)) = (&arguments.out, certificate) {
        write(&data, fitted, &record.method, out, &certificate)?;
        (record.projection, record.certificate) = (Some(out.clone()), Some(certificate));
    }
    if arguments.json {
        writeln!(stdout, "{}", serde_json::to_string(&record)?)?;
    } else {
        print(&record, &data.describe(record.centred), stdout)?;
    }
    stdout.flush()?;
    if stopped {
        say("stopped early: the best there was");
    }
    Ok(if stopped { Outcome::FellShort } else { Outcome::Success })
}

fn target(arguments: &FitArguments) -> anyhow::Result<Target> {
    use crate::args::FitMethodName::Algorithm3;
    Ok(match (arguments.rank, arguments.error, arguments.kappa) {
        (Some(_), Some(_), _) if arguments.method != Algorithm3 => {
            bail!("--rank and --error together go with --method algorithm3 only: give one of them")
        }
        (Some(rank), ..) => Target::Rank(rank),
        (None, Some(error), _) => Target::Error(error),
        (None, None, Some(kappa)) => Target::Kappa(kappa),
        (None, None, None) => bail!("give one of --rank, --error and --kappa"),
    })
}

/// P.safetensors → P.cert.json.
pub(super) fn certificate_beside(projection: &Path) -> PathBuf {
    projection.with_extension("cert.json")
}

/// The root of an integer, not above the true one.
pub(super) fn root_down(square: usize) -> f64 {
    root_below(square as u64)
}

fn record(
    data: &Fittable,
    fitted: &[Fitted],
    arguments: &FitArguments,
    stopped: bool,
    seconds_fit: f64,
) -> FitRecord {
    let kappa = InfToTwoBound::of_blocks(fitted.iter().map(|fitted| fitted.certified.square)).value();
    let limit = root_down(fitted.iter().map(|fitted| fitted.limit_rank).sum());
    let total: f64 = data.energies.iter().map(|energy| energy.total).sum();
    let lost: f64 =
        data.energies.iter().zip(fitted).map(|(energy, fitted)| energy.total * fitted.error).sum();
    let n = data.transform.dim() as f64;
    let channel = |fitted: &Fitted| {
        let kappa = fitted.certified.kappa().value();
        ChannelRecord {
            rank: fitted.certified.basis.columns,
            kappa,
            error: fitted.error,
            limit: root_down(fitted.limit_rank),
            how: fitted.how.clone(),
            split: fitted.split,
            trivial: kappa > (1.0 - 1e-5) * n.sqrt(),
        }
    };
    let shape = data.shape;
    FitRecord {
        channels: fitted.iter().map(channel).collect(),
        kappa,
        error: lost / total,
        limit,
        ratio: kappa / limit,
        method: arguments.method.name().to_owned(),
        centred: arguments.data.centre,
        basis: data.transform.representation().name().to_owned(),
        grid: data.grid,
        data: data.name.clone(),
        data_sha256: data.sha256.clone(),
        samples: data.samples,
        shape: [shape.channels, shape.height, shape.width],
        stopped,
        seconds_read: data.seconds,
        seconds_fit,
        projection: None,
        certificate: None,
    }
}

fn write(
    data: &Fittable,
    fitted: Vec<Fitted>,
    method: &str,
    out: &Path,
    certificate: &Path,
) -> anyhow::Result<()> {
    let shape = data.shape;
    let grid = Grid { channels: shape.channels, height: shape.height, width: shape.width };
    let how: Vec<String> = fitted.iter().map(|fitted| fitted.how.clone()).collect();
    let origin = Origin {
        method: format!("{method}: {}", how.join("; ")),
        data: data.name.clone(),
        data_sha256: data.sha256.clone(),
    };
    let (channels, certificates) = fitted
        .into_iter()
        .zip(&data.energies)
        .map(|(fitted, energy)| {
            let channel =
                Channel { basis: fitted.certified.basis, mean: energy.mean.clone(), error: fitted.error };
            (channel, fitted.certified.certificate)
        })
        .unzip();
    let projection = Projection::new(data.transform.representation(), grid, channels, origin)?;
    // An old certificate never stands beside a new projection: the new one comes first.
    ProjectionCertificate::new(&projection, certificates).write(certificate)?;
    projection.write(out)?;
    Ok(())
}

fn print(record: &FitRecord, title: &str, stdout: &mut impl Write) -> anyhow::Result<()> {
    writeln!(stdout, "{title}, method {}", record.method)?;
    writeln!(
        stdout,
        "{:>7} {:>5} {:>10} {:>9} {:>9} {:>7}  found",
        "channel", "rank", "kappa", "error", "limit", "ratio"
    )?;
    let mut line = |name: &str, rank: usize, kappa: f64, error: f64, limit: f64, how: &str| {
        let (kappa_text, error) = (up(kappa, 7), up_to_places(error, 6));
        let (limit_text, ratio) = (down(limit, 6), up_to_places(kappa / limit, 4));
        writeln!(stdout, "{name:>7} {rank:>5} {kappa_text:>10} {error:>9} {limit_text:>9} {ratio:>7}  {how}")
    };
    for (c, channel) in record.channels.iter().enumerate() {
        let how = if channel.trivial {
            format!("{} (no better than the trivial sqrt n)", channel.how)
        } else {
            channel.how.clone()
        };
        line(&c.to_string(), channel.rank, channel.kappa, channel.error, channel.limit, &how)?;
    }
    let rank = record.channels.iter().map(|channel| channel.rank).sum();
    line("all", rank, record.kappa, record.error, record.limit, "")?;
    if let (Some(projection), Some(certificate)) = (&record.projection, &record.certificate) {
        writeln!(stdout, "written to {}, certificate {}", projection.display(), certificate.display())?;
    }
    Ok(())
}
