//! Sound files.

use super::{as_file, fixture};
use crate::answer::{Answer, answer};
use gambeson_data::format::audio::{FrameParams, load_files};

pub(super) fn audio(bytes: &[u8]) -> Answer {
    let name = match bytes {
        [b'f', b'L', ..] => "sound.flac",
        [b'I', b'D', ..] | [0xff, ..] => "sound.mp3",
        _ => "sound.wav",
    };
    as_file(bytes, name, |path| answer(load_files(&[path.to_path_buf()], &FrameParams::default(), &mut ())))
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
