//! Small pictures inside a page: PNG as data URIs, grey where they are grey.

use crate::base64;
use crate::figure::{FigureError, Pixels};
use png::{BitDepth, ColorType, Compression, Encoder};

/// A picture as a data URI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PictureUri(String);

impl PictureUri {
    /// Encodes pixels without loss.
    pub fn new(pixels: &Pixels) -> Result<Self, FigureError> {
        let (colours, _) = pixels.rgb.as_chunks::<3>();
        let grey = colours.iter().all(|[red, green, blue]| red == green && green == blue);
        let values: Vec<u8> =
            if grey { colours.iter().map(|colour| colour[0]).collect() } else { pixels.rgb.clone() };
        let size = |length: usize| u32::try_from(length).unwrap_or(0);
        let failed = |error: png::EncodingError| FigureError::Encoding(error.to_string());
        let mut bytes = Vec::new();
        let mut encoder = Encoder::new(&mut bytes, size(pixels.width), size(pixels.height));
        encoder.set_color(if grey { ColorType::Grayscale } else { ColorType::Rgb });
        encoder.set_depth(BitDepth::Eight);
        encoder.set_compression(Compression::High);
        let mut writer = encoder.write_header().map_err(failed)?;
        writer.write_image_data(&values).map_err(failed)?;
        writer.finish().map_err(failed)?;
        Ok(Self(format!("data:image/png;base64,{}", base64::encode(&bytes))))
    }

    /// As it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Letters of the URI.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Never true.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// An `img` of these sides in pixels of the screen.
    pub(super) fn img(&self, alt: &str, class: &str) -> String {
        format!("<img class=\"{class}\" src=\"{}\" alt=\"{}\">", self.0, crate::markup::escape(alt))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(uri: &PictureUri) -> (ColorType, Vec<u8>) {
        let bytes =
            base64::decode(uri.0.strip_prefix("data:image/png;base64,").expect("a PNG")).expect("base64");
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().expect("a PNG");
        let mut values = vec![0; reader.output_buffer_size().expect("small")];
        let info = reader.next_frame(&mut values).expect("a picture");
        (info.color_type, values)
    }

    #[test]
    fn pictures_keep_every_value() {
        let grey = Pixels::of_values(1, 2, 3, &[0.0, 0.2, 0.4, 0.6, 0.8, 1.0]);
        assert_eq!(
            decoded(&PictureUri::new(&grey).expect("encoded")),
            (ColorType::Grayscale, vec![0, 51, 102, 153, 204, 255])
        );
        let colours = Pixels { width: 1, height: 2, rgb: vec![1, 2, 3, 250, 251, 252] };
        assert_eq!(
            decoded(&PictureUri::new(&colours).expect("encoded")),
            (ColorType::Rgb, colours.rgb.clone())
        );
        assert!(PictureUri::new(&Pixels { width: 0, height: 0, rgb: Vec::new() }).is_err());
    }
}
