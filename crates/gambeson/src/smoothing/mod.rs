//! Randomized smoothing of the inputs of a data set: certificates, predictions, and answers without noise.

mod certify;
mod classify;
mod params;
mod predict;
mod run;
mod tsv;

pub use certify::{CertificationPlan, CertifiedRun, CertifyRecord, certify, certify_by, plan_certification};
pub use classify::{ClassifyRecord, CleanAnswers, classify};
pub use params::{CertifyParams, ClassifyParams, DrawParams, PredictParams, Seed};
pub use predict::{PredictRecord, PredictedRun, predict, predict_by};
pub(crate) use run::input;
pub use run::{AnsweredRecord, PaceRecord};
