//! Brackets where solvers are tempted to go wrong: sizes apart, negative values, gaps out of reach, many threads.

use crate::bracket::solve_by;
use crate::support::{normal_matrix, quadratic};
use gambeson_checker::Domain;
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::linalg::matrix::{DenseMatrix, Matrix, SparseMatrix};
use gambeson_lowrank::sdp::bracket::{BoundParams, Solver, Stop, bracket};
use gambeson_lowrank::sdp::burer_monteiro::BurerMonteiroParams;
use gambeson_lowrank::sdp::instance;
use gambeson_lowrank::sdp::problem::{MatrixRole, OperatorNorm, Problem};
use gambeson_lowrank::sdp::progress::Progress;
use std::ops::ControlFlow;

/// Four diagonal blocks of sizes apart: the small ones must neither hold up the solver nor spoil the bound.
#[test]
fn blocks_of_different_sizes_are_no_harder() {
    let (n, block) = (120, 30);
    let part = instance::positive_semidefinite(block, 3, MemoryLimit::NONE, 1).expect("it fits");
    let entry = |i: usize, j: usize| {
        let size = 1e-3_f64.powi(i32::try_from(i / block).expect("four blocks"));
        if i / block == j / block { size * part.entries[(i % block) * block + j % block] } else { 0.0 }
    };
    let entries = (0..n * n).map(|at| entry(at / n, at % n)).collect();
    let problem = quadratic(&DenseMatrix { rows: n, columns: n, entries });
    let solver = BurerMonteiroParams { max_iterations: 300, ..BurerMonteiroParams::default() };
    let params = BoundParams { threads: 1, gap: 1e-4, burer_monteiro: solver, ..BoundParams::default() };
    let found = bracket(&problem, &params, &mut ()).expect("a bracket");
    assert!(found.gap() <= 1e-4, "{} after {} products", found.gap(), found.products);
}

#[test]
fn negative_values_are_bracketed_as_sharply_as_positive_ones() {
    let n = 80;
    let diagonal = |value: f64| {
        let mut matrix = instance::quadratic_program(n, 6, MemoryLimit::NONE).expect("it fits");
        (0..n).for_each(|i| matrix.entries[i * n + i] = value);
        Problem::new(Matrix::Dense(matrix), OperatorNorm::Quadratic, MatrixRole::Plain, Domain::Vertices, 1)
            .expect("valid")
    };
    let zero = solve_by(&diagonal(0.0), Solver::BurerMonteiro, 1e-6);
    let low = solve_by(&diagonal(-100.0), Solver::BurerMonteiro, 1e-6);
    assert!(low.upper.value() < 0.0 && low.gap() <= 1e-6 && low.stop == Stop::Gap, "{}", low.gap());
    let shift = 100.0 * n as f64;
    assert!(low.upper.value() + shift >= zero.sdp_lower.value() - 1e-6);
    assert!(low.sdp_lower.value() + shift <= zero.upper.value() + 1e-6);
}

/// A gap beyond what rounding errors allow ends in a stall, not in a loop.
#[test]
fn gaps_out_of_reach_end() {
    for n in [1_usize, 3, 4] {
        let entries = (0..n * n).map(|at| if at.is_multiple_of(n + 1) { 1.0 } else { 0.0 }).collect();
        let found =
            solve_by(&quadratic(&DenseMatrix { rows: n, columns: n, entries }), Solver::BurerMonteiro, 1e-17);
        assert!(found.gap() <= 1e-9, "{}", found.gap());
    }
}

/// Several attempts are one run to whoever watches.
#[test]
fn the_bracket_seen_never_widens() {
    let problem = quadratic(&instance::quadratic_program(90, 5, MemoryLimit::NONE).expect("it fits"));
    let mut seen: Vec<(usize, f64, f64)> = Vec::new();
    let mut watch = |progress: &Progress| {
        seen.push((progress.iteration, progress.upper, progress.lower));
        ControlFlow::Continue(())
    };
    let params = BoundParams { threads: 1, gap: 1e-13, ..BoundParams::default() };
    let found = bracket(&problem, &params, &mut watch).expect("a bracket");
    assert!(found.gap() <= 1e-8, "{}", found.gap());
    assert!(seen.len() > 10);
    for pair in seen.windows(2) {
        assert!(pair[0].0 <= pair[1].0 && pair[0].1 >= pair[1].1 && pair[0].2 <= pair[1].2, "{pair:?}");
    }
}

/// Dimensions at which there are several tasks a step, and single precision.
#[test]
fn threads_do_not_change_a_certificate() {
    let n = 600;
    let triplets =
        (0..n).flat_map(|i| [1, 7, 31].map(|step| (i, (i + step) % n, ((i * step) % 5) as f64 - 2.0)));
    let triplets: Vec<_> = triplets.flat_map(|(i, j, x)| [(i, j, x), (j, i, x)]).collect();
    let sparse = SparseMatrix::from_triplets(n, n, triplets).expect("in range");
    let dense = instance::quadratic_program(n, 3, MemoryLimit::NONE).expect("it fits");
    let factor = normal_matrix(n, 40, 2);
    for (matrix, reading) in [
        (Matrix::Dense(dense), MatrixRole::Plain),
        (Matrix::Sparse(sparse), MatrixRole::Plain),
        (Matrix::Dense(factor), MatrixRole::Gram),
    ] {
        let problem = Problem::new(matrix, OperatorNorm::Quadratic, reading, Domain::Cube, 1).expect("valid");
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            let params = BoundParams { threads, gap: 1e-4, ..BoundParams::default() };
            let found = pool.install(|| bracket(&problem, &params, &mut ())).expect("a bracket");
            (found.certificate, found.upper.value(), found.lower.value(), found.sdp_lower.value())
        };
        assert_eq!(run(1), run(2));
    }
}
