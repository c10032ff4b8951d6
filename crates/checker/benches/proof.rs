//! Speed of the proofs: `cargo bench -p gambeson-checker` (`-- 10000` for other dimensions).
//!
//! Prints the best of three runs; the peers stand beside in `bench/peers/sdp`.

#![allow(clippy::print_stdout, missing_docs)]

use gambeson_checker::{Certificate, Domain, Quadratic, kernel::self_product::self_product};
use gambeson_lowrank::sdp::scale::check;
use std::time::Instant;

fn main() {
    let given: Vec<usize> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let sizes = if given.is_empty() { vec![500, 1000, 2000, 4500] } else { given };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    for n in sizes {
        // Any full matrix will do: irregular entries, made positive semidefinite.
        let entry = |i: usize, k: usize| ((i * 7919 + k * 104_729) % 1009) as f64 / 504.0 - 1.0;
        let matrix = self_product(n, n, threads, |i, range, out| {
            out.iter_mut().zip(range).for_each(|(out, k)| *out = entry(i, k));
        });
        let sums = matrix.chunks_exact(n).map(|row| row.iter().map(|m| m.abs()).sum::<f64>() * 1.001);
        let certificate = Certificate { domain: Domain::Cube, weights: sums.collect(), shift: Some(0.0) };
        let seconds = best_of_three(|| {
            let proven = check(Quadratic::Dense { entries: &matrix, dim: n }, &certificate, threads);
            assert!(proven.is_ok(), "absolute row sums dominate");
        });
        let operations = (n as f64).powi(3) / 3.0;
        println!(
            "dense, one factorisation  n = {n:6}  {seconds:8.3} s  {:6.1} Gflop/s",
            operations / seconds / 1e9
        );
        let rank = n / 5;
        let factor = &matrix[..n * rank];
        let weights = Certificate { domain: Domain::Cube, weights: vec![1.0; n], shift: None };
        let seconds = best_of_three(|| {
            let proven = check(Quadratic::Gram { factor, dim: n, rank }, &weights, threads);
            assert!(proven.is_ok(), "equal weights prove something");
        });
        println!("gram, rank {rank:5}          n = {n:6}  {seconds:8.3} s");
    }
}

fn best_of_three(mut work: impl FnMut()) -> f64 {
    let mut time = || {
        let started = Instant::now();
        work();
        started.elapsed().as_secs_f64()
    };
    time().min(time()).min(time())
}
