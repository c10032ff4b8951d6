//! Networks as ONNX files: read back by us, and run by ONNX Runtime.

use super::gradients::conv;
use super::{network, normal};
use crate::support::quiet;
use gambeson_data::dataset::Shape;
use gambeson_data::source::{LoadOptions, data_dir, load};
use gambeson_learn::net::architecture::{
    Architecture, Convolution, Layer, LayerKind, Linear, Shortcut, ShortcutKind, Window,
};
use gambeson_learn::net::inference::Inference;
use gambeson_learn::net::kernel::Isa;
use gambeson_learn::net::models::Model;
use gambeson_learn::onnx::export::{ExportError, export};
use gambeson_learn::onnx::import::import;
use gambeson_learn::onnx::library::environment;
use gambeson_learn::weights::network::{Network, NetworkProblem};
use gambeson_lowrank::MemoryLimit;
use gambeson_testing::{reference_data, skipped};
use ort::session::Session;
use ort::value::TensorRef;

const MEAN: [f64; 3] = [0.485, 0.456, 0.406];
const STD: [f64; 3] = [0.229, 0.224, 0.225];

fn layer(input: usize, convolution: Convolution) -> Layer {
    Layer { input, kind: LayerKind::Convolution(convolution) }
}

fn linear(input: usize, outputs: usize, bias: bool, relu: bool) -> Layer {
    Layer { input, kind: LayerKind::Linear(Linear { outputs, bias, relu }) }
}

/// One architecture for every way in which layers can meet.
fn architectures() -> Vec<Architecture> {
    let square = Shape { channels: 3, height: 16, width: 16 };
    let odd = Shape { channels: 3, height: 9, width: 7 };
    let mut all: Vec<Architecture> = Vec::new();
    for model in
        [Model::ResNet { depth: 8, width: 6 }, Model::Cnn { width: 5 }, Model::Mlp { hidden: vec![11, 7] }]
    {
        for input in [square, odd] {
            all.push(model.architecture(input, 10).expect("a model"));
        }
    }
    let shortcut = |from, kind| Some(Shortcut { from, kind });
    let (plain, sampled) = (ShortcutKind::Identity, ShortcutKind::Subsampled);
    let window = Window { kernel: 3, stride: 2, padding: 1 };
    let cases = [
        // A shortcut from the input, one with weights of its own, no bias at the end.
        vec![
            layer(0, Convolution { shortcut: shortcut(0, plain), relu: true, ..conv(0, 3, 3, 1, 1) }),
            layer(1, Convolution { norm: true, ..conv(0, 5, 1, 1, 0) }),
            layer(1, Convolution { bias: true, shortcut: shortcut(2, plain), ..conv(0, 5, 5, 1, 2) }),
            linear(3, 4, false, false),
        ],
        // Option A with a step of 3, with channels only, and with neither; the last as a plane of scores.
        vec![
            layer(0, Convolution { norm: true, shortcut: shortcut(0, sampled), ..conv(0, 7, 3, 3, 1) }),
            layer(1, Convolution { shortcut: shortcut(1, sampled), relu: true, ..conv(0, 13, 3, 1, 1) }),
            layer(2, conv(0, 4, 3, 1, 0)),
        ],
        // Rows that become images again, twice read; pools of both kinds with padding.
        vec![
            Layer { input: 0, kind: LayerKind::MaxPool(window) },
            Layer { input: 1, kind: LayerKind::AveragePool(window) },
            linear(2, 6, true, true),
            layer(3, Convolution { bias: true, shortcut: shortcut(3, plain), ..conv(0, 6, 3, 1, 1) }),
            Layer { input: 4, kind: LayerKind::GlobalAverage },
        ],
    ];
    for layers in cases {
        let mut architecture = Architecture { input: odd, classes: 1, layers };
        if let Err(gambeson_learn::net::architecture::ArchitectureError::Scores { found, .. }) =
            architecture.shapes()
        {
            architecture.classes = found;
        }
        all.push(architecture);
    }
    all
}

fn normalised(network: &Network, x: &[f32]) -> Vec<f32> {
    let Some((mean, std)) = &network.normalisation else { return x.to_vec() };
    let Shape { channels, height, width } = network.architecture.input;
    #[allow(clippy::cast_possible_truncation)]
    let one = |(at, x): (usize, &f32)| {
        let c = at / (height * width) % channels;
        ((f64::from(*x) - mean[c]) / std[c]) as f32
    };
    x.iter().enumerate().map(one).collect()
}

fn scores(network: &Network, x: &[f32]) -> Vec<f32> {
    let images = x.len() / network.architecture.input.len();
    let engine = Inference::new(&network.architecture, &network.weights, Isa::detect(), MemoryLimit::NONE)
        .expect("a network");
    let mut scores = vec![0.0; images * network.architecture.classes];
    engine.scores(&normalised(network, x), &mut scores);
    scores
}

/// Scores by ONNX Runtime; `None`, saying so, where it is not installed.
fn runtime_scores(graph: &[u8], shape: Shape, x: &[f32]) -> Option<Vec<f32>> {
    let environment = environment().inspect_err(skipped).ok()?;
    let mut session = Session::builder(&environment)
        .expect("a builder")
        .commit_from_memory(graph)
        .expect("a graph that runs");
    let Shape { channels, height, width } = shape;
    let rows = x.len() / shape.len();
    let input = TensorRef::from_array_view(([rows, channels, height, width], x)).expect("an array");
    let outputs = session.run(ort::inputs!["input" => input]).expect("a pass");
    let (shape, scores) = outputs["scores"].try_extract_tensor::<f32>().expect("numbers");
    assert_eq!((shape.len(), usize::try_from(shape[0])), (2, Ok(rows)));
    Some(scores.to_vec())
}

fn near(ours: &[f32], theirs: &[f32], relative: f32) {
    assert_eq!(ours.len(), theirs.len());
    let largest = theirs.iter().fold(0.0_f32, |most, score| most.max(score.abs()));
    assert!(largest > 1e-3, "there are scores");
    for (ours, theirs) in ours.iter().zip(theirs) {
        assert!((ours - theirs).abs() <= relative * largest, "{ours} {theirs} of {largest}");
    }
}

#[test]
fn every_network_comes_back_from_its_graph_and_runs_elsewhere() {
    for (at, architecture) in architectures().into_iter().enumerate() {
        let weights = network(&architecture, 300 + at as u64);
        let normalisation = (at % 2 == 0).then(|| (MEAN.to_vec(), STD.to_vec()));
        let training = (at % 3 == 0).then(|| "epochs = 3 # µ".to_owned());
        let mut network = Network { architecture, weights, normalisation, training };
        let graph = export(&network).expect("a graph");
        assert_eq!(graph, export(&network).expect("a graph"), "the same bytes every time");
        let shape = network.architecture.input;
        let x: Vec<f32> = normal(5 * shape.len(), 9).iter().map(|x| 0.5 + 0.25 * x).collect();
        if let Some(theirs) = runtime_scores(&graph, shape, &x) {
            near(&scores(&network, &x), &theirs, 1e-4);
        }
        let imported = import(&graph, shape).expect("layers we have").expect("a graph");
        assert!(!imported.channels_last);
        // Option A between values of one shape is the identity, and comes back as that.
        let shapes = network.architecture.shapes().expect("a network");
        for (layer, to) in network.architecture.layers.iter_mut().zip(&shapes[1..]) {
            if let LayerKind::Convolution(Convolution { shortcut: Some(shortcut), .. }) = &mut layer.kind
                && shapes[shortcut.from] == *to
            {
                shortcut.kind = ShortcutKind::Identity;
            }
        }
        assert_eq!(imported.into_network(), network);
        for cut in (0..graph.len() - 64).step_by(graph.len() / 60 + 1) {
            assert!(!matches!(import(&graph[..cut], shape), Ok(Some(_))), "cut at {cut}");
        }
    }
}

/// `models/resnet20-12fca82f.th` with the normalisation it was trained with.
#[test]
fn a_public_network_gives_the_same_scores_in_both_runtimes() {
    let Some(reference) = reference_data("") else { return };
    let shape = Shape { channels: 3, height: 32, width: 32 };
    let path = reference.join("models/resnet20-12fca82f.th");
    let (mut network, _) = Network::read(&path, shape, MemoryLimit::NONE).expect("a network");
    network.normalisation = Some((MEAN.to_vec(), STD.to_vec()));
    let graph = export(&network).expect("a graph");
    let images = 64;
    let options = LoadOptions::new(data_dir().unwrap_or_default());
    let mut x: Vec<f32> = normal(images * shape.len(), 11).iter().map(|x| 0.5 + 0.25 * x).collect();
    if let Ok(data) = load("cifar10", &options, &mut quiet) {
        for (at, out) in x.chunks_exact_mut(shape.len()).enumerate() {
            data.sample_f32(at, out);
        }
    }
    let ours = scores(&network, &x);
    let again = import(&graph, shape).expect("layers we have").expect("a graph").into_network();
    assert_eq!(again, network);
    if let Some(theirs) = runtime_scores(&graph, shape, &x) {
        near(&ours, &theirs, 1e-4);
    }
}

#[test]
fn what_is_no_network_is_not_written() {
    let architecture =
        Model::Cnn { width: 2 }.architecture(Shape { channels: 3, height: 8, width: 8 }, 3).expect("a model");
    let whole =
        Network { weights: network(&architecture, 1), architecture, normalisation: None, training: None };
    assert!(export(&whole).is_ok());
    let refused = |change: &dyn Fn(&mut Network)| {
        let mut broken = whole.clone();
        change(&mut broken);
        export(&broken).expect_err("refused")
    };
    let error = refused(&|network| network.weights.parameters.push(0.0));
    assert!(matches!(error, ExportError::Network(NetworkProblem::Length { .. })), "{error}");
    let error = refused(&|network| network.weights.statistics[3] = f32::INFINITY);
    assert!(
        matches!(&error, ExportError::Network(NetworkProblem::NotFinite { name }) if name == "0.variance"),
        "{error}"
    );
    let error = refused(&|network| network.weights.statistics[2] = -1.0);
    assert!(matches!(error, ExportError::Network(NetworkProblem::Variance { .. })), "{error}");
    let error = refused(&|network| network.normalisation = Some((vec![0.5; 2], vec![1.0; 2])));
    assert!(matches!(error, ExportError::Network(NetworkProblem::Normalisation)), "{error}");
    let error = refused(&|network| network.normalisation = Some((vec![0.5; 3], vec![1e-60; 3])));
    assert!(matches!(error, ExportError::Normalisation), "{error}");
    let error = refused(&|network| network.architecture.layers[0].input = 7);
    assert!(matches!(error, ExportError::Network(NetworkProblem::Architecture(_))), "{error}");
}
