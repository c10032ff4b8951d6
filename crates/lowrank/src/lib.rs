//! Low-rank projections with certified ∞→2 norms, and the SDP solvers behind them.
//!
//! This crate searches: for dual weights, lower bounds and projections. `gambeson_checker` proves every candidate that it
//! proposes. Nothing here prints, and results do not depend on the number of threads.
//!
//! # In which order to read it
//! 1. [`sdp`]: max xᵀMx over signs or the cube, and the norms that reduce to it. [`bracket`] solves, certifies and
//!    checks a [`Problem`]; the solvers are Algorithm 2 of the paper and a low-rank factorisation.
//! 2. [`projection`]: projections. From the second moments of data to a [`Projection`] with a proven κ, all channels
//!    in one call: [`fit_projection`].
//! 3. [`linalg`]: what both compute with: matrices, products, eigenpairs, the cosine transform.
//! 4. [`matrix_file`]: matrices and graphs from files, recognised by content. [`vertex_file`]: vertices.
//! 5. [`observe`]: how long work reports and how it is stopped. [`parameter`]: the error for a parameter out of range.
//!    [`safetensors`] and [`mod@file`]: reading and writing. [`memory`]: how much may be read. [`shape`]: channels, rows and columns of an input.

pub mod file;
pub mod linalg;
pub mod matrix_file;
pub mod memory;
pub mod observe;
pub mod parameter;
pub mod projection;
pub mod safetensors;
pub mod sdp;
pub mod shape;
pub mod vertex_file;

pub use linalg::matrix::{DenseMatrix, Matrix, SparseMatrix};
pub use memory::MemoryLimit;
pub use observe::Observer;
pub use projection::Projection;
pub use projection::certificate::ProjectionCertificate;
pub use projection::fit::{FitData, FitMethod, Target, fit_projection};
pub use projection::proven::ProvenProjection;
pub use sdp::bracket::{BoundParams, Bracket, bracket};
pub use sdp::problem::{MatrixRole, OperatorNorm, Problem};
pub use shape::Shape;
