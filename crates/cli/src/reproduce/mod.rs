//! The paper's experiments as data: `experiments/*.toml` -> runs -> `results/*.jsonl` -> tables and figures.
//!
//! To add a table or figure: write its experiment as `experiments/NAME.toml`, a file here that renders it, a name in
//! `args`, and a line in [`objects`].

pub(crate) mod experiment;
pub(crate) mod network;
pub(crate) mod objects;
pub(crate) mod plan;
pub(crate) mod projection;
pub(crate) mod record;
pub(crate) mod rendered;
mod run;
pub(crate) mod sdp;
