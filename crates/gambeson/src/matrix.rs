//! The matrix that a bound is about.

use crate::context::Context;
use crate::error::Error;
use gambeson_lowrank::linalg::matrix::Matrix;
use gambeson_lowrank::matrix_file::{self, Input};
use gambeson_lowrank::sdp::instance;
use std::path::Path;
use std::time::Instant;

/// A matrix or graph, and what to call it.
#[derive(Clone, Debug)]
pub struct MatrixInput {
    /// The matrix with what is known of its entries.
    pub input: Input,
    /// What errors and results call it.
    pub name: String,
    /// Seconds that reading or generating took.
    pub seconds: f64,
}

impl MatrixInput {
    /// A matrix that is in memory, taken as it is.
    pub fn new(matrix: Matrix, name: impl Into<String>) -> Self {
        Self { input: Input::from(matrix), name: name.into(), seconds: 0.0 }
    }

    /// Hash of the canonical content, as certificates name it.
    pub fn sha256(&self) -> String {
        self.input.matrix.sha256()
    }
}

/// A family of random matrices of appendix E.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RandomKind {
    /// M = AAᵀ/tr(AAᵀ), A with standard normal entries.
    PositiveSemidefinite,
    /// Standard normal entries, the diagonal replaced by its absolute values.
    QuadraticProgram,
}

impl RandomKind {
    /// `psd` or `qp`.
    pub fn name(self) -> &'static str {
        match self {
            Self::PositiveSemidefinite => "psd",
            Self::QuadraticProgram => "qp",
        }
    }
}

/// Reads a matrix or graph, recognised by content: .npy, .npz, Matrix Market, rudy, SDPA of max-cut shape.
pub fn open_matrix(context: &Context, path: &Path) -> Result<MatrixInput, Error> {
    let started = Instant::now();
    let input = context.run(|| Ok(matrix_file::read(path, context.memory_limit())?))?;
    Ok(MatrixInput { input, name: path.display().to_string(), seconds: started.elapsed().as_secs_f64() })
}

/// Generates the instance of a seed, n × n.
pub fn random_matrix(context: &Context, kind: RandomKind, n: usize, seed: u64) -> Result<MatrixInput, Error> {
    let started = Instant::now();
    let matrix = context.run(|| {
        Ok(match kind {
            RandomKind::PositiveSemidefinite => {
                instance::positive_semidefinite(n, seed, context.memory_limit(), context.threads())?
            }
            RandomKind::QuadraticProgram => instance::quadratic_program(n, seed, context.memory_limit())?,
        })
    })?;
    let seconds = started.elapsed().as_secs_f64();
    let name = format!("random {}, seed {seed}", kind.name());
    Ok(MatrixInput { seconds, ..MatrixInput::new(Matrix::Dense(matrix), name) })
}
