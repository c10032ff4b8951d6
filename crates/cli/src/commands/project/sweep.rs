//! `gambeson project sweep`: kappa against error, method by method. Rows are printed as they are found.

use super::energies::{describe, load};
use super::fit::root_down;
use super::frontier::frontier;
use super::live::LiveFit;
use super::method::{in_few_words, method_of};
use crate::args::{FitMethodName, SweepArguments};
use crate::ended::Ended;
use crate::json::{self, SweepPoint};
use crate::machine::Resources;
use crate::progress::{above, duration, say};
use crate::report::decimal::{down, up, up_to_places};
use crate::screen::wrapped;
use anyhow::{Context, bail};
use gambeson_lowrank::projection::fit::{BasisConstruction, Target, fit_channel};
use gambeson_lowrank::projection::method::pca::Spectrum;
use gambeson_lowrank::sdp::bracket::BoundParams;
use std::io::Write;
use std::time::Instant;

/// Errors to ask for by default, and with --full.
const ERRORS: [f64; 4] = [0.02, 0.05, 0.1, 0.2];
const ALL_ERRORS: [f64; 6] = [0.005, 0.01, 0.02, 0.0345, 0.05, 0.1];

pub(super) fn run(
    arguments: &SweepArguments,
    stdout: &mut impl Write,
    resources: Resources,
) -> anyhow::Result<Ended> {
    let (data, _) = load(&arguments.data, resources.memory)?;
    let Some(energy) = data.energies().get(arguments.channel) else {
        let count = data.energies().len();
        bail!("--channel {}: {} has channels 0 to {}", arguments.channel, data.name(), count - 1);
    };
    let bound = BoundParams { gap: arguments.gap, threads: resources.threads, ..BoundParams::default() };
    let mut live = LiveFit::new(None);
    let by_default = if arguments.full { &ALL_ERRORS[..] } else { &ERRORS };
    let mut errors = arguments.errors.clone().unwrap_or_else(|| by_default.to_vec());
    errors.sort_by(|a, b| b.total_cmp(a)); // the largest is found soonest
    let methods = arguments.methods.clone().unwrap_or_else(|| FitMethodName::ALL.to_vec());
    let plan: Vec<(f64, FitMethodName)> =
        errors.iter().flat_map(|&error| methods.iter().map(move |&method| (error, method))).collect();
    if !arguments.json {
        above(|| print_head(&describe(&data, arguments.data.centre), arguments.channel, stdout))?;
    }
    let mut times = Times::default();
    let mut points: Vec<SweepPoint> = Vec::new();
    for (at, &(budget, name)) in plan.iter().enumerate() {
        let left = times.left(&plan[at..]).map_or(String::new(), |left| format!(", {} left", duration(left)));
        live.set_prefix(format!("{} of {}{left}: {name} at error {budget}: ", at + 1, plan.len()));
        let started = Instant::now();
        let method = method_of(name, &arguments.sparse, None, Some(budget), &[]);
        let fitted = fit_channel(energy, data.allowed(), Target::Error(budget), &method, &bound, &mut live)
            .with_context(|| format!("{}, {name}, error {budget}", data.name()));
        match fitted {
            Ok(fitted) => {
                let point = SweepPoint {
                    method: name.name(),
                    budget,
                    error: fitted.error,
                    rank: fitted.certified.basis.columns,
                    kappa: fitted.certified.kappa().value(),
                    limit: root_down(fitted.limit_rank),
                    how: fitted.how.to_string(),
                };
                above(|| print_point(&point, fitted.how, arguments.json, stdout))?;
                points.push(point);
            }
            Err(_) if live.stopped => {}
            Err(error) => say(&format!("{error:#}")),
        }
        if live.stopped {
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
