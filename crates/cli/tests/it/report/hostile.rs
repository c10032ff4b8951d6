//! Bad input: a clear error, or a text that stays a text; never a broken page.

use super::{certify, island, ok, with_network};
use crate::support::Bench;

/// What would be a script, an attribute, a comment or another line, if it were not a text.
pub(super) const HOSTILE: &str =
    "<script>window.hacked=1</script><img src=x onerror=window.hacked=1>\"'--><!--";

/// Whether a page has its own two scripts and no other markup than its own.
fn is_whole(html: &str) {
    // Words of a line to copy stand in elements of their own.
    let html = &html.replace("</span> <span>", " ");
    assert_eq!(html.matches("<script").count(), 2, "{html}");
    assert_eq!(html.matches("</script>").count(), 2);
    assert_eq!(
        html.matches("onerror=").count(),
        html.matches("&lt;img src=x onerror=").count() + html.matches("u003cimg src=x onerror=").count()
    );
    assert!(html.trim_end().ends_with("</html>"));
    island(html);
}

#[test]
fn torn_and_broken_records_are_said_on_the_page() {
    let bench = Bench::new();
    with_network(&bench);
    for folder in ["good", "torn", "broken"] {
        std::fs::create_dir(bench.path(folder)).expect("a folder");
    }
    certify(&bench, "0.5", "good/run.jsonl");
    let whole = bench.read("good/run.jsonl");
    // A kill leaves the start of a line: the rest of the run is shown, the input counts as not certified.
    bench.write("torn/run.jsonl", &whole[..whole.len() - 60]);
    let torn = ok(bench.run("report torn --json")).json();
    assert_eq!(
        (&torn["problems"].as_array().map(Vec::len), &torn["runs"][0]["inputs"]),
        (&Some(0), &39.into())
    );
    let html = bench.read("report.html");
    assert!(
        html.contains("torn/run.jsonl, line 41: broken off, left out")
            && html.contains("without a record 2.5 %")
    );
    is_whole(&html);
    // A line broken in the middle is nothing a kill leaves.
    let lines: Vec<&str> = whole.lines().collect();
    bench.write(
        "broken/run.jsonl",
        [&lines[..5], &["{\"run\":\"half"], &lines[6..]].concat().join("\n") + "\n",
    );
    let run = bench.run("report broken");
    assert!(
        run.code == 2
            && run.stderr.contains("broken/run.jsonl, line 6")
            && run.stderr.contains("nothing to report on"),
        "{run:?}"
    );
    // Beside others it is left out, on the page and in the exit code.
    let run = bench.run("report good broken --json");
    assert_eq!(run.code, 1, "{run:?}");
    let found = run.json();
    assert_eq!(
        (found["runs"].as_array().map(Vec::len), found["problems"].as_array().map(Vec::len)),
        (Some(1), Some(1))
    );
    assert!(run.stderr.contains("left out: broken/run.jsonl, line 6"), "{run:?}");
    assert!(bench.read("report.html").contains("broken/run.jsonl, line 6"));
    // A claim that its counts do not prove.
    let forged = whole.replacen("\"class\":7", "\"class\":1", 1);
    assert_ne!(forged, whole);
    bench.write("broken/run.jsonl", forged);
    let run = bench.run("report good broken");
    assert!(run.code == 1 && run.stderr.contains("left out: broken/run.jsonl"), "{run:?}");
    // Nothing but a head, and not even that.
    bench.write("broken/run.jsonl", format!("{}\n", lines[0]));
    let empty = ok(bench.run("report broken --json")).json();
    assert_eq!(empty["runs"][0]["inputs"], 0);
    is_whole(&bench.read("report.html"));
    bench.write("broken/run.jsonl", &lines[0][..80]);
    assert_eq!(bench.run("report broken").code, 2);
}

#[test]
fn records_of_another_network_and_of_other_data_are_told() {
    let bench = Bench::new();
    with_network(&bench);
    certify(&bench, "0.5", "run.jsonl");
    std::fs::create_dir(bench.path("moved")).expect("a folder");
    std::fs::copy(bench.path("run.jsonl"), bench.path("moved/run.jsonl")).expect("copied");
    bench.write("moved/network.safetensors", "another network");
    let run = bench.run("report moved/run.jsonl");
    assert_eq!(run.code, 1, "{run:?}");
    assert!(
        run.stderr.contains("made with the network sha256:")
            && run.stderr.contains("moved/network.safetensors beside it"),
        "{run:?}"
    );
    // Named, it is found wherever it is.
    bench.write("moved/network.safetensors", bench.read_bytes("network.safetensors"));
    let html = |line: &str| {
        ok(bench.run(line));
        bench.read("report.html")
    };
    assert!(html("report moved/run.jsonl").contains("projection.safetensors: not found beside the records"));
    assert!(!html("report moved/run.jsonl --projection projection.safetensors").contains("not found beside"));
    // Other data: each in a section of its own.
    let train = "certify --model network.safetensors --projection projection.safetensors --data fashion --split train --every 500 \
                 --n 200 --sigma 0.5 --out train.jsonl";
    ok(bench.run(train));
    let found = ok(bench.run("report run.jsonl train.jsonl --json")).json();
    let headings: Vec<&str> = found["sections"]
        .as_array()
        .expect("sections")
        .iter()
        .filter_map(|it| it["heading"].as_str())
        .collect();
    assert_eq!(
        headings[..4],
        [
            "Certified accuracy: fashion-test",
            "Inputs: fashion-test",
            "Certified accuracy: fashion-train",
            "Inputs: fashion-train"
        ]
    );
    let page = bench.read("report.html");
    assert!(
        page.contains("--split train") && page.matches("<img ").count() == 40 + 12,
        "pictures of both parts"
    );
    // Other inputs of the same data are not compared.
    ok(bench.run("certify --model network.safetensors --projection projection.safetensors --data fashion --start 7 --every 100 --n 200 --sigma 0.5 --out other.jsonl"));
    assert!(html("report run.jsonl other.jsonl").contains("cannot be compared with each other"));
}

#[test]
fn missing_data_leave_out_the_pictures_only() {
    let bench = Bench::with_own_data();
    with_network(&bench);
    let zeros = vec![0.0; 28 * 28 * 6];
    bench.save_npy("six.npy", 6, 28 * 28, &zeros);
    ok(bench.run("data import six.npy --name six --split test"));
    ok(bench.run("certify --model toy:half-space,offset=0 --data six --sigma 0.5 --n 100 --out run.jsonl"));
    ok(bench.run("report run.jsonl"));
    std::fs::remove_dir_all(bench.path("data/six")).expect("removed");
    ok(bench.run("report run.jsonl"));
    let html = bench.read("report.html");
    let said = "Without pictures: the data with the content that the records name were not found here";
    assert!(html.contains(said), "{html}");
    assert!(html.contains("n = 784 coordinates is the records&#39; word"), "{html}");
    is_whole(&html);
    // Data of the right name with other content are not those of the records.
    certify(&bench, "0.5", "fashion.jsonl");
    let renamed = bench.read("fashion.jsonl");
    assert!(renamed.contains("fashion-test sha256:"));
    let run = bench.run("report fashion.jsonl --data missing");
    assert!(
        run.code == 1 && run.stderr.contains("missing"),
        "what was named and is not there is said: {run:?}"
    );
}

#[test]
fn hostile_names_stay_texts() {
    let bench = Bench::new();
    with_network(&bench);
    certify(&bench, "0.5", "run.jsonl");
    let folder = bench.path("r");
    std::fs::create_dir(&folder).expect("a folder");
    let name = format!("{}\n\u{202e}.jsonl", HOSTILE.replace('/', "\\"));
    std::fs::copy(bench.path("run.jsonl"), folder.join(&name)).expect("copied");
    ok(bench.run("report r"));
    let html = bench.read("report.html");
    is_whole(&html);
    assert!(!html.contains('\u{202e}') && html.contains("\\u{202e}"));
    let named = std::process::Command::new(env!("CARGO_BIN_EXE_gambeson"))
        .args(["report", "run.jsonl", "--label", HOSTILE, "--title", HOSTILE])
        .current_dir(bench.path(""))
        .output()
        .expect("it runs");
    assert!(named.status.success());
    let html = bench.read("report.html");
    is_whole(&html);
    assert!(html.contains("&lt;script&gt;window.hacked=1&lt;/script&gt;"));
}
