//! Roots of 1 + Σ w_i/(d_i − λ) = 0, w_i > 0: the eigenvalues of a diagonal matrix after a change of rank one.
//!
//! **Reference.** Li, *Solving secular equations stably and efficiently* (LAPACK Working Note 89, 1993), the "middle
//! way". **Guarantee.** A root is kept as its distance from the nearer pole, so that the differences d_i − λ, and
//! with them the eigenvectors, have full relative precision (Gu and Eisenstat, 1994). **Deviations.** The last root
//! is found by interpolation with one pole; every step is kept inside a bracket.

/// λ = d_origin + offset.
#[derive(Clone, Copy, Debug)]
pub(super) struct Root {
    pub(super) origin: usize,
    pub(super) offset: f64,
}

impl Root {
    pub(super) fn value(self, poles: &[f64]) -> f64 {
        poles[self.origin] + self.offset
    }
}

/// Steps at most: safeguarded steps at least halve the bracket, and three to six suffice as a rule.
const STEPS: usize = 120;

/// Sums over some poles: (Σ w/Δ, Σ w/Δ²).
fn sums(distances: &[f64], weights: &[f64], offset: f64) -> (f64, f64) {
    let (distances, distances_rest) = distances.as_chunks::<4>();
    let (weights, weights_rest) = weights.as_chunks::<4>();
    let (mut values, mut slopes) = ([0.0; 4], [0.0; 4]);
    for (distance, weight) in distances.iter().zip(weights) {
        for lane in 0..4 {
            let inverse = 1.0 / (distance[lane] - offset);
            let value = weight[lane] * inverse;
            values[lane] += value;
            slopes[lane] += value * inverse;
        }
    }
    let mut sum = ((values[0] + values[1]) + (values[2] + values[3]), slopes.iter().sum::<f64>());
    for (distance, weight) in distances_rest.iter().zip(weights_rest) {
        let inverse = 1.0 / (distance - offset);
        sum.0 += weight * inverse;
        sum.1 += weight * inverse * inverse;
    }
    sum
}

/// The root between the increasing poles j and j + 1, or beyond the last. `distances` is room for as many numbers.
pub(super) fn root(poles: &[f64], weights: &[f64], j: usize, distances: &mut [f64]) -> Root {
    let total: f64 = weights.iter().sum();
    let last = j + 1 == poles.len();
    let width = if last { total } else { poles[j + 1] - poles[j] };
    let measure = |origin: usize, distances: &mut [f64]| {
        distances.iter_mut().zip(poles).for_each(|(distance, pole)| *distance = pole - poles[origin]);
    };
    measure(j, distances);
    // Which half, and a first guess from the two poles beside it, the others held as they are in the middle.
    let (origin, mut low, mut high, mut offset);
    if last {
        let rest = 1.0 + sums(&distances[..j], &weights[..j], width).0;
        (origin, low, high, offset) = (j, 0.0, width, weights[j] / rest);
    } else {
        let middle = 0.5 * width;
        let rest = 1.0
            + sums(&distances[..j], &weights[..j], middle).0
            + sums(&distances[j + 2..], &weights[j + 2..], middle).0;
        let value = rest + (weights[j + 1] - weights[j]) / middle;
        let (below, above) = (weights[j], weights[j + 1]);
        if value >= 0.0 {
            (origin, low, high) = (j, 0.0, middle);
            let (a, b) = (rest * width + below + above, below * width);
            let root = (a * a - 4.0 * rest * b).max(0.0).sqrt();
            offset = if a > 0.0 { 2.0 * b / (a + root) } else { (a - root) / (2.0 * rest) };
        } else {
            (origin, low, high) = (j + 1, -middle, 0.0);
            let (a, b) = (below + above - rest * width, above * width);
            let root = (a * a + 4.0 * rest * b).max(0.0).sqrt();
            offset = -(if a > 0.0 { 2.0 * b / (a + root) } else { (root - a) / (2.0 * rest) });
            measure(j + 1, distances);
        }
    }
    if !(low < offset && offset < high) {
        offset = between(low, high);
    }
    for _ in 0..STEPS {
        let (psi, psi_slope) = sums(&distances[..=j], &weights[..=j], offset);
        let (phi, phi_slope) = sums(&distances[j + 1..], &weights[j + 1..], offset);
        let (value, slope) = (1.0 + psi + phi, psi_slope + phi_slope);
        let noise = 8.0 * (phi - psi) + 1.0 + offset.abs() * slope;
        if value < 0.0 {
            low = offset;
        } else {
            high = offset;
        }
        if !(value.abs() > f64::EPSILON * noise) {
            break;
        }
        let below = distances[j] - offset;
        let step = if last {
            let constant = value - below * psi_slope;
            below + below * below * psi_slope / constant
        } else {
            let above = distances[j + 1] - offset;
            let c = value - below * psi_slope - above * phi_slope;
            let a = (below + above) * value - below * above * slope;
            let b = below * above * value;
            let root = (a * a - 4.0 * b * c).max(0.0).sqrt();
            if a <= 0.0 { (a - root) / (2.0 * c) } else { 2.0 * b / (a + root) }
        };
        let mut next = offset + if value * step < 0.0 { step } else { -value / slope };
        if !(low < next && next < high) {
            next = between(low, high);
        }
        if next == offset || !(low < next && next < high) {
            break;
        }
        offset = next;
    }
    Root { origin, offset }
}

/// A number inside a bracket on one side of zero: the geometric mean where the ends differ in magnitude.
fn between(low: f64, high: f64) -> f64 {
    let (near, far) = if low.abs() < high.abs() { (low, high) } else { (high, low) };
    let floor = near.abs().max(far.abs() * 1e-32);
    if floor < 0.1 * far.abs() { (floor * far.abs()).sqrt().copysign(far) } else { 0.5 * (low + high) }
}
