//! Seconds of principal components from bytes: `cargo run --release --example pca_bench -- FILE [CHANNELS] [RUNS]`.
//!
//! FILE is a C-ordered `.npy` array of `uint8`, samples first; what one sample has is cut into CHANNELS (one unless
//! said) equal parts, whose moments are all computed and the first of which is decomposed. Without FILE, 50,000
//! samples of 1024 values are drawn. Prints one JSON object a run.

#![allow(clippy::print_stdout)]

use gambeson_lowrank::eigen::{symmetric_eigen, symmetric_eigenvalues};
use gambeson_lowrank::moments::{MomentsAccumulator, Samples};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::error::Error;
use std::time::Instant;

/// The pixels, and how many each sample has.
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
    let mut arguments = std::env::args().skip(1);
    let (pixels, length) = if let Some(path) = arguments.next() {
        read(&path)?
    } else {
        let mut pixels = vec![0; 50_000 * 1024];
        ChaCha8Rng::seed_from_u64(1).fill_bytes(&mut pixels);
        (pixels, 1024)
    };
    let channels: usize = arguments.next().map_or(Ok(1), |word| word.parse())?;
    let runs: usize = arguments.next().map_or(Ok(1), |word| word.parse())?;
    if !length.is_multiple_of(channels.max(1)) {
        return Err(format!("{length} values are not {channels} equal channels").into());
    }
    for _ in 0..runs {
        let start = Instant::now();
        let mut sums = MomentsAccumulator::new(channels, length / channels.max(1), 1.0 / 255.0)?;
        sums.add(Samples::U8(&pixels))?;
        let moments = sums.finish()?;
        let seconds_moments = start.elapsed().as_secs_f64();
        let first = moments.into_iter().next().ok_or("no channel")?;
        let (dim, count) = (first.dim, first.count);
        let copy = first.second.clone();
        let start = Instant::now();
        let (values, _) = symmetric_eigen(first.second, dim);
        let seconds_eigen = start.elapsed().as_secs_f64();
        let start = Instant::now();
        symmetric_eigenvalues(copy, dim);
        let seconds_values = start.elapsed().as_secs_f64();
        println!(
            "{}",
            serde_json::json!({
                "samples": count, "channels": channels, "dim": dim,
                "seconds_moments": seconds_moments, "seconds_eigen": seconds_eigen,
                "seconds_eigenvalues_only": seconds_values,
                "eigenvalues_head": values[..values.len().min(8)],
            })
        );
    }
    Ok(())
}
