//! What all of these types can do.

use crate::net::kernel::isa::LANES;

/// The same number of [`WIDTH`](Self::WIDTH) neighbouring channels.
pub(crate) trait Lanes: Copy {
    /// Channels: [`LANES`], or twice that.
    const WIDTH: usize;
    /// # Safety
    /// There must be as many numbers at `x`.
    unsafe fn load(x: *const f32) -> Self;
    /// # Safety
    /// There must be room for as many numbers at `out`.
    unsafe fn store(self, out: *mut f32);
    fn splat(x: f32) -> Self;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    /// self + a·b.
    fn plus(self, a: Self, b: Self) -> Self;
    /// max(x, 0); NaN stays NaN.
    fn relu(self) -> Self;
    /// This where `of` is above 0, else 0.
    fn where_positive(self, of: Self) -> Self;
    /// The larger of this and another, and the bits that belong to it; of equal ones this. NaN counts as larger than any
    /// number.
    fn larger(self, place: Self, other: Self, other_place: Self) -> (Self, Self);

    /// Some pixels of three planes, channel by channel: a₀ b₀ c₀ a₁ ….
    fn interleaved(a: Self, b: Self, c: Self) -> [Self; 3];

    /// Even and odd numbers of two registers.
    fn parted(first: Self, second: Self) -> [Self; 2];

    /// The first columns of eight rows, `count` or as many as there are, each a run of eight numbers, `step` apart.
    ///
    /// # Safety
    /// There must be room for them at `out`.
    unsafe fn store_columns(rows: [Self; LANES], out: *mut f32, step: usize, count: usize);

    #[inline(always)]
    fn zero() -> Self {
        Self::splat(0.0)
    }

    /// The first numbers of a slice.
    #[inline(always)]
    fn of(x: &[f32]) -> Self {
        assert!(x.len() >= Self::WIDTH, "that many channels");
        // SAFETY: there are as many.
        unsafe { Self::load(x.as_ptr()) }
    }

    #[inline(always)]
    fn put(self, out: &mut [f32]) {
        assert!(out.len() >= Self::WIDTH, "that many channels");
        // SAFETY: there is room.
        unsafe { self.store(out.as_mut_ptr()) }
    }

    /// self + factor·b.
    #[inline(always)]
    fn plus_times(self, factor: f32, b: Self) -> Self {
        self.plus(Self::splat(factor), b)
    }
}
