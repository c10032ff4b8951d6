//! `bound` and `check` on good input.

use crate::support::Bench;

/// A triangle with unit weights: every cut has at most 2 edges; the relaxation is 9/4.
const TRIANGLE: &str = "3 3\n1 2 1\n2 3 1\n1 3 1\n";

#[test]
fn the_demo_proves_and_rejects() {
    let bench = Bench::new();
    let run = bench.run("bound --demo");
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stdout.contains("PROVEN") && run.stdout.contains("REJECTED"), "{run:?}");
    let same = bench.run("bound --random psd:300:1 --method mwu --json").json();
    let ran = format!("Algorithm 2 ran {} iterations", same["iterations"]);
    assert!(run.stdout.contains(&ran), "the solver it names is the one that ran: {ran}, {run:?}");
}

#[test]
fn a_graph_is_bounded_on_the_vertices() {
    let bench = Bench::new();
    bench.write("triangle", TRIANGLE);
    let run = bench.run("bound triangle --certificate c.json --gap 0.01 --json");
    assert_eq!(run.code, 0, "{run:?}");
    let json = run.json();
    let number = |key: &str| json[key].as_f64().unwrap_or_else(|| panic!("{key} in {json}"));
    assert_eq!((json["domain"].as_str(), json["norm"].as_str()), (Some("vertices"), Some("quadratic")));
    assert_eq!((json["n"].as_u64(), json["method"].as_str()), (Some(3), Some("burer-monteiro")));
    assert!((2.25..2.28).contains(&number("upper")), "{json}");
    assert!((1.999_999..=2.0).contains(&number("lower")), "{json}");
    assert!((2.2..=2.25).contains(&number("sdp_lower")) && number("gap") <= 0.01, "{json}");
    assert!(json["kappa"].is_null() && json["stop"].is_string() && number("iterations") >= 1.0);
    assert!(number("seconds_solve") >= 0.0 && number("seconds_check") >= 0.0);
    let run = bench.run("check triangle c.json --json");
    let checked = run.json();
    assert_eq!((run.code, checked["proven"].as_bool()), (0, Some(true)), "{run:?}");
    assert_eq!(checked["bound"], json["upper"], "the certificate alone gives the same number");
    assert!(checked["reason"].is_null());
    assert_eq!((checked["norm"].as_str(), checked["gram"].as_bool()), (Some("quadratic"), Some(false)));
    assert_eq!(checked["domain"], "vertices");
    let run = bench.run("check triangle c.json --at-most 2.3");
    assert_eq!(run.code, 0, "{run:?}");
    let run = bench.run("check triangle c.json --at-most 2.2 --json");
    assert_eq!((run.code, run.json()["proven"].as_bool()), (1, Some(false)), "{run:?}");
}

#[test]
fn both_say_what_they_cost() {
    let bench = Bench::new();
    let bound = bench.run("bound --random psd:200:1 --certificate c.json --json").json();
    let check = bench.run("check --random psd:200:1 c.json --json").json();
    for json in [bound, check] {
        assert!(json["seconds_read"].as_f64().is_some_and(|seconds| seconds > 0.0), "{json}");
        let matrix = 8 * 200 * 200;
        let memory = json.get("peak_memory").expect("the key is there on every system");
        assert!(memory.as_u64().map_or(cfg!(not(target_os = "linux")), |bytes| bytes > matrix), "{json}");
    }
    let people = bench.run("bound --random psd:200:1").stdout;
    assert_eq!(people.contains("GB at the peak"), cfg!(target_os = "linux"), "{people}");
}

#[test]
fn norms_and_factors() {
    let bench = Bench::new();
    // A = [1 2; 3 4; -1 1]: the norms by hand over the four sign vectors.
    let a = [1.0, 2.0, 3.0, 4.0, -1.0, 1.0];
    bench.save_npy("a.npy", 3, 2, &a);
    let image = |x: f64, y: f64| [x + 2.0 * y, 3.0 * x + 4.0 * y, y - x];
    let one = [image(1.0, 1.0), image(1.0, -1.0)].map(|y| y.iter().map(|y| y.abs()).sum::<f64>());
    let two = [image(1.0, 1.0), image(1.0, -1.0)].map(|y| y.iter().map(|y| y * y).sum::<f64>());
    let run = bench.run("bound a.npy --norm inf-to-one --json --certificate one.json");
    let upper = run.json()["upper"].as_f64().expect("a number");
    assert!(one.iter().all(|value| *value <= upper) && upper < 1.8 * one[0].max(one[1]), "{run:?}");
    assert!(bench.run("check a.npy one.json").stdout.starts_with("PROVEN: |A|_{inf->1} <= "));
    let run = bench.run("bound a.npy --norm inf-to-two --json --certificate two.json");
    let json = run.json();
    let (upper, kappa) = (json["upper"].as_f64().expect("upper"), json["kappa"].as_f64().expect("kappa"));
    assert!(two.iter().all(|value| *value <= upper) && kappa * kappa >= upper, "{run:?}");
    let run = bench.run("check a.npy two.json --norm inf-to-two");
    assert!(run.code == 0 && run.stdout.starts_with("PROVEN: |A|_{inf->2}^2 <= "), "{run:?}");
    assert!(run.stdout.contains("kappa <= "), "{run:?}");
    let run = bench.run("check a.npy two.json --norm inf-to-one");
    assert!(run.code == 1 && run.stdout.contains("inf-to-two"), "another norm is another claim: {run:?}");
    assert_eq!(bench.run("check a.npy two.json --gram").code, 1, "another reading too");
    // The norm of the transpose is another number: it has to be asked for.
    assert_eq!(bench.run("bound a.npy --norm inf-to-two --gram --certificate t.json").code, 0);
    assert_eq!(bench.run("check a.npy t.json --norm inf-to-two").code, 1);
    let run = bench.run("check a.npy t.json --norm inf-to-two --gram");
    assert!(run.code == 0 && run.stdout.starts_with("PROVEN: |U'|_{inf->2}^2 <= "), "{run:?}");
    let run = bench.run("bound a.npy --gram --json --certificate gram.json");
    assert_eq!(run.json()["n"].as_u64(), Some(3), "{run:?}");
    for line in ["check a.npy gram.json", "check a.npy gram.json --gram --norm quadratic"] {
        let run = bench.run(line);
        let stated =
            run.stdout.starts_with("PROVEN: x'UU'x <= ") && run.stdout.contains("U the matrix given");
        assert!(run.code == 0 && stated, "{run:?}");
    }
    assert_eq!(bench.run("bound a.npy").code, 2, "not square, and no norm asked for");
}

#[test]
fn random_instances_are_reproducible() {
    let bench = Bench::new();
    for instance in ["psd:40:7", "qp:40:7"] {
        let first = bench.run(&format!("bound --random {instance} --json --certificate a.json --threads 1"));
        let second = bench.run(&format!("bound --random {instance} --json --certificate b.json --threads 2"));
        assert_eq!((first.code, second.code), (0, 0));
        assert_eq!(first.json()["upper"], second.json()["upper"]);
        assert_eq!(
            bench.read("a.json"),
            bench.read("b.json"),
            "the same certificate on any number of threads"
        );
        assert_eq!(bench.run(&format!("check --random {instance} a.json")).code, 0);
        let third = bench.run(&format!("bound --random {instance} --method mwu --json --threads 2"));
        assert_eq!((third.code, third.json()["method"].as_str()), (0, Some("mwu")));
        let other = bench.run(&format!("check --random {} a.json", instance.replace(":7", ":8")));
        assert_eq!(other.code, 1, "another matrix: {other:?}");
    }
}

#[test]
fn a_gap_out_of_reach_is_exit_1_with_a_proven_bracket() {
    let bench = Bench::new();
    let run = bench.run("bound --random psd:60:1 --method mwu --gap 1e-9 --iterations 20 --json");
    assert_eq!(run.code, 1, "{run:?}");
    let json = run.json();
    assert!(
        json["upper"].as_f64() > json["sdp_lower"].as_f64() && json["stop"] == "iteration-limit",
        "{json}"
    );
    let run = bench.run("bound --random psd:900:1 --gap 1e-9 --time-limit 0.02 --json");
    assert_eq!((run.code, run.json()["stop"].as_str()), (1, Some("time-limit")), "{run:?}");
    assert!(run.stderr.is_empty(), "no live line where nobody sees it: {run:?}");
}

#[test]
fn a_default_gap_is_insisted_on_only_where_the_run_was_cut_short() {
    let bench = Bench::new();
    let run = bench.run("bound --random psd:900:1 --method mwu --time-limit 0.001 --json");
    assert_eq!((run.code, run.json()["stop"].as_str()), (1, Some("time-limit")), "{run:?}");
    assert!(run.json()["gap"].as_f64() > Some(5e-3), "{run:?}");
    let run = bench.run("bound --random psd:60:1 --method mwu --iterations 2 --time-limit 600 --json");
    assert_eq!((run.code, run.json()["stop"].as_str()), (0, Some("iteration-limit")), "{run:?}");
    assert!(run.json()["gap"].as_f64() > Some(5e-3), "{run:?}");
    assert_eq!(bench.run("bound --random psd:60:1 --time-limit 600").code, 0, "reached in time");
}

#[test]
fn early_stops_are_those_of_the_box() {
    let bench = Bench::new();
    let line = "bound --random psd:60:1 --method mwu --gap 1e-9 --accuracy 0.45 --json";
    let stop = |line: &str| bench.run(line).json()["stop"].as_str().map(str::to_owned);
    let early = stop(&format!("{line} --early-stop")).expect("a reason");
    assert!(early.ends_with("-feasible"), "{early}");
    assert!(!stop(line).expect("a reason").ends_with("-feasible"));
}

#[test]
fn a_bound_below_zero_can_be_asked_for() {
    let bench = Bench::new();
    bench.save_npy("m.npy", 2, 2, &[-3.0, 0.5, 0.5, -3.0]); // -6 + 1 on the vertices
    assert_eq!(bench.run("bound m.npy --domain vertices --certificate c.json").code, 0);
    for (most, code) in [("-3", 0), ("-4.5e0", 0), ("-5.5", 1), ("-6e-0", 1)] {
        let run = bench.run(&format!("check m.npy c.json --domain vertices --at-most {most}"));
        assert_eq!(run.code, code, "{most}: {run:?}");
    }
}

#[test]
fn a_result_is_printed_even_where_its_certificate_cannot_be_written() {
    let bench = Bench::new();
    let long = "c".repeat(300); // a folder that can be written to, a name that cannot
    let run = bench.run(&format!("bound --random psd:5:1 --certificate {long} --json"));
    assert!(run.code == 2 && run.json()["upper"].is_f64() && run.stderr.contains(&long), "{run:?}");
    // What fails early costs no run.
    let run = bench.run("bound --random psd:5:1 --certificate no/folder/c.json");
    assert!(run.code == 2 && run.stdout.is_empty() && run.stderr.contains("no/folder/c.json"), "{run:?}");
    assert!(!run.stderr.contains(".tmp"), "the user's name, not ours: {run:?}");
}

#[test]
fn a_reader_that_has_gone_changes_no_exit_code() {
    let bench = Bench::new();
    assert_eq!(bench.run("bound --random psd:5:1 --certificate c.json").code, 0);
    for (line, code) in [
        ("completions bash", 0),
        ("completions zsh", 0),
        ("man", 0),
        ("check --random psd:5:1 c.json", 0),
        ("check --random psd:5:1 c.json --gram", 1),
        ("bound --random psd:5:1 --gap 1e-13 --iterations 1 --certificate d.json", 1),
    ] {
        let run = bench.run_unread(line);
        assert!(run.code == code && run.stderr.is_empty(), "{line}: {run:?}");
    }
    assert!(bench.path("d.json").exists(), "written all the same");
}

#[test]
fn help_names_both_files() {
    let help = Bench::new().run("check --help").stdout;
    assert!(help.contains("check [OPTIONS] <INPUT> <CERTIFICATE>\n"), "{help}");
    assert!(help.contains("check [OPTIONS] --random <KIND:N:SEED> <CERTIFICATE>\n"), "{help}");
}

#[test]
fn people_get_a_table_and_numbers_rounded_outward() {
    let bench = Bench::new();
    bench.write("triangle", TRIANGLE);
    let run = bench.run("bound triangle");
    assert!(run.code == 0 && run.stderr.is_empty(), "{run:?}");
    let line = run.stdout.lines().find(|line| line.trim_start().starts_with("relaxation")).expect("its line");
    let numbers: Vec<f64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let exact = bench.run("bound triangle --json").json();
    assert!(numbers[0] <= exact["sdp_lower"].as_f64().expect("lower"), "{line}");
    assert!(numbers[1] >= exact["upper"].as_f64().expect("upper"), "{line}");
}

#[test]
fn completions_and_manual_exist() {
    let bench = Bench::new();
    assert!(bench.run("completions bash").stdout.contains("gambeson"));
    assert!(bench.run("man").stdout.contains(".TH gambeson"));
    assert_eq!(bench.run("--version").code, 0);
}
