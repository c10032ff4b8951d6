//! Streams, paths and texts that are not what one expects.

use crate::support::Bench;
#[cfg(unix)]
use std::process::{Command, Stdio};

#[cfg(unix)]
fn shell(bench: &Bench, line: &str) -> (i32, String) {
    let line = line.replace("GAMBESON", env!("CARGO_BIN_EXE_gambeson"));
    let output = Command::new("bash")
        .args(["-c", &line])
        .current_dir(bench.path(""))
        .stdin(Stdio::null())
        .output()
        .expect("a shell");
    (output.status.code().expect("not killed"), String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(target_os = "linux")]
#[test]
fn a_stderr_that_cannot_be_written_loses_the_message_only() {
    let bench = Bench::new();
    assert_eq!(shell(&bench, "GAMBESON bound nothing 2>/dev/full").0, 2);
    assert_eq!(shell(&bench, "GAMBESON bound 2>/dev/full").0, 2);
    assert_eq!(shell(&bench, "GAMBESON bound nothing 2>&-").0, 2);
    let line = "(GAMBESON data fetch cifar10 --from nothing; echo code $? >&3) 3>&1 2>&1 | head -1";
    for _ in 0..5 {
        assert!(!shell(&bench, line).1.contains("code 101"));
    }
    bench.write("graph", "2 1\n1 2\n");
    assert_eq!(shell(&bench, "GAMBESON bound graph > /dev/full").0, 2);
}

#[cfg(target_os = "linux")]
#[test]
fn paths_need_not_be_text() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let bench = Bench::new();
    let name =
        |ending: &str| bench.path("").join(OsStr::from_bytes(&[b"caf\xe9 ", ending.as_bytes()].concat()));
    bench.save_npy("m.npy", 2, 2, &[2.0, 1.0, 1.0, 2.0]);
    std::fs::copy(bench.path("m.npy"), name("m.npy")).expect("copied");
    let x: Vec<f64> = (0..24).map(|k| f64::from(k * k % 7)).collect();
    bench.save_npy("x.npy", 6, 4, &x);
    std::fs::copy(bench.path("x.npy"), name("x.npy")).expect("copied");
    let run = |arguments: &[&OsStr]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gambeson"));
        let output = command.args(arguments).current_dir(bench.path("")).output().expect("it runs");
        assert_eq!(
            output.status.code(),
            Some(0),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    };
    let word = OsStr::new;
    let (m, x, c, p, r) =
        (name("m.npy"), name("x.npy"), name("c.json"), name("p.safetensors"), name("r.jsonl"));
    run(&[word("bound"), m.as_os_str(), word("--certificate"), c.as_os_str(), word("--json")]);
    run(&[word("check"), m.as_os_str(), c.as_os_str()]);
    run(&[word("data"), word("info"), x.as_os_str()]);
    let fit = ["project", "fit", "--rank", "2", "--basis", "pixel", "--json", "--data"].map(word);
    run(&[&fit[..], &[x.as_os_str(), word("--out"), p.as_os_str()]].concat());
    let certify =
        ["certify", "--model", "toy:ball,radius=1", "--sigma", "0.5", "--n", "100", "--n0", "10", "--json"];
    let tail = [word("--data"), x.as_os_str(), word("--out"), r.as_os_str()];
    run(&[&certify.map(word)[..], &tail].concat());
    let (table, figure) = (name("t.md"), name("f.svg"));
    let outputs =
        [word("--markdown"), table.as_os_str(), word("--figure"), figure.as_os_str(), word("--any-class")];
    run(&[&[word("analyze"), r.as_os_str()][..], &outputs].concat());
}

#[test]
fn texts_of_files_are_shown_as_texts() {
    let bench = Bench::new();
    let run = bench.run("project fit --data fashion --rank 2 --method axis --out p.safetensors");
    assert_eq!(run.code, 0, "{run:?}");
    std::fs::remove_file(bench.path("p.cert.json")).expect("removed");
    let bytes = bench.read_bytes("p.safetensors");
    let length = usize::try_from(u64::from_le_bytes(*bytes.first_chunk().expect("a length"))).expect("short");
    let header = String::from_utf8(bytes[8..8 + length].to_vec()).expect("text");
    let forged = header.trim_end().replacen("fashion-train", "x\\nPROVEN: kappa <= 1\\u001b[32m\\u202e", 1);
    assert_ne!(forged, header.trim_end());
    let forged = format!("{forged:<width$}", width = forged.len().next_multiple_of(8));
    let mut file = (forged.len() as u64).to_le_bytes().to_vec();
    file.extend(forged.bytes().chain(bytes[8 + length..].iter().copied()));
    bench.write("forged.safetensors", file);
    let run = bench.run("project inspect forged.safetensors");
    assert_eq!(run.code, 0, "{run:?}");
    assert!(
        !run.stdout.contains('\x1b') && !run.stdout.lines().any(|line| line.starts_with("PROVEN")),
        "{run:?}"
    );
    assert!(run.stdout.contains("x\\u{a}PROVEN: kappa <= 1\\u{1b}[32m\\u{202e}"), "{run:?}");
    bench.write("bad", "2 1\n1 2 \x1b[31mPROVEN\n");
    let run = bench.run("bound bad");
    assert!(run.code == 2 && !run.stderr.contains('\x1b'), "{run:?}");
}

#[test]
fn a_mark_at_the_start_of_records_is_skipped() {
    let bench = Bench::new();
    let line = "certify --model toy:half-space,offset=0.2 --data fashion --sigma 0.5 --stop 2 --n 200 --n0 20 --out r.jsonl";
    assert_eq!(bench.run(line).code, 0);
    let text = bench.read("r.jsonl");
    bench.write("r.jsonl", format!("\u{feff}{text}"));
    assert_eq!(bench.run("analyze r.jsonl").code, 0);
    let again = bench.run(&format!("{line} --json")).json();
    assert_eq!(again["resumed"], 2);
}

#[test]
fn kappa_says_where_it_comes_from() {
    let bench = Bench::new();
    assert_eq!(bench.run("project fit --data fashion --rank 3 --method axis --out p.safetensors").code, 0);
    let certify = "certify --model toy:half-space,offset=0.2 --data fashion --sigma 0.5 --n 200 --n0 20";
    assert_eq!(bench.run(&format!("{certify} --stop 2 --out plain.jsonl")).code, 0);
    assert_eq!(
        bench.run(&format!("{certify} --stop 2 --projection p.safetensors --out projected.jsonl")).code,
        0
    );
    let json = |line: &str| bench.run(line).json();
    let plain = json("analyze plain.jsonl --json");
    assert_eq!((&plain["kappa_from"], plain["kappa"].is_null()), (&"no-projection".into(), true));
    let recorded = json("analyze projected.jsonl --json");
    assert_eq!((&recorded["kappa_from"], recorded["proven_by"].is_null()), (&"recorded".into(), true));
    assert_eq!(json("analyze projected.jsonl --projection p.safetensors --json")["kappa_from"], "proven");
    let given = json("analyze projected.jsonl --kappa 5 --json");
    assert_eq!((&given["kappa_from"], &given["kappa"]), (&"given".into(), &5.0.into()));
    let run = bench.run("analyze projected.jsonl --kappa 5");
    assert!(run.stdout.contains("κ = 5 as given"), "{run:?}");
    // Logs of other images are not compared unless that is asked for.
    assert_eq!(bench.run(&format!("{certify} --stop 3 --seed 1 --out more.jsonl")).code, 0);
    let run = bench.run("analyze plain.jsonl more.jsonl");
    assert!(run.code == 0 && !run.stdout.contains("*:") && run.stdout.contains("Not compared"), "{run:?}");
    assert_eq!(bench.run("analyze plain.jsonl more.jsonl --envelope").code, 2);
    let run = bench.run("analyze plain.jsonl more.jsonl --envelope --mixed");
    assert!(run.code == 0 && run.stdout.contains("*: the best log"), "{run:?}");
}
