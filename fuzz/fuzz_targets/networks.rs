//! Graphs and state dicts.

use super::{as_file, fixture};
use crate::answer::Answer;
use crate::bundle::joined;
use crate::drive::MEMORY;
use gambeson_data::dataset::Shape;
use gambeson_learn::net::models::Model;
use gambeson_learn::net::parameters::{ParameterLayout, Weights};
use gambeson_learn::onnx::batch::{has_graph, with_free_batch};
use gambeson_learn::onnx::export::export;
use gambeson_learn::onnx::external_files;
use gambeson_learn::onnx::import::{declared_shape, import};
use gambeson_learn::weights::network::Network;
use gambeson_learn::{convert, onnx as graphs_of};
use std::io::{Cursor, Read};
use std::path::Path;

/// Images of the graphs that do not say which they take, or take them with channels last.
const SHAPES: [Shape; 2] =
    [Shape { channels: 2, height: 6, width: 6 }, Shape { channels: 2, height: 3, width: 2 }];

pub(super) fn onnx(bytes: &[u8]) -> Answer {
    as_file(bytes, "net.onnx", |path| match convert::read(path, None, MEMORY) {
        Ok(source) => Ok(format!("{:?} {}", source.format, written_again(&source.network))),
        Err(error) => {
            let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
            let imported = SHAPES.iter().find_map(|&shape| import(&bytes, shape).ok().flatten());
            let network = imported.ok_or_else(|| error.to_string())?.into_network();
            Ok(format!("imported {}", written_again(&network)))
        }
    })
}

/// Whether the file of a graph is all that a command needs.
pub fn says_its_shape(bytes: &[u8]) -> bool {
    onnx(bytes).is_ok_and(|known| !known.starts_with("imported"))
}

/// What was read is what is written; also as a graph, where a graph can have it.
fn written_again(network: &Network) -> &'static str {
    let bytes = network.to_bytes().unwrap_or_default();
    let again = Network::parse(&bytes, None);
    assert!(again.is_ok_and(|again| again == *network), "another network after writing and reading");
    if export(network).is_ok() { "exported" } else { "not exported" }
}

/// The parts of a graph that are rewritten before ONNX Runtime gets it.
pub(super) fn graph(bytes: &[u8]) -> Answer {
    as_file(bytes, "net.onnx", |path| {
        let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
        let wire = |error: graphs_of::WireError| error.to_string();
        let files = external_files(path, MEMORY).map_err(|error| error.to_string());
        let shape = declared_shape(&bytes).map_err(wire);
        let free = with_free_batch(&bytes, "x0", 1).map_err(wire);
        let known = if has_graph(&bytes).map_err(wire)? { "a graph" } else { "no graph" };
        let beside = if files?.is_empty() { "" } else { "with files" };
        let says = if shape?.is_some() { "of a shape" } else { "" };
        let changed = if free? == bytes { "" } else { "freed" };
        Ok(format!("{known} {beside} {says} {changed}"))
    })
}

/// Networks of our own as graphs, those of other programs that are made of our layers, and one with its weights in a file
/// beside it.
pub(super) fn networks() -> Vec<Vec<u8>> {
    let own = own_networks();
    let mut seeds: Vec<Vec<u8>> = own.iter().filter_map(|network| export(network).ok()).collect();
    seeds.extend(
        graphs_in_archive()
            .into_iter()
            .filter(|(name, _)| !name.starts_with("refused"))
            .map(|(_, bytes)| bytes),
    );
    seeds.push(beside());
    seeds
}

fn beside() -> Vec<u8> {
    joined(&[
        ("net.onnx", fixture("learn/tests/fixtures/beside.onnx")),
        ("beside.weights", fixture("learn/tests/fixtures/beside.weights")),
    ])
}

/// All graphs of the tests of `learn`.
pub(super) fn graphs() -> Vec<Vec<u8>> {
    const NAMES: [&str; 12] = [
        "channels_last",
        "double",
        "half",
        "image_out",
        "integers",
        "mixing",
        "mixing_free",
        "one_row",
        "one_score",
        "reshape_constant",
        "reshape_list",
        "two_inputs",
    ];
    let fixtures = NAMES.map(|name| fixture(&format!("learn/tests/fixtures/{name}.onnx")));
    let archived = graphs_in_archive().into_iter().map(|(_, bytes)| bytes).filter(|bytes| bytes.len() < 2000);
    fixtures.into_iter().chain(archived).chain([beside()]).collect()
}

fn graphs_in_archive() -> Vec<(String, Vec<u8>)> {
    let bytes = fixture("learn/tests/fixtures/net/graphs.zip");
    let Ok(mut archive) = zip::ZipArchive::new(Cursor::new(bytes)) else { return Vec::new() };
    let mut graphs = Vec::new();
    for at in 0..archive.len() {
        let Ok(mut member) = archive.by_index(at) else { continue };
        let name = String::from_utf8_lossy(member.name_raw()).into_owned();
        let mut bytes = Vec::new();
        if Path::new(&name).extension().is_some_and(|ending| ending == "onnx")
            && member.read_to_end(&mut bytes).is_ok()
        {
            graphs.push((name, bytes));
        }
    }
    graphs
}

/// One of every family, small.
fn own_networks() -> Vec<Network> {
    let network = |model: Model, channels: usize, side: usize| {
        let input = Shape { channels, height: side, width: side };
        let architecture = model.architecture(input, 2).ok()?;
        let places = ParameterLayout::new(&architecture).ok()?;
        let weights =
            Weights { parameters: vec![0.125; places.parameters], statistics: vec![0.5; places.statistics] };
        let normalisation = (channels == 3).then(|| (vec![0.5; 3], vec![0.25; 3]));
        Some(Network { architecture, weights, normalisation, training: Some("seed = 0".to_owned()) })
    };
    let models = [
        (Model::Mlp { hidden: vec![3] }, 1, 4),
        (Model::ResNet { depth: 8, width: 2 }, 3, 8),
        (Model::Cnn { width: 1 }, 1, 8),
    ];
    models.into_iter().filter_map(|(model, channels, side)| network(model, channels, side)).collect()
}

pub(super) fn state_dict(bytes: &[u8]) -> Answer {
    let _ = Network::parse(bytes, Some(SHAPES[0]));
    let network = Network::parse(bytes, None).map_err(|error| error.to_string())?;
    Ok(written_again(&network).to_owned())
}

/// Files of our own, and a ResNet-8 of width 2 in every precision.
pub(super) fn state_dicts() -> Vec<Vec<u8>> {
    // 0.375 is exact in all of them.
    let types: [(&str, &[u8]); 4] = [
        ("F32", &0.375_f32.to_le_bytes()),
        ("F64", &0.375_f64.to_le_bytes()),
        ("F16", &[0x00, 0x36]),
        ("BF16", &[0xc0, 0x3e]),
    ];
    let dicts = types.map(|(name, number)| {
        let (mut entries, mut data) = (Vec::new(), Vec::new());
        for (tensor, shape) in resnet8() {
            let start = data.len();
            data.extend(number.repeat(shape.iter().product()));
            let end = data.len();
            entries.push(format!(
                r#""{tensor}":{{"dtype":"{name}","shape":{shape:?},"data_offsets":[{start},{end}]}}"#
            ));
        }
        let header = format!("{{{}}}", entries.join(","));
        [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &data].concat()
    });
    let own = own_networks().into_iter().filter_map(|network| network.to_bytes().ok());
    dicts.into_iter().chain(own).collect()
}

/// The names and shapes of a ResNet-8 of width 2 with 4 classes, as PyTorch has them.
pub(super) fn resnet8() -> Vec<(String, Vec<usize>)> {
    let mut tensors = Vec::new();
    let mut convolution = |conv: &str, norm: &str, from: usize, to: usize| {
        tensors.push((format!("{conv}.weight"), vec![to, from, 3, 3]));
        for part in ["weight", "bias", "running_mean", "running_var"] {
            tensors.push((format!("{norm}.{part}"), vec![to]));
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
    tensors.push(("linear.weight".to_owned(), vec![4, 8]));
    tensors.push(("linear.bias".to_owned(), vec![4]));
    tensors
}
