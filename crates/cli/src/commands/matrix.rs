//! The matrix a command works on, and errors about it with the option that helps.

use crate::args::RandomInstance;
use anyhow::anyhow;
use gambeson::{Context, Error, MatrixInput, open_matrix, random_matrix};
use gambeson_checker::MatrixProblem;
use gambeson_lowrank::sdp::problem::ProblemError;
use std::path::Path;

/// From a file or a generator.
pub(super) fn load(
    path: Option<&Path>,
    instance: Option<RandomInstance>,
    context: &Context,
) -> anyhow::Result<MatrixInput> {
    Ok(match (path, instance) {
        (_, Some(RandomInstance { kind, n, seed })) => random_matrix(context, kind.into(), n, seed)?,
        (path, None) => open_matrix(context, path.unwrap_or(Path::new("")))?, // clap requires one of the two
    })
}

/// The error of a matrix that does not fit the question, with a way out if there is one.
pub(super) fn explained(error: Error) -> anyhow::Error {
    match error {
        Error::Problem { reason: ProblemError::Matrix(MatrixProblem::NegativeDiagonal { .. }), .. } => {
            anyhow!("{error}; use --domain vertices to bound x'Mx over x in {{-1, 1}}^n")
        }
        _ => error.into(),
    }
}
