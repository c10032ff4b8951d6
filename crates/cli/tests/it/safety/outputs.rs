//! Every command that could destroy a file of its user, and what it says instead.

use crate::support::{Bench, Run};

/// A spec without a file.
const PLAIN: &str = "[data]\nname = \"fashion\"\n[model]\nfamily = \"mlp\"\nhidden = [3]\n[noise]\nsigma = 0.25\n\
    [projection]\nfit = { method = \"axis\", rank = 3 }\n[objective]\nkind = \"gaussian\"\n\
    [optimiser]\nepochs = 1\nlearning_rate = 0.1\n";

/// A bench with one file of each kind.
fn bench() -> Bench {
    let bench = Bench::with_own_data();
    bench.save_npy("m.npy", 2, 2, &[2.0, 1.0, 1.0, 2.0]);
    bench.save_npy("x.npy", 6, 4, &(0..24).map(|k| f64::from(k * k % 7)).collect::<Vec<_>>());
    let run = bench.run("certify --model toy:half-space,offset=0.2 --data fashion --sigma 0.5 --stop 2 --n 200 --n0 20 --out r.jsonl");
    assert_eq!(run.code, 0, "{run:?}");
    let run = bench.run("project fit --data fashion --rank 3 --method axis --out p.safetensors");
    assert_eq!(run.code, 0, "{run:?}");
    bench.write("notes.txt", "my notes\n");
    bench
}

fn files(bench: &Bench) -> Vec<(String, Vec<u8>)> {
    let names = std::fs::read_dir(bench.path(""))
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("text"));
    let mut names: Vec<String> = names.filter(|name| bench.path(name).is_file()).collect();
    names.sort();
    names.into_iter().map(|name| (name.clone(), bench.read_bytes(&name))).collect()
}

/// Refused with a message, and nothing was changed.
fn refused(bench: &Bench, line: &str, message: &str) {
    let before = files(bench);
    let run: Run = bench.run(line);
    assert!(run.code == 2 && run.stderr.contains(message), "{line}: {run:?}");
    assert!(before == files(bench), "{line} changed a file");
}

#[test]
fn outputs_never_destroy_inputs() {
    let bench = bench();
    let destroys = "would destroy; give another file";
    refused(&bench, "bound m.npy --certificate m.npy", destroys);
    refused(&bench, "bound m.npy --certificate ./m.npy --force", destroys);
    for option in ["csv", "markdown", "latex"] {
        refused(&bench, &format!("analyze r.jsonl --{option} r.jsonl"), destroys);
    }
    std::fs::copy(bench.path("r.jsonl"), bench.path("log.svg")).expect("copied");
    refused(&bench, "analyze log.svg --figure log.svg", destroys);
    refused(&bench, "project fit --data x.npy --rank 2 --out x.npy", destroys);
    refused(&bench, "project fit --data x.npy --rank 2 --out q.safetensors --certificate x.npy", destroys);
    let certify =
        "certify --model toy:half-space,offset=0.2 --data fashion --sigma 0.5 --stop 2 --n 200 --n0 20";
    let projected = format!("{certify} --projection p.safetensors");
    refused(&bench, &format!("{projected} --tsv p.safetensors"), destroys);
    refused(&bench, &format!("{projected} --tsv p.cert.json"), destroys);
    refused(&bench, &format!("{projected} --out p.cert.json"), destroys);
    refused(&bench, "certify --model x.npy --data fashion --sigma 0.5 --tsv x.npy", destroys);
    refused(&bench, "certify --model toy:ball,radius=1 --data x.npy --sigma 0.5 --tsv x.npy", destroys);
    refused(&bench, "predict --model toy:ball,radius=1 --data x.npy --sigma 0.5 --out x.npy", destroys);
    refused(&bench, "project sweep --data x.npy --figure x.npy", "unknown extension");
    std::fs::copy(bench.path("x.npy"), bench.path("x.png")).expect("copied");
    refused(&bench, "project spectrum --data x.png --figure x.png", destroys);
    std::fs::copy(bench.path("notes.txt"), bench.path("net.onnx")).expect("copied");
    refused(&bench, "export net.onnx net.onnx", destroys);
    let fit = "fit = { method = \"axis\", rank = 3 }";
    bench.write("spec.toml", PLAIN.replace(fit, "file = \"run/network.safetensors\""));
    std::fs::create_dir(bench.path("run")).expect("a folder");
    std::fs::copy(bench.path("p.safetensors"), bench.path("run/network.safetensors")).expect("copied");
    refused(&bench, "train spec.toml --out run", destroys);
    // Named by --set, and as data.
    let data = "train plain.toml --out run --set data.name=run/network.safetensors";
    let set = "train spec.toml --out run --set projection.file=./run/network.safetensors --force";
    bench.write("plain.toml", PLAIN);
    refused(&bench, data, destroys);
    refused(&bench, set, destroys);
    assert_eq!(bench.read_bytes("run/network.safetensors"), bench.read_bytes("p.safetensors"));
    let attack = "attack --data x.npy --model net.onnx --epsilon 0.1 --norm l2 --method fgsm";
    refused(&bench, &format!("{attack} --out x.npy"), destroys);
    refused(&bench, &format!("{attack} --out net.onnx --force"), destroys);
    refused(&bench, &format!("{attack} --projection p.safetensors --out p.cert.json"), destroys);
    refused(&bench, &format!("{attack} --figure x.png --data x.png"), "cannot be used multiple times");
    // Files behind a graph, and behind a pattern.
    for name in ["beside.onnx", "beside.weights"] {
        let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/../learn/tests/fixtures/");
        std::fs::copy(format!("{fixture}{name}"), bench.path(name)).expect("copied");
    }
    refused(&bench, "export beside.onnx beside.weights --force", destroys);
    refused(
        &bench,
        "attack --data x.npy --model beside.onnx --epsilon 0.1 --out beside.weights --force",
        destroys,
    );
    std::fs::copy(bench.path("r.jsonl"), bench.path("r2.jsonl")).expect("copied");
    refused(&bench, "analyze r?.jsonl --csv r2.jsonl --force", destroys);
}

#[test]
fn folders_with_files_of_others_are_left_alone() {
    let bench = bench();
    let other = "and is not";
    for (folder, name, line) in [
        ("start", "report.html", "quickstart --out start"),
        ("start/baseline", "network.safetensors", "quickstart --out start"),
        ("manual", "gambeson-bound.1", "man --out manual"),
    ] {
        std::fs::create_dir_all(bench.path(folder)).expect("a folder");
        bench.write(&format!("{folder}/{name}"), "my notes\n");
        refused(&bench, line, other);
        assert_eq!(bench.read(&format!("{folder}/{name}")), "my notes\n");
        std::fs::remove_file(bench.path(&format!("{folder}/{name}"))).expect("removed");
    }
    assert_eq!(bench.run("man --out manual").code, 0);
    assert_eq!(bench.run("man --out manual").code, 0, "its own pages are replaced");
    // A stored set is not replaced by itself.
    let run = bench.run("data import x.npy --name mine");
    assert_eq!(run.code, 0, "{run:?}");
    let run = bench.run("data import mine --name mine --replace");
    assert!(run.code == 2 && run.stderr.contains("would destroy"), "{run:?}");
}

#[test]
fn two_outputs_are_two_files_by_whatever_name() {
    let bench = bench();
    let folder = bench.path("").file_name().expect("a name").to_string_lossy().into_owned();
    refused(
        &bench,
        &format!("project fit --data fashion --rank 2 --method axis --out ./p2 --certificate ../{folder}/p2"),
        "is both --out and --certificate; give two files",
    );
    refused(&bench, "analyze r.jsonl --csv t --latex ./t", "give two files");
    std::fs::hard_link(bench.path("m.npy"), bench.path("hard.npy")).expect("a link");
    refused(&bench, "bound m.npy --certificate hard.npy", "would destroy");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("m.npy", bench.path("soft")).expect("a link");
        refused(&bench, "bound m.npy --certificate soft", "would destroy");
    }
}

#[test]
fn files_of_another_kind_are_replaced_only_by_force() {
    let bench = bench();
    for line in [
        "bound m.npy --certificate notes.txt",
        "analyze r.jsonl --csv notes.txt",
        "analyze r.jsonl --markdown notes.txt",
        "project fit --data fashion --rank 3 --method axis --out notes.txt",
        "certify --model toy:ball,radius=1 --data fashion --sigma 0.5 --stop 1 --tsv notes.txt",
    ] {
        refused(&bench, line, "to replace it, say --force");
    }
    let run = bench.run("bound m.npy --certificate notes.txt --force");
    assert_eq!(run.code, 0, "{run:?}");
    // A certificate takes the place of a certificate.
    let run = bench.run("bound m.npy --certificate notes.txt");
    assert!(run.code == 0 && bench.read("notes.txt").starts_with("{\"version\":1"), "{run:?}");
    for _ in 0..2 {
        let line = "analyze r.jsonl --csv t.csv --markdown t.md --latex t.tex --figure t";
        assert_eq!(bench.run(line).code, 0);
    }
}

#[cfg(unix)]
#[test]
fn who_may_read_a_file_stays_as_it_was() {
    use std::os::unix::fs::PermissionsExt;
    let bench = bench();
    let mode = || bench.path("c.json").metadata().expect("a file").permissions().mode() & 0o777;
    let set =
        |mode| std::fs::set_permissions(bench.path("c.json"), PermissionsExt::from_mode(mode)).expect("set");
    assert_eq!(bench.run("bound m.npy --certificate c.json").code, 0);
    for private in [0o600, 0o660] {
        set(private);
        assert_eq!(bench.run("bound m.npy --certificate c.json").code, 0);
        assert_eq!(mode(), private);
    }
    set(0o400);
    refused(&bench, "bound m.npy --certificate c.json", "is read-only");
}

#[cfg(unix)]
#[test]
fn a_link_is_written_through() {
    let bench = bench();
    std::fs::create_dir(bench.path("elsewhere")).expect("a folder");
    std::os::unix::fs::symlink("elsewhere/c.json", bench.path("link.json")).expect("a link");
    for _ in 0..2 {
        assert_eq!(bench.run("bound m.npy --certificate link.json").code, 0);
        assert!(bench.path("link.json").is_symlink());
        assert!(bench.read("elsewhere/c.json").starts_with("{\"version\":1"));
    }
}

#[test]
fn a_pair_that_was_being_replaced_is_the_old_one_or_the_new_one() {
    let bench = bench();
    let (old, old_certificate) = (bench.read_bytes("p.safetensors"), bench.read_bytes("p.cert.json"));
    let run = bench.run("project fit --data fashion --rank 4 --method axis --out p.safetensors");
    assert_eq!(run.code, 0, "{run:?}");
    let new_certificate = bench.read_bytes("p.cert.json");
    assert!(!bench.path("p.cert.json.previous").exists());
    // As a kill leaves it between the two: the new certificate, the old projection.
    bench.write("p.safetensors", &old);
    assert_eq!(bench.run("check p.safetensors p.cert.json").code, 1);
    bench.write("p.cert.json.previous", &old_certificate);
    for line in ["check p.safetensors p.cert.json", "project inspect p.safetensors"] {
        let run = bench.run(line);
        assert!(run.code == 0 && run.stdout.contains("PROVEN"), "{run:?}");
    }
    // The next fit starts from there, and leaves a whole pair.
    let run = bench.run("project fit --data fashion --rank 4 --method axis --out p.safetensors");
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(bench.read_bytes("p.cert.json"), new_certificate);
    assert!(!bench.path("p.cert.json.previous").exists());
    assert_eq!(bench.run("check p.safetensors p.cert.json").code, 0);
}

#[test]
fn fetching_leaves_folders_of_others_alone() {
    let bench = bench();
    std::fs::create_dir_all(bench.path("data/cifar10/thesis")).expect("folders");
    std::fs::write(bench.path("data/cifar10/thesis/chapter1.tex"), "years of work").expect("written");
    let child = std::process::Command::new(env!("CARGO_BIN_EXE_gambeson"))
        .args(["data", "fetch", "cifar10", "--from", "nothing.tar.gz"])
        .env("GAMBESON_DATA", bench.path("data"))
        .current_dir(bench.path(""))
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("it runs");
    let run = Bench::finish("data fetch", child);
    assert!(run.code == 2 && run.stderr.contains("which is no file of the set"), "{run:?}");
    assert_eq!(bench.read("data/cifar10/thesis/chapter1.tex"), "years of work");
}
