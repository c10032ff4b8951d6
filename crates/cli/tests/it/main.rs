//! The binary as a user meets it: output, exit codes, files.

/// `analyze`: logs of certification.
mod analyze;
/// `bound` and `check` on good input.
mod bound_and_check;
/// `certify` and `predict`: records, resumption, projections.
mod certify;
/// `data`: what is known, fetched and imported.
mod data;
/// What `certify` and `predict` end with.
mod ending;
/// Bad input: a clear error naming file and place, exit 2.
mod errors;
/// Help, manual pages, colours and the width of a page.
mod page;
/// `project`: fits, files, forgeries, frontiers.
mod project;
/// Certification inside a projection, and its proof again.
mod projected;
/// Tables and figures against the records they are made from.
mod rendering;
/// `reproduce`: runs, records, and what becomes of broken ones.
mod reproduce;
/// `reproduce` with experiments on projections.
mod reproduce_projections;
/// Running the binary.
mod support;
/// Certificates that somebody has tampered with.
mod tampering;
