//! `gambeson project fit`: a projection with a proven kappa, and its certificate.

use super::energies::{describe, energy_params, load};
use super::live::LiveFit;
use super::method::{in_few_words, method_of};
use crate::args::FitArguments;
use crate::ended::Ended;
use crate::json;
use crate::progress::say;
use crate::report::decimal::{down, up, up_to_places};
use crate::screen::{shown_path, wrapped};
use anyhow::bail;
use gambeson::{Context, Fit, FitParams};
use gambeson_lowrank::projection::fit::Target;
use std::io::Write;

pub(super) fn run(
    arguments: &FitArguments,
    stdout: &mut impl Write,
    context: &Context,
) -> anyhow::Result<Ended> {
    let params = FitParams {
        energy: energy_params(&arguments.data),
        target: target(arguments)?,
        method: method_of(
            arguments.method,
            &arguments.sparse,
            arguments.rank,
            arguments.error,
            &arguments.splits,
        ),
        gap: arguments.gap,
        time_limit: arguments.time_limit,
    };
    let (data, seconds) = load(&arguments.data, context)?;
    let live = LiveFit::new();
    let fitted = gambeson::fit(&live.observed(context), &data, &params);
    live.finish();
    let mut fitted = fitted?;
    fitted.seconds_read += seconds;
    if let Some(out) = &arguments.out {
        fitted.save(context, out, arguments.certificate.as_deref())?;
    }
    json::print_or(arguments.json, &fitted, stdout, |stdout| print(&fitted, stdout))?;
    if fitted.stopped {
        say("stopped early with the best projection so far");
    }
    Ok(if fitted.stopped { Ended::FellShort } else { Ended::AsAsked })
}

fn target(arguments: &FitArguments) -> anyhow::Result<Target> {
    use gambeson::FitMethodKind::Algorithm3;
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

fn print(fit: &Fit, stdout: &mut impl Write) -> std::io::Result<()> {
    let record = fit.record();
    let title = format!("{}, method {}", describe(&record.moments), record.method);
    writeln!(stdout, "{}", wrapped(&title, 2))?;
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
    for (c, (channel, fitted)) in record.channels.iter().zip(&fit.fitted.channels).enumerate() {
        let mut how = in_few_words(fitted.how, channel.rank);
        if channel.trivial {
            how.push_str(" (no better than sqrt n, which is trivial)");
        }
        line(&c.to_string(), channel.rank, channel.kappa, channel.error, channel.limit, &how)?;
    }
    let rank = record.channels.iter().map(|channel| channel.rank).sum();
    line("all", rank, record.kappa, record.error, record.limit, "")?;
    if let Some((projection, certificate)) = &fit.saved {
        writeln!(
            stdout,
            "projection   {}\ncertificate  {}",
            shown_path(projection),
            shown_path(certificate)
        )?;
    }
    Ok(())
}
