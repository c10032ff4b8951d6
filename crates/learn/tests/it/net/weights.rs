//! Networks in files: our own, state dicts of PyTorch, ONNX graphs.

use super::{network, normal};
use crate::support::{folder, reference, write};
use gambeson_data::dataset::Shape;
use gambeson_learn::net::inference::Inference;
use gambeson_learn::net::kernel::Isa;
use gambeson_learn::net::models::Model;
use gambeson_learn::onnx::import::{ImportError, Unsupported, import};
use gambeson_learn::onnx::{OnnxModel, library};
use gambeson_learn::weights::network::{Network, NetworkProblem};
use gambeson_learn::weights::pickle::PickleError;
use gambeson_learn::weights::state_dict::StateDictError;
use gambeson_learn::weights::torch::{self, TorchError};
use gambeson_smooth::classifier::Classifier;

const CIFAR: Shape = Shape { channels: 3, height: 32, width: 32 };

fn example() -> Network {
    let input = Shape { channels: 3, height: 8, width: 8 };
    let architecture = Model::ResNet { depth: 8, width: 4 }.architecture(input, 5).expect("a model");
    let weights = network(&architecture, 3);
    let normalisation = Some((vec![0.5, 0.4, 0.3], vec![0.25, 0.2, 0.125]));
    Network { architecture, weights, normalisation, training: Some("sigma = 0.25".to_owned()) }
}

#[test]
fn a_network_comes_back_from_its_file() {
    let (folder, network) = (folder(), example());
    let path = folder.path().join("net.safetensors");
    let hash = network.write(&path).expect("written");
    let (again, read_hash) = Network::read(&path, CIFAR).expect("read");
    assert_eq!((&again, &read_hash), (&network, &hash));
    assert_eq!(
        again.to_bytes().expect("bytes"),
        std::fs::read(&path).expect("read"),
        "the same bytes every time"
    );
    // Every truncation is an error, none a panic.
    let bytes = std::fs::read(&path).expect("read");
    for cut in (0..bytes.len()).step_by(bytes.len() / 40 + 1) {
        let path = write(folder.path(), "cut", &bytes[..cut]);
        assert!(Network::read(&path, CIFAR).is_err(), "cut at {cut}");
    }
}

#[test]
fn wrong_numbers_in_a_file_are_named() {
    let folder = folder();
    let problem = |network: &Network| {
        let path = folder.path().join("net.safetensors");
        network.write(&path).expect("written");
        *Network::read(&path, CIFAR).expect_err("refused").problem
    };
    let mut broken = example();
    broken.weights.parameters[7] = f32::NAN;
    assert!(matches!(problem(&broken), NetworkProblem::NotFinite { name } if name == "0.weight"));
    let mut broken = example();
    broken.normalisation = Some((vec![0.5; 3], vec![0.0; 3]));
    assert!(matches!(problem(&broken), NetworkProblem::Normalisation));
    let path = write(folder.path(), "text", "not a network");
    let error = Network::read(&path, CIFAR).expect_err("refused");
    assert!(matches!(*error.problem, NetworkProblem::Unknown));
}

/// The same weights in PyTorch's own file and in safetensors give the same network.
#[test]
fn public_state_dicts_are_read() {
    let Some(reference) = reference() else { return };
    for (name, depth) in [("resnet20-12fca82f", 20), ("resnet32-d509ac18", 32)] {
        let read = |ending: &str| {
            let path = reference.join("models").join(format!("{name}.{ending}"));
            Network::read(&path, CIFAR).expect("a network").0
        };
        let (stream, arrays) = (read("th"), read("safetensors"));
        assert_eq!(stream, arrays);
        let expected = Model::ResNet { depth, width: 16 }.architecture(CIFAR, 10).expect("a model");
        assert_eq!(stream.architecture, expected);
    }
    let path = reference.join("models/resnet20-12fca82f.th");
    let bytes = std::fs::read(&path).expect("read");
    let mut tensors = torch::read(&bytes).expect("tensors");
    tensors.retain(|tensor| tensor.name != "module.layer2.1.bn2.weight");
    tensors[0].name = "module.stem.weight".to_owned();
    let error = gambeson_learn::weights::state_dict::from_state_dict(tensors.clone(), Some(CIFAR))
        .expect_err("no stem");
    assert!(matches!(error, StateDictError::Unknown { .. }), "{error}");
    tensors[0].name = "module.conv1.weight".to_owned();
    tensors[1].name = "module.bn1.gamma".to_owned();
    let error = gambeson_learn::weights::state_dict::from_state_dict(tensors, None).expect_err("other names");
    let StateDictError::Mismatch { missing, unexpected, .. } = &error else { panic!("{error}") };
    assert!(missing.contains(&"layer2.1.bn2.weight".to_owned()) && unexpected == &["bn1.gamma"], "{error}");
    for cut in (0..bytes.len()).step_by(bytes.len() / 50) {
        assert!(torch::read(&bytes[..cut]).is_err(), "cut at {cut}");
    }
}

#[test]
fn a_pickle_that_would_run_something_is_refused() {
    // os.system("true"), as a malicious file has it behind a genuine beginning.
    let start: &[u8] = &[0x80, 2, 0x8a, 10, 0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19, b'.'];
    let rest: &[u8] = &[0x80, 2, b'M', 0xe9, 3, b'.', 0x80, 2, b'}', b'.', 0x80, 2];
    let call = b"cos\nsystem\nX\x04\0\0\0true\x85R.";
    let error = torch::read(&[start, rest, call].concat()).expect_err("refused");
    assert!(
        matches!(&error, TorchError::Pickle(PickleError::Global { name, .. }) if name == "os system"),
        "{error}"
    );
    // Objects by class (INST) and extensions have no place either.
    for operation in [b'i', b'o', 0x81, 0x82, b'P'] {
        let error = torch::read(&[start, rest, &[b'N', operation]].concat()).expect_err("refused");
        assert!(
            matches!(&error, TorchError::Pickle(PickleError::Operation { operation: own, .. }) if *own == operation),
            "{error}"
        );
    }
}

/// Scores of the engine on public graphs against ONNX Runtime's answers.
#[test]
fn public_graphs_run_on_the_engine() {
    let Some(reference) = reference() else { return };
    for name in ["resnet_2b", "cifar_base_kw", "cifar_deep_kw", "cifar10_small"] {
        let path = reference.join("models").join(format!("{name}.onnx"));
        let imported =
            import(&std::fs::read(&path).expect("read"), CIFAR).expect("layers we have").expect("a graph");
        let images = 64;
        let x: Vec<f32> = normal(images * CIFAR.len(), 11).iter().map(|x| 0.5 + 0.25 * x).collect();
        let mut scores = vec![0.0; images * imported.architecture.classes];
        let engine =
            Inference::new(&imported.architecture, &imported.weights, Isa::detect()).expect("a network");
        engine.scores(&x, &mut scores);
        if library::find().is_err() {
            continue;
        }
        let model = OnnxModel::load(&path, CIFAR, None, 1).expect("loaded");
        let mut rows = x.clone();
        if let Some(map) = model.input_map() {
            assert!(imported.channels_last, "{name}");
            for (row, out) in x.chunks_exact(CIFAR.len()).zip(rows.chunks_exact_mut(CIFAR.len())) {
                map.apply(row, out);
            }
        }
        let mut answers = vec![0; images];
        model.classify(&rows, images, &mut answers).expect("answers");
        for (row, answer) in scores.chunks_exact(imported.architecture.classes).zip(&answers) {
            let best = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            // The two may differ where scores are nearly equal.
            assert!(row[*answer as usize] >= best - 1e-4 * (1.0 + best.abs()), "{name}: {row:?} {answer}");
        }
    }
}

#[test]
fn graphs_with_other_operations_are_named() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/mixing.onnx");
    let bytes = std::fs::read(path).expect("a fixture");
    let error = import(&bytes, Shape { channels: 2, height: 3, width: 2 }).expect_err("not ours");
    assert!(
        matches!(error, ImportError::Unsupported(Unsupported::Operator { .. } | Unsupported::Setting { .. })),
        "{error}"
    );
    assert!(import(&bytes[..bytes.len() / 2], CIFAR).is_err());
    assert!(matches!(import(&[], CIFAR), Ok(None)));
}
