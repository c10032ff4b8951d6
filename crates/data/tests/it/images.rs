use crate::support::{folder, quiet, says, write};
use gambeson_data::dataset::{Shape, Values};
use gambeson_data::format::images::{load, read};
use gambeson_lowrank::MemoryLimit;
use std::path::Path;

fn png(colour: png::ColorType, depth: png::BitDepth, (width, height): (u32, u32), pixels: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(colour);
    encoder.set_depth(depth);
    encoder.write_header().expect("a header").write_image_data(pixels).expect("pixels");
    bytes
}

fn rgb(size: (u32, u32), pixels: &[u8]) -> Vec<u8> {
    png(png::ColorType::Rgb, png::BitDepth::Eight, size, pixels)
}

fn fixture(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

#[test]
fn classes_are_folders_and_channels_are_planes() {
    let home = folder();
    let pixels: Vec<u8> = (0..12).collect();
    write(home.path(), "zebra/1.png", rgb((2, 2), &pixels));
    write(home.path(), "ant/2.PNG", rgb((2, 2), &[9; 12]));
    write(home.path(), "ant/1.png", rgb((2, 2), &[8; 12]));
    write(home.path(), "ant/notes.txt", "no image");
    let data = load(home.path(), MemoryLimit::NONE, &mut quiet).expect("images");
    assert_eq!(data.shape(), Shape { channels: 3, height: 2, width: 2 });
    assert_eq!(
        (data.classes(), data.labels()),
        (["ant".to_owned(), "zebra".to_owned()].as_slice(), Some([0, 0, 1].as_slice()))
    );
    let planes = [0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11];
    assert_eq!(data.values(), &Values::U8([[8; 12], [9; 12], planes].concat()));
}

#[test]
fn kinds_of_png_and_jpeg() {
    let home = folder();
    let grey = png(png::ColorType::Grayscale, png::BitDepth::Sixteen, (2, 1), &[0x12, 0x34, 0xff, 0xff]);
    let image = read(&write(home.path(), "16.png", grey), MemoryLimit::NONE).expect("an image");
    assert_eq!((image.shape.channels, image.pixels.as_slice()), (1, [0x12, 0xff].as_slice()));
    let opaque = png(png::ColorType::Rgba, png::BitDepth::Eight, (2, 1), &[1, 2, 3, 255, 4, 5, 6, 255]);
    assert_eq!(
        read(&write(home.path(), "opaque.png", opaque), MemoryLimit::NONE).expect("an image").pixels,
        [1, 4, 2, 5, 3, 6]
    );
    let clear =
        png(png::ColorType::GrayscaleAlpha, png::BitDepth::Eight, (2, 2), &[1, 255, 2, 255, 3, 255, 4, 254]);
    says(
        read(&write(home.path(), "clear.png", clear), MemoryLimit::NONE),
        &["clear.png", "row 1", "column 1"],
    );
    let colour = read(&fixture("colour.jpg"), MemoryLimit::NONE).expect("an image");
    assert_eq!(colour.shape, Shape { channels: 3, height: 8, width: 16 });
    for (plane, expected) in colour.pixels.chunks(128).zip([0xc0, 0x40, 0x20_i32]) {
        assert!(
            plane.iter().all(|&pixel| (i32::from(pixel) - expected).abs() <= 4),
            "{plane:?} for {expected}"
        );
    }
    let grey = read(&fixture("grey.jpg"), MemoryLimit::NONE).expect("an image");
    assert_eq!(grey.shape, Shape { channels: 1, height: 8, width: 16 });
    assert!(grey.pixels.iter().all(|&pixel| (i32::from(pixel) - 0x80).abs() <= 4), "{:?}", grey.pixels);
}

#[test]
fn bad_folders_are_refused() {
    let home = folder();
    write(home.path(), "a/1.png", rgb((2, 2), &[0; 12]));
    write(home.path(), "b/2.png", rgb((1, 2), &[0; 6]));
    says(load(home.path(), MemoryLimit::NONE, &mut quiet), &["1.png", "3 x 2 x 2", "2.png", "3 x 2 x 1"]);
    write(home.path(), "b/2.png", std::fs::read(fixture("grey.jpg")).expect("the fixture"));
    says(load(home.path(), MemoryLimit::NONE, &mut quiet), &["1.png", "2.png", "1 x 8 x 16"]);
    let whole = rgb((2, 2), &[0; 12]);
    write(home.path(), "b/2.png", &whole[..whole.len() - 20]);
    says(load(home.path(), MemoryLimit::NONE, &mut quiet), &["2.png", "PNG"]);
    let jpeg = std::fs::read(fixture("grey.jpg")).expect("the fixture");
    write(home.path(), "b/2.png", &jpeg[..jpeg.len() / 4]);
    says(load(home.path(), MemoryLimit::NONE, &mut quiet), &["2.png", "JPEG"]);
    write(home.path(), "b/2.png", "text");
    says(load(home.path(), MemoryLimit::NONE, &mut quiet), &["2.png", "not a PNG or JPEG"]);
    write(home.path(), "b/2.png", &whole);
    write(home.path(), "stray.png", &whole);
    says(load(home.path(), MemoryLimit::NONE, &mut quiet), &["stray.png", "sub-folder"]);
}

/// A decoder may take a palette for granted that ends within a colour.
#[test]
fn a_palette_of_half_colours_is_refused() {
    let home = folder();
    let mut encoded = Vec::new();
    let mut encoder = png::Encoder::new(&mut encoded, 2, 2);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_palette(vec![7; 18]);
    encoder.write_header().expect("a header").write_image_data(&[5; 4]).expect("pixels");
    write(home.path(), "a/whole.png", &encoded);
    let whole = read(&home.path().join("a/whole.png"), MemoryLimit::NONE).expect("an image");
    assert_eq!((whole.shape.channels, &whole.pixels), (3, &vec![7; 12]));
    // The sixth colour is cut short, and the checksum made anew.
    let at = encoded.windows(4).position(|kind| kind == b"PLTE").expect("a palette");
    let (data, after) = (at + 4, at + 4 + 18 + 4);
    let mut cut = encoded[..at - 4].to_vec();
    cut.extend(16_u32.to_be_bytes());
    let chunk = &encoded[at..data + 16];
    cut.extend(chunk);
    cut.extend(crc(chunk).to_be_bytes());
    cut.extend(&encoded[after..]);
    write(home.path(), "a/cut.png", &cut);
    says(read(&home.path().join("a/cut.png"), MemoryLimit::NONE), &["not whole colours of three bytes"]);
}

/// CRC-32 as PNG has it.
fn crc(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
    !bytes.iter().fold(u32::MAX, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), step))
}
