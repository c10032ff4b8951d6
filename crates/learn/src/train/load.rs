//! From a spec to what is trained: the data by their name, then everything that follows from them.

use super::setup::{SetupError, SetupObservers, TrainSetup, projection, samples};
use super::spec::TrainSpec;
use gambeson_data::DataError;
use gambeson_data::dataset::{Dataset, Split};
use gambeson_data::progress::LoadProgress;
use gambeson_data::source::{LoadOptions, find};
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::observe::Observer;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a spec cannot be made ready.
#[derive(Debug, Error)]
pub enum PrepareError {
    /// Data that cannot be read.
    #[error(transparent)]
    Data(#[from] DataError),
    /// Data, projection or network that do not fit.
    #[error(transparent)]
    TrainSetup(#[from] Box<SetupError>),
}

/// Reads the data and puts everything together. Data sets live in `data_dir`; a projection's file with a relative name is
/// looked for in `beside` first, where the spec is. What takes more than `memory` is refused, here and in training.
pub fn prepare(
    spec: &TrainSpec,
    beside: Option<&Path>,
    data_dir: &Path,
    memory: MemoryLimit,
    threads: usize,
    observers: &mut SetupObservers<'_>,
) -> Result<TrainSetup, PrepareError> {
    let mut spec = spec.clone();
    if let Some(file) = spec.projection.as_mut().and_then(|projection| projection.file.as_mut()) {
        *file = found_beside(file, beside);
    }
    let (train, test) = both_parts(&spec.data.name, data_dir, memory, observers.load)?;
    let train = samples(&spec, train);
    let projection = projection(&spec, &train, memory, threads, observers).map_err(Box::new)?;
    let setup = TrainSetup::new(&spec, train, test, projection).map_err(Box::new)?;
    Ok(TrainSetup { memory, ..setup })
}

/// A file that a spec names: a relative one in the folder of the spec if it is there, else as it is.
pub fn found_beside(file: &Path, folder: Option<&Path>) -> PathBuf {
    let beside = folder.filter(|_| file.is_relative()).map(|folder| folder.join(file));
    beside.filter(|path| path.exists()).unwrap_or_else(|| file.to_owned())
}

/// Both parts of a data set; the second where there is one.
pub fn both_parts(
    name: &str,
    data_dir: &Path,
    memory: MemoryLimit,
    observer: &mut dyn Observer<LoadProgress>,
) -> Result<(Dataset, Option<Dataset>), DataError> {
    let source = find(name, data_dir)?;
    let options = |split| LoadOptions { split, memory, ..LoadOptions::new(data_dir.to_path_buf()) };
    let train = source.load(&options(Split::Train), observer)?;
    let test = source.has_parts().then(|| source.load(&options(Split::Test), observer)).transpose()?;
    Ok((train, test))
}
