//! Certificate files: exact numbers, and clear words about broken ones.

use gambeson_checker::{Certificate, Domain};
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::linalg::matrix::{DenseMatrix, Matrix, SparseMatrix};
use gambeson_lowrank::sdp::certificate::{CertificateFile, CertificateFileError};
use gambeson_lowrank::sdp::problem::{MatrixRole, OperatorNorm};

fn sample() -> CertificateFile {
    let weights = vec![0.1, 1.0 / 3.0, 5e-324, 1.797e308, 2.0_f64.powi(-1074), 123_456_789.123_456_78];
    let certificate = Certificate { domain: Domain::Vertices, weights, shift: Some(1e-17) };
    CertificateFile::new(certificate, OperatorNorm::InfToTwo, MatrixRole::Gram, "00ff".to_owned())
}

#[test]
fn numbers_survive_exactly() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("c.json");
    sample().write(&path).expect("written");
    assert_eq!(CertificateFile::read(&path, MemoryLimit::NONE).expect("read"), sample());
    let text = std::fs::read_to_string(&path).expect("text");
    for part in
        ["\"version\":1", "\"domain\":\"vertices\"", "\"norm\":\"inf-to-two\"", "\"gram\":true", "\"n\":6"]
    {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1, "no temporary file stays");
}

#[test]
fn broken_files_are_named() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("c.json");
    sample().write(&path).expect("written");
    let text = std::fs::read_to_string(&path).expect("text");
    let fails = |content: &str| {
        std::fs::write(&path, content).expect("written");
        let error = CertificateFile::read(&path, MemoryLimit::NONE).expect_err("broken");
        assert!(error.to_string().contains("c.json"), "{error}");
        error
    };
    assert!(matches!(fails(&text[..text.len() / 2]), CertificateFileError::Malformed { .. }));
    assert!(matches!(fails(""), CertificateFileError::Malformed { .. }));
    let renamed = text.replace("\"shift\"", "\"shiftt\"");
    assert!(
        matches!(fails(&renamed), CertificateFileError::Malformed { .. }),
        "an unknown field is not ignored"
    );
    let newer = text.replace("\"version\":1", "\"version\":2");
    assert!(matches!(fails(&newer), CertificateFileError::Version { found: 2, .. }));
    let nan = text.replace("0.1", "NaN");
    assert!(matches!(fails(&nan), CertificateFileError::Malformed { .. }), "JSON has no NaN");
    let missing =
        CertificateFile::read(&folder.path().join("none.json"), MemoryLimit::NONE).expect_err("missing");
    assert!(matches!(missing, CertificateFileError::File { .. }));
}

#[test]
fn a_matrix_has_one_hash() {
    let dense = |entries: Vec<f64>| Matrix::Dense(DenseMatrix { rows: 2, columns: 2, entries });
    assert_eq!(dense(vec![0.0, 1.0, 1.0, 2.0]).sha256(), dense(vec![-0.0, 1.0, 1.0, 2.0]).sha256());
    assert_ne!(
        dense(vec![0.0, 1.0, 1.0, 2.0]).sha256(),
        dense(vec![0.0, 1.0, 1.0, 2.0_f64.next_up()]).sha256()
    );
    let sparse = |triplets| Matrix::Sparse(SparseMatrix::from_triplets(2, 2, triplets).expect("in range"));
    let once = sparse(vec![(0, 1, 1.0), (1, 0, 1.0), (1, 1, 2.0)]);
    assert_eq!(once.sha256(), sparse(vec![(1, 1, 2.0), (1, 0, 1.0), (0, 0, 0.0), (0, 1, 1.0)]).sha256());
    let wide = Matrix::Dense(DenseMatrix { rows: 1, columns: 4, entries: vec![0.0, 1.0, 1.0, 2.0] });
    assert_ne!(dense(vec![0.0, 1.0, 1.0, 2.0]).sha256(), wide.sha256(), "the shape counts");
}
