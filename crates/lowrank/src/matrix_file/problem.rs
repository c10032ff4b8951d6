//! What exactly is wrong in one format or another: the particulars of [`ParseError`](super::ParseError).

use thiserror::Error;

/// What is wrong with the header of an npy array.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum HeaderProblem {
    /// The bytes do not start as an npy array does.
    #[error("the magic number is missing")]
    Magic,
    /// A format version nobody has defined yet.
    #[error("format version {major} is not supported (1, 2 or 3 only)")]
    Version {
        /// Major version.
        major: u8,
    },
    /// The header is longer than that of any plain array.
    #[error("{length} bytes long, {limit} at most")]
    TooLong {
        /// Length in bytes.
        length: u32,
        /// Largest length read, in bytes.
        limit: u32,
    },
    /// The header is not a Python dictionary.
    #[error("not a Python dictionary: \"{text}\"")]
    NotADictionary {
        /// The text, clipped.
        text: String,
    },
    /// A key of the dictionary is missing.
    #[error("no key '{key}'")]
    MissingKey {
        /// The key.
        key: &'static str,
    },
    /// A value of the dictionary is of the wrong kind.
    #[error("'{key}' is {text}")]
    BadValue {
        /// The key.
        key: &'static str,
        /// The value, clipped.
        text: String,
    },
    /// The number of entries overflows.
    #[error("shape {shape:?} is too large")]
    ShapeTooLarge {
        /// The shape.
        shape: Vec<usize>,
    },
}

/// How the arrays of a scipy sparse matrix contradict each other. Positions and indices count from 0.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SparseProblem {
    /// An index array has a floating-point or boolean type.
    #[error("{array} has dtype {descr}, integers expected")]
    NotIntegers {
        /// Name of the array.
        array: &'static str,
        /// Its type as numpy spells it.
        descr: String,
    },
    /// An index is negative.
    #[error("{array}[{position}] is negative")]
    Negative {
        /// Name of the array.
        array: &'static str,
        /// Position in the array.
        position: usize,
    },
    /// An array has the wrong length.
    #[error("{array} has {found} elements, {expected} expected")]
    Length {
        /// Name of the array.
        array: &'static str,
        /// Number of elements it must have.
        expected: usize,
        /// Number of elements it has.
        found: usize,
    },
    /// `indptr` does not start with 0.
    #[error("indptr starts with {found}, not with 0")]
    FirstOffset {
        /// Its first element.
        found: usize,
    },
    /// `indptr` decreases.
    #[error("indptr[{position}] is smaller than the element before it")]
    DecreasingOffset {
        /// Position of the smaller element.
        position: usize,
    },
    /// An index lies outside the matrix.
    #[error("{array}[{position}] is {index}, the size is {size} (counting from 0)")]
    IndexOutOfRange {
        /// Name of the array.
        array: &'static str,
        /// Position in the array.
        position: usize,
        /// The index.
        index: usize,
        /// The number of rows or columns.
        size: usize,
    },
}

/// What is wrong with the first line of a Matrix Market file.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BannerProblem {
    /// One of the five words is missing.
    #[error("{word} is missing: \"%%MatrixMarket matrix FORMAT FIELD SYMMETRY\" expected")]
    Missing {
        /// What the word stands for.
        word: &'static str,
    },
    /// A word that the format does not know, or one for matrices that are not real.
    #[error("{word} \"{text}\" is not supported ({supported} only)")]
    Unsupported {
        /// What the word stands for.
        word: &'static str,
        /// The word found, clipped.
        text: String,
        /// The words that are read.
        supported: &'static str,
    },
    /// Words that contradict each other.
    #[error("\"{first}\" and \"{second}\" cannot go together")]
    Contradiction {
        /// One word.
        first: &'static str,
        /// The other word.
        second: &'static str,
    },
}

/// What is wrong with a line of a text format.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LineProblem {
    /// The line ends too early.
    #[error("{field} is missing")]
    MissingField {
        /// What is missing.
        field: &'static str,
    },
    /// The line has more fields than belong there.
    #[error("\"{text}\" is one field too many")]
    ExtraField {
        /// The first field too many, clipped.
        text: String,
    },
    /// A field is not a non-negative integer.
    #[error("{field} is \"{text}\", not a count")]
    NotACount {
        /// What the field stands for.
        field: &'static str,
        /// The field, clipped.
        text: String,
    },
    /// A field is not a number.
    #[error("\"{text}\" is not a number")]
    NotANumber {
        /// The field, clipped.
        text: String,
    },
    /// A field of an integer matrix is not an integer.
    #[error("\"{text}\" is not an integer")]
    NotAnInteger {
        /// The field, clipped.
        text: String,
    },
    /// A number is NaN, infinite, or beyond the range of f64.
    #[error("{text} is not finite")]
    NotFinite {
        /// The field, clipped.
        text: String,
    },
    /// An edge with a weight among edges without, or the other way round.
    #[error(
        "an edge with{} weight, but that of line {line} has {}: all need one, or none",
        if *weighted { "out a" } else { " a" },
        if *weighted { "one" } else { "none" }
    )]
    MixedWeights {
        /// Line of the first edge, from 1.
        line: usize,
        /// Whether that has a weight.
        weighted: bool,
    },
    /// An index is 0 where indices count from 1.
    #[error("{field} is 0, but indices count from 1")]
    IndexZero {
        /// What the index stands for.
        field: &'static str,
    },
    /// An index is larger than the size.
    #[error("{field} is {index}, larger than {max}")]
    IndexOutOfRange {
        /// What the index stands for.
        field: &'static str,
        /// The index, from 1.
        index: usize,
        /// The largest index.
        max: usize,
    },
    /// An edge from a vertex to itself, which no cut can cut.
    #[error("edge from vertex {vertex} to itself")]
    SelfLoop {
        /// The vertex, from 1.
        vertex: usize,
    },
    /// There is more than the file announces.
    #[error("more than the {announced} {what} announced")]
    TooMany {
        /// What there are too many of, in the plural.
        what: &'static str,
        /// Number announced.
        announced: usize,
    },
    /// A symmetric matrix that is not square.
    #[error("{rows} x {columns} cannot be symmetric")]
    NotSquare {
        /// Number of rows.
        rows: usize,
        /// Number of columns.
        columns: usize,
    },
    /// An entry in the triangle (or on the diagonal) that the symmetry leaves out.
    #[error("entry ({row}, {column}) is outside the triangle that is stored")]
    WrongTriangle {
        /// Row, from 1.
        row: usize,
        /// Column, from 1.
        column: usize,
    },
    /// An entry that was given before.
    #[error("entry ({row}, {column}) is given twice")]
    Repeated {
        /// Row, from 1.
        row: usize,
        /// Column, from 1.
        column: usize,
    },
}

/// What a semidefinite program has that the max-cut relaxation max <L/4, X>, `X_ii` = 1 does not.
/// Constraints, blocks, rows and columns count from 1.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum MaxCutProblem {
    /// More or fewer than one block.
    #[error("{found} blocks, not 1")]
    BlockCount {
        /// Number of blocks.
        found: i64,
    },
    /// The block is not a square matrix with one constraint per row; negative sizes are diagonal blocks.
    #[error("a block of size {size} with {constraints} constraints, not as many")]
    BlockSize {
        /// Size of the block.
        size: i64,
        /// Number of constraints.
        constraints: usize,
    },
    /// A right-hand side that is not 1.
    #[error("right-hand side {constraint} is {value}, not 1")]
    RightHandSide {
        /// The constraint.
        constraint: usize,
        /// Its right-hand side.
        value: f64,
    },
    /// An entry of a block that does not exist.
    #[error("an entry of block {block}, but there is only one")]
    Block {
        /// The block.
        block: usize,
    },
    /// A constraint with an entry off its own place on the diagonal, or other than 1 there.
    #[error(
        "constraint {constraint} has entry ({row}, {column}) = {value}; \
             only ({constraint}, {constraint}) = 1 may be"
    )]
    Constraint {
        /// The constraint.
        constraint: usize,
        /// Row of the entry.
        row: usize,
        /// Column of the entry.
        column: usize,
        /// Value of the entry.
        value: f64,
    },
    /// A constraint without entries.
    #[error("constraint {constraint} has no entry")]
    MissingConstraint {
        /// The constraint.
        constraint: usize,
    },
    /// The objective is no Laplacian: a row does not sum to zero, by more than rounded decimals explain.
    #[error("row {row} of the objective sums to {sum}, not to 0 as in a Laplacian")]
    RowSum {
        /// The row.
        row: usize,
        /// Its sum.
        sum: f64,
    },
}
