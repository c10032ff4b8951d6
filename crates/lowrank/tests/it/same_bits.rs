//! Bounds are the same to the bit as those of the program that pinned them, before searches left the checker.
//!
//! `tests/fixtures/bounds.txt` holds one case per line: its name, the weights where a solver found them, and what was
//! proven, all numbers as the hexadecimal digits of their bits. Matrices follow from the names, by whole numbers alone.
//! With `GAMBESON_WRITE_FIXTURES=1` the file is written anew from the present program, but for the weights found by
//! solvers, which are kept: solvers may change, and what their weights prove may not.
//!
//! Factorisations round alike only where multiply-adds are fused, so other machines skip the comparison.

use gambeson_checker::{Certificate, Domain, Quadratic, relaxation_value, vertex_value};
use gambeson_lowrank::sdp::scale::{check, spectral_norm};
use std::fmt::Write;
use std::path::Path;

/// Irregular whole numbers from −1000 to 1000, the same everywhere.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % 2001) as f64 - 1000.0
    }

    fn some(&mut self, count: usize, scale: f64) -> Vec<f64> {
        (0..count).map(|_| self.next() / 512.0 * scale).collect()
    }
}

/// A matrix in one of the three storages.
enum Stored {
    Dense(Vec<f64>, usize),
    Sparse(usize, Vec<usize>, Vec<usize>, Vec<f64>),
    Gram(Vec<f64>, usize, usize),
}

impl Stored {
    fn view(&self) -> Quadratic<'_> {
        match self {
            Stored::Dense(entries, dim) => Quadratic::Dense { entries, dim: *dim },
            Stored::Sparse(dim, offsets, indices, values) => {
                Quadratic::Sparse { dim: *dim, offsets, indices, values }
            }
            Stored::Gram(factor, dim, rank) => Quadratic::Gram { factor, dim: *dim, rank: *rank },
        }
    }
}

/// A symmetric matrix with a positive diagonal; every seventh row is zero where `holes`.
fn dense(numbers: &mut Numbers, dim: usize, scale: f64, holes: bool) -> Vec<f64> {
    let mut entries = vec![0.0; dim * dim];
    for i in 0..dim {
        for j in 0..=i {
            let entry = numbers.next() / 512.0 * scale;
            let zero = holes && (i % 7 == 3 || j % 7 == 3);
            let entry = if zero { 0.0 } else { entry };
            entries[i * dim + j] = if i == j { entry.abs() } else { entry };
            entries[j * dim + i] = entries[i * dim + j];
        }
    }
    entries
}

/// The stored entries of a dense matrix that `kept` keeps.
fn sparse(entries: &[f64], dim: usize, kept: impl Fn(usize, usize) -> bool) -> Stored {
    let (mut offsets, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for i in 0..dim {
        for j in (0..dim).filter(|&j| i == j || kept(i, j)) {
            indices.push(j);
            values.push(entries[i * dim + j]);
        }
        offsets.push(indices.len());
    }
    Stored::Sparse(dim, offsets, indices, values)
}

/// A name, a matrix, a domain, weights, a shift.
type Case = (String, Stored, Domain, Vec<f64>, Option<f64>);

fn matrix(kind: &str, dim: usize, scale: f64, numbers: &mut Numbers) -> Stored {
    match kind {
        "dense" => Stored::Dense(dense(numbers, dim, scale, false), dim),
        "holes" => Stored::Dense(dense(numbers, dim, scale, true), dim),
        "graph" => {
            let entries = dense(numbers, dim, scale, false);
            sparse(&entries, dim, |i, j| (i.min(j) * 7919 + i.max(j) * 104_729) % 97 < 3)
        }
        "grid" => {
            let entries = dense(numbers, dim, scale, true);
            sparse(&entries, dim, |i, j| i.abs_diff(j) == 1 || i.abs_diff(j) == 20)
        }
        "tall" => Stored::Gram(numbers.some(dim * dim.div_ceil(6), scale), dim, dim.div_ceil(6)),
        "thin" => Stored::Gram(numbers.some(dim * 2, scale), dim, 2),
        "wide" => Stored::Gram(numbers.some(dim * dim * 2, scale), dim, dim * 2),
        other => panic!("{other}"),
    }
}

const SCALES: [f64; 5] = [1.0, 1e-140, 1e140, 1e-300, 1e300];

/// Everything asked, without the weights of solvers.
fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for kind in ["dense", "holes", "graph", "grid", "tall", "thin", "wide"] {
        for dim in [1, 5, 40, 210, 420] {
            for domain in [Domain::Cube, Domain::Vertices] {
                for (at, &scale) in SCALES.iter().enumerate() {
                    let large = dim > 40;
                    if large && (at > 0 || (domain == Domain::Vertices && kind != "dense" && kind != "graph"))
                    {
                        continue;
                    }
                    let seed = dim as u64 + 1000 * at as u64;
                    let stored = || matrix(kind, dim, scale, &mut Numbers(seed));
                    let numbers = &mut Numbers(seed + 1);
                    let even = vec![1.0; dim];
                    let uneven: Vec<f64> = (0..dim).map(|_| (numbers.next() + 1001.0) / 64.0).collect();
                    let apart: Vec<f64> = (0..dim).map(|i| if i % 2 == 0 { 1e-150 } else { 3e120 }).collect();
                    let ample: Vec<f64> = uneven.iter().map(|y| (y + 20.0) * dim as f64 * scale).collect();
                    let name = |what: &str| format!("{kind} {dim} {domain:?} {scale:e} {what}");
                    cases.push((name("even"), stored(), domain, even, None));
                    cases.push((name("uneven"), stored(), domain, uneven, None));
                    if !large {
                        cases.push((name("apart"), stored(), domain, apart, None));
                        cases.push((name("shift"), stored(), domain, ample, Some(0.25 * scale)));
                    }
                }
            }
        }
    }
    cases
}

fn hex(value: f64) -> String {
    format!("{:016x}", value.to_bits())
}

fn unhex(word: &str) -> f64 {
    f64::from_bits(u64::from_str_radix(word, 16).expect("sixteen digits"))
}

fn outcome(stored: &Stored, domain: Domain, weights: Vec<f64>, shift: Option<f64>) -> String {
    match check(stored.view(), &Certificate { domain, weights, shift }, 1) {
        Ok(bound) => hex(bound.value()),
        Err(_) => "refused".to_owned(),
    }
}

/// The lines of the fixture; `solved` are the names and weights that solvers found.
fn lines(solved: &[(String, Vec<f64>)]) -> String {
    let mut text = String::new();
    for (name, stored, domain, weights, shift) in cases() {
        writeln!(text, "{name} = {}", outcome(&stored, domain, weights, shift)).expect("text");
        let dim = stored.view().dim();
        if name.ends_with(" even") {
            let numbers = &mut Numbers(7);
            let vertex: Vec<f64> = (0..dim).map(|_| if numbers.next() < 0.0 { -1.0 } else { 1.0 }).collect();
            let value = vertex_value(stored.view(), &vertex, 1);
            let value = value.map_or_else(|_| "refused".to_owned(), |value| hex(value.value()));
            writeln!(text, "{name} vertex = {value}").expect("text");
            let (columns, v) = (1 + dim % 19, numbers.some(dim * (1 + dim % 19), 1.0));
            let value = relaxation_value(stored.view(), domain, &v, columns, 1);
            let value = value.map_or_else(|_| "refused".to_owned(), |value| hex(value.value()));
            writeln!(text, "{name} relaxed = {value}").expect("text");
        }
        if let Stored::Gram(factor, dim, rank) = &stored
            && domain == Domain::Cube
            && name.ends_with(" even")
        {
            let bound = spectral_norm(factor, *dim, *rank, 1);
            let bound = bound.map_or_else(|_| "refused".to_owned(), |bound| hex(bound.value()));
            writeln!(text, "{name} spectral = {bound}").expect("text");
        }
    }
    for (name, weights) in solved {
        let words: Vec<&str> = name.split(' ').collect();
        let dim: usize = words[1].parse().expect("a dimension");
        let domain = if words[2] == "Cube" { Domain::Cube } else { Domain::Vertices };
        let stored = matrix(words[0], dim, 1.0, &mut Numbers(dim as u64));
        let shift = (words[4] == "shift").then_some(0.0);
        let found: Vec<String> = weights.iter().map(|&y| hex(y)).collect();
        let bound = outcome(&stored, domain, weights.clone(), shift);
        writeln!(text, "{name} {} = {bound}", found.join(" ")).expect("text");
    }
    text
}

/// Names and weights of the cases that solvers found: `kind dim domain solver shift weights… = bound`.
fn solved(text: &str) -> Vec<(String, Vec<f64>)> {
    let lines = text.lines().filter(|line| line.contains(" mwu ") || line.contains(" bm "));
    let case = |line: &str| {
        let (before, _) = line.split_once(" = ").expect("an equals sign");
        let words: Vec<&str> = before.split(' ').collect();
        (words[..5].join(" "), words[5..].iter().map(|word| unhex(word)).collect())
    };
    lines.map(case).collect()
}

#[test]
fn bounds_are_those_of_the_program_that_pinned_them() {
    #[cfg(target_arch = "x86_64")]
    if !(std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma")) {
        return; // without fused multiply-adds the factorisations round differently
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    return;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/bounds.txt");
    let expected = std::fs::read_to_string(&path).expect("the fixture is there");
    let found = lines(&solved(&expected));
    if std::env::var_os("GAMBESON_WRITE_FIXTURES").is_some() {
        std::fs::write(&path, found).expect("written");
        return;
    }
    assert_eq!(found.lines().count(), expected.lines().count());
    let proven = expected.lines().filter(|line| !line.ends_with("refused")).count();
    assert!(proven > 1000, "{proven}");
    for (found, expected) in found.lines().zip(expected.lines()) {
        assert_eq!(found, expected);
    }
}
