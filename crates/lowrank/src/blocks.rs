//! Block coordinates: principal components inside small groups of coordinates.
//!
//! κ² adds up over groups, so each group may be treated by itself. Of a group of m coordinates either q of them are
//! kept as they are, for q of κ², or its q leading components, for between q and m of it. Coordinates that are strongly
//! correlated, neighbours in the spectrum of a sound say, form a group.
//!
//! **Method.** Groups grow by joining the two with the largest squared correlation between them, to at most
//! [`LARGEST`]. At a price each group takes what brings most energy less price times κ²; the price is what the error
//! or κ asked for wants. κ² of a group is taken to be its maximum over the vertices, all of which are looked at: the
//! certificate of the whole is made later, like that of any basis.

use crate::eigen::symmetric_eigen;
use crate::energy::Energy;
use crate::matrix::DenseMatrix;

/// Most coordinates in a group.
const LARGEST: usize = 4;
/// Correlations below this join nothing.
const LEAST_CORRELATION: f64 = 0.05;

/// What may be kept of a group.
struct Choice {
    /// Vectors on the coordinates of the group.
    vectors: Vec<Vec<f64>>,
    /// Energy they keep.
    kept: f64,
    /// κ² of the group.
    square: f64,
}

/// Groups of coordinates, each with its choices.
pub(crate) struct Blocks {
    dim: usize,
    groups: Vec<(Vec<usize>, Vec<Choice>)>,
}

impl Blocks {
    pub(crate) fn new(energy: &Energy) -> Self {
        let groups = grouped(energy)
            .into_iter()
            .map(|group| {
                let choices = choices(energy, &group);
                (group, choices)
            })
            .collect();
        Self { dim: energy.dim, groups }
    }

    /// Error, κ² by estimate, and the basis at a price.
    pub(crate) fn at(&self, price: f64) -> Option<(f64, f64, DenseMatrix)> {
        let (mut kept, mut square) = (0.0, 0.0);
        let mut columns: Vec<(&[usize], &[f64])> = Vec::new();
        for (group, choices) in &self.groups {
            let worth = |choice: &&Choice| choice.kept - price * choice.square;
            let best = choices.iter().max_by(|a, b| worth(a).total_cmp(&worth(b)))?;
            if worth(&best) > 0.0 {
                kept += best.kept;
                square += best.square;
                columns.extend(best.vectors.iter().map(|vector| (group.as_slice(), vector.as_slice())));
            }
        }
        if columns.is_empty() {
            return None;
        }
        let mut entries = vec![0.0; self.dim * columns.len()];
        for (a, (group, vector)) in columns.iter().enumerate() {
            group.iter().zip(*vector).for_each(|(&i, &x)| entries[i * columns.len() + a] = x);
        }
        Some((1.0 - kept, square, DenseMatrix { rows: self.dim, columns: columns.len(), entries }))
    }

    /// The price above which nothing is kept.
    pub(crate) fn highest_price(&self) -> f64 {
        let ratios = self.groups.iter().flat_map(|(_, choices)| choices).map(|c| c.kept / c.square);
        ratios.fold(0.0, f64::max)
    }
}

/// Joins coordinates by decreasing correlation.
fn grouped(energy: &Energy) -> Vec<Vec<usize>> {
    let n = energy.dim;
    let diagonal = energy.diagonal();
    let mut pairs: Vec<(f64, usize, usize)> = Vec::new();
    for i in 0..n {
        for j in 0..i {
            let product = diagonal[i] * diagonal[j];
            let entry = energy.entries[i * n + j];
            if product > 0.0 && entry * entry > LEAST_CORRELATION * LEAST_CORRELATION * product {
                // What joining may bring: the covariance, not the correlation.
                pairs.push((entry.abs(), i, j));
            }
        }
    }
    pairs.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
    let mut group_of: Vec<usize> = (0..n).collect();
    let mut groups: Vec<Vec<usize>> = (0..n).map(|i| vec![i]).collect();
    for (_, i, j) in pairs {
        let (a, b) = (group_of[i], group_of[j]);
        if a != b && groups[a].len() + groups[b].len() <= LARGEST {
            let moved = std::mem::take(&mut groups[b]);
            moved.iter().for_each(|&k| group_of[k] = a);
            groups[a].extend(moved);
        }
    }
    groups.retain(|group| group.iter().any(|&i| diagonal[i] > 0.0));
    groups
}

/// Everything that may be kept of a group: its coordinates of largest energy, or its leading components.
fn choices(energy: &Energy, group: &[usize]) -> Vec<Choice> {
    let m = group.len();
    let form: Vec<f64> =
        group.iter().flat_map(|&i| group.iter().map(move |&j| energy.entries[i * energy.dim + j])).collect();
    let mut order: Vec<usize> = (0..m).collect();
    order.sort_by(|&a, &b| form[b * m + b].total_cmp(&form[a * m + a]));
    let units: Vec<Vec<f64>> =
        order.iter().map(|&a| (0..m).map(|b| f64::from(u8::from(a == b))).collect()).collect();
    let energies: Vec<f64> = order.iter().map(|&a| form[a * m + a]).collect();
    let mut found: Vec<Choice> = Vec::new();
    let mut take = |vectors: &[Vec<f64>], energies: &[f64]| {
        let square = largest_on_vertices(vectors, m);
        found.push(Choice { vectors: vectors.to_vec(), kept: energies.iter().sum(), square });
    };
    (1..=m).for_each(|q| take(&units[..q], &energies[..q]));
    if m > 1 {
        let (values, vectors) = symmetric_eigen(form, m);
        (1..m).for_each(|q| take(&vectors[..q], &values[..q]));
    }
    found
}

/// max Σ (v·x)² over x in {−1, 1}^m.
fn largest_on_vertices(vectors: &[Vec<f64>], m: usize) -> f64 {
    let signed = |bits: usize, vector: &[f64]| -> f64 {
        vector.iter().enumerate().map(|(a, v)| if bits >> a & 1 == 1 { -v } else { *v }).sum()
    };
    (0..1_usize << (m - 1))
        .map(|bits| vectors.iter().map(|vector| signed(bits, vector).powi(2)).sum::<f64>())
        .fold(0.0, f64::max)
}
