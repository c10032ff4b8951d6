//! `gambeson bound`: solve, prove, print the bracket, write the certificate.

use crate::args::BoundArguments;
use crate::commands::matrix;
use crate::ended::Ended;
use crate::json;
use crate::progress::{LiveBracket, catch_interrupts, duration};
use crate::report::decimal::{up, whole_or_down};
use crate::screen::{shown, shown_path, wrapped};
use gambeson::{Bound, BoundParams, Context};
use gambeson_checker::Domain;
use gambeson_lowrank::sdp::problem::OperatorNorm;
use std::io::Write;
use std::time::Duration;

/// Significant digits in text; JSON has all of them.
const DIGITS: usize = 8;
/// How long a proof goes on after Ctrl-C: a person who waited for a bound rather waits a little longer for a good one.
const GRACE: Duration = Duration::from_secs(10);

pub(crate) fn run(
    arguments: &BoundArguments,
    stdout: &mut impl Write,
    context: &Context,
) -> anyhow::Result<Ended> {
    let matrix = matrix::load(arguments.matrix.input.as_deref(), arguments.matrix.random, context)?;
    let (name, seconds) = (matrix.name.clone(), matrix.seconds);
    let params = BoundParams {
        norm: arguments.norm.into(),
        gram: arguments.matrix.gram,
        domain: arguments.matrix.domain.map(Domain::from),
        method: arguments.method.into(),
        gap: arguments.gap,
        time_limit: arguments.time_limit,
        grace: GRACE,
        iterations: arguments.iterations.map(|iterations| iterations as usize),
        seed: arguments.seed,
        width: arguments.width,
        early_stop: arguments.early_stop,
        accuracy: arguments.accuracy,
        certificate: arguments.certificate.is_some(),
        start: None,
    };
    catch_interrupts("stopping; proving the best bound found so far (press Ctrl-C again to quit)");
    let live = LiveBracket::default();
    let found = gambeson::bound(&live.observed(context), matrix, &params);
    live.finish();
    let found = found?;
    // If the result cannot be printed, its evidence is still written, and the other way round.
    let printed =
        json::print_or(arguments.json, &found, stdout, |stdout| print(&name, seconds, &found, stdout));
    if let (Some(path), Some(certificate)) = (&arguments.certificate, &found.certificate) {
        certificate.write(path)?;
        if !arguments.json {
            writeln!(stdout, "certificate  {}", shown_path(path))?;
        }
    }
    if let Some(path) = &arguments.vertex {
        found.vertex().write(path)?;
        if !arguments.json {
            writeln!(stdout, "vertex       {}", shown_path(path))?;
        }
    }
    printed?;
    stdout.flush()?;
    Ok(if found.fell_short { Ended::FellShort } else { Ended::AsAsked })
}

fn print(name: &str, seconds_read: f64, bound: &Bound, stdout: &mut impl Write) -> std::io::Result<()> {
    let (found, record) = (&bound.bracket, bound.record());
    let what = match record.norm {
        OperatorNorm::Quadratic => "max x'Mx",
        OperatorNorm::InfToOne => "inf->1 norm",
        OperatorNorm::InfToTwo => "inf->2 norm squared",
    };
    let (upper, gap) = (up(found.upper.value(), DIGITS), found.gap());
    writeln!(
        stdout,
        "{}",
        wrapped(
            &format!(
                "matrix       {}, n = {}, {}; ready in {seconds_read:.2} s",
                shown(name),
                record.n,
                record.domain
            ),
            13
        )
    )?;
    writeln!(stdout, "{what}: proven bracket")?;
    writeln!(stdout, "  maximum    {} .. {upper}", whole_or_down(found.lower.value(), DIGITS))?;
    let gap = if gap.is_finite() { up(gap, 3) } else { "unknown".to_owned() };
    let relaxed = whole_or_down(found.sdp_lower.value(), DIGITS);
    writeln!(stdout, "  relaxation {relaxed} .. {upper}   gap {gap}")?;
    if let Some(kappa) = found.upper.kappa() {
        writeln!(stdout, "  kappa      {}", up(kappa.value(), DIGITS))?;
    }
    if record.entry_error > 0.0 {
        let error = up(record.entry_error, 3);
        let text = format!(
            "entries      not all are binary64 numbers: off by at most {error} together, which both ends allow for"
        );
        writeln!(stdout, "{}", wrapped(&text, 13))?;
    }
    if found.trivial {
        writeln!(
            stdout,
            "  This is only the trivial bound n * lambda_max(M) (n for a projection): no\n  weights were better than equal ones."
        )?;
    }
    writeln!(
        stdout,
        "{}",
        wrapped(
            &format!(
                "solver       {}, {} iterations, {} products, {:.2} s; stopped: {}",
                record.method, found.iterations, found.products, found.seconds_solve, record.stop
            ),
            13
        )
    )?;
    writeln!(stdout, "proof        {:.2} s", found.seconds_check)?;
    if let Some(count) = &record.given_up {
        let why = if found.affordable {
            "these prove more than the weights found".to_owned()
        } else {
            let (seconds, bytes) = (found.full_proof.seconds, found.full_proof.bytes as f64);
            format!("the whole proof would take about {} and {} GB", duration(seconds), up(bytes / 1e9, 2))
        };
        let text = format!(
            "given up     {count} entries beside the diagonal, bounded by their absolute values: {why}"
        );
        writeln!(stdout, "{}", wrapped(&text, 13))?;
    }
    match record.peak_memory {
        Some(bytes) => writeln!(stdout, "memory       {} GB at the peak", up(bytes as f64 / 1e9, 3)),
        None => Ok(()),
    }
}
