//! Normals to 200 bits from the words of a pair, in whole numbers: a judge that shares nothing with what it judges.
//!
//! Numbers are in units of 2⁻²²⁰; every function is off by some units only.

use num_bigint::BigInt;

/// Bits after the point.
const PLACES: u32 = 220;

fn one() -> BigInt {
    BigInt::from(1) << PLACES
}

fn times(a: &BigInt, b: &BigInt) -> BigInt {
    (a * b) >> PLACES
}

/// Σ x^{2j+1}/(2j+1), the series of artanh; with alternating signs that of arctan.
fn odd_series(x: &BigInt, alternating: bool) -> BigInt {
    let square = times(x, x);
    let (mut power, mut sum, mut j) = (x.clone(), BigInt::ZERO, 0_u32);
    while power != BigInt::ZERO && power != BigInt::from(-1) {
        let term = &power / (2 * j + 1);
        sum = if alternating && j % 2 == 1 { sum - term } else { sum + term };
        power = times(&power, &square);
        j += 1;
    }
    sum
}

/// ln 2 and π.
pub(super) struct Constants {
    ln_2: BigInt,
    pi: BigInt,
}

impl Constants {
    pub(super) fn new() -> Self {
        let over = |n: u32| one() / n;
        // Machin: π/4 = 4·arctan(1/5) − arctan(1/239).
        let pi = (odd_series(&over(5), true) * 4 - odd_series(&over(239), true)) * 4;
        Self { ln_2: odd_series(&over(3), false) * 2, pi }
    }

    /// −ln u for u in (0, 1).
    fn minus_ln(&self, u: &BigInt) -> BigInt {
        let k = u64::from(PLACES) + 1 - u.bits(); // u·2ᵏ in [½, 1)·2
        let m = u << k; // in [1, 2)
        let w = ((&m - one()) << PLACES) / (&m + one());
        &self.ln_2 * k - odd_series(&w, false) * 2
    }

    /// Cosine and sine of an angle in [0, π/2].
    fn cos_sin(angle: &BigInt) -> (BigInt, BigInt) {
        let square = times(angle, angle);
        let series = |first: BigInt, start: u32| {
            let (mut term, mut sum, mut j) = (first, BigInt::ZERO, start);
            while term != BigInt::ZERO && term != BigInt::from(-1) {
                sum += &term;
                term = -(times(&term, &square) / (j * (j + 1)));
                j += 2;
            }
            sum
        };
        (series(one(), 1), series(angle.clone(), 2))
    }

    /// The pair of normals of the words a and b with 64 more bits each, in the middle of that cell, times 2²²⁰.
    pub(super) fn normals(&self, a: u32, b: u32, radius: u64, angle: u64) -> [BigInt; 2] {
        let half = (BigInt::from(1) << (PLACES - 95), BigInt::from(1) << (PLACES - 1 - 64));
        let u = ((BigInt::from(a >> 2) << 64 | BigInt::from(radius)) << (PLACES - 94)) + half.0;
        let rho = ((self.minus_ln(&u) * 2_u32) << PLACES).sqrt();
        let low = i64::from(b & 0x3fff_ffff);
        let place = if low >= 1 << 29 { low - (1 << 30) } else { low };
        // In units of 2⁻²⁹ of an eighth of a turn, from the first: τ + 2²⁹ over 2³⁰ of a quarter turn.
        let turn =
            ((BigInt::from(place + (1 << 29)) << PLACES) + (BigInt::from(angle) << (PLACES - 64)) + half.1)
                >> 30;
        let (cosine, sine) = Self::cos_sin(&(times(&turn, &self.pi) / 2));
        let signed = |x: BigInt, negative: bool| if negative { -x } else { x };
        [signed(times(&rho, &cosine), b >> 31 == 1), signed(times(&rho, &sine), b >> 30 & 1 == 1)]
    }

    /// The whole number nearest to s·N + φ, and how far that is from the edge of the cell, in cells.
    pub(super) fn cell(normal: &BigInt, cells: f32, fraction: f32) -> (i64, f64) {
        // Both have at most 40 places after the point.
        #[allow(clippy::cast_possible_truncation)]
        let exact = |x: f32| BigInt::from((f64::from(x) * 2_f64.powi(40)) as i64) << (PLACES - 40);
        let t = times(normal, &exact(cells)) + exact(fraction);
        let half = one() >> 1;
        let k: BigInt = (&t + &half) >> PLACES;
        let offset = &t - (&k << PLACES);
        let edge = &half - if offset < BigInt::ZERO { -offset } else { offset };
        let small = i64::try_from(edge >> (PLACES - 60)).unwrap_or(0);
        (i64::try_from(k).unwrap_or(0), small as f64 / 2_f64.powi(60))
    }
}

#[test]
fn the_judge_knows_a_few_numbers() {
    let judge = Constants::new();
    #[allow(clippy::cast_precision_loss)]
    let number = |x: &BigInt| i128::try_from(x >> (PLACES - 100)).expect("small") as f64 / 2_f64.powi(100);
    assert_eq!((number(&judge.ln_2), number(&judge.pi)), (std::f64::consts::LN_2, std::f64::consts::PI));
    // Middle of everything: u = ½ + 2⁻⁹⁵ and the angle π/4.
    let [x, y] = judge.normals(1 << 31, 0, 0, 0);
    let expected = std::f64::consts::LN_2.sqrt();
    assert!((number(&x) - expected).abs() < 1e-15 && (number(&y) - expected).abs() < 1e-15);
    // The first angle: θ = 0 to 2⁻⁹⁵ of a quarter turn, and signs.
    let [x, y] = judge.normals(1 << 31, 0xe000_0000, 0, 0);
    assert!((number(&x) + (2.0 * std::f64::consts::LN_2).sqrt()).abs() < 1e-15 && number(&y).abs() < 1e-20);
    assert!(y < BigInt::ZERO);
    assert_eq!(Constants::cell(&(one() * 3 / 2), 2.0, 0.25).0, 3);
}
