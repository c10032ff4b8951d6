//! Decimals rounded towards safety: bounds up, radii and lower ends down.

use std::cmp::Ordering;

/// The least decimal with `digits` significant digits that is not below `value`.
pub fn up(value: f64, digits: usize) -> String {
    directed(value, digits, value > 0.0)
}

/// A decimal with `places` digits after the point, rounded up: for measurements, not for bounds, as it compares in
/// binary64.
pub fn up_to_places(value: f64, places: usize) -> String {
    let nearest = format!("{value:.places$}");
    match nearest.parse::<f64>() {
        Ok(below) if below < value => {
            let unit = 10_f64.powi(-i32::try_from(places).unwrap_or(i32::MAX));
            format!("{:.places$}", below + unit)
        }
        Ok(0.0) => format!("{:.places$}", 0.0), // of either sign
        _ => nearest,
    }
}

/// The same, rounded down.
pub fn down_to_places(value: f64, places: usize) -> String {
    let text = up_to_places(-value, places);
    match text.strip_prefix('-') {
        Some(size) => size.to_owned(),
        None if text.bytes().all(|byte| matches!(byte, b'0' | b'.')) => text,
        None => format!("-{text}"),
    }
}

/// The largest decimal with `digits` significant digits that is not above `value`.
pub fn down(value: f64, digits: usize) -> String {
    directed(value, digits, value < 0.0)
}

/// A share as a percentage with one digit after the point, rounded down.
pub fn share_down(count: u64, total: u64) -> String {
    let tenths = u128::from(count) * 1000 / u128::from(total.max(1));
    format!("{}.{} %", tenths / 10, tenths % 10)
}

/// [`down`], but a whole number with all its digits and no others: `11537`, not `11537.000`. For lower ends, which are whole
/// numbers where weights are.
pub fn whole_or_down(value: f64, digits: usize) -> String {
    const MOST: f64 = 9_007_199_254_740_992.0; // from here on all are whole
    if value.fract() == 0.0 && value.abs() < MOST { format!("{}", value + 0.0) } else { down(value, digits) }
}

/// Cuts the exact decimal expansion, away from zero if asked and anything was cut off.
fn directed(value: f64, digits: usize, away: bool) -> String {
    if value == 0.0 {
        return "0".to_owned(); // of either sign
    }
    if !value.is_finite() {
        return format!("{value}");
    }
    // 767 significant digits hold every binary64 exactly.
    let exact = format!("{:.766e}", value.abs());
    let (mantissa, exponent) = exact.split_once('e').unwrap_or((&exact, "0"));
    let mut exponent: i32 = exponent.parse().unwrap_or(0);
    let all: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).map(|digit| digit - b'0').collect();
    let (kept, rest) = all.split_at(digits.min(all.len()));
    let mut kept = kept.to_vec();
    if away && rest.iter().any(|&digit| digit != 0) {
        for digit in kept.iter_mut().rev() {
            *digit = (*digit + 1) % 10;
            if *digit != 0 {
                break;
            }
        }
        if kept.iter().all(|&digit| digit == 0) {
            kept[0] = 1; // 999 became 1000
            exponent += 1;
        }
    }
    let sign = if value < 0.0 { "-" } else { "" };
    let text: String = kept.iter().map(|digit| char::from(digit + b'0')).collect();
    let places = i32::try_from(kept.len()).unwrap_or(i32::MAX);
    match exponent.cmp(&0) {
        _ if !(-5..15).contains(&exponent) => {
            let (first, rest) = text.split_at(1);
            let point = if rest.is_empty() { "" } else { "." };
            format!("{sign}{first}{point}{rest}e{exponent}")
        }
        Ordering::Less => format!("{sign}0.{}{text}", "0".repeat((-exponent - 1).unsigned_abs() as usize)),
        _ if exponent + 1 >= places => {
            format!("{sign}{text}{}", "0".repeat((exponent + 1 - places).unsigned_abs() as usize))
        }
        _ => {
            let (whole, fraction) = text.split_at((exponent + 1).unsigned_abs() as usize);
            format!("{sign}{whole}.{fraction}")
        }
    }
}

/// A share as a percentage with one digit after the point, not above it: what is certified is at least what is printed.
pub fn percent_down(share: f64) -> String {
    // A little more than nothing: 0.765 is 76.5 %, whatever 1000·0.765 is rounded to.
    format!("{:.1}", (1000.0 * share + 1e-9).floor() / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_towards_safety() {
        // The binary64 nearest to 0.1 lies above 0.1, the one nearest to 0.3 below.
        assert_eq!((up(0.1, 3), down(0.1, 3)), ("0.101".into(), "0.100".into()));
        assert_eq!((up(0.3, 3), down(0.3, 3)), ("0.300".into(), "0.299".into()));
        assert_eq!((up(0.5, 3), down(0.5, 3)), ("0.500".into(), "0.500".into()));
        assert_eq!(up(999.96, 4), "1000");
        assert_eq!((up(-1.25, 2), down(-1.25, 2)), ("-1.2".into(), "-1.3".into()));
        assert_eq!(up(123_456.7, 3), "124000");
        assert_eq!(
            [(15, 20), (2, 3), (0, 7), (7, 7)].map(|(k, n)| share_down(k, n)).join(", "),
            "75.0 %, 66.6 %, 0.0 %, 100.0 %"
        );
        assert_eq!(up(1.5e-9, 1), "2e-9");
        assert_eq!(down(5e-324, 3), "4.94e-324");
        assert_eq!(up(f64::INFINITY, 3), "inf");
        assert_eq!(
            [up_to_places(0.121, 2), up_to_places(0.0, 2), up_to_places(2.0, 0)],
            ["0.13", "0.00", "2"]
        );
        assert_eq!([up_to_places(1e-9, 2), up_to_places(9.999, 2)], ["0.01", "10.00"]);
        assert_eq!(
            [0.5976, 0.5, 0.0009, 0.0].map(|value| down_to_places(value, 3)),
            ["0.597", "0.500", "0.000", "0.000"]
        );
        assert_eq!(
            [-0.0, -1e-9, -0.5, -9.9991].map(|value| down_to_places(value, 3)),
            ["0.000", "-0.001", "-0.500", "-10.000"]
        );
        assert_eq!([-0.0, -1e-9, -0.5009].map(|value| up_to_places(value, 3)), ["0.000", "0.000", "-0.500"]);
        let shares = [0.765, 2.0 / 3.0, 0.0, 1.0, 0.0999];
        assert_eq!(shares.map(percent_down), ["76.5", "66.6", "0.0", "100.0", "9.9"]);
        assert_eq!([up(0.0, 3), up(-0.0, 3), down(0.0, 3), down(-0.0, 3)], ["0"; 4]);
        let lower = [11_537.0, -3.0, 123_456_789_012.0, 11_536.999_9, -0.5, 1e16, 0.0, -0.0];
        let printed = ["11537", "-3", "123456789012", "11536.9", "-0.500000", "1.00000e16", "0", "0"];
        assert_eq!(lower.map(|value| whole_or_down(value, 6)), printed);
        assert_eq!(whole_or_down(f64::NEG_INFINITY, 6), "-inf");
    }
}
