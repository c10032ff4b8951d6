//! Optima known by enumeration, and the theorems that tie them to the bounds.

use crate::cases::{generator, good_weights, gram, normal, normals, symmetric};
use gambeson_checker::{Certificate, Domain, Quadratic, relaxation_value, vertex_value};
use gambeson_lowrank::sdp::scale::check;
use proptest::collection::vec;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use rand_chacha::ChaCha8Rng;
use std::f64::consts::{FRAC_PI_2, PI};

/// max xᵀMx over the vertices and a vertex that has it, in floats: exact on small integers.
pub(crate) fn brute_force(entries: &[f64], n: usize) -> (f64, Vec<f64>) {
    assert!(n <= 12, "2^{n} vertices are too many");
    let vertex =
        |code: u32| (0..n).map(|i| if code >> i & 1 == 1 { -1.0 } else { 1.0 }).collect::<Vec<f64>>();
    let value = |x: &[f64]| {
        let row = |i: usize| entries[i * n..(i + 1) * n].iter().zip(x).map(|(m, x)| m * x).sum::<f64>();
        (0..n).map(|i| x[i] * row(i)).sum::<f64>()
    };
    let vertices = (0..1 << (n - 1)).map(vertex); // x and −x have one value
    let valued = vertices.map(|x| (value(&x), x));
    valued.max_by(|a, b| a.0.total_cmp(&b.0)).expect("there is a vertex")
}

/// max |Uᵀx|² over the vertices for U with two columns: x_i is the sign of ⟨u_i, direction⟩ for the best direction,
/// and those signs change one at a time as the direction turns through half a circle.
pub(crate) fn rank_two_maximum(factor: &[f64]) -> f64 {
    let mut rows: Vec<[f64; 2]> =
        factor.as_chunks::<2>().0.iter().filter(|u| **u != [0.0; 2]).copied().collect();
    // Into one half plane: replaces x_i by −x_i, which is as good.
    rows.iter_mut().filter(|u| u[1] < 0.0 || (u[1] == 0.0 && u[0] < 0.0)).for_each(|u| *u = [-u[0], -u[1]]);
    rows.sort_by(|a, b| a[1].atan2(a[0]).total_cmp(&b[1].atan2(b[0])));
    let mut sum = rows.iter().fold([0.0; 2], |sum, u| [sum[0] + u[0], sum[1] + u[1]]);
    let mut best = sum[0] * sum[0] + sum[1] * sum[1];
    for u in &rows {
        sum = [sum[0] - 2.0 * u[0], sum[1] - 2.0 * u[1]];
        best = best.max(sum[0] * sum[0] + sum[1] * sum[1]);
    }
    best
}

fn bound(matrix: Quadratic<'_>, domain: Domain, weights: Vec<f64>) -> f64 {
    check(matrix, &Certificate { domain, weights, shift: None }, 1).expect("well scaled").value()
}

/// Columns made orthonormal one after the other, twice for good measure.
fn orthonormal(rng: &mut ChaCha8Rng, n: usize, rank: usize) -> Vec<f64> {
    let mut columns: Vec<Vec<f64>> = Vec::new();
    for _ in 0..rank {
        let mut next = normals(rng, n);
        for _ in 0..2 {
            for column in &columns {
                let overlap: f64 = column.iter().zip(&next).map(|(a, b)| a * b).sum();
                next.iter_mut().zip(column).for_each(|(x, c)| *x -= overlap * c);
            }
            let length = next.iter().map(|x| x * x).sum::<f64>().sqrt();
            next.iter_mut().for_each(|x| *x /= length);
        }
        columns.push(next);
    }
    (0..n * rank).map(|at| columns[at % rank][at / rank]).collect()
}

#[test]
fn rank_two_enumeration_finds_what_brute_force_finds() {
    for seed in 0..300_u64 {
        let rng = &mut generator(seed);
        let n = 1 + usize::try_from(seed % 12).expect("below twelve");
        let spread = [1.0, 3.0, 50.0][usize::try_from(seed % 3).expect("below three")];
        // Integers: both are exact, with parallel, equal and vanishing rows among them.
        let factor: Vec<f64> = normals(rng, 2 * n).iter().map(|u| (spread * u).round()).collect();
        assert_eq!(rank_two_maximum(&factor), brute_force(&gram(&factor, 2), n).0, "seed {seed}: {factor:?}");
    }
    // Equal steps around half a circle: the best sum is that of all, of length 1/sin(π/2n).
    let n = 1000;
    let factor: Vec<f64> =
        (0..n).map(|i| PI * f64::from(i) / f64::from(n)).flat_map(|a| [a.cos(), a.sin()]).collect();
    let expected = (1.0 / (FRAC_PI_2 / f64::from(n)).sin()).powi(2);
    assert!((rank_two_maximum(&factor) / expected - 1.0).abs() < 1e-12);
}

#[test]
fn rank_two_optima_lie_below_the_bounds() {
    for (seed, n) in (0..).zip([2, 3, 10, 50, 200, 1000]) {
        let rng = &mut generator(seed);
        let factor = normals(rng, 2 * n);
        let lengths = factor.as_chunks::<2>().0.iter().map(|u| u[0].hypot(u[1])).collect();
        let bound = bound(Quadratic::Gram { factor: &factor, dim: n, rank: 2 }, Domain::Cube, lengths);
        let optimum = rank_two_maximum(&factor);
        assert!(optimum <= bound * (1.0 + 1e-12), "{n} rows: {optimum} and {bound}");
        assert!(
            bound <= FRAC_PI_2 * optimum * 1.1,
            "{n} rows: weights |u_i| are good, {bound} for {optimum}"
        );
    }
}

#[test]
fn optima_of_small_integer_matrices_lie_below_the_bounds() {
    // Shrinks to a small matrix where it fails. Integers: the optimum is exact.
    let config =
        Config { cases: 500, failure_persistence: None, rng_seed: RngSeed::Fixed(0), ..Config::default() };
    let inputs = (1..=8_usize, vec(-9..=9_i32, 64), vec(1..=1000_i32, 8));
    let outcome = TestRunner::new(config).run(&inputs, |(n, values, weights)| {
        let entries = symmetric(n, |i, j| {
            let value = f64::from(values[i * 8 + j]);
            if i == j { value.abs() } else { value }
        });
        let weights: Vec<f64> = weights[..n].iter().map(|&y| f64::from(y) / 64.0).collect();
        let (optimum, x) = brute_force(&entries, n);
        let matrix = Quadratic::Dense { entries: &entries, dim: n };
        for domain in [Domain::Cube, Domain::Vertices] {
            let certificate = Certificate { domain, weights: weights.clone(), shift: None };
            let bound = check(matrix, &certificate, 1).expect("well scaled").value();
            proptest::prop_assert!(optimum <= bound, "{} and {}", optimum, bound);
            let relaxed = relaxation_value(matrix, domain, &x, 1, 1).expect("feasible").value();
            proptest::prop_assert!(relaxed <= optimum.max(0.0) && relaxed >= optimum * (1.0 - 1e-12) - 1e-9);
        }
        let lower = vertex_value(matrix, &x, 1).expect("a vertex").value();
        proptest::prop_assert!(lower <= optimum && lower >= optimum - 1e-9, "{} and {}", lower, optimum);
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn semidefinite_bounds_are_within_half_pi() {
    // Nesterov 1998: for M ⪰ 0 the relaxation is at most π/2 times the optimum, and good weights reach it.
    let mut worst: f64 = 1.0;
    for seed in 0..200_u64 {
        let rng = &mut generator(seed);
        let n = 2 + usize::try_from(seed % 9).expect("below nine");
        let rank = 1 + usize::try_from(seed / 9).expect("small") % n;
        let factor: Vec<f64> = normals(rng, n * rank).iter().map(|u| (8.0 * u).round()).collect();
        let entries = gram(&factor, rank);
        let (optimum, _) = brute_force(&entries, n);
        let weights = good_weights(rng, &entries, n, 2000);
        for matrix in [
            Quadratic::Dense { entries: &entries, dim: n },
            Quadratic::Gram { factor: &factor, dim: n, rank },
        ] {
            let bound = bound(matrix, Domain::Cube, weights.clone());
            assert!(optimum <= bound, "seed {seed}: {optimum} and {bound}");
            assert!(bound <= FRAC_PI_2 * optimum * (1.0 + 1e-3), "seed {seed}: {optimum} and {bound}");
            worst = worst.max(bound / optimum);
        }
    }
    assert!(worst > 1.01, "the relaxation is not exact in general, so some of these must have shown it");
}

#[test]
fn kappa_is_the_largest_l1_norm_of_a_unit_vector() {
    // ‖Uz‖₁ = max_x ⟨x, Uz⟩ = max_x ⟨Uᵀx, z⟩, so over unit z it is max_x |Uᵀx| = ‖Uᵀ‖_{∞→2}.
    for seed in 0..200_u64 {
        let rng = &mut generator(seed);
        let n = 2 + usize::try_from(seed % 9).expect("below nine");
        let rank = 1 + usize::try_from(seed / 9).expect("small") % n;
        let basis = orthonormal(rng, n, rank);
        let entries = gram(&basis, rank);
        let image = |z: &[f64]| -> Vec<f64> {
            basis.chunks_exact(rank).map(|u| u.iter().zip(z).map(|(u, z)| u * z).sum()).collect()
        };
        let l1 = |w: &[f64]| w.iter().map(|w| w.abs()).sum::<f64>();
        let unit = |z: &[f64]| -> Vec<f64> {
            let length = z.iter().map(|z| z * z).sum::<f64>().sqrt();
            z.iter().map(|z| z / length).collect()
        };
        let matrix = Quadratic::Gram { factor: &basis, dim: n, rank };
        let kappa = |weights: Vec<f64>| {
            let certificate = Certificate { domain: Domain::Cube, weights, shift: None };
            check(matrix, &certificate, 1).expect("well scaled").sqrt().value()
        };
        let (even, good) = (kappa(vec![1.0; n]), kappa(good_weights(rng, &entries, n, 5000)));
        let (square, x) = brute_force(&entries, n);
        let optimum = square.sqrt();
        for (name, kappa) in [("even", even), ("good", good)] {
            assert!(optimum <= kappa * (1.0 + 1e-12), "seed {seed}, {name}: {optimum} and {kappa}");
            // The mean of |Uᵀx|² over the vertices is tr UUᵀ = r; on the cube it is at most |x|² ≤ n.
            let (least, most) = ((rank as f64).sqrt() * (1.0 - 1e-12), (n as f64).sqrt() * (1.0 + 1e-9));
            assert!((least..=most).contains(&kappa), "seed {seed}, {name}: {kappa}, rank {rank} of {n}");
        }
        for _ in 0..100 {
            let z: Vec<f64> = (0..rank).map(|_| normal(rng)).collect();
            let norm = l1(&image(&unit(&z)));
            assert!(
                norm <= good.min(even) * (1.0 + 1e-12) && norm <= optimum * (1.0 + 1e-12),
                "seed {seed}: {norm}"
            );
        }
        let z: Vec<f64> = (0..rank).map(|k| (0..n).map(|i| basis[i * rank + k] * x[i]).sum()).collect();
        let attained = l1(&image(&unit(&z)));
        assert!((attained / optimum - 1.0).abs() < 1e-12, "seed {seed}: {attained} and {optimum}");
    }
}
