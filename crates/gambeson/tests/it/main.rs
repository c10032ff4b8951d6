//! The library as its users meet it.

/// Certified accuracy from logs.
mod analyze;
/// Threads, memory, interruption.
mod contexts;
/// Results as data.
mod results;
/// Certification, prediction, and records checked.
mod smoothing;
