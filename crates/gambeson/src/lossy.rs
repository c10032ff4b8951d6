//! Paths as text.

use serde::{Serialize, Serializer};
use std::path::Path;

/// A path as text, with a mark for what is no UTF-8.
pub(crate) fn lossy<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    path.to_string_lossy().serialize(serializer)
}
