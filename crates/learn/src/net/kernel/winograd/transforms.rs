//! Transforms of the tiles of F(4×4, 3×3): of patches of the input, of gradients, of products.

#![allow(unsafe_code)]

use super::tile::{Transform, put_tiles, spread_tiles};
use super::tiles::{Epilogue, Layout, Tiles};
use crate::net::kernel::lanes::Lanes;
use crate::net::kernel::versions::versions;

struct Input;

impl<L: Lanes> Transform<L, 6, 6> for Input {
    #[inline(always)]
    fn of(d: [L; 6]) -> [L; 6] {
        let (t1, t2) = (d[4].plus_times(-4.0, d[2]), d[3].plus_times(-4.0, d[1]));
        let (t3, t4) = (d[4].sub(d[2]), d[3].sub(d[1]));
        [
            d[4].plus_times(-5.0, d[2]).plus_times(4.0, d[0]),
            t1.add(t2),
            t1.sub(t2),
            t3.plus_times(2.0, t4),
            t3.plus_times(-2.0, t4),
            d[5].plus_times(-5.0, d[3]).plus_times(4.0, d[1]),
        ]
    }
}

struct Output;

impl<L: Lanes> Transform<L, 6, 4> for Output {
    #[inline(always)]
    fn of(m: [L; 6]) -> [L; 4] {
        let (s1, s2) = (m[1].add(m[2]), m[1].sub(m[2]));
        let (s3, s4) = (m[3].add(m[4]), m[3].sub(m[4]));
        [
            m[0].add(s1).add(s3),
            s2.plus_times(2.0, s4),
            s1.plus_times(4.0, s3),
            s2.plus_times(8.0, s4).add(m[5]),
        ]
    }
}

struct Gradient;

impl<L: Lanes> Transform<L, 4, 6> for Gradient {
    #[inline(always)]
    fn of(y: [L; 4]) -> [L; 6] {
        let (even, odd) = (y[0].add(y[2]), y[1].add(y[3]));
        let (even4, odd4) = (y[0].plus_times(4.0, y[2]), y[1].plus_times(4.0, y[3]));
        [y[0], even.add(odd), even.sub(odd), even4.plus_times(2.0, odd4), even4.plus_times(-2.0, odd4), y[3]]
    }
}

versions! {
    /// V of the tiles `first..first + count` of padded images: patch by patch, plane by plane.
    fn transform_input<L by channels>(x: &[f32], layout: Layout, tiles: Tiles, channels: usize, first: usize, count: usize, v: &mut [f32]) {
        spread_tiles::<L, Input, 6, 6>(x, layout, tiles, channels, (first, count), v);
    }
}

versions! {
    /// Z of the tiles of padded gradients.
    fn transform_gradient<L by channels>(x: &[f32], layout: Layout, tiles: Tiles, channels: usize, first: usize, count: usize, z: &mut [f32]) {
        spread_tiles::<L, Gradient, 4, 6>(x, layout, tiles, channels, (first, count), z);
    }
}

versions! {
    /// The tiles of Y from M, with the epilogue.
    fn transform_output<L by channels>(m: &[f32], y: &mut [f32], layout: Layout, tiles: Tiles, channels: usize, first: usize, count: usize, epilogue: Epilogue<'_>) {
        put_tiles::<L, Output, 6>(m, y, layout, tiles, channels, (first, count), epilogue);
    }
}
