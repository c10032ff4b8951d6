//! Networks whose weights stand in files beside the graph.
//!
//! A tensor may say that its bytes are in another file: name, offset, length (`external_data` of onnx.proto). Such a file
//! belongs to the network as much as the graph: it is looked for in the folder of the graph, whatever the current
//! directory is; paths that leave that folder are refused; and the network's hash covers every file referred to. Here the
//! bytes are put into the graph, so that nothing later needs to know where they were.

use super::error::OnnxError;
use super::schema::{ATTRIBUTE_TENSOR, ENTRY_KEY, ENTRY_VALUE, GRAPH_INITIALIZER, GRAPH_NODE, MODEL_GRAPH};
use super::schema::{NODE_ATTRIBUTE, TENSOR_NAME, TENSOR_RAW};
use super::wire::{Message, Value, WireError, bytes_field};
use crate::weights::format::WeightsFormat;
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::file::sha256;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Component, Path, PathBuf};

const MODEL_TRAINING: u64 = 20;
const MODEL_FUNCTION: u64 = 25;
const TRAINING_GRAPHS: [u64; 2] = [1, 2];
const FUNCTION_NODE: u64 = 7;
const FUNCTION_ATTRIBUTE: u64 = 11;
const GRAPH_SPARSE_INITIALIZER: u64 = 15;
const SPARSE_PARTS: [u64; 2] = [1, 2];
const ATTRIBUTE_GRAPH: u64 = 6;
const ATTRIBUTE_TENSORS: u64 = 10;
const ATTRIBUTE_GRAPHS: u64 = 11;
const ATTRIBUTE_SPARSE: [u64; 2] = [22, 23];
const TENSOR_EXTERNAL: u64 = 13;
const TENSOR_LOCATION: u64 = 14;
/// Messages within messages, at most: deeper files are no networks, and other programs do not read them either.
const DEEPEST: usize = 100;

/// A graph with all its weights in it.
pub(crate) struct WholeGraph {
    pub(crate) bytes: Vec<u8>,
    /// Of the file; where it refers to others, of the hashes of all of them.
    pub(crate) sha256: String,
}

/// Reads what a graph refers to, by the names that it has for these files. `bytes` are those of the file at `path`.
pub(crate) fn external_content(
    path: &Path,
    bytes: &[u8],
    memory: MemoryLimit,
) -> Result<BTreeMap<String, Vec<u8>>, OnnxError> {
    let read = |location: String| {
        let file = place(path, &location)?;
        let content = read_regular(&file, memory).map_err(|reason| OnnxError::Read { path: file, reason })?;
        Ok((location, content))
    };
    let locations =
        locations(bytes).map_err(|reason| OnnxError::Broken { path: path.to_path_buf(), reason })?;
    locations.into_iter().map(read).collect()
}

/// The hash of a graph and of all that it refers to.
pub(crate) fn graph_sha256(bytes: &[u8], external: &BTreeMap<String, Vec<u8>>) -> String {
    let own = sha256(bytes);
    let others = external
        .iter()
        .map(|(location, content)| format!("\n{}{}", sha256(location.as_bytes()), sha256(content)));
    sha256(others.fold(own, |all, other| all + &other).as_bytes())
}

/// Puts what a graph refers to into it. `path` names it in errors.
pub(crate) fn whole_graph(
    path: &Path,
    bytes: Vec<u8>,
    external: &BTreeMap<String, Vec<u8>>,
) -> Result<WholeGraph, OnnxError> {
    let broken = |reason| OnnxError::Broken { path: path.to_path_buf(), reason };
    let locations = locations(&bytes).map_err(broken)?;
    if locations.is_empty() {
        let sha256 = sha256(&bytes);
        return Ok(WholeGraph { bytes, sha256 });
    }
    if let Some(missing) = locations.iter().find(|location| !external.contains_key(*location)) {
        let reason = std::io::Error::new(std::io::ErrorKind::NotFound, "the graph refers to it");
        return Err(OnnxError::Read { path: PathBuf::from(missing), reason });
    }
    let mut inside = Inside { files: external, problem: None };
    let joined = inside.model(&bytes).map_err(broken)?;
    if let Some((tensor, location)) = inside.problem {
        let file = folder_of(path).join(location);
        return Err(OnnxError::External { path: path.to_path_buf(), tensor, file });
    }
    Ok(WholeGraph { bytes: joined, sha256: graph_sha256(&bytes, external) })
}

fn folder_of(graph: &Path) -> &Path {
    graph.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Weights are read from files only: a pipe may have no end.
fn read_regular(path: &Path, memory: MemoryLimit) -> std::io::Result<Vec<u8>> {
    if !path.metadata()?.is_file() {
        return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, "is not a file"));
    }
    memory.read_file(path)
}

/// The files that the graph at a path refers to; none where it is no graph or refers to none.
pub fn external_files(path: &Path, memory: MemoryLimit) -> Result<Vec<PathBuf>, OnnxError> {
    let failed = |reason| OnnxError::Read { path: path.to_path_buf(), reason };
    if is_other_format(path).map_err(failed)? {
        return Ok(Vec::new());
    }
    let bytes = read_regular(path, memory).map_err(failed)?;
    let locations = locations(&bytes).unwrap_or_default();
    locations.iter().map(|location| place(path, location)).collect()
}

/// Whether a file is a network in another format, by its first bytes: large ones need not be read for nothing.
fn is_other_format(path: &Path) -> std::io::Result<bool> {
    let mut head = Vec::new();
    if path.metadata()?.is_file() {
        std::fs::File::open(path)?.take(16).read_to_end(&mut head)?;
    }
    Ok(WeightsFormat::detect(&head).is_ok())
}

/// The file of a location, which must lie in the folder of the graph.
fn place(graph: &Path, location: &str) -> Result<PathBuf, OnnxError> {
    let refused =
        || OnnxError::Outside { path: graph.to_path_buf(), location: location.chars().take(200).collect() };
    let relative = Path::new(location);
    let inside = relative.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    if !inside || location.is_empty() {
        return Err(refused());
    }
    let folder = folder_of(graph);
    let file = folder.join(relative);
    // A link may leave the folder too.
    match (file.canonicalize(), folder.canonicalize()) {
        (Ok(file), Ok(folder)) if !file.starts_with(&folder) => Err(refused()),
        _ => Ok(file),
    }
}

/// What tensors of a model refer to, each once, in order.
fn locations(model: &[u8]) -> Result<Vec<String>, WireError> {
    let mut found = BTreeSet::new();
    walk(Part::Model, Message::whole(model), 0, &mut |tensor| {
        if let Some(external) = External::of(tensor)? {
            found.insert(external.location);
        }
        Ok(None)
    })?;
    Ok(found.into_iter().collect())
}

/// Where the bytes of a tensor are.
struct External {
    location: String,
    offset: u64,
    length: Option<u64>,
}

impl External {
    /// None where the tensor has its bytes itself.
    fn of(tensor: Message<'_>) -> Result<Option<Self>, WireError> {
        let fields = tensor.fields()?;
        // Of an enumeration's number other programs keep the lower 32 bits.
        let external = |value: Value<'_>| matches!(value, Value::Varint(value) if value & 0xffff_ffff == 1);
        let elsewhere = fields.iter().any(|field| field.number == TENSOR_LOCATION && external(field.value));
        if !elsewhere {
            return Ok(None);
        }
        let mut external = Self { location: String::new(), offset: 0, length: None };
        for entry in tensor.all_bytes_of(TENSOR_EXTERNAL)? {
            let text = |number| {
                Ok(entry
                    .bytes_of(number)?
                    .map_or(String::new(), |text| String::from_utf8_lossy(text.bytes).into_owned()))
            };
            let (key, value) = (text(ENTRY_KEY)?, text(ENTRY_VALUE)?);
            match key.as_str() {
                "location" => external.location = value,
                "offset" => external.offset = value.parse().unwrap_or(u64::MAX),
                "length" => external.length = Some(value.parse().unwrap_or(u64::MAX)),
                _ => {}
            }
        }
        Ok(Some(external))
    }

    fn bytes<'a>(&self, content: &'a [u8]) -> Option<&'a [u8]> {
        let start = usize::try_from(self.offset).ok()?;
        let rest = content.get(start..)?;
        match self.length {
            None => Some(rest),
            Some(length) => rest.get(..usize::try_from(length).ok()?),
        }
    }
}

/// Puts bytes into tensors.
struct Inside<'a> {
    files: &'a BTreeMap<String, Vec<u8>>,
    /// The first tensor whose bytes are not in its file.
    problem: Option<(String, String)>,
}

impl Inside<'_> {
    fn model(&mut self, model: &[u8]) -> Result<Vec<u8>, WireError> {
        walk(Part::Model, Message::whole(model), 0, &mut |tensor| {
            let Some(external) = External::of(tensor)? else { return Ok(None) };
            let Some(content) = self.files.get(&external.location) else { return Ok(None) };
            let Some(bytes) = external.bytes(content) else {
                let name = tensor.bytes_of(TENSOR_NAME)?.map_or(&[][..], |name| name.bytes);
                let name = String::from_utf8_lossy(name).into_owned();
                self.problem.get_or_insert((name, external.location));
                return Ok(None);
            };
            let mut own = tensor.rewritten(|field| {
                let gone = matches!(field.number, TENSOR_EXTERNAL | TENSOR_LOCATION | TENSOR_RAW);
                Ok(gone.then(Vec::new))
            })?;
            own.extend(bytes_field(TENSOR_RAW, bytes));
            Ok(Some(own))
        })
    }
}

/// What becomes of a tensor: new bytes, or none to leave it.
type Change<'c> = dyn FnMut(Message<'_>) -> Result<Option<Vec<u8>>, WireError> + 'c;

/// The messages of onnx.proto on the way to a tensor.
#[derive(Clone, Copy)]
enum Part {
    Model,
    Training,
    Function,
    Graph,
    Node,
    Attribute,
    Sparse,
    Tensor,
}

impl Part {
    /// What a field of it holds, where there may be tensors in it.
    fn field(self, number: u64) -> Option<Self> {
        match (self, number) {
            (Self::Model, MODEL_TRAINING) => Some(Self::Training),
            (Self::Model, MODEL_FUNCTION) => Some(Self::Function),
            (Self::Training, number) if TRAINING_GRAPHS.contains(&number) => Some(Self::Graph),
            (Self::Function, FUNCTION_NODE) | (Self::Graph, GRAPH_NODE) => Some(Self::Node),
            (Self::Function, FUNCTION_ATTRIBUTE) | (Self::Node, NODE_ATTRIBUTE) => Some(Self::Attribute),
            (Self::Graph, GRAPH_INITIALIZER) | (Self::Attribute, ATTRIBUTE_TENSOR | ATTRIBUTE_TENSORS) => {
                Some(Self::Tensor)
            }
            (Self::Graph, GRAPH_SPARSE_INITIALIZER) => Some(Self::Sparse),
            (Self::Model, MODEL_GRAPH) | (Self::Attribute, ATTRIBUTE_GRAPH | ATTRIBUTE_GRAPHS) => {
                Some(Self::Graph)
            }
            (Self::Attribute, number) if ATTRIBUTE_SPARSE.contains(&number) => Some(Self::Sparse),
            (Self::Sparse, number) if SPARSE_PARTS.contains(&number) => Some(Self::Tensor),
            _ => None,
        }
    }
}

/// A message with its tensors changed, wherever they stand.
fn walk(
    part: Part,
    message: Message<'_>,
    depth: usize,
    change: &mut Change<'_>,
) -> Result<Vec<u8>, WireError> {
    if depth > DEEPEST {
        return Err(WireError::Deep { offset: message.offset });
    }
    message.rewritten(|field| {
        let Value::Bytes(inner) = field.value else { return Ok(None) };
        let bytes = match part.field(field.number) {
            None => None,
            Some(Part::Tensor) => change(inner)?,
            Some(part) => Some(walk(part, inner, depth + 1, change)?),
        };
        Ok(bytes.map(|bytes| bytes_field(field.number, &bytes)))
    })
}

#[cfg(test)]
mod tests {
    use super::super::wire::integer_field;
    use super::*;

    /// A tensor whose bytes are in a file, with the number that says so.
    fn tensor(location: &str, elsewhere: u64) -> Vec<u8> {
        let entry = [bytes_field(ENTRY_KEY, b"location"), bytes_field(ENTRY_VALUE, location.as_bytes())];
        [bytes_field(TENSOR_EXTERNAL, &entry.concat()), integer_field(TENSOR_LOCATION, elsewhere)].concat()
    }

    /// A message around a message, from the outermost field to the innermost.
    fn within(fields: &[u64], inner: Vec<u8>) -> Vec<u8> {
        fields.iter().rev().fold(inner, |inner, &field| bytes_field(field, &inner))
    }

    #[test]
    fn a_tensor_is_found_wherever_one_may_stand() {
        let attribute = [MODEL_GRAPH, GRAPH_NODE, NODE_ATTRIBUTE];
        let places: [&[u64]; 9] = [
            &[MODEL_GRAPH, GRAPH_INITIALIZER],
            &[MODEL_GRAPH, GRAPH_SPARSE_INITIALIZER, SPARSE_PARTS[1]],
            &[MODEL_TRAINING, TRAINING_GRAPHS[0], GRAPH_INITIALIZER],
            &[MODEL_FUNCTION, FUNCTION_NODE, NODE_ATTRIBUTE, ATTRIBUTE_TENSOR],
            &[MODEL_FUNCTION, FUNCTION_ATTRIBUTE, ATTRIBUTE_TENSORS],
            &[&attribute[..], &[ATTRIBUTE_TENSOR]].concat(),
            &[&attribute[..], &[ATTRIBUTE_SPARSE[0], SPARSE_PARTS[0]]].concat(),
            &[&attribute[..], &[ATTRIBUTE_SPARSE[1], SPARSE_PARTS[0]]].concat(),
            &[&attribute[..], &[ATTRIBUTE_GRAPHS, GRAPH_NODE, NODE_ATTRIBUTE, ATTRIBUTE_TENSOR]].concat(),
        ];
        for place in places {
            for elsewhere in [1, (1 << 32) + 1] {
                let model = within(place, tensor("w.bin", elsewhere));
                assert_eq!(locations(&model), Ok(vec!["w.bin".to_owned()]), "{place:?}");
                let files = BTreeMap::from([("w.bin".to_owned(), vec![1, 2, 3, 4])]);
                let mut inside = Inside { files: &files, problem: None };
                let joined = inside.model(&model).expect("a model");
                assert_eq!(joined, within(place, bytes_field(TENSOR_RAW, &[1, 2, 3, 4])), "{place:?}");
            }
            assert_eq!(locations(&within(place, tensor("w.bin", 0))), Ok(Vec::new()));
        }
    }

    #[test]
    fn graphs_too_deep_to_be_looked_through_are_refused() {
        let once = [ATTRIBUTE_GRAPH, GRAPH_NODE, NODE_ATTRIBUTE];
        let deep = [&[MODEL_GRAPH, GRAPH_NODE, NODE_ATTRIBUTE][..], &once.repeat(40)].concat();
        assert!(matches!(locations(&within(&deep, Vec::new())), Err(WireError::Deep { .. })));
        assert!(locations(&within(&deep[..60], Vec::new())).is_ok());
    }
}
