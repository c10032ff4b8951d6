//! One process at a time.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long a process that was killed may take to be gone.
const PATIENCE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(50);

/// Keeps other processes out for as long as the file is open; `None` if one of them has it.
pub(super) fn lock(path: &Path) -> io::Result<Option<File>> {
    let file = File::open(path)?;
    let began = Instant::now();
    while let Err(TryLockError::WouldBlock) = file.try_lock() {
        if began.elapsed() > PATIENCE {
            return Ok(None);
        }
        sleep(PAUSE);
    } // some file systems have no locks, which is all right
    Ok(Some(file))
}
