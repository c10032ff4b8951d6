//! `gambeson project fit`: a projection with a proven kappa, and its certificate.

use super::energies::{describe, load, record_of};
use super::live::LiveFit;
use super::method::{in_few_words, method_of};
use crate::args::FitArguments;
use crate::ended::Ended;
use crate::json::{self, ChannelRecord, FitRecord};
use crate::machine::Resources;
use crate::progress::say;
use crate::report::decimal::{down, up, up_to_places};
use crate::screen::{shown_path, wrapped};
use anyhow::{Context, bail};
use gambeson_checker::rounding::root_below;
use gambeson_data::energies::DataEnergies;
use gambeson_lowrank::projection::certificate::certificate_path;
use gambeson_lowrank::projection::fit::{Fitted, FittedProjection, Target, fit_projection};
use gambeson_lowrank::sdp::bracket::BoundParams;
use std::io::Write;
use std::time::Instant;

pub(super) fn run(
    arguments: &FitArguments,
    stdout: &mut impl Write,
    resources: Resources,
) -> anyhow::Result<Ended> {
    let target = target(arguments)?;
    let certificate = arguments
        .out
        .as_ref()
        .map(|out| arguments.certificate.clone().unwrap_or_else(|| certificate_path(out)));
    let (data, seconds_read) = load(&arguments.data, resources.memory)?;
    let started = Instant::now();
    let method =
        method_of(arguments.method, &arguments.sparse, arguments.rank, arguments.error, &arguments.splits);
    let bound = BoundParams { gap: arguments.gap, threads: resources.threads, ..BoundParams::default() };
    let deadline = arguments.time_limit.and_then(|limit| started.checked_add(limit));
    let mut live = LiveFit::new(deadline);
    let fitted = fit_projection(&data.fit_data(), target, &method, &bound, &mut live);
    live.finish();
    let fitted = fitted.with_context(|| data.name().to_owned())?;
    let stopped = live.stopped;
    let mut record =
        record(&data, &fitted, arguments, stopped, (seconds_read, started.elapsed().as_secs_f64()));
    if let (Some(out), Some(certificate)) = (&arguments.out, certificate) {
        fitted.certificate.write_with(&certificate, &fitted.projection, out, resources.memory)?;
        (record.projection, record.certificate) = (Some(out.clone()), Some(certificate));
    }
    if arguments.json {
        writeln!(stdout, "{}", json::line(&record)?)?;
    } else {
        print(&record, &fitted.channels, &describe(&data, record.moments.centred), stdout)?;
    }
    stdout.flush()?;
    if stopped {
        say("stopped early with the best projection so far");
    }
    Ok(if stopped { Ended::FellShort } else { Ended::AsAsked })
}

fn target(arguments: &FitArguments) -> anyhow::Result<Target> {
    use crate::args::FitMethodName::Algorithm3;
    Ok(match (arguments.rank, arguments.error, arguments.kappa) {
        (Some(_), Some(_), _) if arguments.method != Algorithm3 => {
            bail!("--rank and --error together need --method algorithm3; otherwise give one of them")
        }
        (Some(rank), ..) => Target::Rank(rank),
        (None, Some(error), _) => Target::Error(error),
        (None, None, Some(kappa)) => Target::Kappa(kappa),
        (None, None, None) => bail!("give one of --rank, --error and --kappa"),
    })
}

/// The root of an integer, not above the true one.
pub(super) fn root_down(square: usize) -> f64 {
    root_below(square as u64)
}

fn record(
    data: &DataEnergies,
    fitted: &FittedProjection,
    arguments: &FitArguments,
    stopped: bool,
    (seconds_read, seconds_fit): (f64, f64),
) -> FitRecord {
    let kappa = fitted.kappa().value();
    let limit = root_down(fitted.limit_rank());
    let n = data.transform().dim() as f64;
    let channel = |fitted: &Fitted| {
        let kappa = fitted.certified.kappa().value();
        ChannelRecord {
            rank: fitted.certified.basis.columns,
            kappa,
            error: fitted.error,
            limit: root_down(fitted.limit_rank),
            how: fitted.how.to_string(),
            split: fitted.how.split(),
            trivial: kappa > (1.0 - 1e-5) * n.sqrt(),
        }
    };
    FitRecord {
        channels: fitted.channels.iter().map(channel).collect(),
        kappa,
        error: fitted.error,
        limit,
        ratio: kappa / limit,
        method: arguments.method.name().to_owned(),
        moments: record_of(data, arguments.data.centre),
        stopped,
        seconds_read,
        seconds_fit,
        projection: None,
        certificate: None,
    }
}

fn print(record: &FitRecord, fitted: &[Fitted], title: &str, stdout: &mut impl Write) -> anyhow::Result<()> {
    writeln!(stdout, "{}", wrapped(&format!("{title}, method {}", record.method), 2))?;
    writeln!(
        stdout,
        "{:>7} {:>5} {:>10} {:>9} {:>9} {:>7}  found",
        "channel", "rank", "kappa", "error", "limit", "ratio"
    )?;
    let mut line = |name: &str, rank: usize, kappa: f64, error: f64, limit: f64, how: &str| {
        let (kappa_text, error) = (up(kappa, 7), up_to_places(error, 6));
        let (limit_text, ratio) = (down(limit, 6), up_to_places(kappa / limit, 4));
        let row =
            format!("{name:>7} {rank:>5} {kappa_text:>10} {error:>9} {limit_text:>9} {ratio:>7}  {how}");
        writeln!(stdout, "{}", wrapped(row.trim_end(), 54))
    };
    for (c, (channel, fitted)) in record.channels.iter().zip(fitted).enumerate() {
        let mut how = in_few_words(fitted.how, channel.rank);
        if channel.trivial {
            how.push_str(" (no better than sqrt n, which is trivial)");
        }
        line(&c.to_string(), channel.rank, channel.kappa, channel.error, channel.limit, &how)?;
    }
    let rank = record.channels.iter().map(|channel| channel.rank).sum();
    line("all", rank, record.kappa, record.error, record.limit, "")?;
    if let (Some(projection), Some(certificate)) = (&record.projection, &record.certificate) {
        writeln!(
            stdout,
            "projection   {}\ncertificate  {}",
            shown_path(projection),
            shown_path(certificate)
        )?;
    }
    Ok(())
}
