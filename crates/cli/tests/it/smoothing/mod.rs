//! `certify` and `predict`.

/// Records, resumption.
mod certify;
/// What they end with.
mod ending;
/// Records that were made up.
mod forged;
/// Limits of runs.
mod limits;
/// What computes a network, and what it answers without noise.
mod networks;
/// Certification inside a projection, and its proof again.
mod projected;
/// Records drawn again by `check`, and certified afresh.
mod replay;
