//! Pages of HTML: one file, nothing from elsewhere, complete without its script.
//!
//! A [`ReportPage`] is a list of sections, each a value that holds what is shown. Whoever has data makes sections of them and
//! adds them: certified accuracy of runs ([`Certified`]), the inputs themselves ([`Inputs`]), curves of training
//! ([`Training`]), names and values ([`FactCard`]), tables of numbers beside published ones
//! ([`Table`](crate::table::Table)), pictures ([`PictureGallery`]), figures ([`Drawing`](crate::figure::Drawing)), text.
//!
//! Numbers are made here, in print as in the data of the script, which only looks them up. [`page()`], [`escape`], [`row`]
//! and [`table`] serve simpler pages.

mod certified;
mod chart;
mod document;
mod facts;
mod gallery;
mod inputs;
mod parts;
mod picture;
mod report;
mod steps;
mod training;

pub use crate::markup::escape;
pub use certified::{
    Certified, CertifiedRun, Limits, NormView, Outcomes, RadiusCurve, RadiusScale, RunLabel,
};
pub use document::{page, row, table};
pub use facts::{Fact, FactCard};
pub use gallery::{CaptionedPicture, PictureGallery};
pub use inputs::{Answer, AnswerCounts, AnswerOutcome, InputView, Inputs, InputsRun};
pub use picture::PictureUri;
pub use report::{ReportPage, ReportSection, SectionContent, SectionRecord};
pub use steps::{Step, Steps};
pub use training::{Epoch, TrainedRun, Training};
