//! Archives of bundles: zip, as little of it as is needed, and folders.
//!
//! **Writing.** Files are stored as they are, one after the other, with fixed times and no attributes: the same files always
//! give the same bytes.
//!
//! **Reading.** Archives come from strangers, and programs disagree on archives that contradict themselves: what one shows
//! and another checks must be the same. So there is one reading of every archive that is accepted. The directory stands at
//! the end and nothing behind it; files fill the space before it without gaps and without overlaps; what stands before a
//! file says the same as the directory; names are plain, differ in more than capital letters, and lead nowhere. Sizes are
//! compared with the memory limit before anything is read, and hold to the byte. Nothing is written.

mod folder;
mod name;
mod read;
mod write;

pub(super) use folder::{read_folder, write_folder};
pub(super) use read::{ZipError, read_zip};
pub(super) use write::write_zip;

use std::collections::BTreeMap;

/// The files of a bundle by name.
pub(super) type Files = BTreeMap<String, Vec<u8>>;

/// Files of a bundle, at most.
const MOST_FILES: usize = 4096;

/// Signatures of the parts of an archive (PKWARE, APPNOTE 6.3.10, section 4.3).
const LOCAL: u32 = 0x0403_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
/// Bytes of these parts without names.
const LOCAL_LENGTH: usize = 30;
const CENTRAL_LENGTH: usize = 46;
const END_LENGTH: usize = 22;
