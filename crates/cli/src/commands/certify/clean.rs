//! `gambeson predict --clean`: what the network answers without noise.

use super::setup::Setup;
use crate::args::SmoothArguments;
use crate::ended::Ended;
use crate::json;
use crate::machine::Resources;
use crate::progress::{interrupted, live_line, say};
use crate::screen::wrapped;
use gambeson_learn::runtime::Runtime;
use gambeson_smooth::clean::{Classified, classify_inputs};
use indicatif::ProgressBar;
use serde::Serialize;
use std::io::Write;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// What `predict --clean --json` prints.
#[derive(Serialize)]
struct Summary {
    /// Inputs asked about.
    images: usize,
    /// Answers that are the label; null without labels.
    correct: Option<usize>,
    /// Their share of all inputs.
    accuracy: Option<f64>,
    /// Inputs by the class answered; those without a class are in none.
    answers: Vec<usize>,
    /// What computed the network; null for toys.
    runtime: Option<&'static str>,
    seconds: f64,
    /// Inputs per second.
    rate: f64,
}

struct Live {
    bar: ProgressBar,
    started: Instant,
    limit: Option<Duration>,
}

impl Live {
    fn observe(&self, inputs: usize) -> ControlFlow<()> {
        self.bar.inc(inputs as u64);
        let late = self.limit.is_some_and(|limit| self.started.elapsed() >= limit);
        if interrupted() || late { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

pub(super) fn run(
    arguments: &SmoothArguments,
    stdout: &mut impl Write,
    resources: Resources,
) -> anyhow::Result<Ended> {
    let setup = Setup::load(arguments, resources)?;
    let indices: Vec<u64> = setup.indices.iter().map(|&index| index as u64).collect();
    let bar = live_line(Some(indices.len() as u64), "{spinner} {elapsed} [{bar:20}] {pos} of {len} inputs");
    let live = Live { bar, started: Instant::now(), limit: arguments.time_limit };
    let values = |index: u64| setup.row(index).values;
    let mut observer = |classified: &Classified| live.observe(classified.inputs);
    let answers = classify_inputs(
        &setup.smoothed.classifier,
        &setup.smoothed.space,
        arguments.batch,
        &indices,
        values,
        &mut observer,
    );
    live.bar.finish_and_clear();
    let Some(answers) = answers? else {
        say("stopped early");
        return Ok(Ended::FellShort);
    };
    let seconds = live.started.elapsed().as_secs_f64();
    let mut by_class = vec![0; gambeson_smooth::classifier::Classifier::classes(&setup.smoothed.classifier)];
    for answer in &answers {
        by_class.get_mut(*answer as usize).into_iter().for_each(|count| *count += 1);
    }
    let correct = setup.labelled().then(|| {
        let both = indices.iter().zip(&answers);
        both.filter(|(index, answer)| setup.row(**index).label == Some(**answer)).count()
    });
    let summary = Summary {
        images: answers.len(),
        correct,
        accuracy: correct.map(|correct| correct as f64 / answers.len() as f64),
        answers: by_class,
        runtime: setup.smoothed.runtime.map(Runtime::name),
        seconds,
        rate: answers.len() as f64 / seconds.max(1e-9),
    };
    json::print_or(arguments.json, &summary, stdout, |stdout| print(&summary, &setup, stdout))?;
    Ok(Ended::AsAsked)
}

fn print(summary: &Summary, setup: &Setup, stdout: &mut impl Write) -> std::io::Result<()> {
    let Summary { images, seconds, rate, .. } = summary;
    writeln!(stdout, "{}", wrapped(&format!("{}, without noise", setup.computed()), 2))?;
    writeln!(stdout, "inputs       {images} in {seconds:.1} s, {rate:.0} per second")?;
    match (summary.correct, summary.accuracy) {
        (Some(correct), Some(accuracy)) => {
            writeln!(stdout, "accuracy     {:.2} % ({correct} of {images})", 100.0 * accuracy)
        }
        _ => writeln!(stdout, "answers      {:?} by class; the data have no labels", summary.answers),
    }
}
