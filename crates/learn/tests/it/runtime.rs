//! Networks from files as classifiers: which program computes them, and what is refused.

use crate::support::folder;
use gambeson_data::dataset::Shape;
use gambeson_learn::net::inference::Inference;
use gambeson_learn::net::kernel::Isa;
use gambeson_learn::net::models::Model;
use gambeson_learn::net::parameters::{ParameterLayout, Weights};
use gambeson_learn::onnx::export::export;
use gambeson_learn::onnx::{Normalisation, OnnxError, library};
use gambeson_learn::runtime::{LoadParams, LoadedModel, Runtime, RuntimeChoice, RuntimeError, load};
use gambeson_learn::weights::network::Network;
use gambeson_lowrank::MemoryLimit;
use gambeson_smooth::classifier::{Classifier, highest};
use gambeson_smooth::clean::classify_inputs;
use gambeson_smooth::space::Space;
use gambeson_testing::skipped;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::path::{Path, PathBuf};

const IMAGE: Shape = Shape { channels: 3, height: 8, width: 8 };

fn network(normalisation: Option<(Vec<f64>, Vec<f64>)>) -> Network {
    let architecture = Model::ResNet { depth: 8, width: 8 }.architecture(IMAGE, 10).expect("a model");
    let places = ParameterLayout::new(&architecture).expect("a model");
    let weights = Weights::initial(&places, &mut ChaCha8Rng::seed_from_u64(3));
    Network { architecture, weights, normalisation, training: None }
}

fn params(runtime: RuntimeChoice) -> LoadParams {
    LoadParams { data: IMAGE, normalisation: None, runtime, threads: 2, memory: MemoryLimit::NONE }
}

/// Pixels of some images.
fn images(count: usize) -> Vec<Vec<f64>> {
    let pixel = |k: usize| ((k * 7919) % 256) as f64 / 255.0;
    (0..count).map(|i| (0..IMAGE.len()).map(|k| pixel(1 + i * 31 + k)).collect()).collect()
}

fn answers(loaded: &LoadedModel) -> Vec<u32> {
    let (images, space) = (images(20), Space::identity(IMAGE.len()));
    let indices: Vec<u64> = (0..20).collect();
    let values = |index: u64| images[usize::try_from(index).expect("small")].clone();
    let answers = classify_inputs(&loaded.model, &space, 7, &indices, values, &mut ());
    answers.expect("answers").expect("not stopped")
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

#[test]
#[allow(clippy::cast_possible_truncation)]
fn a_network_answers_as_its_scores_say_after_normalisation() {
    let folder = folder();
    let path = folder.path().join("n.safetensors");
    let (mean, std) = (vec![0.5, 0.4, 0.3], vec![0.25, 0.2, 0.125]);
    let own = network(Some((mean.clone(), std.clone())));
    own.write(&path).expect("written");
    let loaded = load(&path, &params(RuntimeChoice::Auto)).expect("loaded");
    assert_eq!((loaded.model.runtime(), loaded.shape, loaded.model.classes()), (Runtime::Own, IMAGE, 10));
    let inference =
        Inference::new(&own.architecture, &own.weights, Isa::detect(), MemoryLimit::NONE).expect("a network");
    let expected: Vec<u32> = images(20)
        .iter()
        .map(|image| {
            let normalised = image.iter().enumerate().map(|(k, x)| ((x - mean[k / 64]) / std[k / 64]) as f32);
            let mut scores = vec![0.0; 10];
            inference.scores(&normalised.collect::<Vec<f32>>(), &mut scores);
            highest(&scores)
        })
        .collect();
    assert!(expected.iter().any(|&class| class != expected[0]), "{expected:?}");
    assert_eq!(answers(&loaded), expected);
    // The same normalisation from outside.
    network(None).write(&path).expect("written");
    let given = Normalisation::new(&[0.5, 0.4, 0.3], &[0.25, 0.2, 0.125], 3).expect("numbers");
    let outside = LoadParams { normalisation: Some(given), ..params(RuntimeChoice::Own) };
    assert_eq!(answers(&load(&path, &outside).expect("loaded")), expected);
    assert_ne!(answers(&load(&path, &params(RuntimeChoice::Own)).expect("loaded")), expected);
    own.write(&path).expect("written");
    assert!(matches!(load(&path, &outside), Err(RuntimeError::NormalisedTwice { .. })));
}

#[test]
fn graphs_of_our_layers_need_no_library_and_agree_with_it() {
    let folder = folder();
    let path = folder.path().join("n.onnx");
    let own = network(Some((vec![0.5, 0.4, 0.3], vec![0.25, 0.2, 0.125])));
    std::fs::write(&path, export(&own).expect("exported")).expect("written");
    let by = |choice| load(&path, &params(choice)).expect("loaded");
    let (auto, ours) = (by(RuntimeChoice::Auto), by(RuntimeChoice::Own));
    assert_eq!((auto.model.runtime(), ours.model.runtime()), (Runtime::Own, Runtime::Own));
    assert_eq!(answers(&auto), answers(&ours));
    if library::find().inspect_err(skipped).is_ok() {
        let theirs = by(RuntimeChoice::Onnx);
        assert_eq!((theirs.model.runtime(), &theirs.sha256), (Runtime::Onnx, &ours.sha256));
        assert_eq!(answers(&theirs), answers(&ours));
    }
    for runtime in [Runtime::Own, Runtime::Onnx] {
        let choice = RuntimeChoice::recorded(runtime.name()).expect("known");
        assert!(choice != RuntimeChoice::Auto && (choice == RuntimeChoice::Own) == (runtime == Runtime::Own));
    }
    assert_eq!(RuntimeChoice::recorded("another"), None);
    assert_eq!(RuntimeChoice::recorded("gambeson 1"), None);
}

#[test]
fn what_the_engine_lacks_is_named() {
    let data = Shape { channels: 2, height: 3, width: 2 };
    let path = fixture("mixing.onnx");
    let own = load(&path, &LoadParams { data, ..params(RuntimeChoice::Own) });
    let Err(RuntimeError::Unsupported { reason, .. }) = own else { panic!("{own:?}") };
    match load(&path, &LoadParams { data, ..params(RuntimeChoice::Auto) }) {
        Ok(loaded) => {
            assert_eq!(loaded.model.runtime(), Runtime::Onnx);
            assert_eq!(loaded.unsupported, Some(reason));
        }
        Err(RuntimeError::Neither { unsupported, .. }) => {
            assert!(library::find().is_err());
            assert_eq!(*unsupported, reason);
        }
        Err(error) => panic!("{error}"),
    }
}

/// The bytes of a graph, with one run of bytes in another's place.
fn replaced(graph: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let at = graph.windows(from.len()).rposition(|window| window == from).expect("they are there");
    [&graph[..at], to, &graph[at + from.len()..]].concat()
}

/// Operations in a version that is still to come: nothing for ONNX Runtime, but the engine reads what it knows.
#[test]
fn graphs_that_onnx_runtime_cannot_load_are_run_and_said_to_be_uncompared() {
    let folder = folder();
    let path = folder.path().join("n.onnx");
    let graph = export(&network(None)).expect("exported");
    std::fs::write(&path, &graph).expect("written");
    let known = load(&path, &params(RuntimeChoice::Auto)).expect("loaded");
    assert!(known.not_compared.is_none());
    // The last field, opset_import, ends with the version.
    let mut newer = graph.clone();
    *newer.last_mut().expect("bytes") = 99;
    std::fs::write(&path, &newer).expect("written");
    let loaded = load(&path, &params(RuntimeChoice::Auto)).expect("loaded");
    assert_eq!((loaded.model.runtime(), answers(&loaded)), (Runtime::Own, answers(&known)));
    if library::find().inspect_err(skipped).is_ok() {
        assert!(matches!(loaded.not_compared, Some(OnnxError::Load { .. })), "{:?}", loaded.not_compared);
        assert!(load(&path, &params(RuntimeChoice::Onnx)).is_err());
    }
}

#[test]
fn weights_that_are_no_numbers_are_an_error_for_every_runtime_of_ours() {
    let folder = folder();
    let path = folder.path().join("n.onnx");
    let mut own = network(None);
    own.weights.parameters[5] = 0.123_456_7;
    let graph = export(&own).expect("exported");
    for wrong in [f32::NAN, f32::INFINITY] {
        let graph = replaced(&graph, &0.123_456_7_f32.to_le_bytes(), &wrong.to_le_bytes());
        std::fs::write(&path, &graph).expect("written");
        for runtime in [RuntimeChoice::Auto, RuntimeChoice::Own] {
            let error = load(&path, &params(runtime)).expect_err("refused");
            assert!(
                matches!(&error, RuntimeError::NotFinite { operator, .. } if operator == "Conv"),
                "{error}"
            );
        }
    }
}

#[test]
fn files_that_do_not_fit_are_refused() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let path = at("n.safetensors");
    network(None).write(&path).expect("written");
    let refused = |path: &Path, data: Shape, runtime| {
        load(path, &LoadParams { data, ..params(runtime) }).expect_err("refused").to_string()
    };
    let grey = Shape { channels: 1, ..IMAGE };
    let text = refused(&path, grey, RuntimeChoice::Auto);
    assert!(text.contains("takes 3 x 8 x 8 images, but the data are 1 x 8 x 8"), "{text}");
    let small = Shape { height: 4, ..IMAGE };
    assert!(refused(&path, small, RuntimeChoice::Own).contains("the data are 3 x 4 x 8"));
    // A larger one is fine: something else makes small images of it.
    let large = Shape { channels: 3, height: 16, width: 16 };
    assert_eq!(
        load(&path, &LoadParams { data: large, ..params(RuntimeChoice::Auto) }).expect("loaded").shape,
        IMAGE
    );
    assert!(refused(&path, IMAGE, RuntimeChoice::Onnx).contains(".onnx files only"));
    std::fs::write(at("cut.safetensors"), &std::fs::read(&path).expect("read")[..900]).expect("written");
    assert!(refused(&at("cut.safetensors"), IMAGE, RuntimeChoice::Auto).contains("cut.safetensors"));
    std::fs::write(at("nothing.pth"), "").expect("written");
    assert!(
        refused(&at("nothing.pth"), IMAGE, RuntimeChoice::Auto).contains("nothing.pth: the file is empty")
    );
    std::fs::write(at("text"), "a text").expect("written");
    assert!(refused(&at("text"), IMAGE, RuntimeChoice::Auto).contains("ONNX"));
    std::fs::write(at("pickle.pth"), b"\x80\x04cos\nsystem\n(S'true'\ntR.").expect("written");
    let text = refused(&at("pickle.pth"), IMAGE, RuntimeChoice::Auto);
    assert!(text.contains("pickle.pth") && !text.contains("ONNX file"), "{text}");
    assert!(refused(&at("missing"), IMAGE, RuntimeChoice::Auto).contains("missing"));
}
