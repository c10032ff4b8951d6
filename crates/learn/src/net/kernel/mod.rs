//! The hot loops of the networks, and the one place that looks at the CPU.
//!
//! `product` multiplies blocks of matrices; `winograd` and `direct` are convolutions made of such products; `lanes` are
//! plain loops over eight or sixteen channels at a time. Everything is stored pixel by pixel, channels innermost (N, H, W, C),
//! with channels filled up with zeros to a multiple of [`LANES`]; only `planes` takes an image as it comes, and has pixels
//! side by side.
//!
//! **Instruction sets.** Each loop is compiled several times: for what every machine of the target has, for AVX2 with FMA,
//! and for AVX-512. Which one runs is found out once per call of the network ([`Isa::detect`]) and handed down. Loops
//! vectorise over channels, or pixels, and add up in the order they are written in, so the width of a register changes no bit.
//!
//! **Fused or not.** AVX2 and AVX-512 fuse multiplications with additions, and so does aarch64. The portable loops of an
//! ordinary x86-64 build do not, since without the instruction a fused operation is a slow library call: they differ in
//! the last places. [`Isa::PORTABLE_FUSED`] is the same portable code with that slow call, for tests: equal to the bit.
//!
//! `unsafe` is in `product/`, for the loads and stores of its innermost loops; in `lanes/`, for those of some channels and
//! the instructions of AVX2 and AVX-512; in `columns.rs`, `planes.rs` and `winograd/`, for the same; and in what `versions!`
//! writes wherever it is used (`elementwise.rs`, `planes.rs`, `pooling.rs`, `winograd/`): calls of versions compiled for instructions that were
//! found to be there.

#[cfg(target_arch = "x86_64")]
mod columns;
pub(crate) mod direct;
pub(crate) mod elementwise;
mod isa;
pub(crate) mod lanes;
pub(crate) mod planes;
pub(crate) mod pooling;
pub(crate) mod product;
mod versions;
pub(crate) mod winograd;

pub use isa::{Isa, LANES, padded};
