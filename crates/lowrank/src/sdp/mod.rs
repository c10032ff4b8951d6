//! Bounds on quadratic forms: max xᵀMx over the cube or its vertices, from both sides, by a semidefinite relaxation.
//!
//! A [`problem`] is a matrix with a question. [`bracket`](mod@bracket) runs a solver by its `params` ([`mwu`], Algorithm 2 of
//! the paper, with its [`primal`] candidate, or [`burer_monteiro`](mod@burer_monteiro), the faster one), has the checker prove
//! the upper end as its [`plan`] says, with the [`scale`] it finds, and finds a good [`vertex`] for the lower one; `steps` are
//! its stages, and `outcome` is what it returns. [`progress`] is what solvers report. [`certificate`] is the proof of the upper end as a file,
//! [`vertex_file`](crate::vertex_file) that of the lower one, [`instance`] the random matrices of the paper.

pub mod bracket;
pub mod burer_monteiro;
pub mod certificate;
pub mod instance;
pub mod mwu;
mod outcome;
mod params;
pub mod plan;
pub mod primal;
pub mod problem;
pub mod progress;
pub mod scale;
mod speed;
mod steps;
pub mod vertex;
