//! Runs: the same weights on any number of threads and after any number of stops; files that were damaged; bad specs.

use super::{images, prepared, spec};
use crate::support::folder;
use gambeson_learn::net::parameters::ParameterLayout;
use gambeson_learn::train::check::{Conflict, SpecError};
use gambeson_learn::train::checkpoint::{CHECKPOINT, Checkpoint, PREVIOUS};
use gambeson_learn::train::clock::Spent;
use gambeson_learn::train::run::{METRICS, Metrics, NETWORK, SPEC};
use gambeson_learn::train::setup::{PROJECTION, SetupError, TrainSetup};
use gambeson_learn::train::spec::OptimiserSpec;
use gambeson_learn::train::{Outcome, TrainError, TrainProgress, TrainSpec, Trainer, train};
use gambeson_learn::weights::network::Network;
use gambeson_lowrank::MemoryLimit;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

const OFTEN: Duration = Duration::ZERO;
const RARELY: Duration = Duration::from_secs(3600);

/// Everything that is trained here, each with all of its options somewhere.
fn objectives() -> Vec<TrainSpec> {
    let optimiser = "[optimiser]\nepochs = 3\nbatch = 32\nlearning_rate = 0.05\n";
    let cycle = "schedule = { kind = \"one-cycle\", warm_up = 0.2 }\nnesterov = true\n";
    let fit = "[projection]\nfit = { method = \"robust\", rank = 12, grid = 4 }\ngrid = \"native\"\n";
    let pca = "[projection]\nfit = { method = \"pca\", basis = \"pixel\", rank = 20 }\n";
    let noise = "[noise]\nsigma = 0.2\n";
    let lambda = "[noise]\nbase = 0.1\nlambda = 0.5\n";
    let smooth = "epsilon = 0.5\nsteps = 2\ndraws = 2\nwarm_up = 1.0\n";
    [
        format!("[objective]\nkind = \"standard\"\n{optimiser}"),
        format!("[objective]\nkind = \"gaussian\"\n{noise}{optimiser}average = 0.99\n"),
        format!(
            "[objective]\nkind = \"madry\"\nnorm = \"linf\"\nepsilon = 0.09\nsteps = 3\n{optimiser}{cycle}"
        ),
        format!("[objective]\nkind = \"smooth-adv\"\n{smooth}{noise}{optimiser}label_smoothing = 0.1\n"),
        format!("[objective]\nkind = \"algorithm-1\"\n{smooth}{fit}{noise}{optimiser}{cycle}average = 0.9\n"),
        format!("[objective]\nkind = \"algorithm-1\"\nouter = \"soft\"\n{smooth}{pca}{lambda}{optimiser}"),
        format!("[objective]\nkind = \"consistency\"\nlambda = 5.0\n{fit}{noise}{optimiser}{cycle}"),
    ]
    .iter()
    .map(|text| spec(text))
    .collect()
}

fn on_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads").install(work)
}

fn whole(setup: &TrainSetup, folder: &Path) -> Outcome {
    train(setup, folder, RARELY, &mut ()).expect("trained")
}

/// What does not depend on the clock.
fn timeless(metrics: &[Metrics]) -> Vec<Metrics> {
    metrics.iter().map(|epoch| Metrics { spent: Spent::default(), ..epoch.clone() }).collect()
}

#[test]
fn the_same_network_on_any_number_of_threads_and_after_any_stop() {
    for spec in objectives() {
        let setup = prepared(&spec);
        let unbroken = folder();
        let first = on_threads(1, || whole(&setup, unbroken.path()));
        let bytes = std::fs::read(unbroken.path().join(NETWORK)).expect("a network");
        for threads in [2, 3] {
            let other = folder();
            let second = on_threads(threads, || whole(&setup, other.path()));
            assert_eq!(first.network, second.network, "{:?} on {threads} threads", spec.objective);
            assert_eq!(timeless(&first.metrics), timeless(&second.metrics));
        }
        // Stopped after every third step; the last checkpoint is gone once, and once it is broken.
        let broken = folder();
        let mut stops = 0;
        let outcome = loop {
            let mut left = 3;
            let mut observer = |progress: &TrainProgress| {
                left -= i32::from(matches!(progress, TrainProgress::Step { .. }));
                if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            let outcome = train(&setup, broken.path(), OFTEN, &mut observer).expect("trained");
            if outcome.network.is_some() {
                break outcome;
            }
            stops += 1;
            let last = broken.path().join(CHECKPOINT);
            match stops {
                2 => std::fs::remove_file(&last).expect("removed"),
                4 => {
                    let mut bytes = std::fs::read(&last).expect("a checkpoint");
                    let middle = bytes.len() / 2;
                    bytes[middle] ^= 1;
                    std::fs::write(&last, bytes).expect("written");
                }
                _ => {}
            }
        };
        assert!(stops >= 6, "{stops}");
        assert_eq!(outcome.network, first.network, "{:?} resumed", spec.objective);
        assert_eq!(timeless(&outcome.metrics), timeless(&first.metrics));
        assert_eq!(std::fs::read(broken.path().join(NETWORK)).expect("a network"), bytes);
        // A finished run stays what it is.
        assert_eq!(whole(&setup, broken.path()).network, first.network);
    }
}

#[test]
fn training_learns() {
    for spec in objectives() {
        let mut spec = spec;
        spec.optimiser.epochs = 12;
        let setup = prepared(&spec);
        let run = folder();
        let outcome = whole(&setup, run.path());
        let last = outcome.metrics.last().expect("epochs");
        assert_eq!(outcome.metrics.len(), 12);
        assert!(last.loss < 0.8 * outcome.metrics[0].loss, "{:?}: {:?}", spec.objective, outcome.metrics);
        assert!(last.test_accuracy.is_some_and(|part| part > 0.8), "{:?}: {last:?}", spec.objective);
        // The folder says everything.
        let text = std::fs::read_to_string(run.path().join(SPEC)).expect("a spec");
        assert_eq!(TrainSpec::parse(&text, &[]).expect("a spec"), spec);
        let (network, _) = Network::read(&run.path().join(NETWORK), setup.codec.output(), MemoryLimit::NONE)
            .expect("a network");
        assert_eq!(
            (network.training, network.architecture),
            (Some(spec.to_toml()), setup.architecture.clone())
        );
        assert!(text.contains(&format!("# data sha256 {}", setup.train.sha256())), "{text}");
        assert_eq!(network.normalisation.as_ref(), Some(&setup.normalisation));
        assert_eq!(run.path().join(PROJECTION).exists(), spec.projection.is_some());
        let lines = std::fs::read_to_string(run.path().join(METRICS)).expect("metrics");
        let read: Vec<Metrics> =
            lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert_eq!(read, outcome.metrics);
    }
}

#[test]
fn the_level_of_algorithm_1_is_the_papers() {
    let spec = &objectives()[5];
    let setup = prepared(spec);
    // d = 128, r = 40: λ·σ₀·√(d/r).
    assert_eq!(setup.codec.rank(), 40);
    assert!((setup.sigma - 0.5 * 0.1 * (128.0_f64 / 40.0).sqrt()).abs() < 1e-15);
    assert_eq!(setup.codec.output(), super::IMAGE);
    let native = prepared(&objectives()[4]);
    assert_eq!((native.codec.output().height, native.codec.output().width, native.sigma), (4, 4, 0.2));
}

#[test]
fn other_seeds_give_other_networks() {
    let first = objectives().remove(1);
    let second = TrainSpec { seed: first.seed + 1, ..first.clone() };
    let weights = |spec: &TrainSpec| {
        let setup = prepared(spec);
        let mut trainer = Trainer::new(&setup).expect("a trainer");
        trainer.step();
        trainer.state().weights.clone()
    };
    assert_ne!(weights(&first), weights(&second));
}

#[test]
fn damaged_and_foreign_folders_are_refused() {
    let spec = objectives().remove(1);
    let setup = prepared(&spec);
    let run = folder();
    let stopped = &mut |_: &TrainProgress| ControlFlow::Break(());
    for _ in 0..3 {
        train(&setup, run.path(), OFTEN, stopped).expect("stopped");
    }
    let other = TrainSpec { seed: 99, ..spec.clone() };
    let refused = train(&prepared(&other), run.path(), OFTEN, &mut ()).expect_err("another spec");
    assert!(matches!(refused, TrainError::AnotherSpec { .. }), "{refused}");
    // The last one cut: the one before is used, and that is said.
    let last = run.path().join(CHECKPOINT);
    let bytes = std::fs::read(&last).expect("a checkpoint");
    std::fs::write(&last, &bytes[..bytes.len() - 10]).expect("cut");
    let mut said = Vec::new();
    let mut observer = |progress: &TrainProgress| {
        said.push(progress.clone());
        ControlFlow::Break(())
    };
    train(&setup, run.path(), OFTEN, &mut observer).expect("stopped");
    assert!(matches!(said[0], TrainProgress::CheckpointLost { .. }), "{said:?}");
    assert!(matches!(said[1], TrainProgress::Resumed { step: 2 }), "{said:?}");
    // The broken one was replaced, and did not push out the good one before it.
    let places = ParameterLayout::new(&setup.architecture).expect("a network");
    let step = |name: &str| {
        let bytes = std::fs::read(run.path().join(name)).expect("a checkpoint");
        Checkpoint::parse(&bytes, &places, true).expect("whole").progress.step
    };
    assert_eq!((step(CHECKPOINT), step(PREVIOUS)), (3, 2));
    // Other data do not go on with it, though the spec is the same.
    let fewer = TrainSetup::new(&spec, images(230), None, None).expect("a setup");
    let refused = train(&fewer, run.path(), OFTEN, &mut ()).expect_err("other data");
    assert!(matches!(refused, TrainError::AnotherSpec { .. }), "{refused}");
    // Two processes would take each other's checkpoints apart.
    let held = std::fs::File::open(run.path().join("spec.toml")).expect("a spec");
    held.try_lock().expect("a lock");
    let refused = train(&setup, run.path(), OFTEN, &mut ()).expect_err("another process");
    assert!(matches!(refused, TrainError::Locked { .. }), "{refused}");
    drop(held);
    // Files that no spec accounts for are not replaced.
    let foreign = folder();
    std::fs::write(foreign.path().join(NETWORK), b"precious").expect("written");
    let refused = train(&setup, foreign.path(), OFTEN, &mut ()).expect_err("not ours");
    assert!(matches!(refused, TrainError::Foreign { .. }), "{refused}");
    assert_eq!(std::fs::read(foreign.path().join(NETWORK)).expect("as it was"), b"precious");
    // Both gone bad: nothing is overwritten.
    for name in [CHECKPOINT, PREVIOUS] {
        std::fs::write(run.path().join(name), b"rubbish").expect("written");
    }
    let refused = train(&setup, run.path(), OFTEN, &mut ()).expect_err("no checkpoint");
    assert!(matches!(refused, TrainError::Checkpoints { .. }), "{refused}");
    assert_eq!(std::fs::read(&last).expect("as it was"), b"rubbish");
}

#[test]
fn a_run_that_explodes_says_so() {
    let mut spec = objectives().remove(0);
    spec.optimiser.learning_rate = 1e30;
    let run = folder();
    let error = train(&prepared(&spec), run.path(), RARELY, &mut ()).expect_err("diverged");
    assert!(matches!(error, TrainError::Diverged { .. }), "{error}");
    // Also where the last step did it, after the last loss was looked at.
    spec.optimiser = OptimiserSpec { epochs: 1, batch: 240, learning_rate: 1e39, ..spec.optimiser };
    let run = folder();
    let error = train(&prepared(&spec), run.path(), RARELY, &mut ()).expect_err("diverged");
    assert!(matches!(error, TrainError::Diverged { step: 1 }), "{error}");
    assert!(!run.path().join(NETWORK).exists());
}

/// A spec of Algorithm 1 with some keys changed.
fn changed(overrides: &[&str]) -> Result<TrainSpec, SpecError> {
    let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
    TrainSpec::parse(&objectives()[4].to_toml(), &overrides)
}

#[test]
fn unknown_keys_are_named_with_the_nearest() {
    assert_eq!(changed(&["optimiser.epochs=7", "data.name=other"]).expect("a spec").optimiser.epochs, 7);
    let unknown = |text: &str| match changed(&[text]) {
        Err(SpecError::UnknownKey { key, table, nearest }) => (key, table, nearest),
        other => panic!("{text}: {other:?}"),
    };
    let named = |key: &str, table: &str, nearest: Option<&str>| {
        (key.to_owned(), table.to_owned(), nearest.map(str::to_owned))
    };
    assert_eq!(unknown("optimiser.epoch=7"), named("epoch", "optimiser", Some("epochs")));
    assert_eq!(unknown("objective.draw=7"), named("draw", "objective", Some("draws")));
    assert_eq!(unknown("sead=7"), named("sead", "", Some("seed")));
    assert_eq!(unknown("noise.quaternions=7"), named("quaternions", "noise", None));
    // Known elsewhere, but not here.
    assert_eq!(unknown("optimiser.epsilon=7").1, "optimiser");
}

#[test]
fn values_out_of_range_are_named() {
    for (overrides, key) in [
        (&["optimiser.epochs=0"][..], "optimiser.epochs"),
        (&["optimiser.batch=1"], "optimiser.batch"),
        (&["optimiser.learning_rate=nan"], "optimiser.learning_rate"),
        (&["optimiser.momentum=1.0"], "optimiser.momentum"),
        (&["optimiser.weight_decay=-1.0"], "optimiser.weight_decay"),
        (&["optimiser.average=1.5"], "optimiser.average"),
        (&["noise.sigma=0.0"], "noise.sigma"),
        (&["noise.sigma=inf"], "noise.sigma"),
        (&["objective.epsilon=-0.5"], "objective.epsilon"),
        (&["objective.steps=0"], "objective.steps"),
        (&["objective.draws=0"], "objective.draws"),
        (&["objective.warm_up=-1.0"], "objective.warm_up"),
        (&["projection.fit.rank=0"], "projection.fit.rank"),
        (&["data.samples=0"], "data.samples"),
        (&["objective.draws=100000"], "objective.draws"),
        (&["optimiser.batch=100000"], "optimiser.batch"),
        (&["optimiser.schedule.warm_up=1.0"], "optimiser.schedule.warm_up"),
    ] {
        match changed(overrides) {
            Err(SpecError::Value { key: found, .. }) => assert_eq!(found, key),
            other => panic!("{overrides:?}: {other:?}"),
        }
    }
}

#[test]
fn parts_that_do_not_fit_and_broken_texts_are_refused() {
    for (overrides, conflict) in [
        (&["noise.base=0.5"][..], Conflict::TwoLevels),
        (&["objective.kind=smooth-adv"], Conflict::Projection),
        (&["projection.file=p.safetensors"], Conflict::Source),
        (&["projection.fit.error=0.5"], Conflict::Target),
        (&["projection.fit.basis=pixel"], Conflict::PixelGrid),
    ] {
        assert_eq!(changed(overrides), Err(SpecError::Conflict(conflict)), "{overrides:?}");
    }
    for text in ["optimiser.epochs=\"x\"", "objective.kind=\"magic\"", "model.depth=8"] {
        assert!(
            matches!(changed(&[text]), Err(SpecError::Toml { .. } | SpecError::UnknownKey { .. })),
            "{text}"
        );
    }
    for text in ["epochs", "=3", "optimiser..epochs=3", "seed.x=3"] {
        assert!(matches!(changed(&[text]), Err(SpecError::Override { .. })), "{text}");
    }
    assert!(matches!(TrainSpec::parse("a = [", &[]), Err(SpecError::Toml { .. })));
}

#[test]
fn data_that_do_not_fit_the_spec_are_refused() {
    let spec = &objectives()[1];
    let unlabelled = gambeson_data::dataset::Dataset::new(gambeson_data::dataset::DatasetParts {
        name: "x".into(),
        shape: super::IMAGE,
        values: images(40).values().clone(),
        labels: None,
        classes: Vec::new(),
        sources: Vec::new(),
    });
    let refused = TrainSetup::new(spec, unlabelled.expect("data"), None, None).expect_err("no labels");
    assert!(matches!(refused, SetupError::NoLabels { .. }), "{refused}");
    let refused = TrainSetup::new(spec, images(20), None, None).expect_err("too few");
    assert!(matches!(refused, SetupError::Batch { batch: 32, samples: 20 }), "{refused}");
    let mut far = spec.clone();
    far.data.crop = 8;
    let refused = TrainSetup::new(&far, images(40), None, None).expect_err("nothing left");
    assert!(matches!(refused, SetupError::Crop { crop: 8, .. }), "{refused}");
}
