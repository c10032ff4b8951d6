//! Reading matrices and graphs from bytes and files.

mod hostile;
mod matrix_market;
mod npy;
mod npz;
mod reference;
mod rudy;
mod sdpa;

use gambeson_lowrank::MemoryLimit;
use std::error::Error;
use std::fs;
use std::path::Path;

use gambeson_lowrank::linalg::matrix::{DenseMatrix, Matrix, SparseMatrix};
use gambeson_lowrank::matrix_file::{Input, InputError, InputKind, ParseError, parse, read};

/// The matrix of the fixtures, see `fixtures/make_fixtures.py`.
const FIXTURE: [f64; 12] = [0.0, 1.5, 0.0, -2.0, 0.0, 0.0, 0.0, 0.0, 3.0, 0.0, 0.25, 0.0];

fn fixture_matrix() -> DenseMatrix {
    DenseMatrix::new(3, 4, FIXTURE.to_vec()).expect("a matrix")
}

pub(super) fn parsed(bytes: impl AsRef<[u8]>) -> Input {
    parse(bytes.as_ref(), MemoryLimit::NONE).expect("a valid file")
}

fn dense(bytes: impl AsRef<[u8]>) -> DenseMatrix {
    match parsed(bytes) {
        Input { matrix: Matrix::Dense(dense), kind: InputKind::Matrix, .. } => dense,
        other => panic!("not a dense matrix: {other:?}"),
    }
}

/// The sparse matrix of the bytes, which must be of the given kind.
fn sparse(bytes: impl AsRef<[u8]>, expected: InputKind) -> SparseMatrix {
    match parsed(bytes) {
        Input { matrix: Matrix::Sparse(sparse), kind, .. } if kind == expected => sparse,
        other => panic!("not a sparse matrix: {other:?}"),
    }
}

fn refused(bytes: impl AsRef<[u8]>) -> ParseError {
    parse(bytes.as_ref(), MemoryLimit::NONE).expect_err("a refusal")
}

/// The message that the bytes are refused with.
fn message(bytes: impl AsRef<[u8]>) -> String {
    refused(bytes).to_string()
}

#[test]
fn empty_files_are_named_as_such() {
    for bytes in ["", " \n\t\r\n", "\u{feff}"] {
        assert!(matches!(refused(bytes), ParseError::EmptyFile), "{bytes:?}");
    }
}

#[test]
fn unknown_formats_show_how_they_start() {
    let unknown: [&[u8]; 9] = [
        b"hello",
        b"1.0 2.0\n3.0 4.0\n",
        b"1,2\n3,4\n",
        b"1 2 3\n4 5 6\n",
        b"7\n",
        b"7\nseven\n",
        b"-3 4\n",
        b"\x1f\x8b\x08\x00 gzip",
        b"\x00\xff",
    ];
    for bytes in unknown {
        assert!(matches!(refused(bytes), ParseError::UnknownFormat { .. }), "{}", bytes.escape_ascii());
    }
    assert_eq!(
        message(b"\x1f\x8b\x08 and more than sixteen bytes"),
        "unknown format, starting with \"\\x1f\\x8b\\x08 and more tha\": \
         none of npy, npz, Matrix Market, rudy graph, SDPA sparse"
    );
}

#[test]
fn a_byte_order_mark_is_skipped() {
    assert_eq!(parsed("\u{feff}2 1\n1 2\n"), parsed("2 1\n1 2\n"));
}

#[test]
fn reading_a_file_equals_parsing_its_bytes_whatever_its_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let files: [&[u8]; 5] = [
        include_bytes!("../../fixtures/fortran_big_endian.npy"),
        include_bytes!("../../fixtures/csr_deflated.npz"),
        b"%%MatrixMarket matrix array real general\n1 1\n3\n",
        b"2 1\n1 2 5\n",
        b"1\n1\n1\n1.0\n1 1 1 1 1.0\n",
    ];
    let path = folder.path().join("misleading.csv");
    for bytes in files {
        fs::write(&path, bytes).expect("written");
        assert_eq!(read(&path, MemoryLimit::NONE).expect("a valid file"), parsed(bytes));
    }
}

#[test]
fn input_errors_say_path_and_reason_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("graph");
    let shown = |path: &Path| {
        let error = read(path, MemoryLimit::NONE).expect_err("a refusal");
        assert!(error.source().is_none(), "the cause is in the message already");
        (error.to_string(), error)
    };

    let (text, error) = shown(&path);
    assert!(matches!(error, InputError::Open { .. }), "{error:?}");
    assert!(text.starts_with(&format!("{}: ", path.display())), "{text}");

    fs::write(&path, "2 1\n1 3 5\n").expect("written");
    let (text, error) = shown(&path);
    assert!(matches!(error, InputError::Parse { .. }), "{error:?}");
    assert_eq!(text, format!("{}: line 2: the second vertex is 3, larger than 2", path.display()));
}

#[cfg(unix)]
#[test]
fn a_folder_is_a_reading_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let error = read(folder.path(), MemoryLimit::NONE).expect_err("a refusal");
    assert!(matches!(error, InputError::Read { .. }), "{error:?}");
}
