//! The matrix a command works on.

use gambeson::{Context, MatrixInput, RandomInstance, open_matrix, random_matrix};
use std::path::Path;

/// From a file or a generator.
pub(super) fn load(
    path: Option<&Path>,
    instance: Option<RandomInstance>,
    context: &Context,
) -> anyhow::Result<MatrixInput> {
    Ok(match (path, instance) {
        (_, Some(RandomInstance { kind, n, seed })) => random_matrix(context, kind, n, seed)?,
        (path, None) => open_matrix(context, path.unwrap_or(Path::new("")))?, // clap requires one of the two
    })
}
