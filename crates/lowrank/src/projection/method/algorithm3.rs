//! Algorithm 3 of the paper: a robust projection from principal and sparse components.
//!
//! **Problem.** Among projections of rank k that lose at most δ of the energy, ⟨M, I − Π⟩ ≤ δ, one with a small
//! ‖Π‖_{∞→2}, with a proven bound κ.
//!
//! **Reference.** Section 3.2, Algorithm 3. For different values of r ≤ k: Π₁ from the r leading principal components,
//! M′ = M − Π₁MΠ₁, Π₂ of rank k − r from sparse PCA on M′, Π = Π₁ + Π₂, κ certified; the smallest κ within δ wins.
//!
//! **Guarantee.** κ is proven by the checker for the basis returned. A better Π may exist.
//!
//! **Deviations.** (1) The sparse components are not orthogonal, neither to each other nor to Π₁: they are made
//! orthonormal together with it, so Π is a projection. (2) Sparse components that vanish or depend on the others are
//! replaced by the coordinates of largest energy left, so that the rank is k. (3) κ is certified to the gap of
//! [`BoundParams`], by the faster solver by default, instead of δ = 1/4; to 0.2 % while values of r are compared. (4) The
//! paper states neither the penalty α that it gave to scikit-learn nor its units; see [`SparseParams`].
//!
//! Work is shared between values of r: one eigen-decomposition serves all, and sparse PCA begins from the components of
//! the value before.

use crate::linalg::matrix::DenseMatrix;
use crate::linalg::orthonormal::orthonormal_basis;
use crate::observe::Observer;
use crate::projection::energy::Energy;
use crate::projection::kappa::CertifiedBasis;
use crate::projection::method::coordinates::RankedCoordinates;
use crate::projection::method::error::FitError;
use crate::projection::method::pca::Spectrum;
use crate::projection::method::progress::{FitProgress, relay};
use crate::projection::method::sparse_pca::{SparsePca, SparsePcaParams, sparse_pca};
use crate::sdp::bracket::BoundParams;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// How tightly κ² is proven while values of r are compared.
const COMPARING_GAP: f64 = 2e-3;

/// How sparse components are looked for. The result depends on α divided by the scale of the data.
#[derive(Clone, Debug, PartialEq)]
pub struct SparseParams {
    /// α, the price of a unit of code, in units of the energy of the k-th largest coordinate of M (k the rank asked
    /// for): sparse PCA is run on M′ divided by that energy. Larger values give sparser components. Positive.
    pub alpha: f64,
    /// The most rounds.
    pub max_iterations: usize,
    /// Relative decrease of the objective in one round at which to stop.
    pub tolerance: f64,
}

impl Default for SparseParams {
    fn default() -> Self {
        Self { alpha: 0.3, max_iterations: 60, tolerance: 1e-4 }
    }
}

/// Parameters of [`robust_projection`].
#[derive(Clone, Debug)]
pub struct RobustProjectionParams {
    /// k, the rank.
    pub rank: usize,
    /// δ, the part of the energy that may be lost; infinite for no budget.
    pub error: f64,
    /// The values of r to try, at most k. Empty for a default ladder up to k.
    pub splits: Vec<usize>,
    /// The sparse part.
    pub sparse: SparseParams,
}

/// What Algorithm 3 found.
#[derive(Clone, Debug)]
pub struct RobustProjection {
    /// Π̂ with κ̂.
    pub certified: CertifiedBasis,
    /// ⟨M, I − Π̂⟩.
    pub error: f64,
    /// The r it chose.
    pub split: usize,
    /// Every r tried: (r, κ, error).
    pub tried: Vec<(usize, f64, f64)>,
}

/// The values of r tried where none are given.
fn ladder(rank: usize) -> Vec<usize> {
    let mut splits: Vec<usize> =
        [0, 1, 2, 5, 10, 20, 50, 100, 150].into_iter().filter(|&r| r < rank).collect();
    splits.push(rank);
    splits
}

/// Algorithm 3. Fails where no r stays within δ.
pub fn robust_projection(
    energy: &Energy,
    spectrum: &Spectrum,
    params: &RobustProjectionParams,
    bound: &BoundParams,
    observer: &mut (dyn Observer<FitProgress> + Send),
) -> Result<RobustProjection, FitError> {
    let rank = params.rank;
    let mut splits = if params.splits.is_empty() { ladder(rank) } else { params.splits.clone() };
    if let Some(&split) = splits.iter().find(|&&r| r > rank) {
        return Err(FitError::Split { split, rank });
    }
    splits.sort_unstable();
    splits.dedup();
    let mut best: Option<RobustProjection> = None;
    let mut tried = Vec::new();
    let mut sparse: Option<SparsePca> = None;
    let mut least = f64::INFINITY;
    let comparing = BoundParams { gap: bound.gap.max(COMPARING_GAP), ..bound.clone() };
    for (at, &r) in splits.iter().enumerate() {
        let stop =
            observer.observe(&FitProgress::Split { split: r, done: at, total: splits.len() }).is_break();
        if stop && at > 0 {
            break; // the first is tried in any case
        }
        let principal: Vec<&[f64]> = (0..r).map(|a| spectrum.vector(a)).collect(); // Π₁
        let basis = if r == rank {
            spectrum.basis(rank)
        } else {
            let rest = deflated(energy, spectrum, r); // M′
            let found = sparse_components(
                &rest,
                rank - r,
                energy_of_coordinate(energy, rank),
                sparse.as_ref(),
                &params.sparse,
                observer,
            )?;
            let components = found.components.chunks_exact(energy.dim);
            let spanning: Vec<&[f64]> = principal.iter().copied().chain(components).collect();
            let basis = filled_up(&rest, &spanning, rank)?; // Π = Π₁ + Π₂
            sparse = Some(found);
            basis
        };
        let error = energy.error(&basis);
        least = least.min(error);
        let certified = CertifiedBasis::new(basis, &comparing, &mut relay(observer))?;
        let kappa = certified.kappa().value();
        tried.push((r, kappa, error));
        let better = best.as_ref().is_none_or(|best| kappa < best.certified.kappa().value());
        if better && error <= params.error {
            best = Some(RobustProjection { certified, error, split: r, tried: Vec::new() });
        }
    }
    let best = best.ok_or(FitError::NoneWithinError { rank, error: params.error, least })?;
    let certified = best.certified.tightened(bound, &mut relay(observer))?;
    Ok(RobustProjection { certified, tried, ..best })
}

/// Sparse PCA alone: a rank-k basis of sparse components of M, with no principal part.
pub(crate) fn sparse_basis(
    energy: &Energy,
    rank: usize,
    start: Option<&SparsePca>,
    params: &SparseParams,
    observer: &mut (dyn Observer<FitProgress> + Send),
) -> Result<(DenseMatrix, SparsePca), FitError> {
    let unit = energy_of_coordinate(energy, rank);
    let found = sparse_components(energy, rank, unit, start, params, observer)?;
    let spanning: Vec<&[f64]> = found.components.chunks_exact(energy.dim).collect();
    let basis = filled_up(energy, &spanning, rank)?;
    Ok((basis, found))
}

/// M − Π₁MΠ₁ for the first r components. As they are eigenvectors, M minus their part.
fn deflated(energy: &Energy, spectrum: &Spectrum, r: usize) -> Energy {
    let n = energy.dim;
    let mut rest = energy.clone();
    for a in 0..r {
        let (value, vector) = (spectrum.values()[a], spectrum.vector(a));
        for (row, x) in rest.entries.chunks_exact_mut(n).zip(vector) {
            row.iter_mut().zip(vector).for_each(|(entry, y)| *entry -= value * x * y);
        }
    }
    rest
}

/// Energy of the coordinate that comes k-th by it.
fn energy_of_coordinate(energy: &Energy, rank: usize) -> f64 {
    let mut diagonal = energy.diagonal();
    diagonal.sort_by(|a, b| b.total_cmp(a));
    diagonal[rank.clamp(1, energy.dim) - 1].max(f64::MIN_POSITIVE)
}

fn sparse_components(
    rest: &Energy,
    atoms: usize,
    unit: f64,
    start: Option<&SparsePca>,
    params: &SparseParams,
    observer: &mut (dyn Observer<FitProgress> + Send),
) -> Result<SparsePca, FitError> {
    let n = rest.dim;
    let matrix: Vec<f64> = rest.entries.iter().map(|entry| entry / unit).collect();
    let own = SparsePcaParams {
        atoms,
        alpha: params.alpha,
        max_iterations: params.max_iterations,
        tolerance: params.tolerance,
        centre: false, // M is a form, not a list of samples: its rows have no mean to take off
        ..SparsePcaParams::default()
    };
    let mut rng = ChaCha8Rng::seed_from_u64(0); // used by the start from singular vectors only, which is not taken
    Ok(sparse_pca(&matrix, n, n, start, &own, &mut rng, &mut relay(observer))?)
}

/// An orthonormal basis of exactly `rank` columns: the span of the vectors, then coordinates by the energy left.
fn filled_up(rest: &Energy, spanning: &[&[f64]], rank: usize) -> Result<DenseMatrix, FitError> {
    let n = rest.dim;
    let RankedCoordinates { order, .. } = RankedCoordinates::of(rest);
    let mut basis = orthonormal_basis(n, spanning.iter().copied());
    let mut next = 0;
    let mut units: Vec<Vec<f64>> = Vec::new();
    while basis.as_ref().map_or(0, |basis| basis.columns) < rank && next < n {
        let missing = rank - basis.as_ref().map_or(0, |basis| basis.columns);
        for &i in order.iter().skip(next).take(missing) {
            let mut unit = vec![0.0; n];
            unit[i] = 1.0;
            units.push(unit);
        }
        next += missing;
        let all = spanning.iter().copied().chain(units.iter().map(Vec::as_slice));
        basis = orthonormal_basis(n, all);
    }
    basis.filter(|basis| basis.columns == rank).ok_or(FitError::Rank { rank, dim: n })
}
