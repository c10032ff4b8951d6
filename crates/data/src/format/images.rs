//! Folders of images by class: PNG and JPEG files in one sub-folder per class.
//!
//! Classes are the sub-folders in the order of their names, samples the files in the order of their paths. Grey images
//! have one channel and coloured ones three (red, green, blue); 16-bit PNG files are cut to 8 bits. An alpha channel is
//! dropped where it is opaque throughout and an error otherwise. All images must have one shape. The format
//! of a file is told from its content; which files of a folder are images, from their names (`.png`, `.jpg`, `.jpeg`).

use crate::dataset::{Dataset, DatasetParts, Shape, Values};
use crate::error::{DataError, ImageProblem};
use crate::file::{base_name, read_error, report, walk};
use crate::progress::{LoadProgress, Stage};
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::observe::Observer;
use rayon::prelude::*;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use zune_jpeg::zune_core::bytestream::ZCursor;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

/// Whether a file name ends like that of an image that is read.
pub fn has_image_name(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    ["png", "jpg", "jpeg"].iter().any(|known| ending.eq_ignore_ascii_case(known))
}

/// One image: planes by channel, rows from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Channels (1 or 3), rows, columns.
    pub shape: Shape,
    /// As many as the shape says: channel, row, column.
    pub pixels: Vec<u8>,
}

/// Reads a folder with one sub-folder of images per class. Images are decoded in parallel; one beyond `memory` is refused.
pub fn load(
    folder: &Path,
    memory: MemoryLimit,
    observer: &mut dyn Observer<LoadProgress>,
) -> Result<Dataset, DataError> {
    let mut files = walk(folder)?;
    files.retain(|file| has_image_name(file));
    let of_image = |path: &Path, reason| DataError::Image { path: path.to_owned(), reason };
    let (mut classes, mut labels): (Vec<String>, Vec<u16>) = (Vec::new(), Vec::new());
    for file in &files {
        let mut below = file.strip_prefix(folder).unwrap_or(file).components();
        let (class, rest) = (below.next(), below.next());
        let (Some(class), Some(_)) = (class, rest) else {
            return Err(of_image(file, ImageProblem::NoClass));
        };
        let class = class.as_os_str().to_string_lossy();
        if classes.last().is_none_or(|last| *last != class) {
            classes.push(class.into_owned()); // files are sorted, so a class comes in one piece
        }
        let index = classes.len() - 1;
        labels
            .push(u16::try_from(index).map_err(|_| of_image(file, ImageProblem::TooManyClasses { index }))?);
    }
    let Some(first) = files.first() else {
        return Err(DataError::EmptyFolder { path: folder.to_owned() });
    };
    let (shape, pixels) = pixels(first, &files, memory, observer)?;
    let parts = DatasetParts {
        name: base_name(folder),
        shape,
        values: Values::U8(pixels),
        labels: Some(labels),
        classes,
        sources: Vec::new(),
    };
    Dataset::new(parts).map_err(|reason| DataError::Content { path: folder.to_owned(), reason })
}

/// The shape that all files have, and their pixels.
fn pixels(
    first: &Path,
    files: &[PathBuf],
    memory: MemoryLimit,
    observer: &mut dyn Observer<LoadProgress>,
) -> Result<(Shape, Vec<u8>), DataError> {
    let total = Some(files.len() as u64);
    report(observer, Stage::Decode, 0, total)?;
    let (mut shape, mut pixels, mut done) = (None, Vec::new(), 0);
    // In portions, so that the observer, which belongs to one thread, is asked in between.
    for portion in files.chunks(64 * rayon::current_num_threads()) {
        let images: Vec<_> = portion.par_iter().map(|path| read(path, memory)).collect();
        for (image, path) in images.into_iter().zip(portion) {
            let image = image?;
            let known = *shape.get_or_insert(image.shape);
            if known != image.shape {
                return Err(DataError::ShapesDiffer {
                    first: first.to_owned(),
                    first_shape: known,
                    second: path.clone(),
                    second_shape: image.shape,
                });
            }
            pixels.extend(image.pixels);
        }
        done += portion.len() as u64;
        report(observer, Stage::Decode, done, total)?;
    }
    Ok((shape.unwrap_or(Shape { channels: 0, height: 0, width: 0 }), pixels))
}

/// Reads a PNG or JPEG file.
pub fn read(path: &Path, memory: MemoryLimit) -> Result<Image, DataError> {
    let bytes = memory.read_file(path).map_err(read_error(path))?;
    decode(&bytes, memory).map_err(|reason| DataError::Image { path: path.to_owned(), reason })
}

/// Decodes a PNG or JPEG file.
pub fn decode(bytes: &[u8], memory: MemoryLimit) -> Result<Image, ImageProblem> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => decode_png(bytes, memory)?.planes(),
        [0xff, 0xd8, 0xff, ..] => {
            decode_jpeg(bytes, memory).map_err(|reason| ImageProblem::Jpeg { reason })?.planes()
        }
        _ => Err(ImageProblem::UnknownFormat),
    }
}

/// Pixels with their channels side by side.
pub(crate) struct Interleaved {
    pub(crate) channels: usize,
    pub(crate) height: usize,
    pub(crate) width: usize,
    pub(crate) pixels: Vec<u8>,
}

impl Interleaved {
    /// One plane per channel, without alpha.
    fn planes(self) -> Result<Image, ImageProblem> {
        let Self { channels, height, width, pixels } = self;
        let coloured = channels - usize::from(channels % 2 == 0); // 2 and 4 have alpha as their last
        if coloured < channels
            && let Some(at) = pixels.chunks_exact(channels).position(|pixel| pixel[coloured] != u8::MAX)
        {
            return Err(ImageProblem::Transparent { row: at / width, column: at % width });
        }
        let planes = (0..coloured)
            .flat_map(|channel| pixels.iter().skip(channel).step_by(channels))
            .copied()
            .collect();
        Ok(Image { shape: Shape { channels: coloured, height, width }, pixels: planes })
    }
}

/// Whether a PNG file has a palette that is not whole triples of bytes, which its decoder does not survive.
fn has_broken_palette(bytes: &[u8]) -> bool {
    const AROUND: usize = 12; // length, kind and checksum of a chunk
    let mut rest = bytes.get(8..).unwrap_or_default();
    while let Some((&[a, b, c, d, ref kind @ ..], _)) = rest.split_first_chunk::<8>() {
        let length = u32::from_be_bytes([a, b, c, d]) as usize;
        if kind == b"PLTE" && !length.is_multiple_of(3) {
            return true;
        }
        rest = rest.get(length.saturating_add(AROUND)..).unwrap_or_default();
    }
    false
}

/// A PNG file as 8-bit pixels with 1 to 4 channels.
pub(crate) fn decode_png(bytes: &[u8], memory: MemoryLimit) -> Result<Interleaved, ImageProblem> {
    if has_broken_palette(bytes) {
        return Err(ImageProblem::Palette);
    }
    let limit = memory.limit();
    let damaged = |reason| match reason {
        png::DecodingError::LimitsExceeded => ImageProblem::TooLarge { limit },
        reason => ImageProblem::Png { reason },
    };
    let mut decoder = png::Decoder::new(Cursor::new(bytes));
    decoder.set_transformations(png::Transformations::EXPAND | png::Transformations::STRIP_16);
    let mut reader = decoder.read_info().map_err(damaged)?;
    // Once as pixels and once as planes.
    let size = reader.output_buffer_size().filter(|&size| size as u64 <= limit / 2);
    let size = size.ok_or(ImageProblem::TooLarge { limit })?;
    let mut pixels = Vec::new();
    pixels.try_reserve_exact(size).map_err(|_| ImageProblem::TooLarge { limit })?;
    pixels.resize(size, 0);
    let info = reader.next_frame(&mut pixels).map_err(damaged)?;
    pixels.truncate(info.buffer_size());
    let (height, width) = (info.height as usize, info.width as usize);
    Ok(Interleaved { channels: info.color_type.samples(), height, width, pixels })
}

fn decode_jpeg(bytes: &[u8], memory: MemoryLimit) -> Result<Interleaved, zune_jpeg::errors::DecodeErrors> {
    let mut decoder = zune_jpeg::JpegDecoder::new(ZCursor::new(bytes));
    decoder.decode_headers()?;
    let grey = decoder.input_colorspace() == Some(ColorSpace::Luma);
    let space = if grey { ColorSpace::Luma } else { ColorSpace::RGB };
    decoder.set_options(DecoderOptions::default().jpeg_set_out_colorspace(space));
    let (width, height) = decoder.dimensions().unwrap_or((0, 0));
    if (width as u64).saturating_mul(height as u64).saturating_mul(3) > memory.limit() / 2 {
        return Err(zune_jpeg::errors::DecodeErrors::FormatStatic("larger than the memory limit"));
    }
    let pixels = decoder.decode()?;
    let (width, height) = decoder.dimensions().unwrap_or((0, 0));
    Ok(Interleaved { channels: if grey { 1 } else { 3 }, height, width, pixels })
}
