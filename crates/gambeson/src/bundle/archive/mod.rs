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
mod layout;
mod name;
mod read;
mod write;

pub(super) use folder::{read_folder, write_folder};
pub(super) use layout::Files;
pub(super) use read::{ZipError, read_zip};
pub(super) use write::write_zip;
