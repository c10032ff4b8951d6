//! The cosine transform: orthonormal, by the definition, within the proven error, and on smaller grids.

use crate::support::{normal, normal_matrix, square};
use gambeson_checker::CosineTransform;
use gambeson_lowrank::linalg::matrix::DenseMatrix;
use gambeson_lowrank::projection::representation::{Representation, Transform};
use proptest::prelude::*;
use std::f64::consts::PI;

fn transforms() -> Vec<Transform> {
    let sizes = [(1, 1), (1, 2), (5, 7), (8, 8), (28, 28), (32, 32), (3, 1)];
    let two = sizes.map(|(h, w)| Transform::new(Representation::Dct2, h, w).expect("a size"));
    let one = [1, 2, 7, 400, 1200].map(|n| Transform::new(Representation::Dct1, 1, n).expect("a size"));
    two.into_iter().chain(one).collect()
}

#[test]
fn cosine_transforms_are_orthonormal() {
    for transform in transforms() {
        let n = transform.dim();
        let columns: Vec<Vec<f64>> = (0..n)
            .map(|i| {
                let mut unit = vec![0.0; n];
                unit[i] = 1.0;
                transform.forward(&mut unit);
                unit
            })
            .collect();
        let step = (n / 60).max(1); // all pairs of a part of the columns
        for i in (0..n).step_by(step) {
            for j in (0..=i).step_by(step) {
                let product: f64 = columns[i].iter().zip(&columns[j]).map(|(a, b)| a * b).sum();
                let expected = f64::from(u8::from(i == j));
                assert!((product - expected).abs() < 1e-14, "{transform:?}: {i}, {j}: {product}");
            }
            let mut back = columns[i].clone();
            transform.inverse(&mut back);
            for (j, value) in back.iter().enumerate() {
                let expected = f64::from(u8::from(i == j));
                assert!((value - expected).abs() < 1e-14, "{transform:?}: {value} at {j}");
            }
        }
    }
}

#[test]
fn cosine_transforms_are_those_of_the_definition() {
    let weight = |k: usize, n: usize| if k == 0 { (1.0 / n as f64).sqrt() } else { (2.0 / n as f64).sqrt() };
    let cosine =
        |k: usize, i: usize, n: usize| weight(k, n) * (PI * (k * (2 * i + 1)) as f64 / (2 * n) as f64).cos();
    let (h, w) = (5, 7);
    let image = normal(h * w, 3);
    let mut found = image.clone();
    Transform::new(Representation::Dct2, h, w).expect("a size").forward(&mut found);
    for (k, l) in (0..h).flat_map(|k| (0..w).map(move |l| (k, l))) {
        let terms = (0..h * w).map(|at| image[at] * cosine(k, at / w, h) * cosine(l, at % w, w));
        assert!((found[k * w + l] - terms.sum::<f64>()).abs() < 1e-13);
    }
    let mut found = image.clone();
    Transform::new(Representation::Dct1, h, w).expect("a size").forward(&mut found);
    for (k, found) in found.iter().enumerate() {
        let terms = (0..h * w).map(|i| image[i] * cosine(k, i, h * w));
        assert!((found - terms.sum::<f64>()).abs() < 1e-13);
    }
}

/// A smooth image comes back on a smaller grid with the values it has there; a constant one exactly.
#[test]
fn a_smaller_grid_keeps_the_range() {
    let transform = Transform::new(Representation::Dct2, 32, 32).expect("a size");
    let smooth = |size: usize, i: usize, j: usize| {
        let at = |i: usize| (PI * (2 * i + 1) as f64 / (2 * size) as f64).cos();
        0.5 + 0.2 * at(i) - 0.1 * at(i) * at(j)
    };
    let mut image: Vec<f64> = (0..32 * 32).map(|at| smooth(32, at / 32, at % 32)).collect();
    transform.forward(&mut image);
    let small = transform.inverse_onto(&image, 16, 16).expect("a smaller grid");
    for (at, value) in small.iter().enumerate() {
        assert!((value - smooth(16, at / 16, at % 16)).abs() < 1e-13);
    }
    assert!(transform.inverse_onto(&image, 33, 16).is_none());
    assert!(transform.inverse_onto(&image, 0, 16).is_none());
    let pixels = Transform::new(Representation::Pixel, 32, 32).expect("a size");
    assert!(pixels.inverse_onto(&image, 16, 16).is_none());
    assert!(Transform::new(Representation::Dct2, 0, 4).is_err());
}

/// A form rotated by the transform takes the same values at rotated vectors.
#[test]
fn forms_rotate_with_vectors() {
    let transform = Transform::new(Representation::Dct2, 3, 5).expect("a size");
    let n = transform.dim();
    let half = normal_matrix(n, 4, 8);
    let form = square(&half);
    let mut rotated = form.entries.clone();
    transform.rotate_form(&mut rotated);
    let rotated = DenseMatrix { rows: n, columns: n, entries: rotated };
    for seed in 0..5 {
        let x = normal(n, seed);
        let mut u = x.clone();
        transform.forward(&mut u);
        let (before, after) = (crate::support::form(&form, &x), crate::support::form(&rotated, &u));
        assert!((before - after).abs() < 1e-12 * before.abs(), "{before} {after}");
    }
}

/// The checker's transform has a proven error: ours lies within it, and a few roundings.
#[test]
fn cosine_transforms_agree_with_the_proven_one() {
    let grids =
        [(Representation::Dct2, 32, 32), (Representation::Dct2, 5, 7), (Representation::Dct1, 1, 1200)];
    for (representation, height, width) in grids {
        let values = normal(height * width, 11);
        let proven = CosineTransform::new(height, width).expect("a grid").forward(&values).expect("finite");
        let mut found = values.clone();
        Transform::new(representation, height, width).expect("a size").forward(&mut found);
        let length = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
        let apart: Vec<f64> = found.iter().zip(&proven.values).map(|(a, b)| a - b).collect();
        assert!(length(&apart) <= proven.error, "{} above {}", length(&apart), proven.error);
        assert!(length(&apart) <= 1e-14 * length(&values), "{} of {}", length(&apart), length(&values));
    }
}

/// Forms go through products of matrices, vectors through a table: both are the same transform.
#[test]
fn forms_of_frames_and_images_rotate_as_vectors_do() {
    for (representation, height, width) in [(Representation::Dct1, 1, 300), (Representation::Dct2, 12, 9)] {
        let transform = Transform::new(representation, height, width).expect("a size");
        let n = transform.dim();
        let (x, y) = (normal(n, 5), normal(n, 6));
        let mut form: Vec<f64> = (0..n * n).map(|at| x[at / n] * x[at % n] + y[at / n] * y[at % n]).collect();
        transform.rotate_form(&mut form);
        let (mut u, mut v) = (x.clone(), y.clone());
        transform.forward(&mut u);
        transform.forward(&mut v);
        for (at, entry) in form.iter().enumerate() {
            let expected = u[at / n] * u[at % n] + v[at / n] * v[at % n];
            assert!((entry - expected).abs() < 1e-12, "{transform:?}, {at}: {entry} {expected}");
        }
        assert!((0..n * n).all(|at| form[at] == form[at % n * n + at / n]), "symmetric to the bit");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Prop. B.3: the transform keeps distances, so a ball around x becomes the ball around its coordinates.
    #[test]
    fn rotation_keeps_l2_radii(h in 1_usize..9, w in 1_usize..9, seed in 0_u64..1000) {
        let transform = Transform::new(Representation::Dct2, h, w).expect("a size");
        let (x, y) = (normal(h * w, seed), normal(h * w, seed + 7));
        let distance = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
        let before = distance(&x, &y);
        let (mut u, mut v) = (x.clone(), y.clone());
        transform.forward(&mut u);
        transform.forward(&mut v);
        prop_assert!((distance(&u, &v) - before).abs() <= 1e-13 * before);
        // A half-space {a·x > b} has the distance |a·x − b| / |a| to x: the same for the rotated one.
        let margin = |a: &[f64], x: &[f64]| {
            let product: f64 = a.iter().zip(x).map(|(a, x)| a * x).sum();
            (product - 0.3).abs() / a.iter().map(|a| a * a).sum::<f64>().sqrt()
        };
        prop_assert!((margin(&x, &y) - margin(&u, &v)).abs() <= 1e-12);
    }
}
