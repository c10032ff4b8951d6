//! Fitting one channel: what is asked, how it is looked for, what came out.
//!
//! Whatever the method, the result carries a proven κ, its error, and the limit: no orthogonal projection with that
//! error has a κ below √([`Fitted::limit_rank`]).

use crate::linalg::matrix::DenseMatrix;
use crate::observe::Observer;
use crate::projection::energy::Energy;
use crate::projection::kappa::CertifiedBasis;
use crate::projection::method::algorithm3::{
    RobustProjection, RobustProjectionParams, SparseParams, robust_projection, sparse_basis,
};
use crate::projection::method::candidate::Candidate;
use crate::projection::method::construction::BasisConstruction;
use crate::projection::method::coordinates::{self, RankedCoordinates};
use crate::projection::method::error::FitError;
use crate::projection::method::pca::Spectrum;
use crate::projection::method::progress::FitProgress;
use crate::projection::method::search::Search;
use crate::projection::method::sparse_pca::SparsePca;
use crate::sdp::bracket::BoundParams;

/// What is asked of every channel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// This number of dimensions.
    Rank(usize),
    /// At most this part of the energy lost, in (0, 1).
    Error(f64),
    /// A proven κ of at most this.
    Kappa(f64),
}

/// How a projection is looked for.
#[derive(Clone, Debug, PartialEq)]
pub enum FitMethod {
    /// Coordinates of largest energy.
    Axis,
    /// Principal components: the least error, not the least κ.
    Pca,
    /// Sparse components alone.
    SparsePca(SparseParams),
    /// Algorithm 3 of the paper.
    Algorithm3 {
        /// k, where the target is an error; for a target rank, that rank is k.
        rank: Option<usize>,
        /// δ, where the target is a rank.
        error: Option<f64>,
        /// Values of r; empty for the default ladder.
        splits: Vec<usize>,
        /// The sparse part.
        sparse: SparseParams,
    },
    /// Our own search.
    Robust,
}

/// What came out for one channel.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// The basis with its proof.
    pub certified: CertifiedBasis,
    /// ⟨M, I − Π⟩.
    pub error: f64,
    /// The rank PCA needs for that error: κ² of no orthogonal projection with it is smaller.
    pub limit_rank: usize,
    /// How it was found.
    pub how: BasisConstruction,
}

impl FitMethod {
    /// As on the command line and in files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Axis => "axis",
            Self::Pca => "pca",
            Self::SparsePca(_) => "sparse-pca",
            Self::Algorithm3 { .. } => "algorithm3",
            Self::Robust => "robust",
        }
    }
}

impl Target {
    fn validate(self, dim: usize, samples: u64) -> Result<(), FitError> {
        match self {
            Target::Rank(rank) if rank == 0 || rank > dim => Err(FitError::Rank { rank, dim }),
            Target::Rank(rank) if (rank as u64) > samples => Err(FitError::FewSamples { rank, samples }),
            Target::Error(error) if !(error > 0.0 && error < 1.0) => Err(FitError::Error { error }),
            Target::Kappa(kappa) if !(kappa >= 1.0 && kappa.is_finite()) => {
                Err(FitError::KappaTooSmall { kappa })
            }
            _ => Ok(()),
        }
    }
}

/// Fits one channel. `allowed` tells which coordinates may be used; errors count what lies outside.
pub fn fit_channel(
    energy: &Energy,
    allowed: Option<&dyn Fn(usize) -> bool>,
    target: Target,
    method: &FitMethod,
    bound: &BoundParams,
    observer: &mut (dyn Observer<FitProgress> + Send),
) -> Result<Fitted, FitError> {
    target.validate(energy.dim, energy.samples)?;
    bound.validate()?;
    // Not ended here, even if asked to: from here on a first projection costs little.
    let _ = observer.observe(&FitProgress::Eigen);
    let whole = Spectrum::new(energy);
    let inner = allowed.map(|allowed| energy.restricted(allowed));
    let own = inner.as_ref().map(Spectrum::new);
    let (energy, spectrum) = (inner.as_ref().unwrap_or(energy), own.as_ref().unwrap_or(&whole));
    if let (Target::Rank(rank), Some(allowed)) = (target, allowed) {
        let dim = (0..energy.dim).filter(|&i| allowed(i)).count();
        if rank > dim {
            return Err(FitError::Rank { rank, dim });
        }
    }
    let mut channel = ChannelFit { energy, spectrum, bound, observer };
    let Candidate { certified, error, how } = channel.run(target, method)?;
    let limit_rank = whole.rank_for(error);
    Ok(Fitted { certified, error, limit_rank, how })
}

struct ChannelFit<'a> {
    energy: &'a Energy,
    spectrum: &'a Spectrum,
    bound: &'a BoundParams,
    observer: &'a mut (dyn Observer<FitProgress> + Send),
}

impl ChannelFit<'_> {
    /// The candidate of a method.
    fn run(&mut self, target: Target, method: &FitMethod) -> Result<Candidate, FitError> {
        match method {
            FitMethod::Axis => {
                let RankedCoordinates { order, errors } = RankedCoordinates::of(self.energy);
                let basis = |rank: usize| Ok(coordinates::basis(self.energy.dim, &order[..rank]));
                self.by_rank(target, |rank| errors[rank], basis, BasisConstruction::Coordinates)
            }
            FitMethod::Pca => {
                let errors = self.spectrum.errors();
                let spectrum = self.spectrum;
                let cut_off = (1.0 - self.energy.diagonal().iter().sum::<f64>()).max(0.0);
                let error = |rank: usize| errors[rank] + cut_off;
                self.by_rank(
                    target,
                    error,
                    |rank| Ok(spectrum.basis(rank)),
                    BasisConstruction::PrincipalComponents,
                )
            }
            FitMethod::SparsePca(sparse) => self.sparse(target, sparse),
            FitMethod::Algorithm3 { rank, error, splits, sparse } => {
                let (rank, error) = match target {
                    Target::Rank(own) => (own, error.unwrap_or(f64::INFINITY)),
                    Target::Error(own) => match rank {
                        Some(rank) => (*rank, own),
                        None => (self.rank_of_coordinates(own)?, own),
                    },
                    Target::Kappa(_) => return Err(FitError::NoKappaTarget),
                };
                Target::Rank(rank).validate(self.energy.dim, self.energy.samples)?;
                let params =
                    RobustProjectionParams { rank, error, splits: splits.clone(), sparse: sparse.clone() };
                let RobustProjection { certified, error, split, .. } =
                    robust_projection(self.energy, self.spectrum, &params, self.bound, self.observer)?;
                let how = BasisConstruction::PrincipalAndSparse { principal: split, sparse: rank - split };
                Ok(Candidate { certified, error, how })
            }
            FitMethod::Robust => {
                if let Target::Rank(_) = target {
                    // Coordinates have the least κ of all projections of their rank.
                    return self.run(target, &FitMethod::Axis);
                }
                let mut search = Search {
                    energy: self.energy,
                    spectrum: self.spectrum,
                    bound: self.bound,
                    observer: self.observer,
                };
                match target {
                    Target::Error(error) => search.within_error(error),
                    Target::Kappa(kappa) => search.within_kappa(kappa),
                    Target::Rank(_) => unreachable!("answered above"),
                }
            }
        }
    }

    /// The number of coordinates that meets an error.
    fn rank_of_coordinates(&self, error: f64) -> Result<usize, FitError> {
        let ranked = RankedCoordinates::of(self.energy);
        ranked.rank_for(error).map(|rank| rank.max(1)).ok_or_else(|| ranked.out_of_reach(error))
    }

    /// Nested bases whose errors are known: the rank that meets the target.
    fn by_rank(
        &mut self,
        target: Target,
        error: impl Fn(usize) -> f64,
        basis: impl Fn(usize) -> Result<DenseMatrix, FitError>,
        what: fn(usize) -> BasisConstruction,
    ) -> Result<Candidate, FitError> {
        let n = self.energy.usable();
        let mut certify =
            |rank: usize| Candidate::new(basis(rank)?, error(rank), what(rank), self.bound, self.observer);
        match target {
            Target::Rank(rank) => certify(rank),
            Target::Error(limit) => {
                let rank = (1..=n)
                    .find(|&rank| error(rank) <= limit)
                    .ok_or(FitError::ErrorOutOfReach { error: limit, least: error(n) })?;
                certify(rank)
            }
            Target::Kappa(kappa) => {
                let mut best = certify(1)?;
                if best.kappa() > kappa {
                    return Err(FitError::KappaOutOfReach { kappa, least: best.kappa() });
                }
                // κ² ≥ rank, and κ grows with the subspace: the largest rank lies in [low, high).
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // at most the dimension
                let (mut low, mut high) = (1, (kappa * kappa).floor().min(n as f64) as usize + 1);
                while high - low > 1 {
                    let middle = usize::midpoint(low, high);
                    let found = certify(middle)?;
                    if found.kappa() <= kappa {
                        (best, low) = (found, middle);
                    } else {
                        high = middle;
                    }
                }
                Ok(best)
            }
        }
    }

    /// Sparse components: one run per number of them, each started from the one before.
    fn sparse(&mut self, target: Target, sparse: &SparseParams) -> Result<Candidate, FitError> {
        let n = self.energy.usable();
        let mut start: Option<SparsePca> = None;
        let energy = self.energy;
        let mut run = |rank: usize,
                       observer: &mut (dyn Observer<FitProgress> + Send)|
         -> Result<(DenseMatrix, f64), FitError> {
            let step = FitProgress::Candidate { kind: "sparse components" };
            if observer.observe(&step).is_break() && start.is_some() {
                return Err(FitError::Interrupted);
            }
            let (basis, found) = sparse_basis(energy, rank, start.as_ref(), sparse, observer)?;
            start = Some(found);
            let error = energy.error(&basis);
            Ok((basis, error))
        };
        let (basis, error) = match target {
            Target::Rank(rank) => run(rank, self.observer)?,
            Target::Error(limit) => {
                // Upwards from what PCA needs, by at least one twentieth.
                let mut rank = self.spectrum.rank_for(limit).clamp(1, n);
                loop {
                    let (basis, error) = run(rank, self.observer)?;
                    if error <= limit {
                        break (basis, error);
                    }
                    if rank == n {
                        return Err(FitError::ErrorOutOfReach { error: limit, least: error });
                    }
                    rank = (rank + rank.div_ceil(20)).min(n);
                }
            }
            Target::Kappa(kappa) => {
                // Downwards from κ² dimensions: κ² is never below the rank.
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // at most the dimension
                let mut rank = (kappa * kappa).floor().clamp(1.0, n as f64) as usize;
                loop {
                    let (basis, error) = run(rank, self.observer)?;
                    let how = BasisConstruction::SparseComponents(rank);
                    let found = Candidate::new(basis, error, how, self.bound, self.observer)?;
                    if found.kappa() <= kappa {
                        return Ok(found);
                    }
                    if rank == 1 {
                        return Err(FitError::KappaOutOfReach { kappa, least: found.kappa() });
                    }
                    rank = (rank - rank.div_ceil(20)).max(1);
                }
            }
        };
        let how = BasisConstruction::SparseComponents(basis.columns);
        Candidate::new(basis, error, how, self.bound, self.observer)
    }
}
