//! A matrix as f64 holds it, with how far that is from what its file says.

use super::decimal::Decimal;
use super::error::ParseError;
use crate::linalg::matrix::{DenseMatrix, Matrix, MatrixError, Sums};
use crate::memory::MemoryLimit;
use gambeson_checker::rounding::{add_up, div_up, mul_up};

/// What a reader returns.
pub(super) struct Enclosed {
    pub(super) matrix: Matrix,
    /// A bound on Σ |entry − what the file says| over all entries.
    pub(super) error: f64,
}

impl Enclosed {
    pub(super) fn dense(matrix: DenseMatrix, error: f64) -> Self {
        Self { matrix: Matrix::Dense(matrix), error }
    }
}

/// Entries of a sparse matrix as they come; those at one place add up.
pub(super) struct Triplets {
    memory: MemoryLimit,
    entries: Vec<(usize, usize, f64)>,
    rests: Vec<(usize, usize, f64)>,
    error: f64,
}

impl Triplets {
    /// None yet.
    pub(super) fn new(memory: MemoryLimit) -> Self {
        Self { memory, entries: Vec::new(), rests: Vec::new(), error: 0.0 }
    }

    /// Adds `sign` times the number to the entry, `sign` 1 or −1.
    pub(super) fn add(
        &mut self,
        row: usize,
        column: usize,
        number: &Decimal,
        sign: f64,
    ) -> Result<(), ParseError> {
        make_room(&mut self.entries, self.memory)?;
        self.entries.push((row, column, sign * number.nearest));
        for rest in number.rest.iter().filter(|&&rest| rest != 0.0) {
            self.add_rest(row, column, sign * rest)?;
        }
        self.error = add_up(self.error, number.error);
        Ok(())
    }

    /// Adds what a value given before lacks.
    pub(super) fn add_rest(&mut self, row: usize, column: usize, rest: f64) -> Result<(), ParseError> {
        make_room(&mut self.rests, self.memory)?;
        self.rests.push((row, column, rest));
        Ok(())
    }

    /// The matrix times `scale`, a power of two of at most 1.
    pub(super) fn finish(self, rows: usize, columns: usize, scale: f64) -> Result<Enclosed, ParseError> {
        let given = self.error;
        let Sums { mut matrix, error, .. } = Sums::new(rows, columns, self.entries, self.rests)?;
        let mut error = div_up(add_up(error, given), 1.0 / scale);
        for value in &mut matrix.values {
            let product = *value * scale;
            if product / scale != *value {
                error = add_up(error, f64::from_bits(1)); // it lost bits below the least number
            }
            *value = product;
        }
        Ok(Enclosed { matrix: Matrix::Sparse(matrix), error })
    }
}

/// Room for one more, if there is memory for twice as many as now, and for as much again to sort them: what a file announces
/// is not believed.
pub(super) fn make_room<T>(list: &mut Vec<T>, memory: MemoryLimit) -> Result<(), ParseError> {
    if list.len() < list.capacity() {
        return Ok(());
    }
    let more = list.len().max(1 << 10);
    let bytes = 2 * (list.len() + more) as u64 * size_of::<T>() as u64;
    if !memory.allows(bytes) || list.try_reserve_exact(more).is_err() {
        return Err(MatrixError::TooManyEntries { entries: list.len(), memory }.into());
    }
    Ok(())
}

/// Σ of distances, `times` over.
pub(super) fn total(sum: f64, distance: f64, times: f64) -> f64 {
    if distance == 0.0 { sum } else { add_up(sum, mul_up(distance, times)) }
}
