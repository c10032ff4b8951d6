//! Streams, paths and texts that are not what one expects.

use crate::support::Bench;
#[cfg(target_os = "linux")]
use crate::training::SPEC;
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
    for line in
        ["bound graph", "--help", "--version", "help bound", "bound --help", "man", "completions bash"]
    {
        assert_eq!(shell(&bench, &format!("GAMBESON {line} > /dev/full")).0, 2, "{line}");
        assert_eq!(shell(&bench, &format!("GAMBESON {line} | true; exit ${{PIPESTATUS[0]}}")).0, 0, "{line}");
    }
}

/// Both streams into a reader that leaves after the first line, while the command is at work.
#[cfg(target_os = "linux")]
#[test]
fn readers_that_leave_do_not_stop_the_work() {
    let bench = Bench::new();
    bench.write("s.toml", SPEC);
    let certify = "certify --model toy:half-space,offset=0.2 --data fashion --sigma 0.5 --stop 30 --n 5000";
    for line in [
        &format!("{certify} --out r.jsonl"),
        "train s.toml --out run",
        "project fit --data fashion --rank 30 --method robust --out p.safetensors",
    ] {
        let run = shell(&bench, &format!("GAMBESON {line} 2>&1 | head -1; exit ${{PIPESTATUS[0]}}"));
        assert_eq!(run.0, 0, "{line}: {}", run.1);
    }
    assert_eq!(bench.read("r.jsonl").lines().count(), 31, "a head and 30 records");
    assert!(bench.path("run/network.safetensors").exists());
    assert_eq!(bench.run("check p.safetensors p.cert.json").code, 0);
}

#[cfg(target_os = "linux")]
#[test]
fn paths_need_not_be_text() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let bench = Bench::with_own_data();
    let name =
        |ending: &str| bench.path("").join(OsStr::from_bytes(&[b"caf\xe9 ", ending.as_bytes()].concat()));
    bench.save_npy("m.npy", 2, 2, &[2.0, 1.0, 1.0, 2.0]);
    std::fs::copy(bench.path("m.npy"), name("m.npy")).expect("copied");
    let x: Vec<f64> = (0..24).map(|k| f64::from(k * k % 7)).collect();
    bench.save_npy("x.npy", 6, 4, &x);
    std::fs::copy(bench.path("x.npy"), name("x.npy")).expect("copied");
    let run = |arguments: &[&OsStr]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gambeson"));
        command.args(arguments).env("GAMBESON_DATA", bench.path("data")).current_dir(bench.path(""));
        let output = command.output().expect("it runs");
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
    // The vector of a toy, which the guard has to know as well.
    bench.save_npy("v.npy", 1, 4, &[1.0, 0.0, 0.0, 0.0]);
    let v = name("v.npy");
    std::fs::copy(bench.path("v.npy"), &v).expect("copied");
    let model = [word("toy:half-space,normal="), v.as_os_str()].join(word(""));
    let tail = [word("--model"), &model, word("--data"), x.as_os_str(), word("--json")];
    run(&[&["predict", "--sigma", "0.5", "--n", "100"].map(word)[..], &tail].concat());
    let tsv = [word("certify"), word("--sigma"), word("0.5"), word("--force"), word("--tsv"), v.as_os_str()];
    let output = Command::new(env!("CARGO_BIN_EXE_gambeson"))
        .args([&tsv[..], &tail].concat())
        .current_dir(bench.path(""))
        .output();
    let said = String::from_utf8_lossy(&output.expect("it runs").stderr).into_owned();
    assert!(said.contains("is the vector of the toy, which --tsv would destroy"), "{said}");
    // Everything about networks.
    let (spec, folder, net) = (name("s.toml"), name("run"), name("net.onnx"));
    std::fs::write(&spec, SPEC).expect("written");
    run(&[word("train"), spec.as_os_str(), word("--out"), folder.as_os_str()]);
    run(&[word("train"), spec.as_os_str(), word("--json")]);
    let network = folder.join("network.safetensors");
    run(&[word("export"), network.as_os_str(), net.as_os_str()]);
    let (out, projection) = (name("adv.npy"), folder.join("projection.safetensors"));
    let attack =
        ["attack", "--data", "fashion", "--epsilon", "0.1", "--every", "200", "--steps", "1", "--model"];
    let tail =
        [network.as_os_str(), word("--projection"), projection.as_os_str(), word("--out"), out.as_os_str()];
    run(&[&attack.map(word)[..], &tail].concat());
    crate::reproduce::networks::experiments(&bench);
    let reproduce = ["reproduce", "fig-adv-examples", "--experiments", "e", "--results"].map(word);
    let (results, runs) = (name("results"), name("runs"));
    run(&[&reproduce[..], &[results.as_os_str(), word("--runs"), runs.as_os_str()]].concat());
    assert!(runs.is_dir() && !bench.path("caf\u{fffd} runs").exists());
    run(&[word("data"), word("import"), x.as_os_str(), word("--name"), word("mine")]);
}

#[test]
fn a_mark_at_the_start_of_records_is_skipped() {
    let bench = Bench::new();
    let line = "certify --model toy:half-space,offset=0.2 --data fashion --sigma 0.5 --stop 2 --n 200 --n0 20 --out r.jsonl";
    assert_eq!(bench.run(line).code, 0);
    let text = bench.read("r.jsonl");
    // Files that were joined have one before each head.
    let marked = text.lines().fold(String::new(), |marked, line| marked + "\u{feff}" + line + "\n");
    bench.write("r.jsonl", marked);
    assert_eq!(bench.run("analyze r.jsonl").code, 0);
    let again = bench.run(&format!("{line} --json")).json();
    assert_eq!(again["resumed"], 2);
    // Nor does it matter before a certificate.
    bench.save_npy("m.npy", 2, 2, &[2.0, 1.0, 1.0, 2.0]);
    assert_eq!(bench.run("bound m.npy --certificate c.json").code, 0);
    assert_eq!(bench.run("project fit --data fashion --rank 2 --method axis --out p.safetensors").code, 0);
    for name in ["c.json", "p.cert.json"] {
        bench.write(name, format!("\u{feff}{}", bench.read(name)));
    }
    assert_eq!(bench.run("check m.npy c.json").code, 0);
    assert_eq!(bench.run("check p.safetensors p.cert.json").code, 0);
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
    assert!(run.code == 0 && run.stdout.contains("*: the highest accuracy"), "{run:?}");
}
