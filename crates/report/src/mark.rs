//! What tells files of this program from those of others, so that it replaces only its own unasked.

/// A comment in Markdown, HTML and SVG.
pub const MARKUP: &str = "<!-- made by gambeson -->";
/// A comment in LaTeX.
pub const LATEX: &str = "% made by gambeson";
/// A comment in manual pages.
pub const MANUAL: &str = ".\\\" made by gambeson";
/// A line in the head of an HTML page.
pub const PAGE: &str = "<meta name=\"generator\" content=\"gambeson\">";
/// How a CSV of certified accuracies begins.
pub const SCORES: &str = "source,images,acr,abstained,";
/// How a graph begins: the version of the format, then who made it.
pub const ONNX: &[u8] = b"\x08\x07\x12\x08gambeson";
/// A chunk of a PNG: its length, type, content, and a checksum of type and content.
pub const PNG: &[u8] = b"\0\0\0\x11tEXtSoftware\0gambeson\x9a\xef\xe0\x02";
/// Bytes of the signature and of the first chunk, which has the sizes.
pub const PNG_PLACE: usize = 33;

/// The bytes of a PNG with the mark.
pub fn marked(mut png: Vec<u8>) -> Vec<u8> {
    let place = PNG_PLACE.min(png.len());
    png.splice(place..place, PNG.iter().copied());
    png
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chunk_has_its_length_and_checksum() {
        let (length, rest) = PNG.split_first_chunk::<4>().expect("a chunk");
        let (content, checksum) = rest.split_last_chunk::<4>().expect("a chunk");
        assert_eq!(u32::from_be_bytes(*length) as usize, content.len() - b"tEXt".len());
        // ISO 3309, bit by bit.
        let crc =
            content.iter().fold(u32::MAX, |crc, &byte| {
                (0..8).fold(crc ^ u32::from(byte), |crc, _| {
                    if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 }
                })
            });
        assert_eq!(u32::from_be_bytes(*checksum), !crc);
    }
}
