//! Exactly Gaussian noise, rounded to a grid: K = m + round(s·N + φ), N standard normal.
//!
//! **Problem.** Draw K with exactly the law of the nearest whole numbers of m + φ + s·N, for independent normals N, at the
//! price of normals in single precision.
//!
//! **Method.** Let the words of a pair be the first bits of two infinite strings, of a uniform u and a uniform angle. Then
//! the pair of normals, by Box and Muller (1958), and with it the pair of whole numbers, is a function of the strings, and
//! an algorithm that returns its value has the exact joint law, however many bits it reads. Coordinates are decided one by
//! one: further bits of a pair stand at fixed positions, are the same for both coordinates, and each stage extends the bits
//! of the one before.
//! 1. Single precision (`normals.rs`), t = fl(s·n + φ): decided unless a half-integer is nearer to t than s·N + φ is proven
//!    to be (`Tolerance`), a distance that grows with the radius. Wide words are always left open.
//! 2. The same 60 bits in double precision (`refine.rs`); then the cell itself is nearly all of the tolerance.
//! 3. 64 more bits each for radius and angle. Not decided: a half-integer within s·2⁻⁴⁶ (and a rounding), or u < 2⁻⁴⁶, at
//!    most 2s·2⁻⁴⁶ + 2⁻⁴⁷ a coordinate.
//!
//! **Guarantee.** A decided coordinate has the value that the infinite strings have, so the same on every machine and for
//! any arithmetic with a proven error. Which draws are undecided is a function of the words of that draw alone, the same
//! everywhere: stage 3 is made of IEEE 754 operations in a fixed order, and the tolerances of the stages before exceed their
//! errors by more than twice its own, so that what they decide it would have decided too (and equally).
//!
//! **Ties.** A half-integer has probability 0, and a prefix whose interval touches one is never decided.
//!
//! **Cost**: about 1 ns a coordinate on AVX-512, 1.3 times that of noise added in single precision. `noise/tests/` compares the stages with each other, with 200-bit
//! arithmetic, and the counts of 10⁹ draws with exact probabilities.

use super::centre::Centre;
use super::chacha::{self, Key, Words};
use super::normals::{self, is_rare, is_wide, radius, turned};
use super::refine::{self, MoreBits, cell, width_of_cell};
use super::stream::{Draw, GENERATOR, PAIRS, key};

/// The noise of one input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundedNoise {
    key: Key,
}

impl RoundedNoise {
    /// For input `input` of a run with seed `seed`.
    pub fn new(seed: u64, input: u64) -> Self {
        Self { key: key(seed, input, GENERATOR) }
    }

    /// `out` ← gain·K + shift of the centre's map, for K of this draw. Whether all coordinates were decided; where not, the
    /// row means nothing.
    ///
    /// Panics unless `centre` and `out` have the same length.
    #[must_use]
    pub fn perturb(&self, draw: Draw, centre: &Centre, out: &mut [f32]) -> bool {
        assert_eq!(centre.whole.len(), out.len(), "one number per coordinate");
        dispatch(&self.key, draw.stream(), centre, out)
    }
}

/// When stage 1 decides, where the radius is r: while |t − k| + growth·r² ≤ edge.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tolerance {
    growth: f32,
    edge: f32,
}

impl Tolerance {
    /// For s cells per standard deviation. Where s is so large that the edge is negative, all is open.
    ///
    /// t = fl(s·n + φ) with |φ| ≤ ½ is within s·(LEAST + GROWTH·r²) + 2⁻²⁵ of every s·N + φ of its cells (`normals.rs`);
    /// t − k is exact. r² is meant as it is computed, as it was enumerated, and the sum, below 1, loses 2⁻²⁵.
    #[allow(clippy::cast_possible_truncation)] // rounded to the safe side right after
    pub(super) fn new(cells: f32) -> Self {
        const PLACE: f64 = 1.0 / 16_777_216.0; // 2⁻²⁴
        let s = f64::from(cells);
        Self {
            growth: ((s * normals::GROWTH) as f32).next_up(),
            // Two units below, for the roundings of this line.
            edge: ((0.5 - s * normals::LEAST - PLACE) as f32).next_down().next_down(),
        }
    }

    /// What is kept of a coordinate: no more than the edge where it is decided.
    #[inline(always)]
    pub(super) fn nearness(self, distance: f32, square: f32) -> f32 {
        self.growth.mul_add(square, distance)
    }

    /// Whether that leaves the cell open; NaN does.
    #[inline(always)]
    #[allow(clippy::neg_cmp_op_on_partial_ord)]
    pub(super) fn is_open(self, nearness: f32) -> bool {
        !(nearness <= self.edge)
    }
}

/// The same loop, compiled for the instructions the machine has.
#[allow(unsafe_code)]
pub(super) fn dispatch(key: &Key, stream: u64, centre: &Centre, out: &mut [f32]) -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::is_x86_feature_detected as has;
        if has!("avx512f") && has!("avx512vl") && has!("avx512dq") && has!("fma") {
            // SAFETY: these features were just found, and AVX-512F includes AVX2.
            return unsafe { fill_avx512(key, stream, centre, out) };
        }
        if has!("avx2") && has!("fma") {
            // SAFETY: AVX2 and FMA were just found.
            return unsafe { fill_avx2(key, stream, centre, out) };
        }
    }
    let words = |counter: u64, words: &mut Words| chacha::portable(key, counter, stream, words);
    fill(key, stream, centre, out, words, resolve)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512dq,fma")]
fn fill_avx512(key: &Key, stream: u64, centre: &Centre, out: &mut [f32]) -> bool {
    let words = |counter: u64, words: &mut Words| chacha::avx512(key, counter, stream, words);
    fill(key, stream, centre, out, words, |place, group, out| resolve_fma(place, group, out))
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
pub(super) fn fill_avx2(key: &Key, stream: u64, centre: &Centre, out: &mut [f32]) -> bool {
    let words = |counter: u64, words: &mut Words| chacha::avx2(key, counter, stream, words);
    fill(key, stream, centre, out, words, |place, group, out| resolve_fma(place, group, out))
}

/// [`OpenGroup::resolve`] on any machine.
#[inline(never)]
pub(super) fn resolve(place: &OpenGroup<'_>, group: &Group, out: &mut [f32]) -> bool {
    place.resolve(group, out)
}

/// The same with the instruction for what it does most, which would be a call otherwise.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
#[inline(never)]
fn resolve_fma(place: &OpenGroup<'_>, group: &Group, out: &mut [f32]) -> bool {
    place.resolve(group, out)
}

/// Memory for one group, aligned so that no register is loaded from two cache lines.
#[repr(align(64))]
pub(super) struct Group {
    random: Words,
    /// Cosines, then sines.
    normals: [[f32; PAIRS]; 2],
    /// Squares of radii.
    squares: [f32; PAIRS],
    /// [`Tolerance::nearness`] of both.
    nearness: [[f32; PAIRS]; 2],
}

#[inline(always)]
pub(super) fn fill(
    key: &Key,
    stream: u64,
    centre: &Centre,
    out: &mut [f32],
    words: impl Fn(u64, &mut Words),
    resolve: impl Fn(&OpenGroup<'_>, &Group, &mut [f32]) -> bool,
) -> bool {
    let (len, s, tolerance) = (out.len(), centre.cells, Tolerance::new(centre.cells));
    let group = &mut Group {
        random: [0; 2 * PAIRS],
        normals: [[0.0; PAIRS]; 2],
        squares: [0.0; PAIRS],
        nearness: [[0.0; PAIRS]; 2],
    };
    let mut decided = true;
    for (number, first) in (0..len).step_by(2 * PAIRS).enumerate() {
        let Group { random, normals: [cosines, sines], squares, .. } = group;
        words((number * chacha::BLOCKS) as u64, random);
        let (a, b) = random.split_at(PAIRS);
        // The last group may need fewer pairs, or no sines.
        let wanted = PAIRS.min(len - first);
        // Index loops that do one thing each: compilers vectorise these.
        for p in 0..wanted {
            let radius = radius(a[p]);
            squares[p] = radius * radius;
            (cosines[p], sines[p]) = turned(radius, b[p]);
        }
        let mut open = a[..wanted].iter().fold(0, |wide, &a| wide | u32::from(is_wide(a)));
        for (half, (normals, nearness)) in group.normals.iter().zip(&mut group.nearness).enumerate() {
            let at = first + half * PAIRS;
            if at >= len {
                break;
            }
            let count = PAIRS.min(len - at);
            let (normals, nearness, out) =
                (&normals[..count], &mut nearness[..count], &mut out[at..at + count]);
            let squares = &group.squares[..count];
            let (whole, fraction) = (&centre.whole[at..at + count], &centre.fraction[at..at + count]);
            let (gain, shift) = (&centre.gain[at..at + count], &centre.shift[at..at + count]);
            let mut each = |i: usize, gain: f32, shift: f32| {
                let t = s.mul_add(normals[i], fraction[i]);
                let k = t.round_ties_even();
                nearness[i] = tolerance.nearness((t - k).abs(), squares[i]);
                open |= u32::from(tolerance.is_open(nearness[i]));
                out[i] = gain.mul_add(whole[i] + k, shift);
            };
            if centre.even[at / PAIRS] {
                let (gain, shift) = (gain[0], shift[0]);
                for i in 0..count {
                    each(i, gain, shift);
                }
            } else {
                for i in 0..count {
                    each(i, gain[i], shift[i]);
                }
            }
        }
        if open != 0 {
            let place = OpenGroup { key, stream, number, centre, tolerance };
            decided &= resolve(&place, group, out);
        }
    }
    decided
}

/// A group of pairs, some of them open after stage 1.
pub(super) struct OpenGroup<'a> {
    key: &'a Key,
    stream: u64,
    /// Of the group.
    number: usize,
    centre: &'a Centre,
    tolerance: Tolerance,
}

impl OpenGroup<'_> {
    /// Decides what stage 1 left open. Whether all of it could be.
    #[inline(always)]
    pub(super) fn resolve(&self, group: &Group, out: &mut [f32]) -> bool {
        const STEP: usize = 16;
        let first = 2 * PAIRS * self.number;
        let wanted = PAIRS.min(out.len() - first);
        let (radii, [cosines, sines]) = (&group.random[..PAIRS], &group.nearness);
        let open = |cosine: f32, sine: f32, a: u32| {
            u32::from(self.tolerance.is_open(cosine))
                | u32::from(self.tolerance.is_open(sine))
                | u32::from(is_wide(a))
        };
        let mut decided = true;
        // Arrays of a known length: compilers vectorise the search, which finds nothing in most of them.
        let words = radii.as_chunks::<STEP>().0.iter();
        let parts = words.zip(cosines.as_chunks::<STEP>().0).zip(sines.as_chunks::<STEP>().0);
        for (part, ((radii, cosines), sines)) in parts.enumerate() {
            let mut any = 0;
            for p in 0..STEP {
                any |= open(cosines[p], sines[p], radii[p]);
            }
            if any == 0 {
                continue;
            }
            for p in 0..STEP {
                let pair = part * STEP + p;
                // What lies beyond the wanted ones is of another group.
                if pair < wanted && open(cosines[p], sines[p], radii[p]) != 0 {
                    decided &= self.resolve_pair(group, pair, out);
                }
            }
        }
        decided
    }

    /// The same for one pair.
    #[inline(always)]
    fn resolve_pair(&self, group: &Group, p: usize, out: &mut [f32]) -> bool {
        let (a, b) = (group.random[p], group.random[PAIRS + p]);
        let (wide, first) = (is_wide(a), 2 * PAIRS * self.number + p);
        let open = [0, 1].map(|half| {
            let at = first + half * PAIRS;
            at < out.len() && (wide || self.tolerance.is_open(group.nearness[half][p]))
        });
        let mut found = if is_rare(a) { None } else { self.second(a, b, first, open) };
        if found.is_none() {
            found = self.third(a, b, first, open, p);
        }
        let Some(found) = found else { return false };
        let Centre { whole, gain, shift, .. } = self.centre;
        for half in (0..2).filter(|&half| open[half]) {
            let at = first + half * PAIRS;
            out[at] = gain[at].mul_add(whole[at] + found[half], shift[at]);
        }
        true
    }

    /// Stage 2. Four times the error: one for it, and more than two of stage 3 to spare.
    #[inline(always)]
    fn second(&self, a: u32, b: u32, first: usize, open: [bool; 2]) -> Option<[f32; 2]> {
        let (x, y, rho) = refine::normals(a, b, MoreBits::MIDDLE)?;
        self.whole_numbers(first, open, [x, y], width_of_cell(a, rho) + 4.0 * refine::ERROR)
    }

    /// Stage 3: rare words, one pair in 8,000, and what stage 2 leaves open.
    #[cold]
    fn third(&self, a: u32, b: u32, first: usize, open: [bool; 2], p: usize) -> Option<[f32; 2]> {
        let counter = 1 << 63 | (self.number * PAIRS + p) as u64;
        let [w, x, y, z, ..] = chacha::block(self.key, counter, self.stream);
        let (x, y, _) = refine::normals(a, b, MoreBits::from_words([w, x, y, z]))?;
        self.whole_numbers(first, open, [x, y], refine::ERROR)
    }

    /// Those of the open coordinates; none where one of them stays open.
    #[inline(always)]
    fn whole_numbers(
        &self,
        first: usize,
        open: [bool; 2],
        normals: [f64; 2],
        error: f64,
    ) -> Option<[f32; 2]> {
        let mut both = [0.0; 2];
        for half in (0..2).filter(|&half| open[half]) {
            let fraction = f64::from(self.centre.fraction[first + half * PAIRS]);
            both[half] = cell(normals[half], f64::from(self.centre.cells), fraction, error)?;
        }
        Some(both)
    }
}
