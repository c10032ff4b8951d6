//! Which sizes are accepted, in every format alike.

use super::error::ParseError;

/// Sizes up to this one are believed of any sparse file, however short: row offsets for as many rows take
/// 32 MiB. Beyond it a file must have at least one byte per row and per column.
const ALWAYS_PLAUSIBLE_SIZE: usize = 1 << 22;

/// Refuses sizes of sparse matrices that `bytes` bytes of input cannot plausibly mean: row offsets are
/// allocated from the size alone.
pub(super) fn check_sparse_size(rows: usize, columns: usize, bytes: usize) -> Result<(), ParseError> {
    let limit = bytes.max(ALWAYS_PLAUSIBLE_SIZE);
    match rows.max(columns) {
        size if size > limit => Err(ParseError::SizeTooLarge { size, limit }),
        _ => Ok(()),
    }
}
