//! The hot loops of solvers and estimates, from which nothing is proven.
//!
//! Like those of the checker they have a portable version and one for each wider instruction set, chosen at run time.
//! `unsafe` are only the calls into a version compiled for wider instructions, which stand behind the run-time test for
//! exactly those ([`Isa::detect`]), and the vector loads and stores, each of values inside one array.

mod dot;
mod rows;

pub use dot::{dot, row_products};
pub use gambeson_checker::kernel::Isa;
pub use rows::{ROWS, Real, add_rows_times};
