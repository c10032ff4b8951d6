//! `bundle` and `check` of what it wrote: handed over, checked elsewhere, changed on the way.

use crate::support::{Bench, Run, unwrapped};
use gambeson::{
    BundleParams, CheckBundleParams, CheckRecordsParams, Context, ContextParams, RecordSample, check_bundle,
};
use serde::Serialize;
use serde_json::Value;
use std::path::Path;

const SOURCES: &str = "--model toy:half-space,offset=0.3 --data fashion";

fn ok(run: Run) -> Run {
    assert_eq!(run.code, 0, "{run:?}");
    run
}

/// A folder with a run over ten images, in `run.jsonl`.
fn bench() -> Bench {
    let bench = Bench::new();
    ok(bench.run(&format!("certify {SOURCES} --sigma 0.5 --n 300 --every 100 --out run.jsonl")));
    bench
}

fn bundle(bench: &Bench, more: &str) -> Run {
    bench.run(&format!("bundle run.jsonl {SOURCES} {more}"))
}

/// An error that says all of this, and no result.
fn refused(run: &Run, parts: &[&str]) {
    let text = unwrapped(&run.stderr);
    assert!(run.code == 2 && run.stdout.is_empty(), "{run:?}");
    assert!(parts.iter().all(|part| text.contains(part)), "{parts:?} in {run:?}");
}

#[test]
fn a_bundle_is_checked_in_another_folder() {
    let here = bench();
    let made = ok(bundle(&here, "--out e.zip --with-data"));
    let text = unwrapped(&made.stdout);
    assert!(
        text.starts_with("bundle e.zip: 4 files, ") && text.contains("10 of the 10 inputs planned"),
        "{made:?}"
    );
    assert!(text.ends_with("Check it: gambeson check e.zip --all"), "{made:?}");
    // Somewhere else, without data of its own.
    let there = Bench::with_own_data();
    std::fs::copy(here.path("e.zip"), there.path("e.zip")).expect("copied");
    let run = ok(there.run("check e.zip --all"));
    let text = unwrapped(&run.stdout);
    assert!(text.starts_with("REDRAWN: all 10 records drawn again, with equal counts"), "{run:?}");
    for part in [
        "What the records claim:",
        "inputs 10 of the data's 1,000 inputs, every 100th",
        "bundle e.zip: 4 files, ",
        "page says what follows from the records",
        "data from the bundle",
    ] {
        assert!(text.contains(part), "{part}: {run:?}");
    }
    let fits = |line: &str| line.chars().count() <= 80 || line.contains("sha256:");
    assert!(run.stdout.lines().all(fits), "{run:?}");
    // The rest of the options of `check` for records.
    let json = ok(there.run("check e.zip --sample 3 --sample-seed 1 --json")).json();
    assert_eq!((json["verdict"].as_str(), json["checked"].as_u64()), (Some("sampled"), Some(3)));
    assert_eq!(
        (json["bundle"]["page"].as_str(), json["bundle"]["data"].as_str()),
        (Some("same"), Some("bundle"))
    );
    let plan = json["plan"].as_str().expect("a digest").to_owned();
    ok(there.run(&format!("check e.zip --plan {plan} --sample 1")));
    let other = there.run("check e.zip --plan 00 --sample 1");
    assert!(other.code == 1 && other.stdout.starts_with("REJECTED"), "{other:?}");
    assert!(ok(there.run("check e.zip --all --nonce 77")).stdout.starts_with("NOT REFUTED"));
    let late = there.run("check e.zip --all --time-limit 0");
    assert!(late.code == 1 && late.stderr.contains("stopped"), "{late:?}");
    // A folder is the same bundle.
    let made = ok(bundle(&here, "--out e --with-data --json")).json();
    let folder = ok(here.run("check e --all --json")).json();
    assert_eq!(made["manifest_sha256"], folder["bundle"]["manifest_sha256"]);
    assert_eq!(made["manifest_sha256"], json["bundle"]["manifest_sha256"]);
    assert_eq!(made["claim"], folder["claim"]);
    assert!(here.read("e/index.html").contains("<pre>gambeson check . --all</pre>"));
}

/// An object without what is another every time.
fn steady(object: &impl Serialize) -> Value {
    let mut object = serde_json::to_value(object).expect("JSON");
    for key in ["out", "seconds"] {
        object.as_object_mut().expect("an object").remove(key);
    }
    object
}

#[test]
fn the_program_prints_what_the_library_returns() {
    let (bench, context) = (bench(), Context::new(ContextParams::default()).expect("threads"));
    let toy = "toy:half-space,offset=0.3";
    let params = BundleParams::new(vec![bench.path("run.jsonl")], toy, "fashion");
    let own = gambeson::bundle(&context, &BundleParams { with_data: true, ..params }).expect("a bundle");
    let printed = ok(bundle(&bench, "--out e.zip --with-data --json")).json();
    assert_eq!(steady(&printed), steady(&own));
    assert!(own.to_zip().expect("an archive") == bench.read_bytes("e.zip"));
    let records = CheckRecordsParams { sample: RecordSample::All, ..CheckRecordsParams::default() };
    let checked =
        check_bundle(&context, &own, &CheckBundleParams { records, ..CheckBundleParams::default() });
    let printed = ok(bench.run("check e.zip --all --json")).json();
    assert_eq!(steady(&printed), steady(&checked.expect("checked")));
}

#[test]
fn what_is_left_out_is_asked_for() {
    let bench = bench();
    let made = ok(bundle(&bench, "--out e"));
    let text = unwrapped(&made.stdout);
    assert!(text.contains("left out the data, which are public as fashion"), "{made:?}");
    assert!(text.ends_with("gambeson check e --all --data fashion"), "{made:?}");
    let alone = bench.run("check e --all");
    let text = unwrapped(&alone.stdout);
    assert!(alone.code == 1 && text.starts_with("NOT REDRAWN: no draw was made again"), "{alone:?}");
    assert!(text.contains("the data are not in the bundle; give them with --data"), "{alone:?}");
    assert!(ok(bench.run("check e --all --data fashion")).stdout.starts_with("REDRAWN"));
    let other = bench.run("check e --all --data fashion --split train");
    assert!(other.code == 1 && unwrapped(&other.stdout).contains("REJECTED: its data is"), "{other:?}");
}

#[test]
fn changed_bundles_are_rejected_and_hostile_ones_refused() {
    let bench = bench();
    ok(bundle(&bench, "--out e --with-data"));
    ok(bundle(&bench, "--out e.zip --with-data"));
    for name in ["index.html", "records.jsonl", "data.safetensors"] {
        let honest = bench.read_bytes(&format!("e/{name}"));
        let mut changed = honest.clone();
        changed[honest.len() / 2] ^= 1;
        bench.write(&format!("e/{name}"), &changed);
        let run = bench.run("check e --all");
        let text = unwrapped(&run.stdout);
        assert!(run.code == 1 && text.starts_with(&format!("REJECTED: {name}: has the SHA-256")), "{run:?}");
        bench.write(&format!("e/{name}"), &honest);
    }
    ok(bench.run("check e"));
    bench.write("e/more.txt", "");
    refused(&bench.run("check e"), &["e: `more.txt`: not in the manifest"]);
    let archive = bench.read_bytes("e.zip");
    bench.write("long.zip", [&archive[..], b"x"].concat());
    refused(&bench.run("check long.zip"), &["long.zip: damaged archive"]);
    let renamed: Vec<u8> =
        String::from_utf8_lossy(&archive[..60]).replace("manifest.json", "../ifest.json").into();
    let mut outside = archive.clone();
    outside[..renamed.len()].copy_from_slice(&renamed);
    refused(&bench.run("--memory-limit 100K check e.zip"), &["e.zip: its files have", "memory limit"]);
    bench.write("outside.zip", &outside);
    refused(&bench.run("check outside.zip"), &["outside.zip: manifest.json: is described in two ways"]);
    assert!(!Path::new(&bench.path("../ifest.json")).exists());
    bench.write("empty.zip", b"PK");
    refused(&bench.run("check empty.zip"), &["empty.zip: is neither a folder nor a zip archive"]);
}

#[test]
fn a_run_that_is_not_finished_ends_with_one() {
    let bench = bench();
    let lines: Vec<String> = bench.read("run.jsonl").lines().map(str::to_owned).collect();
    bench.write("run.jsonl", lines[..8].join("\n") + "\n");
    let run = bundle(&bench, "--out e.zip --with-data");
    assert!(run.code == 1 && run.stderr.contains("incomplete"), "{run:?}");
    assert!(unwrapped(&run.stdout).contains("INCOMPLETE: 7 of the 10 inputs planned"), "{run:?}");
    let run = bench.run("check e.zip --all");
    assert!(run.code == 1 && run.stdout.starts_with("INCOMPLETE"), "{run:?}");
}

#[test]
fn no_file_of_others_is_replaced() {
    let bench = bench();
    bench.write("e.zip", "PK\x03\x04 an archive of photographs");
    refused(
        &bundle(&bench, "--out e.zip"),
        &["e.zip: exists and was not written by this command", "--force"],
    );
    ok(bundle(&bench, "--out e.zip --force"));
    ok(bundle(&bench, "--out e.zip"));
    std::fs::create_dir(bench.path("photographs")).expect("a folder");
    bench.write("photographs/one.png", "");
    for force in ["", "--force"] {
        let run = bundle(&bench, &format!("--out photographs {force}"));
        refused(&run, &["photographs: the folder holds one.png, which no bundle has"]);
    }
    // The records of the run may not lie where the bundle goes.
    std::fs::create_dir(bench.path("e")).expect("a folder");
    std::fs::copy(bench.path("run.jsonl"), bench.path("e/records.jsonl")).expect("copied");
    let run = bench.run(&format!("bundle e/records.jsonl {SOURCES} --out e"));
    refused(&run, &["records.jsonl: is the records, which a file of the bundle would destroy"]);
    assert_eq!(bench.read("e/records.jsonl"), bench.read("run.jsonl"));
}

#[test]
fn commands_that_make_no_sense_say_what_is_missing() {
    let bench = bench();
    refused(&bench.run("bundle run.jsonl --out e"), &["give the --model and the --data"]);
    refused(&bench.run("bundle absent --out e"), &["give the --model and the --data"]);
    refused(&bench.run("bundle . --out e"), &["holds no network.safetensors", "see --model, --data"]);
    refused(
        &bench.run("bundle run.jsonl --model toy:half-space --data fashion --out e"),
        &["the records are rejected", "its model is"],
    );
    refused(&bundle(&bench, "--out e --without-network"), &["--without-network: the network is a toy"]);
    assert!(!bench.path("e").exists(), "nothing was written");
    ok(bundle(&bench, "--out e.zip"));
    refused(&bench.run("check e.zip --gram"), &["do not apply to records"]);
    refused(&bench.run("check run.jsonl"), &["run.jsonl: records of a run; give the --model and the --data"]);
    refused(&bench.run("check run.jsonl --model toy:half-space"), &["give the --data"]);
    bench.save_npy("m.npy", 1, 1, &[1.0]);
    ok(bench.run("bound m.npy --certificate c.json"));
    refused(&bench.run("check m.npy c.json --all"), &["--all goes with the records of a run"]);
    refused(&bench.run("check m.npy"), &["m.npy: its certificate is missing"]);
    refused(&bench.run("check m.npy c.json c.json"), &["one certificate"]);
    refused(&bench.run("check m.npy c.json --random psd:5:1"), &["--random replaces the matrix"]);
    assert_eq!(bench.run("check").code, 2);
    ok(bench.run("check m.npy c.json"));
}

#[test]
fn help_says_how_bundles_are_signed() {
    let help = Bench::new().run("bundle --help").stdout;
    for part in ["ssh-keygen -Y sign", "minisign -S", "gambeson check evidence.zip --all"] {
        assert!(help.contains(part), "{part}: {help}");
    }
    assert!(help.lines().all(|line| line.chars().count() <= 80), "{help}");
    let check = Bench::new().run("check --help").stdout;
    assert!(check.contains("gambeson check [OPTIONS] <BUNDLE>") && check.contains("NOT REDRAWN"), "{check}");
}
