//! Certified adversarial robustness from low-rank structure: bounds, projections, smoothing, training.
//!
//! Each verb is a function of a [`Context`], its input and one parameter struct, which has the defaults. It returns a result
//! that serialises to what the program prints with `--json`, or an [`Error`] that names the parameter at fault.
//!
//! A network certified on a data set through a projection, with records that anybody can check:
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let (models, records) = ("../../models/fashion", folder.path().join("run.jsonl"));
//! use gambeson::{CertifyParams, Context, DataParams, ModelParams, certify, open_data, open_model};
//! let context = Context::new(gambeson::ContextParams::default())?;
//! let data = open_data(&context, "fashion", &DataParams::default())?;
//! let projection = Some(format!("{models}/projection.safetensors").into());
//! let space = ModelParams { projection, ..ModelParams::default() };
//! let model = open_model(&context, format!("{models}/network.safetensors"), &data, &space)?;
//! let mut params = CertifyParams { n: 1000, ..CertifyParams::new(0.5) };
//! params.draws.inputs.every = 50;
//! params.draws.out = Some(records);
//! let run = certify(&context, &model, &data, &params)?;
//! println!("{:?}", run.record().accuracy);
//! # assert!(run.records.len() == 20 && run.record().accuracy.l2.accuracy[0] > 0.5);
//! # Ok(())
//! # }
//! ```
//!
//! In the order to read: [`context`] and [`event`] (threads, memory, interruption, progress), [`error`], [`matrix`],
//! [`bound`](mod@bound) and [`check`](mod@check), [`data`], [`fit`](mod@fit) and [`project`], [`model`] with [`toy`],
//! [`smoothing`] and [`replay`], [`analyze`](mod@analyze), [`report`](mod@report), [`train`](mod@train), [`attack`](mod@attack), [`export`](mod@export).

pub mod analyze;
pub mod attack;
pub mod bound;
pub mod check;
pub mod check_projection;
pub mod context;
pub mod data;
pub mod error;
pub mod event;
pub mod export;
pub mod fit;
mod lossy;
pub mod matrix;
pub mod model;
pub mod progress;
pub mod project;
pub mod replay;
pub mod report;
pub mod smoothing;
pub mod toy;
pub mod train;

pub use analyze::{Analysis, AnalyzeParams, analyze};
pub use attack::{
    AttackMethod, AttackParams, AttackRadius, AttackTarget, Attacked, BallBasis, WhiteBoxParams, attack,
    attack_figure, open_certified, open_white_box,
};
pub use bound::{Bound, BoundParams, Method, bound};
pub use check::{Check, CheckParams, check};
pub use check_projection::{ProjectionCheck, check_projection};
pub use context::{Context, ContextParams};
pub use data::{
    DataParams, FetchParams, ImportParams, describe_data, fetch_data, import_data, list_data, open_data,
};
pub use error::Error;
pub use error::attack::AttackError;
pub use event::{Event, Note};
pub use export::{ExportParams, Exported, export};
pub use fit::{Fit, FitParams, fit, open_projection, spectrum};
pub use matrix::{MatrixInput, RandomInstance, RandomKind, open_matrix, random_matrix};
pub use model::{BaseClassifier, Model, ModelParams, open_model};
pub use project::{
    FitMethodKind, Inspection, Sweep, SweepParams, inspect_projection, spectrum_figure, sweep, sweep_figure,
};
pub use replay::{
    CheckRecordsParams, RecordFile, RecordSample, RecordsCheck, check_records, check_records_by, open_records,
};
pub use report::{Report, ReportParams, report};
pub use smoothing::{
    CertificationPlan, CertifiedRun, CertifyParams, ClassifyParams, CleanAnswers, DrawParams, PredictParams,
    PredictedRun, Seed, certify, certify_by, classify, plan_certification, predict, predict_by,
};
pub use train::{TrainParams, Trained, open_spec, train, train_cost, training_figure};
