//! Errors of the crates below as [`Error`]: a stop among them stays one, wherever it happened.

use super::Error;
use crate::error::analyze::AnalyzeError;
use crate::error::attack::AttackError;
use crate::error::bundle::BundleError;
use crate::error::report::ReportError;
use gambeson_data::DataError;
use gambeson_data::energies::DataEnergiesError;
use gambeson_learn::convert::ConvertError;
use gambeson_learn::smoothed::SmoothedError;
use gambeson_learn::train::load::PrepareError;
use gambeson_learn::train::{SetupError, SpecFileError, TrainError};
use gambeson_lowrank::projection::proven::OpenError;
use gambeson_smooth::record::RecordError;
use gambeson_smooth::runs::RunError;

impl From<DataError> for Error {
    fn from(error: DataError) -> Self {
        Self::Data(Box::new(error))
    }
}

impl From<SmoothedError> for Error {
    fn from(error: SmoothedError) -> Self {
        Self::Model(Box::new(error))
    }
}

impl From<RecordError> for Error {
    fn from(error: RecordError) -> Self {
        Self::Records(Box::new(error))
    }
}

impl<E: std::error::Error + Send + Sync + 'static> From<RunError<E>> for Error {
    fn from(error: RunError<E>) -> Self {
        match error {
            RunError::Record(error) => error.into(),
            other => Self::Run(Box::new(other)),
        }
    }
}

impl From<OpenError> for Error {
    fn from(error: OpenError) -> Self {
        Self::Projection(Box::new(error))
    }
}

impl From<AnalyzeError> for Error {
    fn from(error: AnalyzeError) -> Self {
        Self::Analyze(Box::new(error))
    }
}

impl From<ReportError> for Error {
    fn from(error: ReportError) -> Self {
        Self::Report(Box::new(error))
    }
}

impl From<DataEnergiesError> for Error {
    fn from(error: DataEnergiesError) -> Self {
        match error {
            DataEnergiesError::Stopped => Self::Data(Box::new(DataError::Stopped)),
            other => Self::Energies(Box::new(other)),
        }
    }
}

impl From<SpecFileError> for Error {
    fn from(error: SpecFileError) -> Self {
        Self::Spec(Box::new(error))
    }
}

impl From<PrepareError> for Error {
    fn from(error: PrepareError) -> Self {
        match error {
            PrepareError::Data(error) => error.into(),
            PrepareError::TrainSetup(error) => match *error {
                SetupError::Stopped | SetupError::Energies(DataEnergiesError::Stopped) => {
                    DataError::Stopped.into()
                }
                other => Self::TrainSetup(Box::new(other)),
            },
        }
    }
}

impl From<TrainError> for Error {
    fn from(error: TrainError) -> Self {
        Self::Train(Box::new(error))
    }
}

impl From<AttackError> for Error {
    fn from(error: AttackError) -> Self {
        Self::Attack(Box::new(error))
    }
}

impl From<BundleError> for Error {
    fn from(error: BundleError) -> Self {
        Self::Bundle(Box::new(error))
    }
}

impl From<ConvertError> for Error {
    fn from(error: ConvertError) -> Self {
        Self::Convert(Box::new(error))
    }
}
