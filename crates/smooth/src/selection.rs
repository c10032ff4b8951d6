//! Which inputs of a data set a run is about.

use thiserror::Error;

/// One of several equal parts of the inputs selected: every `count`-th, beginning with the `index`-th.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Which part, from 0.
    pub index: u64,
    /// How many parts there are, at least 1.
    pub count: u64,
}

impl Shard {
    /// The one part that is everything.
    pub const WHOLE: Self = Self { index: 0, count: 1 };
}

/// A choice of inputs, as all of `start..stop` whose distance from `start` is a multiple of `every`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputSelection {
    /// The first input, from 0.
    pub start: u64,
    /// The end, not included; that of the data if `None`.
    pub stop: Option<u64>,
    /// The step from one input to the next, at least 1.
    pub every: u64,
    /// Which of these a run takes, if several share them.
    pub shard: Shard,
}

impl Default for InputSelection {
    /// All inputs.
    fn default() -> Self {
        Self { start: 0, stop: None, every: 1, shard: Shard::WHOLE }
    }
}

/// Why a selection selects nothing of a data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SelectionError {
    /// The end lies beyond the data.
    #[error("stop {stop}: the data have only {inputs} inputs")]
    Stop {
        /// Asked for.
        stop: u64,
        /// Of the data.
        inputs: u64,
    },
    /// A step of 0.
    #[error("every 0: must be at least 1")]
    Every,
    /// A part that does not exist.
    #[error("shard {index} of {count}: parts are counted from 0")]
    Shard {
        /// Asked for.
        index: u64,
        /// How many there are.
        count: u64,
    },
    /// Nothing is left.
    #[error("start, stop, every and shard select none of the {inputs} inputs")]
    Empty {
        /// Of the data.
        inputs: u64,
    },
}

impl SelectionError {
    /// The field that is wrong; none where several together select nothing.
    pub fn field(&self) -> Option<&'static str> {
        match self {
            Self::Stop { .. } => Some("stop"),
            Self::Every => Some("every"),
            Self::Shard { .. } => Some("shard"),
            Self::Empty { .. } => None,
        }
    }
}

impl InputSelection {
    /// The indices selected of so many inputs, rising; at least one.
    pub fn indices(&self, inputs: u64) -> Result<Vec<u64>, SelectionError> {
        let Self { start, stop, every, shard: Shard { index, count } } = *self;
        if every == 0 {
            return Err(SelectionError::Every);
        }
        if index >= count {
            return Err(SelectionError::Shard { index, count });
        }
        if let Some(stop) = stop.filter(|&stop| stop > inputs) {
            return Err(SelectionError::Stop { stop, inputs });
        }
        let whole = start..stop.unwrap_or(inputs);
        let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let indices: Vec<u64> = whole.step_by(size(every)).skip(size(index)).step_by(size(count)).collect();
        if indices.is_empty() { Err(SelectionError::Empty { inputs }) } else { Ok(indices) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_share_what_is_selected() {
        let whole = InputSelection { start: 3, stop: Some(40), every: 5, shard: Shard::WHOLE };
        let all = whole.indices(100).expect("some");
        assert_eq!(all, [3, 8, 13, 18, 23, 28, 33, 38]);
        let part = |index| InputSelection { shard: Shard { index, count: 3 }, ..whole }.indices(100);
        let mut joined: Vec<u64> = (0..3).flat_map(|index| part(index).expect("some")).collect();
        assert_eq!(part(1).expect("some"), [8, 23, 38]);
        joined.sort_unstable();
        assert_eq!(joined, all);
    }

    #[test]
    fn what_selects_nothing_is_refused() {
        let all = InputSelection::default();
        assert_eq!(all.indices(3), Ok(vec![0, 1, 2]));
        let refused = |selection: InputSelection| selection.indices(3).expect_err("refused");
        assert_eq!(refused(InputSelection { start: 3, ..all }), SelectionError::Empty { inputs: 3 });
        assert_eq!(
            refused(InputSelection { stop: Some(4), ..all }),
            SelectionError::Stop { stop: 4, inputs: 3 }
        );
        assert_eq!(refused(InputSelection { every: 0, ..all }), SelectionError::Every);
        for (index, count) in [(0, 0), (2, 2)] {
            let shard = Shard { index, count };
            assert_eq!(refused(InputSelection { shard, ..all }), SelectionError::Shard { index, count });
        }
    }
}
