//! Where values lie while images go through a network: buffers with zeros around the planes, as wide as any kernel that reads
//! them needs. Values of one shape share their geometry, and those that are not needed at the same time their buffers.

use super::architecture::{Architecture, ValueIndex};
use super::kernel::winograd::Layout;
use super::plan::{PaddedPlane, Plan};
use std::collections::HashMap;

/// Where a value lies: the buffer, and the frame around its plane.
#[derive(Clone, Copy, Debug)]
pub(super) struct BufferSlot {
    pub(super) buffer: usize,
    pub(super) frame: PaddedPlane,
    pub(super) channels: usize,
}

impl BufferSlot {
    /// As the kernels want it.
    pub(super) fn layout(self) -> Layout {
        let row = self.frame.columns * self.channels;
        let first = self.frame.before * row + self.frame.before * self.channels;
        Layout { first, image: apart(self.frame.len(self.channels)), row }
    }

    /// Whether the numbers of an image follow each other without a gap.
    pub(super) fn is_dense(self, height: usize, width: usize) -> bool {
        (self.frame.before, self.frame.rows, self.frame.columns) == (0, height, width)
    }
}

/// How far apart rows of so many numbers lie: a matrix that meets sixteen of them at once would find them all in a few sets
/// of the first-level cache if that were a multiple of a large power of two.
pub(super) fn apart(numbers: usize) -> usize {
    const SKEW: usize = 16;
    if numbers.is_multiple_of(256) { numbers + SKEW } else { numbers }
}

/// The frame of every shape: wide enough for all kernels that read a value of it.
pub(super) fn frames(
    plan: &Plan,
    architecture: &Architecture,
) -> HashMap<(usize, usize, usize), PaddedPlane> {
    let mut frames: HashMap<(usize, usize, usize), PaddedPlane> = HashMap::new();
    let key = |value: ValueIndex| {
        let value = &plan.values[value];
        (value.shape.height, value.shape.width, value.stored)
    };
    for value in 0..plan.values.len() {
        let (rows, columns, _) = key(value);
        frames.entry(key(value)).or_insert(PaddedPlane { before: 0, rows, columns, step: 1 });
    }
    let readers = || plan.convolutions.iter().enumerate().filter_map(|(at, plan)| Some((at, plan.as_ref()?)));
    for (at, plan) in readers() {
        let frame = frames.get_mut(&key(architecture.layers[at].input)).expect("every value has one");
        frame.before = frame.before.max(plan.padding);
    }
    for (at, plan) in readers() {
        let from = key(architecture.layers[at].input);
        let frame = frames.get_mut(&from).expect("every value has one");
        let needed = plan.input_frame();
        let before = frame.before;
        frame.rows = frame.rows.max(before - plan.padding + needed.rows).max(before + from.0);
        frame.columns = frame.columns.max(before - plan.padding + needed.columns).max(before + from.1);
    }
    frames
}

/// Which buffer every value lies in; values of one geometry take turns, but for the input.
pub(super) fn assign_buffers(
    plan: &Plan,
    architecture: &Architecture,
    frames: &HashMap<(usize, usize, usize), PaddedPlane>,
) -> (Vec<BufferSlot>, Vec<usize>) {
    let (mut slots, mut sizes) = (Vec::new(), Vec::new());
    // Geometry of each buffer, and the layer after which it is free.
    let mut taken: Vec<((usize, usize, usize), usize)> = Vec::new();
    for (at, value) in plan.values.iter().enumerate() {
        let key = (value.shape.height, value.shape.width, value.stored);
        let frame = frames[&key];
        let last = value.readers.iter().map(|reader| reader.layer).max().unwrap_or(architecture.layers.len());
        // Made by layer at − 1, whose inputs are still needed then.
        let free = taken.iter().position(|&(own, until)| own == key && until + 1 < at.max(1));
        let buffer = free.unwrap_or_else(|| {
            taken.push((key, 0));
            sizes.push(apart(frame.len(value.stored)));
            sizes.len() - 1
        });
        // The input's channels that only fill up are never written, so nothing else may lie there: of an infinite number
        // of another image even a weight of 0 makes NaN.
        taken[buffer].1 = if at == 0 { usize::MAX - 1 } else { last };
        slots.push(BufferSlot { buffer, frame, channels: value.stored });
    }
    (slots, sizes)
}
