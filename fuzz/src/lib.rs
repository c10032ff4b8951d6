//! Fuzzing that stays: a target for every reader, and two for what the checker promises.
//!
//! The targets are in `fuzz_targets/`, one function of bytes each; `seeds/NAME/` and the targets themselves have small inputs,
//! every one of which its reader accepts. They run under a mutation driver of our own ([`drive`]), which needs no nightly
//! compiler: seeds are changed at random, by bits, bytes, ranges, numbers, words, keys of JSON and pieces of each other, from
//! a seed of its own. What a reader would refuse at first sight, a wrong hash or checksum, is put right after the change
//! ([`targets::Target::file`]); an archive is changed in its members ([`bundle`]); and an input with a new answer becomes a
//! seed. A target must return, whatever it is given: an error is an answer, a panic is a fault, and so are more than
//! thirty seconds or four gigabytes. Each runs in a process of its own ([`child`]), so that the input is known after an abort too.
//!
//! `cargo test -p gambeson-fuzz` gives each target two seconds; `GAMBESON_FUZZ_SECONDS=30` gives it more. `cargo run
//! --profile fuzz -p gambeson-fuzz -- --seconds 3600` runs for an hour, with overflows and debug assertions checked, and
//! `--target NAME` chooses. With `--program target/release/gambeson --cases 200000` the files are given to the program, which
//! must end with 0, 1 or 2 ([`program`]), `--target` choosing again; with `--margin 0.5` the kernel is tried with half of its margin.
//!
//! There is no `cargo fuzz` here: it needs a nightly compiler and a dependency (`libfuzzer-sys`) in the lock file. A harness
//! outside the workspace needs one line per target: `gambeson_fuzz::targets::TARGETS[n].read(data)`.

pub mod answer;
pub mod bundle;
pub mod child;
pub mod drive;
pub mod mutate;
pub mod program;
#[path = "../fuzz_targets/mod.rs"]
pub mod targets;
