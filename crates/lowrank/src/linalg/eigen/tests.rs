//! Eigenpairs against their equation, on matrices that tempt each part of the way.

use super::*;
use crate::linalg::kernel::{Isa, dot};
use rayon::prelude::*;

fn pseudo(i: usize) -> f64 {
    ((i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 11) as f64) / (1_u64 << 53) as f64 * 2.0 - 1.0
}

fn matrix(k: usize, entry: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    (0..k * k).map(|at| entry((at / k).max(at % k), (at / k).min(at % k))).collect()
}

/// H·diag(values)·H with a reflection H: dense, with known eigenvalues.
fn reflected(k: usize, values: impl Fn(usize) -> f64) -> Vec<f64> {
    let normal: Vec<f64> = (0..k).map(|i| pseudo(i + 77)).collect();
    let factor = 2.0 / normal.iter().map(|x| x * x).sum::<f64>();
    let images: Vec<f64> = (0..k).map(|i| values(i) * normal[i] * factor).collect();
    let overlap: f64 = normal.iter().zip(&images).map(|(x, y)| x * y).sum::<f64>() * factor;
    matrix(k, |a, b| {
        let diagonal = if a == b { values(a) } else { 0.0 };
        diagonal - normal[a] * images[b] - images[a] * normal[b] + overlap * normal[a] * normal[b]
    })
}

fn kinds(k: usize) -> Vec<(&'static str, Vec<f64>)> {
    vec![
        ("random", matrix(k, |a, b| pseudo(a * k + b))),
        ("zero", matrix(k, |_, _| 0.0)),
        ("identity", matrix(k, |a, b| f64::from(u8::from(a == b)))),
        ("diagonal", matrix(k, |a, b| if a == b { pseudo(a) } else { 0.0 })),
        ("rank one", matrix(k, |_, _| 1.0)),
        ("low rank", reflected(k, |i| if i < 5 { i as f64 + 1.0 } else { 0.0 })),
        ("clustered", reflected(k, |i| (i % 3) as f64 + 1e-14 * pseudo(i))),
        ("graded", reflected(k, |i| 0.5_f64.powf(i as f64))),
        ("graded diagonal", matrix(k, |a, b| pseudo(a * k + b) * 1e-3_f64.powf((a + b) as f64 / 8.0))),
        ("almost diagonal", matrix(k, |a, b| if a == b { a as f64 } else { 1e-9 * pseudo(a + b) })),
        ("second difference", matrix(k, |a, b| [2.0, -1.0].get(a - b).copied().unwrap_or(0.0))),
        (
            "Wilkinson",
            matrix(k, |a, b| match a - b {
                0 => (a as f64 - (k / 2) as f64).abs(),
                1 => 1.0,
                _ => 0.0,
            }),
        ),
        (
            "glued",
            matrix(k, |a, b| match a - b {
                0 => ((a % 21) as f64 - 10.0).abs(),
                1 if a % 21 == 0 => 1e-10,
                1 => 1.0,
                _ => 0.0,
            }),
        ),
        ("huge", matrix(k, |a, b| 1e300 * pseudo(a * k + b))),
        ("tiny", matrix(k, |a, b| 1e-290 * pseudo(a * k + b))),
        ("tiny beside", matrix(k, |a, b| if a == b { 1.0 } else { 1e-160 * pseudo(a * k + b) })),
    ]
}

/// The largest |A·v − λ·v|₂ and the largest |v·w − δ|.
fn errors(matrix: &[f64], values: &[f64], vectors: &[Vec<f64>]) -> (f64, f64) {
    let k = vectors.first().map_or(1, Vec::len);
    let isa = Isa::detect();
    let residual = values.par_iter().zip(vectors).map(|(value, v)| {
        let parts = matrix.chunks_exact(k).zip(v).map(|(row, x)| dot(isa, row, v) - value * x);
        let parts: Vec<f64> = parts.collect();
        let size = parts.iter().fold(0.0_f64, |m, x| m.max(x.abs())).max(f64::MIN_POSITIVE);
        parts.iter().map(|x| (x / size).powi(2)).sum::<f64>().sqrt() * size
    });
    let skew = vectors.par_iter().enumerate().map(|(a, v)| {
        let off = |(b, w): (usize, &Vec<f64>)| (dot(isa, v, w) - f64::from(u8::from(a == b))).abs();
        vectors.iter().enumerate().map(off).fold(0.0, f64::max)
    });
    // `max` would drop a NaN.
    let largest = |a: f64, b: f64| if a >= b { a } else { b };
    (residual.reduce(|| 0.0, largest), skew.reduce(|| 0.0, largest))
}

fn norm(matrix: &[f64], k: usize) -> f64 {
    matrix.chunks_exact(k).map(|row| row.iter().map(|x| x.abs()).sum::<f64>()).fold(0.0, f64::max)
}

#[test]
fn eigenpairs_satisfy_their_equation() {
    for k in [1, 2, 3, 5, 12, 28, 40, 95, 96, 97, 130, 201, 333, 600] {
        // Of the largest, one without deflation and one that deflates nearly all.
        let (from, to) = if k == 600 { (6, 7) } else { (0, usize::MAX) };
        for (at, (kind, matrix)) in kinds(k).into_iter().enumerate() {
            if at != 0 && !(from..to).contains(&at) {
                continue;
            }
            let (values, vectors) = symmetric_eigen(matrix.clone(), k);
            assert!(values.len() == k && vectors.len() == k);
            assert!(values.is_sorted_by(|a, b| a >= b), "{kind}, k {k}");
            let (residual, skew) = errors(&matrix, &values, &vectors);
            let allowed = (16.0 + 0.25 * k as f64) * f64::EPSILON;
            assert!(residual <= allowed * norm(&matrix, k), "{kind}, k {k}: residual {residual:e}");
            assert!(skew <= allowed, "{kind}, k {k}: skew {skew:e}");
        }
    }
}

#[test]
fn values_alone_and_leading_pairs_agree_with_all_pairs() {
    for k in [20, 150] {
        for (kind, matrix) in kinds(k) {
            let (values, vectors) = symmetric_eigen(matrix.clone(), k);
            let allowed = 4.0 * k as f64 * f64::EPSILON * norm(&matrix, k);
            for (value, alone) in values.iter().zip(symmetric_eigenvalues(matrix.clone(), k)) {
                assert!((value - alone).abs() <= allowed, "{kind}, k {k}");
            }
            for r in [0, 1, 7, k, k + 1] {
                let (leading, leading_vectors) = leading_eigenpairs(matrix.clone(), k, r);
                assert_eq!(leading, values[..r.min(k)], "{kind}, k {k}, r {r}");
                assert_eq!(leading_vectors.len(), r.min(k));
                let (residual, skew) = errors(&matrix, &leading, &leading_vectors);
                assert!(residual <= allowed && skew <= 1e-11, "{kind}, k {k}, r {r}");
                if kind == "random" {
                    assert_eq!(leading_vectors, vectors[..r.min(k)]);
                }
            }
        }
    }
}

#[test]
fn known_values_are_found() {
    let k = 300;
    let step = std::f64::consts::PI / (k as f64 + 1.0);
    let difference = matrix(k, |a, b| [2.0, -1.0].get(a - b).copied().unwrap_or(0.0));
    for (i, value) in symmetric_eigen(difference, k).0.iter().enumerate() {
        let right = 2.0 + 2.0 * ((i as f64 + 1.0) * step).cos();
        assert!((value - right).abs() < 1e-13, "{value} {right}");
    }
    for (i, value) in symmetric_eigen(reflected(k, |i| 1.0 / (i as f64 + 1.0)), k).0.iter().enumerate() {
        assert!((value - 1.0 / (i as f64 + 1.0)).abs() < 1e-13);
    }
}

#[test]
fn threads_do_not_change_a_bit() {
    let k = 400;
    for (kind, matrix) in kinds(k).into_iter().take(8) {
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start");
            pool.install(|| (symmetric_eigen(matrix.clone(), k), symmetric_eigenvalues(matrix.clone(), k)))
        };
        assert!(run(1) == run(3), "{kind}");
    }
}

#[test]
fn what_is_not_a_number_ends() {
    for k in [5, 120] {
        for bad in [f64::NAN, f64::INFINITY] {
            let matrix = matrix(k, |a, b| if (a, b) == (k - 2, 1) { bad } else { pseudo(a * k + b) });
            symmetric_eigenvalues(matrix.clone(), k);
            symmetric_eigen(matrix, k);
        }
    }
}
