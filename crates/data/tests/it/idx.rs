use crate::support::{folder, idx, quiet, says, write};
use gambeson_data::dataset::{Shape, Split, Values};
use gambeson_data::format::idx::load;
use gambeson_data::{format::fashion, source};
use gambeson_lowrank::MemoryLimit;
use std::io::Write;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("written");
    encoder.finish().expect("finished")
}

#[test]
fn images_find_their_labels() {
    let home = folder();
    let pixels: Vec<u8> = (0..24).collect();
    let images = write(home.path(), "train-images-idx3-ubyte", idx(&[4, 2, 3], &pixels));
    assert!(load(&images, MemoryLimit::NONE, &mut quiet).expect("images").labels().is_none());
    write(home.path(), "train-labels-idx1-ubyte.gz", gzip(&idx(&[4], &[0, 2, 1, 2])));
    let data = load(&images, MemoryLimit::NONE, &mut quiet).expect("images");
    assert_eq!(data.shape(), Shape { channels: 1, height: 2, width: 3 });
    assert_eq!((data.labels(), data.classes().len()), (Some([0, 2, 1, 2].as_slice()), 3));
    assert_eq!(data.values(), &Values::U8(pixels.clone()));
    // The folder has a part for training and none to test on.
    let mut options = source::LoadOptions::new(home.path().join("none"));
    let name = home.path().to_str().expect("text").to_owned();
    assert_eq!(source::load(&name, &options, &mut quiet).expect("the part").sha256(), data.sha256());
    options.split = Split::Test;
    says(source::load(&name, &options, &mut quiet), &["test"]);
    write(home.path(), "t10k-images.idx3-ubyte.gz", gzip(&idx(&[1, 2, 3], &pixels[..6])));
    assert_eq!(source::load(&name, &options, &mut quiet).expect("the part").len(), 1);
}

#[test]
fn damaged_files_are_refused() {
    let home = folder();
    let good = idx(&[2, 2, 2], &[7; 8]);
    let refused = |name: &str, bytes: &[u8], words: &[&str]| {
        let path = write(home.path(), name, bytes);
        says(load(&path, MemoryLimit::NONE, &mut quiet), &[&[name], words].concat());
    };
    refused("cut", &good[..20], &["24", "20"]);
    refused("head", &good[..9], &["16", "9"]);
    refused("longer", &[good.as_slice(), &[1]].concat(), &["24", "25"]);
    refused("flat", &idx(&[8], &[7; 8]), &["1 dimension"]);
    refused("other", b"\x01\x02\x03\x04 and more of it", &["IDX"]);
    refused("huge", &idx(&[u32::MAX, u32::MAX, u32::MAX], &[7; 8]), &["bytes expected"]);
    refused("empty", &idx(&[0, 28, 28], &[]), &["no samples"]);
    let packed = gzip(&good);
    refused("packed", &packed[..packed.len() - 9], &["gzip"]);
    write(home.path(), "x-labels-idx1-ubyte", idx(&[3], &[0; 3]));
    let path = write(home.path(), "x-images-idx3-ubyte", &good);
    says(load(&path, MemoryLimit::NONE, &mut quiet), &["x-labels-idx1-ubyte", "3 labels", "2 samples"]);
    for at in 0..good.len() {
        let mut flipped = good.clone();
        flipped[at] ^= 0x40;
        let path = write(home.path(), "flipped", flipped);
        let _ = load(&path, MemoryLimit::NONE, &mut quiet); // data or an error, but no panic
    }
}

/// Means and deviations by Python from the first images of the whole set's own files: with b the bytes after the header,
/// `m = sum(b)/len(b); m/255, (sum(v*v for v in b)/len(b) - m*m)**.5/255`.
#[test]
fn the_built_in_set_is_whole() {
    for (split, samples, mean, deviation) in [
        (Split::Train, 6000, 0.285_672_834, 0.353_686_071),
        (Split::Test, 1000, 0.290_286_860, 0.354_699_979),
    ] {
        let data = fashion::load(split).expect("built in");
        assert_eq!((data.len(), data.shape().len(), data.classes().len()), (samples, 784, 10));
        let found = gambeson_data::statistics::channel_statistics(&data)[0];
        assert!((found.mean - mean).abs() < 1e-9 && (found.deviation - deviation).abs() < 1e-9, "{found:?}");
    }
    // The very first image of Fashion-MNIST is an ankle boot.
    let first = fashion::load(Split::Train).expect("built in");
    assert_eq!(first.classes()[usize::from(first.labels().expect("labels")[0])], "Ankle boot");
}
