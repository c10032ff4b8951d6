//! Convolution of few channels, any kernel, stride and padding: pixels side by side in registers.
//!
//! y[r, q, o] = Σ_{i, a, b} x[i, r·s + a − p, q·s + b − p]·w[i, a, b, o], x zero outside the plane.
//!
//! Channels as they are stored elsewhere, innermost, would leave most of a register empty. Here planes stay planes: the
//! pixels of a row that one tap of the kernel meets lie side by side, if the columns are split by the stride. A register
//! holds neighbouring pixels of the output, and each tap is one number for all of them. Terms are added up in the order
//! (i, a, b), one fused multiply-add each. What comes out has its channels innermost.

#![allow(unsafe_code)]

use super::isa::LANES;
use super::lanes::Lanes;
use super::versions::versions;

/// Pixels side by side at most: lines are multiples of it.
const PIXELS: usize = 16;

/// A convolution's sizes.
#[derive(Clone, Debug)]
pub(crate) struct Planes {
    /// Channels, rows and columns of the input.
    pub(crate) channels: usize,
    pub(crate) height: usize,
    pub(crate) width: usize,
    pub(crate) kernel: usize,
    pub(crate) stride: usize,
    pub(crate) padding: usize,
    /// Rows, columns and channels of the output, the last a multiple of the lanes.
    pub(crate) down: usize,
    pub(crate) across: usize,
    pub(crate) outputs: usize,
}

impl Planes {
    /// Rows of a padded plane that the kernel meets.
    fn rows(&self) -> usize {
        (self.down - 1) * self.stride + self.kernel
    }

    /// Remainders of columns by the stride that the kernel meets.
    fn phases(&self) -> usize {
        self.stride.min(self.kernel)
    }

    /// Numbers of a line: the columns of one remainder by the stride, as far as whole registers read.
    pub(crate) fn line(&self) -> usize {
        (self.across.next_multiple_of(PIXELS) + (self.kernel - 1) / self.stride).next_multiple_of(PIXELS)
    }

    /// Numbers of the scratch for one image, whose zeros are never written.
    pub(crate) fn scratch(&self) -> usize {
        self.channels * self.rows() * self.phases() * self.line()
    }

    /// Where the numbers that a tap meets begin, by (i, a, b), for the first pixel of the output.
    pub(crate) fn taps(&self) -> Vec<usize> {
        let (k, s) = (self.kernel, self.stride);
        let place = |tap: usize| {
            let (i, a, b) = (tap / (k * k), tap / k % k, tap % k);
            ((i * self.rows() + a) * self.phases() + b % s) * self.line() + b / s
        };
        (0..self.channels * k * k).map(place).collect()
    }

    /// w[a, b, i, o] by blocks of [`LANES`] outputs, in the order of the taps.
    pub(crate) fn weights(&self, w: &[f32]) -> Vec<f32> {
        let taps = self.kernel * self.kernel;
        assert_eq!(
            w.len(),
            taps * self.channels * self.outputs,
            "channels as they are, not as they are stored"
        );
        let mut out = Vec::with_capacity(w.len());
        for first in (0..self.outputs).step_by(LANES) {
            for at in (0..self.channels).flat_map(|i| (0..taps).map(move |tap| (tap, i))) {
                let row = (at.0 * self.channels + at.1) * self.outputs + first;
                out.extend_from_slice(&w[row..row + LANES]);
            }
        }
        out
    }
}

versions! {
    /// An image, plane by plane, into lines of a scratch. `line` is that of the planes.
    fn split<L by line>(planes: &Planes, line: usize, x: &[f32], scratch: &mut [f32]) {
        let Planes { channels, height, width, stride, padding, .. } = *planes;
        let (rows, phases) = (planes.rows(), planes.phases());
        assert!(line == planes.line() && x.len() >= channels * height * width && scratch.len() >= planes.scratch(), "one image");
        // Rows below are met by no kernel.
        let met = height.min(rows.saturating_sub(padding));
        if met == 0 {
            return;
        }
        let halves = stride == 2 && phases == 2 && padding.div_ceil(2) + width.div_ceil(2) <= line;
        for i in 0..channels {
            let from = &x[i * height * width..][..met * width];
            let lines = &mut scratch[(i * rows + padding) * phases * line..][..met * phases * line];
            if halves {
                // SAFETY: `met` rows of each; a line has room for half of a row after its zeros.
                unsafe { part_rows::<L>(from, lines, met, width, line, padding) };
                continue;
            }
            for (from, lines) in from.chunks_exact(width).zip(lines.chunks_exact_mut(phases * line)) {
                if stride == 1 {
                    let most = width.min(line - padding);
                    lines[padding..padding + most].copy_from_slice(&from[..most]);
                    continue;
                }
                for (q, x) in from.iter().enumerate() {
                    let (place, phase) = ((q + padding) / stride, (q + padding) % stride);
                    if place < line && phase < phases {
                        lines[phase * line + place] = *x;
                    }
                }
            }
        }
    }
}

/// Rows with even columns parted from odd ones, after half of the padding each.
///
/// # Safety
/// `x` must hold `met` rows of `width` numbers, and `out` as many pairs of lines, each with room for half of the padding and
/// half of the width, both rounded up.
#[inline(always)]
unsafe fn part_rows<L: Lanes>(
    x: &[f32],
    out: &mut [f32],
    met: usize,
    width: usize,
    line: usize,
    padding: usize,
) {
    // The first column belongs to the second line where it comes after an odd number of zeros.
    let (even, odd) = match padding % 2 {
        0 => (padding / 2, line + padding / 2),
        _ => (line + padding / 2, padding.div_ceil(2)),
    };
    let whole = width / 2 / L::WIDTH * L::WIDTH;
    for r in 0..met {
        // SAFETY: the caller's.
        unsafe {
            let (x, out) = (x.as_ptr().add(r * width), out.as_mut_ptr().add(2 * r * line));
            for at in (0..whole).step_by(L::WIDTH) {
                let from = x.add(2 * at);
                let [first, second] = L::parted(L::load(from), L::load(from.add(L::WIDTH)));
                first.store(out.add(even + at));
                second.store(out.add(odd + at));
            }
            for at in whole..width.div_ceil(2) {
                *out.add(even + at) = *x.add(2 * at);
            }
            for at in whole..width / 2 {
                *out.add(odd + at) = *x.add(2 * at + 1);
            }
        }
    }
}

versions! {
    /// The convolution of an image that was [`split`], closed by a bias and max(·, 0) where asked for; rows of `y` are `y_row`
    /// apart. `line` is that of the planes.
    fn convolve_lines<L by line>(planes: &Planes, line: usize, taps: &[usize], w: &[f32], scratch: &[f32], bias: &[f32], relu: bool, y: &mut [f32], y_row: usize) {
        let Planes { stride, down, across, outputs, .. } = *planes;
        assert!(down > 0 && across > 0, "an image that comes out");
        let row = stride * planes.phases() * line;
        let reach = taps.iter().max().map_or(0, |last| last + (down - 1) * row + across.next_multiple_of(PIXELS));
        assert!(reach <= scratch.len() && line == planes.line() && taps.len() * outputs <= w.len(), "an image, and weights");
        assert!((down - 1) * y_row + across * outputs <= y.len() && outputs.is_multiple_of(LANES) && bias.len() >= outputs, "room");
        // Places are taken two by two, so that a tap serves twice.
        let per_row = across.div_ceil(L::WIDTH);
        let place = |at: usize| (at / per_row, at % per_row * L::WIDTH);
        let last = down * per_row - 1;
        for o in (0..outputs).step_by(LANES) {
            let w = &w[o * taps.len()..][..LANES * taps.len()];
            for at in (0..=last).step_by(2) {
                let places = [place(at), place((at + 1).min(last))];
                let from = places.map(|(r, q)| r * row + q);
                let mut sums = [[L::zero(); LANES]; 2];
                // SAFETY: within `reach`, and weights of all taps.
                unsafe {
                    if L::WIDTH > LANES {
                        add_up::<L, LANES>(scratch.as_ptr(), from, taps, w.as_ptr(), 0, &mut sums);
                    } else {
                        // Fewer registers: half of the channels, then the others.
                        add_up::<L, HALF>(scratch.as_ptr(), from, taps, w.as_ptr(), 0, &mut sums);
                        add_up::<L, HALF>(scratch.as_ptr(), from, taps, w.as_ptr(), HALF, &mut sums);
                    }
                }
                for (mut sums, (r, q)) in sums.into_iter().zip(places) {
                    for (sum, bias) in sums.iter_mut().zip(&bias[o..]) {
                        *sum = sum.add(L::splat(*bias));
                        if relu {
                            *sum = sum.relu();
                        }
                    }
                    // SAFETY: pixels of a row of the output.
                    unsafe { L::store_columns(sums, y.as_mut_ptr().add(r * y_row + q * outputs + o), outputs, across - q) };
                }
            }
        }
    }
}

/// Half of the channels of a block.
const HALF: usize = LANES / 2;

/// The sums of all taps for `OUT` channels from the first, at two places.
///
/// # Safety
/// The taps from both places must be within what `x` points into, a register's numbers each, and [`LANES`] weights per tap
/// within what `w` points into.
#[inline(always)]
unsafe fn add_up<L: Lanes, const OUT: usize>(
    x: *const f32,
    from: [usize; 2],
    taps: &[usize],
    w: *const f32,
    first: usize,
    sums: &mut [[L; LANES]; 2],
) {
    let mut own = [[L::zero(); OUT]; 2];
    for (tap, &at) in taps.iter().enumerate() {
        // SAFETY: the caller's.
        unsafe {
            let (a, b) = (L::load(x.add(from[0] + at)), L::load(x.add(from[1] + at)));
            for o in 0..OUT {
                let w = L::splat(*w.add(tap * LANES + first + o));
                own[0][o] = own[0][o].plus(w, a);
                own[1][o] = own[1][o].plus(w, b);
            }
        }
    }
    for (sums, own) in sums.iter_mut().zip(own) {
        sums[first..first + OUT].copy_from_slice(&own);
    }
}

#[cfg(test)]
mod tests {
    use super::super::isa::Isa;
    use super::*;

    /// Against the definition in double precision, on all instruction sets.
    #[test]
    fn planes_give_the_definition() {
        let number = |i: usize| (((i * 7919 + i / 13 * 104_729) % 2003) as f32 / 1001.0) - 1.0;
        for (channels, height, width, kernel, stride, padding, outputs) in [
            (3, 32, 32, 4, 2, 1, 8),
            (3, 32, 32, 4, 2, 0, 8),
            (3, 9, 37, 3, 1, 1, 16),
            (1, 28, 28, 5, 2, 2, 8),
            (2, 7, 40, 3, 3, 1, 8),
            (4, 11, 5, 2, 2, 3, 24),
            (3, 6, 6, 1, 4, 0, 8),
            (2, 20, 20, 3, 7, 2, 8),
            (2, 2, 64, 2, 2, 4, 8),
            (2, 1, 40, 1, 20, 5, 8),
            (1, 28, 28, 4, 2, 1, 8),
            (3, 5, 45, 2, 2, 1, 8),
        ] {
            let size = |size: usize| (size + 2 * padding - kernel) / stride + 1;
            let (down, across) = (size(height), size(width));
            let planes = Planes { channels, height, width, kernel, stride, padding, down, across, outputs };
            let x: Vec<f32> = (0..channels * height * width).map(number).collect();
            let w: Vec<f32> = (0..kernel * kernel * channels * outputs).map(|i| number(3 * i + 1)).collect();
            let bias: Vec<f32> = (0..outputs).map(|i| number(5 * i + 2)).collect();
            let exact = |r: usize, q: usize, o: usize| -> f64 {
                let mut sum = f64::from(bias[o]);
                for (tap, i) in (0..kernel * kernel).flat_map(|tap| (0..channels).map(move |i| (tap, i))) {
                    let (row, column) = (r * stride + tap / kernel, q * stride + tap % kernel);
                    let inside = (padding..height + padding).contains(&row)
                        && (padding..width + padding).contains(&column);
                    if inside {
                        let x = x[(i * height + row - padding) * width + column - padding];
                        sum += f64::from(x) * f64::from(w[(tap * channels + i) * outputs + o]);
                    }
                }
                sum.max(0.0)
            };
            let (taps, weights, line) = (planes.taps(), planes.weights(&w), planes.line());
            let mut first: Option<Vec<f32>> = None;
            for isa in Isa::all() {
                // Rows a little apart, with numbers between that stay.
                let row = across * outputs + 3;
                let (mut y, mut scratch) = (vec![7.0; down * row], vec![0.0; planes.scratch()]);
                // Twice: what one image leaves behind is no other's.
                for x in [&vec![f32::NAN; x.len()], &x] {
                    split(isa, &planes, line, x, &mut scratch);
                    convolve_lines(isa, &planes, line, &taps, &weights, &scratch, &bias, true, &mut y, row);
                }
                for (at, y) in y.iter().enumerate() {
                    let (r, rest) = (at / row, at % row);
                    if rest >= across * outputs {
                        assert_eq!(*y, 7.0, "{planes:?}, {isa:?}: row {r} is too long");
                    } else {
                        let exact = exact(r, rest / outputs, rest % outputs);
                        let off = (f64::from(*y) - exact).abs();
                        assert!(off <= 1e-5, "{planes:?}, {isa:?}: {y} at {at}, not {exact}");
                    }
                }
                // The same bits wherever multiplications are fused with additions.
                if isa != Isa::PORTABLE {
                    assert_eq!(*first.get_or_insert_with(|| y.clone()), y, "{planes:?}, {isa:?}");
                }
            }
        }
    }
}
