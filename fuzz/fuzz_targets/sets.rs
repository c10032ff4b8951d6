//! Data sets: digits, arrays, batches, sound, and what was imported.

use super::{as_file, fixture, repair};
use crate::answer::{Answer, answer, either};
use crate::bundle::joined;
use crate::drive::MEMORY;
use gambeson_data::dataset::{Dataset, DatasetParts, Shape, SourceFile, Split, Values};
use gambeson_data::error::DataError;
use gambeson_data::format::audio::{FrameParams, load_files};
use gambeson_data::format::cifar::Cifar;
use gambeson_data::format::{array as arrays, idx as digit_files};
use gambeson_data::store;
use std::path::Path;

pub(super) fn idx(bytes: &[u8]) -> Answer {
    let _ = digit_files::parse(&mut &bytes[..], 1, MEMORY);
    as_file(bytes, "train-images-idx3-ubyte", |path| answer(digit_files::load(path, MEMORY, &mut ())))
}

/// Images, with labels and without.
pub(super) fn digits() -> Vec<Vec<u8>> {
    let images = [&[0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 2][..], &[7; 8]].concat();
    let labels = vec![0, 0, 8, 1, 0, 0, 0, 2, 1, 2];
    vec![images.clone(), joined(&[("images", images), ("train-labels-idx1-ubyte", labels)])]
}

pub(super) fn array(bytes: &[u8]) -> Answer {
    as_file(bytes, "x.npy", |path| {
        let data = arrays::load(path, MEMORY, &mut ()).map_err(|error| error.to_string())?;
        Ok(format!("{:?}", std::mem::discriminant(data.values())))
    })
}

/// What is given, repeated up to the length of two records.
pub(super) fn whole_batch(bytes: &[u8]) -> Vec<u8> {
    const RECORDS: usize = 2 * 3073;
    bytes.iter().copied().cycle().take(if bytes.is_empty() { 0 } else { RECORDS }).collect()
}

pub(super) fn cifar(bytes: &[u8]) -> Answer {
    let ten = answer(Cifar::Ten.parse(bytes, Path::new("batch")));
    either(ten, answer(Cifar::Hundred.parse(bytes, Path::new("batch"))))
}

pub(super) fn batches() -> Vec<Vec<u8>> {
    vec![vec![3, 1, 2, 3], vec![1; 100]]
}

pub(super) fn stored(bytes: &[u8]) -> Answer {
    as_file(bytes, "train.safetensors", |path| {
        let data = store::load(path, &mut ()).map_err(|error| error.to_string())?;
        Ok(format!("{:?} {}", std::mem::discriminant(data.values()), data.labels().is_some()))
    })
}

/// With the checksum that the reader finds.
pub(super) fn with_checksum(bytes: &[u8]) -> Vec<u8> {
    let bytes = repair::safetensors(bytes);
    let mut right = None;
    let _ = as_file(&bytes, "train.safetensors", |path| {
        if let Err(DataError::Checksum { expected, found, .. }) = store::load(path, &mut ()) {
            right = Some((expected, found));
        }
        Ok(String::new())
    });
    let Some((expected, found)) = right.filter(|(expected, found)| expected.len() == found.len()) else {
        return bytes;
    };
    let at = bytes.windows(expected.len()).position(|window| window == expected.as_bytes());
    at.map_or(bytes.clone(), |at| [&bytes[..at], found.as_bytes(), &bytes[at + found.len()..]].concat())
}

/// Two samples of every type, with labels and without.
pub(super) fn data(values: Values, labels: Option<Vec<u16>>) -> Option<Dataset> {
    let classes = if labels.is_some() { vec!["a".to_owned(), "b".to_owned()] } else { Vec::new() };
    let sources = vec![SourceFile { name: "x".to_owned(), samples: 2 }];
    let shape = Shape { channels: 1, height: 2, width: 2 };
    Dataset::new(DatasetParts { name: "x".to_owned(), shape, values, labels, classes, sources }).ok()
}

pub(super) fn stored_sets() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for labels in [None, Some(vec![0, 1])] {
        for values in [Values::U8((0..8).collect()), Values::I16((0..8).collect()), Values::F32(vec![0.5; 8])]
        {
            let Ok(folder) = tempfile::tempdir() else { continue };
            let Some(data) = data(values, labels.clone()) else { continue };
            let path = store::save(&data, folder.path(), "set", Split::Train, false, &mut ());
            seeds.extend(path.ok().and_then(|path| std::fs::read(path).ok()));
        }
    }
    seeds
}

pub(super) fn audio(bytes: &[u8]) -> Answer {
    let name = match bytes {
        [b'f', b'L', ..] => "sound.flac",
        [b'I', b'D', ..] | [0xff, ..] => "sound.mp3",
        _ => "sound.wav",
    };
    as_file(bytes, name, |path| {
        answer(load_files(&[path.to_path_buf()], &FrameParams::default(), MEMORY, &mut ()))
    })
}

/// A WAV file of a tenth of a second; format 1 is PCM, 3 floating point.
fn wav(format: u16, bits: u16) -> Vec<u8> {
    const RATE: u32 = 8000;
    let block = bits / 8;
    let data = vec![0_u8; usize::from(block) * 800];
    let length = u32::try_from(data.len()).unwrap_or(0);
    let mut wav = b"RIFF".to_vec();
    wav.extend((36 + length).to_le_bytes());
    wav.extend(b"WAVEfmt \x10\0\0\0");
    wav.extend([&format.to_le_bytes()[..], &1_u16.to_le_bytes(), &RATE.to_le_bytes()].concat());
    wav.extend(
        [&(RATE * u32::from(block)).to_le_bytes()[..], &block.to_le_bytes(), &bits.to_le_bytes()].concat(),
    );
    wav.extend(b"data");
    wav.extend(length.to_le_bytes());
    wav.extend(data);
    wav
}

pub(super) fn sounds() -> Vec<Vec<u8>> {
    vec![
        wav(1, 16),
        wav(1, 8),
        wav(1, 24),
        wav(3, 32),
        fixture("data/tests/fixtures/tone.flac"),
        fixture("data/tests/fixtures/tone.mp3"),
    ]
}
