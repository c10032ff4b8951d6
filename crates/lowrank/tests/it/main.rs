//! Integration tests: one binary, one file a subject.

/// Logs of certification, and what they say.
mod analysis;
/// Brackets against brute force and published values; operators and eigenspaces.
mod bound;
/// The low-rank factorisation.
mod burer_monteiro;
/// Certificate files and matrix hashes.
mod certificate;
/// Where solvers are tempted to go wrong.
mod edges;
/// Projections fitted to data.
mod fit;
/// Matrix and graph files.
mod input;
/// First and second moments of samples.
mod moments;
/// Algorithm 2.
mod mwu;
/// Cosine transforms, projections and their files.
mod projection;
/// Files of certification records.
mod record;
/// Randomized smoothing.
mod smoothing;
/// Sparse principal components.
mod sparse_pca;
/// Oracles and generators for the others.
mod support;
