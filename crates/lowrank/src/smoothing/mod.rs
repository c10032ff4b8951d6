//! Smoothing.
pub mod noise;
