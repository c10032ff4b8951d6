//! Numpy's files: seeds for readers of matrices and of data.

use super::fixture;
use crate::bundle::joined;

/// A version 1.0 `.npy` file; the shape as numpy writes it, such as `(2, 3)`.
fn npy(descr: &str, order: &str, shape: &str, elements: &[u8]) -> Vec<u8> {
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}");
    header.push_str(&" ".repeat(63 - (10 + header.len()) % 64));
    header.push('\n');
    let length = u16::try_from(header.len()).unwrap_or(0).to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], header.as_bytes(), elements].concat()
}

fn doubles(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn longs(values: &[i64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// An integer that no f64 equals.
const BEYOND: i64 = (1 << 53) + 1;

pub(super) fn matrices() -> Vec<Vec<u8>> {
    let own = doubles(&[2.0, 1.0, 1.0, 2.0]);
    let turned: Vec<u8> = [2.0_f64, 1.0, 3.0, 2.0, 5.0, 7.0].iter().flat_map(|x| x.to_be_bytes()).collect();
    vec![
        npy("<f8", "False", "(2, 2)", &own),
        npy("<i8", "False", "(2, 2)", &longs(&[BEYOND, 1, 1, -BEYOND])),
        npy("|u1", "False", "(2, 2)", &[1, 2, 2, 1]),
        npy(">f8", "True", "(2, 3)", &turned),
        fixture("lowrank/tests/fixtures/fortran_big_endian.npy"),
        fixture("lowrank/tests/fixtures/version_3.npy"),
    ]
}

/// Vertices of three coordinates.
pub(super) fn vertices() -> Vec<Vec<u8>> {
    vec![
        npy("<f8", "False", "(3,)", &doubles(&[1.0, -1.0, 1.0])),
        npy("|i1", "True", "(3,)", &[1, 255, 1]),
        npy(">i8", "False", "(3,)", &longs(&[1, 1, 1].map(i64::swap_bytes))),
    ]
}

/// The archives of scipy, one of each kind, as their members.
pub(super) fn sparse() -> Vec<Vec<u8>> {
    let name = |format: &str| ("format.npy", npy("|S3", "False", "()", format.as_bytes()));
    let list = |values: &[i64]| npy("<i8", "False", &format!("({},)", values.len()), &longs(values));
    let ints = |values: &[i32]| {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        npy("<i4", "False", &format!("({},)", values.len()), &bytes)
    };
    let data = npy("<f8", "False", "(3,)", &doubles(&[2.0, 1.5, 1.5]));
    // [[2, 1.5], [1.5, 0]], by rows, by columns, by places.
    let compressed = |format: &str| {
        joined(&[
            name(format),
            ("shape.npy", list(&[2, 2])),
            ("data.npy", data.clone()),
            ("indptr.npy", ints(&[0, 2, 3])),
            ("indices.npy", ints(&[0, 1, 0])),
        ])
    };
    let places = |more: &[(&'static str, Vec<u8>)]| {
        joined(&[&[name("coo"), ("shape.npy", list(&[2, 2])), ("data.npy", data.clone())], more].concat())
    };
    vec![
        compressed("csr"),
        compressed("csc"),
        places(&[("row.npy", ints(&[0, 0, 1])), ("col.npy", ints(&[0, 1, 0]))]),
        places(&[("coords.npy", npy("<i8", "False", "(2, 3)", &longs(&[0, 0, 1, 0, 1, 0])))]),
        joined(&[
            name("csr"),
            ("shape.npy", list(&[2, 2])),
            ("data.npy", list(&[BEYOND, BEYOND, 1])),
            ("indptr.npy", ints(&[0, 2, 3])),
            ("indices.npy", ints(&[1, 1, 0])),
        ]),
        joined(&[("arr_0.npy", npy("<f8", "False", "(2, 2)", &doubles(&[2.0, 1.0, 1.0, 2.0])))]),
    ]
}

/// Samples with labels beside them, of every type and order.
pub(super) fn arrays() -> Vec<Vec<u8>> {
    let labels = npy("<i8", "False", "(2,)", &longs(&[0, 1]));
    let singles: Vec<u8> = (0..8_u8).flat_map(|value| f32::from(value).to_le_bytes()).collect();
    let sound: Vec<u8> = (0..8_i16).flat_map(i16::to_be_bytes).collect();
    let with_labels = |x: Vec<u8>| joined(&[("x.npy", x), ("x.labels.npy", labels.clone())]);
    vec![
        npy("|u1", "False", "(2, 2, 2)", &[1; 8]),
        with_labels(npy("|u1", "True", "(2, 1, 2, 2)", &[0, 1, 2, 3, 4, 5, 6, 7])),
        with_labels(npy("<f4", "False", "(2, 4)", &singles)),
        with_labels(npy(">i2", "False", "(2, 4)", &sound)),
        npy("<f8", "True", "(2, 2)", &doubles(&[0.0, 0.5, 1.0, 0.25])),
    ]
}

/// The same in archives, as their members.
pub(super) fn archives() -> Vec<Vec<u8>> {
    let x = npy("|u1", "False", "(2, 1, 2, 2)", &[0, 1, 2, 3, 4, 5, 6, 7]);
    let singles: Vec<u8> = (0..8_u8).flat_map(|value| f32::from(value).to_le_bytes()).collect();
    vec![
        joined(&[("x.npy", x.clone()), ("y.npy", npy("<i8", "False", "(2,)", &longs(&[0, 1])))]),
        joined(&[("images.npy", npy("<f4", "True", "(2, 4)", &singles))]),
        joined(&[("data.npy", x), ("labels.npy", npy("|u1", "False", "(2,)", &[1, 0]))]),
    ]
}
