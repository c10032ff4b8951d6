//! Class and radii that counts prove, against their definitions.

use super::{projected, record, run};
use gambeson_checker::FailureProbability;
use gambeson_smooth::record::{Derived, LimitChoice, Record, Rule, Run};

/// Φ by Simpson's rule, which errs by less than 1e-12 here.
fn normal_share(x: f64) -> f64 {
    let steps = 20_000;
    let h = x / f64::from(steps);
    let density = |t: f64| (-t * t / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let step = |at: i32| {
        let t = f64::from(at) * h;
        h / 6.0 * (density(t) + 4.0 * density(t + h / 2.0) + density(t + h))
    };
    0.5 + (0..steps).map(step).sum::<f64>()
}

#[test]
fn radii_are_those_of_the_definition() {
    // All draws of one class: the limit is α^(1/n) in closed form, and Φ(r/σ) must be just that.
    let proven = record(0, run(), [1, 9, 0], [0, 1000, 0]).derived;
    assert_eq!(proven.class, Some(1));
    let (latent, l2, linf) =
        (proven.latent.expect("a radius"), proven.l2.expect("one"), proven.linf.expect("one"));
    let limit = 0.001_f64.powf(1.0 / 1000.0);
    assert!((normal_share(latent / 0.25) - limit).abs() < 1e-11);
    assert_eq!(latent, l2);
    assert!(linf <= l2 / 3072_f64.sqrt() && linf > l2 / 3072_f64.sqrt() * (1.0 - 1e-15));

    // Through a projection, and with an encoding error.
    let mut through = record(0, projected(14.2, 1.5), [1, 9, 0], [0, 1000, 0]);
    through.encoding_error = 0.125;
    let through = through.with_derived().expect("valid").derived;
    let less = through.latent.expect("a radius");
    assert!((less - (latent - 0.125)).abs() < 1e-15);
    assert!((through.l2.expect("one") * 1.5 - less).abs() < 1e-15);
    assert!((through.linf.expect("one") * 14.2 - less).abs() < 1e-15);
    let mut lost = record(0, run(), [1, 9, 0], [0, 1000, 0]);
    lost.encoding_error = 2.0;
    assert_eq!(lost.with_derived().expect("valid").derived, Derived::default());
}

#[test]
fn draws_without_a_class_count_against_all() {
    let mut with = record(0, run(), [1, 9, 0], [0, 990, 10]);
    let without = with.derived;
    (with.estimation[2], with.estimation_none) = (0, 10);
    assert_eq!(with.validate(), Ok(()));
    assert_eq!(with.clone().with_derived().expect("valid").derived, without);
    (with.selection, with.selection_none) = (vec![1, 4, 0], 5);
    assert_eq!((with.validate(), with.selected()), (Ok(()), None));
    assert_eq!(with.with_derived().expect("valid").derived, Derived::default());
    // Of equals the lowest, as numpy's argmax has it.
    assert_eq!(record(0, run(), [5, 5, 0], [0, 1000, 0]).selected(), Some(0));
}

#[test]
fn limits_fit_their_rule() {
    let alpha = FailureProbability::new(0.001).expect("a probability");
    let radius = |record: &Record, how| record.derive(alpha, how).map(|proven| proven.derived.latent);
    let fixed = record(0, run(), [1, 9, 0], [50, 900, 50]);
    let natural = radius(&fixed, LimitChoice::Natural).expect("valid").expect("certified");
    let mixture = radius(&fixed, LimitChoice::Mixture).expect("valid").expect("certified");
    let two_sided = radius(&fixed, LimitChoice::TwoSided).expect("valid").expect("certified");
    assert!(mixture < natural, "freedom to stop has its price: {mixture} {natural}");
    assert!(two_sided > natural, "two classes share the rest: {two_sided} {natural}");
    // With half of α a side: −Φ⁻¹ of the upper limit on 50 of 1000 is Φ⁻¹ of the lower limit on the other 950.
    let half = FailureProbability::new(0.0005).expect("a probability");
    let at_half = |record: &Record| {
        record.derive(half, LimitChoice::Natural).expect("valid").derived.latent.expect("certified")
    };
    let others = record(0, run(), [1, 9, 0], [25, 950, 25]);
    let expected = f64::midpoint(at_half(&fixed), at_half(&others));
    assert!((two_sided - expected).abs() < 1e-13, "{two_sided} {expected}");
    let last = Rule::MixtureAndLast { last: 1000 };
    let sequential = record(0, Run { rule: last, ..run() }, [1, 9, 0], [50, 900, 50]);
    let spent = radius(&sequential, LimitChoice::Natural).expect("valid").expect("certified");
    assert!(spent < natural);
    // Half of α is what the last look has: the fixed limit at half of α.
    assert_eq!(spent, at_half(&fixed));
    let anytime = record(0, Run { rule: Rule::Anytime, ..run() }, [1, 9, 0], [50, 900, 50]);
    assert_eq!(radius(&anytime, LimitChoice::Natural).expect("valid"), Some(mixture));
}
