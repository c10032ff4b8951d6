//! Nothing false on the screen, nothing of the user's lost.

/// Killed at any moment.
mod kills;
/// Only files of this program are replaced unasked.
mod kinds;
/// Time and memory are bounded.
mod limits;
/// Outputs never destroy inputs.
mod outputs;
/// Texts that pretend.
mod printing;
/// Records are appended to records only.
mod records;
/// Standard streams that cannot be written, paths that are no text.
mod streams;
/// What a file says is what is bounded.
mod sums;
