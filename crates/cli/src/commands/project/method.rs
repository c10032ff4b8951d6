//! Methods of fitting: from the command line, and in words.

use crate::args::{FitMethodName, SparseArguments};
use gambeson_lowrank::projection::fit::FitMethod;
use gambeson_lowrank::projection::method::algorithm3::SparseParams;

/// How a projection was found, in few words beside its rank.
pub(super) fn found(how: &str, rank: usize) -> String {
    match how.split_once(" principal and ") {
        Some((principal, rest)) => {
            format!("{principal} principal, {}", rest.trim_end_matches(" components"))
        }
        None => how.strip_prefix(&format!("{rank} ")).unwrap_or(how).to_owned(),
    }
}

/// The method with its parameters.
pub(super) fn method_of(
    name: FitMethodName,
    sparse: &SparseArguments,
    rank: Option<usize>,
    error: Option<f64>,
    splits: &[usize],
) -> FitMethod {
    let default = SparseParams::default();
    let sparse = SparseParams {
        alpha: sparse.alpha.unwrap_or(default.alpha),
        max_iterations: sparse.rounds.map_or(default.max_iterations, |rounds| rounds as usize),
        ..default
    };
    match name {
        FitMethodName::Axis => FitMethod::Axis,
        FitMethodName::Pca => FitMethod::Pca,
        FitMethodName::SparsePca => FitMethod::SparsePca(sparse),
        FitMethodName::Algorithm3 => FitMethod::Algorithm3 { rank, error, splits: splits.to_vec(), sparse },
        FitMethodName::Robust => FitMethod::Robust,
    }
}
