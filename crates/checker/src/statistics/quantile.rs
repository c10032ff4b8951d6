//! Quantiles of the standard normal distribution, proven on the side asked for.
//!
//! # Problem
//! For p in (0, 1): the largest x found with Φ(x) ≤ p, and the least with Φ(x) ≥ p. Since Φ⁻¹(p) = −Φ⁻¹(1 − p), and
//! 1 − p is exact for p ≥ ½, everything is reduced to q in (0, ½] and y ≥ 0 with Q(y) = 1 − Φ(y) = q.
//!
//! # Guarantee
//! y is looked for by Newton's method and believed only when an inequality between logarithms, with every rounding
//! directed, proves Q(y) ≤ q or Q(y) ≥ q; until then y moves outward. Looseness: a few units in the last place.
//! * **q < 0.04, so y > 1.75:** let J_m = ∫_y^∞ (t − y)^m/m!·φ(t) dt > 0, J₋₁ = φ(y), J₀ = Q(y). Integration by parts gives
//!   J_{m−1} = y·J_m + (m + 1)·J_{m+1}, so K_m = J_{m−2}/J_{m−1} satisfies K_m = y + m/K_{m+1}, and Q = φ/K₁.
//!   As K > y, putting y for K_M bounds K_M from below, K_{M−1} from above, and so on in turn down to K₁ (Laplace's
//!   continued fraction); all terms are positive and each rounding is directed.
//! * **q ≥ 0.04:** Φ(y) − ½ = φ(y)·S(y) with S = y + y³/3 + y⁵/15 + …, summed from the end, each rounding directed.
//!
//! φ needs no exponential: ln φ(y) = −y²/2 − ½·ln 2π is compared with logarithms (`special.rs`).

use crate::rounding::{add_up, environment_is_ieee, lowered, power_of_two, raised};
use crate::statistics::double::Double;
use crate::statistics::special::{HALF_LN_TWO_PI, LN_ERROR, exp, ln};

/// Tails below this one, Q(1.7507), belong to the continued fraction, others to the series.
const JOIN: f64 = 0.04;

/// Which way a number may be off.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Below,
    Above,
}

impl Side {
    fn other(self) -> Self {
        match self {
            Side::Below => Side::Above,
            Side::Above => Side::Below,
        }
    }

    /// The neighbour on this side of a result rounded to nearest.
    fn round(self, nearest: f64) -> f64 {
        match self {
            Side::Below => nearest.next_down(),
            Side::Above => nearest.next_up(),
        }
    }
}

/// x with Φ(x) ≤ p, as large as could be proven; −∞ for p that is not above 0, and where nothing can be proven.
/// For p ≥ 1 it is the result for the largest p below 1.
pub fn normal_quantile_below(p: f64) -> f64 {
    if !(p > 0.0) || !environment_is_ieee() {
        return f64::NEG_INFINITY;
    }
    let p = p.min(1f64.next_down());
    if p <= 0.5 { -upper_quantile(p, Side::Above) } else { upper_quantile(1.0 - p, Side::Below) }
}

/// x with Φ(x) ≥ p, as small as could be proven; +∞ for p that is not below 1, and where nothing can be proven.
/// For p ≤ 0 it is the result for the least positive p.
pub fn normal_quantile_above(p: f64) -> f64 {
    if !(p < 1.0) || !environment_is_ieee() {
        return f64::INFINITY;
    }
    let p = p.max(f64::from_bits(1));
    if p <= 0.5 { -upper_quantile(p, Side::Below) } else { upper_quantile(1.0 - p, Side::Above) }
}

/// y ≥ 0 on the given side of the solution of Q(y) = q, for q in (0, ½].
fn upper_quantile(q: f64, side: Side) -> f64 {
    let centre = Double::sum(0.5, -q); // Φ(y) − ½
    if centre.hi <= 0.0 {
        return 0.0; // Q(0) = ½ exactly
    }
    let fraction = q < JOIN;
    let target = ln(if fraction { q.into() } else { centre });
    // Positive where y is still on the wrong side of the solution, as far as could be proven; and the inverse of
    // the derivative of the logarithm.
    let excess = |y: f64| if fraction { by_fraction(y, target, side) } else { by_series(y, target, side) };
    let mut y = if fraction { rough(q) } else { rough_centre(centre.hi) };
    for _ in 0..40 {
        let (excess, inverse) = excess(y);
        let step = match (fraction, side) {
            (true, Side::Above) | (false, Side::Below) => excess,
            _ => -excess,
        } * inverse;
        // ln Q is concave in y, ln(Φ − ½) in ln y: the steps of either cannot diverge.
        let next = if fraction { (y + step).max(1.0) } else { y * exp((-step / y).clamp(-2.0, 2.0)) };
        // The steps square the error: after this one it is below what can be told apart.
        let settled = (next - y).abs() <= 3e-9 * y;
        y = next;
        if settled {
            break;
        }
    }
    for moved in std::iter::once(0).chain((0..60).map(|doubling| 1_u64 << doubling)) {
        let candidate = match side {
            Side::Above => f64::from_bits(y.to_bits() + moved),
            Side::Below if moved >= y.to_bits() => return 0.0,
            Side::Below => f64::from_bits(y.to_bits() - moved),
        };
        if excess(candidate).0 <= 0.0 {
            return candidate;
        }
    }
    match side {
        Side::Below => 0.0,
        Side::Above => f64::INFINITY,
    }
}

/// ln φ(y) + ln(factor) − target, rounded up, or its negative, rounded up. y²/2 and the sum are in double-double.
fn compare(y: f64, factor: f64, target: Double, negate: bool) -> f64 {
    let exponent = Double::product(y, y).scaled(-0.5) - HALF_LN_TWO_PI;
    let factor = ln(factor.into());
    let difference = exponent + factor - target;
    let error = 2.0 * LN_ERROR * (exponent.hi.abs() + factor.hi.abs() + target.hi.abs());
    add_up(if negate { -difference.lower() } else { difference.upper() }, error)
}

/// For [`Side::Above`], a bound on ln Q(y) − target, else on target − ln Q(y); and Q/φ.
fn by_fraction(y: f64, target: Double, side: Side) -> (f64, f64) {
    let ratio = mills(y, side);
    if !(ratio > 0.0 && y < 100.0) {
        return (f64::INFINITY, 1.0); // no p is so small
    }
    (compare(y, ratio, target, side == Side::Below), ratio)
}

/// For [`Side::Above`], a bound on target − ln(Φ(y) − ½), else on ln(Φ(y) − ½) − target; and (Φ − ½)/φ.
fn by_series(y: f64, target: Double, side: Side) -> (f64, f64) {
    if y > 2.5 {
        return (f64::INFINITY, 1.0); // the series is cut for y ≤ 5/2
    }
    let ratio = series(y, side.other());
    (compare(y, ratio, target, side == Side::Above), ratio)
}

/// Q(y)/φ(y) = 1/K₁, on the side asked for, y ≥ 1.
fn mills(y: f64, side: Side) -> f64 {
    // M levels leave about e^(−2y√M).
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // at most 392
    let levels = (12.0 + 380.0 / (y * y)) as u32;
    // An upper bound on 1/K₁ needs a lower one on K₁, an upper one on K₂, and so on; the innermost is K > y.
    let levels = levels + u32::from((levels % 2 == 1) != (side == Side::Above));
    let (mut above, mut below) = (y, 1.0); // K = above/below, so that nothing is divided on the way
    let mut upwards = false;
    for m in (1..levels).rev() {
        upwards = !upwards;
        let sum = y * above + f64::from(m) * below;
        (above, below) = (if upwards { raised(sum, 2) } else { lowered(sum, 2) }, above);
        if above > 1e150 {
            let down = power_of_two(-490);
            (above, below) = (above * down, below * down);
        }
    }
    side.round(below / above)
}

/// (Φ(y) − ½)/φ(y) = S(y) on the side asked for, 0 ≤ y ≤ 5/2.
fn series(y: f64, side: Side) -> f64 {
    const LEVELS: u32 = 30;
    let square = side.round(y * y).max(0.0);
    // y²/61 + y⁴/(61·63) + … is below one, so the innermost sum is between 1 and 2.
    let innermost = if side == Side::Above { 2.0 } else { 1.0 };
    let sum = (1..=LEVELS).rev().fold(innermost, |sum, j| {
        let factor = side.round(square / f64::from(2 * j + 1)).max(0.0);
        side.round(1.0 + side.round(factor * sum).max(0.0))
    });
    side.round(y * sum).max(0.0)
}

/// An untrusted first guess at y for Q(y) = q < ½: Abramowitz and Stegun 26.2.23, good to 4.5·10⁻⁴.
pub(crate) fn rough(q: f64) -> f64 {
    let t = (-2.0 * ln(q.into()).hi).sqrt();
    let above = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let below = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    (t - above / below).max(0.0)
}

/// An untrusted first guess at y for Φ(y) − ½ = c.
fn rough_centre(c: f64) -> f64 {
    let linear = c * 2.506_628_274_631;
    if c < 0.1 { linear * (1.0 + linear * linear / 6.0) } else { rough(0.5 - c) }
}
