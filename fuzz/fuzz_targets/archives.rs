//! Archives of known files.

use super::as_file;
use super::repair::{self, crc32};
use crate::answer::{Answer, answer};
use crate::bundle::joined;
use flate2::Compression;
use flate2::write::GzEncoder;
use gambeson_data::fetch::install::{KnownSet, install};
use gambeson_data::format::cifar::KnownFile;
use std::io::Write;

/// `printf hello | sha256sum` and `printf 'hello again' | sha256sum`.
const FILES: [KnownFile; 2] = [
    KnownFile {
        name: "a.bin",
        bytes: 5,
        sha256: "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
    },
    KnownFile {
        name: "b.bin",
        bytes: 11,
        sha256: "3908c567feda72bc0dbdb2dff040fe0d3470dcd51b942374378a476930dbf6b3",
    },
];

const MEMBERS: [(&str, &[u8]); 3] =
    [("set/a.bin", b"hello"), ("set/readme.html", b"not wanted"), ("set/b.bin", b"hello again")];

/// A tar file as it is, and compressed in both ways.
pub(super) fn tar(bytes: &[u8]) -> Answer {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    let gz = gzip.write_all(bytes).and_then(|()| gzip.finish()).unwrap_or_default(); // to memory
    let (plain, gz, xz) = (installed(bytes), installed(&gz), installed(&xz(bytes)));
    if bytes.get(257..262) == Some(b"ustar") {
        let accepted = [&plain, &gz, &xz].map(Result::is_ok);
        assert_eq!(
            accepted,
            [plain.is_ok(); 3],
            "compression makes another archive of it: {plain:?} {gz:?} {xz:?}"
        );
    }
    plain
}

pub(super) fn zip(bytes: &[u8]) -> Answer {
    installed(bytes)
}

fn installed(bytes: &[u8]) -> Answer {
    as_file(bytes, "archive", |path| {
        let home = path.with_file_name("data");
        std::fs::create_dir(&home).map_err(|error| error.to_string())?;
        let set = KnownSet { name: "set", files: &FILES, data_dir: &home };
        answer(install(set, path, &mut ()))
    })
}

/// An xz file of blocks that are stored as they are, in one stream.
fn xz(bytes: &[u8]) -> Vec<u8> {
    const FLAGS: [u8; 2] = [0, 1]; // with CRC-32
    const LONGEST: usize = 1 << 16;
    fn padded(mut bytes: Vec<u8>) -> Vec<u8> {
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }
    fn with_crc(bytes: Vec<u8>) -> Vec<u8> {
        let crc = crc32(&bytes).to_le_bytes();
        [bytes, crc.to_vec()].concat()
    }
    fn varint(mut value: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        while value >= 0x80 {
            bytes.push(0x80 | (value & 0x7f).to_le_bytes()[0]);
            value >>= 7;
        }
        bytes.push(value.to_le_bytes()[0]);
        bytes
    }
    // Length in words, no sizes, one filter: LZMA2 with a dictionary of a megabyte.
    let header = with_crc(vec![2, 0, 0x21, 1, 16, 0, 0, 0]);
    let mut data = Vec::new();
    for (at, chunk) in bytes.chunks(LONGEST).enumerate() {
        data.push(if at == 0 { 1 } else { 2 }); // not compressed, the first with a new dictionary
        data.extend(u16::try_from(chunk.len() - 1).unwrap_or(0).to_be_bytes());
        data.extend(chunk);
    }
    data.push(0);
    let unpadded = header.len() + data.len() + 4;
    let block = [header, padded(data), crc32(bytes).to_le_bytes().to_vec()].concat();
    let index = with_crc(padded([vec![0, 1], varint(unpadded), varint(bytes.len())].concat()));
    let words = u32::try_from(index.len() / 4 - 1).unwrap_or(0).to_le_bytes();
    let end = [&words[..], &FLAGS].concat();
    let start = [&b"\xfd7zXZ\0"[..], &with_crc(FLAGS.to_vec())].concat();
    [start, block, index, crc32(&end).to_le_bytes().to_vec(), end, b"YZ".to_vec()].concat()
}

pub(super) fn tars() -> Vec<Vec<u8>> {
    let mut file = Vec::new();
    for (name, bytes) in MEMBERS {
        let mut header = vec![0; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[100..107].copy_from_slice(b"0000644");
        header[124..135].copy_from_slice(format!("{:011o}", bytes.len()).as_bytes());
        header[156] = b'0';
        header[257..265].copy_from_slice(b"ustar\x0000");
        file.extend(header);
        file.extend(bytes);
        file.resize(file.len().next_multiple_of(512), 0);
    }
    file.extend([0; 1024]);
    vec![repair::tar(&file)]
}

/// As their members.
pub(super) fn zips() -> Vec<Vec<u8>> {
    vec![joined(&MEMBERS)]
}
