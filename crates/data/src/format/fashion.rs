//! The built-in set, so that everything runs without fetching anything: the first 6,000 training images and the
//! first 1,000 test images of Fashion-MNIST (Xiao, Rasul, Vollgraf, 2017; <https://github.com/zalandoresearch/fashion-mnist>),
//! 28 × 28 grey pixels, 10 classes of clothing.
//!
//! Copyright 2017 Zalando SE, MIT licence; its text is in `data/LICENSE-fashion-mnist`. It is a part of the set, in the
//! set's own order, so results on it are not results on Fashion-MNIST and bear the name `fashion`.

use crate::dataset::{Dataset, DatasetParts, Shape, SourceFile, Split, Values};
use crate::error::{DataError, IdxProblem};
use crate::file::unxz;
use crate::format::idx::{self, Idx};
use gambeson_lowrank::MemoryLimit;
use std::path::Path;

/// IDX files, compressed with xz; made by `data/make_fashion.py`.
const TRAIN: (&[u8], &[u8]) = (
    include_bytes!("../../data/fashion-train-images-idx3-ubyte.xz"),
    include_bytes!("../../data/fashion-train-labels-idx1-ubyte.xz"),
);
const TEST: (&[u8], &[u8]) = (
    include_bytes!("../../data/fashion-t10k-images-idx3-ubyte.xz"),
    include_bytes!("../../data/fashion-t10k-labels-idx1-ubyte.xz"),
);

/// Names of the classes in the order of their labels, as the authors give them.
pub const CLASSES: [&str; 10] = [
    "T-shirt/top",
    "Trouser",
    "Pullover",
    "Dress",
    "Coat",
    "Sandal",
    "Shirt",
    "Sneaker",
    "Bag",
    "Ankle boot",
];

/// A part of the built-in set: 6,000 or 1,000 images of 1 × 28 × 28.
pub fn load(split: Split) -> Result<Dataset, DataError> {
    let (images, labels) = match split {
        Split::Train => TRAIN,
        Split::Test => TEST,
    };
    let at_home = |reason| DataError::Idx { path: Path::new("fashion (built in)").to_owned(), reason };
    let images = unpack(images, 3).map_err(at_home)?;
    let labels = unpack(labels, 1).map_err(at_home)?;
    let name = format!("fashion-{}", split.name());
    let parts = DatasetParts {
        sources: vec![SourceFile { name: name.clone(), samples: labels.elements.len() }],
        name,
        shape: Shape { channels: 1, height: 28, width: 28 },
        values: Values::U8(images.elements),
        labels: Some(labels.elements.into_iter().map(u16::from).collect()),
        classes: CLASSES.iter().map(ToString::to_string).collect(),
    };
    Dataset::new(parts).map_err(|reason| DataError::Content { path: "fashion (built in)".into(), reason })
}

fn unpack(bytes: &[u8], dimensions: u8) -> Result<Idx, IdxProblem> {
    idx::parse(&mut unxz(Box::new(bytes), false), dimensions, MemoryLimit::NONE)
}
