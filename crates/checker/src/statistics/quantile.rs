//! Quantiles of the standard normal distribution, proven on the side asked for.
//!
//! # Problem
//! For p in (0, 1): prove Φ(x) ≤ p, or Φ(x) ≥ p, for a candidate x that a search found elsewhere. Since
//! Φ⁻¹(p) = −Φ⁻¹(1 − p), and 1 − p is exact for p ≥ ½, everything is reduced to q in (0, ½] and y ≥ 0 with
//! Q(y) = 1 − Φ(y) = q.
//!
//! # Guarantee
//! y is believed only when an inequality between logarithms, with every rounding directed, proves Q(y) ≤ q or Q(y) ≥ q.
//! It is sharp enough for candidates within a few units in the last place.
//! * **q < 0.04, so y > 1.75:** let J_m = ∫_y^∞ (t − y)^m/m!·φ(t) dt > 0, J₋₁ = φ(y), J₀ = Q(y). Integration by parts gives
//!   J_{m−1} = y·J_m + (m + 1)·J_{m+1}, so K_m = J_{m−2}/J_{m−1} satisfies K_m = y + m/K_{m+1}, and Q = φ/K₁.
//!   As K > y, putting y for K_M bounds K_M from below, K_{M−1} from above, and so on in turn down to K₁ (Laplace's
//!   continued fraction); all terms are positive and each rounding is directed.
//! * **q ≥ 0.04:** Φ(y) − ½ = φ(y)·S(y) with S = y + y³/3 + y⁵/15 + …, summed from the end, each rounding directed.
//!
//! φ needs no exponential: ln φ(y) = −y²/2 − ½·ln 2π is compared with logarithms (`special.rs`).

use crate::rounding::{
    CheckedThread, above, add_up, below, environment_is_ieee, lowered, power_of_two, raised,
};
use crate::statistics::double::Double;
use crate::statistics::special::{HALF_LN_TWO_PI, LN_ERROR, ln};

/// Tails below this one, Q(1.7507), belong to the continued fraction, others to the series.
const JOIN: f64 = 0.04;

/// Which way a number may be off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// No greater than the true number.
    Below,
    /// No less than the true number.
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
            Side::Below => below(nearest),
            Side::Above => above(nearest),
        }
    }
}

/// What candidates for a bound on Φ⁻¹(p) are tried against: y ≥ 0 must be on one side of the solution of Q(y) = q, and
/// the bound is y or −y.
#[derive(Clone, Copy, Debug)]
pub struct QuantileTrial {
    p: f64,
    /// The side of Φ⁻¹(p) on which the bound is.
    wanted: Side,
    /// From 0 to ½; 0 where nothing but infinity is provable.
    q: f64,
    side: Side,
    negative: bool,
    /// ln q or ln(½ − q).
    target: Double,
    thread: CheckedThread,
}

/// Proven: a bound on Φ⁻¹(p), from the side that a [`QuantileTrial`] asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NormalQuantile {
    p: f64,
    wanted: Side,
    value: f64,
}

impl NormalQuantile {
    /// The bound.
    pub fn value(self) -> f64 {
        self.value
    }

    /// The bound, if it is one on Φ⁻¹(p) from this side.
    pub(crate) fn of(self, p: f64, wanted: Side) -> Option<f64> {
        (self.p == p && self.wanted == wanted).then_some(self.value)
    }
}

impl QuantileTrial {
    /// For x with Φ(x) ≤ p ([`Side::Below`]) or Φ(x) ≥ p ([`Side::Above`]).
    ///
    /// Below, only −∞ is provable for p that is not above 0, and p ≥ 1 counts as the largest number below 1; above, only
    /// ∞ for p that is not below 1, and p ≤ 0 counts as the least positive number.
    pub fn new(p: f64, wanted: Side) -> Self {
        let (possible, inside) = match wanted {
            Side::Below => (p > 0.0, p.min(below(1.0))),
            Side::Above => (p < 1.0, p.max(f64::from_bits(1))),
        };
        let (q, side, negative) = if !possible || !environment_is_ieee() {
            (0.0, Side::Above, wanted == Side::Below)
        } else if inside <= 0.5 {
            (inside, wanted.other(), true)
        } else {
            (1.0 - inside, wanted, false)
        };
        let target = ln(if q < JOIN { q.into() } else { Double::sum(0.5, -q) });
        Self { p, wanted, q, side, negative, target, thread: CheckedThread::default() }
    }

    /// q in (0, ½]; none where nothing but infinity is provable.
    pub fn tail(&self) -> Option<f64> {
        Some(self.q).filter(|&q| q > 0.0)
    }

    /// The side of the solution of Q(y) = q on which y must be.
    pub fn side(&self) -> Side {
        self.side
    }

    /// Whether Q(y) is compared with q by the continued fraction, as it is for small q, or Φ(y) − ½ with ½ − q by the
    /// series.
    pub fn is_by_fraction(&self) -> bool {
        self.q < JOIN
    }

    /// Positive where y is on the wrong side of the solution, as far as could be proven: a bound on the difference of
    /// logarithms. And Q(y)/φ(y) or (Φ(y) − ½)/φ(y), whichever is compared: the inverse of their derivative.
    pub fn excess(&self, y: f64) -> (f64, f64) {
        match self.q {
            0.0 => (f64::INFINITY, 1.0),
            _ if self.is_by_fraction() => by_fraction(y, self.target, self.side),
            _ => by_series(y, self.target, self.side),
        }
    }

    /// The candidate y as a quantile, where it is proven. Q(0) = ½ ≥ q and Q(∞) = 0 ≤ q need no proof.
    pub fn prove(&self, y: f64) -> Option<NormalQuantile> {
        let exact = match self.side {
            Side::Below => y == 0.0,
            Side::Above => y == f64::INFINITY || (y == 0.0 && self.q == 0.5),
        };
        let value = if self.negative { -y } else { y };
        let proven = exact || self.excess(y).0 <= 0.0;
        proven.then_some(NormalQuantile { p: self.p, wanted: self.wanted, value })
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
    if !(1.0..100.0).contains(&y) {
        return (f64::INFINITY, 1.0); // q is below Q(1), and no p is so small as Q(100)
    }
    let ratio = mills(y, side);
    if !(ratio > 0.0) {
        return (f64::INFINITY, 1.0);
    }
    (compare(y, ratio, target, side == Side::Below), ratio)
}

/// For [`Side::Above`], a bound on target − ln(Φ(y) − ½), else on ln(Φ(y) − ½) − target; and (Φ − ½)/φ.
fn by_series(y: f64, target: Double, side: Side) -> (f64, f64) {
    if !(0.0..=2.5).contains(&y) {
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
