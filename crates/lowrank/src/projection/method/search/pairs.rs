//! Block coordinates: the best direction inside pairs of coordinates.
//!
//! **Problem.** κ² adds up over blocks. Of a pair with energies a and b and covariance c the direction (cos t, ± sin t)
//! keeps a·cos² t + b·sin² t + |c|·sin 2t and costs κ² = (cos t + sin t)² = 1 + sin 2t. At a price p for κ² the best
//! angle is that of the leading component of [a, |c| − p; |c| − p, b]: PCA with the correlation lowered by the price.
//! Two kinds of pairs help. Of a chosen coordinate and one that is not: turning the first brings |c| for a unit of κ²,
//! where a whole new coordinate brings its energy. Of two chosen ones, strongly correlated: one direction instead of
//! both saves 1 − sin 2t for the little energy across it. So an error is met exactly, without paying for all of a
//! coordinate.
//!
//! **Method.** Pairs are matched greedily by what they bring at the price of a coordinate, the energy of the best one
//! left out (at half of it, for partners that are not chosen), each coordinate once. The price is then set by the error.
//! κ² is exact, since the pairs are disjoint; the certificate is made later, like that of any basis.
//!
//! It differs from a tilt (`tilt.rs`) in that angles may be large, where the sum of absolute values overstates their
//! price, and in that a coordinate turns towards only one other.

use crate::linalg::matrix::DenseMatrix;
use crate::projection::energy::Energy;

/// Correlations below this join nothing.
const LEAST_CORRELATION: f64 = 0.02;

/// A chosen coordinate and its partner.
struct Pair {
    /// Place of the first, which has more energy, among the chosen.
    at: usize,
    partner: usize,
    /// Place of the partner, where it is chosen too: one direction or both.
    within: Option<usize>,
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
    /// None for a pair that stays as it is.
    angles: Vec<Option<f64>>,
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
        let mut place = vec![None; n];
        chosen.iter().enumerate().for_each(|(at, &i)| place[i] = Some(at));
        let mut candidates: Vec<(f64, Pair)> = Vec::new();
        for (at, &i) in chosen.iter().enumerate() {
            for j in (0..n).filter(|&j| place[j].is_none_or(|other| other > at)) {
                let form = [diagonal[i], diagonal[j], energy.at(i, j)];
                let [a, b, c] = form;
                if c * c <= LEAST_CORRELATION * LEAST_CORRELATION * a * b {
                    continue;
                }
                let pair = Pair { at, partner: j, within: place[j], form };
                let price = if pair.within.is_some() { left_out } else { 0.5 * left_out };
                candidates.push((pair.gain(price), pair));
            }
        }
        candidates.sort_by(|(a, first), (b, second)| {
            b.total_cmp(a).then((first.at, first.partner).cmp(&(second.at, second.partner)))
        });
        let mut single = vec![true; chosen.len()];
        let mut pairs = Vec::new();
        for (gain, pair) in candidates {
            let partner_is_single = pair.within.map_or(free[pair.partner], |at| single[at]);
            if gain > 0.0 && single[pair.at] && partner_is_single {
                single[pair.at] = false;
                match pair.within {
                    Some(at) => single[at] = false,
                    None => free[pair.partner] = false,
                }
                pairs.push(pair);
            }
        }
        Self { dim: n, chosen, pairs, error }
    }

    /// A price at which nothing turns outward, and everything that may inward does.
    fn highest_price(&self) -> f64 {
        self.pairs.iter().map(|pair| pair.form[0] + pair.form[2].abs()).fold(0.0, f64::max)
    }

    fn at(&self, price: f64, ease: f64) -> Turned {
        let angles: Vec<Option<f64>> = self.pairs.iter().map(|pair| pair.turn(price, ease)).collect();
        let (mut error, mut square) = (self.error, self.chosen.len() as f64);
        for (pair, angle) in self.pairs.iter().zip(&angles) {
            if let Some(angle) = *angle {
                error -= pair.brought(angle);
                square += pair.cost(angle);
            }
        }
        Turned { angles, error, square }
    }

    /// As little turned as meets an error, inner pairs at `ease`. None where no turning does.
    pub(crate) fn within(&self, error: f64, ease: f64) -> Option<Turned> {
        let (mut low, mut high) = (0.0, self.highest_price());
        let mut best = Some(self.at(0.0, ease)).filter(|turned| turned.error <= error)?;
        for _ in 0..60 {
            let price = 0.5 * (low + high);
            let turned = self.at(price, ease);
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
            if self.at(price, 1.0).square <= square { high = price } else { low = price }
        }
        self.at(high, 1.0)
    }

    /// An orthonormal basis: disjoint columns.
    pub(crate) fn basis(&self, turned: &Turned) -> DenseMatrix {
        let mut columns: Vec<Option<Vec<(usize, f64)>>> =
            self.chosen.iter().map(|&i| Some(vec![(i, 1.0)])).collect();
        for (pair, angle) in self.pairs.iter().zip(&turned.angles) {
            let Some(angle) = angle else { continue };
            let first = (self.chosen[pair.at], angle.cos());
            columns[pair.at] = Some(vec![first, (pair.partner, angle.sin().copysign(pair.form[2]))]);
            if let Some(at) = pair.within {
                columns[at] = None;
            }
        }
        let columns: Vec<Vec<(usize, f64)>> = columns.into_iter().flatten().collect();
        DenseMatrix::from_sparse_columns(self.dim, &columns)
    }
}

impl Pair {
    /// The best angle at a price, in [0, π/2]; None where the pair is better left as it is. For a pair of chosen ones,
    /// which jumps from two directions to one, the angle is that of a price `ease` times as high: at 0 one that loses
    /// the least energy.
    fn turn(&self, price: f64, ease: f64) -> Option<f64> {
        let [a, b, c] = self.form;
        let ease = if self.within.is_some() { ease } else { 1.0 };
        let lowered = (c.abs() - ease * price).max(0.0);
        // Of an inner pair an angle of zero drops the partner.
        let angle = if lowered == 0.0 { 0.0 } else { 0.5 * (2.0 * lowered).atan2(a - b) };
        (self.brought(angle) - price * self.cost(angle) > 0.0).then_some(angle)
    }

    /// Energy gained by turning; for a pair of chosen ones, what one direction keeps less what both keep.
    fn brought(&self, angle: f64) -> f64 {
        let [a, b, c] = self.form;
        let turned = (b - a) * angle.sin().powi(2) + c.abs() * (2.0 * angle).sin();
        if self.within.is_some() { turned - b } else { turned }
    }

    /// κ² that it costs: negative for a pair of chosen ones.
    fn cost(&self, angle: f64) -> f64 {
        (2.0 * angle).sin() - if self.within.is_some() { 1.0 } else { 0.0 }
    }

    fn gain(&self, price: f64) -> f64 {
        self.turn(price, 1.0).map_or(0.0, |angle| self.brought(angle) - price * self.cost(angle))
    }
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
        assert!(blocks.pairs.iter().all(|pair| pair.within.is_none()));
        let mut last = 0.4;
        for price in [0.2, 0.12, 0.08, 0.04, 0.0] {
            let turned = blocks.at(price, 1.0);
            let basis = blocks.basis(&turned);
            assert!((energy.error(&basis) - turned.error).abs() < 1e-14);
            assert!(turned.error <= last);
            last = turned.error;
            // κ² over all vertices.
            let value = |bits: u32| -> f64 {
                (0..2)
                    .map(|a| {
                        let sign = |i: usize| if bits >> i & 1 == 1 { -1.0 } else { 1.0 };
                        (0..5).map(|i| sign(i) * basis.at(i, a)).sum::<f64>().powi(2)
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

    /// Two chosen coordinates with correlation 0.99: one direction does for both.
    #[test]
    fn correlated_coordinates_share_a_direction() {
        let (a, b) = (0.6, 0.3_f64);
        let c = 0.99 * (a * b).sqrt();
        let energy = Energy {
            dim: 3,
            entries: vec![a, c, 0.0, c, b, 0.0, 0.0, 0.0, 0.1],
            total: 1.0,
            mean: None,
            samples: 9,
        };
        let chosen = [0, 1];
        let blocks = Blocks::new(&energy, &chosen, 0.1);
        assert_eq!(blocks.pairs.len(), 1);
        let turned = blocks.within(0.12, 1.0).expect("within reach");
        let basis = blocks.basis(&turned);
        assert_eq!(basis.columns, 1);
        assert!((energy.error(&basis) - turned.error).abs() < 1e-14 && turned.error <= 0.12);
        let length: f64 = basis.entries.iter().map(|u| u.abs()).sum();
        assert!((length * length - turned.square).abs() < 1e-14 && turned.square < 2.0);
        // Too little to lose: both stay.
        let strict = blocks.within(0.1 + 1e-9, 1.0).expect("as it is");
        assert_eq!((blocks.basis(&strict).columns, strict.square), (2, 2.0));
    }

    #[test]
    fn budgets_are_met_exactly() {
        let energy = energy();
        let chosen = [0, 1];
        let blocks = Blocks::new(&energy, &chosen, 0.4);
        let turned = blocks.within(0.35, 1.0).expect("within reach");
        assert!(turned.error <= 0.35 && turned.error > 0.35 - 1e-9);
        let same = blocks.up_to(turned.square);
        assert!(same.square <= turned.square && (same.error - 0.35).abs() < 1e-9);
        assert!(blocks.within(0.01, 1.0).is_none());
    }
}
