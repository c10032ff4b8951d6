//! Networks of our own: an explicit engine, without automatic differentiation. Every layer has its formulas in the head of
//! its file and its passes written by hand.
//!
//! # In which order to read it
//! 1. [`architecture`]: a network as a value, a list of layers; [`models`]: the networks that are trained here.
//! 2. [`parameters`]: its numbers, in one list, in PyTorch's layout.
//! 3. `layer/`: one file per kind of layer: convolution, normalisation, pooling, linear, shortcuts.
//! 4. [`plan`]: what follows from an architecture before any number is known: what is stored, who reads it, which
//!    algorithm.
//! 5. [`pass`]: forward and backward over a batch, for training and attacks. [`inference`]: scores alone, as fast as they
//!    can be had, in the buffers of `buffers`. [`loss`]: what is made of scores.
//! 6. [`kernel`]: the hot loops, and the one place that looks at the CPU.
//!
//! Results are the same to the bit on any number of threads, and on AVX2 and AVX-512.

pub mod architecture;
mod buffers;
pub mod inference;
pub mod kernel;
pub(crate) mod layer;
pub mod loss;
pub mod models;
pub mod parameters;
pub mod pass;
pub mod plan;
