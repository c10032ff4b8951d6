//! Every command that could destroy a file of its user, and what it says instead.

use crate::support::{Bench, Run};

/// A spec without a file.
pub(super) const PLAIN: &str = "[data]\nname = \"fashion\"\n[model]\nfamily = \"mlp\"\nhidden = [3]\n[noise]\nsigma = 0.25\n\
    [projection]\nfit = { method = \"axis\", rank = 3 }\n[objective]\nkind = \"gaussian\"\n\
    [optimiser]\nepochs = 1\nlearning_rate = 0.1\n";

/// A bench with one file of each kind.
pub(super) fn bench() -> Bench {
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
pub(super) fn refused(bench: &Bench, line: &str, message: &str) {
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
    // The run that is extended.
    let extend = format!("{certify} --sequential --extend r.jsonl");
    refused(&bench, &format!("{extend} --out r.jsonl"), destroys);
    refused(&bench, &format!("{extend} --out more.jsonl --tsv r.jsonl --force"), destroys);
}

#[test]
fn folders_that_are_read_as_a_whole_get_no_new_files() {
    let bench = bench();
    std::fs::create_dir_all(bench.path("imgs/cat")).expect("folders");
    std::fs::create_dir(bench.path("logs")).expect("a folder");
    std::fs::copy(bench.path("r.jsonl"), bench.path("logs/r.jsonl")).expect("copied");
    assert_eq!(bench.run("project spectrum --data fashion --figure imgs/cat/a.png").code, 0);
    let whole = "a folder that is read as a whole";
    refused(&bench, "project sweep --data imgs --figure imgs/cat/new.png", whole);
    refused(&bench, "project fit --data imgs --rank 2 --out ./imgs/new/p.safetensors", whole);
    refused(&bench, "analyze logs --markdown logs/new.md", whole);
    assert!(!bench.path("logs/new.md").exists() && !bench.path("imgs/cat/new.png").exists());
    assert_eq!(bench.run("analyze logs/r.jsonl --markdown logs/new.md").code, 0, "a file, not the folder");
}

/// What a projection's certificate is kept as while the pair is replaced.
#[test]
fn a_kept_certificate_is_one_of_ours() {
    let bench = bench();
    let fit = "project fit --data x.npy --rank 2 --out q.safetensors";
    assert_eq!(bench.run(fit).code, 0);
    bench.write("q.cert.json.previous", "my notes\n");
    refused(&bench, fit, "--force overwrites it");
    std::fs::remove_file(bench.path("q.cert.json.previous")).expect("removed");
    #[cfg(unix)]
    {
        let link = |to: &str| {
            let _ = std::fs::remove_file(bench.path("q.cert.json.previous"));
            std::os::unix::fs::symlink(to, bench.path("q.cert.json.previous")).expect("a link");
        };
        link("p.cert.json");
        refused(&bench, fit, "--force overwrites it");
        link("x.npy");
        refused(&bench, &format!("{fit} --force"), "would destroy");
        assert!(bench.path("q.cert.json.previous").is_symlink());
    }
}

#[cfg(unix)]
#[test]
fn what_is_printed_into_is_not_replaced() {
    let bench = bench();
    for line in [
        "bound m.npy --certificate /dev/stdout > so.json",
        "bound m.npy --certificate so.json > so.json",
        "bound m.npy --certificate ./so.json 2> so.json",
        "analyze r.jsonl --csv so.json --force >> so.json",
    ] {
        let line = format!("{} {line}", env!("CARGO_BIN_EXE_gambeson"));
        let mut shell = std::process::Command::new("sh");
        let output = shell.args(["-c", &line]).current_dir(bench.path("")).output().expect("a shell");
        let said = String::from_utf8_lossy(&output.stderr).into_owned() + &bench.read("so.json");
        assert!(output.status.code() == Some(2) && said.contains("is redirected to this file"), "{said}");
    }
}

#[cfg(unix)]
#[test]
fn a_circle_of_links_is_refused() {
    let bench = bench();
    std::os::unix::fs::symlink("two.json", bench.path("one.json")).expect("a link");
    std::os::unix::fs::symlink("one.json", bench.path("two.json")).expect("a link");
    refused(&bench, "bound m.npy --certificate one.json", "leads back to itself");
    assert!(bench.path("one.json").is_symlink() && bench.path("two.json").is_symlink());
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
    // Pairs, tables and records too.
    let links = ["q.safetensors", "q.cert.json", "t.tsv", "t.csv", "l.jsonl"];
    for name in links {
        std::os::unix::fs::symlink(format!("elsewhere/{name}"), bench.path(name)).expect("a link");
    }
    let certify =
        "certify --model toy:half-space,offset=0.2 --data fashion --sigma 0.5 --stop 2 --n 200 --n0 20";
    for rank in [3, 4] {
        for line in [
            &format!("project fit --data fashion --rank {rank} --method axis --out q.safetensors"),
            &format!("{certify} --out l.jsonl --tsv t.tsv --force"),
            "analyze r.jsonl --csv t.csv",
        ] {
            let run = bench.run(line);
            assert_eq!(run.code, 0, "{run:?}");
        }
        for name in links {
            let is_file =
                bench.path(&format!("elsewhere/{name}")).symlink_metadata().is_ok_and(|it| it.is_file());
            assert!(bench.path(name).is_symlink() && is_file, "{name}");
        }
        assert_eq!(bench.run("check q.safetensors q.cert.json").code, 0);
    }
}

#[cfg(unix)]
#[test]
fn a_pair_on_a_full_disk_is_the_old_one() {
    let bench = bench();
    let (projection, certificate) = (bench.read_bytes("p.safetensors"), bench.read_bytes("p.cert.json"));
    // Files of at most 64 KiB: rank 100 in 784 coordinates does not fit, rank 3 did.
    let program = env!("CARGO_BIN_EXE_gambeson");
    let script = format!(
        "trap '' XFSZ; ulimit -f 128; exec '{program}' project fit --data fashion --rank 100 --method axis --out p.safetensors"
    );
    let output = std::process::Command::new("sh").args(["-c", &script]).current_dir(bench.path("")).output();
    let output = output.expect("a shell");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && stderr.contains("p.safetensors"), "{stderr}");
    assert!(
        bench.read_bytes("p.safetensors") == projection && bench.read_bytes("p.cert.json") == certificate
    );
    let names: Vec<String> = files(&bench).into_iter().map(|(name, _)| name).collect();
    assert!(!names.iter().any(|name| name.contains("part") || name.contains("previous")), "{names:?}");
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
