//! `gambeson project sweep`: kappa against error, method by method. Rows are printed as they are found.

use super::energies::{describe, energy_params, load, named};
use super::frontier::frontier;
use super::live::LiveFit;
use super::method::{in_few_words, method_of};
use crate::args::{FitMethodName, SweepArguments};
use crate::ended::Ended;
use crate::json::{self, SweepPoint};
use crate::live_data::LiveData;
use crate::progress::{above, duration, say};
use crate::report::decimal::{down, up, up_to_places};
use crate::screen::wrapped;
use anyhow::bail;
use gambeson::fit::{MomentsRecord, energies, fit_channel};
use gambeson::{Context, Error, FitParams};
use gambeson_checker::rounding::root_below;
use gambeson_lowrank::projection::fit::{BasisConstruction, Target};
use gambeson_lowrank::projection::method::pca::Spectrum;
use std::io::Write;
use std::time::Instant;

/// Errors to ask for by default, and with --full.
const ERRORS: [f64; 4] = [0.02, 0.05, 0.1, 0.2];
const ALL_ERRORS: [f64; 6] = [0.005, 0.01, 0.02, 0.0345, 0.05, 0.1];

pub(super) fn run(
    arguments: &SweepArguments,
    stdout: &mut impl Write,
    context: &Context,
) -> anyhow::Result<Ended> {
    let (data, _) = load(&arguments.data, context)?;
    let energies = LiveData::observed(context, |context| {
        energies(context, &data, &energy_params(&arguments.data)).map_err(named)
    })?;
    let Some(energy) = energies.energies().get(arguments.channel) else {
        let count = energies.energies().len();
        bail!("--channel {}: {} has channels 0 to {}", arguments.channel, data.name(), count - 1);
    };
    let live = LiveFit::new();
    let observed = live.observed(context);
    let by_default = if arguments.full { &ALL_ERRORS[..] } else { &ERRORS };
    let mut errors = arguments.errors.clone().unwrap_or_else(|| by_default.to_vec());
    errors.sort_by(|a, b| b.total_cmp(a)); // the largest is found soonest
    let methods = arguments.methods.clone().unwrap_or_else(|| FitMethodName::ALL.to_vec());
    let plan: Vec<(f64, FitMethodName)> =
        errors.iter().flat_map(|&error| methods.iter().map(move |&method| (error, method))).collect();
    if !arguments.json {
        let moments = MomentsRecord::new(&energies, arguments.data.centre);
        above(|| print_head(&describe(&moments), arguments.channel, stdout))?;
    }
    let mut times = Times::default();
    let mut points: Vec<SweepPoint> = Vec::new();
    for (at, &(budget, name)) in plan.iter().enumerate() {
        let left = times.left(&plan[at..]).map_or(String::new(), |left| format!(", {} left", duration(left)));
        live.set_prefix(format!("{} of {}{left}: {name} at error {budget}: ", at + 1, plan.len()));
        let started = Instant::now();
        let params = FitParams {
            method: method_of(name, &arguments.sparse, None, Some(budget), &[]),
            gap: arguments.gap,
            ..FitParams::new(Target::Error(budget))
        };
        let stopped = match fit_channel(&observed, &energies, arguments.channel, &params) {
            Ok((fitted, stopped)) => {
                let point = SweepPoint {
                    method: name.name(),
                    budget,
                    error: fitted.error,
                    rank: fitted.certified.basis.columns,
                    kappa: fitted.certified.kappa().value(),
                    limit: root_below(fitted.limit_rank as u64),
                    how: fitted.how.to_string(),
                };
                above(|| print_point(&point, fitted.how, arguments.json, stdout))?;
                points.push(point);
                stopped
            }
            Err(_) if context.is_interrupted() => true,
            Err(Error::FitChannel { reason, .. }) => {
                say(&format!("{}, {name}, error {budget}: {reason}", data.name()));
                false
            }
            Err(error) => return Err(error.into()),
        };
        if stopped {
            break;
        }
        times.0.push((budget, name, started.elapsed().as_secs_f64()));
    }
    live.finish();
    if let Some(figure) = &arguments.figure.figure {
        let limit = Spectrum::new(energy).errors();
        let title = format!("{}, channel {}", data.name(), arguments.channel);
        frontier(&points, &limit, &title).write(figure.paths())?;
    }
    let complete = points.len() == plan.len();
    Ok(if complete { Ended::AsAsked } else { Ended::FellShort })
}

/// Seconds each point took.
#[derive(Default)]
struct Times(Vec<(f64, FitMethodName, f64)>);

impl Times {
    /// How fast the time of a method grows as the error falls, from sweeps of images.
    const GROWTH: f64 = 1.4;

    /// Seconds the points still to come will take: each as long as the last of its method, more for a smaller error. None
    /// until every method was timed once.
    fn left(&self, plan: &[(f64, FitMethodName)]) -> Option<f64> {
        plan.iter()
            .map(|&(error, method)| {
                let (last, _, seconds) = self.0.iter().rev().find(|(_, other, _)| *other == method)?;
                Some(seconds * (last / error).powf(Self::GROWTH))
            })
            .sum()
    }
}

fn print_head(title: &str, channel: usize, stdout: &mut impl Write) -> std::io::Result<()> {
    writeln!(stdout, "{}", wrapped(&format!("{title}, channel {channel}"), 2))?;
    let [method, budget, error, rank] = ["method", "budget", "error", "rank"];
    let [kappa, limit, ratio] = ["kappa", "limit", "ratio"];
    writeln!(
        stdout,
        "{method:<10} {budget:>6} {error:>8} {rank:>4} {kappa:>8} {limit:>7} {ratio:>6}  found"
    )?;
    stdout.flush()
}

/// A row of the table, or a line of JSON.
fn print_point(
    point: &SweepPoint,
    how: BasisConstruction,
    json: bool,
    stdout: &mut impl Write,
) -> anyhow::Result<()> {
    if json {
        writeln!(stdout, "{}", json::line(point)?)?;
    } else {
        let row = format!(
            "{:<10} {:>6} {:>8} {:>4} {:>8} {:>7} {:>6}  {}",
            point.method,
            point.budget,
            up_to_places(point.error, 6),
            point.rank,
            up(point.kappa, 6),
            down(point.limit, 6),
            up_to_places(point.kappa / point.limit, 4),
            in_few_words(how, point.rank)
        );
        writeln!(stdout, "{}", wrapped(&row, 57))?;
    }
    Ok(stdout.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_known_once_every_method_was_timed() {
        use FitMethodName::{Axis, Pca};
        let plan = [(0.1, Axis), (0.1, Pca), (0.05, Axis), (0.05, Pca)];
        let mut times = Times(vec![(0.1, Axis, 1.0)]);
        assert_eq!(times.left(&plan[1..]), None);
        times.0.push((0.1, Pca, 3.0));
        let left = times.left(&plan[2..]).expect("a time");
        assert!((left - 4.0 * 2_f64.powf(Times::GROWTH)).abs() < 1e-9, "{left}");
        assert_eq!(times.left(&[]), Some(0.0));
    }
}
