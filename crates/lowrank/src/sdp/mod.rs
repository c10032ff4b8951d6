//! Bounds on quadratic forms.

pub mod bracket;
pub mod burer_monteiro;
pub mod certificate;
pub mod instance;
pub mod mwu;
pub mod primal;
pub mod problem;
pub mod progress;
pub mod scale;
mod upper;
pub mod vertex;
mod watch;
