//! Why nothing was proven.

use std::fmt;

/// Nothing was proven, because of the matrix or because of the certificate.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum CheckError {
    /// The matrix is not one the problem is about: an error of input.
    Matrix(MatrixProblem),
    /// The certificate proves nothing about this matrix.
    Rejected(Rejected),
}

/// What is wrong with a matrix. Rows and columns count from 0.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum MatrixProblem {
    /// No rows or no columns.
    Empty,
    /// The number of entries does not fit the dimensions.
    WrongLength {
        /// Rows announced.
        rows: usize,
        /// Columns announced.
        columns: usize,
        /// Entries given.
        found: usize,
    },
    /// NaN or infinite.
    NotFinite {
        /// Row.
        row: usize,
        /// Column.
        column: usize,
    },
    /// M_ij ≠ M_ji.
    NotSymmetric {
        /// Row.
        row: usize,
        /// Column.
        column: usize,
    },
    /// M_ii < 0, which the cube does not allow.
    NegativeDiagonal {
        /// Row.
        index: usize,
        /// M_ii.
        value: f64,
    },
    /// Not of the form [0 A; Aᵀ 0].
    NotDilation {
        /// Row.
        row: usize,
        /// Column.
        column: usize,
    },
    /// Offsets of a sparse matrix are not increasing or do not fit.
    BadOffsets,
    /// Columns of a sparse row are not strictly increasing or out of range.
    BadColumns {
        /// Row.
        row: usize,
    },
}

/// Why a certificate was turned down.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Rejected {
    /// Not one weight per row.
    WeightCount {
        /// Dimension of the matrix.
        expected: usize,
        /// Weights given.
        found: usize,
    },
    /// A weight (plus shift) that is not positive and finite in a row that is not zero.
    WeightNotPositive {
        /// Row.
        index: usize,
        /// The weight, shift included.
        value: f64,
    },
    /// The shift is NaN or infinite.
    ShiftNotFinite {
        /// The shift.
        value: f64,
    },
    /// Without a shift, the certificate does not say which multiple of its weights to verify.
    NoShift,
    /// Diag(y + t) − M could not be proven positive semidefinite.
    NotDominating,
    /// No multiple of the weights could be proven to dominate, or the bound overflows.
    NothingProven,
    /// The bound on a rounding error is not finite: the numbers are too large.
    TooLarge,
    /// A claimed vertex has a coordinate other than ±1, or a factor is not finite or of the wrong length.
    BadWitness {
        /// Position in the witness.
        index: usize,
    },
    /// Whoever asked had it stopped before it ended.
    Stopped,
    /// An order of elimination that is none, or a pair of rows whose entry cannot be paid for.
    BadProposal {
        /// Position in the order, or of the pair.
        index: usize,
    },
    /// This thread does not compute by IEEE 754 defaults (rounding mode or subnormal numbers).
    Environment,
}

impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CheckError::Matrix(problem) => problem.fmt(f),
            CheckError::Rejected(reason) => reason.fmt(f),
        }
    }
}

impl fmt::Display for MatrixProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            MatrixProblem::Empty => write!(f, "the matrix is empty"),
            MatrixProblem::WrongLength { rows, columns, found } => {
                write!(f, "a {rows} x {columns} matrix does not have {found} entries")
            }
            MatrixProblem::NotFinite { row, column } => {
                write!(f, "entry ({row}, {column}) is not finite (counting from 0)")
            }
            MatrixProblem::NotSymmetric { row, column } => write!(
                f,
                "the matrix is not symmetric: entries ({row}, {column}) and ({column}, {row}) differ (counting from 0)"
            ),
            MatrixProblem::NegativeDiagonal { index, value } => write!(
                f,
                "diagonal entry {index} is {value} (counting from 0): on the cube the diagonal must not be negative"
            ),
            MatrixProblem::NotDilation { row, column } => {
                write!(f, "entry ({row}, {column}) must be zero in a dilation (counting from 0)")
            }
            MatrixProblem::BadOffsets => {
                write!(f, "the row offsets of the sparse matrix do not fit its entries")
            }
            MatrixProblem::BadColumns { row } => {
                write!(
                    f,
                    "the columns of sparse row {row} (counting from 0) are unsorted, repeated or out of range"
                )
            }
        }
    }
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Rejected::WeightCount { expected, found } => {
                write!(f, "the certificate has {found} weights, the matrix {expected} rows")
            }
            Rejected::WeightNotPositive { index, value } => {
                write!(
                    f,
                    "weight {index} is {value} (counting from 0, shift included), not positive and finite"
                )
            }
            Rejected::ShiftNotFinite { value } => write!(f, "the shift is {value}"),
            Rejected::NoShift => {
                write!(f, "the certificate has no shift: a multiple of its weights must be found first")
            }
            Rejected::NotDominating => {
                write!(f, "Diag(weights + shift) - M could not be proven positive semidefinite")
            }
            Rejected::TooLarge => {
                write!(f, "the numbers are too large to bound the rounding errors")
            }
            Rejected::NothingProven => {
                write!(f, "no multiple of the weights could be proven to dominate the matrix")
            }
            Rejected::BadWitness { index } => write!(f, "the witness is malformed at position {index}"),
            Rejected::Stopped => write!(f, "the proof was stopped before it ended"),
            Rejected::BadProposal { index } => {
                write!(f, "the proposed order or payment is malformed at position {index}")
            }
            Rejected::Environment => {
                write!(
                    f,
                    "this thread does not round to nearest with gradual underflow; nothing can be proven"
                )
            }
        }
    }
}

impl std::error::Error for CheckError {}
impl std::error::Error for MatrixProblem {}
impl std::error::Error for Rejected {}

impl From<MatrixProblem> for CheckError {
    fn from(problem: MatrixProblem) -> Self {
        CheckError::Matrix(problem)
    }
}

impl From<Rejected> for CheckError {
    fn from(reason: Rejected) -> Self {
        CheckError::Rejected(reason)
    }
}
