//! PNG and JPEG files.

use super::fixture;
use super::repair::crc32;
use crate::answer::{Answer, answer, either};
use crate::drive::MEMORY;
use gambeson_data::fetch::package::convert_png;
use gambeson_data::format::images::decode;

/// An image, also as a row of the npm package.
pub(super) fn images(bytes: &[u8]) -> Answer {
    let image = decode(bytes, MEMORY);
    let known = image
        .as_ref()
        .map(|image| format!("channels {}", ["none", "grey", "", "coloured"][image.shape.channels.min(3)]));
    let labels = vec![3; image.as_ref().map_or(1, |image| image.shape.height.clamp(1, 64))];
    let records = convert_png(bytes, &labels).map_err(|(found, expected)| format!("{found}, not {expected}"));
    either(known.map_err(ToString::to_string), answer(records))
}

/// Colour types of PNG.
const GREY: u8 = 0;
const COLOURED: u8 = 2;
const PALETTE: u8 = 3;
const GREY_ALPHA: u8 = 4;
const COLOURED_ALPHA: u8 = 6;

/// A PNG file with these chunks between the header and the pixels, which are not compressed.
fn png(
    width: u32,
    height: u32,
    depth: u8,
    colour: u8,
    interlaced: bool,
    before: &[(&[u8; 4], Vec<u8>)],
) -> Vec<u8> {
    let samples = match colour {
        COLOURED => 3,
        GREY_ALPHA => 2,
        COLOURED_ALPHA => 4,
        _ => 1,
    };
    let bits = samples * u32::from(depth);
    // Of each pass: the first column and row, and the steps between them.
    let passes: &[[u32; 4]] = if interlaced {
        &[[0, 0, 8, 8], [4, 0, 8, 8], [0, 4, 4, 8], [2, 0, 4, 4], [0, 2, 2, 4], [1, 0, 2, 2], [0, 1, 1, 2]]
    } else {
        &[[0, 0, 1, 1]]
    };
    let mut rows = Vec::new();
    for &[x, y, across, down] in passes {
        let columns = width.saturating_sub(x).div_ceil(across);
        let lines = if columns == 0 { 0 } else { height.saturating_sub(y).div_ceil(down) };
        for _ in 0..lines {
            rows.push(0); // no filter
            // All ones is white, opaque, and in any palette of as many colours.
            rows.extend(std::iter::repeat_n(0xff, (columns * bits).div_ceil(8) as usize));
        }
    }
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut chunk = |name: &[u8; 4], data: &[u8]| {
        let inner = [&name[..], data].concat();
        file.extend(u32::try_from(data.len()).unwrap_or(0).to_be_bytes());
        file.extend(&inner);
        file.extend(crc32(&inner).to_be_bytes());
    };
    let header =
        [&width.to_be_bytes()[..], &height.to_be_bytes(), &[depth, colour, 0, 0, u8::from(interlaced)]];
    chunk(b"IHDR", &header.concat());
    before.iter().for_each(|(name, data)| chunk(name, data));
    chunk(b"IDAT", &not_compressed(&rows));
    chunk(b"IEND", &[]);
    file
}

/// A zlib stream of one block that is stored as it is.
fn not_compressed(bytes: &[u8]) -> Vec<u8> {
    const MODULUS: u32 = 65_521;
    let (a, b) = bytes.iter().fold((1, 0), |(a, b), &byte| {
        let a = (a + u32::from(byte)) % MODULUS;
        (a, (b + a) % MODULUS)
    });
    let length = u16::try_from(bytes.len()).unwrap_or(0);
    let head = [&[0x78, 0x01, 0x01][..], &length.to_le_bytes(), &(!length).to_le_bytes()].concat();
    [&head, bytes, &(b << 16 | a).to_be_bytes()].concat()
}

/// Every colour type, depths, interlacing, palettes with and without transparency; a row of the npm package; JPEG.
pub(super) fn pictures() -> Vec<Vec<u8>> {
    let palette: Vec<u8> = (0..48).collect();
    vec![
        png(1, 1, 8, GREY, false, &[]),
        png(8, 8, 1, GREY, true, &[]),
        png(3, 2, 16, GREY, false, &[]),
        png(3, 2, 8, COLOURED, false, &[]),
        png(5, 5, 16, COLOURED, true, &[]),
        png(3, 2, 8, COLOURED, false, &[(b"tRNS", vec![0; 6])]),
        png(3, 2, 4, PALETTE, false, &[(b"PLTE", palette.clone())]),
        png(3, 2, 4, PALETTE, true, &[(b"PLTE", palette), (b"tRNS", vec![0xff; 16])]),
        png(3, 2, 8, GREY_ALPHA, false, &[]),
        png(3, 2, 16, COLOURED_ALPHA, true, &[]),
        png(1024, 2, 8, COLOURED, false, &[]),
        fixture("data/tests/fixtures/grey.jpg"),
        fixture("data/tests/fixtures/colour.jpg"),
    ]
}
