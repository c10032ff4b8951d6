//! scratch: bound KIND:N:SEED|FILE limit gap [mwu] [gram]
use gambeson_checker::Domain;
use gambeson_lowrank::linalg::matrix::{DenseMatrix, Matrix};
use gambeson_lowrank::memory::MemoryLimit;
use gambeson_lowrank::sdp::bracket::*;
use gambeson_lowrank::sdp::instance;
use gambeson_lowrank::sdp::problem::*;
use std::time::{Duration, Instant};
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let t0 = Instant::now();
    let parts: Vec<&str> = a[1].split(':').collect();
    let (mut norm, mut role, mut domain) = (OperatorNorm::Quadratic, MatrixRole::Plain, Domain::Cube);
    let matrix = match parts[0] {
        "qp" => Matrix::Dense(
            instance::quadratic_program(
                parts[1].parse().unwrap(),
                parts[2].parse().unwrap(),
                MemoryLimit::NONE,
            )
            .unwrap(),
        ),
        "psd" => Matrix::Dense(
            instance::positive_semidefinite(
                parts[1].parse().unwrap(),
                parts[2].parse().unwrap(),
                MemoryLimit::NONE,
                2,
            )
            .unwrap(),
        ),
        "gram" => {
            let (n, r): (usize, usize) = (parts[1].parse().unwrap(), parts[2].parse().unwrap());
            role = MatrixRole::Gram;
            let mut s = 88172645463325252u64;
            let e: Vec<f64> = (0..n * r)
                .map(|_| {
                    s ^= s << 13;
                    s ^= s >> 7;
                    s ^= s << 17;
                    (s >> 11) as f64 / (1u64 << 53) as f64 - 0.5
                })
                .collect();
            Matrix::Dense(DenseMatrix { rows: n, columns: r, entries: e })
        }
        "graph" => {
            let (n, m): (usize, usize) = (parts[1].parse().unwrap(), parts[2].parse().unwrap());
            let mut s = 88172645463325252u64;
            let mut next = || {
                s ^= s << 13;
                s ^= s >> 7;
                s ^= s << 17;
                (s >> 33) as usize % n
            };
            let mut seen = std::collections::BTreeSet::new();
            while seen.len() < m {
                let (i, j) = (next(), next());
                if i != j {
                    seen.insert((i.min(j), i.max(j)));
                }
            }
            let mut d = vec![0.0; n];
            let mut t = Vec::new();
            for &(i, j) in &seen {
                d[i] += 0.25;
                d[j] += 0.25;
                t.push((i, j, -0.25));
                t.push((j, i, -0.25));
            }
            (0..n).for_each(|i| t.push((i, i, d[i])));
            domain = Domain::Vertices;
            Matrix::Sparse(gambeson_lowrank::linalg::matrix::SparseMatrix::from_triplets(n, n, t).unwrap())
        }
        _ => {
            let i =
                gambeson_lowrank::matrix_file::read(std::path::Path::new(&a[1]), MemoryLimit::NONE).unwrap();
            domain = i.kind.natural_domain(norm, role);
            i.matrix
        }
    };
    let problem = Problem::new(matrix, norm, role, domain, 2).unwrap();
    let read = t0.elapsed().as_secs_f64();
    let limit: f64 = a[2].parse().unwrap();
    let solver =
        if a.iter().any(|x| x == "mwu") { Solver::MultiplicativeWeights } else { Solver::BurerMonteiro };
    let mut params = BoundParams::for_solver(solver, Some(a[3].parse().unwrap()));
    params.threads = 2;
    if limit > 0.0 {
        params.time_limit = Some(Duration::from_secs_f64(limit));
    }
    let t1 = Instant::now();
    let found = bracket(&problem, &params, &mut ()).unwrap();
    let took = t1.elapsed().as_secs_f64();
    println!(
        "{} limit {limit}: upper {:.6e} sdp_lower {:.6e} lower {:.6e} gap {:.2e} {:?} given {} full {:.3} read {read:.2} took {took:.2} ({:.2}) solve {:.2} check {:.2}",
        a[1],
        found.upper.value(),
        found.sdp_lower.value(),
        found.lower.value(),
        found.gap(),
        found.stop,
        match &found.paid {
            Paid::Nothing => "nothing".into(),
            Paid::Pairs(p) => format!("{}", p.len()),
            Paid::All => "ALL".to_string(),
        },
        found.full_proof.seconds,
        took / limit,
        found.seconds_solve,
        found.seconds_check
    );
    let _ = &mut norm;
}
