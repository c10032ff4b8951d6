use crate::support::{folder, quiet, says, stop, wav, wav16, write};
use gambeson_data::dataset::Values;
use gambeson_data::format::audio::{FrameParams, decode, list, load_files};
use gambeson_lowrank::MemoryLimit;
use std::path::Path;

/// A tone of 440 Hz at half of full scale, 0.1 s at 48 kHz, as LAME and flac encoded it; see `make_audio.sh` there.
fn fixture(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn ramp(length: i16) -> Vec<i16> {
    (0..length).map(|k| k.wrapping_mul(31)).collect()
}

#[test]
fn frames_overlap_and_never_straddle_files() {
    let home = folder();
    // At 1 kHz a sample is a millisecond.
    let (a, b) = (ramp(23), ramp(9).into_iter().rev().collect::<Vec<_>>());
    let short = [5_i16; 4];
    let files = [
        write(home.path(), "a.wav", wav16(1000, &a)),
        write(home.path(), "b.wav", wav16(1000, &short)),
        write(home.path(), "c.wav", wav16(1000, &b)),
    ];
    let params = FrameParams { window_ms: 7.0, hop_ms: 3.0 };
    let data = load_files(&files, &params, MemoryLimit::NONE, &mut quiet).expect("frames");
    let mut expected = Vec::new();
    let mut counts = Vec::new();
    for file in [a.as_slice(), &short, &b] {
        let frames: Vec<&[i16]> = file.windows(7).step_by(3).collect();
        counts.push(frames.len());
        expected.extend(frames.concat());
    }
    assert_eq!(data.values(), &Values::I16(expected));
    assert_eq!(data.sources().iter().map(|source| source.samples).collect::<Vec<_>>(), counts);
    assert_eq!((counts[0], counts[1], counts[2]), (6, 0, 1));
    assert_eq!((data.len(), data.shape().width, data.shape().height), (7, 7, 1));
    let mut frame = [0.0; 7];
    data.sample_f32(6, &mut frame);
    assert_eq!(frame[0], f32::from(b[0]) / 32768.0);
}

#[test]
fn the_window_of_the_paper() {
    let params = FrameParams::default();
    assert_eq!(params.samples(48_000).expect("possible"), (1200, 480));
    assert_eq!(params.samples(44_100).expect("possible"), (1103, 441)); // 1102.5 rounds up
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e12] {
        says(FrameParams { window_ms: bad, ..params }.samples(48_000), &["window", "ms"]);
        says(FrameParams { hop_ms: bad, ..params }.samples(48_000), &["hop", "ms"]);
    }
}

#[test]
fn sixteen_bits_are_exact_and_others_rounded() {
    let home = folder();
    let all: Vec<i16> = (i16::MIN..=i16::MAX).collect();
    let path = write(home.path(), "all.wav", wav16(48_000, &all));
    assert_eq!(decode(&path, MemoryLimit::NONE).expect("sound").samples, all);

    // 24 bits: a value of 16 bits, half a step less one, half a step; the top is clipped.
    let cases: [(i32, i16); 6] = [
        (256 * 100, 100),
        (256 * 100 + 127, 100),
        (256 * 100 + 128, 101),
        (-256 * 7, -7),
        (0x7f_ffff, i16::MAX),
        (-0x80_0000, i16::MIN),
    ];
    let data: Vec<u8> = cases.iter().flat_map(|(sample, _)| sample.to_le_bytes()[..3].to_vec()).collect();
    let path = write(home.path(), "24.wav", wav(1, 1, 8000, 24, &data));
    assert_eq!(decode(&path, MemoryLimit::NONE).expect("sound").samples, cases.map(|(_, expected)| expected));

    let cases: [(f32, i16); 6] = [
        (0.5, 16384),
        (-1.0, i16::MIN),
        (1.0, i16::MAX),
        (3.0, i16::MAX),
        (1.6 / 32768.0, 2),
        (-1.4 / 32768.0, -1),
    ];
    let data: Vec<u8> = cases.iter().flat_map(|(sample, _)| sample.to_le_bytes()).collect();
    let path = write(home.path(), "float.wav", wav(3, 1, 8000, 32, &data));
    assert_eq!(decode(&path, MemoryLimit::NONE).expect("sound").samples, cases.map(|(_, expected)| expected));

    let path = write(home.path(), "8.wav", wav(1, 1, 8000, 8, &[0, 128, 255]));
    assert_eq!(decode(&path, MemoryLimit::NONE).expect("sound").samples, [i16::MIN, 0, 127 * 256]);
}

#[test]
fn flac_and_mp3_hold_the_tone() {
    let tone: Vec<f64> = (0..4800)
        .map(|k| 0.5 * (2.0 * std::f64::consts::PI * 440.0 * f64::from(k) / 48_000.0).sin())
        .collect();
    // FLAC loses nothing; sox rounds and adds no dither.
    let flac = decode(&fixture("tone.flac"), MemoryLimit::NONE).expect("sound");
    assert_eq!((flac.rate, flac.samples.len()), (48_000, 4800));
    for (sample, value) in flac.samples.iter().zip(&tone) {
        assert!((f64::from(*sample) - 32768.0 * value).abs() <= 1.0, "{sample} for {value}");
    }
    // MP3 loses some, but neither length nor place: delay and padding are cut off. What this file lost is 0.0252 at most
    // by ffmpeg's decoder too; one sample off would be 0.0377.
    let mp3 = decode(&fixture("tone.mp3"), MemoryLimit::NONE).expect("sound");
    assert_eq!((mp3.rate, mp3.samples.len()), (48_000, 4800));
    for (k, (sample, value)) in mp3.samples.iter().zip(&tone).enumerate().skip(600).take(3600) {
        assert!((f64::from(*sample) / 32768.0 - value).abs() < 0.03, "sample {k}: {sample} for {value}");
    }
}

#[test]
fn bad_files_are_refused_by_name() {
    let home = folder();
    let good = write(home.path(), "good.wav", wav16(48_000, &ramp(2000)));
    let load = |path: &Path| {
        load_files(&[good.clone(), path.to_owned()], &FrameParams::default(), MemoryLimit::NONE, &mut quiet)
    };

    let stereo = write(home.path(), "stereo.wav", wav(1, 2, 48_000, 16, &[1; 400]));
    says(load(&stereo), &["stereo.wav", "2 channels", "mono", "sox"]);
    let none = write(home.path(), "none.wav", "");
    says(load(&none), &["none.wav", "no sound"]);
    let header = write(home.path(), "header.wav", wav16(48_000, &[]));
    says(load(&header), &["header.wav"]);
    let slow = write(home.path(), "slow.wav", wav16(44_100, &ramp(2000)));
    says(load(&slow), &["good.wav", "48000", "slow.wav", "44100"]);
    // WAVE format 0x161 is Windows Media Audio.
    let codec = write(home.path(), "codec.wav", wav(0x161, 1, 48_000, 16, &[1; 400]));
    says(load(&codec), &["codec.wav"]);
    let text =
        write(home.path(), "text.flac", "this is no sound at all, and never was, whatever its name may say");
    says(load(&text), &["text.flac", "WAV, FLAC or MP3"]);
    let whole = wav16(48_000, &ramp(2000));
    let cut = write(home.path(), "cut.wav", &whole[..whole.len() - 1001]);
    says(load(&cut), &["cut.wav"]);
    let mut flac = std::fs::read(fixture("tone.flac")).expect("the fixture");
    let middle = flac.len() / 2;
    flac[middle] ^= 0x10;
    let damaged = write(home.path(), "damaged.flac", &flac);
    says(load(&damaged), &["damaged.flac", "damaged"]);
    flac[middle] ^= 0x10;
    let cut = write(home.path(), "cut.flac", &flac[..flac.len() - 20]);
    says(load(&cut), &["cut.flac"]);
    let short = write(home.path(), "short.wav", wav16(48_000, &ramp(1199)));
    says(load_files(&[short], &FrameParams::default(), MemoryLimit::NONE, &mut quiet), &["1200"]);
    says(load(Path::new("no/such.wav")), &["no/such.wav"]);
    says(load_files(&[], &FrameParams::default(), MemoryLimit::NONE, &mut quiet), &["no audio files"]);
    let nan = write(home.path(), "nan.wav", wav(3, 1, 48_000, 32, &crate::support::f32s(&[0.0, f32::NAN])));
    says(load(&nan), &["nan.wav", "sample 1"]);
}

#[test]
fn folders_are_searched_and_sorted() {
    let home = folder();
    for name in ["b/2.wav", "b/1.WAV", "a.flac", "c/d/e.mp3", ".hidden.wav", "notes.txt"] {
        write(home.path(), name, "x");
    }
    let names: Vec<_> = list(home.path()).expect("files");
    let expected: Vec<_> =
        ["a.flac", "b/1.WAV", "b/2.wav", "c/d/e.mp3"].iter().map(|name| home.path().join(name)).collect();
    assert_eq!(names, expected);
}

#[test]
fn the_observer_stops_it() {
    let home = folder();
    let file = write(home.path(), "good.wav", wav16(48_000, &ramp(2000)));
    let stopped = load_files(&[file], &FrameParams::default(), MemoryLimit::NONE, &mut stop);
    assert!(matches!(stopped, Err(gambeson_data::error::DataError::Stopped)));
}
