//! Throws dice in a small room and counts.

pub mod analysis;
pub mod classifier;
mod draw;
pub mod input_map;
pub mod limit;
pub mod noise;
pub mod record;
pub mod sequential;
pub mod smoother;
pub mod space;
