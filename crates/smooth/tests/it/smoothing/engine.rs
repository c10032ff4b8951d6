//! Draws and counts.

use super::{cumulative, params, upper_tail};
use gambeson_checker::FailureProbability;
use gambeson_smooth::classifier::{Classifier, NONE};
use gambeson_smooth::input_map::InputMap;
use gambeson_smooth::sequential::{Goal, RadiusNorm};
use gambeson_smooth::smoother::{Counts, Drawn, Smoother, SmoothingParams, SmoothingParamsError, predicted};
use gambeson_smooth::space::Space;
use gambeson_smooth::toys::{Ball, HalfSpace, ToyError};
use std::convert::Infallible;
use std::ops::ControlFlow;

/// n numbers that look random.
fn values(n: usize) -> Vec<f64> {
    (0..n).map(|i| ((i * 37 + 11) % 101) as f64 / 101.0).collect()
}

#[test]
fn counts_do_not_depend_on_batches_or_threads() {
    let n = 70;
    let toy = Ball::new(vec![0.5; n], 3.45).expect("a ball");
    let space = Space::identity(n);
    let input = values(n);
    let goal = Some(Goal { targets: vec![0.1], tolerance: Some(0.01), norm: RadiusNorm::Linf });
    for goal in [None, goal] {
        let certify = |batch, threads| {
            let params = SmoothingParams { batch, goal: goal.clone(), ..params(0.3, 3000, 0.01) };
            let smoother = Smoother::new(&toy, space.clone(), params).expect("it fits");
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            pool.install(|| smoother.certify(5, &input, &mut ())).expect("drawn").expect("not stopped")
        };
        let first = certify(64, 1);
        let counts = &first.estimation;
        assert!(counts.of(0) > 20 && counts.of(1) > 20, "both happen: {counts:?}");
        for (batch, threads) in [(1, 1), (7, 2), (64, 2), (3000, 2), (100_000, 3)] {
            assert_eq!(certify(batch, threads), first, "batch {batch}, {threads} threads");
        }
    }
}

#[test]
fn frequencies_and_radii_are_those_of_the_closed_form() {
    let (n, sigma) = (30, 0.5);
    let normal: Vec<f64> = values(n).iter().map(|x| x - 0.4).collect();
    let length = normal.iter().map(|w| w * w).sum::<f64>().sqrt();
    let input = values(n);
    let product: f64 = normal.iter().zip(&input).map(|(w, x)| w * x).sum();
    let offset = product - 0.6 * length; // so that the distance is .6
    let toy = HalfSpace::new(normal, offset).expect("a half-space");
    let space = Space::identity(n);
    let smoother = Smoother::new(&toy, space.clone(), params(sigma, 40_000, 0.001)).expect("it fits");
    let found = smoother.certify(0, &input, &mut ()).expect("drawn").expect("not stopped");
    let p = cumulative(0.6 / sigma);
    let deviation = (40_000.0 * p * (1.0 - p)).sqrt();
    let off = found.estimation.of(1) as f64 - 40_000.0 * p;
    assert!(off.abs() < 5.0 * deviation, "{off} with deviation {deviation}");
    let certified = found.certified.expect("far from a half");
    assert!(certified.class == 1 && found.errors.sum() < 1e-9, "{found:?}");
    assert!((0.58..0.6).contains(&certified.l2.value()), "{certified:?}");
    let linf = certified.l2.value() / (n as f64).sqrt();
    assert!(certified.linf.value() <= linf && certified.linf.value() > linf * (1.0 - 1e-12));
    // The estimation draws say nothing of the selection draws: the first ten of each differ somewhere.
    let few = Smoother::new(&toy, space.clone(), params(sigma, 10, 0.001)).expect("it fits");
    let differ = (0..100).any(|index| {
        let found = few.certify(index, &input, &mut ()).expect("drawn").expect("not stopped");
        found.selection != found.estimation
    });
    assert!(differ);
}

/// Answers the class given, or nothing where the first number is negative.
struct Odd {
    class: u32,
}

impl Classifier for Odd {
    type Error = Infallible;

    fn classes(&self) -> usize {
        3
    }

    fn dim(&self) -> usize {
        1
    }

    fn input_map(&self) -> Option<&InputMap> {
        None
    }

    fn classify(&self, batch: &[f32], _: usize, out: &mut [u32]) -> Result<(), Infallible> {
        out.iter_mut().zip(batch).for_each(|(out, x)| *out = if *x < 0.0 { NONE } else { self.class });
        Ok(())
    }
}

#[test]
fn an_answer_that_is_none_counts_against_all() {
    let space = Space::identity(1);
    let certify = |at: f64| {
        let smoother =
            Smoother::new(&Odd { class: 2 }, space.clone(), params(1.0, 2000, 0.001)).expect("it fits");
        let predicted = smoother.predict(0, &[at], &mut ()).expect("drawn").expect("not stopped");
        (smoother.certify(0, &[at], &mut ()).expect("drawn").expect("not stopped"), predicted)
    };
    let (mostly, predicted) = certify(1.5);
    assert!(mostly.estimation.none > 50 && mostly.estimation.draws() == 2000, "{mostly:?}");
    assert_eq!(mostly.certified.map(|found| found.class), Some(2));
    assert!(mostly.certified.is_some_and(|found| found.latent.value() < 1.5));
    assert_eq!(predicted.class, Some(2));
    let (seldom, predicted) = certify(-1.5);
    assert!(seldom.certified.is_none() && predicted.class.is_none(), "{seldom:?}");
    assert!(seldom.selection.none > 5 && seldom.selection.most().is_none());
    let (even, predicted) = certify(0.0);
    assert!(even.certified.is_none() && predicted.class.is_none(), "{even:?}");
    let counts = |classes: &[u64], none| Counts { classes: classes.to_vec(), none, undecided: 0 };
    assert_eq!(counts(&[3, 5, 5], 5).most(), Some(1), "the lowest of equals");
    assert_eq!(counts(&[3, 5, 5], 6).most(), None);
    assert_eq!(counts(&[0, 0], 0).most(), None);
    assert_eq!(counts(&[3, 5, 4], 1).draws_by_class().runner_up(1), 4);
    assert_eq!(counts(&[3, 5, 4], 6).draws_by_class().runner_up(1), 6);
}

#[test]
fn prediction_is_the_binomial_test_of_the_box() {
    let alpha = FailureProbability::new(0.01).expect("a probability");
    for n in [1_u64, 7, 8, 20, 31] {
        for first in n.div_ceil(2)..=n {
            let counts = Counts { classes: vec![n - first, first, 0], none: 0, undecided: 0 };
            let answer = predicted(&counts, alpha).expect("a test");
            // p-value of the two-sided test against ½: twice the tail, as the distribution is symmetric.
            let significant = 2.0 * upper_tail(n, 0.5, first) <= 0.01;
            assert_eq!(answer.is_some(), significant, "{first} of {n}");
            assert!(answer.is_none_or(|class| class == 1));
        }
    }
    let counts = Counts { classes: vec![0, 30], none: 31, undecided: 0 };
    assert_eq!(predicted(&counts, alpha), Ok(None));
    // Undecided draws are the second's, whichever that is: 8 of 8 are enough, with one undecided they are not.
    let undecided = |undecided| Counts { classes: vec![0, 8, 0], none: 0, undecided };
    assert_eq!(predicted(&undecided(0), alpha), Ok(Some(1)));
    assert_eq!(predicted(&undecided(1), alpha), Ok(None));
    assert_eq!((undecided(2).draws_by_class().runner_up(1), undecided(2).draws()), (2, 10));
}

#[test]
fn an_observer_ends_a_run() {
    let toy = HalfSpace::new(vec![1.0], 0.0).expect("a half-space");
    let space = Space::identity(1);
    let params = SmoothingParams { batch: 10, ..params(1.0, 10_000, 0.01) };
    let smoother = Smoother::new(&toy, space.clone(), params).expect("it fits");
    let mut seen = 0;
    let mut stop = |drawn: &Drawn| {
        seen += drawn.draws;
        if seen >= 500 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    assert!(smoother.certify(0, &[1.0], &mut stop).expect("drawn").is_none());
    assert!(smoother.predict(0, &[1.0], &mut stop).expect("drawn").is_none());
    assert!(seen < 5000, "it ends soon");
}

#[test]
fn bad_parameters_are_refused() {
    let toy = HalfSpace::new(vec![1.0, 0.0], 0.0).expect("a half-space");
    let (right, wrong) = (Space::identity(2), Space::identity(3));
    let good = params(1.0, 10, 0.1);
    let refused = |space: &Space, params| Smoother::new(&toy, space.clone(), params).err().expect("refused");
    let zero = |params| matches!(refused(&right, params), SmoothingParamsError::Zero { .. });
    assert!(zero(SmoothingParams { selection: 0, ..good.clone() }));
    assert!(zero(SmoothingParams { estimation: 0, ..good.clone() }));
    assert!(zero(SmoothingParams { batch: 0, ..good.clone() }));
    let dimension = refused(&wrong, good.clone());
    assert_eq!(dimension, SmoothingParamsError::Dimension { classifier: 2, space: 3 });
    let goal = |targets: &[f64], tolerance| {
        let goal = Goal { targets: targets.to_vec(), tolerance, norm: RadiusNorm::L2 };
        refused(&right, SmoothingParams { goal: Some(goal), ..good.clone() })
    };
    assert_eq!(goal(&[], None), SmoothingParamsError::NoGoal);
    for bad in [-0.1, f64::NAN, f64::INFINITY] {
        assert!(matches!(goal(&[0.1, bad], None), SmoothingParamsError::Goal { what: "target radius", .. }));
        assert!(matches!(goal(&[], Some(bad)), SmoothingParamsError::Goal { what: "tolerance", .. }));
    }
    let huge = refused(&right, SmoothingParams { estimation: 1 << 50, ..good });
    assert!(matches!(huge, SmoothingParamsError::Statistics(_)));
    assert_eq!(HalfSpace::new(vec![0.0; 3], 1.0), Err(ToyError::NoNormal));
    assert_eq!(HalfSpace::new(Vec::new(), 1.0), Err(ToyError::NoNormal));
    assert!(HalfSpace::new(vec![f64::NAN], 1.0).is_err() && HalfSpace::new(vec![1.0], f64::NAN).is_err());
    assert_eq!(Ball::new(vec![0.0], 0.0), Err(ToyError::NoBall { radius: 0.0 }));
    assert!(Ball::new(Vec::new(), 1.0).is_err() && Ball::new(vec![1.0], f64::INFINITY).is_err());
}
