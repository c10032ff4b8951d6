//! The outcome of a run: a bracket, or why there is none.

use crate::linalg::unit_rows::UnitRows;
use crate::parameter::ParameterError;
use crate::sdp::plan::{DroppedEntries, ProofCost};
use crate::sdp::progress::{Stop, relative_gap};
use crate::sdp::steps::upper::Upper;
use gambeson_checker::rounding::add_up;
use gambeson_checker::{Certificate, CheckError, RelaxationValue, VertexValue};
use thiserror::Error;

/// Why there is no bracket.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BoundError {
    /// A parameter is out of its range.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// More memory than there may be.
    #[error(
        "solving takes {:.2} GB at least, more than the memory limit of {:.2} GB",
        *.needed as f64 / 1e9,
        *.limit as f64 / 1e9
    )]
    Memory {
        /// Bytes, the matrix included.
        needed: u64,
        /// Bytes.
        limit: u64,
    },
    /// The checker rejected the solver's own certificate.
    #[error("the certificate found could not be proven")]
    Check(#[from] CheckError),
}

/// A proven bracket, in units of the requested norm (the square for ∞→2).
#[derive(Clone, Debug)]
pub struct Bracket {
    /// Evidence for `upper`.
    pub certificate: Certificate,
    /// What was paid for instead of being factorised; the certificate needs it to be checked at the same price.
    pub paid: DroppedEntries,
    /// Whether a proof with nothing given up was within the limits. Something may be given up all the same: absolute values
    /// may prove more than weights of a solver that had no time.
    pub affordable: bool,
    /// What a proof with nothing given up would take, by estimate.
    pub full_proof: ProofCost,
    /// Proven upper bound on the maximum and on the relaxation.
    pub upper: Upper,
    /// Proven: the form takes this value at a vertex.
    pub lower: VertexValue,
    /// The vertex that `lower` is proven from, as [`prove_vertex`](crate::sdp::bracket::prove_vertex) takes it: evidence for
    /// `lower`.
    pub vertex: Vec<f64>,
    /// Proven: the relaxation is at least this.
    pub sdp_lower: RelaxationValue,
    /// The feasible point V that `sdp_lower` is proven from; another run may start from it.
    pub point: UnitRows,
    /// True where no weights did noticeably better than equal ones: the bound is n·λ_max(M), which is n for a
    /// projection.
    pub trivial: bool,
    /// Rounds of the solver.
    pub iterations: usize,
    /// Products with M inside the solver; in the low-rank factorisation a block of columns counts as one.
    pub products: usize,
    /// Time for the solver and the lower ends.
    pub seconds_solve: f64,
    /// Time for the proof of the upper bound.
    pub seconds_check: f64,
    /// Why it ended.
    pub stop: Stop,
}

impl Bracket {
    /// upper/sdp_lower − 1, rounded up; for negative values (vertices with a negative diagonal) with both signs
    /// changed. Zero where the ends meet, infinite where zero lies between them.
    pub fn gap(&self) -> f64 {
        let gap = relative_gap(self.upper.value(), self.sdp_lower.value());
        // Two roundings: of the quotient, which is one plus the gap, and of the difference.
        if gap > 0.0 { add_up(gap, f64::EPSILON * (1.0 + gap)) } else { 0.0 }
    }
}
