//! Graphs of other programs on the engine. `fixtures/net/make_graphs.py` writes them, with what ONNX Runtime makes of them.

use gambeson_data::dataset::Shape;
use gambeson_learn::net::inference::Inference;
use gambeson_learn::net::kernel::Isa;
use gambeson_learn::onnx::import::{Imported, import};
use gambeson_lowrank::MemoryLimit;
use serde_json::Value;
use std::io::Read;

const ARCHIVE: &[u8] = include_bytes!("../../fixtures/net/graphs.zip");
const IMAGES: usize = 3;

/// All graphs by name, with what is known of them.
fn graphs() -> Vec<(String, Value, Vec<u8>)> {
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(ARCHIVE)).expect("an archive");
    let mut member = |name: &str| {
        let mut bytes = Vec::new();
        archive.by_name(name).expect("a member").read_to_end(&mut bytes).expect("bytes");
        bytes
    };
    let index: Value = serde_json::from_slice(&member("index.json")).expect("an index");
    let entries = index.as_object().expect("an object").iter();
    entries.map(|(name, entry)| (name.clone(), entry.clone(), member(&format!("{name}.onnx")))).collect()
}

fn shape(entry: &Value) -> Shape {
    let size = |at: usize| usize::try_from(entry["shape"][at].as_u64().expect("a size")).expect("a size");
    Shape { channels: size(0), height: size(1), width: size(2) }
}

/// The images of the script, as the engine takes them.
#[allow(clippy::cast_possible_truncation)] // networks are f32
fn images(shape: Shape, imported: &Imported) -> Vec<f32> {
    let Shape { channels, height, width } = shape;
    let plane = height * width;
    let mut x = vec![0.0; IMAGES * shape.len()];
    for (k, image) in x.chunks_exact_mut(shape.len()).enumerate() {
        for (at, out) in image.iter_mut().enumerate() {
            let (c, pixel) = (at / plane, at % plane);
            let theirs = if imported.channels_last { pixel * channels + c } else { at };
            let number = (k * shape.len() + theirs) * 71 % 255;
            *out = (number as f64 / 255.0) as f32;
            if let Some((mean, std)) = &imported.normalisation {
                *out = ((f64::from(*out) - mean[c]) / std[c]) as f32;
            }
        }
    }
    x
}

#[test]
fn graphs_of_other_programs_have_their_scores() {
    let mut seen = 0;
    for (name, entry, bytes) in graphs().iter().filter(|(_, entry, _)| entry["refused"].is_null()) {
        let shape = shape(entry);
        let imported =
            import(bytes, shape).unwrap_or_else(|error| panic!("{name}: {error}")).expect("a graph");
        assert_eq!(entry["channels_last"], imported.channels_last, "{name}");
        let classes = imported.architecture.classes;
        let mut scores = vec![0.0; IMAGES * classes];
        Inference::new(&imported.architecture, &imported.weights, Isa::detect(), MemoryLimit::NONE)
            .expect("a network")
            .scores(&images(shape, &imported), &mut scores);
        if entry["softmax"] == true {
            for row in scores.chunks_exact_mut(classes) {
                let sum: f32 = row.iter().map(|score| score.exp()).sum();
                row.iter_mut().for_each(|score| *score = score.exp() / sum);
            }
        }
        let theirs: Vec<f64> =
            entry["scores"].as_array().expect("scores").iter().map(|s| s.as_f64().expect("one")).collect();
        let largest = theirs.iter().fold(0.0_f64, |most, score| most.max(score.abs()));
        assert_eq!(scores.len(), theirs.len(), "{name}");
        for (ours, theirs) in scores.iter().zip(&theirs) {
            assert!(
                (f64::from(*ours) - theirs).abs() <= 2e-5 * largest,
                "{name}: {ours} {theirs} of {largest}"
            );
        }
        seen += 1;
    }
    assert!(seen >= 8, "{seen}");
}

#[test]
fn normalisation_inside_a_graph_is_found() {
    let found = |wanted: &str| {
        let (_, entry, bytes) = graphs().into_iter().find(|(name, ..)| name == wanted).expect("a graph");
        import(&bytes, shape(&entry)).expect("layers we have").expect("a graph").normalisation
    };
    // (x − mean)/0.25; (x − mean)·scale with channels last; x/0.5; 2·x.
    assert_eq!(found("torch_small"), Some((vec![0.4, 0.5, 0.6], vec![0.25; 3])));
    assert_eq!(found("channels_last"), Some((vec![0.25, 0.5], vec![0.25, 0.5])));
    assert_eq!(found("option_a"), Some((vec![0.0; 2], vec![0.5; 2])));
    assert_eq!(found("axes"), Some((vec![0.0; 2], vec![0.5; 2])));
    assert_eq!(found("torch_option_a"), None);
}

#[test]
fn what_the_engine_lacks_is_named() {
    let mut seen = 0;
    for (name, entry, bytes) in graphs() {
        let Some(words) = entry["refused"].as_array() else { continue };
        let message = match import(&bytes, shape(&entry)) {
            Err(error) => error.to_string(),
            Ok(_) => panic!("{name} is not refused"),
        };
        for word in words {
            let word = word.as_str().expect("a word");
            assert!(message.contains(word), "{name}: `{word}` is not in `{message}`");
        }
        seen += 1;
    }
    assert!(seen >= 20, "{seen}");
}

/// Damaged files are errors, or other networks, and never a panic.
#[test]
fn damage_does_no_harm() {
    for (name, entry, bytes) in graphs() {
        let shape = shape(&entry);
        for at in (0..bytes.len()).step_by(bytes.len() / 200 + 1) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << (at % 8);
            let _ = import(&damaged, shape);
            // Behind the graph stands only which version of the operations it uses.
            let whole = matches!(import(&bytes[..at], shape), Ok(Some(_)));
            assert!(!whole || at + 32 > bytes.len(), "{name} cut at {at}");
        }
    }
}
