//! Networks.

pub mod architecture;
pub mod inference;
pub mod kernel;
pub(crate) mod layer;
pub mod models;
pub mod parameters;
pub mod pass;
pub mod plan;
