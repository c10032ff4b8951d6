//! `gambeson attack`: adversarial examples, and certified inputs at their certified radii.

mod answers;
mod figure;
mod scene;
mod summary;

use crate::args::{AttackArguments, FigureFiles, MethodName, RadiusNormName};
use crate::ended::Ended;
use crate::json;
use crate::machine::Resources;
use crate::output::writable;
use crate::progress::{catch_interrupts, interrupted, live_line};
use anyhow::{Context, bail, ensure};
use gambeson_learn::attack::inputs::{Adversarial, AttackParams, Done, Victim, attack_inputs};
use gambeson_learn::attack::sparse::sparse_change;
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::file::write_file;
use gambeson_lowrank::matrix_file::npy;
use gambeson_lowrank::observe::Observer;
use scene::Scene;
use std::io::Write;
use std::ops::ControlFlow;
use std::time::Instant;
use summary::Summary;

pub(super) fn run(
    arguments: &AttackArguments,
    stdout: &mut impl Write,
    resources: Resources,
) -> anyhow::Result<Ended> {
    let figures = arguments.figure.figure.iter().flat_map(FigureFiles::paths);
    for path in figures.chain(&arguments.out) {
        writable(path)?;
    }
    check(arguments)?;
    catch_interrupts("stopping (press Ctrl-C again to quit)");
    let started = Instant::now();
    let scene = Scene::load(arguments, resources)?;
    let victims = scene.victims(arguments)?;
    let perturbed = perturb(&scene, arguments, &victims, resources.memory)?;
    if perturbed.len() < victims.len() {
        return Ok(Ended::FellShort);
    }
    let answers = scene.answers(arguments, &victims, &perturbed)?;
    let summary = Summary::new(arguments, &scene, &victims, &perturbed, answers.as_ref(), started.elapsed());
    if let Some(path) = &arguments.out {
        let shape = scene.data.shape();
        #[allow(clippy::cast_possible_truncation)] // what was asked for
        let values: Vec<f32> =
            perturbed.iter().flat_map(|adversarial| &adversarial.values).map(|&x| x as f32).collect();
        let sizes = [perturbed.len(), shape.channels, shape.height, shape.width];
        write_file(path, &npy::to_bytes(&sizes, &values)).with_context(|| path.display().to_string())?;
    }
    if let Some(files) = &arguments.figure.figure {
        figure::draw(&summary, scene.data.shape()).draw().write(files.paths())?;
    }
    if arguments.json {
        writeln!(stdout, "{}", json::line(&summary)?)?;
    } else {
        summary.print(arguments, &scene, stdout)?;
    }
    stdout.flush()?;
    Ok(if summary.broken.is_some_and(|broken| broken > 0) { Ended::FellShort } else { Ended::AsAsked })
}

/// What the command line alone tells.
fn check(arguments: &AttackArguments) -> anyhow::Result<()> {
    let sparse = arguments.method == MethodName::Sparse;
    match (sparse, arguments.sparsity) {
        (true, None) => bail!("--method sparse needs --sparsity, the number of coefficients"),
        (true, Some(0)) => bail!("--sparsity 0: must be at least 1"),
        (false, Some(_)) => bail!("--sparsity goes with --method sparse"),
        _ => {}
    }
    ensure!(arguments.model.is_some() || sparse, "--model: only --method sparse needs none");
    let pgd = arguments.method == MethodName::Pgd;
    ensure!(pgd || arguments.certified.is_none(), "--certified goes with --method pgd");
    ensure!(
        arguments.method != MethodName::Fgsm || arguments.norm == RadiusNormName::Linf,
        "--method fgsm is in l_inf: give --norm linf"
    );
    ensure!(
        arguments.certified.is_none() || arguments.basis.is_none(),
        "--basis: certified radii in l_inf are of the projection's own coordinates; leave it out"
    );
    if let Some(epsilon) = arguments.epsilon {
        ensure!(epsilon > 0.0 && epsilon.is_finite(), "--epsilon {epsilon}: must be a finite number above 0");
    }
    if let Some(sigma) = arguments.sigma {
        ensure!(sigma > 0.0 && sigma.is_finite(), "--sigma {sigma}: must be a finite number above 0");
    }
    ensure!(arguments.pictures != Some(0), "--pictures 0: must be at least 1");
    Ok(())
}

/// The live line while inputs are attacked.
struct Live(indicatif::ProgressBar);

impl Observer<Done> for Live {
    fn observe(&mut self, done: &Done) -> ControlFlow<()> {
        self.0.inc(done.inputs as u64);
        if interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// The perturbed inputs, in order; fewer if interrupted.
fn perturb(
    scene: &Scene,
    arguments: &AttackArguments,
    victims: &[Victim],
    memory: MemoryLimit,
) -> anyhow::Result<Vec<Adversarial>> {
    if let (MethodName::Sparse, Some(k)) = (arguments.method, arguments.sparsity) {
        let one = |victim: &Victim| {
            let found = sparse_change(scene.data.shape(), k, victim.epsilon, arguments.seed, victim.index)?;
            let values = victim.values.iter().zip(&found.change).map(|(x, d)| x + d).collect();
            Ok(Adversarial { index: victim.index, values, length: found.amplitude, largest: victim.epsilon })
        };
        return victims.iter().map(one).collect();
    }
    let Some(model) = &scene.model else { bail!("--model is missing") };
    let params = AttackParams {
        pgd: scene.climb(arguments),
        frame: scene.frame(arguments)?,
        sigma: arguments.sigma.unwrap_or(0.0),
        draws: if arguments.sigma.is_some() { arguments.draws } else { 1 },
        seed: arguments.seed,
        memory,
    };
    let bar = live_line(Some(victims.len() as u64), "{spinner} {elapsed} [{bar:20}] {pos} of {len} attacked");
    let mut live = Live(bar);
    let found = attack_inputs(&model.network, &model.view, &params, victims, &mut live);
    live.0.finish_and_clear();
    Ok(found?)
}
