//! The probability of a false certificate as a whole number.

use super::table::{Table, true_radius};
use super::{BITS, N, N0, Parts};
use gambeson_checker::Sides;
use gambeson_smooth::limit::LimitRule;
use num_bigint::BigUint;
use rayon::prelude::*;

fn binomials(n: usize) -> Vec<Vec<BigUint>> {
    let mut rows = vec![vec![BigUint::from(1_u32)]];
    for above in 0..n {
        let row = &rows[above];
        let inner = row.windows(2).map(|pair| &pair[0] + &pair[1]);
        let one = || std::iter::once(BigUint::from(1_u32));
        rows.push(one().chain(inner).chain(one()).collect());
    }
    rows
}

fn powers(base: u64, most: usize) -> Vec<BigUint> {
    let mut powers = vec![BigUint::from(1_u32)];
    for k in 0..most {
        powers.push(&powers[k] * base);
    }
    powers
}

/// The probability of a false certificate: a whole number over 2^(24·(n₀ + n) + 32).
pub(super) fn exactly(table: &Table, rule: LimitRule, parts: Parts) -> BigUint {
    let choose = binomials(N);
    let by_class = parts.map(|part| powers(part, N));
    let mut weights = vec![[BigUint::ZERO, BigUint::ZERO]; 3];
    for (s, class, sides) in table.selections(rule) {
        let ways = &choose[N0][s[0]] * &choose[N0 - s[0]][s[1]];
        let chance = (0..3).fold(ways, |chance, i| chance * &by_class[i][s[i]]);
        weights[class][usize::from(sides == Sides::Two)] += chance;
    }
    let term = |class: usize, k: usize, sides: Sides| -> BigUint {
        let most = true_radius(parts, class);
        let rest = N - k;
        let (second, third) = (&by_class[(class + 1) % 3], &by_class[(class + 2) % 3]);
        let mut sum = BigUint::ZERO;
        if sides == Sides::One {
            let shares = table.false_shares(rule, sides, (k, rest), most);
            if shares > 0 {
                sum = powers((1 << BITS) - parts[class], rest).swap_remove(rest) * shares;
            }
        } else {
            for m in rest.div_ceil(2)..=rest {
                let shares = table.false_shares(rule, sides, (k, m), most);
                if shares == 0 {
                    continue;
                }
                let either = &second[m] * &third[rest - m];
                let both = if 2 * m == rest { either } else { either + &second[rest - m] * &third[m] };
                sum += both * &choose[rest][m] * shares;
            }
        }
        sum * &choose[N][k] * &by_class[class][k]
    };
    let mut total = BigUint::ZERO;
    for (class, by_sides) in weights.into_iter().enumerate() {
        for (weight, sides) in by_sides.into_iter().zip([Sides::One, Sides::Two]) {
            if weight != BigUint::ZERO {
                let sum: BigUint = (0..=N).into_par_iter().map(|k| term(class, k, sides)).sum();
                total += weight * sum;
            }
        }
    }
    total
}

/// Whether a probability so counted is at most α, and about how large it is.
pub(super) fn compared(total: &BigUint, alpha: f64) -> (bool, f64) {
    let bits = u64::try_from(BITS * (N0 + N) + 32).expect("few");
    let (mantissa, exponent) =
        (alpha.to_bits() & ((1 << 52) - 1) | 1 << 52, (alpha.to_bits() >> 52) + bits - 1075);
    let kept = total >> total.bits().saturating_sub(64);
    let digits = kept.to_u64_digits().first().copied().unwrap_or(0) as f64;
    #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)] // some thousands
    let scale = total.bits().saturating_sub(64) as i32 - bits as i32;
    (
        *total <= BigUint::from(mantissa) << exponent,
        digits * 2_f64.powi(scale / 2) * 2_f64.powi(scale - scale / 2),
    )
}
