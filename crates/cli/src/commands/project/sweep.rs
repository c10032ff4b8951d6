//! `gambeson project sweep`: kappa against error, method by method.

use super::fit::root_down;
use super::{Fittable, LiveFit, method_of};
use crate::Outcome;
use crate::args::{FitMethodName, SweepArguments};
use crate::output::writable;
use crate::progress::say;
use crate::report::decimal::{down, up, up_to_places};
use anyhow::{Context, bail};
use gambeson_lowrank::projection::fit::{Target, fit_channel};
use gambeson_lowrank::projection::method::pca::Spectrum;
use gambeson_lowrank::sdp::bracket::BoundParams;
use serde::Serialize;
use std::io::Write;

/// One point of the frontier.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct SweepPoint {
    pub(crate) method: &'static str,
    /// Asked for.
    pub(crate) budget: f64,
    pub(crate) error: f64,
    pub(crate) rank: usize,
    /// Proven.
    pub(crate) kappa: f64,
    pub(crate) limit: f64,
    pub(crate) how: String,
}

pub(super) fn run(
    arguments: &SweepArguments,
    stdout: &mut impl Write,
    threads: usize,
) -> anyhow::Result<Outcome> {
    if let Some(figure) = &arguments.figure {
        writable(figure)?;
    }
    let data = Fittable::load(&arguments.data)?;
    let Some(energy) = data.energies.get(arguments.channel) else {
        bail!("{} has {} channels, not one numbered {}", data.name, data.energies.len(), arguments.channel);
    };
    let bound = BoundParams { gap: arguments.gap, threads, ..BoundParams::default() };
    let mut live = LiveFit::new(None);
    let allowed = data.allowed();
    let allowed = allowed.as_ref().map(|allowed| allowed as &dyn Fn(usize) -> bool);
    let mut errors = arguments.errors.clone();
    errors.sort_by(f64::total_cmp);
    let mut points: Vec<SweepPoint> = Vec::new();
    for &name in &arguments.methods {
        for &budget in &errors {
            live.set_prefix(format!("{name} at error {budget}: "));
            let method = method_of(name, &arguments.sparse, None, Some(budget), &[]);
            let fitted = fit_channel(energy, allowed, Target::Error(budget), &method, &bound, &mut live)
                .with_context(|| format!("{}, {name}, error {budget}", data.name));
            match fitted {
                Ok(fitted) => points.push(SweepPoint {
                    method: name.name(),
                    budget,
                    error: fitted.error,
                    rank: fitted.certified.basis.columns,
                    kappa: fitted.certified.kappa().value(),
                    limit: root_down(fitted.limit_rank),
                    how: fitted.how,
                }),
                Err(_) if live.stopped => {}
                Err(error) => say(&format!("{error:#}")),
            }
            if live.stopped {
                break;
            }
        }
    }
    live.finish();
    for point in points.iter().filter(|_| arguments.json) {
        writeln!(stdout, "{}", serde_json::to_string(point)?)?;
    }
    if !arguments.json {
        print(&points, &data.describe(arguments.data.centre), arguments.channel, stdout)?;
    }
    stdout.flush()?;
    if let Some(figure) = &arguments.figure {
        let limit = Spectrum::new(energy).errors();
        let title = format!("{}, channel {}", data.name, arguments.channel);
        crate::reproduce::projection::figures::frontier(&points, &limit, &title).write(figure)?;
    }
    let complete = points.len() == errors.len() * arguments.methods.len();
    Ok(if complete { Outcome::Success } else { Outcome::FellShort })
}

fn print(points: &[SweepPoint], title: &str, channel: usize, stdout: &mut impl Write) -> std::io::Result<()> {
    writeln!(stdout, "{title}, channel {channel}")?;
    writeln!(
        stdout,
        "{:<11} {:>8} {:>9} {:>5} {:>10} {:>9} {:>7}  found",
        "method", "budget", "error", "rank", "kappa", "limit", "ratio"
    )?;
    for name in FitMethodName::ALL {
        for point in points.iter().filter(|point| point.method == name.name()) {
            writeln!(
                stdout,
                "{:<11} {:>8} {:>9} {:>5} {:>10} {:>9} {:>7}  {}",
                point.method,
                point.budget,
                up_to_places(point.error, 6),
                point.rank,
                up(point.kappa, 7),
                down(point.limit, 6),
                up_to_places(point.kappa / point.limit, 4),
                point.how
            )?;
        }
    }
    Ok(())
}
