//! One file per kind of layer: its formula, and how it is computed forward and backward.

pub(crate) mod convolution;
pub(crate) mod linear;
pub(crate) mod norm;
pub(crate) mod pool;
pub(crate) mod shortcut;
