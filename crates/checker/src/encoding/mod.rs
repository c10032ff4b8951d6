//! How far computed coordinates may be from the true ones.

pub(crate) mod cosine;
pub(crate) mod product;
