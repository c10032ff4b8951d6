//! `certify` and `predict`.

/// Runs handed over.
mod bundles;
/// Records, resumption.
mod certify;
/// What they end with.
mod ending;
/// Records that were made up.
mod forged;
/// Every field of head and records changed, and files taken apart.
mod forger;
/// What computes a network, and what it answers without noise.
mod networks;
/// Plans, published beforehand and demanded afterwards; heads, and limits of time.
mod plans;
/// Predictions.
mod predict;
/// Certification inside a projection, and its proof again.
mod projected;
/// Records drawn again by `check`, and certified afresh.
mod replay;
