//! Which inputs of a data set a run is about.

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// One of several equal parts of the inputs selected: every `count`-th, beginning with the `index`-th.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

/// The inputs selected of one data set: how many it has is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Selection {
    /// The first input, from 0.
    pub start: u64,
    /// The end, not included.
    pub stop: u64,
    /// The step from one input to the next.
    pub every: u64,
    /// How many inputs that selects, all shards together.
    pub count: u64,
    /// Inputs of the data set.
    pub inputs: u64,
    /// Which of these a run takes, if several share them.
    pub shard: Shard,
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
    #[error("{} select none of the {inputs} inputs", if *.sharded {
        "start, stop, every and shard"
    } else {
        "start, stop and every"
    })]
    Empty {
        /// Of the data.
        inputs: u64,
        /// Whether a part of what is selected was asked for.
        sharded: bool,
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
    /// The selection of a data set of so many inputs; its shard has at least one.
    pub fn of(&self, inputs: u64) -> Result<Selection, SelectionError> {
        let Self { start, stop, every, shard } = *self;
        if every == 0 {
            return Err(SelectionError::Every);
        }
        if shard.index >= shard.count {
            return Err(SelectionError::Shard { index: shard.index, count: shard.count });
        }
        if let Some(stop) = stop.filter(|&stop| stop > inputs) {
            return Err(SelectionError::Stop { stop, inputs });
        }
        let stop = stop.unwrap_or(inputs);
        let count = stop.saturating_sub(start).div_ceil(every);
        if count <= shard.index {
            return Err(SelectionError::Empty { inputs, sharded: shard != Shard::WHOLE });
        }
        Ok(Selection { start, stop, every, count, inputs, shard })
    }
}

impl Selection {
    /// So many inputs, all of a data set.
    pub fn all(inputs: u64) -> Self {
        Self { start: 0, stop: inputs, every: 1, count: inputs, inputs, shard: Shard::WHOLE }
    }

    /// Whether its numbers fit each other.
    pub fn is_consistent(&self) -> bool {
        let Self { start, stop, every, shard, inputs, .. } = *self;
        InputSelection { start, stop: Some(stop), every, shard }.of(inputs) == Ok(*self)
    }

    /// The inputs of the shard, rising.
    pub fn indices(&self) -> impl Iterator<Item = u64> + Clone + use<> {
        let Self { start, every, count, shard, .. } = *self;
        let step = usize::try_from(shard.count).unwrap_or(usize::MAX);
        (shard.index..count).step_by(step).map(move |k| start + k * every)
    }

    /// The same with all shards together.
    #[must_use]
    pub fn whole(self) -> Self {
        Self { shard: Shard::WHOLE, ..self }
    }

    /// Whether an input is one of the shard's.
    pub fn contains(&self, index: u64) -> bool {
        let Self { start, stop, every, shard, .. } = *self;
        (start..stop).contains(&index)
            && (index - start).is_multiple_of(every)
            && (index - start) / every % shard.count == shard.index
    }

    /// How many inputs both select, counted without visiting them: heads may name numbers beyond all data.
    pub fn in_common(&self, other: &Self) -> u64 {
        let (Some(own), Some(other)) = (self.progression(), other.progression()) else { return 0 };
        let ((a, step, a_last), (b, other_step, b_last)) = (own, other);
        // The first common member from a on, if the two ever meet: a + i·step ≡ b.
        let distance = (b + (a / other_step + 1) * other_step - a) % other_step;
        let Some(i) = first_multiple(step % other_step, other_step, distance) else { return 0 };
        let (first, low, high) = (a + i * step, a.max(b), a_last.min(b_last));
        let period = step / gcd(step, other_step) * other_step;
        let first = first + low.saturating_sub(first).div_ceil(period) * period;
        if first > high { 0 } else { u64::try_from((high - first) / period + 1).unwrap_or(u64::MAX) }
    }

    /// The first input of the shard, the step to the next (1 where there is only one, so that it is below 2⁶⁴) and the last.
    fn progression(&self) -> Option<(u128, u128, u128)> {
        let Self { start, every, count, shard, .. } = *self;
        let (start, every, parts) = (u128::from(start), u128::from(every), u128::from(shard.count.max(1)));
        let members = u128::from(count.checked_sub(shard.index)?).div_ceil(parts);
        let first = start + u128::from(shard.index) * every;
        let step = if members > 1 { every * parts } else { 1 };
        Some((first, step.max(1), first + members.checked_sub(1)? * step))
    }
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The least i with i·step ≡ rest modulo m, for step and rest below m: Euclid's algorithm on i·step = rest + j·m.
fn first_multiple(step: u128, m: u128, rest: u128) -> Option<u128> {
    if rest == 0 {
        return Some(0);
    }
    if step == 0 {
        return None;
    }
    let j = first_multiple(m % step, step, (step - rest % step) % step)?;
    Some((rest + j * m) / step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_share_what_is_selected() {
        let whole = InputSelection { start: 3, stop: Some(40), every: 5, shard: Shard::WHOLE };
        let all: Vec<u64> = whole.of(100).expect("some").indices().collect();
        assert_eq!(all, [3, 8, 13, 18, 23, 28, 33, 38]);
        let part =
            |index| InputSelection { shard: Shard { index, count: 3 }, ..whole }.of(100).expect("some");
        let mut joined: Vec<u64> = (0..3).flat_map(|index| part(index).indices()).collect();
        assert_eq!(part(1).indices().collect::<Vec<u64>>(), [8, 23, 38]);
        assert_eq!(part(1).count, 8, "all shards together");
        for index in 0..3 {
            let own: Vec<u64> = (0..100).filter(|&input| part(index).contains(input)).collect();
            assert_eq!(own, part(index).indices().collect::<Vec<u64>>());
        }
        joined.sort_unstable();
        assert_eq!(joined, all);
    }

    #[test]
    fn inputs_in_common_are_counted() {
        let mut selections = Vec::new();
        for (start, stop) in [(0, 24), (0, 1), (3, 20), (7, 8), (5, 23), (20, 24)] {
            for every in [1, 2, 3, 4, 6, 30] {
                for (index, count) in [(0, 1), (0, 2), (1, 2), (2, 3), (5, 40)] {
                    let shard = Shard { index, count };
                    selections.extend(InputSelection { start, stop: Some(stop), every, shard }.of(24));
                }
            }
        }
        assert!(selections.len() > 100);
        for one in &selections {
            for other in &selections {
                let both = one.indices().filter(|&index| other.contains(index)).count() as u64;
                assert_eq!(one.in_common(other), both, "{one:?} {other:?}");
            }
        }
        // Numbers that no data set has, from a head that anybody may write.
        let most = Selection::all(u64::MAX);
        let of = |start, every| InputSelection { start, every, ..InputSelection::default() };
        let third = of(1, 3).of(u64::MAX).expect("some");
        let far = of(u64::MAX - 1, u64::MAX).of(u64::MAX).expect("one");
        let fifth = of(4, 5).of(u64::MAX).expect("some");
        let shard = Shard { index: 1, count: u64::MAX };
        let alone = InputSelection { shard, ..of(0, 1) }.of(u64::MAX).expect("one");
        assert_eq!((most.in_common(&most), most.in_common(&third)), (u64::MAX, u64::MAX / 3));
        assert_eq!((most.in_common(&far), third.in_common(&far)), (1, 0));
        assert_eq!((third.in_common(&fifth), fifth.in_common(&third)), (u64::MAX / 15, u64::MAX / 15));
        assert_eq!((most.in_common(&alone), third.in_common(&alone), fifth.in_common(&alone)), (1, 1, 0));
    }

    #[test]
    fn what_selects_nothing_is_refused() {
        let all = InputSelection::default();
        assert_eq!(all.of(3), Ok(Selection::all(3)));
        let refused = |selection: InputSelection| selection.of(3).expect_err("refused");
        assert_eq!(
            refused(InputSelection { start: 3, ..all }),
            SelectionError::Empty { inputs: 3, sharded: false }
        );
        assert_eq!(
            refused(InputSelection { stop: Some(4), ..all }),
            SelectionError::Stop { stop: 4, inputs: 3 }
        );
        assert_eq!(refused(InputSelection { every: 0, ..all }), SelectionError::Every);
        for (index, count) in [(0, 0), (2, 2)] {
            let shard = Shard { index, count };
            assert_eq!(refused(InputSelection { shard, ..all }), SelectionError::Shard { index, count });
        }
        let shard = Shard { index: 3, count: 4 };
        assert_eq!(
            refused(InputSelection { shard, ..all }),
            SelectionError::Empty { inputs: 3, sharded: true }
        );
    }

    #[test]
    fn a_selection_whose_numbers_do_not_fit_is_found() {
        let selection =
            InputSelection { start: 1, every: 2, ..InputSelection::default() }.of(8).expect("some");
        assert!(selection.is_consistent());
        for wrong in [
            Selection { count: 3, ..selection },
            Selection { inputs: 7, ..selection },
            Selection { every: 0, ..selection },
            Selection { every: 3, ..selection },
            Selection { start: 9, ..selection },
            Selection { shard: Shard { index: 1, count: 1 }, ..selection },
            Selection { shard: Shard { index: 0, count: 0 }, ..selection },
        ] {
            assert!(!wrong.is_consistent(), "{wrong:?}");
        }
    }
}
