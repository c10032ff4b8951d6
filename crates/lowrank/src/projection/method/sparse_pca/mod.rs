//! Sparse principal components: a dictionary whose codes are sparse.
//!
//! **Problem.** Given X (samples × features), minimise ½‖Xᵀ − C·D‖² + α·Σ|c| over codes C (features × atoms) and
//! dictionaries D (atoms × samples) whose rows have length at most one. The components are the rows of Cᵀ.
//!
//! **Reference.** Mairal, Bach, Ponce and Sapiro, *Online dictionary learning for sparse coding*, ICML 2009; the
//! objective is that of scikit-learn's `SparsePCA`, with which the paper computed its sparse projections.
//!
//! **Method.** Descent in blocks, by turns. Codes: coordinate descent on every feature's lasso, which needs D·Dᵀ and
//! D·x alone (`codes.rs`). Dictionary: the exact minimum over one atom at a time, from CᵀC and CᵀXᵀ (`dictionary.rs`).
//! It starts from chosen features (`place.rs`), or from singular vectors (`singular.rs`).
//!
//! * A feature no longer than α has the code zero whatever the dictionary is, since |d·x| ≤ ‖x‖ ≤ α. Those features
//!   are left out from the beginning.
//! * Σ over features of the least ½‖x − t·x/‖x‖‖² + α·t is a lower bound of the objective, for any number of atoms:
//!   Σ|c| ≥ ‖Σ c·d‖. It is reached where there is an atom for every feature longer than α; then
//!   that is the answer at once. So more atoms than features never help, and are refused.
//! * An atom without codes is put along what is left of a feature, if there is one of which more than α is left; that
//!   lowers the objective. Else it is zero, and so is its component.
//!
//! **Guarantee.** The objective never rises, and at the end every code meets the optimality conditions of its lasso.
//! That is a minimum over each block, not over both together: the problem is not convex.
//!
//! **Deviations** from scikit-learn: codes are solved to low accuracy until the end; the default start differs;
//! unused atoms are placed as above, not at random; components keep their length and sign, so that C·D is the approximation.

mod codes;
mod dictionary;
mod params;
mod place;
mod reduced;
mod singular;

use crate::linalg::matrix::DenseMatrix;
use crate::linalg::products::{rows_times, transpose};
use crate::observe::Observer;
use crate::sdp::progress::{Progress, StopReason};
use codes::{Effort, Lasso};
use dictionary::update_dictionary;
use params::WIDTH_STEP;
pub use params::{Beginning, SparsePca, SparsePcaError, SparsePcaParams};
use place::place_unused;
use rand::Rng;
use reduced::{Point, Reduced};
use singular::singular_vectors;

/// How accurately the codes are solved in a round.
const COARSE: Effort = Effort { sweeps: 4, inner: 6, tolerance: 0.1, exact: false };
/// How accurately they are solved at the end.
const FINE: Effort = Effort { sweeps: 200, inner: 20, tolerance: 1e-11, exact: true };

/// Sparse components of `matrix`, row-major samples × features.
///
/// `start` is an earlier result for a matrix of the same shape, perhaps with another α or another number of atoms: of
/// too many atoms those with the smallest codes are dropped, missing ones are put along features. `rng` starts the search
/// for singular vectors, and nothing else. The `observer` sees the objective as `upper` and a lower bound of it as
/// `lower`.
pub fn sparse_pca(
    matrix: &[f64],
    samples: usize,
    features: usize,
    start: Option<&SparsePca>,
    params: &SparsePcaParams,
    rng: &mut impl Rng,
    observer: &mut dyn Observer<Progress>,
) -> Result<SparsePca, SparsePcaError> {
    let data = DenseMatrix::new(samples, features, matrix.to_vec())?;
    params.validate(features)?;
    let reduced = Reduced::new(data, params);
    let start = start.map(|start| reduced.read_start(start, params.atoms)).transpose()?;
    let width = params.atoms.next_multiple_of(WIDTH_STEP);
    let lower = reduced.unscaled(reduced.lower_bound());
    if reduced.squares.len() <= params.atoms {
        let point = reduced.closed_form(width)?;
        // The run is over before it began; the observer is told of its end.
        let _ = observer.observe(&Progress { iteration: 0, upper: lower, lower });
        return Ok(reduced.result(&point, params.atoms, 0, StopReason::Converged));
    }
    let cold = start.is_none();
    let mut point = match start {
        Some(point) => point,
        None => Point::zero(&reduced, width)?,
    };
    if cold && params.beginning == Beginning::SingularVectors {
        singular_vectors(&reduced, &mut point, params.atoms, rng);
    } else {
        place_unused(&reduced, &mut point, params.atoms);
    }
    let mut previous = f64::INFINITY;
    let mut iterations = 0;
    let (lasso, correlations, stop) = loop {
        iterations += 1;
        let across = transpose(&point.dictionary, width, samples);
        let gram = rows_times(&point.dictionary, samples, &across, width);
        let correlations = rows_times(&reduced.rows, samples, &across, width);
        let lasso = Lasso { gram, width, alpha: reduced.alpha };
        let values = lasso.solve(&correlations, &reduced.squares, &mut point.codes, COARSE);
        let objective = reduced.rest + values.iter().sum::<f64>();
        let progress = Progress { iteration: iterations, upper: reduced.unscaled(objective), lower };
        let stop = if observer.observe(&progress).is_break() {
            Some(StopReason::Interrupted)
        } else if previous - objective <= params.tolerance * objective {
            Some(StopReason::Converged)
        } else {
            (iterations == params.max_iterations).then_some(StopReason::IterationLimit)
        };
        if let Some(stop) = stop {
            break (lasso, correlations, stop);
        }
        previous = objective;
        place_unused(&reduced, &mut point, params.atoms);
        update_dictionary(&reduced.rows, &mut point, samples);
    };
    lasso.solve(&correlations, &reduced.squares, &mut point.codes, FINE);
    Ok(reduced.result(&point, params.atoms, iterations, stop))
}
