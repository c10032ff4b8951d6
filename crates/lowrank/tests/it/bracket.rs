//! Brackets against brute force and against published values.

use crate::support::{brute_force, form, normal_matrix, quadratic, signs};
use gambeson_checker::{Certificate, Domain, Quadratic};
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::linalg::lanczos::TopEigenspace;
use gambeson_lowrank::linalg::matrix::{DenseMatrix, Matrix, SparseMatrix};
use gambeson_lowrank::linalg::operator::Operator;
use gambeson_lowrank::matrix_file;
use gambeson_lowrank::sdp::bracket::{BoundParams, Bracket, Solver, Stop, Upper, bracket, prove};
use gambeson_lowrank::sdp::instance;
use gambeson_lowrank::sdp::problem::{MatrixRole, OperatorNorm, Problem, ProblemError};
use gambeson_testing::reference_data;

/// Both methods, each proven twice; returns the sharper one.
fn solve(problem: &Problem) -> Bracket {
    let weights = solve_by(problem, Solver::MultiplicativeWeights, 5e-3);
    let found = solve_by(problem, Solver::BurerMonteiro, 1e-6);
    assert!(
        found.upper.value() >= weights.sdp_lower.value() && weights.upper.value() >= found.sdp_lower.value()
    );
    // Relative to the form: on the vertices the constant tr M may cancel most of the value.
    let size = found.certificate.weights.iter().sum::<f64>().max(found.upper.value());
    let excess = weights.upper.value() - found.upper.value();
    assert!(excess <= 0.02 * size, "multiplicative weights: {excess} of {size} too much");
    found
}

pub(crate) fn solve_by(problem: &Problem, solver: Solver, gap: f64) -> Bracket {
    let params = BoundParams { threads: 1, solver, gap, ..BoundParams::default() };
    let found = bracket(problem, &params, &mut ()).expect("a bracket");
    // The certificate alone proves the same number again.
    let again = prove(problem, &found.certificate, 1).expect("it was proven a moment ago").value();
    assert_eq!(again, found.upper.value());
    assert!(found.lower.value() <= found.sdp_lower.value() && found.sdp_lower.value() <= found.upper.value());
    found
}

fn problem(matrix: Matrix, norm: OperatorNorm, reading: MatrixRole, domain: Domain) -> Problem {
    Problem::new(matrix, norm, reading, domain, 1).expect("a valid problem")
}

#[test]
fn brackets_hold_the_true_maximum() {
    for n in [1, 2, 3, 7, 12] {
        for seed in 0..4 {
            for matrix in [
                instance::positive_semidefinite(n, seed, MemoryLimit::NONE, 1).expect("it fits"),
                instance::quadratic_program(n, seed, MemoryLimit::NONE).expect("it fits"),
            ] {
                let best = brute_force(&matrix);
                let found = solve(&quadratic(&matrix));
                let slack = 1e-12 * best;
                assert!(found.lower.value() <= best + slack && best - slack <= found.upper.value());
                assert!(found.lower.value() >= 0.97 * best, "local search finds almost the best of {n}");
                assert!(found.gap() <= 1e-6, "n = {n}, seed {seed}: gap {}", found.gap());
            }
        }
    }
}

#[test]
fn vertices_allow_a_negative_diagonal() {
    for seed in 0..5 {
        let mut matrix = instance::quadratic_program(9, seed, MemoryLimit::NONE).expect("it fits");
        (0..9).for_each(|i| matrix.entries[i * 10] -= 3.0);
        let refused = Problem::new(
            Matrix::Dense(matrix.clone()),
            OperatorNorm::Quadratic,
            MatrixRole::Plain,
            Domain::Cube,
            1,
        );
        assert!(matches!(refused, Err(ProblemError::Matrix(_))), "on the cube it is refused");
        let best = brute_force(&matrix);
        let dense = problem(
            Matrix::Dense(matrix.clone()),
            OperatorNorm::Quadratic,
            MatrixRole::Plain,
            Domain::Vertices,
        );
        let found = solve(&dense);
        assert!(found.lower.value() <= best + 1e-9 && best <= found.upper.value() + 1e-9);
        let triplets = (0..81).map(|at| (at / 9, at % 9, matrix.entries[at])).collect();
        let sparse = SparseMatrix::from_triplets(9, 9, triplets).expect("in range");
        let sparse =
            problem(Matrix::Sparse(sparse), OperatorNorm::Quadratic, MatrixRole::Plain, Domain::Vertices);
        let again = solve(&sparse);
        assert!(
            (again.upper.value() - found.upper.value()).abs() < 0.02 * found.upper.value().abs().max(1.0)
        );
    }
}

#[test]
fn norms_agree_with_their_definitions() {
    for (rows, columns, seed) in [(4, 6, 1), (7, 3, 2), (1, 5, 3), (5, 1, 4), (6, 6, 5)] {
        let a = normal_matrix(rows, columns, seed);
        let times = |x: &[f64]| -> Vec<f64> {
            a.entries.chunks_exact(columns).map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum()).collect()
        };
        let one = signs(columns).map(|x| times(&x).iter().map(|y| y.abs()).sum::<f64>()).fold(0.0, f64::max);
        let two = signs(columns).map(|x| times(&x).iter().map(|y| y * y).sum::<f64>()).fold(0.0, f64::max);
        let found = solve(&problem(
            Matrix::Dense(a.clone()),
            OperatorNorm::InfToOne,
            MatrixRole::Plain,
            Domain::Cube,
        ));
        assert!(found.lower.value() <= one * (1.0 + 1e-12) && one <= found.upper.value() * (1.0 + 1e-12));
        assert!(found.upper.value() <= 1.7823 * one * 1.02, "Grothendieck's constant is below 1.7823");
        let sparse = SparseMatrix::from_triplets(
            rows,
            columns,
            a.entries.iter().enumerate().map(|(at, &value)| (at / columns, at % columns, value)).collect(),
        );
        let sparse = Matrix::Sparse(sparse.expect("in range"));
        let again = solve(&problem(sparse, OperatorNorm::InfToOne, MatrixRole::Plain, Domain::Cube));
        assert!((again.upper.value() / found.upper.value() - 1.0).abs() < 0.02);
        let found = solve(&problem(
            Matrix::Dense(a.clone()),
            OperatorNorm::InfToTwo,
            MatrixRole::Plain,
            Domain::Cube,
        ));
        assert!(found.lower.value() <= two * (1.0 + 1e-12) && two <= found.upper.value() * (1.0 + 1e-12));
        assert!(
            found.upper.value() <= std::f64::consts::FRAC_PI_2 * two * 1.02,
            "2/pi for positive semidefinite"
        );
        let kappa = found.upper.kappa().expect("kappa goes with inf-to-two").value();
        assert!(
            kappa * kappa >= found.upper.value() && kappa * kappa < found.upper.value() * (1.0 + 1e-15 * 8.0)
        );
        let gram =
            problem(Matrix::Dense(a.transposed()), OperatorNorm::Quadratic, MatrixRole::Gram, Domain::Cube);
        assert_eq!(solve(&gram).upper.value(), found.upper.value(), "the factor of A'A is A'");
    }
}

#[test]
fn degenerate_matrices() {
    let zero = DenseMatrix { rows: 3, columns: 3, entries: vec![0.0; 9] };
    let found = solve(&quadratic(&zero));
    assert_eq!((found.upper.value(), found.stop, found.gap()), (0.0, Stop::Zero, 0.0));
    let one = DenseMatrix { rows: 1, columns: 1, entries: vec![2.5] };
    let found = solve(&quadratic(&one));
    assert!(found.lower.value() <= 2.5 && 2.5 <= found.upper.value() && found.gap() < 1e-4);
    // Two rows of zeros around a form whose maximum is 4, at (1, 1).
    let mut framed = DenseMatrix { rows: 4, columns: 4, entries: vec![0.0; 16] };
    (framed.entries[5], framed.entries[6], framed.entries[9], framed.entries[10]) = (1.0, 1.0, 1.0, 1.0);
    let found = solve(&quadratic(&framed));
    assert!((4.0..4.001).contains(&found.upper.value()), "{}", found.upper.value());
    let tall = Matrix::Dense(DenseMatrix { rows: 2, columns: 3, entries: vec![1.0; 6] });
    let refused = Problem::new(tall, OperatorNorm::Quadratic, MatrixRole::Plain, Domain::Cube, 1);
    assert_eq!(refused.expect_err("not square"), ProblemError::NotSquare { rows: 2, columns: 3 });
}

/// A generic subspace of dimension 2√n and more has no certificate better than the trivial n.
#[test]
fn a_generic_projection_is_called_trivial() {
    let (n, rank) = (144, 40);
    let mut columns: Vec<Vec<f64>> = Vec::new();
    for seed in 0..rank {
        let mut column = crate::support::normal(n, seed);
        for _ in 0..2 {
            for other in &columns {
                let overlap: f64 = column.iter().zip(other).map(|(a, b)| a * b).sum();
                column.iter_mut().zip(other).for_each(|(a, b)| *a -= overlap * b);
            }
        }
        let length = column.iter().map(|x| x * x).sum::<f64>().sqrt();
        columns.push(column.iter().map(|x| x / length).collect());
    }
    let entries = (0..n).flat_map(|i| columns.iter().map(move |column| column[i])).collect();
    let factor = Matrix::Dense(DenseMatrix { rows: n, columns: columns.len(), entries });
    let found = solve(&problem(factor, OperatorNorm::Quadratic, MatrixRole::Gram, Domain::Cube));
    assert!(found.trivial);
    assert!((found.upper.value() - n as f64).abs() < 1e-4, "{}", found.upper.value());
}

#[test]
fn operators_multiply_alike() {
    let n = 301;
    let matrix = instance::quadratic_program(n, 1, MemoryLimit::NONE).expect("it fits");
    let factor = normal_matrix(n, 17, 2);
    let kept: Vec<(usize, usize, f64)> = (0..n * n)
        .map(|at| (at / n, at % n, matrix.entries[at]))
        .filter(|&(i, j, _)| (i + j) % 5 == 0)
        .collect();
    let sparse = SparseMatrix::from_triplets(n, n, kept).expect("in range");
    let square = |i: usize, j: usize| -> f64 {
        factor.entries[i * 17..][..17].iter().zip(&factor.entries[j * 17..]).map(|(a, b)| a * b).sum()
    };
    let multiplied: Vec<f64> = (0..n * n).map(|at| square(at / n, at % n)).collect();
    let sparse_view = Quadratic::Sparse {
        dim: n,
        offsets: &sparse.offsets,
        indices: &sparse.indices,
        values: &sparse.values,
    };
    let dense_view = Quadratic::Dense { entries: &matrix.entries, dim: n };
    let gram_view = Quadratic::Gram { factor: &factor.entries, dim: n, rank: 17 };
    let columns = 5;
    let v = crate::support::normal(n * columns, 3);
    for (view, entries) in [
        (dense_view, matrix.entries.clone()),
        (sparse_view, sparse.to_dense(MemoryLimit::NONE).expect("it fits").entries),
        (gram_view, multiplied),
    ] {
        for domain in [Domain::Cube, Domain::Vertices] {
            let operator = Operator::new(view, domain);
            let block = operator.apply_block(&v, columns);
            for c in 0..columns {
                let x: Vec<f64> = (0..n).map(|i| v[i * columns + c]).collect();
                let mut y = vec![0.0; n];
                operator.apply(&x, &mut y);
                for i in 0..n {
                    let mut row = entries[i * n..(i + 1) * n].to_vec();
                    if domain == Domain::Vertices && !matches!(view, Quadratic::Gram { .. }) {
                        row[i] = 0.0;
                    }
                    let expected: f64 = row.iter().zip(&x).map(|(m, x)| m * x).sum();
                    assert!(
                        (y[i] - expected).abs() < 1e-10 && (block[i * columns + c] - expected).abs() < 1e-10
                    );
                    let mut off = vec![0.0; n];
                    if c == 0 && i % 50 == 0 {
                        operator.off_diagonal_row(i, &mut off);
                        row[i] = 0.0;
                        assert!(off.iter().zip(&row).all(|(a, b)| (a - b).abs() < 1e-12));
                    }
                }
            }
        }
    }
}

/// The warm space follows changing weights: its Ritz pair satisfies the eigenvalue equation, and no vector of a
/// large sample has a larger Rayleigh quotient.
#[test]
fn the_warm_eigenspace_finds_the_top() {
    let n = 80;
    let matrix = instance::quadratic_program(n, 6, MemoryLimit::NONE).expect("it fits");
    let operator = Operator::new(Quadratic::Dense { entries: &matrix.entries, dim: n }, Domain::Cube);
    let mut space = TopEigenspace::new(&operator, crate::support::normal(n, 1));
    let mut products = Vec::new();
    for round in 0..6 {
        let weights: Vec<f64> =
            crate::support::normal(n, 2).iter().map(|x| (0.1 * f64::from(round) * x).exp()).collect();
        let before = space.products;
        let top = space.solve(&operator, &weights, 1e-9, 500);
        products.push(space.products - before);
        let mut image = vec![0.0; n];
        operator.apply(&top.vector, &mut image);
        for i in 0..n {
            assert!((image[i] - top.value * weights[i] * top.vector[i]).abs() < 1e-7 * top.value);
        }
        // A cold start agrees, so the space has not locked on to a lower eigenvalue.
        let mut cold = TopEigenspace::new(&operator, crate::support::normal(n, 77));
        let again = cold.solve(&operator, &weights, 1e-9, 500);
        assert!((again.value - top.value).abs() < 1e-8 * top.value);
    }
}

/// The published values of the reference data, as far as multiplicative weights reach them in a test's time.
#[test]
fn published_values_lie_in_the_bracket() {
    let Some(folder) = reference_data("sdp") else { return };
    let table = std::fs::read_to_string(folder.join("known_values.csv")).expect("the table of known values");
    let mut seen = 0;
    for line in table.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let (name, n): (&str, usize) = (fields[0], fields[1].parse().expect("a dimension"));
        let file = [name.to_owned(), format!("{name}.dat-s")].into_iter().map(|file| folder.join(file));
        let Some(path) = file.into_iter().find(|path| path.exists()).filter(|_| n <= 500) else { continue };
        let (known_lower, known_upper): (f64, f64) =
            (fields[3].parse().expect("a number"), fields[4].parse().expect("a number"));
        let input = matrix_file::read(&path, MemoryLimit::NONE).expect("a graph");
        let domain = input.kind.natural_domain(OperatorNorm::Quadratic, MatrixRole::Plain);
        assert_eq!(domain, Domain::Vertices);
        let problem = Problem::new(input.matrix, OperatorNorm::Quadratic, MatrixRole::Plain, domain, 2);
        let found = solve(&problem.expect("a max-cut problem"));
        assert!(matches!(found.upper, Upper::Quadratic(_)));
        assert!(found.upper.value() >= known_lower - 1e-6, "{name}: {} < {known_lower}", found.upper.value());
        assert!(found.sdp_lower.value() <= known_upper + 1e-6, "{name}");
        assert!(
            found.upper.value() <= known_lower * (1.0 + 2e-6),
            "{name}: {} far above",
            found.upper.value()
        );
        assert!(found.gap() <= 1e-6, "{name}: gap {}", found.gap());
        seen += 1;
    }
    assert!(seen >= 13, "only {seen} instances found");
}

#[test]
fn rounding_beats_two_over_pi() {
    for seed in 0..5 {
        let matrix = instance::positive_semidefinite(40, seed, MemoryLimit::NONE, 1).expect("it fits");
        let found = solve(&quadratic(&matrix));
        assert!(found.lower.value() >= std::f64::consts::FRAC_2_PI * found.sdp_lower.value());
        let all_ones = form(&matrix, &vec![1.0; 40]);
        assert!(found.lower.value() >= all_ones);
    }
}

/// Squares of such entries overflow or vanish: the solvers get a copy of ordinary size.
#[test]
fn extreme_scales_lose_nothing() {
    let ordinary = instance::quadratic_program(30, 4, MemoryLimit::NONE).expect("it fits");
    for exponent in [-900, -600, -300, 300, 600, 1000] {
        let scale = 2_f64.powi(exponent);
        let entries = ordinary.entries.iter().map(|entry| entry * scale).collect();
        let found = solve(&quadratic(&DenseMatrix { rows: 30, columns: 30, entries }));
        assert!(found.gap() <= 1e-6, "2^{exponent}: gap {}", found.gap());
    }
    for exponent in [-480, -250, 250, 480] {
        let scale = 2_f64.powi(exponent);
        let entries = normal_matrix(30, 6, 2).entries.iter().map(|entry| entry * scale).collect();
        let factor = Matrix::Dense(DenseMatrix { rows: 30, columns: 6, entries });
        let found = solve(&problem(factor, OperatorNorm::Quadratic, MatrixRole::Gram, Domain::Cube));
        assert!(found.gap() <= 1e-6, "factor, 2^{exponent}: gap {}", found.gap());
    }
    // Sizes apart by 600 orders of magnitude still give a bound, if a loose one.
    let apart = DenseMatrix { rows: 2, columns: 2, entries: vec![1e300, 1.0, 1.0, 1e-300] };
    let found = solve_by(&quadratic(&apart), Solver::BurerMonteiro, 1e-6);
    assert!((1e300..1.1e300).contains(&found.upper.value()));
}

/// Any multiple of the weights proves the same bound.
#[test]
fn the_size_of_weights_does_not_matter() {
    let matrix = instance::quadratic_program(12, 1, MemoryLimit::NONE).expect("it fits");
    let bound = |size: f64| {
        let certificate = Certificate { domain: Domain::Cube, weights: vec![size; 12], shift: None };
        prove(&quadratic(&matrix), &certificate, 1).expect("positive weights prove something").value()
    };
    for size in [5e-324, 1e-310, 1e-160, 1e-3, 1e200, f64::MAX] {
        assert!(
            (bound(size) / bound(1.0) - 1.0).abs() < 1e-9,
            "{size}: {} against {}",
            bound(size),
            bound(1.0)
        );
    }
}

/// Sizes that cannot be are errors, not aborts.
#[test]
fn impossible_sizes_are_refused() {
    let sparse = SparseMatrix::from_triplets(4_000_000, 4_000_000, vec![(0, 0, 1.0)]).expect("one entry");
    let refused =
        Problem::new(Matrix::Sparse(sparse), OperatorNorm::InfToTwo, MatrixRole::Plain, Domain::Cube, 1);
    assert!(matches!(refused, Err(ProblemError::Entries(_))));
    assert!(instance::quadratic_program(10_000_000, 1, MemoryLimit::NONE).is_err());
}

#[test]
fn a_bracket_starts_from_the_point_of_another() {
    let problem = quadratic(&instance::quadratic_program(300, 4, MemoryLimit::NONE).expect("it fits"));
    let cold = solve_by(&problem, Solver::BurerMonteiro, 1e-6);
    let params =
        BoundParams { threads: 1, gap: 1e-6, start: Some(cold.point.clone()), ..BoundParams::default() };
    let warm = bracket(&problem, &params, &mut ()).expect("a bracket");
    assert!(warm.gap() <= 1e-6, "{}", warm.gap());
    assert!(3 * warm.iterations <= cold.iterations, "{} warm, {} cold", warm.iterations, cold.iterations);
}
