//! The one error for a parameter out of its range; every parameter struct of the crate reports by it.

use thiserror::Error;

/// A parameter out of its range.
#[derive(Debug, Error, PartialEq)]
#[error("{name} is {value}, but must be {range}")]
pub struct ParameterError {
    /// Which parameter.
    pub name: &'static str,
    /// Its value.
    pub value: f64,
    /// What it may be.
    pub range: &'static str,
}
