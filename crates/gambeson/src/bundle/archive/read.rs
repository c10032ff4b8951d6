//! Zip archives, read: one meaning or none.

use super::layout::{CENTRAL, CENTRAL_LENGTH, END, END_LENGTH, Files, LOCAL, LOCAL_LENGTH, MOST_FILES};
use super::name::Names;
use crate::error::bundle::BundleProblem;
use flate2::Crc;
use flate2::read::DeflateDecoder;
use gambeson_lowrank::MemoryLimit;
use std::io::{self, Read, Seek, SeekFrom};

/// Longest directory of an archive.
const LONGEST_DIRECTORY: u64 = 1 << 22;
/// Flags: encrypted; sizes stand behind the file.
const ENCRYPTED: u16 = 1;
const SIZES_BEHIND: u16 = 1 << 3;
/// Those that change nothing in how a file is read: how hard it was compressed, sizes behind it, and names in UTF-8.
const HARMLESS: u16 = 1 << 1 | 1 << 2 | SIZES_BEHIND | 1 << 11;
/// Bytes of the sizes behind a file, at most.
const BEHIND: u64 = 24;
const STORED: u16 = 0;
const DEFLATED: u16 = 8;
/// A name for systems that write names in another way: what another program would call the file.
const OTHER_NAME: u16 = 0x7075;
/// Systems whose attributes say whether a file is a link.
const UNIX: [u8; 2] = [3, 19];
/// Bytes allocated before they have been decompressed.
const RESERVE: u64 = 1 << 20;

/// Why an archive is not read.
#[derive(Debug)]
pub(crate) enum ZipError {
    Io(io::Error),
    Problem(BundleProblem),
}

impl From<io::Error> for ZipError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<BundleProblem> for ZipError {
    fn from(problem: BundleProblem) -> Self {
        Self::Problem(problem)
    }
}

fn damaged(what: &'static str) -> BundleProblem {
    BundleProblem::Damaged { what }
}

/// A file in an archive, as its directory has it.
struct Entry {
    name: String,
    flags: u16,
    method: u16,
    crc: u32,
    packed: u64,
    size: u64,
    offset: u64,
}

impl Entry {
    fn wrong(&self, what: &'static str) -> BundleProblem {
        BundleProblem::File { name: self.name.clone(), what }
    }
}

/// The files of an archive that has one meaning.
pub(crate) fn read_zip(reader: &mut (impl Read + Seek), memory: MemoryLimit) -> Result<Files, ZipError> {
    let (mut entries, start) = directory(reader)?;
    let bytes = entries.iter().fold(0_u64, |sum, entry| sum.saturating_add(entry.size));
    if !memory.allows(bytes) {
        return Err(BundleProblem::Large { bytes, memory }.into());
    }
    entries.sort_by_key(|entry| entry.offset);
    let (mut files, mut end) = (Files::new(), 0);
    for (at, entry) in entries.iter().enumerate() {
        let next = entries.get(at + 1).map_or(start, |next| next.offset);
        if entry.offset != end {
            return Err(entry.wrong("does not follow the file before it").into());
        }
        let begin = local_header(reader, entry)?;
        let packed_end = begin.saturating_add(entry.packed);
        let behind = if entry.flags & SIZES_BEHIND == 0 { 0 } else { BEHIND };
        if packed_end > next || next - packed_end > behind {
            return Err(entry.wrong("overlaps with what follows it, or leaves a gap").into());
        }
        end = next;
        files.insert(entry.name.clone(), content(reader, entry)?);
    }
    if end != start {
        return Err(damaged("bytes before its directory belong to no file").into());
    }
    Ok(files)
}

/// What the directory says, and where it stands.
fn directory(reader: &mut (impl Read + Seek)) -> Result<(Vec<Entry>, u64), ZipError> {
    let length = reader.seek(SeekFrom::End(0))?;
    let Some(place) = length.checked_sub(END_LENGTH as u64) else {
        return Err(BundleProblem::NotArchive.into());
    };
    reader.seek(SeekFrom::Start(place))?;
    let mut end = [0; END_LENGTH];
    reader.read_exact(&mut end)?;
    let mut fields = Fields(&end);
    if fields.word()? != END {
        return Err(damaged("it does not end with a directory").into());
    }
    let (disks, own, all) = (fields.word()?, fields.half()?, fields.half()?);
    let (size, start) = (u64::from(fields.word()?), u64::from(fields.word()?));
    if disks != 0 || own != all || fields.half()? != 0 {
        return Err(damaged("it has several parts, or a comment").into());
    }
    if all == u16::MAX || start == u64::from(u32::MAX) {
        return Err(damaged("zip64; give the bundle as a folder").into());
    }
    if start + size != place || size > LONGEST_DIRECTORY {
        return Err(damaged("its directory is not where it should be").into());
    }
    if usize::from(all) > MOST_FILES {
        return Err(BundleProblem::Many { most: MOST_FILES }.into());
    }
    reader.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    reader.take(size).read_to_end(&mut bytes)?;
    let (mut names, mut fields) = (Names::default(), Fields(&bytes));
    let entries = (0..all).map(|_| entry(&mut fields, &mut names)).collect::<Result<_, _>>()?;
    if fields.0.is_empty() { Ok((entries, start)) } else { Err(damaged("its directory is too long").into()) }
}

fn entry(fields: &mut Fields<'_>, names: &mut Names) -> Result<Entry, BundleProblem> {
    if fields.0.len() < CENTRAL_LENGTH || fields.word()? != CENTRAL {
        return Err(damaged("its directory is cut off"));
    }
    let [_, system] = fields.half()?.to_le_bytes();
    fields.half()?; // version needed
    let (flags, method) = (fields.half()?, fields.half()?);
    fields.word()?; // time and date
    let (crc, packed, size) = (fields.word()?, fields.word()?, fields.word()?);
    let lengths = [fields.half()?, fields.half()?, fields.half()?];
    let disk = fields.half()?;
    fields.half()?; // internal attributes
    let (attributes, offset) = (fields.word()?, fields.word()?);
    let [name, extra, _comment] = lengths.map(usize::from).map(|length| fields.take(length));
    let name = names.take(name?)?;
    let (packed, size, offset) = (u64::from(packed), u64::from(size), u64::from(offset));
    let entry = Entry { name, flags, method, crc, packed, size, offset };
    // The kind of a file in the upper half, as `stat` has it; zero where the archive does not say.
    let kind = attributes >> 28;
    if UNIX.contains(&system) && !matches!(kind, 0 | 8) || attributes & 0x10 != 0 {
        return Err(entry.wrong("is a link, a folder or a device, not a file"));
    }
    if flags & ENCRYPTED != 0 {
        return Err(entry.wrong("is encrypted"));
    }
    if flags & !HARMLESS != 0 || !matches!(method, STORED | DEFLATED) || disk != 0 {
        return Err(entry.wrong("is packed in a way that is not read"));
    }
    if [packed, size, offset].contains(&u64::from(u32::MAX)) {
        return Err(entry.wrong("needs zip64; give the bundle as a folder"));
    }
    let mut extra = Fields(extra?);
    while extra.0.len() >= 4 {
        let (kind, length) = (extra.half()?, extra.half()?);
        if kind == OTHER_NAME {
            return Err(entry.wrong("has a second name"));
        }
        extra.take(usize::from(length))?;
    }
    Ok(entry)
}

/// What stands before a file must say what the directory says. Where the file begins.
fn local_header(reader: &mut (impl Read + Seek), entry: &Entry) -> Result<u64, ZipError> {
    let mut header = [0; LOCAL_LENGTH];
    reader.seek(SeekFrom::Start(entry.offset))?;
    reader.read_exact(&mut header)?;
    let mut fields = Fields(&header);
    if fields.word()? != LOCAL {
        return Err(entry.wrong("is not where the directory says").into());
    }
    fields.half()?; // version needed
    let (flags, method) = (fields.half()?, fields.half()?);
    fields.word()?; // time and date
    let sizes = [fields.word()?, fields.word()?, fields.word()?].map(u64::from);
    let [name, extra] = [fields.half()?, fields.half()?];
    let mut own = vec![0; usize::from(name)];
    reader.read_exact(&mut own)?;
    let same_sizes = flags & SIZES_BEHIND != 0 || sizes == [u64::from(entry.crc), entry.packed, entry.size];
    if own != entry.name.as_bytes() || method != entry.method || flags != entry.flags || !same_sizes {
        return Err(entry.wrong("is described in two ways").into());
    }
    Ok(reader.seek(SeekFrom::Current(i64::from(extra)))?)
}

/// The bytes of a file, from where the reader stands.
fn content(reader: &mut impl Read, entry: &Entry) -> Result<Vec<u8>, ZipError> {
    let length = || BundleProblem::Length { name: entry.name.clone(), claimed: entry.size };
    if entry.method == STORED && entry.packed != entry.size {
        return Err(length().into());
    }
    let packed = reader.take(entry.packed);
    let mut bytes = Vec::with_capacity(usize::try_from(entry.size.min(RESERVE)).unwrap_or(0));
    // One byte more than there should be shows that there are more.
    let most = entry.size + 1;
    if entry.method == STORED {
        packed.take(most).read_to_end(&mut bytes)?;
    } else {
        let mut inflated = DeflateDecoder::new(packed);
        let read = Read::by_ref(&mut inflated).take(most).read_to_end(&mut bytes);
        read.map_err(|_| entry.wrong("cannot be decompressed"))?;
        if bytes.len() as u64 == entry.size && inflated.total_in() != entry.packed {
            return Err(length().into());
        }
    }
    if bytes.len() as u64 != entry.size {
        return Err(length().into());
    }
    let mut crc = Crc::new();
    bytes.chunks(1 << 20).for_each(|chunk| crc.update(chunk));
    if crc.sum() == entry.crc { Ok(bytes) } else { Err(entry.wrong("its checksum is wrong").into()) }
}

/// Little-endian numbers one after the other.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], BundleProblem> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or_else(|| damaged("a header is cut off"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn half(&mut self) -> Result<u16, BundleProblem> {
        let bytes = self.take(2)?;
        Ok(u16::from_le_bytes([bytes[0], bytes[1]]))
    }

    fn word(&mut self) -> Result<u32, BundleProblem> {
        let [low, high] = [self.half()?, self.half()?].map(u32::from);
        Ok(low | high << 16)
    }
}
