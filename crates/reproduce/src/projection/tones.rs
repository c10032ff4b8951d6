//! Synthetic tones as a folder of WAV files, in place of recordings of speech.
//!
//! Each file is a sum of harmonics whose pitch follows from the number of the file, so the folder is the same everywhere.

use std::f64::consts::TAU;
use std::io;
use std::path::{Path, PathBuf};

/// Samples per second.
const RATE: u32 = 16_000;
/// Samples of a file: half a second.
const SAMPLES: u32 = RATE / 2;
/// The lowest pitch, and how much higher the next file's is, in Hz.
const LOWEST: f64 = 90.0;
const STEP: f64 = 17.0;
/// Harmonics; the h-th has 1/h of the first's amplitude.
const HARMONICS: u32 = 12;
/// Amplitude of the first harmonic.
const LOUDNESS: f64 = 9000.0;

/// The folder of `files` tones below `parent`, created if missing.
pub(super) fn folder(parent: &Path, files: usize) -> io::Result<PathBuf> {
    let folder = parent.join(format!("tones-{files}"));
    if folder.is_dir() {
        return Ok(folder);
    }
    // Written aside and renamed: the process may be stopped at any time.
    std::fs::create_dir_all(parent)?;
    let beside = tempfile::Builder::new().prefix(".tones").tempdir_in(parent)?;
    for at in 0..files {
        std::fs::write(beside.path().join(format!("tone-{at:03}.wav")), wav(at))?;
    }
    match std::fs::rename(beside.keep(), &folder) {
        Err(_) if folder.is_dir() => Ok(folder), // another process was faster
        renamed => renamed.map(|()| folder),
    }
}

/// A file of 16-bit samples, one channel.
fn wav(at: usize) -> Vec<u8> {
    let pitch = LOWEST + STEP * at as f64;
    let bytes = SAMPLES * 2;
    let mut file = Vec::new();
    file.extend(b"RIFF");
    file.extend((36 + bytes).to_le_bytes());
    file.extend(b"WAVEfmt ");
    file.extend(16u32.to_le_bytes());
    for short in [1u16, 1] {
        file.extend(short.to_le_bytes()); // whole numbers, one channel
    }
    file.extend(RATE.to_le_bytes());
    file.extend((RATE * 2).to_le_bytes());
    for short in [2u16, 16] {
        file.extend(short.to_le_bytes()); // bytes and bits of a sample
    }
    file.extend(b"data");
    file.extend(bytes.to_le_bytes());
    for sample in 0..SAMPLES {
        let time = f64::from(sample) / f64::from(RATE);
        let sum: f64 =
            (1..=HARMONICS).map(|h| (TAU * f64::from(h) * pitch * time).sin() / f64::from(h)).sum();
        // With constant loudness all frames of a file would be alike.
        let swell = (std::f64::consts::PI * f64::from(sample) / f64::from(SAMPLES)).sin();
        #[allow(clippy::cast_possible_truncation)] // a fraction of the largest
        file.extend(((LOUDNESS * swell * sum).round() as i16).to_le_bytes());
    }
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_made_once_and_whole() {
        let parent = tempfile::tempdir().expect("a folder");
        let made = folder(parent.path(), 3).expect("written");
        let names: Vec<PathBuf> = (0..3).map(|at| made.join(format!("tone-00{at}.wav"))).collect();
        let first = std::fs::read(&names[0]).expect("a file");
        assert_eq!(first.len(), 44 + 2 * SAMPLES as usize);
        assert_ne!(first, std::fs::read(&names[2]).expect("a file"), "another pitch");
        // Loud, and never cut off.
        let peak = first[44..].chunks(2).map(|two| i16::from_le_bytes([two[0], two[1]]).unsigned_abs()).max();
        assert!(peak > Some(9000) && peak < Some(i16::MAX as u16), "{peak:?}");
        std::fs::remove_file(&names[1]).expect("removed");
        assert_eq!(folder(parent.path(), 3).expect("there"), made);
        assert!(!names[1].exists(), "what is there is left alone");
        let left: Vec<_> = std::fs::read_dir(parent.path()).expect("a folder").collect();
        assert_eq!(left.len(), 1, "nothing beside it");
    }
}
