//! Parts of an archive, and the files in it.

use std::collections::BTreeMap;

/// The files of a bundle by name.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// Files of a bundle, at most.
pub(super) const MOST_FILES: usize = 4096;

/// Signatures of the parts of an archive (PKWARE, APPNOTE 6.3.10, section 4.3).
pub(super) const LOCAL: u32 = 0x0403_4b50;
pub(super) const CENTRAL: u32 = 0x0201_4b50;
pub(super) const END: u32 = 0x0605_4b50;
/// Bytes of these parts without names.
pub(super) const LOCAL_LENGTH: usize = 30;
pub(super) const CENTRAL_LENGTH: usize = 46;
pub(super) const END_LENGTH: usize = 22;
