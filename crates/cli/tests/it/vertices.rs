//! Lower ends with their evidence: `bound --vertex` and `check --vertex`.

use crate::support::{Bench, unwrapped};
use gambeson_testing::reference_data;

/// A pentagon with a weight of 2.5 on one edge: the largest cut leaves out one of the other edges.
const PENTAGON: &str = "5 5\n1 2 2.5\n2 3 1\n3 4 1\n4 5 1\n5 1 1\n";

#[test]
fn a_vertex_proves_the_lower_end_again() {
    let bench = Bench::new();
    bench.write("pentagon", PENTAGON);
    let run = bench.run("bound pentagon --vertex x.npy --certificate c.json");
    assert!(run.code == 0 && run.stdout.contains("vertex       x.npy"), "{run:?}");
    assert!(run.stdout.contains("  maximum    5.5000000 .. "), "{run:?}");
    let run = bench.run("check pentagon --vertex x.npy");
    assert!(run.code == 0 && run.stdout.starts_with("PROVEN: max x'Mx >= 5.5"), "{run:?}");
    let both = bench.run("check pentagon c.json --vertex x.npy");
    let bracketed = both.stdout.starts_with("PROVEN: 5.5") && both.stdout.contains(" <= max x'Mx <= ");
    assert!(both.code == 0 && bracketed, "{both:?}");
    let json = bench.run("check pentagon c.json --vertex x.npy --json").json();
    assert!(json["lower"] == 5.5 && json["bound"].as_f64().is_some_and(|bound| bound >= 5.5), "{json}");
    let json = bench.run("check pentagon --vertex x.npy --json").json();
    assert_eq!((&json["proven"], &json["lower"], json["bound"].is_null()), (&true.into(), &5.5.into(), true));
    assert!(bench.run("check pentagon c.json --json").json()["lower"].is_null());
    // What is wrong with the certificate is no fault of the vertex.
    let run = bench.run("check pentagon c.json --vertex x.npy --at-most 5");
    let text = unwrapped(&run.stdout);
    assert!(run.code == 1 && text.starts_with("REJECTED: the proven bound on max x'Mx, "), "{run:?}");
    assert!(text.contains("The vertex proves all the same: max x'Mx >= 5.5"), "{run:?}");
    // Another point proves what it can.
    bench.save_vector("ones.npy", &[1.0; 5]);
    let run = bench.run("check pentagon --vertex ones.npy");
    assert!(run.code == 0 && run.stdout.starts_with("PROVEN: max x'Mx >= 0 on"), "{run:?}");
}

#[test]
fn vertices_of_norms_and_random_matrices() {
    let bench = Bench::new();
    let a = [1.0, 2.0, 3.0, 4.0, -1.0, 1.0];
    bench.save_npy("a.npy", 3, 2, &a);
    for (norm, length, statement) in [
        ("inf-to-one", 5, "PROVEN: |A|_{inf->1} >= 10\n"),
        ("inf-to-two", 2, "PROVEN: |A|_{inf->2}^2 >= 58\n"),
    ] {
        let line = format!("bound a.npy --norm {norm} --vertex {norm}.npy --certificate {norm}.json");
        assert_eq!(bench.run(&line).code, 0);
        let run = bench.run(&format!("check a.npy --norm {norm} --vertex {norm}.npy"));
        assert!(run.code == 0 && run.stdout == statement, "{run:?}");
        let run = bench.run(&format!("check a.npy {norm}.json --vertex {norm}.npy"));
        assert!(
            run.code == 0 && run.stdout.starts_with("PROVEN: ") && run.stdout.contains(" <= |A|"),
            "{run:?}"
        );
        bench.save_vector("long.npy", &vec![1.0; length + 1]);
        let run = bench.run(&format!("check a.npy --norm {norm} --vertex long.npy"));
        let said = format!("long.npy: {} entries, but a vertex has {length} here", length + 1);
        assert!(run.code == 2 && run.stderr.contains(&said), "{run:?}");
    }
    let run = bench.run("bound --random qp:20:1 --vertex r.npy --certificate r.json --json");
    let lower = &run.json()["lower"];
    assert_eq!(&bench.run("check --random qp:20:1 --vertex r.npy --json").json()["lower"], lower);
    let both = bench.run("check --random qp:20:1 r.json --vertex r.npy --json").json();
    assert_eq!((&both["lower"], &both["bound"]), (lower, &run.json()["upper"]));
}

#[test]
fn files_that_are_no_vertices_are_refused() {
    let bench = Bench::new();
    bench.write("pentagon", PENTAGON);
    let refused = |said: &str| {
        let run = bench.run("check pentagon --vertex x.npy");
        assert!(run.code == 2 && run.stdout.is_empty() && run.stderr.contains(said), "{said}: {run:?}");
    };
    refused("x.npy: No such file");
    bench.save_vector("x.npy", &[1.0; 4]);
    refused("x.npy: 4 entries, but a vertex has 5 here");
    bench.save_vector("x.npy", &[1.0, -1.0, 0.5, 1.0, 1.0]);
    refused("x.npy: entry 2 is 0.5, a vertex has entries 1 and -1");
    bench.save_vector("x.npy", &[1.0, -1.0, 1.0, 1.5, 1.0]);
    refused("x.npy: entry 3 is 1.5,");
    bench.save_vector("x.npy", &[f64::NAN, -1.0, 1.0, 1.0, 1.0]);
    refused("x.npy: entry 0 is NaN,");
    bench.save_npy("x.npy", 5, 1, &[1.0; 5]);
    refused("x.npy: the array has 2 dimension(s)");
    bench.write("x.npy", PENTAGON);
    refused("x.npy: npy header");
    // Questions that a vertex does not answer.
    bench.save_vector("x.npy", &[1.0; 5]);
    let run = bench.run("check pentagon --vertex x.npy --at-most 3");
    assert!(
        run.code == 2 && run.stderr.contains("--at-most 3: must be left out without a certificate"),
        "{run:?}"
    );
    assert_eq!(bench.run("check pentagon --vertex x.npy --model toy --data digits").code, 2);
    assert_eq!(bench.run("check pentagon").code, 2);
}

#[test]
fn a_vertex_overwrites_nothing_unasked() {
    let bench = Bench::new();
    bench.write("pentagon", PENTAGON);
    bench.save_npy("m.npy", 2, 2, &[2.0, 1.0, 1.0, 2.0]);
    bench.save_vector("x.npy", &[0.5, 2.0]);
    let before = bench.read_bytes("x.npy");
    let run = bench.run("bound pentagon --vertex x.npy");
    assert!(
        run.code == 2 && run.stderr.contains("x.npy: exists") && run.stderr.contains("--force"),
        "{run:?}"
    );
    assert_eq!(bench.read_bytes("x.npy"), before);
    assert_eq!(bench.run("bound pentagon --vertex x.npy --force").code, 0);
    let run = bench.run("bound m.npy --vertex m.npy --force");
    assert!(run.code == 2 && run.stderr.contains("m.npy: is the matrix"), "{run:?}");
    let run = bench.run("bound m.npy --vertex c.json --certificate c.json");
    assert!(run.code == 2 && run.stderr.contains("is both"), "{run:?}");
    let run = bench.run("bound m.npy --vertex none/x.npy");
    assert!(run.code == 2 && run.stderr.contains("its folder does not exist"), "{run:?}");
}

/// A random graph and a torus with weights of 1 and −1.
#[test]
fn whole_weights_have_whole_cuts() {
    let Some(folder) = reference_data("sdp") else { return };
    let bench = Bench::new();
    for name in ["G1", "G11"] {
        let graph = folder.join(name);
        let graph = graph.display();
        let run = bench.run(&format!("bound {graph} --gap 1e-2 --vertex {name}.npy"));
        let line = run.stdout.lines().find(|line| line.starts_with("  maximum")).expect("a bracket");
        let lower = line.split_whitespace().nth(1).expect("a number");
        assert!(lower.parse::<u32>().is_ok_and(|cut| cut > 400), "{name}: {line}");
        let run = bench.run(&format!("check {graph} --vertex {name}.npy"));
        assert_eq!(run.stdout, format!("PROVEN: max x'Mx >= {lower} on the vertices\n"), "{name}");
    }
}
