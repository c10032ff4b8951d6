//! An interval for the difference of two shares that were measured on the same inputs.
//!
//! **Problem.** Of n inputs, b are certified by the first run only and c by the second only, so that the accuracies differ
//! by (b − c)/n here. By how much do they differ for all inputs that these n were drawn from?
//!
//! **Reference.** T. Tango, *Equivalence test and confidence interval for the difference in proportions for the
//! paired-sample design*, Statistics in Medicine 17 (1998), 891–908.
//!
//! **Method.** An input is certified by the first run only with probability q + Δ, by the second only with q. The interval
//! has every Δ that the score test does not refute: |b − c − nΔ| ≤ z·√(n(2q̂ + Δ(1 − Δ))), where z = Φ⁻¹(0.975) and q̂ is
//! the most likely q for this Δ, the larger root of 2n·q² + ((2n − b + c)Δ − b − c)·q − cΔ(1 − Δ). At Δ = 0 this is
//! McNemar's test in its asymptotic form. For b = c = 0 the interval is ±z²/(n + z²).
//!
//! **Guarantee.** 95 % asymptotically, for inputs drawn independently of each other. Coverage enumerated exactly, over all
//! pairs of probabilities in steps of 0.01 (the test below):
//!
//! | n | on average | least | least if the runs differ on at most half |
//! | --- | --- | --- | --- |
//! | 10 | 0.964 | 0.900 | 0.946 |
//! | 20 | 0.956 | 0.924 | 0.940 |
//! | 50 | 0.950 | 0.910 | 0.931 |
//!
//! An interval is for one radius: those of several radii need not all hold at once.
//!
//! **Deviations.** Both ends are found by bisection instead of secants, and lie outside.

/// Φ⁻¹(0.975), rounded up.
const QUANTILE: f64 = 1.959_963_984_540_054_5;

/// A 95 % interval for the difference of two shares of n inputs, of which `first` count for the first only and `second` for
/// the second only.
pub(super) fn score_interval(first: u64, second: u64, n: u64) -> (f64, f64) {
    (-upper_end(second, first, n), upper_end(first, second, n))
}

/// The largest Δ that is not refuted.
fn upper_end(first: u64, second: u64, n: u64) -> f64 {
    let (b, c, n) = (first as f64, second as f64, n as f64);
    let (mut low, mut high) = ((b - c) / n, 1.0);
    // The statistic falls in Δ, from 0 at the difference observed.
    loop {
        let middle = f64::midpoint(low, high);
        if !(low < middle && middle < high) {
            return high;
        }
        if score(b, c, n, middle) >= -QUANTILE {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/// (b − c − nΔ)/√(n(2q̂ + Δ(1 − Δ))), for −1 < Δ < 1.
fn score(b: f64, c: f64, n: f64, delta: f64) -> f64 {
    if delta < 0.0 {
        return -score(c, b, n, -delta); // then nothing below cancels
    }
    let variance = n * (2.0 * likeliest(b, c, n, delta) + delta * (1.0 - delta));
    let excess = b - c - n * delta;
    if excess == 0.0 { 0.0 } else { excess / variance.sqrt() }
}

/// q̂ for 0 ≤ Δ < 1.
fn likeliest(b: f64, c: f64, n: f64, delta: f64) -> f64 {
    let linear = (2.0 * n - b + c) * delta - b - c;
    let constant = c * delta * (1.0 - delta);
    let root = (linear * linear + 8.0 * n * constant).sqrt();
    // Of two forms of the same root the one without a difference of like numbers.
    if linear > 0.0 { 2.0 * constant / (linear + root) } else { (root - linear) / (4.0 * n) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// b·ln(q + Δ) + c·ln q + (n − b − c)·ln(1 − 2q − Δ).
    fn log_likelihood(b: f64, c: f64, n: f64, delta: f64, q: f64) -> f64 {
        let term = |count: f64, share: f64| if count == 0.0 { 0.0 } else { count * share.max(0.0).ln() };
        term(b, q + delta) + term(c, q) + term(n - b - c, 1.0 - 2.0 * q - delta)
    }

    /// Both ends are where the score test, with q found by search, is at its limit; beyond, it refutes.
    #[test]
    fn ends_are_where_the_score_test_refutes() {
        for n in [1_u64, 2, 7, 40, 500, 10_000] {
            for (first, second) in
                [(0, 0), (n, 0), (0, n), (n / 2, n / 3), (n / 20, 0), (1, 0), (n / 4, n / 2)]
            {
                let (low, high) = score_interval(first, second, n);
                let (b, c, m) = (first as f64, second as f64, n as f64);
                assert!(-1.0 <= low && low <= (b - c) / m && (b - c) / m <= high && high <= 1.0);
                assert_eq!(score_interval(second, first, n), (-high, -low), "both runs are treated alike");
                for (end, sign) in [(high, 1.0), (low, -1.0)] {
                    if end.abs() == 1.0 {
                        continue;
                    }
                    let (mut below, mut above) = ((-end).max(0.0), (1.0 - end) / 2.0);
                    for _ in 0..200 {
                        let third = (above - below) / 3.0;
                        let [one, two] = [below + third, above - third];
                        let likelier = |q| log_likelihood(b, c, m, end, q);
                        if likelier(one) < likelier(two) { below = one } else { above = two }
                    }
                    let variance = m * (2.0 * below + end * (1.0 - end));
                    let score = (m * end - b + c) / variance.sqrt() * sign;
                    assert!((score - QUANTILE).abs() < 1e-4, "{first} {second} of {n}: {score} at {end}");
                }
            }
        }
        // One run certifies 24 of 500 inputs more, and none less: more than that is possible.
        let (low, high) = score_interval(24, 0, 500);
        assert!((low - 0.032_465).abs() < 1e-6 && (high - 0.070_427).abs() < 1e-6, "{low} {high}");
        let (low, high) = score_interval(0, 0, 500);
        let expected = QUANTILE * QUANTILE / (500.0 + QUANTILE * QUANTILE);
        assert!((high - expected).abs() < 1e-12 && low == -high, "{low} {high}");
    }

    /// Mean and least probability that the interval has the true difference, over all pairs of probabilities in steps of
    /// 0.01 whose sum is at most `most`.
    fn coverage(n: u64, most: u32) -> (f64, f64) {
        let ln_factorial: Vec<f64> = (0..=n)
            .scan(0.0, |sum, k| {
                Some({
                    *sum += (k.max(1) as f64).ln();
                    *sum
                })
            })
            .collect();
        let ln = |k: u64| ln_factorial[usize::try_from(k).expect("small")];
        let pairs = (0..=n).flat_map(|b| (0..=n - b).map(move |c| (b, c)));
        let outcomes: Vec<(u64, u64, f64, (f64, f64))> = pairs
            .map(|(b, c)| (b, c, ln(n) - ln(b) - ln(c) - ln(n - b - c), score_interval(b, c, n)))
            .collect();
        let (mut sum, mut least, mut count) = (0.0, 1.0_f64, 0.0);
        for i in 0..=most {
            for j in 0..=most - i {
                let [p, q, rest] = [i, j, 100 - i - j].map(|percent| f64::from(percent) / 100.0);
                let term = |count: u64, share: f64| if count == 0 { 0.0 } else { count as f64 * share.ln() };
                let difference = (f64::from(i) - f64::from(j)) / 100.0;
                let covered: f64 = outcomes
                    .iter()
                    .filter(|(.., (low, high))| (*low..=*high).contains(&difference))
                    .map(|&(b, c, ways, _)| (ways + term(b, p) + term(c, q) + term(n - b - c, rest)).exp())
                    .sum();
                (sum, least, count) = (sum + covered, least.min(covered), count + 1.0);
            }
        }
        (sum / count, least)
    }

    #[test]
    fn coverage_is_as_the_header_says() {
        for (n, average, least, least_of_half) in
            [(10, 0.964, 0.900, 0.946), (20, 0.956, 0.924, 0.940), (50, 0.950, 0.910, 0.931)]
        {
            let (mean, worst) = coverage(n, 100);
            let (_, worst_of_half) = coverage(n, 50);
            for (found, stated) in [(mean, average), (worst, least), (worst_of_half, least_of_half)] {
                assert!((stated..stated + 0.001).contains(&found), "{n}: {mean} {worst} {worst_of_half}");
            }
        }
    }
}
