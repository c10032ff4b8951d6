//! The public max-cut instances, found through the environment variable `GAMBESON_REFERENCE_DATA`.

use gambeson_lowrank::MemoryLimit;
use gambeson_testing::reference_data;
use std::collections::BTreeMap;
use std::fs;

use gambeson_lowrank::linalg::matrix::{Matrix, SparseMatrix};
use gambeson_lowrank::matrix_file::{Input, InputKind, read};

fn laplacian(path: &std::path::Path) -> SparseMatrix {
    match read(path, MemoryLimit::NONE) {
        Ok(Input { matrix: Matrix::Sparse(sparse), kind: InputKind::MaxCut, .. }) => sparse,
        other => panic!("{}: {other:?}", path.display()),
    }
}

/// Stored entries that are not zero.
fn nonzeros(matrix: &SparseMatrix) -> Vec<(usize, usize, f64)> {
    matrix.triplets().filter(|entry| entry.2 != 0.0).collect()
}

#[test]
fn every_instance_is_a_quarter_laplacian_of_its_known_size() {
    let Some(folder) = reference_data("sdp") else { return };
    let table = fs::read_to_string(folder.join("known_values.csv")).expect("the table of instances");
    let mut sizes: BTreeMap<&str, (usize, usize)> = table
        .lines()
        .skip(1)
        .map(|line| {
            let mut fields = line.split(',');
            let name = fields.next().expect("a name");
            let mut count = || fields.next().and_then(|field| field.parse().ok()).expect("a count");
            (name, (count(), count()))
        })
        .collect();
    for entry in fs::read_dir(&folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
        if name == "known_values.csv" {
            continue;
        }
        let matrix = laplacian(&path);
        let mut row_sums = vec![0.0; matrix.rows];
        let mut edges = 0;
        for (i, j, value) in matrix.triplets() {
            row_sums[i] += value;
            edges += usize::from(i < j);
        }
        // Quarters of integers add up exactly.
        assert!(row_sums.iter().all(|&sum| sum == 0.0), "{name}");
        let mirrored: Vec<_> = matrix.triplets().map(|(i, j, value)| (j, i, value)).collect();
        let mirrored = SparseMatrix::from_triplets(matrix.columns, matrix.rows, mirrored).expect("a matrix");
        assert_eq!(mirrored, matrix, "{name} is symmetric");

        let instance = name.trim_end_matches(".dat-s").trim_end_matches(".dat");
        if let Some((vertices, known_edges)) = sizes.remove(instance) {
            assert_eq!((matrix.rows, edges), (vertices, known_edges), "{name}");
        } else {
            assert!(name.starts_with("be100."), "{name} is not in the table");
            assert_eq!(matrix.rows, 101, "{name}");
        }
    }
    assert!(sizes.is_empty(), "not found: {:?}", sizes.keys());
}

#[test]
fn programs_equal_the_graphs_they_were_made_of() {
    // SDPLIB's maxG11 and maxG32 were made of the G-set graphs of the same numbers, so this also pins the
    // sign of the objective.
    let Some(folder) = reference_data("sdp") else { return };
    for number in [11, 32] {
        let program = laplacian(&folder.join(format!("maxG{number}.dat-s")));
        let graph = laplacian(&folder.join(format!("G{number}")));
        assert_eq!(nonzeros(&program), nonzeros(&graph), "G{number}");
    }
}
