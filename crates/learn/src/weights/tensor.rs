//! A tensor with its name, as files have them.

/// Numbers with a name and a shape, row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedTensor {
    /// As in the file.
    pub name: String,
    /// Axis by axis; empty for a single number.
    pub shape: Vec<usize>,
    /// Row-major.
    pub values: Vec<f32>,
}
