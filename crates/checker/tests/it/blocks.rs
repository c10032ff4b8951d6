//! The factorisations across the sizes of their blocks (steps of 8, panels of 24, tiles of 192, sums of 384, and
//! sparse elimination down to 96 rows): what is definite with a margin is proven, and what is indefinite never is,
//! wherever in the matrix the flaw sits. All matrices are integers or single changes of integers, so which of the two
//! they are is known by construction, not by another factorisation.

use crate::cases::{Stored, generator, signs, singular, symmetric};
use crate::rational::Dyadic;
use gambeson_checker::{
    Certificate, CheckError, Domain, Quadratic, Rejected, relaxation_value, vertex_value,
};
use gambeson_lowrank::sdp::scale::{check, spectral_norm};
use rand::RngExt;

/// Around every block size.
const SIZES: [usize; 12] = [1, 7, 8, 9, 23, 24, 25, 191, 192, 193, 385, 600];

/// Rows where blocks of an n × n matrix begin and end.
fn places(n: usize) -> Vec<usize> {
    let edges = [0, 1, 7, 8, 23, 24, 191, 192, 383, 384, 575, 576];
    let mut places: Vec<usize> = edges.into_iter().filter(|&edge| edge < n).chain([n - 1]).collect();
    places.dedup();
    places
}

fn as_stands(weights: &[f64]) -> Certificate {
    Certificate { domain: Domain::Cube, weights: weights.to_vec(), shift: Some(0.0) }
}

fn to_scale(weights: &[f64]) -> Certificate {
    Certificate { shift: None, ..as_stands(weights) }
}

fn with(weights: &[f64], k: usize, value: f64) -> Vec<f64> {
    let mut weights = weights.to_vec();
    weights[k] = value;
    weights
}

fn refused(matrix: Quadratic<'_>, weights: &[f64], what: &str) {
    let outcome = check(matrix, &as_stands(weights), 2);
    assert_eq!(outcome, Err(CheckError::Rejected(Rejected::NotDominating)), "{what}");
}

/// For Diag(d) − M exactly singular at an x without zeros: raised weights are proven, and with one weight lowered at
/// x the matrix is indefinite, −δ·x_k² at x. One unit in the last place is enough to forbid a proof. Returns the bound
/// found without a shift, which is allowed a relative `excess`.
fn verge(matrix: Quadratic<'_>, duals: &[f64], excess: f64, what: &str) -> f64 {
    let exact = duals.iter().sum::<f64>(); // integers
    let raised: Vec<f64> = duals.iter().map(|d| d * (1.0 + 1e-6)).collect();
    let bound =
        check(matrix, &as_stands(&raised), 2).unwrap_or_else(|error| panic!("{what}: {error}")).value();
    assert!(bound > exact && bound < exact * (1.0 + 1.1e-6), "{what}: {bound} for {exact}");
    // Without a shift the least scale is one, and below it nothing is true.
    let bound = check(matrix, &to_scale(duals), 2).unwrap_or_else(|error| panic!("{what}: {error}")).value();
    assert!(bound >= exact && bound < exact * (1.0 + excess), "{what}: {bound} for {exact}");
    for k in places(duals.len()) {
        for lowered in [duals[k].next_down(), duals[k] - 0.25] {
            refused(matrix, &with(duals, k, lowered), &format!("{what}: weight {k} is {lowered}"));
        }
    }
    bound
}

#[test]
fn dense_singular_matrices_are_the_limit_at_every_size() {
    for (seed, n) in (0..).zip(SIZES) {
        let rng = &mut generator(seed);
        let (mut entries, mut duals, x) = singular(rng, n, 0.5, 3);
        if n == 1 {
            (entries, duals) = (vec![2.0], vec![2.0]); // the generator may draw the zero matrix
        }
        let what = format!("dense, {n} rows");
        verge(Quadratic::Dense { entries: &entries, dim: n }, &duals, 1e-6, &what);
        // The same by one entry: −2·δ·x_i·x_j at x.
        for (&i, &j) in places(n).iter().zip(places(n).iter().rev()).filter(|(i, j)| i != j) {
            let mut entries = entries.clone();
            let value = entries[i * n + j];
            let moved = if x[i] * x[j] > 0.0 { value.next_up() } else { value.next_down() };
            (entries[i * n + j], entries[j * n + i]) = (moved, moved);
            refused(
                Quadratic::Dense { entries: &entries, dim: n },
                &duals,
                &format!("{what}: entry {i}, {j}"),
            );
        }
    }
}

#[test]
fn a_single_large_entry_is_found_wherever_it_is() {
    for n in SIZES {
        // Off-diagonal entries of a row add up to less than two, d = 4: definite by far.
        let mut entries = symmetric(n, |i, j| {
            let spread = ((i * 7 + j * 13) % 17) as f64 / 8.5 - 1.0;
            if i == j { 1.0 } else { spread / n as f64 }
        });
        let duals = vec![4.0; n];
        let bound = check(Quadratic::Dense { entries: &entries, dim: n }, &as_stands(&duals), 2);
        assert!(bound.expect("definite by far").value() >= 4.0 * n as f64);
        let everywhere: Vec<usize> = (0..n).collect();
        let rows = if n <= 25 { everywhere } else { places(n) };
        for &i in &rows {
            for &j in rows.iter().filter(|&&j| j <= i) {
                let before = entries[i * n + j];
                // Rows i and j alone have the determinant 3² − 3.5² < 0, and on the diagonal 4 < 4.5.
                let large = if i == j { 4.5 } else { -3.5 };
                (entries[i * n + j], entries[j * n + i]) = (large, large);
                let what = format!("{n} rows: entry {i}, {j}");
                refused(Quadratic::Dense { entries: &entries, dim: n }, &duals, &what);
                let sparse = (n <= 25).then(|| Stored::sparse(&entries, n, |_, _| false));
                sparse.iter().for_each(|sparse| refused(sparse.view(), &duals, &what));
                (entries[i * n + j], entries[j * n + i]) = (before, before);
            }
        }
    }
}

/// A weighted graph as dense and as sparse matrix with d: M_ij = w·s_i·s_j on the edges, d the sums of the rows, so
/// Diag(d) − M is a Laplacian, up to signs. Needs every component to hold one of the rows that are tested.
fn graph(n: usize, edges: &[(usize, usize, f64)], signs: &[f64]) -> (Vec<f64>, Stored, Vec<f64>) {
    let mut entries = vec![0.0; n * n];
    let mut duals = vec![0.0; n];
    for &(i, j, weight) in edges {
        assert!(i != j && entries[i * n + j] == 0.0, "a simple graph");
        entries[i * n + j] = weight * signs[i] * signs[j];
        entries[j * n + i] = entries[i * n + j];
        duals[i] += weight;
        duals[j] += weight;
    }
    let sparse = Stored::sparse(&entries, n, |i, j| i == j && i % 3 == 0); // some stored zeros, too
    (entries, sparse, duals)
}

fn grid(height: usize, width: usize) -> (usize, Vec<(usize, usize, f64)>) {
    let mut edges = Vec::new();
    for at in 0..height * width {
        if at % width + 1 < width {
            edges.push((at, at + 1, 1.0));
        }
        if at + width < height * width {
            edges.push((at, at + width, 2.0));
        }
    }
    (height * width, edges)
}

/// A path, for connection, and chords.
fn random_graph(seed: u64, n: usize, chords: usize) -> (usize, Vec<(usize, usize, f64)>) {
    let rng = &mut generator(seed);
    let mut edges: Vec<(usize, usize, f64)> = (1..n).map(|i| (i - 1, i, 1.0)).collect();
    while edges.len() < n - 1 + chords {
        let (i, j) = (rng.random_range(0..n), rng.random_range(0..n));
        if i < j && !edges.iter().any(|&(a, b, _)| (a, b) == (i, j)) {
            edges.push((i, j, f64::from(rng.random_range(1..4))));
        }
    }
    (n, edges)
}

fn arrow(n: usize, hub: usize) -> (usize, Vec<(usize, usize, f64)>) {
    (n, (0..n).filter(|&i| i != hub).map(|i| (i.min(hub), i.max(hub), 1.0 + (i % 2) as f64)).collect())
}

#[test]
fn sparse_and_dense_storage_agree_on_graphs() {
    let complete = |n: usize| (n, (0..n).flat_map(|i| (0..i).map(move |j| (i, j, 1.0))).collect::<Vec<_>>());
    let graphs = [
        ("pair", grid(1, 2)),
        ("grid", grid(5, 5)),
        ("small", grid(1, 96)),
        ("just not small", grid(1, 97)),
        ("long path", grid(1, 600)),
        ("larger grid", grid(9, 11)),
        ("largest grid", grid(24, 25)),
        ("tree with chords", random_graph(1, 500, 40)),
        ("sparse random graph", random_graph(2, 300, 600)),
        ("random graph", random_graph(3, 600, 1200)),
        ("arrow from the first", arrow(600, 0)),
        ("arrow from the last", arrow(289, 288)),
        ("arrow from the middle", arrow(193, 100)),
        ("complete", complete(120)),
    ];
    for (seed, (name, (n, edges))) in (0..).zip(graphs) {
        let rng = &mut generator(seed);
        let (entries, sparse, duals) = graph(n, &edges, &signs(rng, n));
        // Long thin graphs have crowded spectra, where the estimate that starts the search is rough.
        let dense =
            verge(Quadratic::Dense { entries: &entries, dim: n }, &duals, 1e-3, &format!("{name}, dense"));
        let bound = verge(sparse.view(), &duals, 1e-3, &format!("{name}, sparse"));
        assert!((bound / dense - 1.0).abs() < 1e-9, "{name}: {bound} sparse, {dense} dense");
        // One edge too strong, for the weights of the graph as it was.
        for at in [0, edges.len() / 2, edges.len() - 1] {
            let mut edges = edges.clone();
            edges[at].2 += 0.125;
            let (entries, sparse, _) = graph(n, &edges, &signs(rng, n));
            let what = format!("{name}, edge {at}");
            refused(Quadratic::Dense { entries: &entries, dim: n }, &duals, &what);
            refused(sparse.view(), &duals, &what);
        }
    }
}

#[test]
fn several_components_and_hidden_pairs_in_sparse_matrices() {
    // 150 paths of four rows; in one of them, in turn, the weights are too small.
    let n = 600;
    let edges: Vec<_> = (0..n).filter(|i| i % 4 != 3).map(|i| (i, i + 1, 1.0)).collect();
    let (entries, sparse, duals) = graph(n, &edges, &vec![1.0; n]);
    let dense = Quadratic::Dense { entries: &entries, dim: n };
    verge(dense, &duals, 1e-6, "components, dense");
    verge(sparse.view(), &duals, 1e-6, "components, sparse");
    let raised: Vec<f64> = duals.iter().map(|d| d * (1.0 + 1e-6)).collect();
    for k in (0..n).step_by(37) {
        let lowered = with(&raised, k, duals[k] - 0.01);
        refused(dense, &lowered, &format!("row {k}"));
        refused(sparse.view(), &lowered, &format!("row {k}"));
    }
}

/// s ≥ √λ, exactly, and not much more.
fn encloses(bound: f64, truth: f64, what: &str) {
    assert!(Dyadic::from(bound) >= Dyadic::from(truth), "{what}: {bound} is below {truth}");
    assert!(bound <= truth * (1.0 + 1e-6), "{what}: {bound} is far above {truth}");
}

/// The identity with one more row (1 at columns a and b, else 0) put at row `at`, below it zeros: UᵀU = I + vvᵀ has
/// the largest eigenvalue 3.
fn coupled(rank: usize, rows: usize, at: usize, a: usize, b: usize) -> Vec<f64> {
    let mut factor = vec![0.0; rows * rank];
    for i in 0..=rank {
        let row = &mut factor[i * rank..(i + 1) * rank];
        if i == at {
            (row[a], row[b]) = (1.0, 1.0);
        } else {
            row[i - usize::from(i > at)] = 1.0;
        }
    }
    factor
}

#[test]
fn gram_forms_see_every_pair_of_columns() {
    for rank in SIZES.into_iter().filter(|&rank| (2..600).contains(&rank)) {
        let everywhere: Vec<usize> = (0..rank).collect();
        let columns = if rank <= 25 { everywhere } else { places(rank) };
        for &a in &columns {
            for &b in columns.iter().filter(|&&b| b < a) {
                let rows = rank + 3;
                let factor = coupled(rank, rows, (a * 5 + b) % (rank + 1), a, b);
                let what = format!("rank {rank}, columns {a} and {b}");
                let bound = spectral_norm(&factor, rows, rank, 2).expect("well scaled").value();
                let square = &Dyadic::from(bound) * &Dyadic::from(bound);
                assert!(square >= Dyadic::from(3.0), "{what}: {bound}");
                assert!(bound < 3f64.sqrt() * (1.0 + 1e-6), "{what}: {bound}");
                // λ = 3 with weights one, on the rank + 1 rows that are not zero.
                let matrix = Quadratic::Gram { factor: &factor, dim: rows, rank };
                let bound = check(matrix, &to_scale(&vec![1.0; rows]), 2).expect("well scaled").value();
                encloses(bound, 3.0 * (rank + 1) as f64, &what);
            }
        }
    }
}

#[test]
fn gram_forms_see_every_row() {
    let rank = 24;
    for rows in [383, 384, 385, 768, 769, 1000] {
        for at in [0, 1, 382, 383, 384, 767, 768, rows - 1].into_iter().filter(|&at| at < rows) {
            // Small rows with a known Gram matrix, 2^-20·I in all, and one row of ones: UᵀU = c·I + 11ᵀ.
            let mut factor = vec![0.0; rows * rank];
            (0..rows).filter(|&i| i != at).take(rank).enumerate().for_each(|(k, i)| {
                factor[i * rank + k] = 2f64.powi(-10);
            });
            factor[at * rank..(at + 1) * rank].fill(1.0);
            let bound = spectral_norm(&factor, rows, rank, 2).expect("well scaled").value();
            let square = &Dyadic::from(bound) * &Dyadic::from(bound);
            let truth = rank as f64 + 2f64.powi(-20);
            assert!(square >= Dyadic::from(truth), "{rows} rows, row {at}: {bound}");
            assert!(bound <= truth.sqrt() * (1.0 + 1e-6), "{rows} rows, row {at}: {bound}");
        }
    }
}

#[test]
fn wide_gram_forms_see_every_column() {
    // More columns than rows: U·Uᵀ is multiplied out. I next to one column with two ones: again eigenvalue 3.
    for (dim, rank) in [(2, 3), (24, 25), (25, 383), (100, 384), (193, 385), (192, 1000)] {
        for at in [0, 1, 383, 384, rank - 1].into_iter().filter(|&at| at < rank) {
            let (a, b) = (dim - 1, at % (dim - 1));
            let mut factor = vec![0.0; dim * rank];
            let others = (0..rank).filter(|&k| k != at).take(dim);
            others.enumerate().for_each(|(i, k)| factor[i * rank + k] = 1.0);
            factor[a * rank + at] = 1.0;
            factor[b * rank + at] = 1.0;
            let matrix = Quadratic::Gram { factor: &factor, dim, rank };
            let what = format!("{dim} x {rank}, column {at}");
            let bound = check(matrix, &to_scale(&vec![1.0; dim]), 2).expect("well scaled").value();
            encloses(bound, 3.0 * dim as f64, &what);
            refused(matrix, &vec![3f64.next_down(); dim], &what);
            let raised = check(matrix, &as_stands(&vec![3.0 * (1.0 + 1e-6); dim]), 2);
            encloses(raised.expect("definite").value(), 3.0 * (1.0 + 1e-6) * dim as f64, &what);
        }
    }
}

/// Σ M_ij⟨v_i, v_j⟩ of integers, in integers, with and without the diagonal, and the largest |v_i|².
fn integer_product(entries: &[i64], v: &[i64], columns: usize) -> (i64, i64, i64) {
    let n = v.len() / columns;
    let row = |i: usize| &v[i * columns..(i + 1) * columns];
    let inner = |i: usize, j: usize| row(i).iter().zip(row(j)).map(|(a, b)| a * b).sum::<i64>();
    let diagonal: i64 = (0..n).map(|i| entries[i * n + i] * inner(i, i)).sum();
    let below: i64 = (0..n).map(|i| (0..i).map(|j| entries[i * n + j] * inner(i, j)).sum::<i64>()).sum();
    (2 * below + diagonal, 2 * below, (0..n).map(|i| inner(i, i)).max().expect("there is a row"))
}

#[test]
fn lower_ends_are_sharp_for_every_shape() {
    // Around the blocks of 256 columns, the groups of four rows, and the vectors of the kernel.
    for n in [1, 2, 3, 4, 5, 255, 256, 257, 515] {
        let rng = &mut generator(n as u64);
        let mut entries = vec![0_i64; n * n];
        for i in 0..n {
            for j in 0..=i {
                // No negative entries: values are large wherever most rows of V point one way.
                let entry = if i == j { 60 } else { rng.random_range(0..=3) };
                (entries[i * n + j], entries[j * n + i]) = (entry, entry);
            }
        }
        let numbers: Vec<f64> = entries.iter().map(|&entry| entry as f64).collect();
        let sparse = Stored::sparse(&numbers, n, |_, _| false);
        let both = [Quadratic::Dense { entries: &numbers, dim: n }, sparse.view()];
        for columns in [1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 23, 24, 25, 31, 32, 33, 45, 64] {
            // One row in five points backwards, so that an entry of the wrong sign or place shows.
            let v: Vec<i64> = (0..n * columns)
                .map(|at| if at / columns % 5 == 3 { -1 } else { 1 } * rng.random_range(1..=4))
                .collect();
            let vectors: Vec<f64> = v.iter().map(|&v| v as f64).collect();
            let (with_diagonal, without, largest) = integer_product(&entries, &v, columns);
            for (at, matrix) in both.iter().enumerate() {
                for domain in [Domain::Cube, Domain::Vertices] {
                    let value =
                        relaxation_value(*matrix, domain, &vectors, columns, 2).expect("feasible").value();
                    let (form, constant) = match domain {
                        Domain::Cube => (with_diagonal, 0),
                        Domain::Vertices => (without.max(0), 60 * n), // X = 0 is feasible, too
                    };
                    let rest = &Dyadic::from(value) - &Dyadic::from(constant as f64);
                    let truth = Dyadic::from(form as f64);
                    let what = format!("{n} rows, {columns} columns, {domain:?}, storage {at}: {value}");
                    assert!(&rest * &Dyadic::from(largest as f64) <= truth, "{what}");
                    let nearly = form as f64 / largest as f64 + constant as f64;
                    assert!(value >= nearly * (1.0 - 1e-9), "{what}");
                }
            }
        }
        let x: Vec<i64> = (0..n).map(|i| if i % 5 == 3 { -1 } else { 1 }).collect();
        let vertex: Vec<f64> = x.iter().map(|&x| x as f64).collect();
        let truth = integer_product(&entries, &x, 1).0 as f64;
        for matrix in both {
            let value = vertex_value(matrix, &vertex, 2).expect("a vertex").value();
            assert!(value <= truth && value >= truth * (1.0 - 1e-9), "{n} rows: {value} for {truth}");
        }
    }
}
