//! Principal components of bytes in a file, timed: the part of `bench/peers/projection/pca.py` that is ours.
//!
//!     RAYON_NUM_THREADS=2 cargo run --release -p gambeson-lowrank --example pca_bench -- images.npy RANK RESULT
//!
//! The images are a C-ordered array of `uint8`, samples first. Writes `RESULT.values.npy` (RANK × 1) and
//! `RESULT.basis.npy` (values of a sample × RANK), and prints one JSON object: seconds, without reading and writing.

#![allow(clippy::print_stdout)]

use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::file::write_file;
use gambeson_lowrank::linalg::eigen::leading_eigenpairs;
use gambeson_lowrank::matrix_file::npy;
use gambeson_lowrank::projection::moments::{MomentsAccumulator, Samples};
use std::error::Error;
use std::path::Path;
use std::time::Instant;

/// The bytes, and how many each sample has.
fn read(path: &str) -> Result<(Vec<u8>, usize), Box<dyn Error>> {
    let mut bytes = std::fs::read(path)?;
    let size = |at: usize| bytes.get(at).copied().map_or(0, usize::from);
    let start = match size(6) {
        1 => 10 + size(8) + 256 * size(9),
        _ => 12 + (0..4).map(|byte| size(8 + byte) << (8 * byte)).sum::<usize>(),
    };
    let header = String::from_utf8_lossy(bytes.get(..start).ok_or("a truncated header")?).into_owned();
    if !bytes.starts_with(b"\x93NUMPY") || !header.contains("|u1") || header.contains("True") {
        return Err("not a C-ordered .npy array of uint8".into());
    }
    let shape = header.split('(').nth(1).and_then(|rest| rest.split(')').next()).unwrap_or("");
    let sizes: Vec<usize> = shape.split(',').filter_map(|size| size.trim().parse().ok()).collect();
    bytes.drain(..start);
    Ok((bytes, sizes.iter().skip(1).product()))
}

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [images, rank, result] = words.as_slice() else {
        return Err("usage: pca_bench images.npy RANK RESULT".into());
    };
    let (pixels, dim) = read(images)?;
    let rank = rank.parse::<usize>()?.min(dim);
    let threads = rayon::current_num_threads(); // starts them
    let started = Instant::now();
    let mut sums = MomentsAccumulator::new(1, dim, 1.0, MemoryLimit::NONE)?;
    sums.add(Samples::U8(&pixels))?;
    let moments = sums.finish()?.pop().ok_or("no channel")?;
    let middle = started.elapsed().as_secs_f64();
    let (values, vectors) = leading_eigenpairs(moments.second, dim, rank);
    let seconds = started.elapsed().as_secs_f64();
    let basis: Vec<f64> = (0..dim * rank).map(|at| vectors[at % rank][at / rank]).collect();
    write_file(Path::new(&format!("{result}.values.npy")), &npy::to_bytes(&[rank, 1], &values[..rank]))?;
    write_file(Path::new(&format!("{result}.basis.npy")), &npy::to_bytes(&[dim, rank], &basis))?;
    let parts = serde_json::json!({ "moments": middle, "eigen": seconds - middle });
    println!("{}", serde_json::json!({ "seconds": seconds, "parts": parts, "threads": threads }));
    Ok(())
}
