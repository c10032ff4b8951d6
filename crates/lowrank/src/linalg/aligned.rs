//! Memory for the kernels: numbers that begin with a line of the cache.

use crate::linalg::kernel::Real;

/// Bytes of a line of the cache, and of the widest vector register.
const LINE: usize = 64;

/// Numbers that begin with a line of the cache: a vector register is then loaded from one line.
#[derive(Default)]
pub(crate) struct Aligned<T> {
    data: Vec<T>,
    start: usize,
    length: usize,
}

impl<T: Real> Aligned<T> {
    /// Room for `length` values, whose contents are unspecified.
    pub(crate) fn resized(&mut self, length: usize) -> &mut [T] {
        let room = LINE / size_of::<T>();
        if self.data.len() < length + room {
            self.data.resize(length + room, T::default());
        }
        self.length = length;
        // Alignment is for speed only: where it is not possible, any start works.
        self.start = self.data.as_ptr().align_offset(LINE).min(room);
        &mut self.data[self.start..][..length]
    }

    /// The values as they were last written.
    pub(crate) fn values(&self) -> &[T] {
        &self.data[self.start..][..self.length]
    }
}
