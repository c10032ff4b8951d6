//! What a data set is.

use super::params::DataParams;
use crate::context::Context;
use crate::error::Error;
use crate::event::Event;
use gambeson_data::dataset::{Dataset, Split, Values};
use gambeson_data::source;
use gambeson_data::statistics::channel_statistics;
use serde::Serialize;
use std::ffi::OsStr;

/// A data set described; serialises to what `data info --json` prints.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DataInfo {
    /// Its name.
    pub name: String,
    /// `train` or `test`.
    pub split: &'static str,
    /// Number of samples.
    pub samples: usize,
    /// Of a sample.
    pub channels: usize,
    /// Of a sample.
    pub height: usize,
    /// Of a sample.
    pub width: usize,
    /// `u8`, `i16` or `f32`.
    pub storage: &'static str,
    /// value = raw · scale.
    pub scale: f64,
    /// The smallest value.
    pub smallest: f64,
    /// The largest value.
    pub largest: f64,
    /// Of the values, one per channel.
    pub mean: Vec<f64>,
    /// Of the values, one per channel.
    pub deviation: Vec<f64>,
    /// The classes; empty without labels.
    pub classes: Vec<ClassCount>,
    /// Files the samples came from; 0 if unknown.
    pub files: usize,
    /// Hash of the content.
    pub sha256: String,
    /// Terms of use, if known.
    pub terms: Option<&'static str>,
    /// Whether the set has two parts, of which this is one.
    #[serde(skip)]
    pub has_parts: bool,
}

/// A class of a data set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ClassCount {
    /// Its name.
    pub name: String,
    /// Number of its samples.
    pub samples: usize,
}

impl DataInfo {
    fn new(data: &Dataset, split: Split) -> Self {
        let (shape, moments) = (data.shape(), channel_statistics(data));
        let mut counts = vec![0; data.classes().len()];
        data.labels().unwrap_or_default().iter().for_each(|&label| counts[usize::from(label)] += 1);
        let class = |(name, samples): (&String, usize)| ClassCount { name: name.clone(), samples };
        Self {
            name: data.name().to_owned(),
            split: split.name(),
            samples: data.len(),
            channels: shape.channels,
            height: shape.height,
            width: shape.width,
            storage: match data.values() {
                Values::U8(_) => "u8",
                Values::I16(_) => "i16",
                Values::F32(_) => "f32",
            },
            scale: data.scale(),
            smallest: moments.iter().map(|channel| channel.smallest).fold(f64::INFINITY, f64::min),
            largest: moments.iter().map(|channel| channel.largest).fold(f64::NEG_INFINITY, f64::max),
            mean: moments.iter().map(|channel| channel.mean).collect(),
            deviation: moments.iter().map(|channel| channel.deviation).collect(),
            classes: data.classes().iter().zip(counts).map(class).collect(),
            files: data.sources().len(),
            sha256: data.sha256().to_owned(),
            terms: None,
            has_parts: false,
        }
    }
}

/// Reads a data set and describes it.
pub fn describe_data(
    context: &Context,
    name: impl AsRef<OsStr>,
    params: &DataParams,
) -> Result<DataInfo, Error> {
    let (name, options) = (name.as_ref(), params.options(context)?);
    context.run(|| {
        let source = source::find(name, &options.data_dir)?;
        let data = source.load(&options, &mut context.watch(|step| Event::Load(step)))?;
        let (terms, has_parts) = (source.terms(), source.has_parts());
        Ok(DataInfo { terms, has_parts, ..DataInfo::new(&data, options.split) })
    })
}
