//! From counts to radii.

mod double;
pub(crate) mod limit;
pub(crate) mod quantile;
pub(crate) mod radius;
pub(crate) mod sampling;
mod special;
mod tail;
