//! Networks in files: our own, state dicts of PyTorch, ONNX graphs.

use super::{network, normal};
use crate::support::{folder, write};
use gambeson_data::dataset::Shape;
use gambeson_learn::net::inference::Inference;
use gambeson_learn::net::kernel::Isa;
use gambeson_learn::net::models::Model;
use gambeson_learn::onnx::import::{ImportError, Unsupported, import};
use gambeson_learn::onnx::{OnnxModel, library};
use gambeson_learn::weights::format::{FORMAT, WeightsFormatError};
use gambeson_learn::weights::network::{Network, NetworkProblem};
use gambeson_learn::weights::pickle::{DEEPEST, PickleError};
use gambeson_learn::weights::state_dict::StateDictError;
use gambeson_learn::weights::torch::{self, TorchError};
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::safetensors::{Tensor, Tensors};
use gambeson_smooth::classifier::Classifier;
use gambeson_testing::{reference_data, skipped};

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
    let (again, read_hash) = Network::read(&path, CIFAR, MemoryLimit::NONE).expect("read");
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
        assert!(Network::read(&path, CIFAR, MemoryLimit::NONE).is_err(), "cut at {cut}");
    }
}

#[test]
fn wrong_numbers_in_a_file_are_named() {
    let folder = folder();
    let problem = |network: &Network| {
        let path = folder.path().join("net.safetensors");
        network.write(&path).expect("written");
        *Network::read(&path, CIFAR, MemoryLimit::NONE).expect_err("refused").problem
    };
    let mut broken = example();
    broken.weights.parameters[7] = f32::NAN;
    assert!(matches!(problem(&broken), NetworkProblem::NotFinite { name } if name == "0.weight"));
    let mut broken = example();
    broken.normalisation = Some((vec![0.5; 3], vec![0.0; 3]));
    assert!(matches!(problem(&broken), NetworkProblem::Normalisation));
    let path = write(folder.path(), "text", "not a network");
    let error = Network::read(&path, CIFAR, MemoryLimit::NONE).expect_err("refused");
    assert!(matches!(*error.problem, NetworkProblem::Format(WeightsFormatError::Unknown)), "{error}");
    let error =
        Network::read(&write(folder.path(), "nothing", ""), CIFAR, MemoryLimit::NONE).expect_err("refused");
    assert!(matches!(*error.problem, NetworkProblem::Format(WeightsFormatError::Empty)), "{error}");
}

/// The beginning of a stream of PyTorch's: magic number, protocol and machine.
const START: &[u8] = &[
    0x80, 2, 0x8a, 10, 0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19, b'.', //
    0x80, 2, b'M', 0xe9, 3, b'.', 0x80, 2, b'}', b'.', 0x80, 2,
];

/// Nesting is walked by recursion, when it is dropped at the latest: a million levels would end the program.
#[test]
fn objects_in_objects_are_counted() {
    type Build = fn(usize) -> Vec<u8>;
    let tuples: Build = |levels| [&b")"[..], &vec![0x85; levels - 1]].concat();
    let lists: Build = |levels| [vec![b']'; levels], vec![b'a'; levels - 1]].concat();
    let dicts: Build = |levels| [b"}N".repeat(levels - 1), b"}".to_vec(), vec![b's'; levels - 1]].concat();
    let marked: Build = |levels| [vec![b'('; levels], vec![b't'; levels]].concat();
    for (what, build) in [("tuples", tuples), ("lists", lists), ("dictionaries", dicts), ("marks", marked)] {
        for (levels, refused) in [(DEEPEST, false), (DEEPEST + 1, true), (1_000_000, true)] {
            let error = torch::read(&[START, &build(levels), b"."].concat()).expect_err("no tensors");
            let depth = matches!(error, TorchError::Pickle(PickleError::Depth { limit: DEEPEST, .. }));
            assert_eq!(depth, refused, "{what}, {levels}: {error}");
        }
    }
    // Names of storages are tuples, which count.
    let error = torch::read(&[START, b")QQ."].concat()).expect_err("no tuple");
    assert!(matches!(error, TorchError::Pickle(PickleError::Malformed { .. })), "{error}");
}

/// A list that is put aside before every item that is added would be there in every length, which is quadratic; put aside
/// once, as Python does, it may grow.
#[test]
fn copies_of_lists_are_bounded_by_the_file() {
    let error =
        |parts: &[&[u8]]| torch::read(&[&[START], parts, &[b"."]].concat().concat()).expect_err("no tensors");
    for (open, item) in [(b"]", &b"Na\x94"[..]), (b"}", &b"NNs\x94"[..])] {
        let found = error(&[open, &item.repeat(20_000)]);
        assert!(matches!(found, TorchError::Pickle(PickleError::Copies { .. })), "{found}");
        let found = error(&[open, b"\x94", &item[..item.len() - 1].repeat(20_000)]);
        assert!(!matches!(found, TorchError::Pickle(PickleError::Copies { .. })), "{found}");
    }
    // A number far away claims no memory.
    let found = error(&[b"Nr\xff\xff\xff\xffj\xff\xff\xff\xff"]);
    assert!(matches!(found, TorchError::Pickle(PickleError::Truncated { .. })), "{found}");
}

/// Tensors may be views of one storage, a few of them; not so many that the file would grow to any size.
#[test]
fn tensors_that_share_numbers_are_bounded_by_the_file() {
    const NUMBERS: u8 = 200;
    let text = |text: &str| {
        [&b"X"[..], &u32::try_from(text.len()).expect("short").to_le_bytes(), text.as_bytes()].concat()
    };
    let stream = |tensors: usize| {
        let storage = [
            b"(".to_vec(),
            text("storage"),
            b"ctorch\nFloatStorage\n".to_vec(),
            text("0"),
            text("cpu"),
            vec![b'K', NUMBERS, b't', b'Q', b'q', 1],
        ]
        .concat();
        let function = b"ctorch._utils\n_rebuild_tensor\nq\0".to_vec();
        let mut bytes = [START, b"}"].concat();
        for tensor in 0..tensors {
            // _rebuild_tensor(storage, 0, (NUMBERS,), (1,)): both are made once and remembered.
            let (function, storage) = if tensor == 0 {
                (function.clone(), storage.clone())
            } else {
                (vec![b'h', 0], vec![b'h', 1])
            };
            let rest = vec![b'K', 0, b'K', NUMBERS, 0x85, b'K', 1, 0x85, b't', b'R', b's'];
            bytes.extend([text(&tensor.to_string()), function, b"(".to_vec(), storage, rest].concat());
        }
        bytes.extend([&b".\x80\x02]"[..], &text("0"), b"a."].concat());
        bytes.extend(u64::from(NUMBERS).to_le_bytes());
        (0..NUMBERS).for_each(|number| bytes.extend(f32::from(number).to_le_bytes()));
        bytes
    };
    let read = torch::read(&stream(3)).expect("three tensors");
    let expected: Vec<f32> = (0..NUMBERS).map(f32::from).collect();
    assert!(read.len() == 3 && read.iter().all(|tensor| tensor.values == expected));
    let error = torch::read(&stream(1000)).expect_err("refused");
    assert!(
        matches!(&error, TorchError::Tensor { problem, .. } if problem.contains("more numbers")),
        "{error}"
    );
}

/// Names and shapes can claim terabytes in a few bytes.
#[test]
fn claimed_sizes_are_compared_with_the_numbers_there_are() {
    let linear = |input: usize, outputs: usize| {
        format!(r#"{{"input":{input},"kind":"linear","outputs":{outputs},"bias":true}}"#)
    };
    let mut layers = vec![linear(0, 600_000)];
    layers.extend((1..=200).map(|at| linear(at, if at % 2 == 1 { 3_500 } else { 600_000 })));
    layers.push(linear(201, 10));
    let mut file = Tensors::<f32>::default();
    let architecture = format!(
        r#"{{"input":{{"channels":3,"height":32,"width":32}},"classes":10,"layers":[{}]}}"#,
        layers.join(",")
    );
    file.metadata.insert("format".to_owned(), FORMAT.to_owned());
    file.metadata.insert("architecture".to_owned(), architecture);
    let error = Network::parse(&file.to_bytes(), None).expect_err("no numbers");
    assert!(
        matches!(&error, NetworkProblem::Array { name, problem: "missing" } if name == "0.weight"),
        "{error}"
    );

    let mut file = Tensors::<f32>::default();
    let empty = |shape: &[usize]| Tensor { shape: shape.to_vec(), values: Vec::new() };
    file.tensors.insert("conv1.weight".to_owned(), empty(&[3000, 3, 0, 0]));
    for block in 0..300 {
        file.tensors.insert(format!("layer1.{block}.x"), empty(&[0]));
    }
    let error = Network::parse(&file.to_bytes(), None).expect_err("no numbers");
    assert!(matches!(&error, NetworkProblem::StateDict(StateDictError::Mismatch { .. })), "{error}");
}

/// A state dict as arrays by the names of PyTorch, all numbers at what `number` makes of their list.
fn resnet8(number: impl Fn(&str) -> f32) -> Vec<(String, Vec<usize>, f32)> {
    let mut arrays = Vec::new();
    let mut convolution = |conv: &str, norm: &str, from: usize, to: usize| {
        arrays.push((format!("{conv}.weight"), vec![to, from, 3, 3]));
        for part in ["weight", "bias", "running_mean", "running_var"] {
            arrays.push((format!("{norm}.{part}"), vec![to]));
        }
    };
    convolution("conv1", "bn1", 3, 2);
    for stage in 0..3 {
        let (from, to) = (if stage == 0 { 2 } else { 1 << stage }, 2 << stage);
        for (half, from) in [(1, from), (2, to)] {
            let prefix = format!("layer{}.0", stage + 1);
            convolution(&format!("{prefix}.conv{half}"), &format!("{prefix}.bn{half}"), from, to);
        }
    }
    arrays.push(("linear.weight".to_owned(), vec![4, 8]));
    arrays.push(("linear.bias".to_owned(), vec![4]));
    arrays
        .into_iter()
        .map(|(name, shape)| (number(&name), name, shape))
        .map(|(x, name, shape)| (name, shape, x))
        .collect()
}

/// A safetensors file by hand: numbers of any type.
fn safetensors(arrays: &[(String, Vec<usize>, f32)], kind: &str, bytes: impl Fn(f32) -> Vec<u8>) -> Vec<u8> {
    let (mut entries, mut data) = (Vec::new(), Vec::new());
    for (name, shape, number) in arrays {
        let start = data.len();
        data.extend(bytes(*number).repeat(shape.iter().product()));
        let end = data.len();
        entries.push(format!(
            r#""{name}":{{"dtype":"{kind}","shape":{shape:?},"data_offsets":[{start},{end}]}}"#
        ));
    }
    let header = format!("{{{}}}", entries.join(","));
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &data].concat()
}

/// 1.5 and its like are exact in every precision.
#[test]
fn arrays_of_other_precisions_are_the_same_network() {
    let arrays = resnet8(|name| if name.ends_with("conv1.weight") { -1.5 } else { 0.375 });
    let read = |kind: &str, bytes: &dyn Fn(f32) -> Vec<u8>| {
        Network::parse(&safetensors(&arrays, kind, bytes), None)
            .unwrap_or_else(|error| panic!("{kind}: {error}"))
    };
    let single = read("F32", &|x| x.to_le_bytes().to_vec());
    assert!(single.weights.parameters[0].to_bits() == (-1.5_f32).to_bits());
    let bits = |x: f32| if x < 0.0 { [0xbe00_u16, 0xbfc0] } else { [0x3600, 0x3ec0] };
    assert_eq!(read("F64", &|x| f64::from(x).to_le_bytes().to_vec()), single);
    assert_eq!(read("F16", &|x| bits(x)[0].to_le_bytes().to_vec()), single);
    assert_eq!(read("BF16", &|x| bits(x)[1].to_le_bytes().to_vec()), single);
}

#[test]
fn a_variance_below_0_is_refused_in_state_dicts_too() {
    let arrays = resnet8(|name| if name == "layer2.0.bn1.running_var" { -1.0 } else { 0.5 });
    let bytes = safetensors(&arrays, "F32", |x| x.to_le_bytes().to_vec());
    let error = Network::parse(&bytes, None).expect_err("refused");
    assert!(matches!(&error, NetworkProblem::Variance { name } if name == "3.variance"), "{error}");
}

/// The same weights in PyTorch's own file and in safetensors give the same network.
#[test]
fn public_state_dicts_are_read() {
    let Some(reference) = reference_data("") else { return };
    for (name, depth) in [("resnet20-12fca82f", 20), ("resnet32-d509ac18", 32)] {
        let read = |ending: &str| {
            let path = reference.join("models").join(format!("{name}.{ending}"));
            Network::read(&path, CIFAR, MemoryLimit::NONE).expect("a network").0
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
    let StateDictError::Unknown { missing, unexpected } = &error else { panic!("{error}") };
    assert_eq!(
        (&missing[..], &unexpected[..]),
        (&["conv1.weight".to_owned(), "layer2.1.bn2.weight".to_owned()][..], &["stem.weight".to_owned()][..])
    );
    let text = error.to_string();
    assert!(text.contains("missing conv1.weight") && text.contains("unexpected stem.weight"), "{text}");
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
    let call = b"cos\nsystem\nX\x04\0\0\0true\x85R.";
    let error = torch::read(&[START, call].concat()).expect_err("refused");
    assert!(
        matches!(&error, TorchError::Pickle(PickleError::Global { name, .. }) if name == "os system"),
        "{error}"
    );
    // Objects by class (INST) and extensions have no place either.
    for operation in [b'i', b'o', 0x81, 0x82, b'P'] {
        let error = torch::read(&[START, &[b'N', operation]].concat()).expect_err("refused");
        assert!(
            matches!(&error, TorchError::Pickle(PickleError::Operation { operation: own, .. }) if *own == operation),
            "{error}"
        );
    }
}

/// Scores of the engine on public graphs against ONNX Runtime's answers.
#[test]
fn public_graphs_run_on_the_engine() {
    let Some(reference) = reference_data("") else { return };
    let compared = library::find().inspect_err(skipped).is_ok();
    for name in ["resnet_2b", "cifar_base_kw", "cifar_deep_kw", "cifar10_small"] {
        let path = reference.join("models").join(format!("{name}.onnx"));
        let imported =
            import(&std::fs::read(&path).expect("read"), CIFAR).expect("layers we have").expect("a graph");
        let images = 64;
        let x: Vec<f32> = normal(images * CIFAR.len(), 11).iter().map(|x| 0.5 + 0.25 * x).collect();
        let mut scores = vec![0.0; images * imported.architecture.classes];
        let engine =
            Inference::new(&imported.architecture, &imported.weights, Isa::detect(), MemoryLimit::NONE)
                .expect("a network");
        engine.scores(&x, &mut scores);
        if !compared {
            continue;
        }
        let model = OnnxModel::load(&path, CIFAR, None, MemoryLimit::NONE, 1).expect("loaded");
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
