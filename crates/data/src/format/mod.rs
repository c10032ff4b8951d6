//! One file per format.

pub mod array;
pub mod audio;
pub mod cifar;
pub mod fashion;
pub mod idx;
pub mod images;
