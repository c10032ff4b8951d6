use crate::support::{folder, quiet, says};
use gambeson_data::dataset::Split;
use gambeson_data::fetch::{Provider, fetch, is_installed};
use gambeson_data::format::audio::{FrameParams, decode, list, load_files};
use gambeson_data::format::cifar::{Cifar, coarse_classes, coarse_labels};
use gambeson_data::source::{LoadOptions, data_dir, load};
use gambeson_data::statistics::channel_statistics;
use gambeson_lowrank::MemoryLimit;
use gambeson_testing::{reference_data, skipped};
use std::process::Command;

/// Every speech file against the samples ffmpeg finds in it, where ffmpeg is at hand; else against their number alone.
#[test]
fn speech_is_decoded_exactly() {
    let Some(home) = reference_data("") else { return };
    let files = list(&home.join("speech")).expect("files");
    let data = load_files(&files, &FrameParams::default(), MemoryLimit::NONE, &mut quiet).expect("frames");
    assert_eq!((files.len(), data.shape().width), (820, 1200));
    assert_eq!(data.len(), data.sources().iter().map(|source| source.samples).sum::<usize>());
    for path in files.iter().step_by(97) {
        let sound = decode(path, MemoryLimit::NONE).expect("sound");
        assert_eq!(sound.rate, 48_000);
        let raw = Command::new("ffmpeg")
            .args(["-loglevel", "error", "-i"])
            .arg(path)
            .args(["-f", "s16le", "-"])
            .output();
        let Ok(raw) = raw else {
            skipped("in part: there is no ffmpeg to compare with");
            return;
        };
        let expected: Vec<i16> =
            raw.stdout.chunks_exact(2).map(|pair| i16::from_le_bytes([pair[0], pair[1]])).collect();
        assert!(sound.samples == expected, "{}", path.display());
    }
}

/// CIFAR-100 from the archive at hand: 600 images per class, and label names that fit the archive's.
#[test]
fn cifar_100_is_installed_and_read() {
    let Some(home) = reference_data("") else { return };
    let data_dir = folder();
    let archive = home.join("cifar-100-binary.tar.xz");
    let fetched =
        fetch(Cifar::Hundred, &[Provider::File(archive)], data_dir.path(), &mut quiet).expect("installed");
    let installed = fetched.folder;
    assert!(is_installed(Cifar::Hundred, data_dir.path(), &mut quiet).expect("looked"));
    let mut options = LoadOptions::new(data_dir.path().to_owned());
    for (split, each) in [(Split::Test, 100), (Split::Train, 500)] {
        options.split = split;
        let data = load("cifar100", &options, &mut quiet).expect("loaded");
        let mut counts = [0; 100];
        data.labels().expect("labels").iter().for_each(|&label| counts[usize::from(label)] += 1);
        assert_eq!(counts, [each; 100]);
        // Each fine class lies in one coarse class.
        let coarse = coarse_labels(&installed, split).expect("labels");
        let mut of_fine = [None; 100];
        for (&fine, coarse) in data.labels().expect("labels").iter().zip(coarse) {
            assert_eq!(*of_fine[usize::from(fine)].get_or_insert(coarse), coarse);
        }
        let names = |coarse| {
            (0..100).filter(move |&fine| of_fine[fine] == Some(coarse)).map(|fine| &data.classes()[fine])
        };
        let trees = coarse_classes().iter().position(|name| name == "trees").expect("a superclass");
        let trees: Vec<_> = names(u16::try_from(trees).expect("small")).collect();
        assert_eq!(trees, ["maple_tree", "oak_tree", "palm_tree", "pine_tree", "willow_tree"]);
    }
    // One flipped bit in the middle of a file.
    let path = installed.join("test.bin");
    let mut bytes = std::fs::read(&path).expect("there");
    bytes[15_000_000] ^= 4;
    std::fs::write(&path, bytes).expect("written");
    options.split = Split::Test;
    says(load("cifar100", &options, &mut quiet), &["test.bin", "checksum", "d8b1e6b7"]);
    assert!(!is_installed(Cifar::Hundred, data_dir.path(), &mut quiet).expect("looked"));
}

/// The means and deviations everybody uses, where `gambeson data fetch cifar10` has been run.
#[test]
fn cifar_10_has_its_well_known_moments() {
    let installed = data_dir().filter(|folder| folder.join("cifar10").is_dir());
    let Some(data_dir) = installed else {
        skipped("cifar10 is not in the data directory (GAMBESON_DATA)");
        return;
    };
    let data = load("cifar10", &LoadOptions::new(data_dir), &mut quiet).expect("loaded");
    assert_eq!((data.len(), data.shape().len()), (50_000, 3072));
    let expected = [(0.4914, 0.2470), (0.4822, 0.2435), (0.4465, 0.2616)];
    for (found, (mean, deviation)) in channel_statistics(&data).iter().zip(expected) {
        assert!((found.mean - mean).abs() < 5e-5 && (found.deviation - deviation).abs() < 5e-5, "{found:?}");
    }
}
