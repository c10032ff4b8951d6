//! The library as its users meet it.

/// Certified accuracy from logs.
mod analyze;
/// Attacks, stopped ones too.
mod attacks;
/// Records checked: verdicts, claims, limits of time.
mod checks;
/// Threads, memory, interruption.
mod contexts;
/// Data sets, projections and networks as files.
mod files;
/// Results as data.
mod results;
/// Certification, prediction, and records checked.
mod smoothing;
/// Contexts for all of these.
mod support;
/// Training: interrupted, resumed, refused.
mod training;
