//! Integration tests: one binary, one file per subject.

/// Logs of certification, and what they say.
mod analysis;
/// What records claim together.
mod claim;
/// Files of certification records.
mod record;
/// Runs over many inputs.
mod runs;
/// Limits, quantiles and radii to the bit.
mod same_bits;
/// Randomized smoothing.
mod smoothing;
/// Generators for the others.
mod support;
