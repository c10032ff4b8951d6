//! The content of a network's file, with that of the files it refers to: a network can be loaded from memory.

use super::error::RuntimeError;
use crate::network_format::{NetworkFormat, NetworkFormatError};
use crate::onnx::{OnnxError, external_content, graph_sha256};
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::file::sha256;
use std::collections::BTreeMap;
use std::path::Path;

/// The content of a network's file, with that of the files it refers to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NetworkContent {
    /// Of the file.
    pub bytes: Vec<u8>,
    /// Of the files that an ONNX graph refers to, by the names that it has for them.
    pub external: BTreeMap<String, Vec<u8>>,
}

impl NetworkContent {
    /// Reads the file at a path and what it refers to, which must lie in the same folder.
    pub fn read(path: &Path, memory: MemoryLimit) -> Result<Self, RuntimeError> {
        let bytes = memory
            .read_file(path)
            .map_err(|reason| RuntimeError::Onnx(OnnxError::Read { path: path.to_path_buf(), reason }))?;
        let external = match NetworkFormat::detect(path, &bytes) {
            Ok(NetworkFormat::Onnx) => external_content(path, &bytes, memory)?,
            _ => BTreeMap::new(),
        };
        Ok(Self { bytes, external })
    }

    /// The format of the file.
    pub fn format(&self, path: &Path) -> Result<NetworkFormat, NetworkFormatError> {
        NetworkFormat::detect(path, &self.bytes)
    }

    /// The hash by which records name the network: of the file, or of it and all that it refers to.
    pub fn sha256(&self) -> String {
        if self.external.is_empty() { sha256(&self.bytes) } else { graph_sha256(&self.bytes, &self.external) }
    }
}
