//! The low-rank factorisation: convergence, escape, warm starts, grids, reproducibility.

use crate::support::normal_matrix;
use gambeson_checker::{Certificate, Domain, Quadratic, relaxation_value};
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::linalg::matrix::{DenseMatrix, SparseMatrix};
use gambeson_lowrank::linalg::operator::Operator;
use gambeson_lowrank::linalg::unit_rows::UnitRows;
use gambeson_lowrank::observe::Observer;
use gambeson_lowrank::sdp::burer_monteiro::{BurerMonteiroParams, BurerMonteiroSolution, burer_monteiro};
use gambeson_lowrank::sdp::instance;
use gambeson_lowrank::sdp::progress::{Progress, StopReason};
use gambeson_lowrank::sdp::scale::check;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::ops::ControlFlow;

fn solve(
    view: Quadratic<'_>,
    domain: Domain,
    params: &BurerMonteiroParams,
    start: Option<&UnitRows>,
    observer: &mut impl Observer<Progress>,
) -> BurerMonteiroSolution {
    let operator = Operator::new(view, domain);
    burer_monteiro(&operator, params, start, &mut ChaCha8Rng::seed_from_u64(3), observer)
        .expect("valid parameters")
}

/// The proven gap: the weights a hair enlarged and taken as they stand, the point by the checker's own value.
fn proven_gap(view: Quadratic<'_>, domain: Domain, solution: &BurerMonteiroSolution) -> f64 {
    let weights = solution.weights.iter().map(|weight| weight * (1.0 + 5e-8)).collect();
    let direct = Certificate { domain, weights, shift: Some(0.0) };
    let searched = Certificate { shift: None, ..direct.clone() };
    let bound = check(view, &direct, 1).or_else(|_| check(view, &searched, 1));
    let upper = bound.expect("positive weights prove something").value();
    let UnitRows { entries, columns } = &solution.point;
    upper / relaxation_value(view, domain, entries, *columns, 1).expect("a feasible point").value() - 1.0
}

fn dense(matrix: &DenseMatrix) -> Quadratic<'_> {
    Quadratic::Dense { entries: &matrix.entries, dim: matrix.rows }
}

/// Below and above the size from which single precision does most of the products.
#[test]
fn tiny_gaps_are_proven() {
    for n in [150, 300] {
        let factor = normal_matrix(n, 20, 5);
        let gram = Quadratic::Gram { factor: &factor.entries, dim: n, rank: 20 };
        let (psd, qp) = (
            instance::positive_semidefinite(n, 2, MemoryLimit::NONE, 1).expect("it fits"),
            instance::quadratic_program(n, 3, MemoryLimit::NONE).expect("it fits"),
        );
        for (name, view, domain) in [
            ("psd", dense(&psd), Domain::Cube),
            ("qp", dense(&qp), Domain::Cube),
            ("qp on vertices", dense(&qp), Domain::Vertices),
            ("gram", gram, Domain::Cube),
        ] {
            let solution = solve(view, domain, &BurerMonteiroParams::default(), None, &mut ());
            assert_eq!(solution.stop, StopReason::Converged, "{name} {n}");
            let gap = proven_gap(view, domain, &solution);
            assert!(gap <= 1e-7, "{name} {n}: {gap}");
        }
    }
}

/// A circulant matrix known by its products alone: the weights are proven on its entries.
#[test]
fn a_matrix_may_be_known_by_its_products_alone() {
    let n = 300;
    let kernel = |distance: usize| match distance {
        0 => 0.5,
        1..=5 => (7.0 * distance as f64).cos(),
        _ => 0.0,
    };
    let entry = |i: usize, j: usize| {
        let distance = (i + n - j) % n;
        kernel(distance.min(n - distance))
    };
    let product = |v: &[f64], columns: usize| {
        let mut product = vec![0.0; v.len()];
        for (i, row) in product.chunks_exact_mut(columns).enumerate() {
            for j in (i + n - 5..=i + n + 5).map(|j| j % n) {
                let v = &v[j * columns..][..columns];
                row.iter_mut().zip(v).for_each(|(sum, v)| *sum += entry(i, j) * v);
            }
        }
        product
    };
    let operator = Operator::matrix_free(vec![0.5; n], &product);
    let params = BurerMonteiroParams { gap: 1e-7, ..BurerMonteiroParams::default() };
    let solution = burer_monteiro(&operator, &params, None, &mut ChaCha8Rng::seed_from_u64(3), &mut ())
        .expect("valid parameters");
    let entries: Vec<f64> = (0..n * n).map(|at| entry(at / n, at % n)).collect();
    let gap = proven_gap(Quadratic::Dense { entries: &entries, dim: n }, Domain::Cube, &solution);
    assert!(gap <= 1e-6, "{gap}");
}

/// Grids are where quasi-Newton steps crawl: a torus with random signs, like G11.
#[test]
fn grids_need_newton_steps_and_get_them() {
    let side = 20;
    let place = |i: usize, j: usize| (i % side) * side + j % side;
    let sign = |seed: usize| if (seed * 2_654_435_761) >> 7 & 1 == 1 { 0.25 } else { -0.25 };
    let mut triplets = Vec::new();
    for i in 0..side {
        for j in 0..side {
            for (other, seed) in [(place(i + 1, j), 2 * place(i, j)), (place(i, j + 1), 2 * place(i, j) + 1)]
            {
                triplets.push((place(i, j), other, sign(seed)));
                triplets.push((other, place(i, j), sign(seed)));
            }
        }
    }
    let grid = SparseMatrix::from_triplets(side * side, side * side, triplets).expect("in range");
    let view = Quadratic::Sparse {
        dim: side * side,
        offsets: &grid.offsets,
        indices: &grid.indices,
        values: &grid.values,
    };
    let params = BurerMonteiroParams { gap: 1e-6, ..BurerMonteiroParams::default() };
    let solution = solve(view, Domain::Vertices, &params, None, &mut ());
    let gap = proven_gap(view, Domain::Vertices, &solution);
    assert!(gap <= 2e-6, "{gap} after {} steps", solution.iterations);
}

/// From one useful column there is no way but to add more.
#[test]
fn a_saddle_is_escaped() {
    let matrix = instance::positive_semidefinite(60, 9, MemoryLimit::NONE, 1).expect("it fits");
    let narrow = UnitRows { entries: vec![1.0; 60], columns: 1 };
    let solution =
        solve(dense(&matrix), Domain::Cube, &BurerMonteiroParams::default(), Some(&narrow), &mut ());
    assert!(solution.point.columns > 1, "columns were added");
    let gap = proven_gap(dense(&matrix), Domain::Cube, &solution);
    assert!(gap <= 1e-7, "{gap}");
}

/// From the solution of a matrix perturbed by 1 %: at least three times fewer steps to the same gap.
#[test]
fn a_warm_start_saves_steps() {
    let n = 400;
    let matrix = instance::positive_semidefinite(n, 4, MemoryLimit::NONE, 1).expect("it fits");
    let other = instance::positive_semidefinite(n, 5, MemoryLimit::NONE, 1).expect("it fits");
    let perturbed: Vec<f64> =
        matrix.entries.iter().zip(&other.entries).map(|(a, b)| a + 0.01 * (b - a)).collect();
    let perturbed = DenseMatrix { rows: n, columns: n, entries: perturbed };
    let params = BurerMonteiroParams { gap: 1e-3, ..BurerMonteiroParams::default() };
    let first = solve(dense(&matrix), Domain::Cube, &BurerMonteiroParams::default(), None, &mut ());
    let cold = solve(dense(&perturbed), Domain::Cube, &params, None, &mut ());
    let warm = solve(dense(&perturbed), Domain::Cube, &params, Some(&first.point), &mut ());
    assert!(proven_gap(dense(&perturbed), Domain::Cube, &warm) <= 1.1e-3);
    assert!(3 * warm.iterations <= cold.iterations, "{} warm, {} cold", warm.iterations, cold.iterations);
}

#[test]
fn threads_do_not_change_a_bit() {
    let matrix = instance::quadratic_program(700, 3, MemoryLimit::NONE).expect("it fits");
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        let params = BurerMonteiroParams { gap: 1e-4, ..BurerMonteiroParams::default() };
        pool.install(|| solve(dense(&matrix), Domain::Cube, &params, None, &mut ()).weights)
    };
    assert_eq!(run(1), run(3));
}

/// The bracket an observer sees never widens, and stopping at once still leaves weights.
#[test]
fn the_observer_sees_a_shrinking_bracket() {
    let matrix = instance::quadratic_program(120, 8, MemoryLimit::NONE).expect("it fits");
    let (mut upper, mut lower) = (f64::INFINITY, f64::NEG_INFINITY);
    let mut widened = false;
    let mut watch = |progress: &Progress| {
        widened |= progress.upper > upper || progress.lower < lower;
        (upper, lower) = (progress.upper, progress.lower);
        ControlFlow::Continue(())
    };
    solve(dense(&matrix), Domain::Cube, &BurerMonteiroParams::default(), None, &mut watch);
    assert!(!widened);
    let mut stop = |_: &Progress| ControlFlow::Break(());
    let solution = solve(dense(&matrix), Domain::Cube, &BurerMonteiroParams::default(), None, &mut stop);
    assert_eq!(solution.stop, StopReason::Interrupted);
    assert!(proven_gap(dense(&matrix), Domain::Cube, &solution) < 1.0);
}

#[test]
fn parameters_are_validated() {
    let good = BurerMonteiroParams::default();
    for (name, bad) in [
        ("gap", BurerMonteiroParams { gap: f64::NAN, ..good.clone() }),
        ("columns", BurerMonteiroParams { columns: Some(0), ..good.clone() }),
        ("offset", BurerMonteiroParams { offset: f64::INFINITY, ..good.clone() }),
        ("max_iterations", BurerMonteiroParams { max_iterations: 0, ..good.clone() }),
    ] {
        assert_eq!(bad.validate().expect_err("out of range").name, name);
    }
}

#[test]
fn a_start_of_the_wrong_shape_is_refused() {
    let matrix = instance::quadratic_program(5, 8, MemoryLimit::NONE).expect("it fits");
    let operator = Operator::new(dense(&matrix), Domain::Cube);
    for (entries, columns) in [(vec![1.0; 4], 1), (vec![], 0), (vec![1.0; 5], 0), (vec![f64::NAN; 5], 1)] {
        let start = UnitRows { entries, columns };
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let params = BurerMonteiroParams::default();
        assert!(burer_monteiro(&operator, &params, Some(&start), &mut rng, &mut ()).is_err());
    }
}

/// Points from which an ascent sees nothing: a symmetric one, where the columns of V span an invariant space, and one of
/// value zero.
#[test]
fn hopeless_starts_are_left() {
    let n = 8;
    let cycle = |i: usize, j: usize| match (i + n - j) % n {
        0 => 3.0,
        1 | 7 => -1.0,
        _ => 0.0,
    };
    let cycle =
        DenseMatrix { rows: n, columns: n, entries: (0..n * n).map(|at| cycle(at / n, at % n)).collect() };
    let ones = UnitRows { entries: vec![1.0; n], columns: 1 };
    let hollow = instance::quadratic_program(n, 2, MemoryLimit::NONE).expect("it fits");
    let hollow = DenseMatrix {
        entries: hollow
            .entries
            .iter()
            .enumerate()
            .map(|(at, x)| if at.is_multiple_of(n + 1) { 0.0 } else { *x })
            .collect(),
        ..hollow
    };
    let identity = |at: usize| if at.is_multiple_of(n + 1) { 1e200 } else { 0.0 };
    let identity = UnitRows { entries: (0..n * n).map(identity).collect(), columns: n };
    for (matrix, start) in [(&cycle, &ones), (&hollow, &identity)] {
        let params = BurerMonteiroParams { gap: 1e-7, ..BurerMonteiroParams::default() };
        let solution = solve(dense(matrix), Domain::Cube, &params, Some(start), &mut ());
        let gap = proven_gap(dense(matrix), Domain::Cube, &solution);
        assert!(gap <= 1e-6, "{gap}, {:?}", solution.stop);
    }
}
