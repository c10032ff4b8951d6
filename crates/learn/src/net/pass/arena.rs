//! Memory for gradients: a few buffers that values take turns in.
//!
//! The gradient at a value is needed from the backward pass of its last reader to that of the layer that made it; where it
//! is also that of a shortcut, until the gradient at the shortcut's other end is complete. Values whose times do not meet
//! share a buffer.

use super::super::architecture::{Architecture, ValueIndex};
use super::super::plan::Plan;

#[derive(Debug)]
pub(super) struct Arena {
    buffers: Vec<Vec<f32>>,
    /// By value.
    of: Vec<usize>,
}

impl Arena {
    pub(super) fn new(architecture: &Architecture, plan: &Plan, batch: usize) -> Self {
        let layers = architecture.layers.len();
        // Time runs backwards: layer l is at layers − l, and what comes after the first layer at layers + 1.
        let time = |layer: Option<usize>| layer.map_or(layers + 1, |layer| layers - layer);
        // When the gradient at a value is complete: see `backward.rs`.
        let complete = |value: ValueIndex| match plan.values[value].readers.first() {
            Some(reader) if !reader.as_shortcut => time(Some(reader.layer)),
            _ => time(value.checked_sub(1)),
        };
        let mut spans: Vec<(usize, usize, ValueIndex)> = (0..=layers)
            .map(|value| {
                let readers = plan.values[value].readers.iter().filter(|reader| !reader.as_shortcut);
                let last = readers.map(|reader| reader.layer).max();
                let start =
                    if value == layers { 0 } else { last.map_or(complete(value), |last| time(Some(last))) };
                let made = value.checked_sub(1);
                let shortcut = made.and_then(|layer| plan.convolutions[layer].as_ref()?.shortcut);
                let end = time(made).max(shortcut.map_or(0, |shortcut| complete(shortcut.from)));
                (start, end, value)
            })
            .collect();
        spans.sort_unstable();
        let mut free_from: Vec<usize> = Vec::new();
        let mut sizes: Vec<usize> = Vec::new();
        let mut of = vec![0; layers + 1];
        for (start, end, value) in spans {
            let planned = &plan.values[value];
            let size = batch * planned.shape.height * planned.shape.width * planned.gradient;
            let slot = free_from.iter().position(|&free| free < start).unwrap_or(free_from.len());
            if slot == free_from.len() {
                free_from.push(0);
                sizes.push(0);
            }
            (free_from[slot], sizes[slot], of[value]) = (end, sizes[slot].max(size), slot);
        }
        Self { buffers: sizes.into_iter().map(|size| vec![0.0; size]).collect(), of }
    }

    pub(super) fn of(&self, value: ValueIndex) -> &[f32] {
        &self.buffers[self.of[value]]
    }

    /// The buffer of a value, out of the arena; it must be put back.
    pub(super) fn take(&mut self, value: ValueIndex) -> Vec<f32> {
        std::mem::take(&mut self.buffers[self.of[value]])
    }

    pub(super) fn put(&mut self, value: ValueIndex, buffer: Vec<f32>) {
        self.buffers[self.of[value]] = buffer;
    }
}
