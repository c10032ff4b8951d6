//! The binary as a user meets it: output, exit codes, files.

/// `analyze`: logs of certification.
mod analyze;
/// `bound` and `check` on good input.
mod bound_and_check;
/// `data`: what is known, fetched and imported.
mod data;
/// README and docs: their commands, links and tables.
mod documents;
/// Bad input: a clear error naming file and place, exit 2.
mod errors;
/// `--json` and the library: bounds, projections, smoothing, logs.
mod library;
/// `--json` and the library: training, attacks, data sets, experiments.
mod library_training;
/// Help, manual pages, colours and the width of a page.
mod page;
/// `project`: fits, files, forgeries, frontiers.
mod project;
/// Files of records as values, and as a forger writes them.
mod records;
/// Tables and figures against the records they are made from.
mod rendering;
/// `report`: pages of runs.
mod report;
/// `reproduce`.
mod reproduce;
/// Nothing false on the screen, nothing of the user's lost.
mod safety;
/// `certify` and `predict`.
mod smoothing;
/// Running the binary.
mod support;
/// Certificates that somebody has tampered with.
mod tampering;
/// `train`, `attack` and `quickstart`.
mod training;
/// Lower ends with their evidence.
mod vertices;
