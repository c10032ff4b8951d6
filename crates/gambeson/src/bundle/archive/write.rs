//! Zip archives, written: files as they are, no times, no attributes.

use super::layout::{CENTRAL, CENTRAL_LENGTH, END, END_LENGTH, LOCAL, LOCAL_LENGTH};
use crate::error::bundle::BundleProblem;
use flate2::Crc;
use std::io::{self, Write};

/// The version that is needed to extract files that are stored as they are, times ten.
const VERSION: u16 = 10;
/// The first of January 1980: the earliest day that the format has.
const DATE: u16 = 1 << 5 | 1;

/// Whether files of these lengths of name and content fit into an archive whose places have 32 bits.
pub(super) fn check_size(lengths: impl Iterator<Item = (usize, usize)>) -> Result<(), BundleProblem> {
    let headers = (LOCAL_LENGTH + CENTRAL_LENGTH) as u64;
    let sizes = lengths.map(|(name, bytes)| (bytes as u64, headers + 2 * name as u64));
    let (bytes, around) = sizes.fold((0, END_LENGTH as u64), |sum, size| (sum.0 + size.0, sum.1 + size.1));
    if bytes + around < u64::from(u32::MAX) { Ok(()) } else { Err(BundleProblem::TooLargeForZip { bytes }) }
}

/// Writes files in the order given. Their names are plain.
pub(crate) fn write_zip(out: &mut impl Write, files: &[(&str, &[u8])]) -> io::Result<()> {
    check_size(files.iter().map(|(name, bytes)| (name.len(), bytes.len()))).map_err(io::Error::other)?;
    let (mut directory, mut offset) = (Vec::new(), 0_u64);
    for (name, bytes) in files {
        let mut crc = Crc::new();
        bytes.chunks(1 << 20).for_each(|chunk| crc.update(chunk));
        let size = word(bytes.len() as u64)?;
        let about = [
            &VERSION.to_le_bytes()[..],
            &[0; 2], // no flags
            &[0; 2], // stored as it is
            &[0; 2], // midnight
            &DATE.to_le_bytes(),
            &crc.sum().to_le_bytes(),
            &size.to_le_bytes(),
            &size.to_le_bytes(),
            &half(name.len())?.to_le_bytes(),
            &[0; 2], // nothing more
        ]
        .concat();
        directory.extend(CENTRAL.to_le_bytes());
        directory.extend(VERSION.to_le_bytes());
        directory.extend(&about);
        directory.extend([0; 10]); // no comment, the first disk, no attributes
        directory.extend(word(offset)?.to_le_bytes());
        directory.extend(name.as_bytes());
        let header = [&LOCAL.to_le_bytes()[..], &about, name.as_bytes()].concat();
        out.write_all(&header)?;
        out.write_all(bytes)?;
        offset += header.len() as u64 + bytes.len() as u64;
    }
    out.write_all(&directory)?;
    let count = half(files.len())?.to_le_bytes();
    let end = [
        &END.to_le_bytes()[..],
        &[0; 4], // one disk
        &count,
        &count,
        &word(directory.len() as u64)?.to_le_bytes(),
        &word(offset)?.to_le_bytes(),
        &[0; 2], // no comment
    ];
    out.write_all(&end.concat())
}

/// Sizes were compared before.
fn word(number: u64) -> io::Result<u32> {
    u32::try_from(number).map_err(io::Error::other)
}

fn half(number: usize) -> io::Result<u16> {
    u16::try_from(number).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_known_before_anything_is_written() {
        let files: [(&str, &[u8]); 2] = [("a", b"one"), ("bc", b"")];
        let mut bytes = Vec::new();
        write_zip(&mut bytes, &files).expect("to memory");
        let around = 2 * (30 + 46) + 2 * 3 + 22;
        assert_eq!(bytes.len(), 3 + around);
        let room = u32::MAX as usize - 1 - (30 + 46 + 2 + 22);
        assert!(check_size([(1, room)].into_iter()).is_ok());
        assert!(check_size([(1, room + 1)].into_iter()).is_err());
    }
}
