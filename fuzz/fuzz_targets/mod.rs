//! One function of bytes for every reader.

mod archives;
mod arrays;
mod certificates;
mod enclosure;
mod kernel;
mod logs;
mod networks;
mod numpy;
mod pickles;
mod pictures;
mod repair;
mod sets;
mod training;

pub use certificates::{GRAPH, projection_file};
pub use enclosure::{Term, wrong_with};
pub use kernel::{Family, Outcome, faults_at};
pub use networks::says_its_shape;

use crate::answer::Answer;
use crate::bundle::{lay, parts};
use std::path::Path;

/// A reader.
pub struct Target {
    /// Its name, and that of its folder of seeds.
    pub name: &'static str,
    /// Seeds that are made, not stored.
    pub made: fn() -> Vec<Vec<u8>>,
    /// The file, or files, that an input stands for: with the lengths, hashes and checksums that belong to what it says,
    /// or readers would look no further.
    pub file: fn(&[u8]) -> Vec<u8>,
    /// Reads a file; must return.
    pub run: fn(&[u8]) -> Answer,
}

impl Target {
    /// What the reader says of the file that an input stands for. It is given the bytes as they are too.
    pub fn read(&self, input: &[u8]) -> Answer {
        let file = (self.file)(input);
        if file != input && parts(input).is_empty() {
            let _ = (self.run)(input);
        }
        (self.run)(&file)
    }
}

macro_rules! target {
    ($name:literal, $made:expr, $file:expr, $run:expr) => {
        Target { name: $name, made: $made, file: $file, run: $run }
    };
}

/// All of them.
pub const TARGETS: &[Target] = &[
    target!("matrix", numpy::matrices, as_it_is, arrays::matrix),
    target!("matrix-npz", numpy::sparse, crate::bundle::zipped, arrays::matrix),
    target!("safetensors", arrays::tensors, repair::safetensors, arrays::safetensors),
    target!("projection", certificates::projections, repair::safetensors, certificates::projection),
    target!("certificate", certificates::graphs, certificates::of_graph, certificates::certificate),
    target!("projection-cert", certificates::bases, certificates::of_basis, certificates::of_projection),
    target!("records", none, logs::with_digests, logs::records),
    target!("heads", logs::planned, logs::with_digests, logs::heads),
    target!("append", logs::appended, logs::with_digests, logs::append),
    target!("logs", none, logs::with_digests, logs::logs),
    target!("images", pictures::pictures, repair::png, pictures::images),
    target!("idx", sets::digits, as_it_is, sets::idx),
    target!("array", numpy::arrays, as_it_is, sets::array),
    target!("array-npz", numpy::archives, crate::bundle::zipped, sets::array),
    target!("cifar", sets::batches, sets::whole_batch, sets::cifar),
    target!("audio", sets::sounds, as_it_is, sets::audio),
    target!("stored", sets::stored_sets, sets::with_checksum, sets::stored),
    target!("archive", archives::tars, repair::tar, archives::tar),
    target!("archive-zip", archives::zips, crate::bundle::zipped, archives::zip),
    target!("onnx", networks::networks, as_it_is, networks::onnx),
    target!("graph", networks::graphs, as_it_is, networks::graph),
    target!("state-dict", networks::state_dicts, repair::safetensors, networks::state_dict),
    target!("pickle", pickles::streams, as_it_is, pickles::pickle),
    target!("pickle-zip", pickles::archives, crate::bundle::zipped, pickles::pickle),
    target!("spec", training::specs, as_it_is, training::spec),
    target!("checkpoint", training::checkpoints, training::with_hash, training::checkpoint),
    target!("run", training::folders, training::of_run, training::run),
    target!("kernel", kernel::numbers, as_it_is, kernel::kernel),
    target!("enclosure", kernel::numbers, as_it_is, enclosure::enclosure),
];

fn none() -> Vec<Vec<u8>> {
    Vec::new()
}

fn as_it_is(input: &[u8]) -> Vec<u8> {
    input.to_vec()
}

/// Gives the bytes to a reader of files, as a file that is there once, or as several beside each other. Answers do not name
/// the folder, which is another one every time.
fn as_file(bytes: &[u8], name: &str, read: impl FnOnce(&Path) -> Answer) -> Answer {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    lay(bytes, folder.path(), name).map_err(|error| error.to_string())?;
    let without = |text: String| text.replace(&*folder.path().to_string_lossy(), "");
    read(&folder.path().join(name)).map(without).map_err(without)
}

/// A fixture of another crate's tests.
fn fixture(path: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates").join(path);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
