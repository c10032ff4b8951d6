//! The matrix that a bound is about.

use crate::context::Context;
use crate::error::Error;
use gambeson_lowrank::linalg::matrix::Matrix;
use gambeson_lowrank::matrix_file::{self, Input};
use gambeson_lowrank::sdp::instance;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::time::Instant;
use thiserror::Error;

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RandomKind {
    #[serde(rename = "psd")]
    /// M = AAᵀ/tr(AAᵀ), A with standard normal entries.
    PositiveSemidefinite,
    #[serde(rename = "qp")]
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

/// A random matrix: its family, size and seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RandomInstance {
    /// The family.
    pub kind: RandomKind,
    /// Rows and columns.
    pub n: usize,
    /// Seed of its entries.
    pub seed: u64,
}

impl RandomInstance {
    /// Sizes that are generated.
    pub const DIMENSIONS: std::ops::RangeInclusive<usize> = 1..=100_000;
}

/// `KIND:N:SEED`, as in `psd:300:1`.
impl std::str::FromStr for RandomInstance {
    type Err = RandomInstanceError;

    fn from_str(text: &str) -> Result<Self, RandomInstanceError> {
        let parts: Vec<&str> = text.split(':').collect();
        let &[kind, n, seed] = parts.as_slice() else { return Err(RandomInstanceError::Form) };
        let kind = match kind {
            "psd" => RandomKind::PositiveSemidefinite,
            "qp" => RandomKind::QuadraticProgram,
            other => return Err(RandomInstanceError::Kind(other.to_owned())),
        };
        let sized = n.parse().ok().filter(|n| Self::DIMENSIONS.contains(n));
        let n = sized
            .ok_or_else(|| RandomInstanceError::Dimension { text: n.to_owned(), range: Self::DIMENSIONS })?;
        let seed = seed.parse().map_err(|_| RandomInstanceError::Seed(seed.to_owned()))?;
        Ok(Self { kind, n, seed })
    }
}

/// Why a text names no random matrix.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RandomInstanceError {
    /// Not three parts.
    #[error("expected KIND:N:SEED, for example psd:300:1")]
    Form,
    /// An unknown family.
    #[error("unknown kind `{0}`: expected psd or qp")]
    Kind(String),
    /// A size that is none, or too large.
    #[error("`{text}` is not a dimension: expected {} to {}", range.start(), range.end())]
    Dimension {
        /// What was given.
        text: String,
        /// What is generated.
        range: std::ops::RangeInclusive<usize>,
    },
    /// A seed that is no number.
    #[error("`{0}` is not a seed: expected a whole number")]
    Seed(String),
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
