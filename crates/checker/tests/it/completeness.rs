//! What ought to be accepted is, bounds are tight, threads change nothing, and every refusal says what is wrong.

use crate::cases::{
    Stored, generator, good_weights, gram, normal, normals, scaled_eigenvalue, signs, singular, symmetric,
};
use gambeson_checker::{
    Certificate, CheckError, Domain, InfToTwoBound, MatrixProblem, Quadratic, Rejected, RelaxationValue,
    relaxation_value, vertex_value,
};
use gambeson_lowrank::sdp::scale::{check, check_dilation, spectral_norm};
use rand::RngExt;

/// A matrix of ordinary size with weights of ordinary size, and λ for them in plain arithmetic.
fn ordinary(seed: u64) -> (Stored, Vec<f64>, f64) {
    let rng = &mut generator(seed);
    let n = rng.random_range(2..=8);
    let rank = rng.random_range(1..=2 * n);
    let factor = normals(rng, n * rank);
    let kind = seed % 5;
    let entries = match kind {
        0 => symmetric(n, |i, j| if i == j { normal(rng).abs() } else { normal(rng) }),
        1 => symmetric(n, |i, j| if i == j { 0.0 } else { normal(rng) }),
        _ => gram(&factor, rank),
    };
    let weights: Vec<f64> = if rng.random_bool(0.5) {
        good_weights(rng, &entries, n, 100).iter().map(|y| y.max(0.1)).collect()
    } else {
        (0..n).map(|_| 10f64.powf(rng.random_range(-1.0..1.0))).collect()
    };
    let eigenvalue = scaled_eigenvalue(&entries, &weights);
    let stored = match kind {
        0 | 2 => Stored::Dense { entries, dim: n },
        1 | 3 => Stored::sparse(&entries, n, |_, _| false),
        _ => Stored::Gram { factor, dim: n, rank },
    };
    (stored, weights, eigenvalue)
}

#[test]
fn a_margin_of_a_millionth_is_always_enough() {
    for seed in 0..2000 {
        let (stored, weights, eigenvalue) = ordinary(seed);
        let duals: Vec<f64> = weights.iter().map(|y| y * eigenvalue * (1.0 + 1e-6)).collect();
        let least = duals.iter().copied().fold(f64::INFINITY, f64::min);
        for shift in [0.0, 0.7 * least, -0.7 * least] {
            let weights = duals.iter().map(|d| d - shift).collect();
            let certificate = Certificate { domain: Domain::Cube, weights, shift: Some(shift) };
            let bound = check(stored.view(), &certificate, 1);
            let bound = bound.unwrap_or_else(|error| panic!("seed {seed}, shift {shift}: {error}")).value();
            assert!(
                bound <= duals.iter().sum::<f64>() * (1.0 + 1e-12),
                "seed {seed}, shift {shift}: {bound}"
            );
        }
    }
}

#[test]
fn bounds_without_shift_are_tight() {
    for seed in 0..2000 {
        let (stored, weights, eigenvalue) = ordinary(seed);
        let expected = eigenvalue * weights.iter().sum::<f64>();
        let certificate = Certificate { domain: Domain::Cube, weights, shift: None };
        let bound =
            check(stored.view(), &certificate, 1).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let excess = bound.value() / expected - 1.0;
        assert!((-1e-12..1e-6).contains(&excess), "seed {seed}: {excess}");
    }
}

#[test]
fn square_roots_and_blocks_round_up() {
    let one = Quadratic::Dense { entries: &[2.0], dim: 1 };
    let certificate = Certificate { domain: Domain::Cube, weights: vec![2.0], shift: Some(1e-9) };
    let bound = check(one, &certificate, 1).expect("a margin of 5e-10");
    let root = bound.sqrt().value();
    assert!(root * root >= bound.value() && root < 2f64.sqrt() * (1.0 + 1e-8));
    let both = InfToTwoBound::of_blocks([bound, bound]).value();
    assert!(both * both >= 2.0 * bound.value() && both < 2.0 * (1.0 + 1e-8));
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let same = |what: &str, of: &dyn Fn(usize) -> f64| {
        let one = of(1);
        [0, 2, 5]
            .iter()
            .for_each(|&threads| assert_eq!(of(threads).to_bits(), one.to_bits(), "{what}, {threads}"));
    };
    let rng = &mut generator(7);
    let n = 400;
    let (dense, duals, _) = singular(rng, n, 0.5, 3);
    let scattered = singular(rng, 600, 0.02, 3);
    let sparse = Stored::sparse(&scattered.0, 600, |_, _| false);
    let rank = 150;
    let factor = normals(rng, n * rank);
    let wide = normals(rng, 200 * 300);
    let cube = |weights: &[f64]| Certificate { domain: Domain::Cube, weights: weights.to_vec(), shift: None };
    let cases = [
        ("dense", Quadratic::Dense { entries: &dense, dim: n }, cube(&duals)),
        ("sparse", sparse.view(), cube(&scattered.1)),
        ("Gram", Quadratic::Gram { factor: &factor, dim: n, rank }, cube(&vec![1.0; n])),
        ("wide Gram", Quadratic::Gram { factor: &wide, dim: 200, rank: 300 }, cube(&vec![1.0; 200])),
    ];
    let columns = 64;
    let vectors = normals(rng, 600 * columns);
    let x = signs(rng, 600);
    for (name, matrix, certificate) in &cases {
        same(name, &|threads| check(*matrix, certificate, threads).expect("well scaled").value());
        let (v, x) = (&vectors[..matrix.dim() * columns], &x[..matrix.dim()]);
        let relaxed = |threads| relaxation_value(*matrix, Domain::Cube, v, columns, threads);
        same(name, &|threads| relaxed(threads).expect("well scaled").value());
        same(name, &|threads| vertex_value(*matrix, x, threads).expect("well scaled").value());
    }
    same("spectral norm", &|threads| spectral_norm(&factor, n, rank, threads).expect("well scaled").value());
    // Large enough that reading it is shared, too; two flaws, and the same one is reported.
    let n = 2001;
    let mut entries = vec![1.0; n * n];
    entries[1900 * n + 3] = 2.0;
    entries[70 * n + 60] = f64::NAN;
    let matrix = Quadratic::Dense { entries: &entries, dim: n };
    for threads in [1, 2, 5] {
        let expected = Err(MatrixProblem::NotFinite { row: 70, column: 60 });
        assert_eq!(matrix.validate(Domain::Cube, threads), expected, "{threads} threads");
    }
}

fn dense(entries: &[f64]) -> Quadratic<'_> {
    Quadratic::Dense { entries, dim: 2 }
}

fn sparse<'a>(offsets: &'a [usize], indices: &'a [usize], values: &'a [f64]) -> Quadratic<'a> {
    Quadratic::Sparse { dim: 2, offsets, indices, values }
}

fn factored(factor: &[f64], rank: usize) -> Quadratic<'_> {
    Quadratic::Gram { factor, dim: 2, rank }
}

#[test]
fn problems_of_a_matrix_are_named() {
    let certificate = Certificate { domain: Domain::Cube, weights: vec![9.0, 9.0], shift: None };
    let of = |matrix: Quadratic<'_>| match check(matrix, &certificate, 1) {
        Err(error @ CheckError::Matrix(_)) => (error.clone(), error.to_string()),
        other => panic!("{other:?} for {matrix:?}"),
    };
    let expect = |matrix: Quadratic<'_>, problem: MatrixProblem, text: &str| {
        assert_eq!(of(matrix), (problem.clone().into(), text.to_owned()));
        assert_eq!(problem.to_string(), text);
    };
    let empty = "the matrix is empty";
    expect(Quadratic::Dense { entries: &[], dim: 0 }, MatrixProblem::Empty, empty);
    expect(factored(&[], 0), MatrixProblem::Empty, empty);
    let wrong = |found| MatrixProblem::WrongLength { rows: 2, columns: 2, found };
    expect(dense(&[1.0; 3]), wrong(3), "a 2 x 2 matrix does not have 3 entries");
    expect(factored(&[1.0; 5], 2), wrong(5), "a 2 x 2 matrix does not have 5 entries");
    let huge = MatrixProblem::WrongLength { rows: usize::MAX, columns: usize::MAX, found: 1 };
    let text = format!("a {0} x {0} matrix does not have 1 entries", usize::MAX);
    expect(Quadratic::Dense { entries: &[1.0], dim: usize::MAX }, huge, &text);
    let at = |row, column| MatrixProblem::NotFinite { row, column };
    let infinite = f64::INFINITY;
    expect(dense(&[1.0, 2.0, f64::NAN, 1.0]), at(1, 0), "entry (1, 0) is not finite (counting from 0)");
    expect(dense(&[1.0, infinite, 2.0, 1.0]), at(0, 1), "entry (0, 1) is not finite (counting from 0)");
    expect(dense(&[1.0, 2.0, 2.0, -infinite]), at(1, 1), "entry (1, 1) is not finite (counting from 0)");
    expect(factored(&[1.0, 2.0, infinite, 1.0], 2), at(1, 0), "entry (1, 0) is not finite (counting from 0)");
    let nan = sparse(&[0, 1, 2], &[0, 1], &[f64::NAN, 1.0]);
    expect(nan, at(0, 0), "entry (0, 0) is not finite (counting from 0)");
    let lopsided = "the matrix is not symmetric: entries (1, 0) and (0, 1) differ (counting from 0)";
    expect(
        dense(&[1.0, 2.0, 2f64.next_up(), 1.0]),
        MatrixProblem::NotSymmetric { row: 1, column: 0 },
        lopsided,
    );
    for (offsets, indices, values) in [
        (&[0, 1, 2], &[1, 0][..], &[1.0, 2.0][..]),
        (&[0, 1, 2], &[1, 1], &[1.0, 2.0]), // no twin
        (&[0, 1, 2], &[1, 0], &[0.0, 2.0]), // a stored zero against a number
    ] {
        let problem = MatrixProblem::NotSymmetric { row: 0, column: 1 };
        let text = "the matrix is not symmetric: entries (0, 1) and (1, 0) differ (counting from 0)";
        expect(sparse(offsets, indices, values), problem, text);
    }
    let negative = |index, value| MatrixProblem::NegativeDiagonal { index, value };
    let text = "diagonal entry 1 is -0.5 (counting from 0): on the cube the diagonal must not be negative";
    expect(dense(&[1.0, 0.0, 0.0, -0.5]), negative(1, -0.5), text);
    expect(sparse(&[0, 0, 1], &[1], &[-0.5]), negative(1, -0.5), text);
    let text = "the row offsets of the sparse matrix do not fit its entries";
    for (offsets, indices, values) in [
        (&[0, 1][..], &[0][..], &[1.0][..]), // too few
        (&[0, 1, 1, 1], &[0], &[1.0]),       // too many
        (&[1, 1, 1], &[0], &[1.0]),          // does not start at 0
        (&[0, 1, 2], &[0], &[1.0]),          // beyond the end
        (&[0, 2, 1], &[0], &[1.0]),          // decreasing
        (&[0, 1, 1], &[0], &[1.0, 2.0]),     // more values than columns
        (&[0, usize::MAX, 1], &[0], &[1.0]), // far beyond the end
    ] {
        expect(sparse(offsets, indices, values), MatrixProblem::BadOffsets, text);
    }
    let text = "the columns of sparse row 1 (counting from 0) are unsorted, repeated or out of range";
    for indices in [&[0, 1, 0], &[0, 1, 1], &[0, 0, 2]] {
        let matrix = sparse(&[0, 1, 3], indices, &[1.0, 1.0, 1.0]);
        expect(matrix, MatrixProblem::BadColumns { row: 1 }, text);
    }
    // Allowed: a stored zero without a twin, zeros of both signs.
    assert!(check(sparse(&[0, 2, 3], &[0, 1, 1], &[1.0, 0.0, 1.0]), &certificate, 1).is_ok());
    assert!(check(dense(&[1.0, 0.0, -0.0, 1.0]), &certificate, 1).is_ok());
}

#[test]
fn dilations_have_empty_diagonal_blocks() {
    let certificate = Certificate { domain: Domain::Cube, weights: vec![3.0; 3], shift: None };
    // A = (1 2): ‖A‖_{∞→1} = 3, at (1; 1, 1).
    let entries = [0.0, 1.0, 2.0, 1.0, 0.0, 0.0, 2.0, 0.0, 0.0];
    let dilation = Quadratic::Dense { entries: &entries, dim: 3 };
    let weighted = Certificate { weights: vec![3.0, 1.0, 2.0], ..certificate.clone() };
    let bound = check_dilation(dilation, 1, &weighted, 1).expect("well scaled").value();
    assert!((3.0..3.0 + 1e-6).contains(&bound), "{bound}");
    let lower =
        vertex_value(dilation, &[1.0; 3], 1).expect("a vertex").of_dilation(1).expect("a dilation").value();
    assert!((3.0 - 1e-6..=3.0).contains(&lower), "{lower}");
    let relaxed = relaxation_value(dilation, Domain::Cube, &[0.0; 3], 1, 1).expect("feasible");
    assert!(relaxed.of_dilation(1).expect("a dilation").value() <= 0.0);
    let vertex = vertex_value(dilation, &[1.0; 3], 1).expect("a vertex");
    assert_eq!(RelaxationValue::from(vertex).value(), vertex.value());
    assert!(RelaxationValue::from(vertex).of_dilation(1).is_ok());
    let factor = [1.0; 3];
    for (matrix, rows, row, column) in [
        (dilation, 2, 1, 0),
        (dilation, 0, 1, 0),
        (dilation, 3, 1, 0),
        (Quadratic::Gram { factor: &factor, dim: 3, rank: 1 }, 1, 0, 0),
    ] {
        let problem = MatrixProblem::NotDilation { row, column };
        let text = format!("entry ({row}, {column}) must be zero in a dilation (counting from 0)");
        assert_eq!(problem.to_string(), text);
        assert_eq!(check_dilation(matrix, rows, &certificate, 1), Err(problem.into()));
    }
    let sparse = Stored::sparse(&entries, 3, |_, _| true);
    assert!(check_dilation(sparse.view(), 1, &certificate, 1).is_ok());
    let problem = MatrixProblem::NotDilation { row: 1, column: 0 };
    assert_eq!(check_dilation(sparse.view(), 2, &certificate, 1), Err(problem.into()));
}

#[test]
fn refused_certificates_are_told_why() {
    let entries = [1.0, 2.0, 0.0, 2.0, 1.0, 0.0, 0.0, 0.0, 0.0]; // Diag(3, 3) is the least of its kind
    let dense = Quadratic::Dense { entries: &entries, dim: 3 };
    let sparse = Stored::sparse(&entries, 3, |_, _| false);
    let factor = [1.0, 2.0, 0.0];
    let flat = Quadratic::Gram { factor: &factor, dim: 3, rank: 1 };
    let wide_factor = [1.0, 2.0, 0.0, 0.0, 2.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    let wide = Quadratic::Gram { factor: &wide_factor, dim: 3, rank: 4 };
    let all = [dense, sparse.view(), flat, wide];
    let refuse = |matrix: Quadratic<'_>, weights: &[f64], shift, reason: Rejected, text: &str| {
        let certificate = Certificate { domain: Domain::Cube, weights: weights.to_vec(), shift };
        let error = check(matrix, &certificate, 1).expect_err(text);
        // NaN is not equal to itself: compared as text.
        assert_eq!(format!("{error:?}"), format!("{:?}", CheckError::from(reason)));
        assert_eq!(error.to_string(), text);
    };
    for matrix in all {
        let count = |found| Rejected::WeightCount { expected: 3, found };
        refuse(matrix, &[3.0; 2], None, count(2), "the certificate has 2 weights, the matrix 3 rows");
        refuse(matrix, &[3.0; 4], Some(0.0), count(4), "the certificate has 4 weights, the matrix 3 rows");
        for (value, shown) in [(f64::NAN, "NaN"), (f64::INFINITY, "inf"), (f64::NEG_INFINITY, "-inf")] {
            let reason = Rejected::ShiftNotFinite { value };
            refuse(matrix, &[3.0; 3], Some(value), reason, &format!("the shift is {shown}"));
        }
        for (weight, shift, value, shown) in [
            (0.0, None, 0.0, "0"),
            (-0.0, None, 0.0, "0"),
            (-1.0, None, -1.0, "-1"),
            (f64::NAN, None, f64::NAN, "NaN"),
            (f64::INFINITY, Some(1.0), f64::INFINITY, "inf"),
            (1.0, Some(-1.0), 0.0, "0"),
            (f64::MAX, Some(f64::MAX), f64::INFINITY, "inf"),
        ] {
            let reason = Rejected::WeightNotPositive { index: 1, value };
            let text =
                format!("weight 1 is {shown} (counting from 0, shift included), not positive and finite");
            let first = if weight == f64::MAX { -1.0 } else { 9.0 };
            refuse(matrix, &[first, weight, 9.0], shift, reason, &text);
        }
        // The last row is zero: its weight is nobody's business.
        let certificate =
            Certificate { domain: Domain::Cube, weights: vec![9.0, 9.0, f64::NAN], shift: None };
        assert!(check(matrix, &certificate, 1).is_ok());
    }
    let text = "Diag(weights + shift) - M could not be proven positive semidefinite";
    for matrix in [dense, sparse.view(), wide] {
        refuse(matrix, &[2.9; 3], Some(0.0), Rejected::NotDominating, text);
        refuse(matrix, &[9.0; 3], Some(-6.1), Rejected::NotDominating, text);
    }
    // No multiple that dominates is a finite number.
    let text = "no multiple of the weights could be proven to dominate the matrix";
    let large = [1e300, 1e300, 1e300, 1e300];
    let large = Quadratic::Dense { entries: &large, dim: 2 };
    refuse(large, &[1e-300, 1e300], None, Rejected::NothingProven, text);
    let flat = Quadratic::Gram { factor: &[1e300, 1.0], dim: 2, rank: 1 };
    refuse(flat, &[1.0, 1.0], None, Rejected::NothingProven, text);
    let error = spectral_norm(&[1e300, 1.0], 2, 1, 1).expect_err("its square is no number");
    assert_eq!(error, Rejected::NothingProven.into());
    assert_eq!(error.to_string(), text);
    // Cannot be provoked from safe code; the sentence can be read.
    let text = "this thread does not round to nearest with gradual underflow; nothing can be proven";
    assert_eq!(Rejected::Environment.to_string(), text);
}

#[test]
fn malformed_witnesses_are_refused() {
    let entries = [1.0, 2.0, 2.0, 1.0];
    let dense = Quadratic::Dense { entries: &entries, dim: 2 };
    let gram = Quadratic::Gram { factor: &entries, dim: 2, rank: 2 };
    for matrix in [dense, gram] {
        let bad = |index: usize| CheckError::from(Rejected::BadWitness { index });
        assert_eq!(bad(1).to_string(), "the witness is malformed at position 1");
        for value in [0.0, 1f64.next_up(), f64::NAN, f64::INFINITY] {
            assert_eq!(vertex_value(matrix, &[1.0, value], 1), Err(bad(1)));
        }
        assert_eq!(vertex_value(matrix, &[1.0], 1), Err(bad(1)));
        assert_eq!(vertex_value(matrix, &[1.0; 3], 1), Err(bad(3)));
        let relaxed = |v: &[f64], columns| relaxation_value(matrix, Domain::Cube, v, columns, 1);
        assert_eq!(relaxed(&[1.0; 5], 2), Err(bad(5)));
        assert_eq!(relaxed(&[], 0), Err(bad(0)));
        assert_eq!(relaxed(&[1.0; 4], usize::MAX), Err(bad(4)));
        assert_eq!(relaxed(&[1.0, 1.0, f64::NAN, 1.0], 2), Err(bad(2)));
    }
    // A matrix is looked at first.
    let negative = Quadratic::Dense { entries: &[-1.0], dim: 1 };
    let problem = MatrixProblem::NegativeDiagonal { index: 0, value: -1.0 };
    assert_eq!(relaxation_value(negative, Domain::Cube, &[1.0], 1, 1), Err(problem.into()));
    assert!(relaxation_value(negative, Domain::Vertices, &[1.0], 1, 1).is_ok_and(|end| end.value() <= -1.0));
    // Sums that leave the range of floats prove nothing.
    let large = Quadratic::Dense { entries: &[f64::MAX; 4], dim: 2 };
    assert_eq!(vertex_value(large, &[1.0, 1.0], 1).map(|_| ()), Ok(()));
    let error = relaxation_value(large, Domain::Cube, &[1.0; 2], 1, 1).expect_err("infinity minus infinity");
    assert_eq!(error, Rejected::NothingProven.into());
}
