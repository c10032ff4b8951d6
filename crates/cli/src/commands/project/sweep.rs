//! `gambeson project sweep`: kappa against error, method by method. Rows are printed as they are found.

use super::energies::{describe, energy_params, load};
use super::live::LiveFit;
use super::method::{in_few_words, sparse_params};
use crate::args::SweepArguments;
use crate::ended::Ended;
use crate::json;
use crate::live_data::LiveData;
use crate::output::Output;
use crate::progress::{above, duration, say};
use crate::report::decimal::{down, up, up_to_places};
use crate::screen::wrapped;
use gambeson::fit::{MomentsRecord, energies};
use gambeson::progress::{SweepPoint, SweepProgress};
use gambeson::project::sweep_channel;
use gambeson::{Context, Event, SweepParams, sweep_figure};
use std::io::Write;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

pub(super) fn run(arguments: &SweepArguments, context: &Context) -> anyhow::Result<Ended> {
    let (data, _) = load(&arguments.data, context)?;
    let params = params(arguments);
    let energies = LiveData::observed(context, |context| energies(context, &data, &params.energy))?;
    let moments = MomentsRecord::new(&energies, arguments.data.centre);
    let rows = Rows {
        data: data.name().to_owned(),
        head: (!arguments.json).then(|| format!("{}, channel {}", describe(&moments), arguments.channel)),
        json: arguments.json,
        failed: Arc::default(),
    };
    let live = LiveFit::new();
    let found = sweep_channel(&rows.observed(&live, context), &energies, &params);
    live.finish();
    rows.failed.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)?;
    let found = found?;
    if let Some(figure) = &arguments.figure.figure {
        sweep_figure(&found).write(figure.paths())?;
    }
    Ok(if found.complete { Ended::AsAsked } else { Ended::FellShort })
}

fn params(arguments: &SweepArguments) -> SweepParams {
    let by_default = if arguments.full { SweepParams::full() } else { SweepParams::default() };
    let methods = arguments.methods.as_ref();
    SweepParams {
        energy: energy_params(&arguments.data),
        channel: arguments.channel,
        errors: arguments.errors.clone().unwrap_or(by_default.errors),
        methods: methods.map_or(by_default.methods, Clone::clone),
        sparse: sparse_params(&arguments.sparse),
        gap: arguments.gap,
        limit: arguments.figure.figure.is_some(),
    }
}

/// What is printed while a sweep is under way.
#[derive(Clone)]
struct Rows {
    /// Name of the data.
    data: String,
    /// The line above the table; none where there is no table.
    head: Option<String>,
    json: bool,
    /// Why a row could not be printed, which ends the sweep.
    failed: Arc<Mutex<Option<anyhow::Error>>>,
}

impl Rows {
    /// A context whose sweep is printed, and seen on the line.
    fn observed(&self, live: &LiveFit, context: &Context) -> Context {
        let (rows, live) = (self.clone(), live.clone());
        context.clone().with_observer(move |event| {
            let printed = match event {
                Event::Fit(progress) => {
                    live.update(progress);
                    Ok(())
                }
                Event::Sweep(progress) => rows.see(progress, &live),
                _ => Ok(()),
            };
            match printed {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    *rows.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                    ControlFlow::Break(())
                }
            }
        })
    }

    fn see(&self, progress: &SweepProgress, live: &LiveFit) -> anyhow::Result<()> {
        match progress {
            SweepProgress::Fit { number, total, method, budget, seconds_left } => {
                if let Some(head) = self.head.as_ref().filter(|_| *number == 1) {
                    above(|| print_head(head))?;
                }
                let left = seconds_left.map_or(String::new(), |left| format!(", {} left", duration(left)));
                live.set_prefix(format!("{number} of {total}{left}: {method} at error {budget}: "));
            }
            SweepProgress::Found(point) => above(|| print_point(point, self.json))?,
            SweepProgress::Failed { method, budget, reason } => {
                say(&format!("{}, {method}, error {budget}: {reason}", self.data));
            }
            _ => {}
        }
        Ok(())
    }
}

fn print_head(title: &str) -> anyhow::Result<()> {
    let mut stdout = Output(std::io::stdout());
    writeln!(stdout, "{}", wrapped(title, 2))?;
    let [method, budget, error, rank] = ["method", "budget", "error", "rank"];
    let [kappa, limit, ratio] = ["kappa", "limit", "ratio"];
    writeln!(
        stdout,
        "{method:<10} {budget:>6} {error:>8} {rank:>4} {kappa:>8} {limit:>7} {ratio:>6}  found"
    )?;
    Ok(stdout.flush()?)
}

/// A row of the table, or a line of JSON.
fn print_point(point: &SweepPoint, json: bool) -> anyhow::Result<()> {
    json::print_or(json, point, &mut Output(std::io::stdout()), |stdout| {
        let row = format!(
            "{:<10} {:>6} {:>8} {:>4} {:>8} {:>7} {:>6}  {}",
            point.method,
            point.budget,
            up_to_places(point.error, 6),
            point.rank,
            up(point.kappa, 6),
            down(point.limit, 6),
            up_to_places(point.kappa / point.limit, 4),
            in_few_words(point.construction, point.rank)
        );
        writeln!(stdout, "{}", wrapped(&row, 57))
    })
}
