//! Samples of a data set as small pictures.

use gambeson_data::dataset::Dataset;
use gambeson_report::figure::Pixels;
use gambeson_report::page::PictureUri;

/// The longer side of a thumbnail, at most: larger images are averaged over squares.
const SIDE: usize = 48;

/// Whether samples look like something: images of one or three channels.
pub(super) fn are_images(data: &Dataset) -> bool {
    let shape = data.shape();
    shape.height > 1 && shape.width > 1 && matches!(shape.channels, 1 | 3)
}

/// A sample as a picture; `None` where there is no such sample.
pub(super) fn thumbnail(data: &Dataset, index: u64) -> Option<PictureUri> {
    let index = usize::try_from(index).ok().filter(|&index| index < data.len())?;
    let shape = data.shape();
    let mut values = vec![0.0; shape.len()];
    data.sample_f64(index, &mut values);
    let factor = shape.height.max(shape.width).div_ceil(SIDE);
    let (height, width) = (shape.height.div_ceil(factor), shape.width.div_ceil(factor));
    let mut small = Vec::with_capacity(shape.channels * height * width);
    for channel in values.chunks_exact(shape.height * shape.width) {
        for (row, column) in (0..height).flat_map(|row| (0..width).map(move |column| (row, column))) {
            let rows = row * factor..((row + 1) * factor).min(shape.height);
            let columns = column * factor..((column + 1) * factor).min(shape.width);
            let count = (rows.len() * columns.len()) as f64;
            let sum: f64 = rows.flat_map(|row| &channel[row * shape.width..][columns.clone()]).sum();
            small.push(sum / count);
        }
    }
    PictureUri::new(&Pixels::of_values(shape.channels, height, width, &small)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gambeson_data::dataset::{DatasetParts, Shape, Values};

    fn data(shape: Shape, values: Vec<u8>) -> Dataset {
        let (labels, classes, sources) = (None, Vec::new(), Vec::new());
        let values = Values::U8(values);
        Dataset::new(DatasetParts { name: "x".to_owned(), shape, values, labels, classes, sources })
            .expect("data")
    }

    #[test]
    fn large_images_are_averaged_and_small_ones_kept() {
        let shape = Shape { channels: 1, height: 96, width: 97 };
        let large = data(shape, (0..shape.len()).map(|at| if at % 2 == 0 { 0 } else { 200 }).collect());
        let small = thumbnail(&large, 0).expect("a picture");
        assert!(are_images(&large) && small.len() < 6000, "{} letters", small.len());
        assert!(thumbnail(&large, 1).is_none());
        let frames = data(Shape { channels: 1, height: 1, width: 4 }, vec![0; 8]);
        assert!(!are_images(&frames));
    }
}
