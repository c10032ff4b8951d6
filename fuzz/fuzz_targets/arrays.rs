//! Matrices, safetensors, projections, certificates.

use gambeson_lowrank::matrix_file::parse;
use gambeson_lowrank::projection::Projection;
use gambeson_lowrank::projection::certificate::ProjectionCertificate;
use gambeson_lowrank::safetensors::{Content, Tensor, Tensors};
use gambeson_lowrank::sdp::certificate::CertificateFile;
use gambeson_lowrank::sdp::problem::{Norm, Problem, Reading};
use std::collections::BTreeMap;
use std::path::Path;

/// Any matrix file, and every question to a small one.
pub(super) fn matrix(bytes: &[u8]) {
    let Ok(input) = parse(bytes) else { return };
    let _ = input.matrix.sha256();
    let (rows, columns) = input.matrix.shape();
    if rows.max(columns) <= 64 {
        for (norm, reading) in [
            (Norm::Quadratic, Reading::Plain),
            (Norm::InfToOne, Reading::Plain),
            (Norm::InfToTwo, Reading::Gram),
        ] {
            let domain = input.kind.natural_domain(norm, reading);
            let _ = Problem::new(input.matrix.clone(), norm, reading, domain, 1);
        }
    }
}

pub(super) fn matrices() -> Vec<Vec<u8>> {
    let npy = |descr: &str, data: &[u8]| {
        let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (2, 2), }}");
        header.push_str(&" ".repeat(63 - (10 + header.len()) % 64));
        header.push('\n');
        let length = u16::try_from(header.len()).unwrap_or(0).to_le_bytes();
        [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), data].concat()
    };
    let doubles: Vec<u8> = [2.0_f64, 1.0, 1.0, 2.0].iter().flat_map(|value| value.to_le_bytes()).collect();
    let integers: Vec<u8> = [2_i64, 1, 1, 2].iter().flat_map(|value| value.to_le_bytes()).collect();
    vec![npy("<f8", &doubles), npy("<i8", &integers), npy("|u1", &[1, 2, 2, 1])]
}

pub(super) fn safetensors(bytes: &[u8]) {
    if let Ok(content) = Content::parse(bytes) {
        content.arrays.values().for_each(|view| drop((view.values::<f64>(), view.values::<f32>())));
    }
}

pub(super) fn projection(bytes: &[u8]) {
    if let Ok(projection) = Projection::parse(Path::new("p"), bytes) {
        let _ = projection.to_bytes();
    }
}

/// A projection of two coordinates, and a file of another kind.
pub(super) fn tensors() -> Vec<Vec<u8>> {
    let metadata = [
        ("format", "gambeson projection 1"),
        ("representation", "pixel"),
        ("shape", "1,2,2"),
        ("method", "axis"),
        ("data", "x"),
        ("data_sha256", "00"),
        ("error", "0.5"),
    ];
    let metadata: BTreeMap<String, String> =
        metadata.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect();
    let basis = Tensor { shape: vec![4, 2], values: vec![1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0] };
    let file = Tensors { metadata, tensors: [("basis.0".to_owned(), basis)].into() };
    let plain: Tensors<f32> = Tensors {
        metadata: BTreeMap::new(),
        tensors: [("weight".to_owned(), Tensor { shape: vec![2, 2], values: vec![1.0_f32; 4] })].into(),
    };
    vec![file.to_bytes(), plain.to_bytes()]
}

pub(super) fn certificate(bytes: &[u8]) {
    if let Ok(file) = serde_json::from_slice::<CertificateFile>(bytes) {
        let _ = serde_json::to_vec(&file);
    }
    let _ = serde_json::from_slice::<ProjectionCertificate>(bytes);
}
