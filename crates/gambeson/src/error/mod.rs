//! The error of this library. Messages name the fields of parameter structs; [`Error::field`] returns that name, so that a
//! program can print its own name for it.

pub(crate) mod analyze;
pub(crate) mod attack;
pub(crate) mod bundle;
mod field;
mod from;
pub(crate) mod report;

use crate::error::analyze::AnalyzeError;
use crate::error::attack::AttackError;
use crate::error::bundle::BundleError;
use crate::error::report::ReportError;
use crate::toy::ToyTextError;
use gambeson_checker::{CheckError, StatisticsError};
use gambeson_data::DataError;
use gambeson_data::energies::DataEnergiesError;
use gambeson_learn::convert::ConvertError;
use gambeson_learn::onnx::NormalisationError;
use gambeson_learn::smoothed::SmoothedError;
use gambeson_learn::train::{SetupError, SpecFileError, TrainError};
use gambeson_lowrank::linalg::matrix::MatrixError;
use gambeson_lowrank::matrix_file::InputError;
use gambeson_lowrank::parameter::ParameterError;
use gambeson_lowrank::projection::fit::{FitError, FitProjectionError};
use gambeson_lowrank::projection::proven::OpenError;
use gambeson_lowrank::sdp::bracket::BoundError;
use gambeson_lowrank::sdp::certificate::CertificateFileError;
use gambeson_lowrank::sdp::problem::ProblemError;
use gambeson_lowrank::vertex_file::VertexFileError;
use gambeson_smooth::noise::GridError;
use gambeson_smooth::record::{NotExtendable, RecordError};
use gambeson_smooth::selection::SelectionError;
use gambeson_smooth::smoother::SmoothingParamsError;
use std::path::PathBuf;
use thiserror::Error as ThisError;

/// Any error, where its type depends on the classifier.
type AnyError = Box<dyn std::error::Error + Send + Sync>;

/// Why a call has no result.
#[derive(Debug, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// The threads of the context do not exist in this process.
    #[error("the context belongs to the process that forked this one: make a new one")]
    Forked,
    /// Threads could not be started.
    #[error("threads could not be started: {reason}")]
    Threads {
        /// What the system says.
        reason: String,
    },
    /// A parameter is out of its range.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// A file is not a matrix.
    #[error(transparent)]
    MatrixFile(#[from] InputError),
    /// A random matrix cannot be made.
    #[error(transparent)]
    Instance(#[from] MatrixError),
    /// The matrix does not fit the question.
    #[error("{name}: {reason}")]
    Problem {
        /// What the matrix is called.
        name: String,
        /// Why.
        reason: ProblemError,
    },
    /// No bound was found.
    #[error("{name}: {reason}")]
    Bound {
        /// What the matrix is called.
        name: String,
        /// Why.
        reason: BoundError,
    },
    /// A file is not a certificate.
    #[error(transparent)]
    Certificate(#[from] CertificateFileError),
    /// A file is not a vertex.
    #[error(transparent)]
    Vertex(#[from] VertexFileError),
    /// A vertex of another dimension.
    #[error("{name}: {found} entries, but a vertex has {expected} here")]
    VertexLength {
        /// What the vertex is called.
        name: String,
        /// Rows of the quadratic form.
        expected: usize,
        /// Its entries.
        found: usize,
    },
    /// There is no folder for data sets.
    #[error("no data folder: name one, or set GAMBESON_DATA")]
    NoDataFolder,
    /// Data could not be read.
    #[error(transparent)]
    Data(Box<DataError>),
    /// Data have no such energies.
    #[error(transparent)]
    Energies(Box<DataEnergiesError>),
    /// No projection was found.
    #[error("{name}: {reason}")]
    Fit {
        /// What the data are called.
        name: String,
        /// Why.
        reason: Box<FitProjectionError>,
    },
    /// No basis was found for a channel.
    #[error("channel {channel}: {reason}")]
    FitChannel {
        /// Counting from 0.
        channel: usize,
        /// Why.
        reason: Box<FitError>,
    },
    /// The data have no such channel.
    #[error("channel {channel}: the data have channels 0 to {}", channels.saturating_sub(1))]
    Channel {
        /// Asked for.
        channel: usize,
        /// Of the data.
        channels: usize,
    },
    /// A projection could not be opened or proven.
    #[error(transparent)]
    Projection(Box<OpenError>),
    /// A model could not be opened.
    #[error(transparent)]
    Model(Box<SmoothedError>),
    /// `mean` and `std` are no normalisation.
    #[error("mean and std: {0}")]
    Normalisation(NormalisationError),
    /// `mean` and `std` are given for a classifier that is no network from a file.
    #[error(
        "mean and std are for networks from files: toys and classifiers of the caller take inputs as they are"
    )]
    NormalisedByCaller,
    /// A text describes no toy.
    #[error("{text}: {reason}")]
    Toy {
        /// The text.
        text: String,
        /// Why.
        reason: Box<ToyTextError>,
    },
    /// No inputs are selected.
    #[error(transparent)]
    Selection(#[from] SelectionError),
    /// A number that is no noise level or no failure probability.
    #[error("{field}: {reason}")]
    Field {
        /// The parameter.
        field: &'static str,
        /// Why.
        reason: StatisticsError,
    },
    /// The classifier cannot be smoothed like that.
    #[error(transparent)]
    Smoothing(#[from] SmoothingParamsError),
    /// There is no such grid for such noise.
    #[error(transparent)]
    Grid(#[from] GridError),
    /// Records could not be read.
    #[error(transparent)]
    Records(Box<RecordError>),
    /// A head of records cannot be written.
    #[error("the head of the records cannot be written: {reason}")]
    Encoding {
        /// What the writer said.
        reason: serde_json::Error,
    },
    /// A run cannot go on to more draws.
    #[error("{}: cannot be extended: {reason}", path.display())]
    NotExtendable {
        /// Its records.
        path: PathBuf,
        /// Why not.
        reason: NotExtendable,
    },
    /// A run over inputs failed; records made before are kept.
    #[error(transparent)]
    Run(AnyError),
    /// Inputs could not be classified.
    #[error(transparent)]
    Classify(AnyError),
    /// The statistics of a comparison with fresh draws.
    #[error(transparent)]
    Analysis(#[from] gambeson_smooth::analysis::AnalysisError),
    /// A record could not be drawn again.
    #[error("input {index}: {reason}")]
    Replay {
        /// Which input.
        index: u64,
        /// Why.
        reason: AnyError,
    },
    /// The record that was to be drawn again does not exist.
    #[error("input {index} has no record")]
    NoRecord {
        /// Which input.
        index: u64,
    },
    /// Logs could not be analysed.
    #[error(transparent)]
    Analyze(Box<AnalyzeError>),
    /// No page could be made of runs.
    #[error(transparent)]
    Report(Box<ReportError>),
    /// A file is not a spec of training.
    #[error(transparent)]
    Spec(Box<SpecFileError>),
    /// Nothing can be trained by the spec on its data.
    #[error(transparent)]
    TrainSetup(Box<SetupError>),
    /// Training failed. What was written before stays.
    #[error(transparent)]
    Train(Box<TrainError>),
    /// Inputs could not be attacked.
    #[error(transparent)]
    Attack(Box<AttackError>),
    /// There is no bundle, or a file or folder is none.
    #[error(transparent)]
    Bundle(Box<BundleError>),
    /// A file of a network could not be read or written.
    #[error(transparent)]
    Convert(Box<ConvertError>),
    /// A proof could not be tried.
    #[error("{name}: {reason}")]
    Check {
        /// What the matrix is called.
        name: String,
        /// Why.
        reason: CheckError,
    },
}

impl Error {
    /// Whether an interrupt ended the work before there was anything to return.
    pub fn is_stopped(&self) -> bool {
        match self {
            Self::Data(error) => matches!(**error, DataError::Stopped),
            Self::Analyze(error) => matches!(**error, AnalyzeError::Stopped),
            Self::Bundle(error) => matches!(**error, BundleError::Stopped),
            Self::Report(error) => matches!(**error, ReportError::Stopped),
            _ => false,
        }
    }
}
