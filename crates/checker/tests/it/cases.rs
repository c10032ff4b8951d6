//! Random and adversarial cases. Case i is made from seed i alone, so a failure is repeated by its number.
//!
//! Nothing here needs to be right for a test to be valid: the judge is [`rational`](crate::rational). It only has to
//! be mean: matrices that are dominated exactly and not by one unit more, numbers at both ends of the range of
//! floats, rows on scales 2^1000 apart, weights that are wrong in every way a file can be wrong.

use gambeson_checker::{Certificate, Domain, Quadratic};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// Where a case comes from; counted apart, to see that each has its share of proofs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    /// G·Gᵀ, multiplied out in floating point.
    Semidefinite,
    /// Any signs off the diagonal.
    Indefinite,
    /// Nothing on the diagonal.
    ZeroDiagonal,
    /// [0 A; Aᵀ 0].
    Dilation,
    /// Integers with Diag(y) − M singular and semidefinite, exactly.
    Singular,
    /// The same, one entry or weight moved by a few units in the last place.
    Nudged,
    /// Graph Laplacians, as max-cut has them.
    Laplacian,
    /// Most entries zero, whole rows too.
    Holes,
    /// Nothing but zeros, or a single row.
    Trivial,
    /// U·Uᵀ with a generic U.
    Gram,
    /// U·Uᵀ with dependent or vanishing rows and columns.
    DeficientGram,
}

impl Family {
    pub(crate) const ALL: [Family; 11] = [
        Family::Semidefinite,
        Family::Indefinite,
        Family::ZeroDiagonal,
        Family::Dilation,
        Family::Singular,
        Family::Nudged,
        Family::Laplacian,
        Family::Holes,
        Family::Trivial,
        Family::Gram,
        Family::DeficientGram,
    ];
}

/// A matrix with its numbers.
#[derive(Clone, Debug)]
pub(crate) enum Stored {
    Dense { entries: Vec<f64>, dim: usize },
    Sparse { offsets: Vec<usize>, indices: Vec<usize>, values: Vec<f64> },
    Gram { factor: Vec<f64>, dim: usize, rank: usize },
}

impl Stored {
    pub(crate) fn view(&self) -> Quadratic<'_> {
        match self {
            Stored::Dense { entries, dim } => Quadratic::Dense { entries, dim: *dim },
            Stored::Sparse { offsets, indices, values } => {
                Quadratic::Sparse { dim: offsets.len() - 1, offsets, indices, values }
            }
            Stored::Gram { factor, dim, rank } => Quadratic::Gram { factor, dim: *dim, rank: *rank },
        }
    }

    /// Compressed rows of a dense matrix; `stored` says which of the zeros to keep.
    pub(crate) fn sparse(entries: &[f64], dim: usize, mut stored: impl FnMut(usize, usize) -> bool) -> Self {
        let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for i in 0..dim {
            for j in 0..dim {
                if entries[i * dim + j] != 0.0 || stored(i, j) {
                    indices.push(j);
                    values.push(entries[i * dim + j]);
                }
            }
            offsets.push(indices.len());
        }
        Stored::Sparse { offsets, indices, values }
    }
}

/// A matrix, evidence for an upper bound, and witnesses for lower ends.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) family: Family,
    pub(crate) stored: Stored,
    pub(crate) certificate: Certificate,
    /// Rows of A where the matrix is the dilation of A.
    pub(crate) dilated_rows: Option<usize>,
    pub(crate) vertex: Vec<f64>,
    /// V with `columns` columns.
    pub(crate) vectors: Vec<f64>,
    pub(crate) columns: usize,
}

pub(crate) fn generator(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

pub(crate) fn normal(rng: &mut ChaCha8Rng) -> f64 {
    StandardNormal.sample(rng)
}

pub(crate) fn normals(rng: &mut ChaCha8Rng, count: usize) -> Vec<f64> {
    (0..count).map(|_| normal(rng)).collect()
}

pub(crate) fn signs(rng: &mut ChaCha8Rng, count: usize) -> Vec<f64> {
    (0..count).map(|_| if rng.random_bool(0.5) { 1.0 } else { -1.0 }).collect()
}

/// Symmetric n × n from a value for each pair i ≥ j.
pub(crate) fn symmetric(n: usize, mut entry: impl FnMut(usize, usize) -> f64) -> Vec<f64> {
    let mut entries = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            entries[i * n + j] = entry(i, j);
            entries[j * n + i] = entries[i * n + j];
        }
    }
    entries
}

/// U·Uᵀ in plain arithmetic.
pub(crate) fn gram(factor: &[f64], rank: usize) -> Vec<f64> {
    let row = |i: usize| &factor[i * rank..(i + 1) * rank];
    symmetric(factor.len() / rank, |i, j| row(i).iter().zip(row(j)).map(|(a, b)| a * b).sum())
}

/// M and d with Diag(d) − M = Σ w_ij (x_j·e_i − x_i·e_j)(…)ᵀ: semidefinite, and singular at x. All integers,
/// so exact. The diagonal of M is random and not negative.
pub(crate) fn singular(
    rng: &mut ChaCha8Rng,
    n: usize,
    density: f64,
    largest: i32,
) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let x: Vec<f64> =
        signs(rng, n).iter().map(|sign| sign * f64::from(rng.random_range(1..=largest))).collect();
    let w = symmetric(n, |i, j| {
        // A path keeps the graph connected, so x is the only null vector.
        if i == j || !(i == j + 1 || rng.random_bool(density)) {
            0.0
        } else {
            f64::from(rng.random_range(1..=largest))
        }
    });
    let own: Vec<f64> = (0..n).map(|_| f64::from(rng.random_range(0..=largest))).collect();
    let duals = (0..n).map(|i| own[i] + (0..n).map(|j| w[i * n + j] * x[j] * x[j]).sum::<f64>()).collect();
    let entries = symmetric(n, |i, j| if i == j { own[i] } else { w[i * n + j] * x[i] * x[j] });
    (entries, duals, x)
}

/// Eigenvalues of a symmetric matrix by Jacobi rotations, increasing.
pub(crate) fn eigenvalues(entries: &[f64], n: usize) -> Vec<f64> {
    let mut a = entries.to_vec();
    for _ in 0..30 {
        for p in 0..n {
            for q in p + 1..n {
                if a[p * n + q] == 0.0 {
                    continue;
                }
                let theta = (a[q * n + q] - a[p * n + p]) / (2.0 * a[p * n + q]);
                let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
                let (c, s) = (1.0 / t.hypot(1.0), t / t.hypot(1.0));
                for k in 0..n {
                    let (x, y) = (a[k * n + p], a[k * n + q]);
                    (a[k * n + p], a[k * n + q]) = (c * x - s * y, s * x + c * y);
                }
                for k in 0..n {
                    let (x, y) = (a[p * n + k], a[q * n + k]);
                    (a[p * n + k], a[q * n + k]) = (c * x - s * y, s * x + c * y);
                }
            }
        }
    }
    let mut values: Vec<f64> = (0..n).map(|i| a[i * n + i]).collect();
    values.sort_by(f64::total_cmp);
    values
}

/// λ_max of Diag(y)^−½·M·Diag(y)^−½.
pub(crate) fn scaled_eigenvalue(entries: &[f64], weights: &[f64]) -> f64 {
    let n = weights.len();
    let scaled = symmetric(n, |i, j| entries[i * n + j] / (weights[i].sqrt() * weights[j].sqrt()));
    eigenvalues(&scaled, n)[n - 1]
}

/// Weights close to the best: coordinate ascent over unit vectors v_i ← g_i/|g_i|, g_i = Σ_{j≠i} M_ij·v_j (the mixing
/// method), whose fixed points have the dual solution y_i = M_ii + |g_i|.
pub(crate) fn good_weights(rng: &mut ChaCha8Rng, entries: &[f64], n: usize, rounds: usize) -> Vec<f64> {
    let mut v: Vec<Vec<f64>> = (0..n).map(|_| normals(rng, n)).collect();
    let mut lengths = vec![0.0; n];
    for _ in 0..rounds {
        for i in 0..n {
            let mut g = vec![0.0; n];
            for j in (0..n).filter(|&j| j != i) {
                g.iter_mut().zip(&v[j]).for_each(|(g, v)| *g += entries[i * n + j] * v);
            }
            lengths[i] = g.iter().map(|g| g * g).sum::<f64>().sqrt();
            if lengths[i] > 0.0 {
                v[i] = g.iter().map(|g| g / lengths[i]).collect();
            }
        }
    }
    let weights: Vec<f64> = (0..n).map(|i| (entries[i * n + i] + lengths[i]).max(0.0)).collect();
    let least = 1e-6 * weights.iter().fold(1e-9, |most: f64, &y| most.max(y));
    weights.into_iter().map(|y| y.max(least)).collect()
}

/// x·2^by, in two steps where the power itself would overflow.
fn times_power(x: f64, by: i32) -> f64 {
    let half = by / 2;
    x * 2f64.powi(half) * 2f64.powi(by - half)
}

/// Moves by a few units in the last place.
fn nudged(rng: &mut ChaCha8Rng, mut x: f64) -> f64 {
    let up = rng.random_bool(0.5);
    for _ in 0..[1, 1, 2, 8, 64][rng.random_range(0..5)] {
        x = if up { x.next_up() } else { x.next_down() };
    }
    x
}

struct Base {
    entries: Vec<f64>,
    factor: Option<(Vec<f64>, usize)>,
    /// Weights with Diag(d) − M exactly singular, where they are known.
    duals: Option<Vec<f64>>,
    dilated_rows: Option<usize>,
}

fn base(rng: &mut ChaCha8Rng, family: Family, n: usize) -> Base {
    let plain = |entries| Base { entries, factor: None, duals: None, dilated_rows: None };
    match family {
        Family::Semidefinite => {
            let rank = rng.random_range(1..=n + 1);
            plain(gram(&normals(rng, n * rank), rank))
        }
        Family::Indefinite => {
            plain(symmetric(n, |i, j| if i == j { normal(rng).abs() } else { normal(rng) }))
        }
        Family::ZeroDiagonal => plain(symmetric(n, |i, j| if i == j { 0.0 } else { normal(rng) })),
        Family::Dilation => {
            let rows = rng.random_range(0..=n);
            let entries = symmetric(n, |i, j| if (i < rows) == (j < rows) { 0.0 } else { normal(rng) });
            Base { dilated_rows: Some(rows), ..plain(entries) }
        }
        Family::Singular | Family::Nudged => {
            let (density, largest) = (rng.random_range(0.0..1.0), [1, 3, 1000][rng.random_range(0..3)]);
            let (entries, duals, _) = singular(rng, n, density, largest);
            Base { duals: Some(duals), ..plain(entries) }
        }
        Family::Laplacian => {
            let whole = rng.random_bool(0.5);
            let w = symmetric(n, |_, _| match rng.random_range(0..3) {
                0 => 0.0,
                _ if whole => f64::from(rng.random_range(-2..5)),
                _ => rng.random_range(0.0..1.0),
            });
            let degree = |i: usize| (0..n).filter(|&j| j != i).map(|j| w[i * n + j]).sum::<f64>();
            plain(symmetric(n, |i, j| if i == j { degree(i).max(0.0) } else { -w[i * n + j] }))
        }
        Family::Holes => {
            let hollow: Vec<bool> = (0..n).map(|_| rng.random_bool(0.4)).collect();
            plain(symmetric(n, |i, j| match normal(rng) {
                _ if hollow[i] || hollow[j] || rng.random_bool(0.5) => 0.0,
                value if i == j => value.abs(),
                value => value,
            }))
        }
        Family::Trivial => {
            let value = if n == 1 { normal(rng).abs() } else { 0.0 };
            plain(vec![value; n * n])
        }
        Family::Gram | Family::DeficientGram => {
            let rank = [1, n.saturating_sub(1).max(1), n, n + 1, 2 * n][rng.random_range(0..5)];
            let mut factor = normals(rng, n * rank);
            if family == Family::DeficientGram {
                if rng.random_bool(0.5) {
                    factor.iter_mut().for_each(|u| *u = u.round());
                }
                for _ in 0..rng.random_range(1..=3) {
                    let (a, b) = (rng.random_range(0..n), rng.random_range(0..n));
                    let (c, d) = (rng.random_range(0..rank), rng.random_range(0..rank));
                    match rng.random_range(0..4) {
                        0 => factor[a * rank..(a + 1) * rank].fill(0.0),
                        1 => (0..n).for_each(|i| factor[i * rank + c] = 0.0),
                        2 => (0..rank).for_each(|k| factor[a * rank + k] = factor[b * rank + k]),
                        _ => (0..n).for_each(|i| factor[i * rank + c] = -factor[i * rank + d]),
                    }
                }
            }
            Base { factor: Some((factor.clone(), rank)), ..plain(gram(&factor, rank)) }
        }
    }
}

/// d that dominates or nearly: best weights scaled to the verge, row sums, or anything at all.
fn duals(rng: &mut ChaCha8Rng, entries: &[f64], n: usize) -> Vec<f64> {
    let ordinary = |rng: &mut ChaCha8Rng| 10f64.powf(rng.random_range(-3.0..3.0));
    let weights = match rng.random_range(0..8) {
        0..4 => good_weights(rng, entries, n, 30),
        4 | 5 => (0..n).map(|i| (0..n).map(|j| entries[i * n + j].abs()).sum::<f64>()).collect(),
        6 => (0..n).map(|_| ordinary(rng)).collect(),
        _ => return (0..n).map(|_| 10f64.powf(rng.random_range(-300.0..300.0))).collect(),
    };
    let weights: Vec<f64> = weights.into_iter().map(|y| if y > 0.0 { y } else { ordinary(rng) }).collect();
    let verge = scaled_eigenvalue(entries, &weights);
    weights.iter().map(|y| if verge > 0.0 { y * verge } else { *y }).collect()
}

/// Exponents of a scaling of the rows by powers of two.
fn exponents(rng: &mut ChaCha8Rng, n: usize) -> Vec<i32> {
    match rng.random_range(0..10) {
        0..6 => vec![0; n],
        6 => vec![rng.random_range(249..=498); n],
        // Every other time so far down that entries have a few bits left.
        7 if rng.random_bool(0.5) => vec![rng.random_range(-537..=-530); n],
        7 => vec![rng.random_range(-537..=-249); n],
        8 => (0..n).map(|_| rng.random_range(-500..=500)).collect(),
        _ => (0..n).map(|_| if rng.random_bool(0.5) { 500 } else { -500 }).collect(),
    }
}

fn tamper(rng: &mut ChaCha8Rng, certificate: &mut Certificate) {
    let weights = &mut certificate.weights;
    let i = rng.random_range(0..weights.len());
    match rng.random_range(0..10) {
        0 => weights.iter_mut().for_each(|y| *y *= 1.0 - 1e-9),
        1 => weights[i] = 0.0,
        2 => weights[i] = f64::NAN,
        3 => weights[i] = -weights[i],
        4 => weights[i] = f64::INFINITY,
        5 => weights.truncate(i),
        6 => weights.push(1.0),
        7 => weights.reverse(),
        8 => weights.fill(0.0),
        _ => certificate.shift = Some([f64::NAN, f64::INFINITY, f64::NEG_INFINITY][i % 3]),
    }
}

/// Moves numbers by a few units in the last place, where the family says so.
fn nudge(rng: &mut ChaCha8Rng, family: Family, entries: &mut [f64], duals: &mut [f64]) {
    let n = duals.len();
    match family {
        Family::Nudged if rng.random_bool(0.5) => {
            let i = rng.random_range(0..n);
            duals[i] = nudged(rng, duals[i]);
        }
        Family::Nudged => {
            let (i, j) = (rng.random_range(0..n), rng.random_range(0..n));
            entries[i * n + j] = nudged(rng, entries[i * n + j]);
            entries[j * n + i] = entries[i * n + j];
        }
        _ => {}
    }
}

/// A certificate with these duals, or a little more or less, with or without a shift; sometimes tampered with.
fn certified(rng: &mut ChaCha8Rng, domain: Domain, mut duals: Vec<f64>) -> Certificate {
    let margin = match rng.random_range(0..8) {
        0 | 1 => 0.0,
        2 => 1e-6,
        3 => 0.1,
        4 => -(2f64.powi(rng.random_range(-52..-20))),
        _ => 2f64.powi(rng.random_range(-52..-20)),
    };
    duals.iter_mut().for_each(|d| *d *= 1.0 + margin);
    let typical = duals.iter().copied().fold(f64::INFINITY, f64::min);
    let shift = match rng.random_range(0..10) {
        0..4 => None,
        4..7 => Some(0.0),
        7 => Some(typical * rng.random_range(0.0..2.0)),
        8 => Some(-typical * rng.random_range(0.0..2.0)),
        _ => Some(typical * 2f64.powi(-rng.random_range(40..60)) * normal(rng)),
    };
    let weights = duals.iter().map(|d| d - shift.filter(|t| t.is_finite()).unwrap_or(0.0)).collect();
    let mut certificate = Certificate { domain, weights, shift };
    if rng.random_bool(0.12) {
        tamper(rng, &mut certificate);
    }
    certificate
}

/// V with so many columns, for rows scaled by these powers of two.
fn witness(rng: &mut ChaCha8Rng, scaling: &[i32], columns: usize) -> Vec<f64> {
    let mut vectors = normals(rng, scaling.len() * columns);
    match rng.random_range(0..6) {
        0 => vectors.iter_mut().for_each(|v| *v = v.round()),
        1 => {
            let by = rng.random_range(-1060..=1000);
            vectors.iter_mut().for_each(|v| *v = times_power(*v, by));
        }
        2 => {
            // Undoes the scaling of the rows, so that all terms are of one size.
            for (row, &by) in vectors.chunks_exact_mut(columns).zip(scaling) {
                row.iter_mut().for_each(|v| *v = times_power(*v, -by));
            }
        }
        _ => {}
    }
    vectors
}

/// Case `seed`.
pub(crate) fn case(seed: u64) -> Case {
    let rng = &mut generator(seed);
    let family = Family::ALL[usize::try_from(seed % 11).expect("below eleven")];
    let n = match family {
        Family::Trivial if rng.random_bool(0.5) => 1,
        _ => rng.random_range(1..=8),
    };
    let Base { mut entries, mut factor, duals: exact, dilated_rows } = base(rng, family, n);
    let domain = if rng.random_bool(0.5) { Domain::Cube } else { Domain::Vertices };
    let moves_diagonal = domain == Domain::Vertices && factor.is_none() && dilated_rows.is_none();
    if moves_diagonal && exact.is_none() {
        (0..n).for_each(|i| entries[i * n + i] = 0.0);
    }
    let mut duals = exact.unwrap_or_else(|| duals(rng, &entries, n));
    if moves_diagonal {
        // The diagonal moves from M into the constant: d loses what M loses, and then M gets any diagonal.
        for i in 0..n {
            duals[i] -= entries[i * n + i];
            entries[i * n + i] = if rng.random_bool(0.5) { 0.0 } else { (8.0 * normal(rng)).round() };
        }
    } else if rng.random_bool(0.02) {
        entries[0] = -1.0;
    }
    let scaling = exponents(rng, n);
    entries = symmetric(n, |i, j| times_power(entries[i * n + j], scaling[i] + scaling[j]));
    if let Some((factor, rank)) = &mut factor {
        factor.chunks_exact_mut(*rank).zip(&scaling).for_each(|(row, &by)| {
            row.iter_mut().for_each(|u| *u = times_power(*u, by));
        });
    }
    duals.iter_mut().zip(&scaling).for_each(|(d, &by)| *d = times_power(*d, 2 * by));
    nudge(rng, family, &mut entries, &mut duals);
    let certificate = certified(rng, domain, duals);
    if rng.random_bool(0.3) {
        entries.iter_mut().filter(|value| **value == 0.0).for_each(|value| *value = -*value);
    }
    let stored = if let Some((factor, rank)) = factor {
        Stored::Gram { factor, dim: n, rank }
    } else if rng.random_bool(0.5) {
        Stored::Dense { entries, dim: n }
    } else {
        let kept = rng.random_range(0.0..0.5);
        Stored::sparse(&entries, n, |_, _| rng.random_bool(kept))
    };
    let columns = rng.random_range(1..=9);
    let vectors = witness(rng, &scaling, columns);
    Case { family, stored, certificate, dilated_rows, vertex: signs(rng, n), vectors, columns }
}
