//! Samples of a data set as inputs of a smoother: their numbers as stored, and what a unit of them means.

use gambeson_data::dataset::{Dataset, Values};
use gambeson_smooth::noise::Quantum;
use gambeson_smooth::runs::Row;
use gambeson_smooth::space::Space;

/// What a unit of the stored numbers means.
pub fn quantum(data: &Dataset) -> Quantum {
    match data.values() {
        Values::U8(_) => Quantum::Byte,
        Values::I16(_) => Quantum::Sample,
        Values::F32(_) => Quantum::One,
    }
}

/// What records call a data set: its name and its hash.
pub fn data_name(data: &Dataset) -> String {
    format!("{} sha256:{}", data.name(), data.sha256())
}

/// The name and the hash in what records call a data set. One set may have several names: the hash tells sets apart.
pub fn data_parts(recorded: &str) -> (&str, &str) {
    recorded.rsplit_once(" sha256:").unwrap_or((recorded, recorded))
}

/// Sample `index` with its label.
///
/// # Panics
/// If there is no such sample.
pub fn row(data: &Dataset, index: usize) -> Row {
    let mut values = vec![0.0; data.shape().len()];
    data.sample_raw(index, &mut values);
    Row { values, label: data.labels().map(|labels| labels[index].into()) }
}

/// Sample `index` with its label, in the units of a space, which need not be those that the data are stored in.
///
/// # Panics
/// If there is no such sample.
pub fn row_for(data: &Dataset, index: usize, space: &Space) -> Row {
    let row = row(data, index);
    if space.quantum() == quantum(data) {
        return row;
    }
    let mut values = vec![0.0; data.shape().len()];
    data.sample_f64(index, &mut values);
    Row { values: space.numbers(&values), ..row }
}
