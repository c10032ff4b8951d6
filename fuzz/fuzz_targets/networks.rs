//! Graphs, state dicts, pickles, specs, checkpoints.

use super::as_file;
use gambeson_data::dataset::Shape;
use gambeson_learn::net::architecture::Architecture;
use gambeson_learn::net::models::Model;
use gambeson_learn::net::parameters::{Places, Weights};
use gambeson_learn::onnx::external_files;
use gambeson_learn::train::TrainSpec;
use gambeson_learn::train::checkpoint::Checkpoint;
use gambeson_learn::weights::network::Network;
use gambeson_learn::weights::torch;
use gambeson_learn::{convert, onnx};

const IMAGES: Shape = Shape { channels: 1, height: 4, width: 4 };

pub(super) fn onnx(bytes: &[u8]) {
    as_file(bytes, "net.onnx", |path| {
        let _ = convert::read(path, None);
        let _ = convert::read(path, Some(IMAGES));
        let _ = external_files(path);
    });
    let _ = onnx::batch::with_free_batch(bytes, "input", 1);
}

/// A small network of our own as a graph.
pub(super) fn graphs() -> Vec<Vec<u8>> {
    network().and_then(|network| onnx::export::export(&network).ok()).into_iter().collect()
}

fn architecture() -> Option<Architecture> {
    Model::Mlp { hidden: vec![3] }.architecture(IMAGES, 2).ok()
}

fn network() -> Option<Network> {
    let architecture = architecture()?;
    let places = Places::new(&architecture).ok()?;
    let weights =
        Weights { parameters: vec![0.1; places.parameters], statistics: vec![0.5; places.statistics] };
    Some(Network { architecture, weights, normalisation: None, training: None })
}

pub(super) fn networks() -> Vec<Vec<u8>> {
    network().and_then(|network| network.to_bytes().ok()).into_iter().collect()
}

pub(super) fn state_dict(bytes: &[u8]) {
    let _ = Network::parse(bytes, None);
    let _ = Network::parse(bytes, Some(IMAGES));
}

pub(super) fn pickle(bytes: &[u8]) {
    let _ = torch::read(bytes);
}

/// The start of a file of torch.save, as far as it is no archive.
pub(super) fn pickles() -> Vec<Vec<u8>> {
    let mut old = vec![0x80, 2];
    old.extend(b"\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.\x80\x02}q\x00(X\x10\x00\x00\x00protocol_versionq\x01M\xe9\x03u.");
    vec![old]
}

pub(super) fn spec(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let _ = TrainSpec::parse(&text, &[]);
}

pub(super) fn checkpoint(bytes: &[u8]) {
    if let Some(places) = architecture().and_then(|architecture| Places::new(&architecture).ok()) {
        let _ = Checkpoint::parse(bytes, &places, false);
    }
}
