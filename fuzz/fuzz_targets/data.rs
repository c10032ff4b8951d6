//! Pictures, sound, arrays and archives.

use super::as_file;
use gambeson_data::format::audio::{FrameParams, load_files};
use gambeson_data::format::cifar::Cifar;
use gambeson_data::format::{array as arrays, idx as digit_files, images as pictures_of};
use gambeson_data::{fetch, store};
use std::path::Path;

pub(super) fn images(bytes: &[u8]) {
    let _ = pictures_of::decode(bytes);
}

/// The smallest PNG: one grey pixel.
pub(super) fn pictures() -> Vec<Vec<u8>> {
    vec![
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\0\0\0\0\x3a\x7e\x9b\x55\0\0\0\nIDATx\x9cc`\0\0\0\x02\0\x01H\xaf\xa4q\0\0\0\0IEND\xaeB`\x82".to_vec(),
        b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0\xff\xdb\0C\0".to_vec(),
    ]
}

pub(super) fn idx(bytes: &[u8]) {
    let _ = digit_files::parse(&mut &bytes[..], 3);
    let _ = digit_files::parse(&mut &bytes[..], 1);
}

pub(super) fn digits() -> Vec<Vec<u8>> {
    let images = [&[0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 2][..], &[7; 8]].concat();
    vec![images, vec![0, 0, 8, 1, 0, 0, 0, 2, 1, 2]]
}

pub(super) fn array(bytes: &[u8]) {
    as_file(bytes, "x.npy", |path| drop(arrays::load(path, &mut ())));
}

pub(super) fn cifar(bytes: &[u8]) {
    // A batch is a multiple of 3073 bytes: what is given is repeated up to that.
    let whole: Vec<u8> =
        bytes.iter().copied().cycle().take(if bytes.is_empty() { 0 } else { 3073 }).collect();
    for bytes in [bytes, &whole] {
        let _ = Cifar::Ten.parse(bytes, Path::new("batch"));
        let _ = Cifar::Hundred.parse(bytes, Path::new("batch"));
    }
}

pub(super) fn audio(bytes: &[u8]) {
    as_file(bytes, "sound.wav", |path| {
        let _ = load_files(&[path.to_path_buf()], &FrameParams::default(), &mut ());
    });
}

/// A tenth of a second of silence.
pub(super) fn sounds() -> Vec<Vec<u8>> {
    let data = vec![0_u8; 1600];
    let mut wav = b"RIFF".to_vec();
    wav.extend((36 + 1600_u32).to_le_bytes());
    wav.extend(b"WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data");
    wav.extend(1600_u32.to_le_bytes());
    wav.extend(data);
    vec![wav]
}

pub(super) fn stored(bytes: &[u8]) {
    as_file(bytes, "train.safetensors", |path| drop(store::load(path, &mut ())));
}

pub(super) fn archive(bytes: &[u8]) {
    as_file(bytes, "a.tar.gz", |path| {
        let folder = path.parent().unwrap_or(Path::new(".")).join("data");
        let _ = fetch::fetch(Cifar::Ten, &[fetch::Provider::File(path.to_path_buf())], &folder, &mut ());
    });
}
