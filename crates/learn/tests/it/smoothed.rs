//! Smoothed models from files.

use crate::support::folder;
use crate::train::{IMAGE, images};
use gambeson_checker::NoiseLevel;
use gambeson_learn::inputs::{quantum, row};
use gambeson_learn::net::models::Model;
use gambeson_learn::net::parameters::{ParameterLayout, Weights};
use gambeson_learn::onnx::Normalisation;
use gambeson_learn::runtime::{Runtime, RuntimeChoice};
use gambeson_learn::smoothed::{NoiseParams, SmoothedError, SmoothedModel, SmoothedParams, WhiteBoxModel};
use gambeson_learn::weights::network::Network;
use gambeson_smooth::noise::Quantum;
use gambeson_smooth::seed::PlannedDraws;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::path::Path;

fn write(path: &Path) {
    let architecture = Model::Cnn { width: 4 }.architecture(IMAGE, 3).expect("a model");
    let places = ParameterLayout::new(&architecture).expect("a model");
    let weights = Weights::initial(&places, &mut ChaCha8Rng::seed_from_u64(3));
    Network { architecture, weights, normalisation: None, training: None }.write(path).expect("written");
}

/// What certifies and what attacks are one model: the same name, seed and space, with a normalisation from outside too.
#[test]
fn a_white_box_is_the_model_that_is_certified() {
    let (folder, data) = (folder(), images(6));
    let path = folder.path().join("n.safetensors");
    write(&path);
    let noise = NoiseParams { quantum: quantum(&data), ..NoiseParams::default() };
    let given = Normalisation::new(&[0.5], &[0.25], IMAGE.channels).expect("numbers");
    for normalisation in [None, Some(given)] {
        let params = SmoothedParams { normalisation, noise, threads: 1, ..SmoothedParams::new(&path, IMAGE) };
        let opened = SmoothedModel::open(&params).expect("a model").smoothed;
        let white = WhiteBoxModel::open(&params).expect("a model").smoothed;
        assert_eq!((opened.runtime, white.runtime), (Some(Runtime::Own), Some(Runtime::Own)));
        assert_eq!(opened.names(&data, Some(1)), white.names(&data, Some(1)));
        assert_eq!(opened.space.unit(), white.space.unit());
        let level = NoiseLevel::new(0.5).expect("a level");
        let draws = PlannedDraws::Predict { draws: 100 };
        let seeds = [
            opened.seed(&data, level, None, draws, 1).expect("a seed"),
            white.seed(&data, level, None, draws, 1).expect("a seed"),
        ];
        assert_eq!(seeds[0], seeds[1]);
        assert_ne!(seeds[0], opened.seed(&data, level, None, draws, 2).expect("a seed"));
    }
}

/// A model whose grid has another unit takes bytes as they are stored, and says what their conversion costs.
#[test]
fn samples_are_taken_as_they_are_stored() {
    let (folder, data) = (folder(), images(6));
    let path = folder.path().join("n.safetensors");
    write(&path);
    let stored = row(&data, 1).values;
    for (unit, exact) in [(Quantum::Byte, true), (Quantum::One, false)] {
        let noise = NoiseParams { quantum: unit, ..NoiseParams::default() };
        let params = SmoothedParams { noise, threads: 1, ..SmoothedParams::new(&path, IMAGE) };
        let opened = SmoothedModel::open(&params).expect("a model").smoothed;
        let space = opened.space_for(&data);
        assert_eq!((space.stored(), space.unit()), (Quantum::Byte, unit));
        let encoded = space.encode(&stored).expect("encoded");
        assert_eq!(encoded.error == 0.0, exact, "{}", encoded.error);
        let inverse = Quantum::Byte.inverse() / unit.inverse();
        assert!(encoded.code.iter().zip(&stored).all(|(code, number)| *code == number / inverse));
    }
}

#[test]
fn what_has_no_gradients_or_another_shape_is_refused() {
    let folder = folder();
    let path = folder.path().join("n.safetensors");
    write(&path);
    let params = SmoothedParams { threads: 1, ..SmoothedParams::new(&path, IMAGE) };
    let refused = |params: &SmoothedParams<'_>| WhiteBoxModel::open(params).err().expect("refused");
    let error = refused(&SmoothedParams { runtime: RuntimeChoice::Onnx, ..params.clone() });
    assert!(matches!(error, SmoothedError::NoGradients { .. }), "{error}");
    let noise = NoiseParams { levels: Some(&[1.0]), ..NoiseParams::default() };
    let error = refused(&SmoothedParams { noise, ..params.clone() });
    assert!(matches!(error, SmoothedError::NoGradients { .. }), "{error}");
    let input = gambeson_data::dataset::Shape { height: 16, width: 16, ..IMAGE };
    let larger = SmoothedParams { input, ..params };
    let error = SmoothedModel::open(&larger).err().expect("refused");
    assert!(matches!(error, SmoothedError::Images { images: IMAGE, given } if given == input), "{error}");
}
