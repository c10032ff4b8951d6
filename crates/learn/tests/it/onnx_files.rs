//! Graphs as they come from exporters: weights in files beside them, other precisions, images as rows or columns.
//!
//! The files are made by `fixtures/make_onnx.py`. Each runs by whatever there is: our engine, and ONNX Runtime where it is
//! installed.

use crate::support::{folder, write};
use gambeson_data::dataset::Shape;
use gambeson_learn::onnx::{OnnxError, external_files, library};
use gambeson_learn::runtime::{LoadParams, LoadedModel, RuntimeChoice, RuntimeError, load};
use gambeson_lowrank::MemoryLimit;
use gambeson_smooth::clean::classify_inputs;
use gambeson_smooth::space::Space;
use gambeson_testing::skipped;
use std::path::{Path, PathBuf};

const SMALL: Shape = Shape { channels: 2, height: 3, width: 2 };

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn by(path: &Path, runtime: RuntimeChoice) -> Result<LoadedModel, RuntimeError> {
    load(
        path,
        &LoadParams { data: SMALL, normalisation: None, runtime, threads: 1, memory: MemoryLimit::NONE },
    )
}

fn images() -> Vec<Vec<f64>> {
    let pixel = |k: usize| ((k * 71) % 255) as f64 / 255.0;
    (0..50).map(|i| (0..12).map(|k| pixel(12 * i + k)).collect()).collect()
}

fn answers(loaded: &LoadedModel) -> Vec<u32> {
    let (images, space) = (images(), Space::identity(12));
    let indices: Vec<u64> = (0..50).collect();
    let values = |index: u64| images[usize::try_from(index).expect("small")].clone();
    classify_inputs(&loaded.model, &space, 7, &indices, values, &mut ())
        .expect("answers")
        .expect("not stopped")
}

/// Classes by the weights that the script states, with the distance to the next best score.
fn expected() -> Vec<(u32, f64)> {
    let weight = |i: usize, j: usize| ((5 * i + 3 * j) % 7) as f64 / 7.0 - 3.0 / 7.0;
    let scores = |image: &Vec<f64>| -> Vec<f64> {
        (0..4).map(|j| (0..12).map(|i| image[i] * weight(i, j)).sum()).collect()
    };
    let of = |image| {
        let scores: Vec<f64> = scores(image);
        let best = (0..4).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).expect("four");
        let next = (0..4).filter(|&j| j != best).map(|j| scores[j]).fold(f64::MIN, f64::max);
        (u32::try_from(best).expect("small"), scores[best] - next)
    };
    images().iter().map(of).collect()
}

/// Equal but for ties within `tie`.
fn agrees(found: &[u32], tie: f64) -> bool {
    let clear = expected().into_iter().zip(found).filter(|((_, lead), _)| *lead > tie).collect::<Vec<_>>();
    clear.len() > 40 && clear.iter().all(|((class, _), found)| class == *found)
}

/// Our engine where it has the graph, and ONNX Runtime where it is there: at least one of them.
fn every_way(name: &str, tie: f64) {
    let mut ways = 0;
    for choice in [RuntimeChoice::Own, RuntimeChoice::Onnx, RuntimeChoice::Auto] {
        match by(&fixture(name), choice) {
            Ok(loaded) => {
                assert!(agrees(&answers(&loaded), tie), "{name} {choice:?}");
                ways += 1;
            }
            Err(RuntimeError::Unsupported { .. }) if choice == RuntimeChoice::Own => {}
            Err(error) => assert!(library::find().is_err(), "{name} {choice:?}: {error}"),
        }
    }
    assert!(ways >= 2 || library::find().inspect_err(skipped).is_err(), "{name}");
}

#[test]
fn half_and_double_precision_answer_as_single_does() {
    every_way("half.onnx", 0.01);
    every_way("double.onnx", 1e-5);
}

#[test]
fn images_may_be_one_row_or_one_column() {
    every_way("one_column.onnx", 1e-5);
    every_way("one_row.onnx", 1e-5);
}

#[test]
fn weights_beside_the_graph_belong_to_it() {
    every_way("beside.onnx", 1e-5);
    let home = folder();
    let (graph, weights) = (home.path().join("beside.onnx"), home.path().join("beside.weights"));
    std::fs::copy(fixture("beside.onnx"), &graph).expect("copied");
    std::fs::copy(fixture("beside.weights"), &weights).expect("copied");
    // The current directory has no such file: the graph's folder has.
    let choice = RuntimeChoice::Auto;
    let hash = |path: &Path| by(path, choice).map(|loaded| loaded.sha256);
    let Ok(whole) = hash(&graph) else {
        assert!(library::find().inspect_err(skipped).is_err());
        return;
    };
    assert_eq!(
        external_files(&graph, MemoryLimit::NONE).expect("a list").as_slice(),
        std::slice::from_ref(&weights)
    );
    assert_eq!(whole, hash(&fixture("beside.onnx")).expect("loaded"), "the folder does not matter");
    // Another weight, another network.
    let mut bytes = std::fs::read(&weights).expect("read");
    bytes[64] ^= 1;
    std::fs::write(&weights, &bytes).expect("written");
    assert_ne!(whole, hash(&graph).expect("loaded"));
    // Too few, none at all.
    std::fs::write(&weights, &bytes[..200]).expect("written");
    let error = by(&graph, choice).expect_err("refused").to_string();
    assert!(error.contains("beside.weights") && error.contains('w'), "{error}");
    std::fs::remove_file(&weights).expect("removed");
    let error = by(&graph, choice).expect_err("refused").to_string();
    assert!(error.contains("beside.weights"), "{error}");
    // A link that leaves the folder.
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(fixture("beside.weights"), &weights).expect("linked");
        let error = by(&graph, choice).expect_err("refused").to_string();
        assert!(error.contains("beside.weights"), "{error}");
    }
}

/// The name of the file in the graph exchanged for others of the same length.
#[test]
fn weights_outside_the_folder_are_refused() {
    let home = folder();
    std::fs::create_dir(home.path().join("deep")).expect("made");
    let bytes = std::fs::read(fixture("beside.onnx")).expect("read");
    let at = bytes.windows(14).position(|window| window == b"beside.weights").expect("the name");
    for other in [&b"../beside.file"[..], b"/etc/os-releas", b"..//../../../x"] {
        let mut changed = bytes.clone();
        changed[at..at + 14].copy_from_slice(other);
        let path = write(&home.path().join("deep"), "out.onnx", &changed);
        let error = external_files(&path, MemoryLimit::NONE).expect_err("refused");
        assert!(matches!(&error, OnnxError::Outside { .. }), "{error}");
        assert!(by(&path, RuntimeChoice::Auto).is_err());
    }
}
