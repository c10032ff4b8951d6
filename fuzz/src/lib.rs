//! Fuzzing that stays: a target for every reader, and one for the kernel.
//!
//! The targets are in `fuzz_targets/`, one function of bytes each, as libFuzzer calls them; `seeds/NAME/` has small valid
//! inputs. They run under a mutation driver of our own ([`drive`]), which needs no nightly compiler: seeds are changed at
//! random, by bits, bytes, ranges, numbers and pieces of each other, from a seed of its own, so that what it finds can be
//! found again. A target must return, whatever it is given: an error is an answer, a panic is a fault, and so is taking
//! longer than ten seconds.
//!
//! `cargo test -p gambeson-fuzz` gives each target two seconds; `GAMBESON_FUZZ_SECONDS=30` gives it more. `cargo run
//! --release -p gambeson-fuzz -- --seconds 3600` runs for an hour, and `--target NAME` chooses. With `--program
//! target/release/gambeson --cases 200000` the files are given to the program, which must end with 0, 1 or 2 ([`program`]);
//! with `--margin 0.5` the kernel is tried with half of its margin.

pub mod drive;
pub mod mutate;
pub mod program;
#[path = "../fuzz_targets/mod.rs"]
pub mod targets;
