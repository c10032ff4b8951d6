//! Decimals as files have them: the nearest f64, and how far it is from what is written.

use gambeson_checker::rounding::add_up;

/// A number as written: `nearest + rest[0] + rest[1]`, up to `error`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Decimal {
    /// The nearest f64, finite.
    pub(super) nearest: f64,
    /// What it lacks, where that is known exactly.
    pub(super) rest: [f64; 2],
    /// A bound on what is lacking still.
    pub(super) error: f64,
}

/// Why a text is no decimal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotADecimal {
    NotANumber,
    /// NaN, infinite, or beyond the range of f64.
    NotFinite,
}

impl Decimal {
    /// A number that f64 holds.
    pub(super) fn exact(value: f64) -> Self {
        Self { nearest: value, rest: [0.0; 2], error: 0.0 }
    }

    /// Reads a decimal.
    ///
    /// Whole numbers and binary fractions of up to 37 digits are exact. Of all others the nearest f64 is taken, which is
    /// half a unit in the last place off at most.
    pub(super) fn parse(text: &str) -> Result<Self, NotADecimal> {
        let nearest = nearest(text)?;
        if !nearest.is_finite() {
            return Err(NotADecimal::NotFinite);
        }
        Ok(Self::of_fraction(text).unwrap_or_else(|| Self {
            nearest,
            rest: [0.0; 2],
            error: half_unit(nearest),
        }))
    }

    /// Exactly, where the text is a whole number over a power of two within range.
    fn of_fraction(text: &str) -> Option<Self> {
        let (negative, digits) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let (digits, exponent) = digits.split_once(['e', 'E']).unwrap_or((digits, "0"));
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let mut number: i128 = 0;
        for byte in whole.bytes().chain(fraction.bytes()) {
            number = number.checked_mul(10)?.checked_add(i128::from(byte.checked_sub(b'0')?))?;
        }
        if number == 0 {
            return Some(Self::exact(if negative { -0.0 } else { 0.0 }));
        }
        let mut tens = exponent.parse::<i32>().ok()?.checked_sub(i32::try_from(fraction.len()).ok()?)?;
        while tens > 0 {
            number = number.checked_mul(10)?;
            tens -= 1;
        }
        // m/10^j = (m/5^j)/2^j.
        let halvings = tens.unsigned_abs();
        for _ in 0..halvings {
            if number % 5 != 0 {
                return None;
            }
            number /= 5;
        }
        let halved = 0.5_f64.powi(i32::try_from(halvings).ok()?); // 5^j divides a number of 127 bits: j < 55
        Self::of_integer(if negative { -number } else { number }).map(|whole| Self {
            nearest: whole.nearest * halved,
            rest: whole.rest.map(|rest| rest * halved),
            error: 0.0,
        })
    }

    /// A whole number below 2¹²⁶.
    pub(super) fn of_integer(number: i128) -> Option<Self> {
        if number.unsigned_abs() >= 1 << 126 {
            return None;
        }
        #[allow(clippy::cast_possible_truncation)] // whole numbers below 2¹²⁷
        let without = |number: i128, part: f64| number - part as i128;
        let nearest = number as f64;
        let left = without(number, nearest); // below 2⁷³
        let rest = left as f64;
        Some(Self { nearest, rest: [rest, without(left, rest) as f64], error: 0.0 })
    }

    /// A bound on the distance of the nearest f64 from what is written.
    pub(super) fn distance(&self) -> f64 {
        add_up(add_up(self.rest[0].abs(), self.rest[1].abs()), self.error)
    }
}

/// The nearest f64 of a decimal, infinite beyond its range.
///
/// The standard library takes exponents of more than five digits for smaller ones, whatever zeros stand before them: so
/// digits and exponent are first brought to 0.d₁d₂… · 10^order with d₁ ≠ 0, and orders out of range decided here.
fn nearest(text: &str) -> Result<f64, NotADecimal> {
    let plain = text.parse::<f64>().map_err(|_| NotADecimal::NotANumber)?;
    let (number, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let digits = number.trim_start_matches(['+', '-']);
    if exponent.len() <= 4 {
        return Ok(plain);
    }
    if plain.is_nan() || !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return Ok(plain); // a word for what is no number
    }
    let exponent =
        exponent.parse::<i64>().unwrap_or(if exponent.starts_with('-') { i64::MIN } else { i64::MAX });
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all = [whole, fraction].concat();
    let significant = all.trim_start_matches('0');
    let zeros = all.len() - significant.len();
    // A text has fewer than 2⁶³ places.
    let order = exponent.saturating_add(whole.len().cast_signed() as i64 - zeros.cast_signed() as i64);
    let size = match order {
        _ if significant.is_empty() => 0.0,
        400.. => f64::INFINITY,
        ..-400 => 0.0,
        order => format!("0.{significant}e{order}").parse().map_err(|_| NotADecimal::NotANumber)?,
    };
    Ok(if text.starts_with('-') { -size } else { size })
}

/// Half a unit in the last place, rounded up.
fn half_unit(value: f64) -> f64 {
    let size = value.abs();
    let unit = if size == f64::MAX { size - size.next_down() } else { size.next_up() - size };
    (unit / 2.0).max(f64::from_bits(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigInt;

    #[test]
    fn whole_numbers_and_binary_fractions_are_exact() {
        let parsed = |text: &str| Decimal::parse(text).expect("a number");
        for (text, value) in
            [("1", 1.0), ("-2.50", -2.5), ("+1e3", 1000.0), ("125e-3", 0.125), ("0.0", 0.0), (".5", 0.5)]
        {
            assert_eq!(parsed(text), Decimal::exact(value), "{text}");
        }
        let large = parsed("9007199254740993");
        assert_eq!((large.nearest, large.rest[0], large.error), (9_007_199_254_740_992.0, 1.0, 0.0));
        for text in ["85070591730234615865843651857942052863", "-12345678901234567890123456789012345678"] {
            let parts = parsed(text);
            #[allow(clippy::cast_possible_truncation)] // whole numbers
            let sum: i128 = [parts.nearest, parts.rest[0], parts.rest[1]].iter().map(|&p| p as i128).sum();
            assert_eq!((sum.to_string().as_str(), parts.error), (text, 0.0));
        }
        assert_eq!(Decimal::parse("nonsense"), Err(NotADecimal::NotANumber));
        assert_eq!(Decimal::parse("1e999"), Err(NotADecimal::NotFinite));
        assert_eq!(Decimal::parse("nan"), Err(NotADecimal::NotFinite));
        // Exponents that the standard library does not take at their word.
        let one = format!("1{}e-1000000", "0".repeat(1_000_000));
        assert_eq!(parsed(&one).nearest.to_bits(), 1_f64.to_bits());
        let small = format!("-0.{}1e700000", "0".repeat(700_000));
        assert_eq!(parsed(&small).nearest.to_bits(), (-0.1_f64).to_bits());
        assert_eq!(parsed("1e-99999999999999999999").nearest.to_bits(), 0);
        assert_eq!(Decimal::parse("1e99999999999999999999"), Err(NotADecimal::NotFinite));
        assert_eq!(parsed("0e99999999999999999999"), Decimal::exact(0.0));
        for text in ["inf", "-Infinity", "NaN"] {
            assert_eq!(Decimal::parse(text), Err(NotADecimal::NotFinite));
        }
    }

    /// |nearest − text| ≤ error, by integers: both sides times 10^k·2^1074.
    #[test]
    fn other_decimals_are_enclosed() {
        let far = format!("0.{}17e700001", "0".repeat(700_000));
        let long = format!("17{}e-1000002", "0".repeat(1_000_000));
        let texts =
            ["0.17", "0.1", "3.3e-310", "1e-400", "123456789.123456789", "1.7e308", "1e40", &far, &long];
        for text in texts {
            let parsed = Decimal::parse(text).expect("a number");
            assert!(parsed.error > 0.0 && parsed.distance() > 0.0, "{text}");
            let (digits, exponent) = text.split_once('e').unwrap_or((text, "0"));
            let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
            let tens = exponent.parse::<i32>().expect("small") - i32::try_from(fraction.len()).expect("few");
            let number: BigInt = format!("{whole}{fraction}").parse().expect("digits");
            let power = BigInt::from(10).pow(tens.unsigned_abs());
            let (over, under) = if tens < 0 { (BigInt::from(1), power) } else { (power, BigInt::from(1)) };
            let scaled = |value: f64| -> BigInt {
                let bits = value.to_bits();
                let (biased, fraction) = ((bits >> 52) & 0x7ff, bits & ((1 << 52) - 1));
                if biased == 0 { fraction.into() } else { BigInt::from(fraction | 1 << 52) << (biased - 1) }
            };
            let truth = (number * over) << 1074_u32;
            let distance = (scaled(parsed.nearest) * &under - truth).magnitude().clone();
            assert!(distance <= *(scaled(parsed.error) * under).magnitude(), "{text}");
        }
    }
}
