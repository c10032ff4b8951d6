//! `reproduce`: from experiments to tables and figures.

/// Figures that share networks.
mod figures;
/// Networks and pictures.
pub(crate) mod networks;
/// Projections.
mod projections;
/// Runs, records, and what becomes of broken ones.
pub(crate) mod runs;
/// What is built in, at the smallest scale.
mod smoke;
