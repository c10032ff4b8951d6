//! Passes over the numbers of a few pixels: normalisation, ReLU, shortcuts, and their sums. Channels innermost, a multiple of
//! the lanes; each loop takes a register of channels down all pixels before the next.

#![allow(unsafe_code)] // calls of versions compiled for instructions that were found

use super::isa::LANES;
use super::lanes::Lanes;
use super::versions::versions;

/// A line per channel: x ↦ scale·x + shift.
#[derive(Clone, Copy)]
pub(crate) struct Affine<'a> {
    pub(crate) scale: &'a [f32],
    pub(crate) shift: &'a [f32],
}

/// How gradients at a normalisation's output become those at its input: dy = ka·dz + kb·y + kc.
#[derive(Clone, Copy)]
pub(crate) struct AffineGradient<'a> {
    pub(crate) ka: &'a [f32],
    pub(crate) kb: &'a [f32],
    pub(crate) kc: &'a [f32],
}

/// Where a ReLU let nothing through.
#[derive(Clone, Copy)]
pub(crate) enum Mask<'a> {
    /// There was none.
    None,
    /// Where this is not positive: what came out.
    Output(&'a [f32]),
    /// Where scale·y + shift is not positive.
    Affine(Affine<'a>),
}

versions! {
    /// out ← scale·x + shift, then ReLU where asked for.
    fn affine<L by channels>(x: &[f32], map: Affine<'_>, relu: bool, channels: usize, out: &mut [f32]) {
        let pixels = x.len() / channels;
        assert!(out.len() >= pixels * channels && map.scale.len() >= channels && map.shift.len() >= channels);
        for c in (0..channels).step_by(L::WIDTH) {
            let (scale, shift) = (L::of(&map.scale[c..]), L::of(&map.shift[c..]));
            for p in 0..pixels {
                let at = p * channels + c;
                let value = shift.plus(L::of(&x[at..]), scale);
                if relu { value.relu() } else { value }.put(&mut out[at..]);
            }
        }
    }
}

versions! {
    /// out ← scale·x + shift + shortcut, then ReLU where asked for.
    fn affine_add<L by channels>(x: &[f32], map: Affine<'_>, shortcut: &[f32], relu: bool, channels: usize, out: &mut [f32]) {
        let pixels = x.len() / channels;
        assert!(out.len() >= pixels * channels && shortcut.len() >= pixels * channels);
        assert!(map.scale.len() >= channels && map.shift.len() >= channels);
        for c in (0..channels).step_by(L::WIDTH) {
            let (scale, shift) = (L::of(&map.scale[c..]), L::of(&map.shift[c..]));
            for p in 0..pixels {
                let at = p * channels + c;
                let value = shift.plus(L::of(&x[at..]), scale).add(L::of(&shortcut[at..]));
                if relu { value.relu() } else { value }.put(&mut out[at..]);
            }
        }
    }
}

/// Both halves of a sum of some channels, added to what was there.
#[inline(always)]
fn add_to<L: Lanes>(halves: [L; 2], sums: &mut [f64]) {
    let mut lanes = [0.0; 2 * LANES];
    halves[0].add(halves[1]).put(&mut lanes);
    sums.iter_mut().zip(&lanes[..L::WIDTH]).for_each(|(sum, &lane)| *sum += f64::from(lane));
}

versions! {
    /// Adds per channel Σ (y − about) and Σ (y − about)²: in `f32` within this call, in `f64` to what was there.
    fn moments<L by channels>(y: &[f32], about: &[f32], channels: usize, sums: &mut [f64]) {
        let pixels = y.len() / channels;
        assert!(about.len() >= channels && sums.len() >= 2 * channels);
        for c in (0..channels).step_by(L::WIDTH) {
            let centre = L::of(&about[c..]);
            // Two sums each, so that one addition need not wait for the one before.
            let mut first = [L::zero(); 2];
            let mut second = [L::zero(); 2];
            for p in 0..pixels {
                let off = L::of(&y[p * channels + c..]).sub(centre);
                first[p % 2] = first[p % 2].add(off);
                second[p % 2] = second[p % 2].plus(off, off);
            }
            add_to(first, &mut sums[c..]);
            add_to(second, &mut sums[channels + c..]);
        }
    }
}

versions! {
    /// out ← ka·dz + kb·y + kc, pixels `step` apart in `out`.
    fn affine_gradient<L by channels>(dz: &[f32], y: &[f32], map: AffineGradient<'_>, channels: usize, step: usize, out: &mut [f32]) {
        let pixels = dz.len() / channels;
        assert!(pixels > 0 && y.len() >= pixels * channels && out.len() >= ((pixels - 1) * step + 1) * channels);
        for c in (0..channels).step_by(L::WIDTH) {
            let (ka, kb, kc) = (L::of(&map.ka[c..]), L::of(&map.kb[c..]), L::of(&map.kc[c..]));
            for p in 0..pixels {
                let at = p * channels + c;
                let value = kc.plus(kb, L::of(&y[at..])).plus(ka, L::of(&dz[at..]));
                value.put(&mut out[p * step * channels + c..]);
            }
        }
    }
}

versions! {
    /// Turns the gradient at a value into that before its ReLU, in place, and adds per channel Σ dz and Σ dz·(y − mean)·inverse
    /// to `sums`: what the gradients of a normalisation are made of. `extra`, where not empty, is added first.
    fn finish<L by channels>(da: &mut [f32], extra: &[f32], mask: Mask<'_>, y: &[f32], mean: &[f32], inverse: &[f32], channels: usize, sums: &mut [f64]) {
        let pixels = y.len() / channels;
        assert!(da.len() >= pixels * channels && (extra.is_empty() || extra.len() >= pixels * channels));
        assert!(sums.len() >= 2 * channels);
        for c in (0..channels).step_by(L::WIDTH) {
            let (mean, inverse) = (L::of(&mean[c..]), L::of(&inverse[c..]));
            let (scale, shift) = match mask {
                Mask::Affine(map) => (L::of(&map.scale[c..]), L::of(&map.shift[c..])),
                _ => (L::zero(), L::zero()),
            };
            let mut first = [L::zero(); 2];
            let mut second = [L::zero(); 2];
            for p in 0..pixels {
                let at = p * channels + c;
                let mut d = L::of(&da[at..]);
                if !extra.is_empty() {
                    d = d.add(L::of(&extra[at..]));
                }
                let raw = L::of(&y[at..]);
                d = match mask {
                    Mask::None => d,
                    Mask::Output(out) => d.where_positive(L::of(&out[at..])),
                    Mask::Affine(_) => d.where_positive(shift.plus(raw, scale)),
                };
                d.put(&mut da[at..]);
                first[p % 2] = first[p % 2].add(d);
                second[p % 2] = second[p % 2].plus(d, raw.sub(mean).times(inverse));
            }
            add_to(first, &mut sums[c..]);
            add_to(second, &mut sums[channels + c..]);
        }
    }
}

versions! {
    /// out ← out + x.
    fn add<L>(x: &[f32], out: &mut [f32]) {
        let whole = x.len() / LANES * LANES;
        for at in (0..whole).step_by(LANES) {
            L::of(&out[at..]).add(L::of(&x[at..])).put(&mut out[at..]);
        }
        for (out, x) in out[whole..].iter_mut().zip(&x[whole..]) {
            *out += x;
        }
    }
}

versions! {
    /// y ← y + bias + added, then ReLU where asked for; `added` may be empty.
    fn close<L by channels>(bias: &[f32], added: &[f32], relu: bool, channels: usize, y: &mut [f32]) {
        assert!(bias.len() >= channels && (added.is_empty() || added.len() >= y.len()));
        for c in (0..channels).step_by(L::WIDTH) {
            let bias = L::of(&bias[c..]);
            for at in (c..y.len()).step_by(channels) {
                let mut value = L::of(&y[at..]).add(bias);
                if !added.is_empty() {
                    value = value.add(L::of(&added[at..]));
                }
                if relu { value.relu() } else { value }.put(&mut y[at..]);
            }
        }
    }
}

versions! {
    /// Pixels with their channels together, from planes of lines of `width` pixels: number p of line r at
    /// out[r·row + p·stored + c] ← x[c·plane + r·width + p]. Other numbers of `out` are left as they are.
    fn interleave<L by width>(x: &[f32], plane: usize, width: usize, channels: usize, stored: usize, row: usize, out: &mut [f32]) {
        assert!(channels > 0 && channels <= stored && channels * plane <= x.len() && plane.is_multiple_of(width));
        for (r, out) in out.chunks_mut(row).take(plane / width).enumerate() {
            let line = |c: usize| &x[c * plane + r * width..][..width];
            match (channels, stored) {
                (1, 1) => out[..width].copy_from_slice(line(0)),
                _ if plane == 1 => out[..channels].copy_from_slice(&x[..channels]),
                (3, 3) => {
                    let (a, b, c, out) = (line(0), line(1), line(2), &mut out[..3 * width]);
                    let whole = width / L::WIDTH * L::WIDTH;
                    for at in (0..whole).step_by(L::WIDTH) {
                        let [first, second, third] = L::interleaved(L::of(&a[at..]), L::of(&b[at..]), L::of(&c[at..]));
                        let out = &mut out[3 * at..][..3 * L::WIDTH];
                        first.put(out);
                        second.put(&mut out[L::WIDTH..]);
                        third.put(&mut out[2 * L::WIDTH..]);
                    }
                    for at in whole..width {
                        out[3 * at..3 * at + 3].copy_from_slice(&[a[at], b[at], c[at]]);
                    }
                }
                _ => {
                    for c in 0..channels {
                        let pixels = out.chunks_exact_mut(stored).zip(line(c));
                        pixels.for_each(|(out, x)| out[c] = *x);
                    }
                }
            }
        }
    }
}
