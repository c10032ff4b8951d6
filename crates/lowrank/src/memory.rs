//! How much memory one array or file may take.
//!
//! A value that readers are given by their caller: two callers in one process may have different limits.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The most bytes that any one array or file may take in memory. Readers refuse what would take more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryLimit(u64);

impl Default for MemoryLimit {
    fn default() -> Self {
        Self::NONE
    }
}

impl MemoryLimit {
    /// No limit but the memory of the machine.
    pub const NONE: Self = Self(u64::MAX);

    /// At most so many bytes.
    pub const fn bytes(most: u64) -> Self {
        Self(most)
    }

    /// The limit in bytes; `u64::MAX` where there is none.
    pub const fn limit(self) -> u64 {
        self.0
    }

    /// The same in units of 10⁹ bytes, for messages.
    pub fn gigabytes(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Whether so many bytes are within the limit.
    pub const fn allows(self, bytes: u64) -> bool {
        bytes <= self.0
    }

    /// The content of a file, or of anything else that can be read and is within the limit.
    pub fn read_file(self, path: &Path) -> io::Result<Vec<u8>> {
        self.read_to_end(&mut File::open(path)?)
    }

    /// All that is left to read of a file, if it is within the limit. A device, which need not end, is refused.
    pub fn read_to_end(self, file: &mut File) -> io::Result<Vec<u8>> {
        let over = || {
            let message = format!("more than the memory limit of {:.1} GB", self.gigabytes());
            io::Error::new(io::ErrorKind::FileTooLarge, message)
        };
        let metadata = file.metadata()?;
        if is_device(&metadata) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "is a device, not a file"));
        }
        // A pipe has no length: its bytes are gathered in a buffer that doubles.
        let most = if metadata.len() > 0 { self.0 } else { self.0 / 2 };
        if metadata.len() > most {
            return Err(over());
        }
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(usize::try_from(metadata.len()).map_err(|_| over())?).map_err(|_| over())?;
        file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > most { Err(over()) } else { Ok(bytes) }
    }
}

fn is_device(metadata: &std::fs::Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        let kind = metadata.file_type();
        kind.is_char_device() || kind.is_block_device()
    }
    #[cfg(not(unix))]
    {
        let _ = metadata;
        false
    }
}
