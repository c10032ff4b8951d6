//! `certify` and `predict`.

/// Records, resumption.
mod certify;
/// What l_inf radii rest on.
mod dimension;
/// What they end with.
mod ending;
/// Records that were made up.
mod forged;
/// What computes a network, and what it answers without noise.
mod networks;
/// Certification inside a projection, and its proof again.
mod projected;
/// Records drawn again by `check`, and certified afresh.
mod replay;
