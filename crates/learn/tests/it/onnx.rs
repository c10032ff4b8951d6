//! Networks run by ONNX Runtime, against the same sums in plain arithmetic. Skipped where the library is not installed.
//!
//! The files are made by `fixtures/make_onnx.py`, which says what they compute.

use crate::support::{folder, quiet, write};
use gambeson_checker::{FailureProbability, NoiseLevel};
use gambeson_data::dataset::Shape;
use gambeson_data::source::{LoadOptions, data_dir, load};
use gambeson_learn::onnx::library::{find, preflight};
use gambeson_learn::onnx::{
    Batching, LibraryProblem, Normalisation, NormalisationError, OnnxError, OnnxModel,
};
use gambeson_lowrank::MemoryLimit;
use gambeson_smooth::classifier::{Classifier, NONE};
use gambeson_smooth::input_map::Layout;
use gambeson_smooth::noise::{Draw, Noise};
use gambeson_smooth::smoother::{Smoother, SmoothingParams};
use gambeson_smooth::space::Space;
use gambeson_testing::{reference_data, skipped};
use std::path::PathBuf;

const SMALL: Shape = Shape { channels: 2, height: 3, width: 2 };
const CIFAR: Shape = Shape { channels: 3, height: 32, width: 32 };

/// Whether ONNX Runtime is installed; reported as skipped if not.
fn runtime() -> bool {
    find().inspect_err(skipped).is_ok()
}

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(format!("{name}.onnx"))
}

/// Rows of small images.
fn rows(count: usize) -> Vec<f32> {
    (0..count * 12).map(|k| f32::from(u8::try_from(k * 71 % 255).expect("a byte")) / 255.0).collect()
}

/// Scores as the script defines them.
fn scores(row: &[f32]) -> [f32; 4] {
    let weight = |i: usize, j: usize| ((5 * i + 3 * j) % 7) as f32 / 7.0 - 3.0 / 7.0;
    std::array::from_fn(|j| row.iter().enumerate().map(|(i, x)| x * weight(i, j)).sum())
}

fn best(scores: [f32; 4]) -> u32 {
    (0..4).fold(0, |best, class| if scores[class as usize] > scores[best as usize] { class } else { best })
}

fn answers(model: &OnnxModel, batch: &[f32]) -> Vec<u32> {
    let rows = batch.len() / model.dim();
    let mut out = vec![0; rows];
    let mut fed = batch.to_vec();
    if let Some(map) = model.input_map() {
        let rows = batch.chunks_exact(model.dim()).zip(fed.chunks_exact_mut(model.dim()));
        rows.for_each(|(row, mapped)| map.apply(row, mapped));
    }
    model.classify(&fed, rows, &mut out).expect("an answer");
    out
}

#[test]
fn fixed_batches_are_rewritten_where_that_changes_nothing() {
    if !runtime() {
        return;
    }
    let batch = rows(7);
    let expected: Vec<u32> = batch.chunks_exact(12).map(|row| best(scores(row))).collect();
    assert!(expected.iter().any(|&class| class != expected[0]), "{expected:?}");
    for (name, batching) in [
        ("reshape_raw", Batching::Rewritten),
        ("reshape_list", Batching::Rewritten),
        ("reshape_constant", Batching::Rewritten),
        ("mixing", Batching::Fixed(1)),
    ] {
        let model = OnnxModel::load(&fixture(name), SMALL, None, MemoryLimit::NONE, 2).expect("a model");
        assert_eq!((model.batching(), model.classes(), model.dim()), (batching, 4, 12), "{name}");
        assert_eq!(answers(&model, &batch), expected, "{name}");
        assert!(answers(&model, &[]).is_empty());
    }
    // Three at a time, where each depends on the others: draws of one batch would not be independent.
    for name in ["mixing_three", "mixing_free"] {
        let error = OnnxModel::load(&fixture(name), SMALL, None, MemoryLimit::NONE, 1).expect_err("refused");
        assert!(matches!(error, OnnxError::RowsMix { .. }), "{name}: {error}");
    }
}

#[test]
fn images_are_normalised_and_reordered() {
    if !runtime() {
        return;
    }
    let batch = rows(9);
    let turned =
        OnnxModel::load(&fixture("channels_last"), SMALL, None, MemoryLimit::NONE, 1).expect("a model");
    assert_eq!((turned.layout(), turned.batching()), (Layout::ChannelsLast, Batching::Free));
    let expected: Vec<u32> = batch.chunks_exact(12).map(|row| best(scores(row))).collect();
    assert_eq!(answers(&turned, &batch), expected, "back in the order of the weights");
    let normalisation = Normalisation::new(&[0.9, 0.1], &[0.25, 2.0], 2).expect("numbers");
    let normalised = |row: &[f32]| {
        let value = |(i, x): (usize, &f32)| if i < 6 { (x - 0.9) / 0.25 } else { (x - 0.1) / 2.0 };
        best(scores(&row.iter().enumerate().map(value).collect::<Vec<f32>>()))
    };
    let other: Vec<u32> = batch.chunks_exact(12).map(normalised).collect();
    assert_ne!(expected, other);
    for name in ["channels_last", "reshape_raw"] {
        let model = OnnxModel::load(&fixture(name), SMALL, Some(normalisation.clone()), MemoryLimit::NONE, 1)
            .expect("a model");
        assert_eq!(answers(&model, &batch), other, "{name}");
    }
    let beyond = Normalisation::new(&[0.5], &[1e-42], 2).expect("numbers");
    let error = OnnxModel::load(&fixture("reshape_raw"), SMALL, Some(beyond), MemoryLimit::NONE, 1)
        .expect_err("refused");
    assert!(matches!(error, OnnxError::InputMap { .. }), "{error}");
    assert_eq!(Normalisation::new(&[0.5], &[0.2], 2), Normalisation::new(&[0.5, 0.5], &[0.2, 0.2], 2));
    let counts = Normalisation::new(&[0.5, 0.5, 0.5], &[0.2], 2);
    assert_eq!(counts, Err(NormalisationError::Count { means: 3, stds: 1, channels: 2 }));
    for (mean, std) in [(0.5, 0.0), (0.5, -1.0), (f32::NAN, 1.0), (0.5, f32::INFINITY)] {
        let refused = Normalisation::new(&[0.5, mean], &[0.2, std], 2);
        assert!(matches!(refused, Err(NormalisationError::Value { channel: 1, .. })), "{mean}, {std}");
    }
}

/// Noise first, then normalisation, then the order of the graph: the frequencies of classes are those of plain
/// arithmetic with other noise.
#[test]
fn smoothed_networks_answer_as_plain_arithmetic_does() {
    if !runtime() {
        return;
    }
    let normalisation = Normalisation::new(&[0.9, 0.1], &[0.25, 2.0], 2).expect("numbers");
    let (draws, sigma) = (20_000_u32, 0.4);
    let image: Vec<f64> = rows(1).iter().map(|&x| f64::from(x)).collect();
    let mut expected = [0_u32; 4];
    for draw in 0..draws {
        let mut noise = [0.0; 12];
        Noise::new(99, 0).standard(Draw::Estimation(draw.into()), &mut noise);
        #[allow(clippy::cast_possible_truncation)]
        let value = |i: usize| {
            let x = image[i] as f32 + sigma * noise[i];
            if i < 6 { (x - 0.9) / 0.25 } else { (x - 0.1) / 2.0 }
        };
        let row: [f32; 12] = std::array::from_fn(value);
        expected[best(scores(&row)) as usize] += 1;
    }
    assert!(expected.iter().filter(|&&count| count > draws / 50).count() > 2, "{expected:?}");
    for name in ["channels_last", "reshape_raw"] {
        let model = OnnxModel::load(&fixture(name), SMALL, Some(normalisation.clone()), MemoryLimit::NONE, 1)
            .expect("a model");
        let space = Space::identity(12);
        let params = SmoothingParams {
            selection: 1,
            estimation: draws.into(),
            failure: FailureProbability::new(0.01).expect("a probability"),
            batch: 256,
            seed: 1,
            ..SmoothingParams::new(NoiseLevel::new(sigma.into()).expect("a level")).expect("parameters")
        };
        let smoother = Smoother::new(&model, space.clone(), params).expect("it fits");
        let found = smoother.predict(0, &image, &mut ()).expect("drawn").expect("not stopped");
        for (class, &count) in expected.iter().enumerate() {
            let (a, b) = (f64::from(count), found.counts.classes[class] as f64);
            let p = (a + b) / (2.0 * f64::from(draws));
            let deviation = (2.0 * f64::from(draws) * p * (1.0 - p)).sqrt().max(1.0);
            assert!((a - b).abs() < 5.0 * deviation, "{name}, class {class}: {a} and {b}");
        }
    }
}

#[test]
fn a_score_that_is_no_number_is_no_class() {
    if !runtime() {
        return;
    }
    let model = OnnxModel::load(&fixture("nan"), SMALL, None, MemoryLimit::NONE, 1).expect("a model");
    let batch = rows(40);
    let expected: Vec<u32> = batch
        .chunks_exact(12)
        .map(|row| if scores(row).iter().any(|&score| score < 0.0) { NONE } else { best(scores(row)) })
        .collect();
    assert!(expected.contains(&NONE) && expected.iter().any(|&class| class != NONE), "{expected:?}");
    assert_eq!(answers(&model, &batch), expected);
}

#[test]
fn files_that_are_no_such_network_are_refused() {
    if !runtime() {
        return;
    }
    let refused = |path: &std::path::Path, shape| {
        OnnxModel::load(path, shape, None, MemoryLimit::NONE, 1).expect_err("refused")
    };
    let home = folder();
    let whole = std::fs::read(fixture("reshape_raw")).expect("the file");
    for cut in [0, 3, whole.len() / 2, whole.len() - 1] {
        let path = write(home.path(), "cut.onnx", &whole[..cut]);
        let error = refused(&path, SMALL);
        let fits =
            matches!(error, OnnxError::Broken { .. } | OnnxError::NotOnnx { .. } | OnnxError::Load { .. });
        assert!(fits && error.to_string().contains("cut.onnx"), "cut at {cut}: {error}");
        assert!(cut < 4 || cut == whole.len() - 1 || error.to_string().contains("cut short"), "{error}");
    }
    let text = write(home.path(), "text.onnx", "this is no network at all, is it?");
    assert!(matches!(refused(&text, SMALL), OnnxError::Broken { .. } | OnnxError::NotOnnx { .. }));
    assert!(matches!(refused(&home.path().join("none.onnx"), SMALL), OnnxError::Read { .. }));
    assert!(matches!(refused(&fixture("two_inputs"), SMALL), OnnxError::Arity { inputs: 2, .. }));
    assert!(matches!(refused(&fixture("integers"), SMALL), OnnxError::Type { .. }));
    for name in ["one_number", "image_out"] {
        assert!(matches!(refused(&fixture(name), SMALL), OnnxError::OutputShape { .. }), "{name}");
    }
    assert!(matches!(refused(&fixture("one_score"), SMALL), OnnxError::OneScore { .. }));
    let error = refused(&fixture("reshape_raw"), CIFAR);
    assert!(matches!(&error, OnnxError::InputShape { expected, .. } if *expected == [1, 2, 3, 2]), "{error}");
    assert!(error.to_string().contains("3 x 32 x 32"), "{error}");
}

#[test]
fn a_library_is_looked_at_before_it_is_opened() {
    let home = folder();
    let problem =
        |bytes: &[u8]| preflight(&write(home.path(), "libonnxruntime.so", bytes)).expect_err("refused");
    assert!(matches!(problem(b""), LibraryProblem::NotLibrary));
    assert!(matches!(problem(b"#!/bin/sh\nexit 1\n"), LibraryProblem::NotLibrary));
    assert!(matches!(preflight(&home.path().join("none.so")), Err(LibraryProblem::Unreadable(_))));
    // The head of a 64-bit little-endian library whose table of sections, 3 of 64 bytes, begins at byte 1000.
    let mut head = [0; 1192];
    head[..6].copy_from_slice(b"\x7fELF\x02\x01");
    head[0x28..0x2a].copy_from_slice(&1000_u16.to_le_bytes());
    (head[0x3a], head[0x3c]) = (64, 3);
    assert!(matches!(problem(&head[..1191]), LibraryProblem::Truncated { expected: 1192, found: 1191 }));
    let with_version = |version: &[u8]| {
        let mut bytes = head.to_vec();
        bytes[500..500 + version.len()].copy_from_slice(version);
        preflight(&write(home.path(), "libonnxruntime.so", bytes))
    };
    let old = with_version(b"VERS_1.9.1\0");
    assert!(matches!(&old, Err(LibraryProblem::TooOld { found, .. }) if found == "1.9.1"), "{old:?}");
    assert!(with_version(b"VERS_1.17.0\0").is_ok() && with_version(b"VERS_\0VERS_1.31.1\0").is_ok());
    assert!(with_version(b"").is_ok(), "left to the loader");
    let named = write(home.path(), "libonnxruntime.so.1.8.0", head);
    assert!(matches!(preflight(&named), Err(LibraryProblem::TooOld { .. })));
    if let Ok(found) = find() {
        preflight(&found).expect("the one in use is good");
    }
}

/// The networks of VNN-COMP: a batch answers as one row at a time does, but for rounding; and they know CIFAR-10.
#[test]
fn public_networks_run_in_batches() {
    let Some(home) = reference_data("").filter(|_| runtime()) else { return };
    let normal = |mean: &[f32], std: &[f32]| Normalisation::new(mean, std, 3).ok();
    let networks = [
        ("resnet_2b", Batching::Rewritten, normal(&[0.4914, 0.4822, 0.4465], &[0.2471, 0.2435, 0.2616])),
        ("cifar_base_kw", Batching::Rewritten, normal(&[0.485, 0.456, 0.406], &[0.225])),
        ("cifar_deep_kw", Batching::Rewritten, normal(&[0.485, 0.456, 0.406], &[0.225])),
        ("cifar10_small", Batching::Free, None),
    ];
    let options = data_dir()
        .map(|folder| LoadOptions { split: gambeson_data::dataset::Split::Test, ..LoadOptions::new(folder) });
    let images = options.and_then(|options| load("cifar10", &options, &mut quiet).ok());
    for (name, batching, normalisation) in networks {
        let path = home.join(format!("models/{name}.onnx"));
        let model = OnnxModel::load(&path, CIFAR, normalisation, MemoryLimit::NONE, 2).expect("a model");
        assert_eq!((model.batching(), model.classes(), model.shape()), (batching, 10, CIFAR), "{name}");
        let Some(images) = &images else { continue };
        let mut batch = vec![0.0; 200 * CIFAR.len()];
        for (index, row) in batch.chunks_exact_mut(CIFAR.len()).enumerate() {
            images.sample_f32(index, row);
        }
        let together = answers(&model, &batch);
        let alone: Vec<u32> = batch.chunks_exact(CIFAR.len()).flat_map(|row| answers(&model, row)).collect();
        let differ = together.iter().zip(&alone).filter(|(a, b)| a != b).count();
        assert!(differ <= 1, "{name}: {differ} of 200 differ");
        let labels = images.labels().expect("labels");
        let right = together.iter().zip(labels).filter(|(a, b)| **a == u32::from(**b)).count();
        assert!(right >= 100, "{name}: {right} of 200 right");
    }
    if images.is_none() {
        skipped("in part: cifar10 is not in GAMBESON_DATA");
    }
}
