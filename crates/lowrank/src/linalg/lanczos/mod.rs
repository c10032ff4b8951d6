//! Lanczos' method for the top of the spectrum: a space of vectors grows by M times its newest one, which is made
//! orthogonal to all others (`take_out`), and Ritz values in it approach the largest eigenvalues from below.
//!
//! `space` keeps the space for the next call and returns eigenvectors: for solvers, which ask again and again while the
//! metric changes a little. `estimate` forgets it and returns one number: for proofs, which need to be the same from the
//! same weights, whatever was computed before.

mod estimate;
mod space;

pub(crate) use crate::linalg::lanczos::estimate::{EigenvalueEstimate, largest_eigenvalue};
pub use crate::linalg::lanczos::space::{TopEigenpair, TopEigenspace};
