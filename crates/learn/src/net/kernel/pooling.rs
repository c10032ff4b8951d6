//! Windows that move over a plane: the largest number or the mean of each, and what their gradients bring. One row of
//! windows at a time, a register of channels of a window after the other; places of a window row by row.

#![allow(unsafe_code)] // calls of versions compiled for instructions that were found

use super::isa::LANES;
use super::lanes::Lanes;
use super::versions::versions;
use std::ops::Range;

/// How windows lie along the rows or the columns of a plane.
#[derive(Clone, Copy)]
pub(crate) struct Along {
    pub(crate) kernel: usize,
    pub(crate) stride: usize,
    pub(crate) padding: usize,
    /// Rows or columns of the plane.
    pub(crate) size: usize,
}

impl Along {
    /// Rows or columns of the plane that a window meets.
    #[inline(always)]
    pub(crate) fn reach(self, at: usize) -> Range<usize> {
        let first = at * self.stride;
        first.saturating_sub(self.padding)..(first + self.kernel - self.padding).min(self.size)
    }
}

/// What becomes of the numbers of a window: a type and not a closure, because closures are compiled without the wider
/// instructions.
trait Reduction<L: Lanes> {
    /// Before the first number.
    fn begin(first: L) -> L;
    fn join(all: L, next: L) -> L;
    /// `share` is 1 by the count of the numbers.
    fn end(all: L, share: L) -> L;
}

/// The first of equal ones; NaN counts as larger than any number.
struct Largest;

impl<L: Lanes> Reduction<L> for Largest {
    #[inline(always)]
    fn begin(first: L) -> L {
        first
    }

    #[inline(always)]
    fn join(all: L, next: L) -> L {
        all.larger(all, next, all).0
    }

    #[inline(always)]
    fn end(all: L, _: L) -> L {
        all
    }
}

struct Mean;

impl<L: Lanes> Reduction<L> for Mean {
    #[inline(always)]
    fn begin(_: L) -> L {
        // −0 is what changes no number that is added to it, 0 among them.
        L::splat(-0.0)
    }

    #[inline(always)]
    fn join(all: L, next: L) -> L {
        all.add(next)
    }

    #[inline(always)]
    fn end(all: L, share: L) -> L {
        all.times(share)
    }
}

#[inline(always)]
fn reduce<L: Lanes, R: Reduction<L>>(
    x: &[f32],
    row: usize,
    rows: &Range<usize>,
    columns: Along,
    channels: usize,
    out: &mut [f32],
) {
    assert!(channels.is_multiple_of(LANES), "whole lanes");
    for (q, out) in out.chunks_exact_mut(channels).enumerate() {
        let reach = columns.reach(q);
        if rows.is_empty() || reach.is_empty() {
            out.fill(0.0);
            continue;
        }
        let share = L::splat(1.0 / (rows.len() * reach.len()) as f32);
        for c in (0..channels).step_by(L::WIDTH) {
            let mut all = R::begin(L::of(&x[rows.start * row + reach.start * channels + c..]));
            for i in rows.clone() {
                let line = &x[i * row + reach.start * channels..][..reach.len() * channels];
                for at in (c..line.len()).step_by(channels) {
                    all = R::join(all, L::of(&line[at..]));
                }
            }
            R::end(all, share).put(&mut out[c..]);
        }
    }
}

versions! {
    /// out ← the largest number of each window that meets these rows of x, which are `row` numbers apart; 0 where it meets
    /// nothing.
    fn largest<L by channels>(x: &[f32], row: usize, rows: &Range<usize>, columns: Along, channels: usize, out: &mut [f32]) {
        reduce::<L, Largest>(x, row, rows, columns, channels, out);
    }
}

versions! {
    /// out ← the mean of each window that meets these rows of x, which are `row` numbers apart; 0 where it meets nothing.
    fn mean<L by channels>(x: &[f32], row: usize, rows: &Range<usize>, columns: Along, channels: usize, out: &mut [f32]) {
        reduce::<L, Mean>(x, row, rows, columns, channels, out);
    }
}

versions! {
    /// Adds the gradients of one row of windows to those of the places that were the largest, the first ones. `dx` lies as
    /// x does.
    fn largest_gradient<L by channels>(x: &[f32], row: usize, rows: &Range<usize>, columns: Along, channels: usize, dy: &[f32], dx: &mut [f32]) {
        assert!(channels.is_multiple_of(LANES), "whole lanes");
        for (q, dy) in dy.chunks_exact(channels).enumerate() {
            let reach = columns.reach(q);
            if rows.is_empty() || reach.is_empty() {
                continue;
            }
            for c in (0..channels).step_by(L::WIDTH) {
                // Places of the window, counted; as bits, since that is all that is done with them.
                let place = |count: u32| L::splat(f32::from_bits(count));
                let mut best = (L::of(&x[rows.start * row + reach.start * channels + c..]), place(0));
                let mut count = 0;
                for i in rows.clone() {
                    let line = &x[i * row + reach.start * channels..][..reach.len() * channels];
                    for at in (c..line.len()).step_by(channels) {
                        best = best.0.larger(best.1, L::of(&line[at..]), place(count));
                        count += 1;
                    }
                }
                let mut places = [0.0; 2 * LANES];
                best.1.put(&mut places);
                for (lane, place) in places.iter().take(L::WIDTH).enumerate() {
                    let place = place.to_bits() as usize;
                    let (i, j) = (rows.start + place / reach.len(), reach.start + place % reach.len());
                    dx[i * row + j * channels + c + lane] += dy[c + lane];
                }
            }
        }
    }
}

versions! {
    /// Adds the gradients of one row of windows to those of all their places, in equal shares.
    fn mean_gradient<L by channels>(row: usize, rows: &Range<usize>, columns: Along, channels: usize, dy: &[f32], dx: &mut [f32]) {
        assert!(channels.is_multiple_of(LANES), "whole lanes");
        for (q, dy) in dy.chunks_exact(channels).enumerate() {
            let reach = columns.reach(q);
            if rows.is_empty() || reach.is_empty() {
                continue;
            }
            let share = L::splat(1.0 / (rows.len() * reach.len()) as f32);
            for c in (0..channels).step_by(L::WIDTH) {
                let part = share.times(L::of(&dy[c..]));
                for i in rows.clone() {
                    let line = &mut dx[i * row + reach.start * channels..][..reach.len() * channels];
                    for at in (c..line.len()).step_by(channels) {
                        L::of(&line[at..]).add(part).put(&mut line[at..]);
                    }
                }
            }
        }
    }
}
