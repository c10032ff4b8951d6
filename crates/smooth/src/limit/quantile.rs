//! The search for quantiles of the standard normal distribution.
//!
//! **Problem.** Find y ≥ 0 close to the solution of Q(y) = 1 − Φ(y) = q, on the side that a [`QuantileTrial`] asks for.
//!
//! **Method.** A first guess (Abramowitz and Stegun 26.2.23), then Newton's method on ln Q, which is concave in y, or on
//! ln(Φ − ½), concave in ln y. The number found is put to the checker; while that is refused, it moves outward, by
//! 1, 2, 4, … units in the last place.
//!
//! **Guarantee.** What is returned was proven by the checker. The same bits on every machine.

use gambeson_checker::{NormalQuantile, QuantileTrial, Side, exponential, logarithm};

/// x with Φ(x) ≤ p, as large as could be proven; −∞ for p that is not above 0, and where nothing can be proven.
/// For p ≥ 1 it is the result for the largest p below 1.
pub fn normal_quantile_below(p: f64) -> f64 {
    search(&QuantileTrial::new(p, Side::Below)).value()
}

/// x with Φ(x) ≥ p, as small as could be proven; +∞ for p that is not below 1, and where nothing can be proven.
/// For p ≤ 0 it is the result for the least positive p.
pub fn normal_quantile_above(p: f64) -> f64 {
    search(&QuantileTrial::new(p, Side::Above)).value()
}

/// The sharpest quantile found.
pub(crate) fn search(trial: &QuantileTrial) -> NormalQuantile {
    let proposals = trial.tail().into_iter().flat_map(|q| {
        let y = if q < 0.5 { approach(trial, q) } else { 0.0 };
        let units = std::iter::once(0).chain((0..60).map(|doubling| 1_u64 << doubling));
        units.map(move |units| {
            f64::from_bits(match trial.side() {
                Side::Above => y.to_bits() + units,
                Side::Below => y.to_bits().saturating_sub(units),
            })
        })
    });
    // What needs no proof comes last.
    let trivial = match trial.side() {
        Side::Above => f64::INFINITY,
        Side::Below => 0.0,
    };
    let mut candidates = proposals.chain([trivial]);
    candidates.find_map(|y| trial.prove(y)).expect("infinity and zero are always proven on their sides")
}

/// The solution of Q(y) = q, as far as it can be told.
fn approach(trial: &QuantileTrial, q: f64) -> f64 {
    let fraction = trial.is_by_fraction();
    let mut y = if fraction { first_guess(q) } else { first_guess_at_centre(0.5 - q) };
    for _ in 0..40 {
        let (excess, inverse) = trial.excess(y);
        let step = match (fraction, trial.side()) {
            (true, Side::Above) | (false, Side::Below) => excess,
            _ => -excess,
        } * inverse;
        // The steps cannot diverge where the logarithm is concave.
        let next = if fraction { (y + step).max(1.0) } else { y * exponential((-step / y).clamp(-2.0, 2.0)) };
        // The steps square the error: after this one it is below what can be told apart.
        let settled = (next - y).abs() <= 3e-9 * y;
        y = next;
        if settled {
            break;
        }
    }
    y
}

/// A first guess at y for Q(y) = q < ½: Abramowitz and Stegun 26.2.23, good to 4.5·10⁻⁴.
pub(crate) fn first_guess(q: f64) -> f64 {
    let t = (-2.0 * logarithm(q)).sqrt();
    let above = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let below = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    (t - above / below).max(0.0)
}

/// A first guess at y for Φ(y) − ½ = c.
fn first_guess_at_centre(c: f64) -> f64 {
    let linear = c * 2.506_628_274_631;
    if c < 0.1 { linear * (1.0 + linear * linear / 6.0) } else { first_guess(0.5 - c) }
}
