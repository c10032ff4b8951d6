//! Integration tests: one binary, one file per subject.

/// Brackets against brute force and published values; operators and eigenspaces.
mod bracket;
/// The low-rank factorisation.
mod burer_monteiro;
/// Certificate files and matrix hashes.
mod certificate;
/// Where solvers are tempted to go wrong.
mod edges;
/// Projections fitted to data.
mod fit;
/// Matrix and graph files.
mod limits;
mod matrix_file;
/// The folders import each other in one direction.
mod modules;
/// First and second moments of samples.
mod moments;
/// Algorithm 2.
mod mwu;
/// Projections and their files.
mod projection;
/// Cosine transforms.
mod representation;
/// Rules about the sources of all libraries.
mod rules;
/// Files of named arrays.
mod safetensors;
/// Bounds to the bit.
mod same_bits;
/// Sparse principal components.
mod sparse_pca;
/// Oracles and generators for the others.
mod support;
/// Vertices as evidence for lower ends.
mod vertex;
