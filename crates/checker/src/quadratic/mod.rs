//! Bounds on quadratic forms.

pub(crate) mod check;
mod cholesky;
mod definite;
mod estimate;
pub(crate) mod form;
mod gram;
mod lower;
mod sparse;
