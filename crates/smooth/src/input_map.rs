//! What is done to a row before a classifier takes it: normalisation, channel by channel, and the order of its numbers.
//!
//! It stands beside the classifier, not in it, so that rows can be made that way in the first place: where noise is
//! added to the input itself, a noisy number is h·K with K whole, and scale·h·K + shift is one fused multiply-add.

use thiserror::Error;

/// The order of the numbers of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Channel, row, column; also vectors.
    ChannelsFirst,
    /// Row, column, channel.
    ChannelsLast,
}

/// x ↦ scale·x + shift.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Affine {
    /// Above 0.
    pub scale: f64,
    /// Any number.
    pub shift: f64,
}

impl Affine {
    /// x ↦ x.
    pub const IDENTITY: Self = Self { scale: 1.0, shift: 0.0 };

    /// This one first, then another.
    #[must_use]
    pub fn then(self, next: Self) -> Self {
        Self { scale: next.scale * self.scale, shift: next.scale * self.shift + next.shift }
    }
}

/// From rows of data, in the order channel, row, column, to rows as a classifier takes them.
#[derive(Clone, Debug, PartialEq)]
pub struct InputMap {
    channels: Vec<Affine>,
    /// Numbers per channel.
    plane: usize,
    layout: Layout,
}

/// Why parts do not make a map.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum InputMapError {
    /// The numbers are outside the range of single precision.
    #[error(
        "channel {channel} would be multiplied by {scale} and moved by {shift}: the first must be above 0, and both \
         within the range of single precision"
    )]
    Map {
        /// Counting from 0.
        channel: usize,
        /// The factor.
        scale: f64,
        /// The shift.
        shift: f64,
    },
    /// No channels, or channels without numbers.
    #[error("rows of {channels} channels of {plane} numbers are empty")]
    Empty {
        /// Channels.
        channels: usize,
        /// Numbers per channel.
        plane: usize,
    },
}

impl InputMap {
    /// For rows with one channel per affine map, of `plane` numbers each.
    pub fn new(channels: Vec<Affine>, plane: usize, layout: Layout) -> Result<Self, InputMapError> {
        if channels.is_empty() || plane == 0 {
            return Err(InputMapError::Empty { channels: channels.len(), plane });
        }
        let (least, most) = (f64::from(f32::MIN_POSITIVE), f64::from(f32::MAX));
        let wrong = |map: &Affine| !((least..=most).contains(&map.scale) && map.shift.abs() <= most);
        if let Some(channel) = channels.iter().position(wrong) {
            let Affine { scale, shift } = channels[channel];
            return Err(InputMapError::Map { channel, scale, shift });
        }
        Ok(Self { channels, plane, layout })
    }

    /// The order of the rows that it makes.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Numbers in a row.
    pub fn dim(&self) -> usize {
        self.channels.len() * self.plane
    }

    /// The largest scale of a channel.
    pub fn largest_scale(&self) -> f64 {
        self.channels.iter().fold(0.0, |largest, map| largest.max(map.scale))
    }

    /// The smallest scale of a channel.
    pub fn smallest_scale(&self) -> f64 {
        self.channels.iter().fold(f64::INFINITY, |smallest, map| smallest.min(map.scale))
    }

    /// Where number `index` of a row in the order channel, row, column goes, and what is done to it.
    pub fn place(&self, index: usize) -> (usize, Affine) {
        let (channel, pixel) = (index / self.plane, index % self.plane);
        let place = match self.layout {
            Layout::ChannelsFirst => index,
            Layout::ChannelsLast => pixel * self.channels.len() + channel,
        };
        (place, self.channels[channel])
    }

    /// Maps a row in the order channel, row, column to what the classifier takes.
    ///
    /// Panics unless both have [`dim`](Self::dim) numbers.
    #[allow(clippy::cast_possible_truncation)] // in the range of f32
    pub fn apply(&self, row: &[f32], out: &mut [f32]) {
        assert!(row.len() == self.dim() && out.len() == self.dim(), "a row of {} numbers", self.dim());
        for (c, (values, map)) in row.chunks_exact(self.plane).zip(&self.channels).enumerate() {
            let (scale, shift) = (map.scale as f32, map.shift as f32);
            let mapped = values.iter().map(|x| x * scale + shift);
            match self.layout {
                Layout::ChannelsFirst => {
                    out[c * self.plane..].iter_mut().zip(mapped).for_each(|(out, x)| *out = x);
                }
                Layout::ChannelsLast => {
                    out[c..]
                        .iter_mut()
                        .step_by(self.channels.len())
                        .zip(mapped)
                        .for_each(|(out, x)| *out = x);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_goes_where_it_is_said_to_go() {
        let channels = [(2.0, 1.0), (0.5, -3.0), (1.0, 0.0)].map(|(scale, shift)| Affine { scale, shift });
        let row: Vec<f32> = (0_u8..12).map(f32::from).collect();
        for layout in [Layout::ChannelsFirst, Layout::ChannelsLast] {
            let map = InputMap::new(channels.to_vec(), 4, layout).expect("a map");
            let mut out = [0.0; 12];
            map.apply(&row, &mut out);
            for (index, x) in row.iter().enumerate() {
                let (place, affine) = map.place(index);
                assert_eq!(affine, channels[index / 4]);
                assert!((f64::from(out[place]) - (affine.scale * f64::from(*x) + affine.shift)).abs() < 1e-6);
            }
        }
        let last = InputMap::new(channels.to_vec(), 4, Layout::ChannelsLast).expect("a map");
        assert_eq!(last.place(5), (4, channels[1]), "channel 1 of pixel 1");
        for (scale, shift) in [(0.0, 0.0), (-1.0, 0.0), (1e39, 0.0), (f64::NAN, 0.0), (1.0, f64::INFINITY)] {
            let wrong = vec![channels[0], Affine { scale, shift }];
            let error = InputMap::new(wrong, 4, Layout::ChannelsFirst).expect_err("refused");
            assert!(matches!(error, InputMapError::Map { channel: 1, .. }), "{error}");
        }
        assert!(matches!(
            InputMap::new(Vec::new(), 4, Layout::ChannelsFirst),
            Err(InputMapError::Empty { .. })
        ));
        assert!(matches!(
            InputMap::new(channels.to_vec(), 0, Layout::ChannelsLast),
            Err(InputMapError::Empty { .. })
        ));
    }
}
