//! Linear algebra.

pub(crate) mod aligned;
pub mod eigen;
pub mod kernel;
pub mod lanczos;
pub mod matrix;
pub mod operator;
pub(crate) mod orthonormal;
pub(crate) mod products;
pub(crate) mod single;
pub(crate) mod sphere;
pub mod unit_rows;
