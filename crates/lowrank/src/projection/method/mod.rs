//! How projections are found.

pub mod algorithm3;
pub mod coordinates;
pub mod pca;
pub mod search;
pub mod sparse_pca;
