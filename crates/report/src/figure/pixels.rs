//! Pictures as bytes.

/// Red, green and blue bytes, row by row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pixels {
    /// Columns.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Red, green and blue, row by row.
    pub rgb: Vec<u8>,
}

impl Pixels {
    /// Values between 0 and 1, channel by channel (one or three; of other numbers the first is shown), clipped.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // between 0 and 255
    pub fn of_values(channels: usize, height: usize, width: usize, values: &[f64]) -> Self {
        let byte = |value: f64| (255.0 * value.clamp(0.0, 1.0)).round() as u8;
        let plane = height * width;
        let channel = |c: usize, at: usize| byte(values[if channels == 3 { c * plane + at } else { at }]);
        let rgb = (0..plane).flat_map(|at| [channel(0, at), channel(1, at), channel(2, at)]).collect();
        Self { width, height, rgb }
    }
}
