//! How far computed coordinates may be from the true ones: `unit` (stored numbers as values), `cosine` (the transform of
//! these), `product` (z = Uᵀu), `grid` (how centres are stored), `perturbed` (all of it for every input that a radius is
//! about).

pub(crate) mod cosine;
pub(crate) mod grid;
pub(crate) mod perturbed;
pub(crate) mod product;
pub(crate) mod unit;
