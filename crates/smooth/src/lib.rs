//! Throws dice in a small room and counts.

pub mod analysis;
pub mod classifier;
mod draw;
pub mod input_map;
pub mod noise;
pub mod record;
pub mod runs;
pub mod sequential;
pub mod smoother;
pub mod space;
pub mod toys;
