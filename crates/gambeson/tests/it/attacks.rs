use crate::support::context;
use gambeson::attack::CertifiedInputs;
use gambeson::progress::AttackStage;
use gambeson::{
    AttackError, AttackMethod, AttackParams, AttackRadius, AttackTarget, BallBasis, Context, DataParams,
    Error, Event, WhiteBoxParams, attack, attack_figure, open_certified, open_data, open_white_box,
};
use gambeson_checker::NoiseLevel;
use gambeson_data::Dataset;
use gambeson_learn::attack::BallNorm;
use gambeson_learn::inputs::row;
use gambeson_learn::smoothed::WhiteBoxModel;
use gambeson_lowrank::MemoryLimit;
use gambeson_smooth::runs::{RunParams, certify_inputs};
use gambeson_smooth::selection::InputSelection;
use gambeson_smooth::smoother::{Smoother, SmoothingParams};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

const SIGMA: f64 = 0.5;

/// The network that comes along, and images that it was not trained on.
fn opened(context: &Context) -> (Dataset, WhiteBoxModel) {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/fashion"));
    let data = open_data(context, "fashion", &DataParams::default()).expect("built in");
    let params = WhiteBoxParams {
        projection: Some(folder.join("projection.safetensors")),
        ..WhiteBoxParams::default()
    };
    let model = open_white_box(context, &folder.join("network.safetensors"), &data, &params);
    (data, model.expect("a network"))
}

fn every(step: usize) -> Vec<usize> {
    (0..1000).step_by(step).collect()
}

/// Records of a few inputs, in a file.
fn certified(data: &Dataset, model: &WhiteBoxModel, path: PathBuf) {
    let smoothed = &model.smoothed;
    let noise = NoiseLevel::new(SIGMA).expect("a level");
    let params =
        SmoothingParams { estimation: 400, seed: 11, ..SmoothingParams::new(noise).expect("params") };
    let smoother = Smoother::new(&smoothed.classifier, Arc::clone(&smoothed.space), params).expect("fits");
    let run = RunParams {
        names: smoothed.names(data, Some(11)),
        classes: data.classes().len(),
        selection: InputSelection { every: 100, ..InputSelection::default() }.of(1000).expect("some"),
        out: Some(path),
        memory: MemoryLimit::NONE,
    };
    let row = |index: u64| row(data, usize::try_from(index).expect("small"));
    certify_inputs(&smoother, &run, row, &mut ()).expect("certified");
}

#[test]
fn attacks_stay_in_their_balls_and_mislead() {
    let context = context(2, MemoryLimit::NONE);
    let (data, model) = opened(&context);
    let target = AttackTarget { data: &data, model: Some(&model) };
    for (method, norm, basis, epsilon) in [
        (AttackMethod::Pgd, BallNorm::L2, None, 1.0),
        (AttackMethod::Pgd, BallNorm::Linf, Some(BallBasis::Dct), 0.2),
        (AttackMethod::Fgsm, BallNorm::Linf, None, 0.1),
    ] {
        let params = AttackParams {
            method,
            norm,
            basis,
            indices: Some(every(50)),
            pictures: 2,
            misled_first: true,
            ..AttackParams::new(AttackRadius::Epsilon(epsilon))
        };
        let found = attack(&context, target, &params).expect("attacked");
        let record = found.record();
        assert!(!found.stopped && record.inputs == 20 && record.longest <= epsilon && record.longest > 0.0);
        let (before, after) = (record.before.expect("answers"), record.after.expect("answers"));
        assert!(after <= before, "{method:?}: {before} {after}");
        // Those that were led astray are shown first, and what is shown is what was made.
        assert_eq!((record.pictures.len(), attack_figure(&found).rows.len()), (2, 2));
        assert_ne!(record.pictures[0].before, record.pictures[0].after, "{method:?}");
        let at = found.inputs.iter().position(|input| input.index == record.pictures[0].index);
        assert_eq!(found.perturbed[at.expect("one of them")].values, record.pictures[0].perturbed);
        assert_eq!(serde_json::to_value(&found).expect("JSON")["basis"], record.basis);
        // The header of the file, and four bytes a value.
        assert_eq!(found.to_npy().len() % 64, 20 * 784 * 4 % 64);
    }
}

#[test]
fn certified_inputs_are_attacked_at_their_radii() {
    let context = context(2, MemoryLimit::NONE);
    let (data, model) = opened(&context);
    let home = tempfile::tempdir().expect("a folder");
    let path = home.path().join("c.jsonl");
    certified(&data, &model, path.clone());
    let inputs = open_certified(&context, &path).expect("records");
    // What a kill left of the last line is told and left out.
    let (torn, bytes) = (home.path().join("torn.jsonl"), std::fs::read(&path).expect("bytes"));
    std::fs::write(&torn, &bytes[..bytes.len() - 30]).expect("written");
    let notes = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&notes);
    let listening = context.clone().with_observer(move |event| {
        if let Event::Note(note) = event {
            heard.lock().expect("no panic").push(note.to_string());
        }
        ControlFlow::Continue(())
    });
    let fewer = open_certified(&listening, &torn).expect("records");
    assert_eq!(fewer.records, inputs.records[..inputs.records.len() - 1]);
    let expected = format!("{}, line 11: cut off, ignored", torn.display());
    assert_eq!(*notes.lock().expect("no panic"), [expected]);
    let of = |inputs: &CertifiedInputs, sigma: f64| AttackParams {
        sigma: Some(sigma),
        steps: 5,
        draws: 4,
        n: 200,
        ..AttackParams::new(AttackRadius::Certified(inputs.clone()))
    };
    let target = AttackTarget { data: &data, model: Some(&model) };
    let found = attack(&context, target, &of(&inputs, SIGMA)).expect("attacked");
    assert!(found.broken() == Some(0) && found.inputs.len() > 3, "{:?}", found.record());
    for (input, perturbed) in found.inputs.iter().zip(&found.perturbed) {
        let record = inputs.records.iter().find(|record| record.index == input.index).expect("certified");
        assert!(record.derived.l2 == Some(input.epsilon) && perturbed.length <= input.epsilon);
    }
    let refused = |params: &AttackParams| match attack(&context, target, params).expect_err("refused") {
        Error::Attack(error) => *error,
        other => panic!("{other}"),
    };
    let other = refused(&of(&inputs, 0.25));
    assert!(matches!(other, AttackError::OtherRun { what: "sigma", .. }), "{other}");
    let nothing = refused(&AttackParams { indices: Some(vec![1]), ..of(&inputs, SIGMA) });
    assert!(matches!(nothing, AttackError::NothingCertified { .. }), "{nothing}");
    let silent = refused(&AttackParams { sigma: None, ..of(&inputs, SIGMA) });
    assert_eq!(silent.field(), Some("sigma"));
}

/// An observer that has seen enough gets what there is.
#[test]
fn a_stopped_attack_returns_what_was_perturbed() {
    let (data, model) = opened(&context(2, MemoryLimit::NONE));
    let target = AttackTarget { data: &data, model: Some(&model) };
    let params = AttackParams {
        indices: Some(every(10)),
        steps: 1,
        draws: 1,
        n: 100,
        sigma: Some(SIGMA),
        ..AttackParams::new(AttackRadius::Epsilon(0.5))
    };
    for (stage, least) in [(AttackStage::Perturb, 1), (AttackStage::PredictAfter, 100)] {
        let context = context(2, MemoryLimit::NONE).with_observer(move |event| match event {
            Event::Attack(progress) if progress.stage == stage && progress.done > 0 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        });
        let found = attack(&context, target, &params).expect("what there is");
        assert!(found.stopped && found.answers.is_none() && found.inputs.len() == found.perturbed.len());
        assert!(found.inputs.len() >= least && found.inputs.len() <= 100);
        assert!(found.record().before.is_none());
    }
}

#[test]
fn wrong_parameters_are_named() {
    let context = context(1, MemoryLimit::NONE);
    let data = open_data(&context, "fashion", &DataParams::default()).expect("built in");
    let alone = AttackTarget { data: &data, model: None };
    let sparse = |epsilon: f64| AttackParams {
        method: AttackMethod::Sparse,
        sparsity: Some(4),
        indices: Some(vec![5, 3]),
        ..AttackParams::new(AttackRadius::Epsilon(epsilon))
    };
    let found = attack(&context, alone, &sparse(0.09)).expect("attacked");
    assert!(found.answers.is_none() && (found.record().largest - 0.09).abs() < 1e-12);
    assert_eq!(found.inputs.iter().map(|input| input.index).collect::<Vec<_>>(), [5, 3]);
    let field = |params: AttackParams| {
        let error = attack(&context, alone, &params).expect_err("refused");
        assert!(!error.to_string().contains("--"), "{error}");
        error.field().expect("a field")
    };
    assert_eq!(field(sparse(f64::NAN)), "epsilon");
    assert_eq!(field(AttackParams { sparsity: None, ..sparse(1.0) }), "sparsity");
    assert_eq!(field(AttackParams { sparsity: Some(0), ..sparse(1.0) }), "sparsity");
    assert_eq!(field(AttackParams { method: AttackMethod::Pgd, ..sparse(1.0) }), "sparsity");
    assert_eq!(field(AttackParams { sigma: Some(0.0), ..sparse(1.0) }), "sigma");
    assert_eq!(field(AttackParams { indices: Some(Vec::new()), ..sparse(1.0) }), "indices");
    assert_eq!(field(AttackParams { indices: Some(vec![1000]), ..sparse(1.0) }), "indices");
    assert_eq!(field(AttackParams::new(AttackRadius::Epsilon(1.0))), "model");
    let fgsm = AttackParams { method: AttackMethod::Fgsm, ..AttackParams::new(AttackRadius::Epsilon(1.0)) };
    let error = fgsm.validate(true).expect_err("in another norm");
    assert_eq!(error.field(), Some("norm"));
}
