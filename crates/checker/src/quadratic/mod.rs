//! Bounds on quadratic forms. To be read in this order: `form` (the matrix), `prepared` and `gram` (what candidates are
//! tried on), `definite`, `cholesky` and `sparse` (the proof), `lower` and `exact` (lower ends), `check` (proven numbers).

pub(crate) mod check;
mod cholesky;
mod definite;
mod exact;
pub(crate) mod form;
pub(crate) mod gram;
mod lower;
pub(crate) mod prepared;
pub(crate) mod sparse;
