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
use gambeson_lowrank::file::sha256;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

const MODEL_FUNCTION: u64 = 25;
const FUNCTION_NODE: u64 = 7;
const GRAPH_SPARSE_INITIALIZER: u64 = 15;
const SPARSE_PARTS: [u64; 2] = [1, 2];
const ATTRIBUTE_GRAPH: u64 = 6;
const ATTRIBUTE_TENSORS: u64 = 10;
const ATTRIBUTE_GRAPHS: u64 = 11;
const TENSOR_EXTERNAL: u64 = 13;
const TENSOR_LOCATION: u64 = 14;
/// Graphs within graphs, at most: deeper ones are no networks.
const DEEPEST: usize = 32;

/// A graph with all its weights in it.
pub(crate) struct WholeGraph {
    pub(crate) bytes: Vec<u8>,
    /// Of the file; where it refers to others, of the hashes of all of them.
    pub(crate) sha256: String,
}

/// Reads what a graph refers to. `bytes` are those of the file at `path`.
pub(crate) fn whole_graph(path: &Path, bytes: Vec<u8>) -> Result<WholeGraph, OnnxError> {
    let own = sha256(&bytes);
    let locations =
        locations(&bytes).map_err(|reason| OnnxError::Broken { path: path.to_path_buf(), reason })?;
    if locations.is_empty() {
        return Ok(WholeGraph { bytes, sha256: own });
    }
    let mut files = BTreeMap::new();
    let mut all = own;
    for location in locations {
        let file = place(path, &location)?;
        let content = gambeson_lowrank::file::read_file(&file)
            .map_err(|reason| OnnxError::Read { path: file.clone(), reason })?;
        all.push('\n');
        all.push_str(&sha256(location.as_bytes()));
        all.push_str(&sha256(&content));
        files.insert(location, (file, content));
    }
    let mut inside = Inside { files: &files, problem: None };
    let joined =
        inside.model(&bytes).map_err(|reason| OnnxError::Broken { path: path.to_path_buf(), reason })?;
    if let Some((tensor, file)) = inside.problem {
        return Err(OnnxError::External { path: path.to_path_buf(), tensor, file });
    }
    Ok(WholeGraph { bytes: joined, sha256: sha256(all.as_bytes()) })
}

/// The files that the graph at a path refers to; none where it is no graph or refers to none.
pub fn external_files(path: &Path) -> Result<Vec<PathBuf>, OnnxError> {
    let bytes = gambeson_lowrank::file::read_file(path)
        .map_err(|reason| OnnxError::Read { path: path.to_path_buf(), reason })?;
    let locations = locations(&bytes).unwrap_or_default();
    locations.iter().map(|location| place(path, location)).collect()
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
    let folder = graph.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
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
    walk_model(model, &mut |tensor| {
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
        let elsewhere =
            fields.iter().any(|field| field.number == TENSOR_LOCATION && field.value == Value::Varint(1));
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
    files: &'a BTreeMap<String, (PathBuf, Vec<u8>)>,
    /// The first tensor whose bytes are not in its file.
    problem: Option<(String, PathBuf)>,
}

impl Inside<'_> {
    fn model(&mut self, model: &[u8]) -> Result<Vec<u8>, WireError> {
        walk_model(model, &mut |tensor| {
            let Some(external) = External::of(tensor)? else { return Ok(None) };
            let Some((file, content)) = self.files.get(&external.location) else { return Ok(None) };
            let Some(bytes) = external.bytes(content) else {
                let name = tensor.bytes_of(TENSOR_NAME)?.map_or(&[][..], |name| name.bytes);
                let name = String::from_utf8_lossy(name).into_owned();
                self.problem.get_or_insert((name, file.clone()));
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

/// A model with its tensors changed, wherever they stand.
fn walk_model(model: &[u8], change: &mut Change<'_>) -> Result<Vec<u8>, WireError> {
    Message::whole(model).rewritten(|field| match (field.number, field.value) {
        (MODEL_GRAPH, Value::Bytes(inner)) => field_of(MODEL_GRAPH, &graph(inner, change, 0)?),
        (MODEL_FUNCTION, Value::Bytes(inner)) => {
            let body = inner.rewritten(|field| match (field.number, field.value) {
                (FUNCTION_NODE, Value::Bytes(inner)) => field_of(FUNCTION_NODE, &node(inner, change, 0)?),
                _ => Ok(None),
            })?;
            field_of(MODEL_FUNCTION, &body)
        }
        _ => Ok(None),
    })
}

#[allow(clippy::unnecessary_wraps)] // what `rewritten` asks for
fn field_of(number: u64, bytes: &[u8]) -> Result<Option<Vec<u8>>, WireError> {
    Ok(Some(bytes_field(number, bytes)))
}

fn graph(message: Message<'_>, change: &mut Change<'_>, depth: usize) -> Result<Vec<u8>, WireError> {
    message.rewritten(|field| {
        let Value::Bytes(inner) = field.value else { return Ok(None) };
        match field.number {
            GRAPH_INITIALIZER => Ok(change(inner)?.map(|tensor| bytes_field(GRAPH_INITIALIZER, &tensor))),
            GRAPH_NODE => field_of(GRAPH_NODE, &node(inner, change, depth)?),
            GRAPH_SPARSE_INITIALIZER => {
                let sparse = inner.rewritten(|field| match field.value {
                    Value::Bytes(inner) if SPARSE_PARTS.contains(&field.number) => {
                        Ok(change(inner)?.map(|tensor| bytes_field(field.number, &tensor)))
                    }
                    _ => Ok(None),
                })?;
                field_of(GRAPH_SPARSE_INITIALIZER, &sparse)
            }
            _ => Ok(None),
        }
    })
}

fn node(message: Message<'_>, change: &mut Change<'_>, depth: usize) -> Result<Vec<u8>, WireError> {
    message.rewritten(|field| {
        let Value::Bytes(inner) = field.value else { return Ok(None) };
        if field.number != NODE_ATTRIBUTE {
            return Ok(None);
        }
        let attribute = inner.rewritten(|field| {
            let Value::Bytes(inner) = field.value else { return Ok(None) };
            match field.number {
                ATTRIBUTE_TENSOR | ATTRIBUTE_TENSORS => {
                    Ok(change(inner)?.map(|tensor| bytes_field(field.number, &tensor)))
                }
                ATTRIBUTE_GRAPH | ATTRIBUTE_GRAPHS if depth < DEEPEST => {
                    field_of(field.number, &graph(inner, change, depth + 1)?)
                }
                _ => Ok(None),
            }
        })?;
        field_of(NODE_ATTRIBUTE, &attribute)
    })
}
