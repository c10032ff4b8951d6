//! One tile, some channels of it: what the transforms of all schemes have in common.

#![allow(unsafe_code)]

use super::tiles::{Epilogue, Layout, SKEW, Tiles};
use crate::net::kernel::isa::LANES;
use crate::net::kernel::lanes::Lanes;
use crate::net::kernel::product::{PANEL, packed_pair};

/// Where the numbers of a patch lie: (i, j) at `i·row + j·column`.
#[derive(Clone, Copy)]
pub(super) struct Steps {
    pub(super) row: usize,
    pub(super) column: usize,
}

/// A transform of one row or column: a type and not a closure, because closures are compiled without the wider instructions.
pub(super) trait Transform<L: Lanes, const N: usize, const OUT: usize> {
    fn of(row: [L; N]) -> [L; OUT];
}

/// T d Tᵀ of an N × N patch d, place by place into planes: number (i, j) at `(i·OUT + j)·plane` from `to`.
///
/// # Safety
/// The patch and the places must be within what the pointers point into.
#[inline(always)]
pub(super) unsafe fn spread<L: Lanes, T: Transform<L, N, OUT>, const N: usize, const OUT: usize>(
    from: *const f32,
    steps: Steps,
    to: *mut f32,
    plane: usize,
) {
    let mut t = [[L::zero(); N]; OUT];
    for j in 0..N {
        let mut d = [L::zero(); N];
        for (i, d) in d.iter_mut().enumerate() {
            // SAFETY: the caller's.
            *d = unsafe { L::load(from.add(i * steps.row + j * steps.column)) };
        }
        for (i, out) in T::of(d).into_iter().enumerate() {
            t[i][j] = out;
        }
    }
    for (i, t) in t.into_iter().enumerate() {
        for (j, out) in T::of(t).into_iter().enumerate() {
            // SAFETY: the caller's.
            unsafe { out.store(to.add((OUT * i + j) * plane)) };
        }
    }
}

/// T d Tᵀ of the patches of the tiles `first..first + count`, each N × N from the tile's first pixel on: patch by patch, OUT ×
/// OUT planes.
#[inline(always)]
pub(super) fn spread_tiles<L: Lanes, T: Transform<L, N, OUT>, const N: usize, const OUT: usize>(
    x: &[f32],
    layout: Layout,
    tiles: Tiles,
    channels: usize,
    (first, count): (usize, usize),
    out: &mut [f32],
) {
    let plane = count * channels + SKEW;
    let last = tiles.place(first + count - 1).0;
    let (down, across) = (4 * tiles.down() + N - 5, 4 * tiles.across() + N - 4);
    let reach = layout.first + last * layout.image + down * layout.row + across * channels;
    let fits = reach <= x.len() && OUT * OUT * plane <= out.len() && channels.is_multiple_of(LANES);
    assert!(fits, "tiles beyond the image");
    let steps = Steps { row: layout.row, column: channels };
    let mut place = tiles.place(first);
    for tile in 0..count {
        let at = layout.tile(place, 4, channels);
        for c in (0..channels).step_by(L::WIDTH) {
            // SAFETY: the patch is within `reach`, the places within their planes of `plane` numbers, tile after tile.
            unsafe {
                let (from, to) = (x.as_ptr().add(at + c), out.as_mut_ptr().add(tile * channels + c));
                spread::<L, T, N, OUT>(from, steps, to, plane);
            }
        }
        place = tiles.after(place);
    }
}

/// T m Tᵀ of N × N places that lie in planes.
///
/// # Safety
/// The places must be within what the pointer points into.
#[inline(always)]
unsafe fn gathered<L: Lanes, T: Transform<L, N, 4>, const N: usize>(
    from: *const f32,
    plane: usize,
) -> [[L; 4]; 4] {
    let mut t = [[L::zero(); N]; 4];
    for j in 0..N {
        let mut m = [L::zero(); N];
        for (i, m) in m.iter_mut().enumerate() {
            // SAFETY: the caller's.
            *m = unsafe { L::load(from.add((N * i + j) * plane)) };
        }
        for (i, out) in T::of(m).into_iter().enumerate() {
            t[i][j] = out;
        }
    }
    let mut tile = [[L::zero(); 4]; 4];
    for (tile, t) in tile.iter_mut().zip(t) {
        *tile = T::of(t);
    }
    tile
}

/// Channels `channel..` of a tile, closed and stored: `rows` × `columns` of it, the others are beyond the image.
///
/// # Safety
/// `at` is where its first number belongs, in `y` and in the shortcut; what is stored must be within both.
#[inline(always)]
#[allow(clippy::too_many_arguments)]
unsafe fn put_tile<L: Lanes>(
    tile: [[L; 4]; 4],
    (rows, columns): (usize, usize),
    y: *mut f32,
    at: usize,
    steps: Steps,
    channel: usize,
    epilogue: Epilogue<'_>,
) {
    let mut bias = L::zero();
    if let Some(all) = epilogue.bias {
        bias = L::of(&all[channel..]);
    }
    // Two loops: with a known number of steps everything stays in registers.
    if rows == 4 && columns == 4 {
        for (i, line) in tile.into_iter().enumerate() {
            for (j, out) in line.into_iter().enumerate() {
                // SAFETY: the caller's.
                unsafe { put(out, y, at + i * steps.row + j * steps.column, bias, epilogue) };
            }
        }
    } else {
        for (i, line) in tile.into_iter().enumerate().take(rows) {
            for (j, out) in line.into_iter().enumerate().take(columns) {
                // SAFETY: the caller's.
                unsafe { put(out, y, at + i * steps.row + j * steps.column, bias, epilogue) };
            }
        }
    }
}

/// # Safety
/// As [`put_tile`].
#[inline(always)]
unsafe fn put<L: Lanes>(mut out: L, y: *mut f32, at: usize, bias: L, epilogue: Epilogue<'_>) {
    if epilogue.bias.is_some() {
        out = out.add(bias);
    }
    if let Some(shortcut) = epilogue.shortcut {
        // SAFETY: the caller's.
        out = out.add(unsafe { L::load(shortcut.as_ptr().add(at)) });
    }
    if epilogue.relu {
        out = out.relu();
    }
    // SAFETY: the caller's.
    unsafe { out.store(y.add(at)) };
}

/// The tiles `first..first + count` of Y from M, N × N places in planes, with the epilogue.
#[inline(always)]
pub(super) fn put_tiles<L: Lanes, T: Transform<L, N, 4>, const N: usize>(
    m: &[f32],
    y: &mut [f32],
    layout: Layout,
    tiles: Tiles,
    channels: usize,
    (first, count): (usize, usize),
    epilogue: Epilogue<'_>,
) {
    let plane = count * channels + SKEW;
    assert!(N * N * plane <= m.len() && channels.is_multiple_of(LANES), "tiles beyond their planes");
    tiles.assert_output(y, layout, channels, first + count, epilogue);
    let steps = Steps { row: layout.row, column: channels };
    let mut place = tiles.place(first);
    for tile in 0..count {
        let at = layout.tile(place, 4, channels);
        for c in (0..channels).step_by(L::WIDTH) {
            // SAFETY: places are within their planes; rows and columns beyond the image are left out, and all others were
            // asserted to be there.
            unsafe {
                let tile = gathered::<L, T, N>(m.as_ptr().add(tile * channels + c), plane);
                put_tile(tile, tiles.inside(place), y.as_mut_ptr(), at + c, steps, c, epilogue);
            }
        }
        place = tiles.after(place);
    }
}

/// Eight columns of term k of transformed weights, from column `first` of `columns`, where packed products of `depth` terms
/// want them.
#[inline(always)]
pub(super) fn put_packed<L: Lanes>(
    value: L,
    u: &mut [f32],
    (depth, k): (usize, usize),
    (columns, first): (usize, usize),
) {
    let panel = first / PANEL * PANEL;
    let u = &mut u[depth * panel..];
    if columns - panel >= PANEL {
        value.put(&mut u[k * PANEL + (first - panel)..]);
    } else {
        let mut lanes = [0.0; LANES];
        value.put(&mut lanes);
        for (j, &lane) in lanes.iter().enumerate() {
            u[packed_pair(k, j)] = lane;
        }
    }
}
