//! After any tampering `check` exits 1 or 2, or proves a bound that is not below the true optimum.

use crate::support::{Bench, unwrapped};
use serde_json::{Value, json};

/// A symmetric 5 × 5 matrix.
fn five() -> Vec<f64> {
    let n = 5;
    let entry = |i: usize, j: usize| {
        let (a, b) = (i.max(j), i.min(j));
        if a == b { 1.0 + a as f64 } else { ((a * 7 + b * 3) % 5) as f64 - 2.0 }
    };
    (0..n * n).map(|at| entry(at / n, at % n)).collect()
}

/// The true maximum over the cube by brute force.
fn maximum(n: usize, entries: &[f64]) -> f64 {
    let value = |bits: u32| {
        let x = |i: usize| if bits >> i & 1 == 1 { -1.0 } else { 1.0 };
        (0..n * n).map(|at| entries[at] * x(at / n) * x(at % n)).sum::<f64>()
    };
    (0..1 << n).map(value).fold(f64::NEG_INFINITY, f64::max)
}

#[test]
fn no_tampering_proves_too_little() {
    tamper(5, &five());
}

/// Entries below one: the same matrix read as a factor, or its inf->2 norm squared, is 0.18 and not 0.6.
#[test]
fn no_tampering_with_the_question_proves_too_little() {
    let entries = [0.2, 0.1, 0.1, 0.2];
    let best = maximum(2, &entries);
    assert!((best - 0.6).abs() < 1e-15);
    tamper(2, &entries);
    let bench = Bench::new();
    bench.save_npy("m.npy", 2, 2, &entries);
    let sparse = "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 .2\n2 1 .1\n2 2 .2\n";
    bench.write("m.mtx", sparse);
    for file in ["m.npy", "m.mtx"] {
        for question in ["--gram", "--norm inf-to-two", "--norm inf-to-two --gram"] {
            // Honest answers to other questions; nobody asked them.
            assert_eq!(bench.run(&format!("bound {file} {question} --certificate c.json")).code, 0);
            let run = bench.run(&format!("check {file} c.json --json"));
            let json = run.json();
            assert_eq!((run.code, json["proven"].as_bool()), (1, Some(false)), "{file} {question}: {run:?}");
            assert!(
                json["bound"].is_null() && json["norm"] == "quadratic" && json["gram"] == false,
                "{json}"
            );
            let run = bench.run(&format!("check {file} c.json {question} --json"));
            let json = run.json();
            assert_eq!((run.code, json["gram"].as_bool()), (0, Some(question.contains("gram"))), "{run:?}");
            assert!(json["bound"].as_f64().expect("a bound") < best, "{json}");
        }
    }
    assert_eq!(bench.run("bound m.npy --gram --certificate c.json").code, 0);
    let run = bench.run("check m.npy c.json");
    assert!(run.stdout.starts_with("REJECTED: ") && unwrapped(&run.stdout).contains("say --gram"), "{run:?}");
}

/// Every forgery of an honest certificate for one matrix.
fn tamper(n: usize, entries: &[f64]) {
    let mut forger = Forger::new(n, entries);
    assert_eq!(forger.attempt("nothing", &forger.honest.clone(), CHECK), 0);
    forger.weights();
    forger.questions();
    let Forger { rejected, proven, .. } = forger;
    assert!(rejected >= 40 && proven >= 15, "{rejected} rejected, {proven} proven");
}

const CHECK: &str = "check m.npy f.json --json";

struct Forger {
    bench: Bench,
    n: usize,
    /// The true maximum.
    best: f64,
    honest: Value,
    rejected: usize,
    proven: usize,
}

impl Forger {
    /// With a certificate for `m.npy`, and another matrix, `other.npy`.
    fn new(n: usize, entries: &[f64]) -> Self {
        let bench = Bench::new();
        bench.save_npy("m.npy", n, n, entries);
        let mut other = entries.to_vec();
        (other[1], other[n]) = (other[1] + 1.0, other[n] + 1.0);
        bench.save_npy("other.npy", n, n, &other);
        assert_eq!(bench.run("bound m.npy --certificate c.json").code, 0);
        let honest = serde_json::from_str(&bench.read("c.json")).expect("a certificate");
        Self { bench, n, best: maximum(n, entries), honest, rejected: 0, proven: 0 }
    }

    /// Asks about a forgery, `f.json`; the exit code.
    fn attempt(&mut self, what: &str, forged: &Value, line: &str) -> i32 {
        self.bench.write("f.json", forged.to_string());
        let run = self.bench.run(line);
        if run.code == 0 {
            let bound = run.json()["bound"].as_f64().expect("a bound");
            assert!(bound >= self.best, "{what}: proved {bound} below the optimum {}", self.best);
            self.proven += 1;
        } else {
            self.rejected += 1;
        }
        run.code
    }

    /// The certificate with one key changed.
    fn with(&self, key: &str, value: Value) -> Value {
        let mut forged = self.honest.clone();
        forged[key] = value;
        forged
    }

    /// Other weights and shifts.
    fn weights(&mut self) {
        let weights = self.honest["weights"].as_array().expect("weights");
        let weights: Vec<f64> = weights.iter().map(|w| w.as_f64().expect("a number")).collect();
        for scale in [0.0, 1e-300, 1e-9, 0.5, 0.99, 0.9999, 1.0001, 2.0, 1e9, 1e300, -1.0] {
            let scaled: Vec<f64> = weights.iter().map(|w| w * scale).collect();
            for shift in [json!(0.0), json!(null), json!(-1.0), json!(1e-3), json!(1e300), json!(-1e300)] {
                let mut forged = self.with("weights", json!(scaled));
                forged["shift"] = shift;
                self.attempt(&format!("weights times {scale}"), &forged, CHECK);
            }
        }
        for i in 0..self.n {
            for value in [json!(0.0), json!(-1.0), json!(1e-320), json!(null), json!("NaN"), json!(1e308)] {
                let mut forged = self.honest.clone();
                forged["weights"][i] = value.clone();
                self.attempt(&format!("weight {i} = {value}"), &forged, CHECK);
            }
        }
        for swap in 1..self.n {
            let mut swapped = weights.clone();
            swapped.swap(0, swap);
            self.attempt("swapped", &self.with("weights", json!(swapped)), CHECK);
        }
        for (what, other) in
            [("cut short", weights[..self.n - 1].to_vec()), ("too long", [&weights[..], &[1.0]].concat())]
        {
            assert_ne!(self.attempt(what, &self.with("weights", json!(other)), CHECK), 0);
        }
    }

    /// Another matrix, domain, norm, reading or version.
    fn questions(&mut self) {
        let honest = self.honest.clone();
        let vertices = self.with("domain", json!("vertices"));
        let factor = self.with("gram", json!(true));
        let quadratic = format!("{CHECK} --norm quadratic");
        assert_ne!(self.attempt("wrong n", &self.with("n", json!(self.n - 1)), CHECK), 0);
        assert_eq!(self.attempt("another matrix", &honest, "check other.npy f.json --json"), 1);
        assert_eq!(self.attempt("another domain", &vertices, CHECK), 1);
        self.attempt("another domain, asked for", &vertices, &format!("{CHECK} --domain vertices"));
        for norm in ["inf-to-one", "inf-to-two"] {
            for gram in [false, true] {
                let mut forged = self.with("norm", json!(norm));
                forged["gram"] = json!(gram);
                assert_eq!(self.attempt("another norm", &forged, CHECK), 1);
                assert_eq!(self.attempt("another norm", &forged, &quadratic), 1);
            }
        }
        assert_eq!(self.attempt("as a factor", &factor, CHECK), 1);
        assert_eq!(self.attempt("as a factor", &factor, &quadratic), 1);
        assert_eq!(self.attempt("not as a factor", &honest, &format!("{CHECK} --gram")), 1);
        assert_eq!(self.attempt("another hash", &self.with("matrix_sha256", json!("00")), CHECK), 1);
        assert_eq!(self.attempt("a newer version", &self.with("version", json!(99)), CHECK), 2);
        assert_eq!(self.attempt("an unknown field", &self.with("bound", json!(1.0)), CHECK), 2);
    }
}
