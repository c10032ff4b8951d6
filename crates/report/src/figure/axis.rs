//! Axes: the range that shows all numbers, and ticks at round ones.

/// Powers of ten that are written out.
const PLAIN: std::ops::RangeInclusive<i32> = -4..=4;

/// What an axis measures, with its unit.
#[derive(Clone, Copy)]
pub struct Axis {
    pub(super) label: &'static str,
    log: bool,
}

impl Axis {
    /// A linear scale.
    pub fn linear(label: &'static str) -> Self {
        Self { label, log: false }
    }

    /// Shows positive numbers only.
    pub fn log(label: &'static str) -> Self {
        Self { label, log: true }
    }

    /// A range with some air around the numbers.
    pub(super) fn range(self, values: impl Iterator<Item = f64>) -> Range {
        let shown = values.filter(|value| value.is_finite() && !(self.log && *value <= 0.0));
        let scaled = shown.map(|value| if self.log { value.log10() } else { value });
        let ends = scaled.fold(None, |ends: Option<(f64, f64)>, value| {
            Some(ends.map_or((value, value), |(low, high)| (low.min(value), high.max(value))))
        });
        let (low, high) = ends.filter(|ends| self.log || *ends != (0.0, 0.0)).unwrap_or((0.0, 1.0));
        // Equal numbers get a range too, relative to their size on a linear axis.
        let least = if self.log { 0.5 } else { (low.abs() * 0.02).max(f64::MIN_POSITIVE) };
        let air = (high - low).max(least) * 0.06;
        let middle = f64::midpoint(low, high);
        let half = (high - low).max(least) / 2.0 + air;
        Range { low: middle - half, high: middle + half, log: self.log }
    }
}

/// Ends of an axis, as logarithms to base 10 where it is logarithmic.
pub(crate) struct Range {
    low: f64,
    high: f64,
    log: bool,
}

/// A mark on an axis; small ones have no label.
pub(crate) struct Tick {
    pub(crate) value: f64,
    pub(crate) label: Option<String>,
}

impl Range {
    /// A linear axis with these ends.
    pub(crate) fn between(low: f64, high: f64) -> Self {
        Self { low, high, log: false }
    }

    pub(super) fn shows(&self, value: f64) -> bool {
        value.is_finite() && !(self.log && value <= 0.0)
    }

    /// Where a number stands, from 0 to 1; numbers outside, such as an error bar down to zero on a logarithmic axis, at
    /// the end.
    pub(super) fn share(&self, value: f64) -> f64 {
        let value = if self.log { value.max(f64::MIN_POSITIVE).log10() } else { value };
        ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }

    pub(crate) fn ticks(&self) -> Vec<Tick> {
        if self.log { self.log_ticks() } else { self.linear_ticks() }
    }

    /// Steps of 1, 2 or 5 times a power of ten, seven at most.
    fn linear_ticks(&self) -> Vec<Tick> {
        let rough = (self.high - self.low) / 7.0;
        let unit = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0].map(|factor| factor * unit).into_iter().find(|step| *step >= rough);
        let step = step.unwrap_or(10.0 * unit);
        // Numbers that are long to write share a power of ten.
        let largest = whole(self.low.abs().max(self.high.abs()).log10().floor());
        let power = if PLAIN.contains(&largest) { 0 } else { largest };
        let places = (power - whole(step.log10().floor())).max(0).unsigned_abs() as usize;
        let (first, last) = (whole((self.low / step).ceil()), whole((self.high / step).floor()));
        (first..=last)
            .map(|at| {
                let value = f64::from(at) * step;
                let digits = grouped(&format!("{:.places$}", value / 10_f64.powi(power)));
                let label = match (at, power) {
                    (0, _) => "0".to_owned(),
                    (_, 0) => digits,
                    _ => format!("{digits}·10{}", raised(power)),
                };
                Tick { value, label: Some(label) }
            })
            .collect()
    }

    /// Powers of ten; also 2 and 5 times them, if there are fewer than three.
    fn log_ticks(&self) -> Vec<Tick> {
        let (first, last) = (whole(self.low.floor()), whole(self.high.ceil()));
        let inside = |value: f64| (self.low..=self.high).contains(&value.log10());
        let powers = (first..=last).filter(|power| inside(10_f64.powi(*power))).count();
        let plain = PLAIN.contains(&first) && last <= PLAIN.end() + 1;
        let every = i32::try_from(powers / 9).unwrap_or(0) + 1;
        let mut ticks = Vec::new();
        for power in first..=last {
            for factor in 1..=9_i32 {
                let value = f64::from(factor) * 10_f64.powi(power);
                let labelled =
                    (factor == 1 && power % every == 0) || (powers < 3 && [2, 5].contains(&factor));
                let label = labelled.then(|| {
                    if plain { grouped(&decimal(factor, power)) } else { scientific(factor, power) }
                });
                if inside(value) && (labelled || every == 1) {
                    ticks.push(Tick { value, label });
                }
            }
        }
        ticks
    }
}

/// A whole number small enough to count with.
#[allow(clippy::cast_possible_truncation)] // saturates, and ranges have few ticks
fn whole(value: f64) -> i32 {
    value as i32
}

/// factor·10^power as people write it.
fn decimal(factor: i32, power: i32) -> String {
    let places = power.min(0).unsigned_abs() as usize;
    format!("{:.places$}", f64::from(factor) * 10_f64.powi(power))
}

/// The same with a raised exponent.
fn scientific(factor: i32, power: i32) -> String {
    let factor = if factor == 1 { String::new() } else { format!("{factor}·") };
    format!("{factor}10{}", raised(power))
}

/// An exponent.
fn raised(power: i32) -> String {
    let raise = |letter| match letter {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        digit => char::from_u32('⁰' as u32 + digit.to_digit(10).unwrap_or(0)).unwrap_or('⁰'),
    };
    power.to_string().chars().map(raise).collect()
}

/// A true minus, and thin spaces between thousands from five digits on.
fn grouped(number: &str) -> String {
    let (sign, number) = number.strip_prefix('-').map_or(("", number), |rest| ("−", rest));
    let (whole, places) = number
        .split_once('.')
        .map_or((number, String::new()), |(whole, places)| (whole, format!(".{places}")));
    let mut text = String::from(sign);
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && whole.len() > 4 && (whole.len() - at) % 3 == 0 {
            text.push('\u{2009}');
        }
        text.push(digit);
    }
    text + &places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: Axis, values: &[f64]) -> Vec<String> {
        axis.range(values.iter().copied()).ticks().into_iter().filter_map(|tick| tick.label).collect()
    }

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(labels(Axis::linear(""), &[500.0, 4500.0]), ["1000", "2000", "3000", "4000"]);
        assert_eq!(labels(Axis::linear(""), &[-0.4, 0.4]), ["−0.4", "−0.2", "0", "0.2", "0.4"]);
        assert_eq!(labels(Axis::linear(""), &[1e4, 6e4])[0], "10\u{2009}000");
        assert_eq!(labels(Axis::linear(""), &[2e4, 5.6e5])[..2], ["0", "1·10⁵"]);
        assert_eq!(labels(Axis::log(""), &[0.03, 3000.0]), ["0.1", "1", "10", "100", "1000"]);
        assert_eq!(labels(Axis::log(""), &[1e-6, 0.5])[..2], ["10⁻⁶", "10⁻⁵"]);
        assert_eq!(labels(Axis::log(""), &[0.3, 6.0]), ["0.5", "1", "2", "5"]);
        assert_eq!(labels(Axis::linear(""), &[0.0, 0.0])[0], "0", "nothing but zeros");
        assert_eq!(labels(Axis::linear(""), &[0.0, 0.0]), labels(Axis::linear(""), &[]));
        for values in [&[][..], &[3.0], &[0.0], &[7.0, 7.0], &[f64::NAN, f64::INFINITY], &[1e-300, 1e300]] {
            for axis in [Axis::linear(""), Axis::log("")] {
                let range = axis.range(values.iter().copied());
                let ticks = range.ticks();
                assert!(
                    ticks.len() < 120
                        && ticks.iter().all(|tick| (0.0..=1.0).contains(&range.share(tick.value)))
                );
            }
        }
    }
}
