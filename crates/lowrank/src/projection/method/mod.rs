//! How projections are found: five methods, each of which ends in a basis with a proven κ.
//!
//! [`coordinates`] and [`pca`] are the two ends: the least κ for a rank, the least error for a rank. [`algorithm3`] is
//! the paper's combination of principal and sparse components ([`sparse_pca`]); [`search`] is our own. A method hands on
//! a [`candidate`] with its [`construction`]; [`progress`] is what it reports, [`error`] why it may fail.

pub mod algorithm3;
pub mod candidate;
pub mod construction;
pub mod coordinates;
pub mod error;
pub mod pca;
pub mod progress;
pub mod search;
pub mod sparse_pca;
