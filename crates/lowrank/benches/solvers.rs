//! Speed of the solvers: `cargo bench -p gambeson-lowrank` (`-- 4500` for other dimensions).
//!
//! Prints time to a proven gap of 5e-3; the peers stand beside in `bench/peers/sdp`.

#![allow(clippy::print_stdout, missing_docs)]

use gambeson_checker::Domain;
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::linalg::matrix::Matrix;
use gambeson_lowrank::sdp::bracket::{BoundParams, bracket};
use gambeson_lowrank::sdp::instance;
use gambeson_lowrank::sdp::problem::{MatrixRole, OperatorNorm, Problem};

fn main() {
    let given: Vec<usize> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let sizes = if given.is_empty() { vec![300, 1000, 2000] } else { given };
    let params = BoundParams::default();
    for n in sizes {
        for (name, matrix) in [
            (
                "psd",
                instance::positive_semidefinite(n, 1, MemoryLimit::NONE, params.threads).expect("it fits"),
            ),
            ("qp", instance::quadratic_program(n, 1, MemoryLimit::NONE).expect("it fits")),
        ] {
            let (norm, reading) = (OperatorNorm::Quadratic, MatrixRole::Plain);
            let problem = Problem::new(Matrix::Dense(matrix), norm, reading, Domain::Cube, params.threads)
                .expect("generated matrices are valid");
            let found = bracket(&problem, &params, &mut ()).expect("generated matrices have brackets");
            println!(
                "{name:4} n = {n:6}  solve {:8.3} s  proof {:7.3} s  gap {:.2e}  {} iterations, {} products",
                found.seconds_solve,
                found.seconds_check,
                found.gap(),
                found.iterations,
                found.products
            );
        }
    }
}
