//! Block coordinates: the best direction inside pairs of coordinates, one of each pair chosen, the other not.
//!
//! **Problem.** κ² adds up over blocks. Of a pair with energies a and b and covariance c the direction (cos t, ± sin t)
//! keeps a·cos² t + b·sin² t + |c|·sin 2t and costs κ² = (cos t + sin t)² = 1 + sin 2t. At a price p for κ² the best
//! angle is that of the leading component of [a, |c| − p; |c| − p, b]: PCA with the correlation lowered by the price.
//! So turning a chosen coordinate brings |c| for a unit of κ², where a whole new coordinate brings its energy: a way to
//! meet an error exactly, without paying for all of a coordinate.
//!
//! **Method.** Pairs are matched greedily by what they bring at half the energy of the best coordinate left out, each
//! coordinate once. The price is then what the error asks for. κ² is exact, since the pairs are disjoint; the
//! certificate is made later, like that of any basis.
//!
//! It differs from a tilt (`tilt.rs`) in that angles may be large, where the sum of absolute values overstates their
//! price; and in that a coordinate turns towards one other only.

use crate::energy::Energy;
use crate::matrix::DenseMatrix;

/// Correlations below this join nothing.
const LEAST_CORRELATION: f64 = 0.02;

/// A chosen coordinate and its partner.
struct Pair {
    /// Place of the first among the chosen.
    at: usize,
    partner: usize,
    /// Energies of the first and of the partner, and their covariance.
    form: [f64; 3],
}

/// Chosen coordinates, some of them paired with others.
pub(crate) struct Blocks<'a> {
    dim: usize,
    chosen: &'a [usize],
    pairs: Vec<Pair>,
    /// ⟨M, I − Π⟩ of the coordinates as they are.
    error: f64,
}

/// Angles for all pairs.
pub(crate) struct Turned {
    angles: Vec<f64>,
    pub(crate) error: f64,
    /// κ².
    pub(crate) square: f64,
}

impl<'a> Blocks<'a> {
    /// Pairs the chosen coordinates with others; `error` is what they lose as they are.
    pub(crate) fn new(energy: &Energy, chosen: &'a [usize], error: f64) -> Self {
        let n = energy.dim;
        let diagonal = energy.diagonal();
        let mut free = vec![true; n];
        chosen.iter().for_each(|&i| free[i] = false);
        let left_out = (0..n).filter(|&j| free[j]).map(|j| diagonal[j]).fold(0.0, f64::max);
        let mut candidates: Vec<(f64, Pair)> = Vec::new();
        for (at, &i) in chosen.iter().enumerate() {
            for j in (0..n).filter(|&j| free[j]) {
                let form = [diagonal[i], diagonal[j], energy.entries[i * n + j]];
                let [a, b, c] = form;
                if c * c <= LEAST_CORRELATION * LEAST_CORRELATION * a * b {
                    continue;
                }
                let gain = worth(form, angle(form, 0.5 * left_out), 0.5 * left_out);
                candidates.push((gain, Pair { at, partner: j, form }));
            }
        }
        candidates.sort_by(|(a, first), (b, second)| {
            b.total_cmp(a).then((first.at, first.partner).cmp(&(second.at, second.partner)))
        });
        let mut single = vec![true; chosen.len()];
        let mut pairs = Vec::new();
        for (gain, pair) in candidates {
            if gain > 0.0 && single[pair.at] && free[pair.partner] {
                single[pair.at] = false;
                free[pair.partner] = false;
                pairs.push(pair);
            }
        }
        Self { dim: n, chosen, pairs, error }
    }

    /// The price above which nothing turns.
    fn highest_price(&self) -> f64 {
        self.pairs.iter().map(|pair| pair.form[2].abs()).fold(0.0, f64::max)
    }

    fn at(&self, price: f64) -> Turned {
        let angles: Vec<f64> = self.pairs.iter().map(|pair| angle(pair.form, price)).collect();
        let turned = || self.pairs.iter().zip(&angles);
        let gain: f64 = turned().map(|(pair, &angle)| worth(pair.form, angle, 0.0)).sum();
        let cost: f64 = angles.iter().map(|angle| (2.0 * angle).sin()).sum();
        Turned { error: self.error - gain, square: self.chosen.len() as f64 + cost, angles }
    }

    /// As little turned as meets an error. None where no turning does.
    pub(crate) fn within(&self, error: f64) -> Option<Turned> {
        let (mut low, mut high) = (0.0, self.highest_price());
        let mut best = Some(self.at(0.0)).filter(|turned| turned.error <= error)?;
        for _ in 0..60 {
            let price = 0.5 * (low + high);
            let turned = self.at(price);
            if turned.error <= error {
                (best, low) = (turned, price);
            } else {
                high = price;
            }
        }
        Some(best)
    }

    /// As much turned as a κ² allows.
    pub(crate) fn up_to(&self, square: f64) -> Turned {
        let (mut low, mut high) = (0.0, self.highest_price());
        for _ in 0..60 {
            let price = 0.5 * (low + high);
            if self.at(price).square <= square { high = price } else { low = price }
        }
        self.at(high)
    }

    /// An orthonormal basis: disjoint columns.
    pub(crate) fn basis(&self, turned: &Turned) -> DenseMatrix {
        let columns = self.chosen.len();
        let mut entries = vec![0.0; self.dim * columns];
        self.chosen.iter().enumerate().for_each(|(at, &i)| entries[i * columns + at] = 1.0);
        for (pair, angle) in self.pairs.iter().zip(&turned.angles) {
            entries[self.chosen[pair.at] * columns + pair.at] = angle.cos();
            entries[pair.partner * columns + pair.at] = angle.sin().copysign(pair.form[2]);
        }
        DenseMatrix { rows: self.dim, columns, entries }
    }
}

/// The best angle at a price, in [0, π/2].
fn angle([a, b, c]: [f64; 3], price: f64) -> f64 {
    let lowered = (c.abs() - price).max(0.0);
    if lowered == 0.0 { 0.0 } else { 0.5 * (2.0 * lowered).atan2(a - b) }
}

/// Energy brought by turning, less its price.
fn worth([a, b, c]: [f64; 3], angle: f64, price: f64) -> f64 {
    (b - a) * angle.sin().powi(2) + (c.abs() - price) * (2.0 * angle).sin()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two strongly correlated pairs and a coordinate alone.
    fn energy() -> Energy {
        let mut entries = vec![0.0; 25];
        for (i, value) in [0.3, 0.3, 0.15, 0.15, 0.1].into_iter().enumerate() {
            entries[i * 6] = value;
        }
        for (i, j, value) in [(0, 2, -0.15), (1, 3, 0.1)] {
            (entries[i * 5 + j], entries[j * 5 + i]) = (value, value);
        }
        Energy { dim: 5, entries, total: 1.0, mean: None, samples: 9 }
    }

    #[test]
    fn turned_pairs_are_what_they_say() {
        let energy = energy();
        let chosen = [0, 1];
        let blocks = Blocks::new(&energy, &chosen, 0.4);
        assert_eq!(blocks.pairs.len(), 2);
        let mut last = 0.4;
        for price in [0.2, 0.12, 0.08, 0.04, 0.0] {
            let turned = blocks.at(price);
            let basis = blocks.basis(&turned);
            assert!((energy.error(&basis) - turned.error).abs() < 1e-14);
            assert!(turned.error <= last);
            last = turned.error;
            // κ² over all vertices.
            let value = |bits: u32| -> f64 {
                (0..2)
                    .map(|a| {
                        let sign = |i: usize| if bits >> i & 1 == 1 { -1.0 } else { 1.0 };
                        (0..5).map(|i| sign(i) * basis.entries[i * 2 + a]).sum::<f64>().powi(2)
                    })
                    .sum()
            };
            let largest = (0..32).map(value).fold(0.0, f64::max);
            assert!((largest - turned.square).abs() < 1e-14, "{price}: {largest} {}", turned.square);
        }
        // At no price the components of the pairs: as good as PCA of each.
        let pca = |a: f64, b: f64, c: f64| 0.5 * (a + b) + (0.25 * (a - b).powi(2) + c * c).sqrt();
        assert!((1.0 - last - pca(0.3, 0.15, 0.15) - pca(0.3, 0.15, 0.1)).abs() < 1e-14);
    }

    #[test]
    fn budgets_are_met_exactly() {
        let energy = energy();
        let chosen = [0, 1];
        let blocks = Blocks::new(&energy, &chosen, 0.4);
        let turned = blocks.within(0.35).expect("within reach");
        assert!(turned.error <= 0.35 && turned.error > 0.35 - 1e-9);
        let same = blocks.up_to(turned.square);
        assert!(same.square <= turned.square && (same.error - 0.35).abs() < 1e-9);
        assert!(blocks.within(0.01).is_none());
    }
}
