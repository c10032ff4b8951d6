//! Finds a small room in the data and proves its size.

pub mod file;
pub mod linalg;
pub mod matrix_file;
pub mod observe;
pub mod projection;
pub mod safetensors;
pub mod sdp;
pub mod shape;
