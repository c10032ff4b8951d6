//! Methods of fitting: from the command line, and in words.

use crate::args::SparseArguments;
use gambeson::FitMethodKind;
use gambeson_lowrank::projection::fit::{BasisConstruction, FitMethod};
use gambeson_lowrank::projection::method::algorithm3::SparseParams;

/// How a projection was found, in few words beside its rank.
pub(super) fn in_few_words(how: BasisConstruction, rank: usize) -> String {
    match how {
        BasisConstruction::PrincipalAndSparse { principal, sparse } => {
            format!("{principal} principal, {sparse} sparse")
        }
        _ if how.count() == rank => how.kind().to_owned(),
        _ => how.to_string(),
    }
}

/// The sparse part of a method.
pub(super) fn sparse_params(sparse: &SparseArguments) -> SparseParams {
    let default = SparseParams::default();
    SparseParams {
        alpha: sparse.alpha.unwrap_or(default.alpha),
        max_iterations: sparse.rounds.map_or(default.max_iterations, |rounds| rounds as usize),
        ..default
    }
}

/// The method with its parameters.
pub(super) fn method_of(
    name: FitMethodKind,
    sparse: &SparseArguments,
    rank: Option<usize>,
    error: Option<f64>,
    splits: &[usize],
) -> FitMethod {
    match name.method(sparse_params(sparse)) {
        FitMethod::Algorithm3 { sparse, .. } => {
            FitMethod::Algorithm3 { rank, error, splits: splits.to_vec(), sparse }
        }
        method => method,
    }
}
