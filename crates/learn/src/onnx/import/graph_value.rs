//! What a name of the graph stands for: a value of our network, seen in some way.

use gambeson_data::dataset::Shape;
use std::rc::Rc;

/// A value of our network as the graph has it under some name.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct GraphValue {
    /// The value: 0 for the input, i + 1 for what layer i makes.
    pub(super) value: usize,
    /// Its shape.
    pub(super) shape: Shape,
    /// The axes it has in the graph, without the batch. Numbers are never moved by a change of axes alone.
    pub(super) axes: Vec<usize>,
    /// Whether its numbers are in the order row, column, channel.
    pub(super) channels_last: bool,
    /// Whether something else takes it too, so that nothing may be joined to the layer that makes it.
    pub(super) shared: bool,
    /// What is done to every channel, and not yet part of any layer.
    pub(super) scaled: Option<Rc<[Line]>>,
    /// As the other end of a shortcut of option A.
    pub(super) sampled: Option<Sampled>,
}

/// x ↦ scale·x + shift, any numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Line {
    pub(super) scale: f64,
    pub(super) shift: f64,
}

impl Line {
    /// x ↦ x.
    pub(super) const IDENTITY: Self = Self { scale: 1.0, shift: 0.0 };
}

/// Every s-th row and column, and channels of zeros around the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sampled {
    /// From a row, and a column, to the next taken.
    pub(super) steps: [usize; 2],
    /// Channels of zeros before and behind.
    pub(super) zeros: [usize; 2],
}

impl GraphValue {
    /// A value as a layer makes it.
    pub(super) fn made(value: usize, shape: Shape) -> Self {
        let axes = vec![shape.channels, shape.height, shape.width];
        Self { value, shape, axes, channels_last: false, shared: false, scaled: None, sampled: None }
    }

    /// Whether the two orders of numbers differ.
    fn is_ordered(&self) -> bool {
        self.shape.channels > 1 && self.shape.height * self.shape.width > 1
    }

    /// Whether numbers are in the order channel, row, column.
    pub(super) fn channels_first(&self) -> bool {
        !self.channels_last || !self.is_ordered()
    }

    /// Whether the axes are channel, row, column.
    pub(super) fn is_image(&self) -> bool {
        let Shape { channels, height, width } = self.shape;
        self.axes == [channels, height, width] && self.channels_first() && self.sampled.is_none()
    }

    /// Whether it is one row of numbers.
    pub(super) fn is_row(&self) -> bool {
        self.axes == [self.shape.len()] && self.sampled.is_none()
    }

    /// With its axes in the order row, column, channel.
    pub(super) fn into_last(self) -> Option<Self> {
        let Shape { channels, height, width } = self.shape;
        self.is_image().then(|| Self { axes: vec![height, width, channels], channels_last: true, ..self })
    }

    /// With its axes in the order channel, row, column.
    pub(super) fn into_first(self) -> Option<Self> {
        let Shape { channels, height, width } = self.shape;
        let last = self.axes == [height, width, channels] && (self.channels_last || !self.is_ordered());
        (last && self.sampled.is_none()).then(|| Self {
            axes: vec![channels, height, width],
            channels_last: false,
            ..self
        })
    }

    /// Which of its axes is the channel, if one is.
    pub(super) fn channel_axis(&self) -> Option<usize> {
        let Shape { channels, height, width } = self.shape;
        if self.sampled.is_some() {
            None
        } else if self.is_image() || (self.axes == [channels] && height * width == 1) {
            Some(0)
        } else {
            (self.axes == [height, width, channels] && self.channels_last).then_some(2)
        }
    }

    /// Numbers of a constant as one per channel, if that is how it is spread over the value.
    pub(super) fn per_channel(&self, shape: &[usize], numbers: &[f32]) -> Option<Vec<f64>> {
        let channels = self.shape.channels;
        if let [number] = numbers
            && shape.len() <= self.axes.len() + 1
        {
            return Some(vec![f64::from(*number); channels]);
        }
        // Axes are matched from the last.
        let from_last = self.axes.len().checked_sub(self.channel_axis()?)?;
        let at = shape.len().checked_sub(from_last)?;
        let others = shape.iter().enumerate().all(|(axis, &size)| axis == at || size == 1);
        let fits = others && shape.len() <= self.axes.len() + 1 && shape[at] == channels;
        (fits && numbers.len() == channels).then(|| numbers.iter().map(|&number| number.into()).collect())
    }

    /// With more done to its channels.
    pub(super) fn then(self, lines: &[Line]) -> Self {
        let before = self.scaled.as_deref();
        let joined = lines.iter().enumerate().map(|(c, line)| {
            let first = before.map_or(Line::IDENTITY, |before| before[c]);
            Line { scale: line.scale * first.scale, shift: line.scale * first.shift + line.shift }
        });
        let scaled = Some(joined.collect());
        Self { scaled, ..self }
    }
}
