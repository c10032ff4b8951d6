//! What `--out` finds in place of records.

use super::outputs::{bench, refused};

const TOY: &str = "--model toy:half-space,offset=0.2 --data fashion --sigma 0.5 --stop 1 --n 200";

/// Texts that other programs leave, whole or broken off: none is taken for the start of a file of records.
const OTHERS: [(&str, &str); 10] = [
    ("text", "my notes\n"),
    ("half a line", "my notes"),
    ("a number", "12\n"),
    ("a string", "\"version\"\n"),
    ("a list", "[1]\n"),
    ("an object", "{\"a\":1}\n"),
    ("an object broken off", "{\"a\":1"),
    ("a package", "{\"version\":\"1.2\",\"name\":\"package\"}\n"),
    ("an object in lines", "{\n  \"version\": 2,\n  \"name\": \"x\"\n}\n"),
    ("a table", "idx\tlabel\tpredict\tradius\tcorrect\ttime\n0\t3\t3\t0.5\t1\t1\n"),
];

#[test]
fn files_of_others_are_not_records() {
    let bench = bench();
    for verb in ["certify", "predict"] {
        for (name, text) in OTHERS {
            bench.write("run.jsonl", text);
            for more in ["", " --force", " --json", " --tsv new.tsv"] {
                refused(&bench, &format!("{verb} {TOY} --out run.jsonl{more}"), "run.jsonl");
                assert!(!bench.path("new.tsv").exists(), "{verb}, {name}");
            }
        }
        // Nothing can be lost of an empty file.
        bench.write("run.jsonl", "");
        let line = format!("{verb} {TOY} --out run.jsonl");
        assert_eq!(bench.run(&line).code, 0);
        let first = bench.read("run.jsonl");
        assert!(bench.run(&line).code == 0 && bench.read("run.jsonl") == first, "the same run goes on");
    }
}

/// Records of the one kind are none of the other, whole or broken off.
#[test]
fn records_and_predictions_are_told_apart() {
    let bench = bench();
    for verb in ["certify", "predict"] {
        assert_eq!(bench.run(&format!("{verb} {TOY} --out {verb}.jsonl")).code, 0);
    }
    for (verb, other) in [("certify", "predict"), ("predict", "certify")] {
        let text = bench.read(&format!("{other}.jsonl"));
        for length in [text.len(), text.len() - 1, text.len() - 20, text.len() / 2] {
            bench.write("run.jsonl", &text[..length]);
            refused(&bench, &format!("{verb} {TOY} --out run.jsonl"), "run.jsonl");
        }
    }
}
