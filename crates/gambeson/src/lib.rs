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
//! # assert!(folder.path().join("run.jsonl").exists());
//! # Ok(())
//! # }
//! ```
//!
//! Whoever computes classes elsewhere (a Python function, a network on a GPU) describes the classifier by
//! [`smoothed_model`] and hands a closure to [`certify_by`], which gets large batches of noisy inputs on its own thread; or
//! asks a [`Session`] for batches of one input and tells it their classes.
//!
//! Types of the crates below that parameters and results consist of are named here too, so that nothing else has to be
//! imported. Parameters and results own what they hold: they can be fields of foreign objects.
//!
//! In the order to read: [`context`] and [`event`] (threads, memory, interruption, progress), [`error`], [`matrix`],
//! [`bound`](mod@bound) and [`check`](mod@check) with [`evidence`], [`data`], [`fit`](mod@fit) and [`project`], [`model`] with [`toy`],
//! [`smoothing`] and [`replay`], [`bundle`](mod@bundle), [`analyze`](mod@analyze), [`report`](mod@report),
//! [`train`](mod@train), [`attack`](mod@attack), [`export`](mod@export).

pub mod analyze;
pub mod attack;
pub mod bound;
pub mod bundle;
pub mod check;
pub mod check_projection;
pub mod context;
pub mod data;
pub mod error;
pub mod event;
pub mod evidence;
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
pub use bundle::{Bundle, BundleCheck, BundleParams, CheckBundleParams, bundle, check_bundle, open_bundle};
pub use check::{Check, CheckParams, check};
pub use check_projection::{ProjectionCheck, check_projection};
pub use context::{Context, ContextParams};
pub use data::{
    DataParams, FetchParams, ImportParams, describe_data, fetch_data, import_data, list_data, open_data,
};
pub use error::Error;
pub use error::attack::AttackError;
pub use error::bundle::{BundleError, BundleProblem};
pub use event::{Event, Note};
pub use evidence::{Evidence, Vertex, open_vertex};
pub use export::{ExportParams, Exported, export};
pub use fit::{Fit, FitParams, fit, open_projection, spectrum};
pub use matrix::{MatrixInput, RandomInstance, RandomKind, open_matrix, random_matrix};
pub use model::{BaseClassifier, Model, ModelParams, open_model, smoothed_model};
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

pub use gambeson_checker::{Domain, FailureProbability, NoiseLevel};
pub use gambeson_data::LoadProgress;
pub use gambeson_data::dataset::{Dataset, DatasetParts, Shape, Split, Values};
pub use gambeson_data::energies::{Basis, DataEnergies, EnergyParams};
pub use gambeson_data::fetch::Provider;
pub use gambeson_data::format::audio::FrameParams;
pub use gambeson_data::format::cifar::Cifar;
pub use gambeson_data::source::FileChoice;
pub use gambeson_learn::attack::BallNorm;
pub use gambeson_learn::runtime::{Runtime, RuntimeChoice};
pub use gambeson_learn::smoothed::{NamedClassifier, SmoothedModel, WhiteBoxModel};
pub use gambeson_learn::train::setup::TrainSetup;
pub use gambeson_learn::train::{TrainProgress, TrainSpec};
pub use gambeson_lowrank::projection::certificate::{ProjectionCertificate, certificate_path};
pub use gambeson_lowrank::projection::fit::{FitMethod, FitProgress, Target};
pub use gambeson_lowrank::projection::method::algorithm3::SparseParams;
pub use gambeson_lowrank::sdp::certificate::CertificateFile;
pub use gambeson_lowrank::sdp::mwu::Width;
pub use gambeson_lowrank::{
    DenseMatrix, Matrix, MemoryLimit, OperatorNorm, Projection, ProvenProjection, SparseMatrix,
};
pub use gambeson_smooth::analysis::Scale;
pub use gambeson_smooth::classifier::{Classifier, ClassifierSpec, NONE};
pub use gambeson_smooth::limit::LimitRule;
pub use gambeson_smooth::noise::Quantum;
pub use gambeson_smooth::record::{
    DigestedRun, FileNames, Head, LimitChoice, PredictionRecord, Record, Recorded, Run, read_records, to_line,
};
pub use gambeson_smooth::runs::RunProgress;
pub use gambeson_smooth::selection::{InputSelection, Selection, Shard};
pub use gambeson_smooth::sequential::{Goal, RadiusNorm};
pub use gambeson_smooth::session::{Batch, RowFormat, Rows, Session, SessionFactory, SessionParams};
pub use gambeson_smooth::smoother::{Certification, Prediction, Smoother, SmoothingParams, SmoothingPlan};
