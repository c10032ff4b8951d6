//! What runs over inputs come to, as text for people.

use super::setup::CertifySetup;
use crate::report::decimal::down;
use crate::screen::wrapped;
use gambeson::CertificationPlan;
use gambeson::smoothing::{AnsweredRecord, CertifyRecord, ClassifyRecord, PaceRecord, PredictRecord};
use gambeson_lowrank::projection::representation::Representation;
use gambeson_smooth::analysis::{AccuracyAtRadii, RunAccuracy};
use std::io::{self, Write};

pub(super) fn certified(
    record: &CertifyRecord,
    setup: &CertifySetup,
    stdout: &mut impl Write,
) -> io::Result<()> {
    answered(&record.answered, setup, stdout)?;
    let (l2, linf) = (down(record.median_l2, 4), down(record.median_linf, 4));
    let cosines = setup.model.space.representation().is_some_and(Representation::is_cosine);
    let of = if cosines { " of cosine coefficients" } else { "" };
    writeln!(stdout, "median       l2 radius {l2}, l_inf radius {linf}{of}")?;
    let mean = format!("; {:.0} counted per input", record.mean_estimation);
    pace(&record.pace, record.draws, &mean, stdout)?;
    if record.pace.out.is_some() {
        writeln!(stdout, "plan         {}", record.plan)?;
    }
    accuracy(&record.accuracy, cosines, stdout)
}

pub(super) fn planned(
    plan: &CertificationPlan,
    setup: &CertifySetup,
    stdout: &mut impl Write,
) -> io::Result<()> {
    writeln!(stdout, "{}", wrapped(&setup.describe(), 2))?;
    writeln!(stdout, "inputs       {}", plan.selection.indices().count())?;
    writeln!(stdout, "draws        up to {} per input; none made yet", plan.draws)?;
    writeln!(stdout, "plan         {}", plan.plan)?;
    let Some(out) = &plan.out else { return Ok(()) };
    writeln!(stdout, "records      {}", crate::screen::shown(out))
}

pub(super) fn predicted(
    record: &PredictRecord,
    setup: &CertifySetup,
    stdout: &mut impl Write,
) -> io::Result<()> {
    answered(&record.answered, setup, stdout)?;
    pace(&record.pace, record.draws, "", stdout)?;
    let AnsweredRecord { done, abstained, correct, .. } = record.answered;
    let share = |count: usize| 100.0 * count as f64 / done.max(1) as f64;
    match correct {
        Some(correct) => {
            let share = share(correct);
            writeln!(stdout, "accuracy     {share:.1} % ({correct} of {done}; abstentions count as wrong)")
        }
        None => writeln!(stdout, "answered     {:.1} %; the data have no labels", share(done - abstained)),
    }
}

pub(super) fn classified(
    record: &ClassifyRecord,
    setup: &CertifySetup,
    stdout: &mut impl Write,
) -> io::Result<()> {
    let ClassifyRecord { images, seconds, rate, answers, .. } = record;
    writeln!(stdout, "{}", wrapped(&format!("{}, without noise", setup.computed()), 2))?;
    writeln!(stdout, "inputs       {images} in {seconds:.1} s, {rate:.0} per second")?;
    match (record.correct, record.accuracy) {
        (Some(correct), Some(accuracy)) => {
            writeln!(stdout, "accuracy     {:.2} % ({correct} of {images})", 100.0 * accuracy)
        }
        _ => writeln!(stdout, "answers      {answers:?} by class; the data have no labels"),
    }
}

/// What was asked about what, and how many inputs are done.
fn answered(record: &AnsweredRecord, setup: &CertifySetup, stdout: &mut impl Write) -> io::Result<()> {
    let AnsweredRecord { inputs, done, resumed, abstained, .. } = record;
    let before = if *resumed > 0 { format!(", {resumed} of them before") } else { String::new() };
    writeln!(stdout, "{}", wrapped(&setup.describe(), 2))?;
    writeln!(stdout, "inputs       {done} of {inputs}{before}; {abstained} abstained")
}

/// The draws of this run and a word more on them, and where the records are.
fn pace(record: &PaceRecord, draws: u64, more: &str, stdout: &mut impl Write) -> io::Result<()> {
    let PaceRecord { seconds, rate, out, .. } = record;
    writeln!(stdout, "draws        {draws} in {seconds:.1} s, {rate:.0} per second{more}")?;
    let Some(out) = out else { return Ok(()) };
    writeln!(stdout, "records      {}", crate::screen::shown(out))
}

/// Clean accuracy, and certified accuracy at a few radii. `cosines`: whether ℓ∞ is of cosine coefficients.
fn accuracy(accuracy: &RunAccuracy, cosines: bool, stdout: &mut impl Write) -> io::Result<()> {
    if let Some(clean) = accuracy.clean {
        writeln!(stdout, "clean        accuracy {:.1} % (most frequent class of all draws)", 100.0 * clean)?;
    }
    let share = if accuracy.clean.is_some() { "accuracy" } else { "share" };
    let mut table = |first: &str, norm: &str, AccuracyAtRadii { radii, accuracy }: &AccuracyAtRadii| {
        let cells = |values: Vec<String>| -> String {
            values.iter().map(|cell| format!("{cell:>10}")).collect::<Vec<_>>().concat()
        };
        let radii = cells(radii.iter().map(ToString::to_string).collect());
        let accuracy = cells(accuracy.iter().map(|part| format!("{:.1} %", 100.0 * part)).collect());
        writeln!(stdout, "{first:<12} {norm:<12}{radii}\n{:<12} {share:<12}{accuracy}", "")
    };
    table("certified", "l2 radius", &accuracy.l2)?;
    if let Some(linf) = &accuracy.linf {
        table("", "l_inf radius", linf)?;
        if cosines {
            writeln!(stdout, "{:<12} (l_inf of cosine coefficients)", "")?;
        }
    }
    Ok(())
}
