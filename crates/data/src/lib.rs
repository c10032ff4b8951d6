//! Data sets.

pub mod dataset;
pub mod error;
pub mod fetch;
mod file;
pub mod format;
pub mod second_moments;
pub mod source;
pub mod statistics;
pub mod store;
