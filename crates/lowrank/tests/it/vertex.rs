//! Vertices as evidence: what a bracket returns proves its lower end again, through a file too.

use crate::support::{form, normal_matrix, signs};
use gambeson_checker::{CheckError, Domain, Rejected};
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::linalg::matrix::{DenseMatrix, Matrix, SparseMatrix};
use gambeson_lowrank::matrix_file::npy;
use gambeson_lowrank::sdp::bracket::{BoundParams, bracket, prove_vertex};
use gambeson_lowrank::sdp::instance;
use gambeson_lowrank::sdp::problem::{MatrixRole, OperatorNorm, Problem};
use gambeson_lowrank::vertex_file::{VertexFileError, read_vertex, write_vertex};

/// Every norm and reading, with entries known exactly and up to an error.
#[test]
fn the_vertex_of_a_bracket_proves_its_lower_end_again() {
    let wide = normal_matrix(5, 8, 3);
    let square = instance::quadratic_program(7, 1, MemoryLimit::NONE).expect("it fits");
    let graph = SparseMatrix::from_triplets(4, 4, vec![(0, 1, -0.7), (1, 0, -0.7), (0, 0, 0.7), (1, 1, 0.7)]);
    let graph = Matrix::Sparse(graph.expect("in range"));
    let (plain, gram) = (MatrixRole::Plain, MatrixRole::Gram);
    for (matrix, norm, reading, domain) in [
        (Matrix::Dense(square), OperatorNorm::Quadratic, plain, Domain::Cube),
        (graph, OperatorNorm::Quadratic, plain, Domain::Vertices), // two of its rows are zero
        (Matrix::Dense(wide.clone()), OperatorNorm::Quadratic, gram, Domain::Cube),
        (Matrix::Dense(wide.clone()), OperatorNorm::InfToOne, plain, Domain::Cube),
        (Matrix::Dense(wide.clone()), OperatorNorm::InfToTwo, plain, Domain::Cube),
        (Matrix::Dense(wide), OperatorNorm::InfToTwo, gram, Domain::Cube),
    ] {
        for error in [0.0, 1e-3] {
            let problem =
                Problem::enclosing(matrix.clone(), error, norm, reading, domain, MemoryLimit::NONE, 1)
                    .expect("a problem");
            let params = BoundParams { threads: 1, ..BoundParams::default() };
            let found = bracket(&problem, &params, &mut ()).expect("a bracket");
            let again = prove_vertex(&problem, &found.vertex, 1).expect("a vertex");
            assert_eq!(again.value(), found.lower.value(), "{norm:?} {reading:?} {domain:?} {error}");
            // One coordinate less is no vertex of it.
            let short = &found.vertex[1..];
            let refused = prove_vertex(&problem, short, 1).expect_err("too short");
            assert_eq!(refused, CheckError::Rejected(Rejected::BadWitness { index: short.len() }));
        }
    }
}

/// For ∞→1 the vertex is the signs of the rows, then those of the columns.
#[test]
fn signs_of_rows_come_before_those_of_columns() {
    let a = DenseMatrix { rows: 2, columns: 3, entries: vec![1.0, -2.0, 3.0, 4.0, 5.0, -7.0] };
    let (norm, reading) = (OperatorNorm::InfToOne, MatrixRole::Plain);
    let problem = Problem::new(Matrix::Dense(a.clone()), norm, reading, Domain::Cube, 1).expect("a problem");
    for x in signs(5) {
        let value: f64 = (0..2).map(|i| (0..3).map(|j| x[i] * a.row(i)[j] * x[2 + j]).sum::<f64>()).sum();
        assert_eq!(prove_vertex(&problem, &x, 1).expect("a vertex").value(), value);
    }
}

/// Integers have no rounding errors: the number is the value, on a graph as on a factor.
#[test]
fn integers_are_proven_as_integers() {
    let matrix =
        DenseMatrix { rows: 3, columns: 3, entries: vec![1e15, -7.0, 3.0, -7.0, 2.0, 5.0, 3.0, 5.0, 4.0] };
    let problem = |matrix: Matrix, reading| {
        Problem::new(matrix, OperatorNorm::Quadratic, reading, Domain::Cube, 1).expect("a problem")
    };
    let own = problem(Matrix::Dense(matrix.clone()), MatrixRole::Plain);
    for x in signs(3) {
        assert_eq!(prove_vertex(&own, &x, 1).expect("a vertex").value(), form(&matrix, &x));
    }
    let factor = DenseMatrix { rows: 3, columns: 2, entries: vec![1.0, 2.0, -3.0, 4.0, 50_000.0, 6.0] };
    let gram = problem(Matrix::Dense(factor), MatrixRole::Gram);
    let value = prove_vertex(&gram, &[1.0, -1.0, 1.0], 1).expect("a vertex").value();
    assert_eq!(value, 50_004.0 * 50_004.0 + 16.0);
}

#[test]
fn a_vertex_survives_its_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x.npy");
    let vertex = [1.0, -1.0, -1.0, 1.0];
    write_vertex(&path, &vertex).expect("written");
    assert_eq!(read_vertex(&path, MemoryLimit::NONE).expect("read"), vertex);
    assert!(matches!(write_vertex(folder.path(), &vertex), Err(VertexFileError::Write { .. })));
}

#[test]
fn files_that_are_no_vertices_are_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x.npy");
    let said = |bytes: &[u8]| {
        std::fs::write(&path, bytes).expect("written");
        let error = read_vertex(&path, MemoryLimit::NONE).expect_err("no vertex").to_string();
        assert!(error.contains("x.npy: "), "{error}");
        error
    };
    let array = |values: &[f64]| npy::to_bytes(&[values.len()], values);
    assert!(said(&array(&[1.0, 0.5])).contains("entry 1 is 0.5, a vertex has entries 1 and -1"));
    assert!(said(&array(&[-2.0, 1.0])).contains("entry 0 is -2,"));
    assert!(said(&array(&[1.0, -1.0, f64::NAN])).contains("entry 2 is NaN,"));
    assert!(said(&array(&[f64::INFINITY])).contains("entry 0 is inf,"));
    assert!(said(&npy::to_bytes(&[1, 2], &[1.0, 1.0])).contains("2 dimension(s), a vertex has one"));
    let mut complex = array(&[1.0, 1.0]);
    let at = complex.windows(3).position(|part| part == b"<f8").expect("the type");
    complex[at + 1] = b'c';
    assert!(said(&complex).contains("dtype <c8 is not supported"));
    assert!(said(b"no array").contains("npy header"));
    assert!(said(&array(&[1.0, 1.0])[..90]).contains("truncated"));
    let missing = read_vertex(&folder.path().join("none.npy"), MemoryLimit::NONE);
    assert!(matches!(missing, Err(VertexFileError::Array(_))));
}
