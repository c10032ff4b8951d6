//! Candidates: what is true is proven as it stands, what is false or out of range is refused, and an answer to one
//! question proves nothing about another.

use crate::cases::{Stored, generator, normals};
use crate::limits::{alpha, lower, tally};
use gambeson_checker::{
    Certificate, CheckError, ClassCounts, Domain, LimitCandidate, LimitMethod, LimitTrial, LowerLimit,
    NoiseLevel, NormalQuantile, PreparedBasis, PreparedFactor, PreparedForm, ProposedLimit, Quadratic,
    QuantileTrial, RadiusCandidates, RadiusQuestion, RadiusTrial, Rejected, SamplingRule, Side, Sides,
    triangle_bound, verify, vertex_value,
};
use gambeson_lowrank::sdp::scale::{check, spectral_norm};

/// Weights that dominate by a margin of 1 %, for each storage.
fn cases() -> Vec<(Stored, Vec<f64>, f64)> {
    let rng = &mut generator(11);
    let (n, rank) = (30, 7);
    let factor = normals(rng, n * rank);
    let wide = normals(rng, 8 * 20);
    let entries = crate::cases::gram(&factor, rank);
    let stored = [
        Stored::Dense { entries: entries.clone(), dim: n },
        Stored::sparse(&entries, n, |_, _| false),
        Stored::Gram { factor, dim: n, rank },
        Stored::Gram { factor: wide, dim: 8, rank: 20 },
    ];
    let with_weights = |stored: Stored| {
        let dim = stored.view().dim();
        let even = Certificate { domain: Domain::Cube, weights: vec![1.0; dim], shift: None };
        let bound = check(stored.view(), &even, 1).expect("even weights prove something").value();
        (stored, vec![1.01 * bound / dim as f64; dim], bound)
    };
    stored.into_iter().map(with_weights).collect()
}

#[test]
fn certificates_are_verified_as_they_stand() {
    for (stored, weights, least) in cases() {
        let sum: f64 = weights.iter().sum();
        for shift in [0.0, 0.5, -0.25] {
            let moved = weights.iter().map(|y| y - shift).collect();
            let certificate = Certificate { domain: Domain::Cube, weights: moved, shift: Some(shift) };
            let bound = verify(stored.view(), &certificate, 2).expect("a margin of 1 %").value();
            assert!((bound / sum - 1.0).abs() < 1e-12 && bound > least, "{bound} for {sum}");
        }
        let small = weights.iter().map(|y| 0.98 * y).collect();
        let certificate = Certificate { domain: Domain::Cube, weights: small, shift: Some(0.0) };
        assert_eq!(verify(stored.view(), &certificate, 1), Err(Rejected::NotDominating.into()));
        let certificate = Certificate { domain: Domain::Cube, weights, shift: None };
        let refused = verify(stored.view(), &certificate, 1).expect_err("no shift");
        assert_eq!(refused, CheckError::from(Rejected::NoShift));
        assert!(refused.to_string().contains("no shift"));
    }
}

#[test]
fn prepared_matrices_refuse_what_is_too_small() {
    let entries = [2.0, 1.0, 0.0, 1.0, 2.0, 0.0, 0.0, 0.0, 0.0];
    let matrix = Quadratic::Dense { entries: &entries, dim: 3 };
    let form = PreparedForm::new(matrix, Domain::Cube, 1).expect("a matrix");
    assert_eq!(form.kept(), [0, 1]);
    assert_eq!(form.bound(&[3.0 - 1e-12; 2]), Err(Rejected::NotDominating));
    assert!(form.bound(&[3.0 + 1e-12; 2]).is_ok());
    assert_eq!(form.bound(&[3.0; 3]), Err(Rejected::WeightCount { expected: 2, found: 3 }));
    for value in [0.0, -1.0, f64::INFINITY] {
        assert_eq!(form.bound(&[9.0, value]), Err(Rejected::WeightNotPositive { index: 1, value }));
    }
    assert!(matches!(form.bound(&[f64::NAN, 9.0]), Err(Rejected::WeightNotPositive { index: 0, .. })));
    let vertices = PreparedForm::new(matrix, Domain::Vertices, 1).expect("a matrix");
    assert!(!vertices.has_diagonal());
    let bound = vertices.bound(&[1.0 + 1e-12; 2]).expect("off the diagonal there is only 1").value();
    assert!((6.0..6.000_000_1).contains(&bound), "{bound}");

    // UᵀU = 25 for U = (3, 4): λ_max is known exactly, up to the power of two inside.
    let even = Certificate { domain: Domain::Cube, weights: vec![1.0; 2], shift: None };
    let factor = PreparedFactor::new(&[3.0, 4.0], 2, 1, &even, 1).expect("a factor");
    let eigenvalue = factor.gram().entries()[0];
    for scale in [eigenvalue * (1.0 - 1e-12), 0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(factor.bound(scale), Err(Rejected::NotDominating), "{scale}");
    }
    assert!((50.0..50.000_1).contains(&factor.bound(eigenvalue * (1.0 + 1e-9)).expect("above").value()));
    let basis = PreparedBasis::new(&[3.0, 4.0], 2, 1, 1).expect("a basis");
    assert_eq!(basis.bound(eigenvalue * (1.0 - 1e-12)), Err(Rejected::NotDominating));
    assert!((5.0..5.000_1).contains(&basis.bound(eigenvalue * (1.0 + 1e-9)).expect("above").value()));
    assert!(spectral_norm(&[3.0, 4.0], 2, 1, 1).expect("a bound").value() < 5.000_1);
}

fn trial(k: u64, n: u64, method: LimitMethod) -> LimitTrial {
    let rule = if method == LimitMethod::Mixture { SamplingRule::Anytime } else { SamplingRule::Fixed };
    LimitTrial::new(rule, tally(k, n), method, alpha(1e-3)).expect("fits").expect("successes")
}

#[test]
fn limits_are_proven_where_they_hold_and_nowhere_else() {
    for method in [LimitMethod::ClopperPearson, LimitMethod::Mixture] {
        for (k, n) in [(3, 100), (900, 1000), (1, 1), (1000, 1000)] {
            let trial = trial(k, n, method);
            let rule =
                if method == LimitMethod::Mixture { SamplingRule::Anytime } else { SamplingRule::Fixed };
            let found =
                gambeson_smooth::limit::lower_limit(rule, tally(k, n), method, alpha(1e-3)).expect("fits");
            for levels in [1, 2, 101, 4001] {
                let ample = LimitCandidate::Success(0.5 * found.value());
                let wrong = LimitCandidate::Success(1.02 * found.value());
                assert!(levels < 100 || trial.prove(ample, levels).is_some(), "{k} of {n}, {levels}");
                assert_eq!(trial.prove(wrong, levels), None, "{k} of {n}, {levels}");
            }
            for number in [0.0, -0.5, 1e-280, 1.0, 2.0, f64::NAN] {
                assert_eq!(trial.prove(LimitCandidate::Success(number), 101), None, "{number}");
                assert_eq!(trial.prove(LimitCandidate::Failure(number), 101), None, "{number}");
            }
        }
    }
    // Beyond k/(n + 1) the mixture's inequality at p says nothing about smaller p, and it holds again near one.
    let trial = trial(5, 1000, LimitMethod::Mixture);
    let beyond = LimitCandidate::Success(0.5);
    assert!(trial.attempt(beyond, 4001).excess <= 0.0 || trial.attempt(beyond, 4001).excess == f64::INFINITY);
    assert_eq!(trial.prove(beyond, 4001), None);
    assert!(
        LimitTrial::new(SamplingRule::Fixed, tally(0, 9), LimitMethod::ClopperPearson, alpha(0.1))
            .expect("fits")
            .is_none()
    );
}

#[test]
fn quantiles_are_proven_on_their_side() {
    // Φ⁻¹(0.975) = 1.959963985 (Wikipedia), by the series; Φ⁻¹(0.999) = 3.090232306, by the fraction.
    for (p, x) in [(0.975, 1.959_963_985), (0.999, 3.090_232_306), (0.7, 0.524_400_513)] {
        let (low, high) = (x - 1e-8, x + 1e-8);
        let below = QuantileTrial::new(p, Side::Below);
        assert!(below.prove(low).is_some_and(|proven| proven.value() == low) && below.prove(high).is_none());
        let above = QuantileTrial::new(p, Side::Above);
        assert!(above.prove(high).is_some_and(|proven| proven.value() == high) && above.prove(low).is_none());
        for y in [-1.0, f64::NAN, f64::NEG_INFINITY] {
            assert!(below.prove(y).is_none() && above.prove(y).is_none(), "{y}");
        }
        assert!(below.prove(0.0).is_some() && above.prove(0.0).is_none(), "Q(0) = 1/2");
        assert!(above.prove(f64::INFINITY).is_some() && below.prove(f64::INFINITY).is_none(), "Q(∞) = 0");
    }
    let impossible = QuantileTrial::new(0.0, Side::Below);
    assert!(impossible.tail().is_none() && impossible.prove(38.0).is_none());
    assert_eq!(impossible.prove(f64::INFINITY).map(NormalQuantile::value), Some(f64::NEG_INFINITY));
}

/// Candidates for one question are tried against that question, wherever they come from.
#[test]
fn candidates_of_one_question_prove_no_radius_of_another() {
    let question = |count, sides| RadiusQuestion {
        counts: ClassCounts::new(count, 1000 - count, 1000).expect("counts"),
        rule: SamplingRule::Fixed,
        method: LimitMethod::ClopperPearson,
        sides,
        failure: alpha(1e-3),
        noise: NoiseLevel::new(1.0).expect("positive"),
    };
    let prove = |count, sides, class, runner_up| {
        RadiusTrial::new(&question(count, sides)).expect("fits").prove(&RadiusCandidates { class, runner_up })
    };
    let proposed = |limit, quantile| Some(ProposedLimit { limit, levels: 201, quantile });
    // Of 990: 0.97 is proven at α, and Φ(1.8) = 0.964. Of 700 only 0.65 is.
    let high = proposed(LimitCandidate::Failure(0.03), Some(1.8));
    assert!(prove(990, Sides::One, high, None).radius().is_some());
    let other = prove(700, Sides::One, high, None);
    assert_eq!((other.lower(), other.radius()), (LowerLimit::TRIVIAL, None));
    let unproven = proposed(LimitCandidate::Failure(0.03), Some(1.9));
    assert!(prove(990, Sides::One, unproven, None).lower().value() > 0.9);
    assert_eq!(prove(990, Sides::One, unproven, None).radius(), None, "Φ(1.9) = 0.9713");
    // A limit that holds at α and not at half of it.
    let single = lower(990, 1000, 1e-3).complement();
    let tight = proposed(LimitCandidate::Failure(single * (1.0 + 1e-9)), Some(1.8));
    assert!(prove(990, Sides::One, tight, None).radius().is_some());
    assert_eq!(prove(990, Sides::Two, tight, tight).radius(), None, "each is asked for at half of alpha");
    // Both limits are proposed for the same draws here: not of the class, and not of the runner-up.
    let both = prove(990, Sides::Two, high, high);
    assert!(both.radius().is_some_and(|radius| (1.79..=1.8).contains(&radius.value())), "{both:?}");
    assert!(both.upper().is_some_and(|upper| upper.value() == 0.03), "{both:?}");
    // Without one of them, nothing but what the other says: p_B ≤ 1 − p_A.
    assert!(prove(990, Sides::Two, high, None).upper().is_some_and(|upper| upper.value() == 1.0));
    assert_eq!(prove(990, Sides::Two, None, high).radius(), None);
    assert_eq!(prove(990, Sides::One, None, high).radius(), None);
}

/// |Uᵀx| ≤ Σ |u_i|: rows of one number have that as their value at a vertex, exactly.
#[test]
fn the_lengths_of_rows_bound_a_factor() {
    let rng = &mut generator(12);
    let column: Vec<f64> = normals(rng, 40);
    let bound = triangle_bound(&column, 40, 1, 2).expect("a factor").value();
    let vertex: Vec<f64> = column.iter().map(|u| if *u < 0.0 { -1.0 } else { 1.0 }).collect();
    let value =
        vertex_value(Quadratic::Gram { factor: &column, dim: 40, rank: 1 }, &vertex, 1).expect("a vertex");
    assert!(bound >= value.value() && bound <= value.value() * (1.0 + 1e-12), "{bound} for {value:?}");
    for (rows, rank) in [(30, 7), (8, 20)] {
        let factor = normals(rng, rows * rank);
        let matrix = Quadratic::Gram { factor: &factor, dim: rows, rank };
        let even = Certificate { domain: Domain::Cube, weights: vec![1.0; rows], shift: None };
        let by_weights = check(matrix, &even, 1).expect("a factor").value();
        let bound = triangle_bound(&factor, rows, rank, 1).expect("a factor").value();
        let length = |row: &[f64]| row.iter().map(|u| u * u).sum::<f64>().sqrt();
        let sum: f64 = factor.chunks(rank).map(length).sum();
        assert!(bound >= sum * sum && bound < sum * sum * (1.0 + 1e-12), "{bound}");
        assert!(bound > 0.5 * by_weights);
    }
    let least = f64::from_bits(1);
    let bound = triangle_bound(&[least, 1e-310], 1, 2, 1).expect("a factor").value();
    assert!(bound > 0.0 && bound < 1e-300);
    assert!(triangle_bound(&[1e200, 1.0], 2, 1, 1).is_err(), "beyond all numbers");
    assert!(triangle_bound(&[f64::NAN, 1.0], 2, 1, 1).is_err());
    assert!(triangle_bound(&[1.0, 1.0], 3, 1, 1).is_err());
}

/// A proof of a factor can be stopped.
#[test]
fn factors_are_stopped() {
    let factor = normals(&mut generator(13), 400 * 300);
    let even = Certificate { domain: Domain::Cube, weights: vec![1.0; 400], shift: None };
    let prepared = PreparedFactor::new(&factor, 400, 300, &even, 1).expect("a factor");
    let large = prepared.gram().entries().iter().fold(0.0_f64, |most, g| most.max(g.abs())) * 300.0;
    assert!(prepared.bound(large).is_ok());
    assert_eq!(prepared.stopped_by(&|| true).bound(large), Err(Rejected::Stopped));
}
