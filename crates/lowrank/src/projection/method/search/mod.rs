//! Our own search for robust projections: the smallest proven κ for an error, the smallest error for a κ.
//!
//! **Limit.** κ ≥ √r for every projection of rank r, with equality for coordinates, and an error e needs at least the
//! rank of PCA ([`Spectrum::rank_for`]). So for a given *rank* the coordinates of largest energy have the least κ there
//! is, and are the answer. For a given *error* fewer, tilted directions may do better than whole coordinates.
//!
//! **Candidates**, each with a proven κ; the best wins:
//! * coordinates of largest energy ([`axis`](crate::projection::method::coordinates));
//! * fewer of them, tilted by just as much as the error requires (`tilt.rs`), and once more with the prices that the
//!   solution of the relaxation gives to every entry: its own gradient;
//! * coordinates and directions inside pairs of them (`pairs.rs`);
//! * fewer directions inside groups of strongly correlated coordinates (`groups.rs`);
//! * some principal components, and coordinates for the rest.
//!
//! A candidate whose rank is no smaller than the best κ² is not tried: κ² is never below the rank.

mod groups;
mod pairs;
mod tilt;

use crate::linalg::matrix::DenseMatrix;
use crate::linalg::orthonormal::orthonormal_basis;
use crate::observe::Observer;
use crate::projection::energy::Energy;
use crate::projection::method::candidate::Candidate;
use crate::projection::method::construction::BasisConstruction;
use crate::projection::method::coordinates::{self, RankedCoordinates};
use crate::projection::method::error::FitError;
use crate::projection::method::pca::Spectrum;
use crate::projection::method::progress::FitProgress;
use crate::projection::method::search::groups::Groups;
use crate::projection::method::search::pairs::Blocks;
use crate::projection::method::search::tilt::{Tilt, Tilted};
use crate::sdp::bracket::BoundParams;

/// How far the angle of an inner pair follows the price.
const EASES: [f64; 4] = [1.0, 0.5, 0.25, 0.0];
/// Numbers of coordinates around that of plain ones that are paired.
const FEWER: usize = 12;
/// Numbers of tilted coordinates in a row that may fail to improve before the search gives up.
const IN_VAIN: usize = 4;
/// Halvings of a price.
const HALVINGS: usize = 24;
/// Numbers of principal components that precede coordinates.
const PRINCIPAL: [usize; 5] = [1, 2, 4, 8, 16];

/// One channel's search.
pub(crate) struct Search<'a> {
    pub(crate) energy: &'a Energy,
    pub(crate) spectrum: &'a Spectrum,
    pub(crate) bound: &'a BoundParams,
    pub(crate) observer: &'a mut (dyn Observer<FitProgress> + Send),
}

impl Search<'_> {
    /// The smallest κ with an error of at most `error`.
    pub(crate) fn within_error(&mut self, error: f64) -> Result<Candidate, FitError> {
        let ranked = &RankedCoordinates::of(self.energy);
        let plain = ranked.rank_for(error).filter(|&rank| rank > 0);
        let plain = plain.ok_or_else(|| ranked.out_of_reach(error))?;
        let RankedCoordinates { order, errors } = ranked;
        let mut best = self.coordinates(&order[..plain], errors[plain])?;
        let least = self.spectrum.rank_for(error);
        self.blocks_within(error, ranked, plain, &mut best)?;
        self.groups_within(error, ranked, plain, &mut best)?;
        // Ever fewer coordinates, until several numbers of them in a row were no better.
        let mut in_vain = 0;
        for rank in (least.max(1)..plain).rev() {
            let improved = self.tilted_within(&order[..rank], error, &mut best)?;
            in_vain = if improved { 0 } else { in_vain + 1 };
            if in_vain == IN_VAIN {
                break;
            }
        }
        self.principal_within(error, order, &mut best)?;
        Ok(best)
    }

    /// The smallest error with a proven κ of at most `kappa`.
    pub(crate) fn within_kappa(&mut self, kappa: f64) -> Result<Candidate, FitError> {
        let RankedCoordinates { order, errors } = RankedCoordinates::of(self.energy);
        let usable = self.energy.usable();
        let fits = |found: &Candidate| found.kappa() <= kappa;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // at most the dimension
        let mut rank = (kappa * kappa * (1.0 + 1e-12)).floor().min(usable as f64) as usize;
        let mut best = loop {
            if rank == 0 {
                let least = self.coordinates(&order[..1], errors[1])?.kappa();
                return Err(FitError::KappaOutOfReach { kappa, least });
            }
            let found = self.coordinates(&order[..rank], errors[rank])?;
            if fits(&found) {
                break found;
            }
            rank -= 1; // κ² of an integer may have been rounded up
        };
        let most = (rank + FEWER).min(usable);
        let groups = self.groups(rank, &order);
        for rank in rank..=most {
            // A hair less than allowed, for the proof.
            let room = kappa * kappa * (1.0 - 1e-9) - rank as f64;
            let Some(combined) = groups.up_to(room) else { continue };
            if errors[rank] + combined.lost < best.error {
                let basis = groups.basis(&order[..rank], combined);
                let found = self.certified(basis, BasisConstruction::Groups(rank))?;
                if fits(&found) && found.error < best.error {
                    best = found;
                }
            }
        }
        for rank in (rank.saturating_sub(FEWER).max(1)..=most).rev() {
            let blocks = Blocks::new(self.energy, &order[..rank], errors[rank]);
            let turned = blocks.up_to(kappa * kappa * (1.0 - 1e-9));
            if turned.error < best.error {
                let found = self.certified(blocks.basis(&turned), BasisConstruction::Pairs(rank))?;
                if fits(&found) && found.error < best.error {
                    best = found;
                }
            }
        }
        for rank in [Some(rank), rank.checked_sub(1)].into_iter().flatten().filter(|&rank| rank > 0) {
            let chosen = &order[..rank];
            let tilt = Tilt::new(self.energy, chosen, None);
            let (mut low, mut high) = (0.0, tilt.highest_price());
            let mut tilted: Option<Tilted> = None;
            for _ in 0..10 {
                if self.observer.observe(&FitProgress::Candidate { kind: "tilted coordinates" }).is_break() {
                    return Ok(best);
                }
                let price = 0.5 * (low + high);
                let next = tilt.at(price, tilted.as_ref());
                // Proofs cost most: none where the estimate is far off.
                let found = if next.estimate(rank) > 1.2 * kappa * kappa {
                    None
                } else {
                    let basis = tilt.basis(&next).ok_or(FitError::Rank { rank, dim: self.energy.dim })?;
                    Some(self.certified(basis, BasisConstruction::TiltedCoordinates(rank))?)
                        .filter(|found| fits(found))
                };
                tilted = Some(next);
                match found {
                    Some(found) => {
                        if found.error < best.error {
                            best = found;
                        }
                        high = price;
                    }
                    None => low = price,
                }
            }
        }
        Ok(best)
    }

    fn coordinates(&mut self, chosen: &[usize], error: f64) -> Result<Candidate, FitError> {
        let basis = coordinates::basis(self.energy.dim, chosen);
        let how = BasisConstruction::Coordinates(chosen.len());
        Candidate::new(basis, error, how, self.bound, self.observer)
    }

    fn certified(&mut self, basis: DenseMatrix, how: BasisConstruction) -> Result<Candidate, FitError> {
        Candidate::measured(basis, self.energy, how, self.bound, self.observer)
    }

    /// Keeps the better one; true where the new one is.
    fn compete(best: &mut Candidate, found: Candidate, error: f64) -> bool {
        let better = found.error <= error && found.square() < best.square();
        if better {
            *best = found;
        }
        better
    }

    /// Tilts the chosen coordinates until the error is met, at the highest price that does it.
    fn tilted_within(
        &mut self,
        chosen: &[usize],
        error: f64,
        best: &mut Candidate,
    ) -> Result<bool, FitError> {
        let mut improved = false;
        let mut solution = None;
        for how in [BasisConstruction::TiltedCoordinates, BasisConstruction::TiltedByGradient] {
            let how = how(chosen.len());
            if self.observer.observe(&FitProgress::Candidate { kind: how.kind() }).is_break() {
                break;
            }
            let tilt = Tilt::new(self.energy, chosen, solution.as_ref());
            // The relaxation is at most a few per cent below the sum of absolute values.
            let most = if solution.is_none() { best.square() / 0.97 } else { f64::INFINITY };
            let Some(tilted) = cheapest(&tilt, error, most, chosen.len(), self.observer) else { break };
            let basis =
                tilt.basis(&tilted).ok_or(FitError::Rank { rank: chosen.len(), dim: self.energy.dim })?;
            let found = self.certified(basis, how)?;
            solution.clone_from(&found.certified.point);
            improved |= Self::compete(best, found, error);
            if solution.is_none() {
                break;
            }
        }
        Ok(improved)
    }

    /// Coordinates and directions inside pairs, as expensive as the error requires; `plain` coordinates meet it.
    fn blocks_within(
        &mut self,
        error: f64,
        RankedCoordinates { order, errors }: &RankedCoordinates,
        plain: usize,
        best: &mut Candidate,
    ) -> Result<(), FitError> {
        let least = self.spectrum.rank_for(error).max(1);
        let mut cheapest: Option<(usize, DenseMatrix, f64)> = None;
        let most = (plain + FEWER).min(self.energy.usable());
        for rank in (least.max(plain.saturating_sub(FEWER))..=most).rev() {
            if self.observer.observe(&FitProgress::Candidate { kind: "pairs of coordinates" }).is_break() {
                break;
            }
            let blocks = Blocks::new(self.energy, &order[..rank], errors[rank]);
            for turned in EASES.iter().filter_map(|&ease| blocks.within(error, ease)) {
                if cheapest.as_ref().is_none_or(|(.., square)| turned.square < *square) {
                    let basis = blocks.basis(&turned);
                    cheapest = Some((basis.columns, basis, turned.square));
                }
            }
        }
        match cheapest {
            Some((rank, basis, square)) if square < best.square() => {
                let found = self.certified(basis, BasisConstruction::Pairs(rank))?;
                Self::compete(best, found, error);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Groups among the coordinates that are certainly chosen when about `rank` of them are.
    fn groups(&self, rank: usize, order: &[usize]) -> Groups {
        let last = order[rank.min(self.energy.dim - 1)];
        let unit = self.energy.at(last, last).max(f64::MIN_POSITIVE);
        Groups::new(self.energy, &order[..rank.saturating_sub(FEWER)], unit)
    }

    /// As many coordinates as were needed or a few more, fewer directions in some groups of them.
    fn groups_within(
        &mut self,
        error: f64,
        RankedCoordinates { order, errors }: &RankedCoordinates,
        plain: usize,
        best: &mut Candidate,
    ) -> Result<(), FitError> {
        if self.observer.observe(&FitProgress::Candidate { kind: "groups of coordinates" }).is_break() {
            return Ok(());
        }
        let groups = self.groups(plain, order);
        let most = (plain + FEWER).min(self.energy.usable());
        let cheapest = (plain..=most)
            .filter_map(|rank| groups.within(error - errors[rank] - 1e-13).map(|combined| (rank, combined)))
            .min_by(|(a, first), (b, second)| {
                (*a as f64 + first.saved).total_cmp(&(*b as f64 + second.saved)).then(a.cmp(b))
            });
        if let Some((rank, combined)) = cheapest
            && rank as f64 + combined.saved < best.square()
        {
            let basis = groups.basis(&order[..rank], combined);
            let found = self.certified(basis, BasisConstruction::Groups(rank))?;
            Self::compete(best, found, error);
        }
        Ok(())
    }

    /// Principal components first, then the coordinates with most energy left.
    fn principal_within(
        &mut self,
        error: f64,
        order: &[usize],
        best: &mut Candidate,
    ) -> Result<(), FitError> {
        let n = self.energy.dim;
        for count in PRINCIPAL {
            let how = |rank: usize| BasisConstruction::PrincipalAndCoordinates { principal: count, rank };
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // at most the dimension
            let most = best.square().ceil() as usize - 1; // more cannot win
            let step = &FitProgress::Candidate { kind: how(most).kind() };
            if count >= most || self.observer.observe(step).is_break() {
                break;
            }
            let principal: Vec<&[f64]> = (0..count).map(|a| self.spectrum.vector(a)).collect();
            let left = energy_left(self.energy, self.spectrum, count);
            let mut by_rest = order.to_vec();
            by_rest.sort_by(|&i, &j| left[j].total_cmp(&left[i]).then(i.cmp(&j)));
            let basis_of = |rank: usize| {
                let units: Vec<Vec<f64>> = by_rest[..rank - count]
                    .iter()
                    .map(|&i| (0..n).map(|j| f64::from(u8::from(i == j))).collect())
                    .collect();
                let all = principal.iter().copied().chain(units.iter().map(Vec::as_slice));
                orthonormal_basis(n, all)
            };
            let good = |rank: usize| basis_of(rank).filter(|basis| self.energy.error(basis) <= error);
            let Some(mut basis) = good(most) else { continue };
            let (mut low, mut high) = (count, most); // the least rank lies in (low, high]
            while high - low > 1 {
                if self.observer.observe(step).is_break() {
                    return Ok(());
                }
                let middle = usize::midpoint(low, high);
                match good(middle) {
                    Some(found) => (basis, high) = (found, middle),
                    None => low = middle,
                }
            }
            let found = self.certified(basis, how(high))?;
            if !Self::compete(best, found, error) {
                break;
            }
        }
        Ok(())
    }
}

/// The tilt at the highest price that meets the error. None where no tilt meets it with an estimated κ² of at most
/// `most`, or where the observer ended the search.
fn cheapest(
    tilt: &Tilt<'_>,
    error: f64,
    most: f64,
    chosen: usize,
    observer: &mut (dyn Observer<FitProgress> + Send),
) -> Option<Tilted> {
    let (mut low, mut high) = (0.0, tilt.highest_price());
    let mut found: Option<Tilted> = None;
    for _ in 0..HALVINGS {
        if observer.observe(&FitProgress::Candidate { kind: "tilted coordinates" }).is_break() {
            return None;
        }
        let price = 0.5 * (low + high);
        let tilted = tilt.at(price, found.as_ref());
        if tilted.error <= error {
            found = Some(tilted);
            low = price;
        } else if tilted.estimate(chosen) > most {
            return None; // too expensive already, without meeting the error
        } else {
            high = price;
        }
        if high - low < 1e-3 * high && found.is_some() {
            break;
        }
    }
    found.filter(|tilted| tilted.estimate(chosen) <= most)
}

/// Energy of each coordinate outside the first principal components.
fn energy_left(energy: &Energy, spectrum: &Spectrum, count: usize) -> Vec<f64> {
    let mut left = energy.diagonal();
    for a in 0..count {
        let value = spectrum.values()[a];
        left.iter_mut().zip(spectrum.vector(a)).for_each(|(left, x)| *left -= value * x * x);
    }
    left
}
