//! Range, mean and standard deviation of the values of a data set, channel by channel.
//!
//! Integer values are summed exactly, so nothing depends on the order; floating-point ones are summed in f64 in the order
//! of the samples, first for the mean and then for the deviation from it.

use crate::dataset::{Dataset, Values};

/// Mean, standard deviation and range of the real values (raw · scale) of one channel, over all samples, rows and
/// columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChannelStatistics {
    /// Mean.
    pub mean: f64,
    /// Standard deviation, with the number of values as the divisor.
    pub deviation: f64,
    /// Smallest value.
    pub smallest: f64,
    /// Largest value.
    pub largest: f64,
}

/// One per channel.
pub fn channel_statistics(data: &Dataset) -> Vec<ChannelStatistics> {
    let shape = data.shape();
    let plane = shape.height * shape.width;
    (0..shape.channels)
        .map(|channel| match data.values() {
            Values::U8(values) => exact(planes(values, channel, plane, shape.len()), data.scale()),
            Values::I16(values) => exact(planes(values, channel, plane, shape.len()), data.scale()),
            Values::F32(values) => floating(|| planes(values, channel, plane, shape.len())),
        })
        .collect()
}

/// The planes of one channel, sample by sample.
fn planes<T>(values: &[T], channel: usize, plane: usize, size: usize) -> impl Iterator<Item = &[T]> {
    values.chunks_exact(size).map(move |sample| &sample[channel * plane..(channel + 1) * plane])
}

fn exact<'a, T: Copy + Into<i64> + 'a>(
    planes: impl Iterator<Item = &'a [T]>,
    scale: f64,
) -> ChannelStatistics {
    let (mut count, mut sum, mut squares) = (0_i128, 0_i128, 0_i128);
    let (mut smallest, mut largest) = (i64::MAX, i64::MIN);
    for plane in planes {
        let (mut of_plane, mut of_squares) = (0_i64, 0_i64); // at most 2³⁰ each: room for 2³³ values
        for &value in plane {
            let value: i64 = value.into();
            of_plane += value;
            of_squares += value * value;
            smallest = smallest.min(value);
            largest = largest.max(value);
        }
        count += plane.len() as i128;
        sum += i128::from(of_plane);
        squares += i128::from(of_squares);
    }
    let count_f64 = count as f64;
    // count·Σv² − (Σv)² is exact; dividing comes last.
    let spread = (count * squares - sum * sum) as f64;
    ChannelStatistics {
        mean: sum as f64 / count_f64 * scale,
        deviation: spread.sqrt() / count_f64 * scale,
        smallest: smallest as f64 * scale,
        largest: largest as f64 * scale,
    }
}

fn floating<'a, I: Iterator<Item = &'a [f32]>>(planes: impl Fn() -> I) -> ChannelStatistics {
    let values = || planes().flatten().map(|&value| f64::from(value));
    let count = values().count() as f64;
    let mean = values().sum::<f64>() / count;
    let spread = values().map(|value| (value - mean) * (value - mean)).sum::<f64>();
    ChannelStatistics {
        mean,
        deviation: (spread / count).sqrt(),
        smallest: values().fold(f64::INFINITY, f64::min),
        largest: values().fold(f64::NEG_INFINITY, f64::max),
    }
}
