//! The shape of an input: an image, or a frame of sound.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Channels × height × width of one input, in this axis order; a frame of n audio samples is 1 × 1 × n.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Shape {
    /// Channels: 1 for grey and audio, 3 for red, green, blue.
    pub channels: usize,
    /// Rows.
    pub height: usize,
    /// Columns.
    pub width: usize,
}

impl Shape {
    /// Values of one input: channels · height · width, at most the largest usize.
    pub fn len(&self) -> usize {
        self.channels.saturating_mul(self.height).saturating_mul(self.width)
    }

    /// Whether an input would have no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Values of one channel: height · width, at most the largest usize.
    pub fn plane(&self) -> usize {
        self.height.saturating_mul(self.width)
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} x {} x {}", self.channels, self.height, self.width)
    }
}
