use crate::support::{quiet, reference};
use gambeson_learn::audio::{FrameParams, decode, list, load_files};
use std::process::Command;

/// Every speech file against the samples ffmpeg finds in it, where ffmpeg is at hand; else against their number alone.
#[test]
fn speech_is_decoded_exactly() {
    let Some(home) = reference() else { return };
    let files = list(&home.join("speech")).expect("files");
    let data = load_files(&files, &FrameParams::default(), &mut quiet).expect("frames");
    assert_eq!((files.len(), data.shape().width), (820, 1200));
    assert_eq!(data.len(), data.sources().iter().map(|source| source.samples).sum::<usize>());
    for path in files.iter().step_by(97) {
        let sound = decode(path).expect("sound");
        assert_eq!(sound.rate, 48_000);
        let raw = Command::new("ffmpeg")
            .args(["-loglevel", "error", "-i"])
            .arg(path)
            .args(["-f", "s16le", "-"])
            .output();
        let Ok(raw) = raw else { continue };
        let expected: Vec<i16> =
            raw.stdout.chunks_exact(2).map(|pair| i16::from_le_bytes([pair[0], pair[1]])).collect();
        assert!(sound.samples == expected, "{}", path.display());
    }
}
