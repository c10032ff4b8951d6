//! Archives: files of numpy and scipy, and damaged ones made here.

use gambeson_lowrank::MemoryLimit;
use std::io::{Cursor, Write};

use gambeson_lowrank::linalg::matrix::MatrixError;
use gambeson_lowrank::matrix_file::{InputKind, ParseError, SparseProblem};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::npy::npy;
use super::{dense, fixture_matrix, message, refused, sparse};

/// An archive of the members, deflated.
fn archive(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    for (name, bytes) in members {
        writer.start_file(*name, options).expect("a member");
        writer.write_all(bytes).expect("written");
    }
    writer.finish().expect("an archive").into_inner()
}

fn integers(values: &[i32]) -> Vec<u8> {
    let data: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    npy("<i4", false, &[values.len()], &data)
}

fn reals(values: &[f64]) -> Vec<u8> {
    let data: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    npy("<f8", false, &[values.len()], &data)
}

/// The members of the 2 x 3 matrix [[0, 5, 0], [7, 0, 9]].
fn csr() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("format.npy", npy("|S3", false, &[], b"csr")),
        ("shape.npy", integers(&[2, 3])),
        ("data.npy", reals(&[5.0, 7.0, 9.0])),
        ("indices.npy", integers(&[1, 0, 2])),
        ("indptr.npy", integers(&[0, 1, 3])),
    ]
}

/// The archive of `csr` with one member replaced.
fn csr_with(name: &str, bytes: Vec<u8>) -> Vec<u8> {
    let mut members = csr();
    members.iter_mut().find(|member| member.0 == name).expect("a member").1 = bytes;
    archive(&members)
}

#[test]
fn files_of_scipy_are_read() {
    let files: [&[u8]; 7] = [
        include_bytes!("../../fixtures/csr_stored.npz"),
        include_bytes!("../../fixtures/csr_deflated.npz"),
        include_bytes!("../../fixtures/csc_stored.npz"),
        include_bytes!("../../fixtures/csc_deflated.npz"),
        include_bytes!("../../fixtures/coo_stored.npz"),
        include_bytes!("../../fixtures/coo_deflated.npz"),
        include_bytes!("../../fixtures/csr_repeated.npz"),
    ];
    for bytes in files {
        let matrix = sparse(bytes, InputKind::Matrix);
        assert_eq!(matrix.indices, [1, 3, 0, 2]);
        assert_eq!(matrix.to_dense(MemoryLimit::NONE), Ok(fixture_matrix()));
    }
}

#[test]
fn plain_archives_of_one_matrix_are_read() {
    assert_eq!(dense(include_bytes!("../../fixtures/dense_stored.npz")), fixture_matrix());
    assert_eq!(dense(include_bytes!("../../fixtures/dense_deflated.npz")), fixture_matrix());
}

#[test]
fn coordinates_in_one_array_are_read() {
    let coords: Vec<u8> = [0_i32, 1, 1, 1, 0, 2].iter().flat_map(|index| index.to_le_bytes()).collect();
    let members = |shape: &[usize]| {
        archive(&[
            // Old versions of scipy wrote text in UTF-32.
            ("format.npy", npy("<U3", false, &[], b"c\0\0\0o\0\0\0o\0\0\0")),
            ("shape.npy", integers(&[2, 3])),
            ("data.npy", reals(&[5.0, 7.0, 9.0])),
            ("coords.npy", npy("<i4", false, shape, &coords)),
        ])
    };
    assert_eq!(sparse(members(&[2, 3]), InputKind::Matrix), sparse(archive(&csr()), InputKind::Matrix));
    assert!(matches!(
        refused(members(&[3, 2])),
        ParseError::Sparse { problem: SparseProblem::Length { array: "coords", expected: 2, found: 3 } }
    ));
}

#[test]
fn other_archives_are_refused() {
    assert_eq!(
        message(include_bytes!("../../fixtures/refused_bsr.npz")),
        "sparse format \"bsr\" is not supported: csr, csc or coo only (convert with .tocsr())"
    );
    assert!(matches!(
        refused(include_bytes!("../../fixtures/refused_dia.npz")),
        ParseError::UnsupportedSparse { format } if format == "dia"
    ));
    assert!(matches!(
        refused(include_bytes!("../../fixtures/refused_one_dimension.npz")),
        ParseError::WrongDimensions { ndim: 1, expected: 2 }
    ));
    assert!(
        message(include_bytes!("../../fixtures/refused_complex.npz"))
            .starts_with("member data.npy: dtype <c16")
    );
    assert!(matches!(
        refused(include_bytes!("../../fixtures/refused_two_arrays.npz")),
        ParseError::ArrayCount { found: 2 }
    ));
    assert!(matches!(refused(archive(&[])), ParseError::ArrayCount { found: 0 }));
    assert_eq!(
        message(archive(&[("read me.txt", b"not an array".to_vec())])),
        "member read me.txt: npy header: the magic number is missing"
    );
    assert_eq!(
        message(archive(&[("arr_0.npy", reals(&[1.0]))])),
        "member arr_0.npy: the array has 1 dimension(s), 2 expected"
    );
}

#[test]
fn missing_members_are_named() {
    for missing in ["shape.npy", "data.npy", "indices.npy", "indptr.npy"] {
        let members: Vec<_> = csr().into_iter().filter(|member| member.0 != missing).collect();
        match refused(archive(&members)) {
            ParseError::MissingMember { name } => assert_eq!(name, missing),
            other => panic!("{missing}: {other:?}"),
        }
    }
}

#[test]
fn contradicting_arrays_are_refused() {
    let problem = |name, bytes| match refused(csr_with(name, bytes)) {
        ParseError::Sparse { problem } => problem,
        other => panic!("{other:?}"),
    };
    assert_eq!(
        problem("indptr.npy", integers(&[0, 3])),
        SparseProblem::Length { array: "indptr", expected: 3, found: 2 }
    );
    assert_eq!(problem("indptr.npy", integers(&[1, 1, 3])), SparseProblem::FirstOffset { found: 1 });
    assert_eq!(problem("indptr.npy", integers(&[0, 4, 3])), SparseProblem::DecreasingOffset { position: 2 });
    assert_eq!(
        problem("indptr.npy", integers(&[0, 1, 4])),
        SparseProblem::Length { array: "indices", expected: 4, found: 3 }
    );
    assert_eq!(
        problem("data.npy", reals(&[5.0, 7.0])),
        SparseProblem::Length { array: "row indices", expected: 2, found: 3 }
    );
    assert_eq!(
        problem("indices.npy", integers(&[1, 3, 2])),
        SparseProblem::IndexOutOfRange { array: "column indices", position: 1, index: 3, size: 3 }
    );
    match refused(csr_with("indices.npy", reals(&[1.0, 0.0, 2.0]))) {
        ParseError::Member { name, reason } => {
            assert_eq!(name, "indices.npy");
            let problem = SparseProblem::NotIntegers { array: "indices", descr: "<f8".to_owned() };
            assert!(matches!(*reason, ParseError::Sparse { problem: found } if found == problem));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(
        problem("indices.npy", integers(&[1, -1, 2])),
        SparseProblem::Negative { array: "indices", position: 1 }
    );
}

#[test]
fn entries_and_sizes_are_checked() {
    assert_eq!(
        message(csr_with("data.npy", reals(&[5.0, 7.0, f64::NAN]))),
        "entry (1, 2) is NaN (counting from 0)"
    );
    let wide = npy("<i8", false, &[2], &[2_i64, 1 << 40].map(i64::to_le_bytes).concat());
    assert!(matches!(refused(csr_with("shape.npy", wide)), ParseError::SizeTooLarge { .. }));
    let empty = archive(&[
        ("format.npy", npy("|S3", false, &[], b"coo")),
        ("shape.npy", integers(&[0, 3])),
        ("data.npy", reals(&[])),
        ("row.npy", integers(&[])),
        ("col.npy", integers(&[])),
    ]);
    assert!(matches!(refused(empty), ParseError::Matrix(MatrixError::Empty { rows: 0, columns: 3 })));
}

#[test]
fn members_are_read_exactly() {
    let mut long = reals(&[5.0, 7.0, 9.0]);
    long.push(0);
    let told = message(csr_with("data.npy", long));
    assert_eq!(told, "member data.npy: bytes after the end of the array: 152 bytes expected, 153 found");
    let mut short = reals(&[5.0, 7.0, 9.0]);
    short.pop();
    assert_eq!(
        message(csr_with("data.npy", short)),
        "member data.npy: truncated: 152 bytes expected, 151 found"
    );
    // What inflates to megabytes of zeros is not read beyond what its header announces.
    let mut bomb = reals(&[5.0, 7.0, 9.0]);
    bomb.resize(1 << 24, 0);
    assert!(message(csr_with("data.npy", bomb)).starts_with("member data.npy: bytes after the end"));
}

#[test]
fn damaged_archives_are_refused() {
    let whole = archive(&csr());
    assert!(matches!(refused(&whole[..whole.len() / 2]), ParseError::Zip { .. }));
    // A flipped bit in stored data is caught by the checksum.
    let mut flipped = include_bytes!("../../fixtures/dense_stored.npz").to_vec();
    let numpy = flipped.windows(6).position(|window| window == b"\x93NUMPY").expect("an array");
    flipped[numpy + 128 + 15] ^= 1;
    match refused(&flipped) {
        ParseError::Member { reason, .. } => assert!(matches!(*reason, ParseError::Io { .. }), "{reason:?}"),
        other => panic!("{other:?}"),
    }
}
