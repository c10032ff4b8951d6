//! What this program did not write, it replaces only by force, however much it looks like something it writes.

use super::outputs::{PLAIN, bench, refused};

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
        refused(&bench, line, "--force overwrites it");
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

/// Files of others that look like ours at first sight.
#[test]
fn files_of_others_are_no_files_of_ours() {
    let bench = bench();
    let force = "--force overwrites it";
    let table = "| a | b |\n| --- | --- |\n| 1 | 2 |\n";
    bench.write("notes.md", format!("# My notes\n\n{table}\nMade by `gambeson analyze r.jsonl`.\n"));
    bench.write("thesis.tex", "\\documentclass{book}\n\\begin{tabular}{ll}\n1 & 2\n\\end{tabular}\n");
    bench.write("mine.json", "{\"domain\":\"example.com\"}\n");
    bench.write("mine.svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"><rect/></svg>\n");
    bench.write("mine.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR and a photograph");
    bench.write("mine.onnx", b"\x08\x07\x12\x07pytorch and so on");
    bench.write("mine.tsv", "idx\tname\tprice\n1\ttea\t3\n");
    bench.write("mine.csv", "source,images\nmine,3\n");
    let header = b"{\"gambeson network 1\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]}}";
    bench.write("mine.safetensors", [&(header.len() as u64).to_le_bytes(), &header[..]].concat());
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../learn/tests/fixtures/");
    for name in ["beside.onnx", "beside.weights"] {
        std::fs::copy(format!("{fixtures}{name}"), bench.path(name)).expect("copied");
    }
    let certify = "certify --model toy:ball,radius=1 --data fashion --sigma 0.5 --stop 1 --n 100";
    for line in [
        "analyze r.jsonl --markdown notes.md",
        "analyze r.jsonl --latex thesis.tex",
        "analyze r.jsonl --csv mine.csv",
        "analyze r.jsonl --figure mine.svg",
        "analyze r.jsonl --figure mine.png",
        "bound m.npy --certificate mine.json",
        "project fit --data fashion --rank 3 --method axis --out mine.safetensors",
        "export beside.onnx mine.onnx",
        "export beside.onnx mine.safetensors",
        "attack --data fashion --method sparse --sparsity 2 --epsilon 0.1 --every 500 --out x.npy",
        &format!("{certify} --tsv mine.tsv"),
    ] {
        refused(&bench, line, force);
        assert_eq!(bench.run(&format!("{line} --force")).code, 0, "{line}");
    }
    // What it wrote it overwrites, except arrays and tables in TSV, which cannot say who made them.
    for line in [
        "analyze r.jsonl --markdown notes.md --latex thesis.tex --csv mine.csv --figure mine",
        "bound m.npy --certificate mine.json",
        "export beside.onnx mine.onnx",
        "export beside.onnx mine.safetensors",
    ] {
        let run = bench.run(line);
        assert_eq!(run.code, 0, "{line}: {run:?}");
    }
    refused(&bench, &format!("{certify} --tsv mine.tsv"), force);
    // Marks that are not where ours are.
    bench.write("near.md", "<!-- made by gambeson --> and changed by me\n");
    refused(&bench, "analyze r.jsonl --markdown near.md", force);
    bench.write("near.svg", "<!-- made by gambeson -->\n| a |\n");
    refused(&bench, "analyze r.jsonl --figure near.svg", force);
}

/// Logs of Cohen's program have the header and the columns of our tables: nothing tells them apart.
#[test]
fn tables_of_others_in_our_format_are_overwritten_only_by_force() {
    let bench = bench();
    let (certified, predicted) =
        ("idx\tlabel\tpredict\tradius\tcorrect\ttime", "idx\tlabel\tpredict\tcorrect\ttime");
    let theirs = [
        ("certified.tsv", format!("{certified}\n0\t3\t3\t0.378\t1\t0:00:15.412345\n")),
        ("predicted.tsv", format!("{predicted}\n0\t3\t3\t1\t0:00:15.412345\n")),
        ("header.tsv", format!("{certified}\n")),
        ("line.tsv", "\n".to_owned()),
    ];
    for (name, text) in &theirs {
        bench.write(name, text);
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink("certified.tsv", bench.path("link.tsv")).expect("a link");
    #[cfg(not(unix))]
    bench.write("link.tsv", &theirs[0].1);
    let toy = "--model toy:half-space,offset=0.2 --data fashion --sigma 0.5 --stop 2 --n 200";
    for verb in ["certify", "predict"] {
        for name in theirs.iter().map(|(name, _)| *name).chain(["link.tsv"]) {
            let said = "its format cannot show who wrote it; --force overwrites it";
            refused(&bench, &format!("{verb} {toy} --tsv {name}"), said);
            // However the run goes on.
            refused(&bench, &format!("{verb} {toy} --out new.jsonl --json --tsv ./{name}"), said);
            assert!(!bench.path("new.jsonl").exists());
        }
        // A file that holds nothing may be filled; then it is one of these.
        bench.write("empty.tsv", "");
        let line = format!("{verb} {toy} --tsv empty.tsv");
        assert_eq!(bench.run(&line).code, 0);
        assert!(bench.read("empty.tsv").starts_with(if verb == "certify" { certified } else { predicted }));
        refused(&bench, &line, "--force overwrites it");
        assert_eq!(bench.run(&format!("{line} --force")).code, 0);
    }
}

#[test]
fn metadata_are_found_wherever_they_are() {
    let bench = bench();
    let bytes = bench.read_bytes("p.safetensors");
    let length = usize::try_from(u64::from_le_bytes(*bytes.first_chunk().expect("a length"))).expect("short");
    let header = String::from_utf8(bytes[8..8 + length].to_vec()).expect("text");
    // As a writer with another order leaves it: behind many other names.
    let many = (0..3000)
        .map(|k| format!("\"empty.{k}\":{{\"dtype\":\"F64\",\"shape\":[0],\"data_offsets\":[0,0]}},"))
        .collect::<Vec<_>>()
        .concat();
    let header = format!("{{{many}{}", header.trim_end().strip_prefix('{').expect("an object"));
    let file = [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &bytes[8 + length..]].concat();
    bench.write("p.safetensors", file);
    let run = bench.run("project fit --data fashion --rank 3 --method axis --out p.safetensors");
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(bench.read_bytes("p.safetensors"), bytes);
}

#[test]
fn folders_with_files_of_others_are_left_alone() {
    let bench = bench();
    let other = "was not written by this command";
    bench.write("plain.toml", PLAIN);
    for (folder, name, line) in [
        ("start", "report.html", "quickstart --out start"),
        ("start/baseline", "network.safetensors", "quickstart --out start"),
        ("manual", "gambeson-bound.1", "man --out manual"),
        ("run", "training.png", "train plain.toml --out run"),
        ("run", "metrics.jsonl", "train plain.toml --out run"),
        ("run", "checkpoint.new.safetensors", "train plain.toml --out run"),
        ("r", "table-norms.desk.md", "reproduce table-norms --results r --render-only"),
    ] {
        let text = "{\"epoch\": 1, \"loss\": 2.5}\n.TH GAMBESON 1\n<!doctype html> about gambeson\n| a |\n";
        std::fs::create_dir_all(bench.path(folder)).expect("a folder");
        bench.write(&format!("{folder}/{name}"), text);
        refused(&bench, line, other);
        assert_eq!(bench.read(&format!("{folder}/{name}")), text);
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
fn fetching_leaves_folders_of_others_alone() {
    let bench = bench();
    let write = |name: &str, text: &str| {
        std::fs::create_dir_all(bench.path(name).parent().expect("a folder")).expect("folders");
        bench.write(name, text);
    };
    write("data/cifar10/thesis/chapter1.tex", "years of work");
    write("data/.incomplete-thesis/chapter2.tex", "more of it");
    write("nothing.tar.gz", "nothing");
    let run = bench.run("data fetch cifar10 --from nothing.tar.gz");
    assert!(run.code == 2 && run.stderr.contains("which is no file of the set"), "{run:?}");
    assert_eq!(bench.read("data/cifar10/thesis/chapter1.tex"), "years of work");
    // What begins like its own temporary folders is none of them.
    std::fs::remove_dir_all(bench.path("data/cifar10")).expect("removed");
    assert_eq!(bench.run("data fetch cifar10 --from nothing.tar.gz").code, 2);
    assert_eq!(bench.read("data/.incomplete-thesis/chapter2.tex"), "more of it");
}
