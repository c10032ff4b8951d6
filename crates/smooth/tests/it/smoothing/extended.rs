//! Runs that go on beyond their n: where the rule allows it.

use super::params;
use gambeson_smooth::sequential::{Goal, RadiusNorm};
use gambeson_smooth::smoother::{Smoother, SmoothingParams, SmoothingParamsError};
use gambeson_smooth::space::Space;
use gambeson_smooth::toys::HalfSpace;

/// A target that is neither met nor refuted soon, so that all draws are made.
fn goal() -> Goal {
    Goal { targets: vec![1.2], tolerance: None, norm: RadiusNorm::L2 }
}

#[test]
fn an_extended_run_has_the_draws_of_a_longer_one() {
    let toy = HalfSpace::new(vec![1.0], 0.0).expect("a half-space");
    let space = Space::identity(1);
    let run = |n, extended_from| {
        let params = SmoothingParams { goal: Some(goal()), extended_from, ..params(1.0, n, 0.01) };
        Smoother::new(&toy, space.clone(), params).expect("it fits")
    };
    let (short, more, long) = (run(500, None), run(2000, Some(500)), run(2000, None));
    for index in 0..20 {
        let certify = |smoother: &Smoother<&HalfSpace>| {
            smoother.certify(index, &[1.23], &mut ()).expect("drawn").expect("not stopped")
        };
        let (first, whole) = (certify(&short), certify(&long));
        let counts = (first.selection.clone(), first.estimation.clone());
        let second = more.extend(index, &[1.23], counts, &mut ()).expect("drawn").expect("not stopped");
        assert_eq!(second.selection, whole.selection);
        let drawn = second.estimation.draws();
        assert!(drawn >= first.estimation.draws() && drawn <= 2000);
        if drawn == whole.estimation.draws() {
            assert_eq!(second.estimation, whole.estimation);
        }
        // After 2000 draws the extended run has the limit of the mixture, the planned one that of the last look.
        if drawn == 2000 && whole.estimation.draws() == 2000 {
            let radius = |found: &gambeson_smooth::smoother::Certification| {
                found.certified.map_or(0.0, |certified| certified.l2.value())
            };
            assert!(radius(&second) < radius(&whole), "the last look is spent");
        }
    }
}

#[test]
fn a_fixed_run_is_not_extended() {
    let toy = HalfSpace::new(vec![1.0], 0.0).expect("a half-space");
    let space = Space::identity(1);
    for (goal, n) in [(None, 2000), (Some(goal()), 500), (Some(goal()), 400)] {
        let params = SmoothingParams { goal, extended_from: Some(500), ..params(1.0, n, 0.01) };
        let error = Smoother::new(&toy, space.clone(), params).err().expect("refused");
        assert_eq!(error, SmoothingParamsError::Extended { from: 500, to: n });
    }
}
