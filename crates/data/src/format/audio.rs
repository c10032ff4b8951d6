//! Audio files as overlapping frames.
//!
//! WAV, FLAC and MP3, decoded by symphonia. A frame is `window_ms` of sound, the next one starts `hop_ms` later, and no
//! frame straddles two files; a file shorter than a window gives none. 25 ms at 48 kHz are the n = 1200 of the paper.
//! What is left at the end of a file and shorter than a window is not used.
//!
//! Samples are 16-bit values and mean raw/32768, in [−1, 1). 16-bit files are kept exactly. Finer ones (24 and 32 bit,
//! floating point, MP3) are rounded to the nearest 16-bit value, halves up for integers and away from zero for
//! floating point, and clipped at full scale; 8-bit ones are widened. Encoder delay and padding of MP3 are cut off.
//! The checksum inside a FLAC file is verified.
//!
//! All files must be mono and have one sample rate. Nothing is mixed down or resampled silently: that is for the user to
//! decide (`sox in.wav -c 1 -r 48000 out.wav`).

use crate::dataset::{Dataset, DatasetParts, Shape, SourceFile, Values};
use crate::error::{AudioProblem, DataError};
use crate::file::{base_name, read_error, report};
use crate::progress::{LoadProgress, Stage};
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::observe::Observer;
use rayon::prelude::*;
use std::fs::File;
use std::path::{Path, PathBuf};
use symphonia::core::audio::{Audio, GenericAudioBufferRef};
use symphonia::core::codecs::audio::AudioDecoderOptions;
use symphonia::core::formats::probe::Hint;
use symphonia::core::formats::{FormatOptions, TrackType};
use symphonia::core::io::MediaSourceStream;
use symphonia::core::meta::MetadataOptions;

/// How sound is cut into frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameParams {
    /// Length of a frame in ms; rounded to whole samples. Default 25.
    pub window_ms: f64,
    /// From the start of a frame to the start of the next, in ms; rounded to whole samples. Default 10.
    pub hop_ms: f64,
}

impl Default for FrameParams {
    fn default() -> Self {
        Self { window_ms: 25.0, hop_ms: 10.0 }
    }
}

impl FrameParams {
    /// Window and hop in samples at a rate in Hz: rounded to the nearest, at least one each.
    pub fn samples(&self, rate: u32) -> Result<(usize, usize), DataError> {
        const LONGEST_MS: f64 = 3_600_000.0;
        let samples = |name, value: f64| {
            let samples = (value * f64::from(rate) / 1000.0).round();
            if value <= LONGEST_MS && samples >= 1.0 {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "in range by the test above"
                )]
                Ok(samples as usize)
            } else {
                Err(DataError::FrameParams { name, value })
            }
        };
        Ok((samples("window", self.window_ms)?, samples("hop", self.hop_ms)?))
    }
}

/// A decoded file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sound {
    /// Samples per second.
    pub rate: u32,
    /// 16-bit samples; at least one.
    pub samples: Vec<i16>,
}

/// Whether a file name ends like that of an audio file.
pub fn has_audio_name(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    ["wav", "wave", "flac", "mp3"].iter().any(|known| ending.eq_ignore_ascii_case(known))
}

/// Whether bytes start as WAV, FLAC or MP3 files do.
pub fn recognises(start: &[u8]) -> bool {
    match start {
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'A', b'V', b'E', ..]
        | [b'f', b'L', b'a', b'C', ..]
        | [b'I', b'D', b'3', ..] => true,
        [0xff, second, ..] => second & 0xe6 == 0xe2, // MPEG audio, layer 3
        _ => false,
    }
}

/// The audio files of a folder and its sub-folders, sorted by path; or the file itself.
pub fn list(path: &Path) -> Result<Vec<PathBuf>, DataError> {
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = crate::file::walk(path)?;
    files.retain(|file| has_audio_name(file));
    if files.is_empty() { Err(DataError::EmptyFolder { path: path.to_owned() }) } else { Ok(files) }
}

/// The frames of the files in their order; files are decoded in parallel. Sources are the files with their numbers of
/// frames.
pub fn load_files(
    files: &[PathBuf],
    params: &FrameParams,
    memory: MemoryLimit,
    observer: &mut dyn Observer<LoadProgress>,
) -> Result<Dataset, DataError> {
    load_below(Path::new(""), files, params, memory, observer)
}

/// The same; files below the folder `base` are named relative to it.
pub(crate) fn load_below(
    base: &Path,
    files: &[PathBuf],
    params: &FrameParams,
    memory: MemoryLimit,
    observer: &mut dyn Observer<LoadProgress>,
) -> Result<Dataset, DataError> {
    let (Some(first), Some(last)) = (files.first(), files.last()) else {
        return Err(DataError::NoFiles);
    };
    let total = Some(files.len() as u64);
    report(observer, Stage::Decode, 0, total)?;
    let mut sounds: Vec<Sound> = Vec::with_capacity(files.len());
    // In portions, so that the observer, which belongs to one thread, is asked in between.
    for portion in files.chunks(4 * rayon::current_num_threads()) {
        let decoded: Vec<_> = portion.par_iter().map(|path| decode(path, memory)).collect();
        for (sound, path) in decoded.into_iter().zip(portion) {
            let sound = sound?;
            if let Some(known) = sounds.first().filter(|known| known.rate != sound.rate) {
                return Err(DataError::RatesDiffer {
                    first: first.clone(),
                    first_rate: known.rate,
                    second: path.clone(),
                    second_rate: sound.rate,
                });
            }
            sounds.push(sound);
        }
        report(observer, Stage::Decode, sounds.len() as u64, total)?;
    }
    let (window, hop) = params.samples(sounds[0].rate)?;
    let frames_of = |sound: &Sound| match sound.samples.len().checked_sub(window) {
        Some(rest) => rest / hop + 1,
        None => 0,
    };
    let frames: usize = sounds.iter().map(frames_of).sum();
    if frames == 0 {
        return Err(DataError::NoFrames { files: files.len(), window });
    }
    let mut values = Vec::new();
    values.try_reserve_exact(frames.saturating_mul(window)).map_err(|_| DataError::OutOfMemory {
        path: first.clone(),
        bytes: 2 * (frames as u64).saturating_mul(window as u64),
    })?;
    let mut sources = Vec::with_capacity(files.len());
    for (sound, path) in sounds.into_iter().zip(files) {
        let frames = frames_of(&sound);
        for frame in 0..frames {
            values.extend_from_slice(&sound.samples[frame * hop..frame * hop + window]);
        }
        let name = path.strip_prefix(base).unwrap_or(path).display().to_string();
        sources.push(SourceFile { name, samples: frames });
    }
    let parts = DatasetParts {
        name: base_name(first.parent().filter(|_| files.len() > 1).unwrap_or(first)),
        shape: Shape { channels: 1, height: 1, width: window },
        values: Values::I16(values),
        labels: None,
        classes: Vec::new(),
        sources,
    };
    Dataset::new(parts).map_err(|reason| DataError::Content { path: last.clone(), reason })
}

/// Decodes a mono file whose sound is within `memory`.
pub fn decode(path: &Path, memory: MemoryLimit) -> Result<Sound, DataError> {
    let file = File::open(path).map_err(read_error(path))?;
    let length = file.metadata().map_err(read_error(path))?.len();
    let decoded = if length == 0 { Err(AudioProblem::Empty) } else { decode_file(file, path, memory) };
    decoded.map_err(|reason| DataError::Audio { path: path.to_owned(), reason })
}

fn decode_file(file: File, path: &Path, memory: MemoryLimit) -> Result<Sound, AudioProblem> {
    let stream =
        MediaSourceStream::new(Box::new(file), symphonia::core::io::MediaSourceStreamOptions::default());
    let mut hint = Hint::new();
    if let Some(ending) = path.extension().and_then(|ending| ending.to_str()) {
        hint.with_extension(ending);
    }
    let mut format = symphonia::default::get_probe()
        .probe(&hint, stream, FormatOptions::default(), MetadataOptions::default())
        .map_err(|reason| AudioProblem::UnknownFormat { reason })?;
    let track = format.default_track(TrackType::Audio).ok_or(AudioProblem::NoTrack)?;
    let parameters = track.codec_params.as_ref().and_then(|all| all.audio()).ok_or(AudioProblem::NoTrack)?;
    let options = AudioDecoderOptions::default().verify(true);
    let mut decoder = symphonia::default::get_codecs()
        .make_audio_decoder(parameters, &options)
        .map_err(|reason| AudioProblem::UnknownCodec { reason })?;
    let (id, promised) = (track.id, track.num_frames);
    let mut rate = parameters.sample_rate;
    let mut samples = Vec::new();
    loop {
        let damaged = |samples: &Vec<i16>, reason| AudioProblem::Damaged { samples: samples.len(), reason };
        let packet = match format.next_packet() {
            Ok(Some(packet)) => packet,
            Ok(None) => break,
            Err(reason) => return Err(damaged(&samples, reason)),
        };
        if packet.track_id != id {
            continue;
        }
        let buffer = decoder.decode(&packet).map_err(|reason| damaged(&samples, reason))?;
        let channels = buffer.spec().channels().count();
        if channels != 1 {
            return Err(AudioProblem::NotMono { channels });
        }
        rate = rate.or(Some(buffer.spec().rate()));
        append(&mut samples, &buffer)?;
        // In room that doubles, and then as frames that overlap.
        let limit = memory.limit();
        if samples.len() as u64 > limit / 16 {
            return Err(AudioProblem::TooLarge { samples: samples.len(), limit });
        }
    }
    if decoder.finalize().verify_ok == Some(false) {
        return Err(AudioProblem::Checksum);
    }
    if let Some(expected) = promised.filter(|&expected| expected > samples.len() as u64) {
        return Err(AudioProblem::Truncated { expected, found: samples.len() as u64 });
    }
    if samples.is_empty() {
        return Err(AudioProblem::Empty);
    }
    Ok(Sound { rate: rate.ok_or(AudioProblem::NoRate)?, samples })
}

/// Appends the one channel of a buffer as 16-bit samples.
fn append(samples: &mut Vec<i16>, buffer: &GenericAudioBufferRef<'_>) -> Result<(), AudioProblem> {
    let before = samples.len();
    match buffer {
        GenericAudioBufferRef::S16(buffer) => samples.extend_from_slice(buffer.plane(0).unwrap_or_default()),
        GenericAudioBufferRef::F32(buffer) => {
            for (k, &sample) in buffer.plane(0).unwrap_or_default().iter().enumerate() {
                samples
                    .push(from_float(sample.into()).ok_or(AudioProblem::NotANumber { index: before + k })?);
            }
        }
        GenericAudioBufferRef::F64(buffer) => {
            for (k, &sample) in buffer.plane(0).unwrap_or_default().iter().enumerate() {
                samples.push(from_float(sample).ok_or(AudioProblem::NotANumber { index: before + k })?);
            }
        }
        // Every other kind is an integer, which this widens to 32 bits without loss.
        integers => {
            let mut wide: Vec<i32> = Vec::new();
            integers.copy_to_vec_interleaved(&mut wide);
            samples.extend(wide.into_iter().map(from_integer));
        }
    }
    Ok(())
}

/// Full scale 2³¹ to full scale 2¹⁵, to the nearest.
fn from_integer(sample: i32) -> i16 {
    let rounded = (i64::from(sample) + (1 << 15)) >> 16;
    i16::try_from(rounded).unwrap_or(i16::MAX) // only the upper end can overflow
}

/// Full scale 1 to full scale 2¹⁵, to the nearest; `None` for NaN.
fn from_float(sample: f64) -> Option<i16> {
    let scaled = (sample * 32768.0).round().clamp(f64::from(i16::MIN), f64::from(i16::MAX));
    #[expect(clippy::cast_possible_truncation, reason = "an integer in range by the clamp")]
    (!scaled.is_nan()).then_some(scaled as i16)
}
