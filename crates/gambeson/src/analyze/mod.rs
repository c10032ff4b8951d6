//! Certified accuracy from logs, our own and those of other programs.
//!
//! In the order to read: the parameters and [`Radius`], the logs and what their paths say, the proofs of κ, the numbers
//! of coordinates; then
//! [`AnalysedLog`] and [`Analysis`], whose records, tables and figure are functions of it.

mod analysis;
mod compare;
mod details;
mod dimension;
mod figure;
mod log;
mod names;
mod params;
mod proofs;
mod radius;
mod read;
mod records;
mod tables;

pub use crate::error::analyze::{AnalyzeError, Difference, DifferentInputs};
pub use analysis::Analysis;
pub(crate) use compare::difference;
pub use dimension::DimensionSource;
pub use log::AnalysedLog;
pub(crate) use names::distinct_ends;
pub use params::{AnalyzeParams, ProjectionFiles};
pub(crate) use radius::default_radii;
pub use radius::{Radius, RadiusError};
pub(crate) use records::SHARES;
pub use records::{
    AccuracyBoundRecord, AnalysisRecord, ClassRecord, EnvelopeRecord, KappaSource, LimitsRecord, LogRecord,
    PairedRecord,
};
pub use tables::Advice;

use crate::context::Context;
use crate::error::Error;
use std::path::PathBuf;

/// Computes certified accuracy from logs: files, folders (all files below), or patterns with * and ?. They are recognised by
/// content. Our own records are certified again from their counts, and shards of one run become one log.
///
/// Logs left out by [`skip_bad`](AnalyzeParams::skip_bad), and last lines that were cut off, are notes to the observer. An
/// interrupt is an error here ([`Error::is_stopped`]): accuracy over some of the inputs would be another number.
pub fn analyze(context: &Context, logs: &[PathBuf], params: &AnalyzeParams) -> Result<Analysis, Error> {
    context.run(|| {
        let checked = params.checked(context.memory_limit())?;
        let proofs = proofs::proofs(context, params)?;
        let sources = read::sources(context, logs, params, &checked)?;
        Ok(Analysis::new(context, sources, params, &checked, &proofs)?)
    })
}
