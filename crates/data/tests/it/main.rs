//! Data sets as their users meet them: files in, samples out, and errors that name the place.

/// numpy arrays.
mod array;
/// Audio files.
mod audio;
/// The type itself.
mod dataset;
/// Downloads from servers that misbehave.
mod download;
/// What projections are fitted to.
mod energies;
/// Installing known sets.
mod fetch;
/// Files and observers, shared with the tests of `learn`.
mod files;
/// IDX files and the set that is built in.
mod idx;
/// Images by class.
mod images;
/// Installations that are killed.
mod kills;
/// Public data, where they are at hand.
mod reference;
/// What `--data` may name.
mod source;
/// Writing small files.
mod support;
