//! Matrices and safetensors.

use crate::answer::Answer;
use crate::drive::MEMORY;
use gambeson_lowrank::linalg::matrix::Matrix;
use gambeson_lowrank::matrix_file::parse;
use gambeson_lowrank::safetensors::{Content, Tensor, Tensors};
use gambeson_lowrank::sdp::problem::{MatrixRole, OperatorNorm, Problem};
use std::collections::BTreeMap;

/// Any matrix file, and every question to a small one.
pub(super) fn matrix(bytes: &[u8]) -> Answer {
    let input = parse(bytes, MEMORY).map_err(|error| error.to_string())?;
    let _ = input.matrix.sha256();
    let (rows, columns) = input.matrix.shape();
    let mut known = match &input.matrix {
        Matrix::Dense(_) => "dense".to_owned(),
        Matrix::Sparse(_) => "sparse".to_owned(),
    };
    known += if input.error > 0.0 { " rounded" } else { " exact" };
    if rows.max(columns) <= 64 {
        for (norm, reading) in [
            (OperatorNorm::Quadratic, MatrixRole::Plain),
            (OperatorNorm::InfToOne, MatrixRole::Plain),
            (OperatorNorm::InfToTwo, MatrixRole::Gram),
        ] {
            let domain = input.kind.natural_domain(norm, reading);
            let problem = Problem::new(input.matrix.clone(), norm, reading, domain, 1);
            known += &problem.map_or_else(|error| error.to_string(), |_| " asked".to_owned());
        }
    }
    Ok(known)
}

pub(super) fn safetensors(bytes: &[u8]) -> Answer {
    let content = Content::parse(bytes).map_err(|error| error.to_string())?;
    let values = |view: &gambeson_lowrank::safetensors::ArrayView<'_>| {
        drop((view.values::<f64>(), view.values::<f32>(), view.values::<u8>(), view.values::<i16>()));
        view.type_name()
    };
    Ok(content.arrays.values().map(values).collect())
}

/// Arrays of single precision by themselves, and of double precision with texts.
pub(super) fn tensors() -> Vec<Vec<u8>> {
    let plain: Tensors<f32> = Tensors {
        metadata: BTreeMap::new(),
        tensors: [("weight".to_owned(), Tensor { shape: vec![2, 2], values: vec![1.0_f32; 4] })].into(),
    };
    let described: Tensors<f64> = Tensors {
        metadata: [("format".to_owned(), "x".to_owned())].into(),
        tensors: [
            ("a".to_owned(), Tensor { shape: vec![3], values: vec![0.5; 3] }),
            ("b".to_owned(), Tensor { shape: Vec::new(), values: vec![0.5] }),
            ("c".to_owned(), Tensor { shape: vec![0, 7], values: Vec::new() }),
        ]
        .into(),
    };
    vec![plain.to_bytes(), described.to_bytes()]
}
