//! Gaussian noise that is a function of (seed, input, draw, coordinate), and of nothing else.
//!
//! **Problem.** Draw d of input i must be the same vector whatever the number of threads, the size of a batch, the order
//! or a resumption; and it must cost less than the network it is fed to.
//!
//! **Streams.** ChaCha8 (Bernstein 2008) with a 64-bit block counter and a 64-bit nonce. The key is the seed, the index
//! of the input and sixteen fixed bytes, so different pairs have different keys; the nonce is the draw, its highest bit
//! set for selection draws, so that no selection draw is an estimation draw. A block has 16 words of 32 bits and gives
//! eight normals: a fixed number, so every position is known without drawing what comes before.
//!
//! **Normals.** Box and Muller (1958): a pair takes two 64-bit words a, b.
//! * radius √(−2 ln u), where u = 1 − (a + ½)/2⁶⁴, rounded once;
//! * angle: two bits of b are the signs, the next 52 the place in a quarter turn.
//!
//! Logarithm, sine and cosine are the polynomials of fdlibm (Sun Microsystems 1993), each within two units in the last
//! place, written without tables or branches so that they run on vectors. Only additions, multiplications, divisions,
//! square roots and fused multiply-adds of IEEE 754 are used, each fused where it is written so and nowhere else: every
//! machine computes the same bits. One without fused multiply-adds (x86-64 before 2013) computes them in software,
//! correctly but slowly. On AVX-512 a normal takes about 2.5 ns, on AVX2 4 ns.
//!
//! **Order.** Eight blocks make a group of 64 coordinates. Coordinate c belongs to group c / 64; within it, k = c mod 64
//! is pair k / 16 (words 4(k/16) … +3) of block k mod 8, its cosine where (k mod 16) < 8 and else its sine.
//!
//! **Deviation from Gaussian.** Put exactly uniform numbers in the cells of the grids: the true normal pair of those
//! differs from the one computed by less than 10⁻⁷ in every coordinate unless u < 2⁻⁴² (where a cell is more than 2⁻²²
//! of its distance to 0), which has probability 2⁻⁴² a pair. So a draw of r coordinates can be coupled to an exactly
//! Gaussian one with ‖difference‖_∞ < 10⁻⁷ but for a probability of r·2⁻⁴³. No normal exceeds 9.5. Certificates assume
//! exact normals and independent words; this is how near they are. The tests compare with `rand_chacha` and with the
//! formula in plain arithmetic.

/// Which draw of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draw {
    /// To choose the class, from 0.
    Selection(u64),
    /// To count it, from 0.
    Estimation(u64),
}

impl Draw {
    /// Nonce of the stream. Indices are below 2⁶³ as counts are.
    fn stream(self) -> u64 {
        match self {
            Self::Selection(index) => index | 1 << 63,
            Self::Estimation(index) => index & !(1 << 63),
        }
    }
}

/// The noise of one input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Noise {
    key: [u32; 8],
}

/// Blocks computed at once.
const LANES: usize = 8;
/// Normals of a group: eight a block.
const GROUP: usize = 8 * LANES;
/// Apart from seed and input, what the key says.
const NAME: [u8; 16] = *b"gambeson noise 1";

impl Noise {
    /// For input `input` of a run with seed `seed`.
    pub fn new(seed: u64, input: u64) -> Self {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        bytes[8..16].copy_from_slice(&input.to_le_bytes());
        bytes[16..].copy_from_slice(&NAME);
        let mut key = [0; 8];
        for (word, bytes) in key.iter_mut().zip(bytes.as_chunks::<4>().0) {
            *word = u32::from_le_bytes(*bytes);
        }
        Self { key }
    }

    /// Independent standard normals, one a coordinate.
    pub fn standard(&self, draw: Draw, out: &mut [f64]) {
        dispatch(&self.key, draw.stream(), &mut Standard { out });
    }

    /// `out` ← centre + σ·g, g standard normal: one addition in f64, then rounded to f32.
    ///
    /// Panics unless `centre` and `out` have one length.
    pub fn perturb(&self, draw: Draw, centre: &[f64], sigma: f64, out: &mut [f32]) {
        assert_eq!(centre.len(), out.len(), "one number a coordinate");
        dispatch(&self.key, draw.stream(), &mut Perturbed { centre, sigma, out });
    }
}

/// What becomes of the normals.
trait Sink {
    fn len(&self) -> usize;
    /// Takes the normals of coordinates `first`, `first` + 1, …; those beyond the last mean nothing.
    fn take(&mut self, first: usize, normals: &[f64; GROUP]);
}

struct Standard<'a> {
    out: &'a mut [f64],
}

impl Sink for Standard<'_> {
    fn len(&self) -> usize {
        self.out.len()
    }

    #[inline(always)]
    fn take(&mut self, first: usize, normals: &[f64; GROUP]) {
        self.out[first..].iter_mut().zip(normals).for_each(|(out, normal)| *out = *normal);
    }
}

struct Perturbed<'a> {
    centre: &'a [f64],
    sigma: f64,
    out: &'a mut [f32],
}

impl Sink for Perturbed<'_> {
    fn len(&self) -> usize {
        self.out.len()
    }

    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)] // rounding to f32 is what is asked for
    fn take(&mut self, first: usize, normals: &[f64; GROUP]) {
        let rest = self.out[first..].iter_mut().zip(&self.centre[first..]);
        rest.zip(normals).for_each(|((out, centre), normal)| *out = (centre + self.sigma * normal) as f32);
    }
}

/// The same loop, compiled for what the machine has.
#[allow(unsafe_code)]
fn dispatch(key: &[u32; 8], stream: u64, sink: &mut impl Sink) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::is_x86_feature_detected as has;
        if has!("avx512f") && has!("avx512vl") && has!("avx512dq") && has!("fma") {
            // SAFETY: these features were just found, and AVX-512F includes AVX2.
            return unsafe { fill_avx512(key, stream, sink) };
        }
        if has!("avx2") && has!("fma") {
            // SAFETY: AVX2 and FMA were just found.
            return unsafe { fill_avx2(key, stream, sink) };
        }
    }
    fill(key, stream, sink);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512dq,fma")]
fn fill_avx512(key: &[u32; 8], stream: u64, sink: &mut impl Sink) {
    fill(key, stream, sink);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn fill_avx2(key: &[u32; 8], stream: u64, sink: &mut impl Sink) {
    fill(key, stream, sink);
}

#[inline(always)]
fn fill(key: &[u32; 8], stream: u64, sink: &mut impl Sink) {
    let mut normals = [0.0; GROUP];
    for (group, first) in (0..sink.len()).step_by(GROUP).enumerate() {
        let words = blocks(key, (group * LANES) as u64, stream);
        // The last group may need fewer pairs.
        let wanted = (sink.len() - first).div_ceil(2 * LANES);
        for (pair, out) in normals.as_chunks_mut::<{ 2 * LANES }>().0.iter_mut().enumerate().take(wanted) {
            let word = |at: usize, lane: usize| u64::from(words[4 * pair + at][lane]);
            for lane in 0..LANES {
                let (a, b) = (word(1, lane) << 32 | word(0, lane), word(3, lane) << 32 | word(2, lane));
                (out[lane], out[LANES + lane]) = normal_pair(a, b);
            }
        }
        sink.take(first, &normals);
    }
}

type Lanes = [u32; LANES];

/// Eight consecutive blocks of ChaCha8, word by word.
#[inline(always)]
#[allow(clippy::cast_possible_truncation)] // halves of 64-bit words
fn blocks(key: &[u32; 8], counter: u64, stream: u64) -> [Lanes; 16] {
    const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];
    let mut start = [[0; LANES]; 16];
    for (word, value) in start.iter_mut().zip(CONSTANTS.iter().chain(key)) {
        *word = [*value; LANES];
    }
    for lane in 0..LANES {
        let counter = counter + lane as u64;
        (start[12][lane], start[13][lane]) = (counter as u32, (counter >> 32) as u32);
    }
    (start[14], start[15]) = ([stream as u32; LANES], [(stream >> 32) as u32; LANES]);
    let mut x = start;
    for _ in 0..4 {
        // Written out, so that all sixteen words stay in registers.
        quarter_round::<0, 4, 8, 12>(&mut x);
        quarter_round::<1, 5, 9, 13>(&mut x);
        quarter_round::<2, 6, 10, 14>(&mut x);
        quarter_round::<3, 7, 11, 15>(&mut x);
        quarter_round::<0, 5, 10, 15>(&mut x);
        quarter_round::<1, 6, 11, 12>(&mut x);
        quarter_round::<2, 7, 8, 13>(&mut x);
        quarter_round::<3, 4, 9, 14>(&mut x);
    }
    for (x, start) in x.iter_mut().zip(&start) {
        x.iter_mut().zip(start).for_each(|(x, start)| *x = x.wrapping_add(*start));
    }
    x
}

#[inline(always)]
fn quarter_round<const A: usize, const B: usize, const C: usize, const D: usize>(x: &mut [Lanes; 16]) {
    let (mut a, mut b, mut c, mut d) = (x[A], x[B], x[C], x[D]);
    step::<16>(&mut a, &b, &mut d);
    step::<12>(&mut c, &d, &mut b);
    step::<8>(&mut a, &b, &mut d);
    step::<7>(&mut c, &d, &mut b);
    (x[A], x[B], x[C], x[D]) = (a, b, c, d);
}

/// `sum` ← `sum` + `other`; `target` ← `target` ⊕ `sum`, turned.
#[inline(always)]
fn step<const TURN: u32>(sum: &mut Lanes, other: &Lanes, target: &mut Lanes) {
    for lane in 0..LANES {
        sum[lane] = sum[lane].wrapping_add(other[lane]);
    }
    for lane in 0..LANES {
        target[lane] = (target[lane] ^ sum[lane]).rotate_left(TURN);
    }
}

/// Bits of 1.
const ONE: u64 = 0x3ff0_0000_0000_0000;
/// Bits of 2⁵²: put in its low places, an integer is added to it.
const BIG: u64 = 0x4330_0000_0000_0000;
/// 2⁵².
const TWO_52: f64 = 4_503_599_627_370_496.0;
const FRACTION: u64 = (1 << 52) - 1;

/// Two independent standard normals from 128 random bits.
#[inline(always)]
fn normal_pair(a: u64, b: u64) -> (f64, f64) {
    // The high 52 bits and the low 12 apart, so that small u keep all of their places.
    let high = f64::from_bits(a >> 12 | ONE);
    let low = f64::from_bits(a & 0xfff | BIG) - (TWO_52 - 0.5);
    let uniform = low.mul_add(-1.0 / (4096.0 * TWO_52), 2.0 - high);
    // √(−2 ln u)/√2. What is rounded up to 1 has the logarithm 0, or −0.
    let radius = (-logarithm(uniform)).abs().sqrt();
    // The angle in the quarter turn is π/4 + φ.
    let phi = (f64::from_bits((b << 2) >> 12 | ONE) - 1.5) * std::f64::consts::FRAC_PI_2;
    let (sine, cosine) = (sine(phi), cosine(phi));
    let signed = |value: f64, sign: u64| f64::from_bits(value.to_bits() ^ sign & 1 << 63);
    (signed(radius * (cosine - sine), b), signed(radius * (cosine + sine), b << 1))
}

/// c₀ + x(c₁ + x(c₂ + …)).
#[inline(always)]
fn polynomial<const N: usize>(x: f64, coefficients: [f64; N]) -> f64 {
    let (last, others) = (coefficients[N - 1], &coefficients[..N - 1]);
    others.iter().rev().fold(last, |sum, coefficient| sum.mul_add(x, *coefficient))
}

/// ln x for positive normal x: x = 2ᵏ(1 + f), and with s = f/(2 + f) the series of ln((1 + s)/(1 − s)).
#[inline(always)]
fn logarithm(x: f64) -> f64 {
    /// Bits of about √½, where the range of 1 + f begins.
    const ROOT: u64 = 0x3fe6_a09e_0000_0000;
    let bits = x.to_bits().wrapping_add(ONE - ROOT);
    let k = f64::from_bits(bits >> 52 | BIG) - (TWO_52 + 1023.0);
    let f = f64::from_bits((bits & FRACTION) + ROOT) - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    let w = z * z;
    let odd = [3.999_999_999_940_942e-1, 2.222_219_843_214_978_4e-1, 1.531_383_769_920_937_3e-1];
    let even = [
        6.666_666_666_666_735e-1,
        2.857_142_874_366_239e-1,
        1.818_357_216_161_805e-1,
        1.479_819_860_511_658_6e-1,
    ];
    let series = z.mul_add(polynomial(w, even), w * polynomial(w, odd));
    let half = 0.5 * f * f;
    k.mul_add(std::f64::consts::LN_2, f - (half - s * (half + series)))
}

/// sin x for |x| ≤ π/4.
#[inline(always)]
fn sine(x: f64) -> f64 {
    let coefficients = [
        -1.666_666_666_666_663_2e-1,
        8.333_333_333_322_49e-3,
        -1.984_126_982_985_795e-4,
        2.755_731_370_707_006_8e-6,
        -2.505_076_025_340_686_3e-8,
        1.589_690_995_211_55e-10,
    ];
    let z = x * x;
    (x * z).mul_add(polynomial(z, coefficients), x)
}

/// cos x for |x| ≤ π/4.
#[inline(always)]
fn cosine(x: f64) -> f64 {
    let coefficients = [
        1.0,
        -0.5,
        4.166_666_666_666_66e-2,
        -1.388_888_888_887_411e-3,
        2.480_158_728_947_673e-5,
        -2.755_731_435_139_066_3e-7,
        2.087_572_321_298_175e-9,
        -1.135_964_755_778_819_5e-11,
    ];
    polynomial(x * x, coefficients)
}

#[cfg(test)]
#[path = "noise_tests.rs"]
mod tests;
