//! One function of bytes for every reader.

mod arrays;
mod data;
mod kernel;
mod logs;
mod networks;

pub use kernel::{Family, Outcome, faults_at};

/// A reader.
pub struct Target {
    /// Its name, and that of its folder of seeds.
    pub name: &'static str,
    /// Reads bytes; must return.
    pub run: fn(&[u8]),
    /// Seeds that are made, not stored.
    pub made: fn() -> Vec<Vec<u8>>,
}

/// All of them.
pub const TARGETS: &[Target] = &[
    Target { name: "matrix", run: arrays::matrix, made: arrays::matrices },
    Target { name: "safetensors", run: arrays::safetensors, made: arrays::tensors },
    Target { name: "projection", run: arrays::projection, made: arrays::tensors },
    Target { name: "certificate", run: arrays::certificate, made: none },
    Target { name: "records", run: logs::records, made: none },
    Target { name: "logs", run: logs::logs, made: none },
    Target { name: "images", run: data::images, made: data::pictures },
    Target { name: "idx", run: data::idx, made: data::digits },
    Target { name: "array", run: data::array, made: arrays::matrices },
    Target { name: "cifar", run: data::cifar, made: none },
    Target { name: "audio", run: data::audio, made: data::sounds },
    Target { name: "stored", run: data::stored, made: arrays::tensors },
    Target { name: "archive", run: data::archive, made: none },
    Target { name: "onnx", run: networks::onnx, made: networks::graphs },
    Target { name: "state-dict", run: networks::state_dict, made: networks::networks },
    Target { name: "pickle", run: networks::pickle, made: networks::pickles },
    Target { name: "spec", run: networks::spec, made: none },
    Target { name: "checkpoint", run: networks::checkpoint, made: networks::networks },
    Target { name: "kernel", run: kernel::kernel, made: kernel::numbers },
];

fn none() -> Vec<Vec<u8>> {
    Vec::new()
}

/// Gives the bytes to a reader of files, as a file that is there once.
fn as_file(bytes: &[u8], name: &str, read: impl FnOnce(&std::path::Path)) {
    let Ok(folder) = tempfile::tempdir() else { return };
    let path = folder.path().join(name);
    if std::fs::write(&path, bytes).is_ok() {
        read(&path);
    }
}
