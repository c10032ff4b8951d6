//! Data sets for certified robustness: one type, [`dataset::Dataset`], and the many places it comes from.
//!
//! [`source::load`] takes what `--data` names. Behind it: the CIFAR sets in their official binary layout
//! ([`cifar`]), a part of Fashion-MNIST that is built in ([`fashion`]), IDX files ([`idx`]), numpy arrays
//! ([`array`]), folders of images by class ([`images`]), audio files cut into frames ([`audio`]), and sets imported
//! before ([`store`]). [`fetch`] brings the CIFAR sets into the data directory.
//!
//! What is known by name is verified by SHA-256 each time it is read. Nothing is trusted for what its header merely
//! claims, and nothing is ever left half-written.

pub mod archive;
pub mod array;
pub mod audio;
pub mod cifar;
pub mod dataset;
pub mod download;
pub mod error;
pub mod fashion;
pub mod fetch;
mod file;
pub mod idx;
pub mod images;
pub mod moments;
pub mod onnx;
pub mod second_moments;
pub mod source;
pub mod store;
