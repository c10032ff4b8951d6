//! `gambeson project`, and `gambeson check` of what it writes.

use crate::support::Bench;
use serde_json::Value;
use std::process::{Command, Stdio};

/// Images of 4 × 4 as `.npy` (samples, 4, 4): smooth along rows, every one different.
fn images(bench: &Bench, name: &str, samples: usize) {
    let value = |at: usize| {
        let (k, i, j) = (at / 16, at / 4 % 4, at % 4);
        let pseudo = ((k * 7919 + i * 101 + 13) % 1009) as f64 / 1009.0;
        pseudo + 0.1 * ((k * 31 + at * 17) % 97) as f64 / 97.0 + 0.05 * j as f64
    };
    bench
        .write(name, array(&format!("({samples}, 4, 4)"), &(0..samples * 16).map(value).collect::<Vec<_>>()));
}

fn array(shape: &str, values: &[f64]) -> Vec<u8> {
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len()).expect("a short header").to_le_bytes());
    bytes.extend(header.bytes());
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    bytes
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

#[test]
fn a_fit_is_written_checked_and_inspected() {
    let bench = Bench::new();
    for method in ["axis", "pca", "sparse-pca", "algorithm3", "robust"] {
        let fit = bench.run(&format!(
            "project fit --data fashion --method {method} --rank 12 --out p.safetensors --json"
        ));
        assert_eq!(fit.code, 0, "{fit:?}");
        let record = fit.json();
        for key in ["channels", "kappa", "error", "limit", "method", "centred"] {
            assert!(keys(&record).contains(&key), "{key}: {record}");
        }
        for key in ["rank", "kappa", "error", "limit"] {
            assert!(keys(&record["channels"][0]).contains(&key), "{key}");
        }
        let number = |value: &Value| value.as_f64().expect("a number");
        let kappa = number(&record["kappa"]);
        assert!(kappa >= 12_f64.sqrt() && kappa <= 28.001, "{method}: {kappa}");
        assert!(kappa >= number(&record["limit"]));
        assert_eq!((record["channels"][0]["rank"].as_u64(), &record["method"]), (Some(12), &method.into()));
        let check = bench.run("check p.safetensors p.cert.json --json");
        assert_eq!(check.code, 0, "{check:?}");
        assert_eq!(number(&check.json()["kappa"]), kappa, "{method}: what the fit says is what is proven");
        let inspected = bench.run("project inspect p.safetensors --json").json();
        assert_eq!(number(&inspected["kappa"]), kappa);
        assert_eq!(inspected["shape"], serde_json::json!([1, 28, 28]));
    }
    let printed = bench.run("check p.safetensors p.cert.json");
    assert!(printed.stdout.starts_with("PROVEN: |U'|_{inf->2} <= 3.464"), "{printed:?}");
    // What is compared is kappa, the number printed, and not its square.
    let printed = bench.run("check p.safetensors p.cert.json --at-most 3.4");
    let said = "REJECTED: the proven bound on kappa, 3.464";
    assert!(printed.code == 1 && printed.stdout.starts_with(said), "{printed:?}");
    assert_eq!(bench.run("check p.safetensors p.cert.json --at-most 3.5").code, 0);
    assert_eq!(bench.run("check p.safetensors p.cert.json --gram").code, 2);
}

#[test]
fn certificates_of_projections_cannot_be_forged() {
    let bench = Bench::new();
    images(&bench, "x.npy", 60);
    let fitted =
        bench.run("project fit --data x.npy --method pca --rank 5 --centre --out p.safetensors --json");
    assert_eq!(fitted.code, 0, "{fitted:?}");
    assert_eq!(bench.run("project fit --data x.npy --method axis --rank 5 --out q.safetensors").code, 0);
    let kappa = fitted.json()["kappa"].as_f64().expect("a number");
    let whole: Value = serde_json::from_str(&bench.read("p.cert.json")).expect("JSON");
    let rejected = |change: &dyn Fn(&mut Value)| {
        let mut forged = whole.clone();
        change(&mut forged);
        bench.write("f.json", forged.to_string());
        let run = bench.run("check p.safetensors f.json --json");
        if run.code == 0 {
            // Whatever it passed as, what it proves is still true.
            let proven = run.json()["kappa"].as_f64().expect("a number");
            assert!(proven >= kappa * (1.0 - 1e-4), "{proven} below {kappa}: {forged}");
            return false;
        }
        true
    };
    assert!(rejected(&|file| file["channels"][0]["weights"][3] = 0.0.into()));
    assert!(rejected(&|file| file["channels"][0]["weights"][3] = (-1.0).into()));
    assert!(rejected(&|file| file["channels"][0]["norm"] = "quadratic".into()));
    assert!(rejected(&|file| file["channels"][0]["domain"] = "vertices".into()));
    assert!(rejected(&|file| file["channels"][0]["gram"] = false.into()));
    assert!(rejected(&|file| file["channels"][0]["matrix_sha256"] = "00".into()));
    assert!(rejected(&|file| file["channels"] = Value::Array(vec![])));
    assert!(rejected(&|file| {
        let part = file["channels"][0].clone();
        file["channels"].as_array_mut().expect("an array").push(part);
    }));
    assert!(rejected(&|file| file["kind"] = "matrix".into()));
    assert!(rejected(&|file| file["version"] = 9.into()));
    assert!(rejected(&|file| file["kappa"] = 1.0.into()), "no claim is read");
    // Weights of any size prove something true.
    assert!(!rejected(&|file| file["channels"][0]["weights"][3] = 1e-3.into()));
    assert!(!rejected(&|file| file["channels"][0]["weights"][3] = 1e3.into()));
    let other = bench.run("check p.safetensors q.cert.json");
    assert_eq!(other.code, 1, "{other:?}");
    assert!(other.stdout.contains("another matrix"), "{other:?}");
    let inspect = bench.run("project inspect p.safetensors q.cert.json");
    assert_eq!(inspect.code, 1, "{inspect:?}");
    // A stored number changed by one unit is another projection.
    let mut bytes = bench.read_bytes("p.safetensors");
    let last = bytes.len() - 8 * 16 - 8; // before the mean
    bytes[last] ^= 1;
    bench.write("p.safetensors", bytes);
    assert_eq!(bench.run("check p.safetensors p.cert.json").code, 1);
}

#[test]
fn wrong_questions_end_in_clear_errors_and_leave_nothing() {
    let bench = Bench::new();
    images(&bench, "x.npy", 7);
    let constant = array("(9, 4, 4)", &[0.5; 9 * 16]);
    bench.write("constant.npy", constant);
    let mut broken = vec![0.25; 3 * 16];
    broken[20] = f64::NAN;
    bench.write("nan.npy", array("(3, 4, 4)", &broken));
    bench.write("zero.npy", array("(9, 4, 4)", &[0.0; 9 * 16]));
    for (line, words) in [
        ("--data x.npy --rank 0", "rank 0"),
        ("--data x.npy --rank 17", "rank 17: must be between 1 and 16"),
        ("--data x.npy --rank 8", "7 samples"),
        ("--data x.npy --error 0", "error of 0: must be above 0"),
        ("--data x.npy --basis pixel --rank 3 --grid 2", "pixel"),
        ("--data x.npy --rank 3 --grid 5", "--grid 5"),
        ("--data x.npy --kappa 1", "cannot be reached"),
        ("--data x.npy --method algorithm3 --rank 3 --splits 4", "r = 4"),
        ("--data x.npy --method algorithm3 --error 0.01 --grid 1", "cannot be reached"),
        ("--data x.npy --rank 3 --certificate p.safetensors", "give two files"),
        ("--data x.npy --rank 3 --certificate no/c.json", "no/c.json"),
        ("--data x.npy --error 1.5", "error of 1.5"),
        ("--data x.npy --error nan", "error of NaN"),
        ("--data x.npy --kappa 0.5", "kappa of 0.5"),
        ("--data x.npy --rank 3 --gap 0", "gap"),
        ("--data x.npy --rank 3 --gap -1", "gap"),
        ("--data x.npy --rank 3 --error 0.1", "algorithm3"),
        ("--data x.npy --method sparse-pca --rank 3 --alpha -1", "alpha"),
        ("--data x.npy --method sparse-pca --rank 3 --alpha nan", "alpha"),
        ("--data x.npy --method algorithm3 --rank 2 --error 1e-9", "no projection of rank 2"),
        ("--data x.npy --method algorithm3 --kappa 3", "not a kappa"),
        ("--data x.npy --rank 3 --grid 1", "rank 3: must be between 1 and 1"),
        ("--data constant.npy --rank 3 --centre", "constant"),
        ("--data zero.npy --rank 3", "zero"),
        ("--data nan.npy --rank 2", "NaN"),
        ("--data missing.npy --rank 2", "missing.npy"),
    ] {
        let run = bench.run(&format!("project fit {line} --out p.safetensors"));
        assert_eq!(run.code, 2, "{line}: {run:?}");
        assert!(run.stderr.contains(words), "{line}: {run:?}");
        assert!(run.stdout.is_empty(), "{line}: {run:?}");
        assert!(!bench.path("p.safetensors").exists() && !bench.path("p.cert.json").exists(), "{line}");
    }
    let nowhere = bench.run("project fit --data x.npy --rank 3 --out nowhere/p.safetensors");
    assert!(nowhere.code == 2 && nowhere.stderr.contains("nowhere"), "{nowhere:?}");
    assert_eq!(bench.run("project fit --data x.npy").code, 2, "no target");
    assert_eq!(bench.run("project fit --data x.npy --rank 2 --kappa 3").code, 2, "two targets");
    assert_eq!(bench.run("project sweep --data x.npy --channel 1").code, 2, "no such channel");
    bench.write("cut.safetensors", [1, 2, 3]);
    bench.run("project fit --data x.npy --rank 3 --out whole.safetensors");
    let blamed = bench.run("check cut.safetensors whole.cert.json");
    assert!(blamed.code == 2 && blamed.stderr.contains("cut.safetensors"), "{blamed:?}");
    let cut = bench.run("project inspect cut.safetensors");
    assert!(cut.code == 2 && cut.stderr.contains("cut.safetensors"), "{cut:?}");
}

#[test]
fn threads_do_not_matter() {
    let bench = Bench::new();
    images(&bench, "x.npy", 300);
    for method in ["sparse-pca", "robust"] {
        let mut files = Vec::new();
        for threads in [1, 2] {
            let line = format!(
                "--threads {threads} project fit --data x.npy --method {method} --error 0.05 --out p.safetensors"
            );
            assert_eq!(bench.run(&line).code, 0);
            files.push((bench.read_bytes("p.safetensors"), bench.read_bytes("p.cert.json")));
        }
        assert!(files[0] == files[1], "{method}");
    }
}

/// The frontier: for every method and error a point within its budget, none below the limit; a figure of all.
#[test]
fn a_sweep_compares_all_methods() {
    let bench = Bench::new();
    images(&bench, "x.npy", 300);
    let run = bench.run("project sweep --data x.npy --errors 0.02,0.1 --figure f --json");
    assert_eq!(run.code, 0, "{run:?}");
    let points: Vec<Value> =
        run.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(points.len(), 10);
    for point in &points {
        let number = |key: &str| point[key].as_f64().expect("a number");
        assert!(number("error") <= number("budget") && number("kappa") >= number("limit"), "{point}");
        let best = points
            .iter()
            .find(|other| other["method"] == "robust" && other["budget"] == point["budget"])
            .expect("ours");
        // Within its own budget ours is the smallest, up to the gap it is proven to.
        assert!(best["kappa"].as_f64().expect("a number") <= number("kappa") * 1.001, "{point} {best}");
    }
    assert!(bench.read("f.svg").contains("limit"));
    assert!(bench.read_bytes("f.png").starts_with(b"\x89PNG"));
}

/// A time limit ends a search with the best there is, and coordinates there are at once.
#[test]
fn a_time_limit_keeps_the_best() {
    let bench = Bench::new();
    let line =
        "project fit --data fashion --method robust --error 0.05 --out p.safetensors --time-limit 0.1 --json";
    let run = bench.run(line);
    match run.code {
        0 | 1 => {
            assert_eq!(run.json()["stopped"].as_bool(), Some(run.code == 1));
            assert_eq!(bench.run("check p.safetensors p.cert.json").code, 0);
            assert!(run.json()["error"].as_f64().expect("a number") <= 0.05);
        }
        _ => panic!("{run:?}"),
    }
}

#[test]
fn data_are_found_in_the_data_directory() {
    let bench = Bench::new();
    images(&bench, "x.npy", 40);
    let run = |line: &str| {
        let child = Command::new(env!("CARGO_BIN_EXE_gambeson"))
            .args(line.split_whitespace())
            .current_dir(bench.path(""))
            .env("GAMBESON_DATA", bench.path("data"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        Bench::finish(line, child)
    };
    let absent = run("project fit --data cifar10 --rank 3");
    assert!(absent.code == 2 && absent.stderr.contains("data fetch cifar10"), "{absent:?}");
    assert_eq!(run("data import x.npy --name mine").code, 0);
    let (by_path, by_name) = (
        run("project fit --data x.npy --rank 3 --json").json(),
        run("project fit --data mine --rank 3 --json").json(),
    );
    assert_eq!(by_path["kappa"], by_name["kappa"]);
    assert_eq!(by_path["data_sha256"], by_name["data_sha256"]);
}
