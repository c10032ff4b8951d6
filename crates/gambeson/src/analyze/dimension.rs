//! The number of coordinates, on which l_inf radii of runs without a projection rest.
//!
//! There r_inf = r_2/√n, since |d|_2 ≤ √n·|d|_inf. No count proves n, and records only say it. Where the data set that a
//! record names is in the store, with the hash that it names, n is compared with it; elsewhere it is the record's word, and
//! tables and records of [`Analysis`](super::Analysis) say so.

use super::params::AnalyzeParams;
use crate::context::Context;
use crate::data::data_folder;
use crate::error::analyze::AnalyzeError;
use crate::event::Event;
use gambeson_data::DataError;
use gambeson_data::source::{self, LoadOptions};
use gambeson_learn::inputs::data_parts;
use gambeson_report::text::shown;
use gambeson_smooth::analysis::{LoggedRun, Question, RadiusNorm, Scale};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The number of coordinates that l_inf radii rest on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Dimension {
    pub(super) value: u64,
    pub(super) from: DimensionSource,
}

/// Where the number of coordinates comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DimensionSource {
    /// From the parameters.
    Given,
    /// From the log, and the data set that it names has as many.
    Data,
    /// From the log; not compared with the data.
    Recorded,
}

/// The data sets that logs name, as far as they are in the store.
pub(super) struct NamedData<'a> {
    context: &'a Context,
    params: &'a AnalyzeParams,
    /// By name and hash, their numbers of coordinates.
    known: BTreeMap<String, Option<u64>>,
}

impl<'a> NamedData<'a> {
    pub(super) fn new(context: &'a Context, params: &'a AnalyzeParams) -> Self {
        Self { context, params, known: BTreeMap::new() }
    }

    /// The number of coordinates that the radii of a log rest on; `None` where they rest on κ, or are in l2.
    pub(super) fn dimension(
        &mut self,
        log: &LoggedRun,
        question: &Question,
    ) -> Result<Option<Dimension>, AnalyzeError> {
        let value = match (question.norm, question.scale, log.run.as_deref()) {
            (RadiusNorm::Linf, Scale::Dimension(value), _) => {
                return Ok(Some(Dimension { value, from: DimensionSource::Given }));
            }
            (RadiusNorm::Linf, Scale::Own, Some(run)) if run.kappa.is_none() => run.dimension,
            _ => return Ok(None),
        };
        let data = log.data.as_deref().unwrap_or_default();
        let from = match self.coordinates(data)? {
            None => DimensionSource::Recorded,
            Some(found) if found == value => DimensionSource::Data,
            Some(found) => {
                let data = shown(data);
                return Err(AnalyzeError::Coordinates { log: log.name(), data, recorded: value, found });
            }
        };
        Ok(Some(Dimension { value, from }))
    }

    /// The coordinates of an input of the data that a log names, if they are in the store.
    fn coordinates(&mut self, data: &str) -> Result<Option<u64>, AnalyzeError> {
        if let Some(known) = self.known.get(data) {
            return Ok(*known);
        }
        let found = self.look_up(data)?;
        self.known.insert(data.to_owned(), found);
        Ok(found)
    }

    fn look_up(&self, data: &str) -> Result<Option<u64>, AnalyzeError> {
        let (name, sha256) = data_parts(data);
        let folder = data_folder(self.params.data_folder.as_deref()).ok();
        let mut observer = self.context.watch(|step| Event::Load(step));
        for (source, split) in source::parts_named(name, folder.as_deref()) {
            let memory = self.context.memory_limit();
            let options =
                LoadOptions { split, memory, ..LoadOptions::new(folder.clone().unwrap_or_default()) };
            match source.load(&options, &mut observer) {
                Ok(data) if data.sha256() == sha256 => return Ok(Some(data.shape().len() as u64)),
                Err(DataError::Stopped) => return Err(AnalyzeError::Stopped),
                Ok(_) | Err(_) => {} // other data, or none that can be read
            }
        }
        Ok(None)
    }
}
