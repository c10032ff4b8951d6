//! What solvers and projections compute with, in double precision unless said otherwise.
//!
//! [`matrix`] holds what files and generators deliver; [`operator`] multiplies it with vectors and blocks, by
//! `products`, and at half the cost by `single`. [`eigen`] decomposes dense symmetric matrices, [`lanczos`] finds the top
//! of large ones. [`unit_rows`] are the feasible points of the relaxation and `sphere` the geometry they live in;
//! `orthonormal` is Gram and Schmidt's method, `cosines` the cosine transform, [`panels`] a fixed matrix that many rows are
//! multiplied by, `aligned` memory for the kernels.
//!
//! Sums run over fixed blocks in a fixed order, so results do not depend on the number of threads.

pub(crate) mod aligned;
pub(crate) mod cosines;
pub mod eigen;
mod exact_sum;
pub mod kernel;
pub mod lanczos;
pub mod matrix;
pub mod operator;
pub(crate) mod ordering;
pub(crate) mod orthonormal;
pub mod panels;
pub(crate) mod products;
pub(crate) mod single;
pub(crate) mod sphere;
mod symmetric;
pub mod unit_rows;
