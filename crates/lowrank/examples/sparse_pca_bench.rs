//! Sparse components of a matrix in a file, timed: the part of `bench/peers/projection/sparse_pca.py` that is ours.
//!
//!     RAYON_NUM_THREADS=2 cargo run --release -p gambeson-lowrank --example sparse_pca_bench -- \
//!         matrix.npy ATOMS ALPHA TOLERANCE MAX_ITERATIONS features|singular RESULT
//!
//! Writes `RESULT.components.npy` (atoms × features) and `RESULT.dictionary.npy` (atoms × samples), and prints one JSON
//! object: seconds (without reading and writing), objective, rounds, why it stopped, and the objective after each round
//! with the seconds until then.

#![allow(clippy::print_stdout)]

use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::file::write_file;
use gambeson_lowrank::linalg::matrix::Matrix;
use gambeson_lowrank::matrix_file::{self, npy};
use gambeson_lowrank::projection::method::sparse_pca::{Beginning, SparsePcaParams, sparse_pca};
use gambeson_lowrank::sdp::progress::Progress;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::error::Error;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [matrix, atoms, alpha, tolerance, max_iterations, beginning, result] = words.as_slice() else {
        return Err("usage: sparse_pca_bench matrix.npy ATOMS ALPHA TOLERANCE MAX_ITERATIONS features|singular RESULT".into());
    };
    let matrix = match matrix_file::read(Path::new(matrix), MemoryLimit::NONE)?.matrix {
        Matrix::Dense(matrix) => matrix,
        Matrix::Sparse(matrix) => matrix.to_dense(MemoryLimit::NONE)?,
    };
    let beginning = match beginning.as_str() {
        "features" => Beginning::Features,
        "singular" => Beginning::SingularVectors,
        other => return Err(format!("{other}: begin with features or singular").into()),
    };
    let params = SparsePcaParams {
        atoms: atoms.parse()?,
        alpha: alpha.parse()?,
        tolerance: tolerance.parse()?,
        max_iterations: max_iterations.parse()?,
        beginning,
        ..SparsePcaParams::default()
    };
    let threads = rayon::current_num_threads(); // starts them
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let started = Instant::now();
    let mut trace = vec![];
    let mut observer = |progress: &Progress| {
        trace.push((started.elapsed().as_secs_f64(), progress.upper));
        ControlFlow::Continue(())
    };
    let (samples, features) = (matrix.rows, matrix.columns);
    let found = sparse_pca(&matrix.entries, samples, features, None, &params, &mut rng, &mut observer)?;
    let seconds = started.elapsed().as_secs_f64();
    write_file(
        Path::new(&format!("{result}.components.npy")),
        &npy::to_bytes(&[params.atoms, features], &found.components),
    )?;
    write_file(
        Path::new(&format!("{result}.dictionary.npy")),
        &npy::to_bytes(&[params.atoms, samples], &found.dictionary),
    )?;
    let report = serde_json::json!({
        "seconds": seconds,
        "objective": found.objective,
        "iterations": found.iterations,
        "stop": format!("{:?}", found.stop),
        "threads": threads,
        "trace": trace,
    });
    println!("{report}");
    Ok(())
}
