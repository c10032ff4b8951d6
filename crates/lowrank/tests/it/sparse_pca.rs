//! Sparse components against slow sums, the optimality conditions of the lasso, and planted supports.

use crate::support::normal;
use gambeson_lowrank::linalg::matrix::MatrixError;
use gambeson_lowrank::projection::method::sparse_pca::{
    Beginning, SparsePca, SparsePcaError, SparsePcaParams, sparse_pca,
};
use gambeson_lowrank::sdp::progress::{Progress, StopReason};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::ops::ControlFlow;

const BOTH: [Beginning; 2] = [Beginning::Features, Beginning::SingularVectors];

struct Data {
    entries: Vec<f64>,
    samples: usize,
    features: usize,
}

impl Data {
    fn random(samples: usize, features: usize, seed: u64) -> Self {
        Self { entries: normal(samples * features, seed), samples, features }
    }

    /// Blocks of ten features that follow one hidden variable each, and a little noise.
    fn planted(samples: usize, blocks: usize, noise: f64) -> Self {
        let features = 10 * blocks;
        let (hidden, weights) = (normal(samples * blocks, 5), normal(features, 6));
        let mut entries = normal(samples * features, 7);
        for (s, row) in entries.chunks_exact_mut(features).enumerate() {
            for (j, x) in row.iter_mut().enumerate() {
                let weight = (1.0 + weights[j].abs()).copysign(weights[j]);
                *x = noise * *x + weight * hidden[s * blocks + j / 10];
            }
        }
        Self { entries, samples, features }
    }

    fn run(&self, params: &SparsePcaParams, start: Option<&SparsePca>) -> (SparsePca, Vec<Progress>) {
        let mut seen = vec![];
        let mut observer = |progress: &Progress| {
            seen.push(*progress);
            ControlFlow::Continue(())
        };
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let found =
            sparse_pca(&self.entries, self.samples, self.features, start, params, &mut rng, &mut observer);
        (found.expect("a valid problem"), seen)
    }

    /// Every feature, its mean subtracted.
    fn centred(&self) -> Vec<Vec<f64>> {
        let column = |j: usize| self.entries.iter().skip(j).step_by(self.features);
        let mean = |j: usize| column(j).sum::<f64>() / self.samples as f64;
        (0..self.features).map(|j| column(j).map(|x| x - mean(j)).collect()).collect()
    }

    /// What is left of every feature, one product after the other.
    fn left(&self, found: &SparsePca) -> Vec<Vec<f64>> {
        let mut left = self.centred();
        for (component, atom) in components(self, found).zip(found.dictionary.chunks_exact(self.samples)) {
            for (left, c) in left.iter_mut().zip(component) {
                left.iter_mut().zip(atom).for_each(|(left, d)| *left -= c * d);
            }
        }
        left
    }

    fn objective(&self, found: &SparsePca, alpha: f64) -> f64 {
        let squares: f64 = self.left(found).iter().flatten().map(|e| e * e).sum();
        0.5 * squares + alpha * found.components.iter().map(|c| c.abs()).sum::<f64>()
    }

    /// How far the codes are from optimal: q = α·sign(c) where c ≠ 0, |q| ≤ α elsewhere, with q = d·(what is left).
    fn violation(&self, found: &SparsePca, alpha: f64) -> f64 {
        let mut worst = 0.0_f64;
        let left = self.left(found);
        for (component, atom) in components(self, found).zip(found.dictionary.chunks_exact(self.samples)) {
            for (left, c) in left.iter().zip(component) {
                let q: f64 = left.iter().zip(atom).map(|(e, d)| e * d).sum();
                worst = worst.max(if *c == 0.0 { q.abs() - alpha } else { (q - alpha.copysign(*c)).abs() });
            }
        }
        worst
    }
}

fn components<'a>(data: &Data, found: &'a SparsePca) -> impl Iterator<Item = &'a [f64]> {
    found.components.chunks_exact(data.features)
}

fn params(atoms: usize, alpha: f64) -> SparsePcaParams {
    SparsePcaParams { atoms, alpha, ..SparsePcaParams::default() }
}

#[test]
fn objective_falls_and_codes_are_optimal() {
    let cases = [
        (Data::random(30, 40, 1), 7, 2.0),
        (Data::random(80, 50, 2), 24, 1.0),
        (Data::random(9, 45, 3), 20, 0.5), // more atoms than samples
        (Data::random(1, 12, 4), 3, 1e-3), // nothing is left of a single sample once its mean is gone
        (Data::planted(50, 6, 0.1), 9, 1.0),
        (Data::planted(50, 6, 0.1), 6, 0.01),
    ];
    for (case, (data, atoms, alpha)) in cases.iter().enumerate() {
        for beginning in BOTH {
            let params = SparsePcaParams { beginning, ..params(*atoms, *alpha) };
            let (found, seen) = data.run(&params, None);
            let objective = data.objective(&found, *alpha);
            assert!((found.objective - objective).abs() <= 1e-12 * objective, "case {case}");
            for pair in seen.windows(2) {
                assert!(pair[1].upper <= pair[0].upper * (1.0 + 1e-13), "case {case}: {pair:?}");
            }
            let last = seen.last().expect("it was observed");
            assert!(found.objective <= last.upper * (1.0 + 1e-12), "case {case}");
            assert!(last.lower <= found.objective * (1.0 + 1e-12), "case {case}");
            let violation = data.violation(&found, *alpha);
            assert!(violation <= 1e-9 * alpha.max(1.0), "case {case}: {violation}");
            for atom in found.dictionary.chunks_exact(data.samples) {
                assert!(atom.iter().map(|d| d * d).sum::<f64>() <= 1.0 + 1e-14, "case {case}");
            }
            if beginning == Beginning::Features {
                assert_eq!(found.stop, StopReason::Converged, "case {case}"); // the other may crawl
            }
        }
    }
}

#[test]
fn atoms_are_optimal_too_in_the_end() {
    // For its own codes, every atom is the minimum over the ball: the gradient R_k = Σ_j c_jk·left_j vanishes inside,
    // and points outward along the atom on the sphere.
    let (data, alpha) = (Data::random(30, 40, 1), 2.0);
    let (found, _) = data.run(&SparsePcaParams { tolerance: 1e-15, ..params(7, alpha) }, None);
    let left = data.left(&found);
    for (component, atom) in components(&data, &found).zip(found.dictionary.chunks_exact(data.samples)) {
        let mut pull = vec![0.0; data.samples];
        for (left, c) in left.iter().zip(component) {
            pull.iter_mut().zip(left).for_each(|(pull, e)| *pull += c * e);
        }
        let along: f64 = pull.iter().zip(atom).map(|(p, d)| p * d).sum();
        let across: f64 = pull.iter().zip(atom).map(|(p, d)| (p - along * d).powi(2)).sum();
        assert!(along > 0.0 && across.sqrt() < 1e-4 * along, "{along} {across}");
    }
}

#[test]
fn planted_supports_are_found() {
    let data = Data::planted(60, 6, 0.05);
    for beginning in BOTH {
        let (found, _) = data.run(&SparsePcaParams { beginning, ..params(6, 1.5) }, None);
        let supports: Vec<Vec<usize>> = components(&data, &found)
            .map(|component| (0..data.features).filter(|&j| component[j] != 0.0).collect())
            .collect();
        for block in 0..6 {
            let planted: Vec<usize> = (10 * block..10 * block + 10).collect();
            assert!(supports.contains(&planted), "{beginning:?}, block {block}: {supports:?}");
        }
    }
}

#[test]
fn with_enough_atoms_the_bound_is_reached() {
    let data = Data::random(20, 15, 9);
    let centred = data.centred();
    let lengths = centred.iter().map(|x| x.iter().map(|x| x * x).sum::<f64>().sqrt());
    let mut sorted: Vec<f64> = lengths.collect();
    sorted.sort_by(f64::total_cmp);
    let alpha = 0.5 * (sorted[4] + sorted[5]); // ten features are longer
    let least = |t: &f64| if *t > alpha { alpha * t - 0.5 * alpha * alpha } else { 0.5 * t * t };
    let bound: f64 = sorted.iter().map(least).sum();
    let (found, seen) = data.run(&params(10, alpha), None);
    assert!((found.objective - bound).abs() < 1e-12 * bound);
    assert_eq!((found.iterations, found.stop), (0, StopReason::Converged));
    assert!(data.violation(&found, alpha) < 1e-12);
    assert!((seen[0].lower - bound).abs() < 1e-12 * bound);
    let (fewer, seen) = data.run(&params(9, alpha), None);
    assert!(fewer.objective > bound && seen.iter().all(|seen| (seen.lower - bound).abs() < 1e-12 * bound));
    // Beyond that there is nothing for an atom to do.
    let (more, _) = data.run(&params(15, alpha), None);
    assert!((more.objective - bound).abs() < 1e-12 * bound);
    assert!(more.components[10 * 15..].iter().chain(&more.dictionary[10 * 20..]).all(|x| *x == 0.0));
}

#[test]
fn atoms_without_use_are_zero() {
    // Twelve features along two directions: two atoms suffice, whatever the others do.
    let directions = Data::random(8, 2, 3);
    let entry = |i: usize| (1 + i % 12) as f64 * directions.entries[i / 12 * 2 + i % 2];
    let data = Data { entries: (0..8 * 12).map(entry).collect(), samples: 8, features: 12 };
    for beginning in BOTH {
        let (found, seen) = data.run(&SparsePcaParams { beginning, tolerance: 0.0, ..params(5, 0.1) }, None);
        assert!(found.objective <= seen[0].lower * (1.0 + 1e-3), "{beginning:?}");
        assert!(found.components.iter().chain(&found.dictionary).all(|x| x.is_finite()));
    }
    let (found, seen) = data.run(&params(5, 0.1), None);
    assert!((found.objective - seen[0].lower).abs() < 1e-10 * found.objective);
    let used = components(&data, &found).filter(|c| c.iter().any(|c| *c != 0.0)).count();
    assert_eq!(used, 2);
}

#[test]
fn atoms_that_lose_their_codes_find_new_places() {
    // No singular vector is near enough to any feature for a code; the features themselves are.
    let data = Data::random(30, 40, 1);
    let square = |x: &Vec<f64>| x.iter().map(|x| x * x).sum::<f64>();
    let longest = data.centred().iter().map(square).fold(0.0, f64::max).sqrt();
    let params = SparsePcaParams { beginning: Beginning::SingularVectors, ..params(3, 0.8 * longest) };
    let (found, seen) = data.run(&params, None);
    let nothing = 0.5 * data.centred().iter().map(square).sum::<f64>();
    assert!((seen[0].upper - nothing).abs() < 1e-12 * nothing);
    assert!(found.objective < nothing - 0.5 * (0.2 * longest).powi(2) * (1.0 - 1e-9));
    assert!(components(&data, &found).all(|component| component.iter().any(|c| *c != 0.0)));
}

#[test]
fn zero_matrix_has_zero_components() {
    let data = Data { entries: vec![0.0; 12], samples: 4, features: 3 };
    let (found, _) = data.run(&params(2, 0.5), None);
    assert!(found.components.iter().chain(&found.dictionary).all(|x| *x == 0.0));
    assert_eq!((found.objective, found.stop), (0.0, StopReason::Converged));
}

#[test]
fn threads_change_nothing() {
    let data = Data::random(300, 350, 11);
    let on = |threads: usize, beginning: Beginning| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        let params = SparsePcaParams { beginning, max_iterations: 12, ..params(37, 3.0) };
        pool.install(|| data.run(&params, None).0)
    };
    for beginning in BOTH {
        assert_eq!(on(1, beginning), on(2, beginning));
    }
}

#[test]
fn warm_starts_save_rounds() {
    let data = Data::planted(100, 12, 0.5);
    let near = |alpha: f64, atoms: usize| SparsePcaParams { tolerance: 1e-7, ..params(atoms, alpha) };
    let (first, _) = data.run(&near(2.0, 20), None);
    for (alpha, atoms) in [(2.0, 20), (1.9, 20), (2.0, 22), (2.0, 18)] {
        let (cold, _) = data.run(&near(alpha, atoms), None);
        let (warm, seen) = data.run(&near(alpha, atoms), Some(&first));
        assert!(
            warm.iterations < cold.iterations,
            "{alpha} {atoms}: {} {}",
            warm.iterations,
            cold.iterations
        );
        assert!(warm.objective < 1.01 * cold.objective, "{alpha} {atoms}");
        assert!((warm.objective - data.objective(&warm, alpha)).abs() < 1e-12 * warm.objective);
        assert!(data.violation(&warm, alpha) < 1e-9);
        assert!(seen[0].upper < 1.2 * warm.objective);
    }
}

#[test]
fn unit_of_the_matrix_does_not_matter() {
    let data = Data::random(12, 20, 4);
    let (plain, _) = data.run(&params(5, 0.7), None);
    for power in [-600, 3, 600] {
        let unit = 2.0_f64.powi(power);
        let scaled = Data { entries: data.entries.iter().map(|x| x * unit).collect(), ..data };
        let (found, _) = scaled.run(&params(5, 0.7 * unit), None);
        assert_eq!(found.dictionary, plain.dictionary);
        assert!(found.components.iter().zip(&plain.components).all(|(found, plain)| *found == plain * unit));
    }
    let huge = Data { entries: data.entries.iter().map(|x| x * 1e307).collect(), ..data };
    assert!(huge.run(&params(5, 1e307), None).0.components.iter().all(|x| x.is_finite()));
}

#[test]
fn centring_is_a_choice() {
    let data = Data::random(12, 20, 4);
    let raw = SparsePcaParams { centre: false, ..params(5, 0.7) };
    let (centred, _) = data.run(&params(5, 0.7), None);
    let columns = data.centred();
    let entries = (0..12 * 20).map(|i| columns[i % 20][i / 20]).collect();
    let before = Data { entries, ..data };
    assert!((before.run(&raw, None).0.objective - centred.objective).abs() < 1e-9 * centred.objective);
    assert!(data.run(&raw, None).0.objective > 1.01 * centred.objective);
}

#[test]
fn whoever_watches_may_stop_it() {
    let data = Data::random(30, 40, 1);
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut second = |seen: &Progress| {
        if seen.iteration == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let found =
        sparse_pca(&data.entries, 30, 40, None, &params(7, 2.0), &mut rng, &mut second).expect("valid");
    assert_eq!((found.iterations, found.stop), (2, StopReason::Interrupted));
    assert!(data.violation(&found, 2.0) < 1e-9);
    let (found, _) = data.run(&SparsePcaParams { max_iterations: 3, ..params(7, 2.0) }, None);
    assert_eq!((found.iterations, found.stop), (3, StopReason::IterationLimit));
}

#[test]
fn bad_input_is_refused() {
    let data = Data::random(4, 3, 1);
    let try_with =
        |entries: &[f64], shape: (usize, usize), start: Option<&SparsePca>, params: &SparsePcaParams| {
            let mut rng = ChaCha8Rng::seed_from_u64(1);
            sparse_pca(entries, shape.0, shape.1, start, params, &mut rng, &mut ()).expect_err("refused")
        };
    let parameter = |params: &SparsePcaParams| match try_with(&data.entries, (4, 3), None, params) {
        SparsePcaError::Parameter(error) => error.name,
        other => panic!("{other}"),
    };
    assert_eq!(parameter(&params(0, 1.0)), "atoms");
    assert_eq!(parameter(&params(4, 1.0)), "atoms"); // more than features
    for alpha in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(parameter(&params(2, alpha)), "alpha");
    }
    assert_eq!(parameter(&SparsePcaParams { tolerance: f64::NAN, ..params(2, 1.0) }), "tolerance");
    assert_eq!(parameter(&SparsePcaParams { max_iterations: 0, ..params(2, 1.0) }), "max_iterations");
    let good = params(2, 0.1);
    let wrong = MatrixError::WrongCount { rows: 4, columns: 4, found: 12 };
    assert_eq!(try_with(&data.entries, (4, 4), None, &good), SparsePcaError::Matrix(wrong));
    let empty = MatrixError::Empty { rows: 0, columns: 3 };
    assert_eq!(try_with(&[], (0, 3), None, &good), SparsePcaError::Matrix(empty));
    let mut spoilt = data.entries.clone();
    spoilt[7] = f64::NAN;
    let error = try_with(&spoilt, (4, 3), None, &good);
    assert!(
        matches!(error, SparsePcaError::Matrix(MatrixError::NotFinite { row: 2, column: 1, .. })),
        "{error}"
    );
    let (mut start, _) = data.run(&good, None);
    let smaller = Data::random(3, 3, 1);
    let error = try_with(&smaller.entries, (3, 3), Some(&start), &good);
    assert!(matches!(error, SparsePcaError::StartShape { components: 6, dictionary: 8, .. }), "{error}");
    start.dictionary[5] = f64::INFINITY;
    let error = try_with(&data.entries, (4, 3), Some(&start), &good);
    assert_eq!(error, SparsePcaError::StartNotFinite { atom: 1 });
}
