//! Projections fitted to data: every method, every target, ended in the checker.

use crate::support::normal;
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::projection::energy::{Energy, EnergyError};
use gambeson_lowrank::projection::fit::{
    FitData, FitError, FitMethod, FitProgress, FitProjectionError, Fitted, Target, fit_channel,
    fit_projection,
};
use gambeson_lowrank::projection::kappa::problem;
use gambeson_lowrank::projection::method::algorithm3::{
    RobustProjectionParams, SparseParams, robust_projection,
};
use gambeson_lowrank::projection::method::coordinates::{self, RankedCoordinates};
use gambeson_lowrank::projection::method::pca::Spectrum;
use gambeson_lowrank::projection::moments::{Moments, MomentsAccumulator, Samples};
use gambeson_lowrank::projection::representation::{Representation, Transform};
use gambeson_lowrank::sdp::bracket::BoundParams;
use gambeson_lowrank::shape::Shape;
use std::ops::ControlFlow;

/// Images of 8 × 8 whose neighbours are alike: correlated in pixels, much less so in cosines.
fn moments(samples: usize, seed: u64) -> Moments {
    let noise = normal(samples * 64, seed);
    let mut values: Vec<f32> = Vec::new();
    for raw in noise.chunks_exact(64) {
        let mut image = raw.to_vec();
        for _ in 0..3 {
            let old = image.clone();
            for at in 0..64 {
                let (i, j) = (at / 8, at % 8);
                let near = |i: usize, j: usize| old[i.min(7) * 8 + j.min(7)];
                image[at] = 0.3 * old[at]
                    + 0.25 * (near(i + 1, j) + near(i.saturating_sub(1), j))
                    + 0.1 * (near(i, j + 1) + near(i, j.saturating_sub(1)));
            }
        }
        #[allow(clippy::cast_possible_truncation)]
        values.extend(image.iter().map(|&x| x as f32 + 0.4));
    }
    let mut sums = MomentsAccumulator::new(1, 64, 1.0, MemoryLimit::NONE).expect("sizes");
    sums.add(Samples::F32(&values)).expect("numbers");
    sums.finish().expect("samples").remove(0)
}

fn energy(centred: bool) -> Energy {
    let transform = Transform::new(Representation::Dct2, 8, 8).expect("a size");
    Energy::new(&moments(500, 1), &transform, centred).expect("energy")
}

fn bound() -> BoundParams {
    BoundParams { gap: 1e-5, threads: 1, ..BoundParams::default() }
}

fn methods() -> Vec<FitMethod> {
    let sparse = SparseParams::default();
    vec![
        FitMethod::Axis,
        FitMethod::Pca,
        FitMethod::SparsePca(sparse.clone()),
        FitMethod::Algorithm3 { rank: None, error: None, splits: vec![], sparse },
        FitMethod::Robust,
    ]
}

/// Everything a result says, computed again from its basis: orthonormal columns, error, proof, limit.
fn verify(energy: &Energy, fitted: &Fitted) {
    let basis = &fitted.certified.basis;
    let (n, r) = (basis.rows, basis.columns);
    let u = |i: usize, a: usize| basis.entries[i * r + a];
    for a in 0..r {
        for b in 0..=a {
            let product: f64 = (0..n).map(|i| u(i, a) * u(i, b)).sum();
            assert!((product - f64::from(u8::from(a == b))).abs() < 1e-10, "{}", fitted.how);
        }
    }
    let kept: f64 = (0..r)
        .map(|a| {
            let image = |i: usize| (0..n).map(|j| energy.entries[i * n + j] * u(j, a)).sum::<f64>();
            (0..n).map(|i| u(i, a) * image(i)).sum::<f64>()
        })
        .sum();
    assert!((1.0 - kept - fitted.error).abs() < 1e-10, "{}: {} {}", fitted.how, 1.0 - kept, fitted.error);
    let question = problem(basis, 1).expect("a question");
    let proven = gambeson_lowrank::sdp::scale::check(question.quadratic(), &fitted.certified.certificate, 1)
        .expect("proven");
    assert_eq!(proven, fitted.certified.square);
    let kappa = fitted.certified.kappa().value();
    assert!(kappa >= (r as f64).sqrt() && kappa <= (n as f64).sqrt() * (1.0 + 1e-5), "{}", fitted.how);
    // The limit: fewer principal components lose more, and no kappa is below it.
    let errors = Spectrum::new(energy).errors();
    assert!(errors[fitted.limit_rank] <= fitted.error + 1e-9);
    assert!(fitted.limit_rank == 0 || errors[fitted.limit_rank - 1] > fitted.error);
    assert!(kappa >= (fitted.limit_rank as f64).sqrt());
}

#[test]
fn every_method_meets_every_target() {
    for centred in [false, true] {
        let energy = energy(centred);
        for method in methods() {
            let run = |target| fit_channel(&energy, None, target, &method, &bound(), &mut ());
            let by_rank = run(Target::Rank(10)).expect("a projection");
            assert_eq!(by_rank.certified.basis.columns, 10);
            verify(&energy, &by_rank);
            let by_error = run(Target::Error(0.1)).expect("a projection");
            assert!(by_error.error <= 0.1, "{}", by_error.how);
            verify(&energy, &by_error);
            match run(Target::Kappa(4.0)) {
                Ok(by_kappa) => {
                    assert!(by_kappa.certified.kappa().value() <= 4.0, "{}", by_kappa.how);
                    verify(&energy, &by_kappa);
                }
                Err(FitError::NoKappaTarget) => assert!(matches!(method, FitMethod::Algorithm3 { .. })),
                Err(other) => panic!("{other}"),
            }
        }
    }
}

/// Coordinates have κ = √r; the search never does worse than they, nor than PCA, and never breaks its budget.
#[test]
fn the_search_beats_its_candidates() {
    let energy = energy(true);
    for budget in [0.02, 0.05, 0.1, 0.2, 0.4] {
        let run = |method| {
            fit_channel(&energy, None, Target::Error(budget), &method, &bound(), &mut ()).expect("a fit")
        };
        let (axis, pca, robust) = (run(FitMethod::Axis), run(FitMethod::Pca), run(FitMethod::Robust));
        verify(&energy, &robust);
        let root = (axis.certified.basis.columns as f64).sqrt();
        assert!((axis.certified.kappa().value() / root - 1.0).abs() < 1e-9);
        assert!(robust.error <= budget);
        let kappa = |fitted: &Fitted| fitted.certified.kappa().value();
        assert!(kappa(&robust) <= kappa(&axis), "{}", robust.how);
        assert!(kappa(&robust) <= kappa(&pca) * (1.0 + 1e-5), "{} against {}", robust.how, pca.how);
    }
    // A smaller error for the same kappa, or the same.
    for kappa in [2.5, 3.3, 5.1] {
        let run = |method| {
            fit_channel(&energy, None, Target::Kappa(kappa), &method, &bound(), &mut ()).expect("a fit")
        };
        let (axis, robust) = (run(FitMethod::Axis), run(FitMethod::Robust));
        assert!(robust.error <= axis.error && robust.certified.kappa().value() <= kappa);
    }
}

/// In a plane with covariance [a c; c b] one direction (cos t, sin t) keeps a cos² + b sin² + 2c sin cos, for
/// κ² = 1 + |sin 2t|. A budget that coordinates meet with two and a small tilt with one has a known answer.
#[test]
fn a_tilt_in_the_plane_is_the_best_one() {
    let (a, b, c) = (0.9, 0.1, 0.08);
    let energy = Energy { dim: 2, entries: vec![a, c, c, b], total: 1.0, mean: None, samples: 10 };
    let kept = |t: f64| a * t.cos().powi(2) + b * t.sin().powi(2) + 2.0 * c * t.sin() * t.cos();
    for angle in [0.01, 0.03, 0.06] {
        let budget = 1.0 - kept(angle);
        let fitted = fit_channel(&energy, None, Target::Error(budget), &FitMethod::Robust, &bound(), &mut ())
            .expect("a fit");
        assert_eq!(fitted.certified.basis.columns, 1, "{}", fitted.how);
        let expected = 1.0 + (2.0 * angle).sin();
        let found = fitted.certified.square.value();
        assert!((found / expected - 1.0).abs() < 2e-3, "{angle}: {found} {expected} {}", fitted.how);
        assert!(fitted.error <= budget);
    }
}

/// Strongly correlated pairs: one direction for each pair, at κ² = 2 a pair or the like, is found where it pays.
#[test]
fn algorithm_three_takes_the_best_within_its_budget() {
    let energy = energy(false);
    let spectrum = Spectrum::new(&energy);
    let params = |error: f64| RobustProjectionParams {
        rank: 12,
        error,
        splits: vec![0, 1, 3, 6, 12],
        sparse: SparseParams::default(),
    };
    let all =
        robust_projection(&energy, &spectrum, &params(f64::INFINITY), &bound(), &mut ()).expect("a fit");
    assert_eq!(all.tried.iter().map(|&(r, ..)| r).collect::<Vec<_>>(), [0, 1, 3, 6, 12]);
    // The last is plain PCA: least error of all.
    let pca = all.tried[4].2;
    assert!((pca - spectrum.errors()[12]).abs() < 1e-10);
    assert!(all.tried.iter().all(|&(.., error)| error >= pca - 1e-12));
    for budget in all.tried.iter().map(|&(.., error)| error) {
        let found = robust_projection(&energy, &spectrum, &params(budget), &bound(), &mut ()).expect("a fit");
        let best = found
            .tried
            .iter()
            .filter(|&&(.., error)| error <= budget)
            .map(|&(_, kappa, _)| kappa)
            .fold(f64::INFINITY, f64::min);
        // Candidates are compared by a proof to 0.2 %, and the winner's is tightened.
        let kappa = found.certified.kappa().value();
        assert!(kappa <= best && kappa > best * (1.0 - 2e-3), "{kappa} {best}");
        assert!(found.error <= budget);
        assert!(found.tried.iter().any(|&(r, kappa, _)| r == found.split && kappa == best));
    }
    let beyond = RobustProjectionParams { splits: vec![13], ..params(1.0) };
    let refused = robust_projection(&energy, &spectrum, &beyond, &bound(), &mut ());
    assert!(matches!(refused, Err(FitError::Split { split: 13, rank: 12 })));
    let none = robust_projection(&energy, &spectrum, &params(0.5 * pca), &bound(), &mut ());
    assert!(matches!(none, Err(FitError::NoneWithinError { rank: 12, .. })));
}

#[test]
fn restricted_coordinates_stay_unused() {
    let energy = energy(false);
    let allowed = |index: usize| index / 8 < 4 && index % 8 < 4;
    for method in methods() {
        // A kappa of 7 would be enough for more coordinates than are allowed.
        for target in [Target::Rank(7), Target::Error(0.3), Target::Kappa(7.0)] {
            let fitted = match fit_channel(&energy, Some(&allowed), target, &method, &bound(), &mut ()) {
                Err(FitError::NoKappaTarget) => continue,
                other => other.expect("a projection"),
            };
            verify(&energy, &fitted);
            let r = fitted.certified.basis.columns;
            assert!(r <= 16, "{}", fitted.how);
            for (i, row) in fitted.certified.basis.entries.chunks_exact(r).enumerate() {
                assert!(allowed(i) || row.iter().all(|&u| u.abs() < 1e-12), "{}: row {i}", fitted.how);
            }
        }
    }
    let too_many =
        fit_channel(&energy, Some(&allowed), Target::Rank(17), &FitMethod::Axis, &bound(), &mut ());
    assert!(matches!(too_many, Err(FitError::Rank { rank: 17, dim: 16 })));
    for method in methods() {
        let out = fit_channel(&energy, Some(&allowed), Target::Error(1e-6), &method, &bound(), &mut ());
        assert!(matches!(out, Err(FitError::ErrorOutOfReach { .. })), "{method:?}");
    }
}

#[test]
fn results_do_not_depend_on_threads() {
    let energy = energy(true);
    for method in methods() {
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            let own = BoundParams { threads, ..bound() };
            pool.install(|| {
                fit_channel(&energy, None, Target::Error(0.1), &method, &own, &mut ()).expect("a fit")
            })
        };
        let (one, two) = (run(1), run(2));
        assert_eq!(one.certified.basis, two.certified.basis, "{}", one.how);
        assert_eq!(one.certified.square, two.certified.square, "{}", one.how);
    }
}

#[test]
fn wrong_questions_and_data_are_refused() {
    let energy = energy(false);
    let run = |target| fit_channel(&energy, None, target, &FitMethod::Axis, &bound(), &mut ());
    assert!(matches!(run(Target::Rank(0)), Err(FitError::Rank { rank: 0, dim: 64 })));
    assert!(matches!(run(Target::Rank(65)), Err(FitError::Rank { rank: 65, dim: 64 })));
    for error in [0.0, -1.0, 1.0, f64::NAN] {
        assert!(matches!(run(Target::Error(error)), Err(FitError::Error { .. })), "{error}");
    }
    for kappa in [0.0, 0.99, f64::NAN, f64::INFINITY] {
        assert!(matches!(run(Target::Kappa(kappa)), Err(FitError::KappaTooSmall { .. })), "{kappa}");
    }
    let transform = Transform::new(Representation::Dct2, 8, 8).expect("a size");
    let few = Energy::new(&moments(5, 1), &transform, false).expect("energy");
    let result = fit_channel(&few, None, Target::Rank(6), &FitMethod::Pca, &bound(), &mut ());
    assert!(matches!(result, Err(FitError::FewSamples { rank: 6, samples: 5 })));
    // Constant images have no energy around their mean.
    let mut sums = MomentsAccumulator::new(1, 64, 1.0 / 255.0, MemoryLimit::NONE).expect("sizes");
    sums.add(Samples::U8(&[77; 64 * 9])).expect("numbers");
    let constant = sums.finish().expect("samples").remove(0);
    let refused = Energy::new(&constant, &transform, true);
    assert!(matches!(refused, Err(EnergyError::Constant { centred: true })));
    assert!(Energy::new(&constant, &transform, false).is_ok());
    let wrong = Transform::new(Representation::Dct2, 8, 9).expect("a size");
    assert!(matches!(
        Energy::new(&constant, &wrong, false),
        Err(EnergyError::Dimension { expected: 72, found: 64 })
    ));
}

/// Stopped at any step, a fit returns the best it has, or says that there is nothing yet.
#[test]
fn a_stopped_fit_keeps_what_it_has() {
    let energy = energy(true);
    let mut kept = 0;
    for steps in 0..40 {
        let mut left = steps;
        let mut watch = |_: &FitProgress| {
            left -= 1;
            if left < 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        match fit_channel(&energy, None, Target::Error(0.1), &FitMethod::Robust, &bound(), &mut watch) {
            Ok(fitted) => {
                verify(&energy, &fitted);
                assert!(fitted.error <= 0.1);
                kept += 1;
            }
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!(kept, 40);
}

/// One call fits and certifies all channels: each as it is fitted alone, the whole proven by its certificate.
#[test]
fn all_channels_are_fitted_and_certified_at_once() {
    let energies = [energy(true), {
        let transform = Transform::new(Representation::Dct2, 8, 8).expect("a size");
        Energy::new(&moments(300, 2), &transform, false).expect("energy")
    }];
    let shape = Shape { channels: 2, height: 8, width: 8 };
    let representation = Representation::Dct2;
    let data =
        FitData { representation, shape, energies: &energies, allowed: None, name: "toy", sha256: "ab" };
    let (target, method) = (Target::Error(0.1), FitMethod::Robust);
    let mut seen = Vec::new();
    let mut watch = |progress: &FitProgress| {
        if let FitProgress::Channel { channel, total } = progress {
            seen.push((*channel, *total));
        }
        ControlFlow::Continue(())
    };
    let fitted = fit_projection(&data, target, &method, &bound(), &mut watch).expect("a fit");
    assert_eq!(seen, [(0, 2), (1, 2)]);
    for (c, energy) in energies.iter().enumerate() {
        let alone = fit_channel(energy, None, target, &method, &bound(), &mut ()).expect("a fit");
        verify(energy, &fitted.channels[c]);
        assert_eq!(fitted.channels[c].certified.basis, alone.certified.basis);
        let channel = &fitted.projection.channels()[c];
        assert_eq!((&channel.basis, &channel.mean), (&alone.certified.basis, &energy.mean));
        assert_eq!(channel.error, alone.error);
    }
    let proven = fitted.certificate.check(&fitted.projection, 1).expect("proven");
    assert_eq!(proven.kappa, fitted.kappa());
    assert_eq!(fitted.limit_rank(), fitted.channels.iter().map(|one| one.limit_rank).sum::<usize>());
    let lost =
        energies.iter().zip(&fitted.channels).map(|(energy, one)| energy.total * one.error).sum::<f64>();
    let total = energies[0].total + energies[1].total;
    assert!((fitted.error - lost / total).abs() < 1e-15 && fitted.error <= 0.1);
    let origin = fitted.projection.origin();
    let how = format!("robust: {}; {}", fitted.channels[0].how, fitted.channels[1].how);
    assert_eq!(
        (origin.method.as_str(), origin.data.as_str(), origin.data_sha256.as_str()),
        (&*how, "toy", "ab")
    );
    // Errors name the channel; channels and shape must agree.
    let refused = fit_projection(&data, Target::Rank(400), &method, &bound(), &mut ());
    assert_eq!(
        refused.expect_err("no such rank").to_string(),
        "channel 0: rank 400: must be between 1 and 64, the number of coordinates"
    );
    let data = FitData { shape: Shape { channels: 3, ..shape }, ..data };
    let refused = fit_projection(&data, Target::Rank(2), &method, &bound(), &mut ());
    assert!(matches!(refused, Err(FitProjectionError::Projection(_))));
}

#[test]
fn coordinates_are_taken_by_energy() {
    let energy = energy(false);
    let RankedCoordinates { order, errors } = RankedCoordinates::of(&energy);
    let diagonal = energy.diagonal();
    assert!(order.windows(2).all(|pair| diagonal[pair[0]] >= diagonal[pair[1]]));
    for rank in [1, 5, 64] {
        assert!((errors[rank] - energy.error(&coordinates::basis(64, &order[..rank]))).abs() < 1e-12);
    }
}
