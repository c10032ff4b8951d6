//! `gambeson quickstart`: the whole idea on a real classifier. Fit, prove, train, certify, attack, prove again.

mod contender;
mod results;

use crate::args::{CONTENDERS, QuickstartArguments};
use crate::commands::report;
use crate::ended::Ended;
use crate::progress::{catch_interrupts, duration, say};
use crate::report::decimal::up;
use crate::screen::{proven, wrapped};
use anyhow::{Context as _, ensure};
use contender::Contender;
use gambeson::{CertifyParams, Context, Trained, check_projection, open_certified, open_projection};
use gambeson_learn::attack::BallNorm;
use gambeson_smooth::record::Record;
use results::{Comparison, Results};
use std::io::Write;
use std::time::Instant;

const ALGORITHM_1: &str = include_str!("algorithm-1.toml");
const BASELINE: &str = include_str!("baseline.toml");
/// Certified images that are attacked, in each norm.
const ATTACKED: usize = 60;

pub(crate) fn run(
    arguments: &QuickstartArguments,
    stdout: &mut impl Write,
    context: &Context,
) -> anyhow::Result<Ended> {
    let started = Instant::now();
    catch_interrupts("stopping; the same command goes on later (press Ctrl-C again to quit)");
    ensure!(arguments.n > 0, "--n 0: must be at least 1");
    std::fs::create_dir_all(&arguments.out).with_context(|| arguments.out.display().to_string())?;
    let ours = Contender::prepare(CONTENDERS[0], ALGORITHM_1, arguments, context)?;
    let theirs = Contender::prepare(CONTENDERS[1], BASELINE, arguments, context)?;
    let mut tour = Tour { arguments, stdout, context, ours, theirs };

    let kappa = tour.projection()?;
    let Some(trained) = tour.train()? else { return Ok(stopped()) };
    let Some(records) = tour.certify()? else { return Ok(stopped()) };
    let comparison = tour.compare(&records, kappa)?;
    let Some((attacked, broken)) = tour.attack(&records.0)? else { return Ok(stopped()) };
    tour.prove_again()?;

    let run = arguments.out.clone();
    let seconds = started.elapsed().as_secs_f64();
    let results = Results { run, kappa, comparison, attacked, broken, seconds };
    tour.finish(&results, &trained, &records)?;
    Ok(if broken == 0 { Ended::AsAsked } else { Ended::FellShort })
}

/// Both networks, and where the steps are reported.
struct Tour<'a, W> {
    arguments: &'a QuickstartArguments,
    stdout: &'a mut W,
    context: &'a Context,
    ours: Contender,
    theirs: Contender,
}

impl<W: Write> Tour<'_, W> {
    /// 1. The projection, and κ proven from its certificate.
    fn projection(&mut self) -> anyhow::Result<f64> {
        let used = self.ours.setup.projection.as_ref().context("algorithm-1 has no projection")?;
        let certificate = used.certificate.as_ref().context("the projection has no certificate")?;
        let checked = check_projection(self.context, &used.projection, certificate, None)?;
        let kappa = checked.record().kappa.with_context(|| checked.reason.clone().unwrap_or_default())?;
        let (rank, coefficients) = (used.projection.rank(), used.projection.shape().len());
        let data = self.ours.setup.train.name().to_owned();
        self.step(&format!("1. Projection: {rank} of {coefficients} cosine coefficients of {data}."))?;
        let without = (coefficients as f64).sqrt();
        let bound = up(kappa, 7);
        self.step(&format!("   {}: kappa <= {bound}; without a projection {without:.1}", proven()))?;
        Ok(kappa)
    }

    /// 2. and 3. Two networks; `None` if interrupted.
    fn train(&mut self) -> anyhow::Result<Option<(Trained, Trained)>> {
        let Some(first) = self.ours.train()? else { return Ok(None) };
        let (grid, sigma) = (self.ours.setup.codec.output(), self.ours.setup.sigma);
        let spent = duration(first.spent.seconds);
        self.step(&format!(
            "2. Algorithm 1: ResNet-8 on images of {grid}, noise {sigma} in these coordinates, adversarially trained in \
             {spent}"
        ))?;
        let Some(second) = self.theirs.train()? else { return Ok(None) };
        let (shape, spent) = (self.theirs.setup.codec.output(), duration(second.spent.seconds));
        self.step(&format!("3. Baseline: the same on images of {shape} without a projection, in {spent}"))?;
        Ok(Some((first, second)))
    }

    /// The records of both; `None` if interrupted.
    fn certify(&mut self) -> anyhow::Result<Option<(Vec<Record>, Vec<Record>)>> {
        let Some(first) = self.ours.certify(self.arguments)? else { return Ok(None) };
        Ok(self.theirs.certify(self.arguments)?.map(|second| (first, second)))
    }

    /// 4. Certified accuracy.
    fn compare(&mut self, records: &(Vec<Record>, Vec<Record>), kappa: f64) -> anyhow::Result<Comparison> {
        let comparison = Comparison::new(&records.0, &records.1, self.ours.setup.sigma, kappa);
        self.step(&format!(
            "4. Certified accuracy on {} test images, {} draws each, alpha = {}:",
            records.0.len(),
            self.arguments.n,
            CertifyParams::new(self.ours.setup.sigma).draws.alpha
        ))?;
        if !self.arguments.json {
            comparison.print(self.stdout)?;
        }
        Ok(comparison)
    }

    /// 5. Attacks at the certified radii: images attacked in each norm, and how many changed their class.
    ///
    /// `None` if interrupted.
    fn attack(&mut self, records: &[Record]) -> anyhow::Result<Option<([usize; 2], usize)>> {
        let (mut attacked, mut broken) = ([0; 2], 0);
        for (count, norm) in attacked.iter_mut().zip([BallNorm::L2, BallNorm::Linf]) {
            let Some(found) = self.ours.attack(records, norm, ATTACKED)? else { return Ok(None) };
            *count = found.inputs.len();
            broken += found.broken().unwrap_or(0);
        }
        let verdict = if broken == 0 { "none changed its class" } else { "SOME CHANGED THEIR CLASS" };
        let [l2, linf] = attacked;
        self.step(&format!(
            "5. PGD at the certified radii, {l2} images in l2 and {linf} in l_inf: {verdict}"
        ))?;
        Ok(Some((attacked, broken)))
    }

    /// 6. Everything again from the files alone.
    fn prove_again(&mut self) -> anyhow::Result<()> {
        let radii = prove_again(&self.ours, &self.theirs, self.context)?;
        self.step(&format!("6. {} again from the files: kappa, and {radii} radii", proven()))
    }

    /// Writes figure and page, and says where they are.
    fn finish(
        &mut self,
        results: &Results,
        trained: &(Trained, Trained),
        records: &(Vec<Record>, Vec<Record>),
    ) -> anyhow::Result<()> {
        results::draw(&records.0, &records.1, &self.arguments.out)?;
        let runs = [self.ours.folder.clone(), self.theirs.folder.clone()];
        report::page(self.context, &runs, results.page(&self.ours, trained))?;
        if self.arguments.json {
            writeln!(self.stdout, "{}", results.json()?)?;
        } else {
            results.farewell(&self.ours, self.stdout)?;
        }
        Ok(self.stdout.flush()?)
    }

    /// A step of the tour, unless one JSON object is all that is wanted.
    fn step(&mut self, text: &str) -> anyhow::Result<()> {
        if !self.arguments.json {
            writeln!(self.stdout, "{}", wrapped(text, 3))?;
            self.stdout.flush()?;
        }
        Ok(())
    }
}

fn stopped() -> Ended {
    say("stopped; the same command goes on from there");
    Ended::FellShort
}

/// Reads every file again and proves what it claims; how many radii that were.
fn prove_again(ours: &Contender, theirs: &Contender, context: &Context) -> anyhow::Result<usize> {
    let path = ours.projection().context("algorithm-1 has no projection")?;
    let projection = open_projection(context, &path, None)?;
    let (first, second) =
        (open_certified(context, &ours.records())?, open_certified(context, &theirs.records())?);
    for record in &first.records {
        record.run.check_projection(&projection)?;
    }
    ensure!(!first.records.is_empty() && !second.records.is_empty(), "no records");
    let radii = |records: &[Record]| records.iter().filter(|record| record.derived.l2.is_some()).count();
    Ok(radii(&first.records) + radii(&second.records))
}
