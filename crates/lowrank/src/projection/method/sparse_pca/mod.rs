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
//! A minimum it is of each block, not of both together: the problem is not convex.
//!
//! **Deviations** from scikit-learn: codes are solved roughly until the end; the start is another unless asked for;
//! unused atoms are placed as above, not at random; components keep their length and sign, so that C·D is the approximation.

mod codes;
mod dictionary;
mod place;
mod reduced;
mod singular;

use crate::linalg::matrix::{DenseMatrix, MatrixError};
use crate::linalg::products::{rows_times, transpose};
use crate::observe::Observer;
use crate::sdp::mwu::ParameterError;
use crate::sdp::progress::{Progress, StopReason};
use codes::{Effort, Lasso};
use dictionary::update_dictionary;
use place::place_unused;
use rand::Rng;
use reduced::{Point, Reduced};
use singular::singular_vectors;
use thiserror::Error;

/// How far the codes are solved in a round.
const ROUGH: Effort = Effort { sweeps: 4, inner: 6, tolerance: 0.1, exact: false };
/// How far they are solved at the end.
const FINE: Effort = Effort { sweeps: 200, inner: 20, tolerance: 1e-11, exact: true };

/// Atoms are stored in multiples of this, the width of a vector register; the last ones are zero.
const WIDTH_STEP: usize = 8;

/// Where atoms begin that no start is given for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beginning {
    /// Along features, chosen one by one so that codes with one entry each do best.
    Features,
    /// The leading singular vectors, as in scikit-learn. The descent from there is long where components are sparse.
    SingularVectors,
}

/// Parameters of [`sparse_pca`].
#[derive(Clone, Debug, PartialEq)]
pub struct SparsePcaParams {
    /// How many components; at most the number of features.
    pub atoms: usize,
    /// α, the price of a unit of code, in the unit of the matrix. Features no longer than it get no code.
    pub alpha: f64,
    /// Rounds at most, each one pass over the codes and some over the dictionary.
    pub max_iterations: usize,
    /// Relative decrease of the objective in one round at which to stop.
    pub tolerance: f64,
    /// Whether to subtract its mean over the samples from every feature first, as scikit-learn does.
    pub centre: bool,
    /// Where to begin without a start.
    pub beginning: Beginning,
}

impl Default for SparsePcaParams {
    fn default() -> Self {
        let beginning = Beginning::Features;
        Self { atoms: 1, alpha: 1.0, max_iterations: 1000, tolerance: 1e-6, centre: true, beginning }
    }
}

impl SparsePcaParams {
    /// Checks every parameter once, for a matrix with so many features.
    pub fn validate(&self, features: usize) -> Result<(), ParameterError> {
        let checks = [
            ("atoms", self.atoms as f64, self.atoms > 0, "positive"),
            ("atoms", self.atoms as f64, self.atoms <= features, "at most the number of features"),
            ("alpha", self.alpha, self.alpha > 0.0 && self.alpha.is_finite(), "positive and finite"),
            ("max_iterations", self.max_iterations as f64, self.max_iterations > 0, "positive"),
            ("tolerance", self.tolerance, self.tolerance >= 0.0, "zero or positive"),
        ];
        match checks.into_iter().find(|(_, _, good, _)| !good) {
            Some((name, value, _, range)) => Err(ParameterError { name, value, range }),
            None => Ok(()),
        }
    }
}

/// What [`sparse_pca`] found.
#[derive(Clone, Debug, PartialEq)]
pub struct SparsePca {
    /// Cᵀ, atoms × features, row-major: the components, sparse.
    pub components: Vec<f64>,
    /// D, atoms × samples, row-major: rows of length at most one.
    pub dictionary: Vec<f64>,
    /// ½‖Xᵀ − C·D‖² + α·Σ|c|.
    pub objective: f64,
    /// Rounds done.
    pub iterations: usize,
    /// Why it ended.
    pub stop: StopReason,
}

/// Why there are no sparse components.
#[derive(Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum SparsePcaError {
    /// A parameter is out of range.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// The matrix is empty, has the wrong number of entries or one that is not finite, or does not fit into memory.
    #[error(transparent)]
    Matrix(#[from] MatrixError),
    /// The start belongs to another matrix.
    #[error(
        "the start has {components} numbers in its components and {dictionary} in its dictionary, which are not \
         atoms x {features} and atoms x {samples}; start from a result for a matrix of this shape"
    )]
    StartShape {
        /// Numbers in its components.
        components: usize,
        /// Numbers in its dictionary.
        dictionary: usize,
        /// Features of the matrix.
        features: usize,
        /// Samples of the matrix.
        samples: usize,
    },
    /// The start has an entry that is not finite.
    #[error("atom {atom} of the start has an entry that is not finite (counting from 0)")]
    StartNotFinite {
        /// Zero-based atom.
        atom: usize,
    },
}

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
    observer: &mut impl Observer<Progress>,
) -> Result<SparsePca, SparsePcaError> {
    let data = DenseMatrix::new(samples, features, matrix.to_vec())?;
    params.validate(features)?;
    let reduced = Reduced::new(data, params);
    let start = start.map(|start| reduced.read_start(start, params.atoms)).transpose()?;
    let width = params.atoms.next_multiple_of(WIDTH_STEP);
    let lower = reduced.unscaled(reduced.lower_bound());
    if reduced.squares.len() <= params.atoms {
        let point = reduced.closed_form(width)?;
        // The run is over before it began; whoever watches is told of its end.
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
        let values = lasso.solve(&correlations, &reduced.squares, &mut point.codes, ROUGH);
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
