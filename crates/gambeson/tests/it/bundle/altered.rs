//! Changed files: alone they contradict the manifest, and with a manifest that fits them they contradict each other.

use super::hostile::{Member, archive};
use super::{Made, all, model_params, reasons};
use gambeson::bundle::PageCheck;
use gambeson::bundle::manifest::Manifest;
use gambeson::replay::RecordsVerdict;
use gambeson::{Bundle, BundleCheck, BundleParams, bundle, check_bundle};
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::file::sha256;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

type Files = BTreeMap<String, Vec<u8>>;

/// A bundle with changes, and a manifest whose hashes fit them.
fn forged(honest: &Bundle, change: impl FnOnce(&mut Files, &mut Manifest)) -> Bundle {
    let mut manifest = honest.manifest().clone();
    let content = |name: &str| honest.file(name).expect("a file").to_vec();
    let mut files: Files =
        manifest.files.iter().map(|file| (file.name.clone(), content(&file.name))).collect();
    change(&mut files, &mut manifest);
    for file in &mut manifest.files {
        let bytes = &files[&file.name];
        (file.bytes, file.sha256) = (bytes.len() as u64, sha256(bytes));
    }
    let manifest = Member::new("manifest.json", &manifest.to_bytes().expect("JSON"));
    let files = files.iter().map(|(name, bytes)| Member::new(name, bytes));
    let members: Vec<Member> = std::iter::once(manifest).chain(files).collect();
    Bundle::parse_zip(Path::new("b.zip"), &archive(&members), MemoryLimit::NONE).expect("a bundle")
}

fn text(files: &Files, name: &str) -> String {
    String::from_utf8(files[name].clone()).expect("text")
}

fn rejected(check: &BundleCheck, what: &str) {
    assert_eq!(check.records.verdict, RecordsVerdict::Rejected, "{what}");
    assert!(!check.passed() && check.records.claim.is_none(), "{what}");
    assert!(reasons(check).contains(what), "{what}: {}", reasons(check));
}

#[test]
fn a_changed_file_is_named() {
    let made = Made::new();
    let honest = made.whole();
    let manifest = Member::new("manifest.json", &honest.manifest().to_bytes().expect("JSON"));
    for changed in &honest.manifest().files {
        let member = |file: &gambeson::bundle::manifest::FileEntry| {
            let mut bytes = honest.file(&file.name).expect("a file").to_vec();
            if file == changed {
                let middle = bytes.len() / 2;
                bytes[middle] ^= 1;
            }
            Member::new(&file.name, &bytes)
        };
        let others = honest.manifest().files.iter().map(member);
        let members: Vec<Member> = std::iter::once(manifest.clone()).chain(others).collect();
        let bundle = Bundle::parse_zip(Path::new("b.zip"), &archive(&members), MemoryLimit::NONE);
        let bundle = bundle.expect("a bundle");
        assert_eq!(bundle.altered().len(), 1, "{}", changed.name);
        let check = made.check(&bundle);
        rejected(&check, &format!("{}: has the SHA-256 ", changed.name));
        assert_eq!((check.records.findings.len(), check.records.draws), (1, 0));
    }
}

#[test]
fn words_that_do_not_follow_are_rejected() {
    let made = Made::new();
    let honest = made.whole();
    let check = |change: &dyn Fn(&mut Files, &mut Manifest)| made.check(&forged(&honest, change));
    assert!(check(&|_, _| {}).passed());
    let better = |files: &mut Files| {
        let page = text(files, "index.html").replacen("of 10 (", "of 9 (", 1);
        files.insert("index.html".to_owned(), page.into_bytes());
    };
    rejected(&check(&|files, _| better(files)), "index.html: is not the page that follows from the claim");
    for (key, value) in [
        ("most_false", json!(0)),
        ("alpha", json!(1e-9)),
        ("sigma", json!(0.25)),
        ("network", json!("another")),
        ("labelled", json!(false)),
        ("assumed", json!([])),
        ("l2", json!([])),
    ] {
        let what = format!("manifest.json: its claim differs in {key} ");
        rejected(&check(&|_, manifest| manifest.claim[key] = value.clone()), &what);
    }
    let share = |manifest: &mut Manifest| manifest.claim["linf"][2]["at_least"] = json!(0.99);
    rejected(&check(&|_, manifest| share(manifest)), "its claim differs in linf ");
    let left_out = |manifest: &mut Manifest| {
        manifest.claim.as_object_mut().expect("an object").remove("expected_false");
    };
    rejected(&check(&|_, manifest| left_out(manifest)), "its claim differs in expected_false ");
    let more = |manifest: &mut Manifest| manifest.claim["approved"] = json!(true);
    rejected(&check(&|_, manifest| more(manifest)), "its claim differs in approved ");
    let data = |manifest: &mut Manifest| manifest.claim["data"] = json!("x sha256:00");
    rejected(&check(&|_, manifest| data(manifest)), "its claim is about x sha256:00");
    rejected(&check(&|_, manifest| manifest.complete = false), "says that the run is not complete");
    rejected(&check(&|_, manifest| manifest.data.shape = [1, 14, 56]), "index.html");
    // A page of another version is not known, which is said; and a claim that differs is still rejected.
    let other = check(&|files, manifest| {
        manifest.program = "99.0.0".to_owned();
        better(files);
    });
    assert!(other.passed() && other.bundle.page == PageCheck::OtherVersion);
    let other = check(&|_, manifest| {
        manifest.program = "99.0.0".to_owned();
        manifest.claim["sigma"] = json!(0.25);
    });
    rejected(&other, "its claim differs in sigma");
}

#[test]
fn parts_of_other_runs_are_rejected() {
    let made = Made::new();
    let honest = made.whole();
    // The page has the hashes too; that of another version is not compared.
    let check = |change: &dyn Fn(&mut Files, &mut Manifest)| {
        made.check(&forged(&honest, |files, manifest| {
            manifest.program = "99.0.0".to_owned();
            change(files, manifest);
        }))
    };
    let flip = |files: &mut Files, name: &str| {
        let bytes = files.get_mut(name).expect("a file");
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
    };
    rejected(
        &check(&|files, _| flip(files, "network.safetensors")),
        "network.safetensors: the records are about the network",
    );
    rejected(&check(&|files, _| flip(files, "projection.safetensors")), "another matrix");
    rejected(&check(&|files, _| flip(files, "data.safetensors")), "data.safetensors");
    // Weights that prove too little.
    let one = |files: &mut Files| {
        let mut certificate: Value =
            serde_json::from_str(&text(files, "projection.cert.json")).expect("JSON");
        certificate["channels"][0]["weights"][0] = json!(1000.0);
        files.insert("projection.cert.json".to_owned(), certificate.to_string().into_bytes());
    };
    rejected(&check(&|files, _| one(files)), "kappa is");
    let levels = |manifest: &mut Manifest| manifest.noise_levels = Some(vec![1.0; 80]);
    rejected(&check(&|_, manifest| levels(manifest)), "noise");
    let mean = |manifest: &mut Manifest| {
        (manifest.network.mean, manifest.network.std) = (vec![0.5], vec![0.5]);
    };
    rejected(&check(&|_, manifest| mean(manifest)), "not about");
}

/// Deleted lines make another claim; and a count that was raised, with everything that follows from it, is found by whoever
/// draws again.
#[test]
fn records_that_were_changed_before_are_found() {
    let made = Made::new();
    let honest = made.whole();
    let lines =
        |files: &Files| -> Vec<String> { text(files, "records.jsonl").lines().map(str::to_owned).collect() };
    let deleted = forged(&honest, |files, _| {
        let mut lines = lines(files);
        lines.remove(3);
        files.insert("records.jsonl".to_owned(), (lines.join("\n") + "\n").into_bytes());
    });
    rejected(&made.check(&deleted), "1 inputs planned have no record");
    let (head, mut records) = made.records();
    let raised = records.iter().position(|record| record.derived.class.is_some()).expect("a certificate");
    let class = usize::try_from(records[raised].derived.class.unwrap_or(0)).expect("small");
    let other =
        records[raised].estimation.iter().enumerate().position(|(at, &count)| at != class && count > 0);
    let other = other.unwrap_or_else(|| panic!("{:?}", records[raised].estimation));
    records[raised].estimation[other] -= 1;
    records[raised].estimation[class] += 1;
    records[raised] = records[raised].clone().with_derived().expect("radii");
    let file = made.write("raised.jsonl", &head, &records);
    let params = BundleParams { records: vec![file], with_data: true, ..made.params() };
    let raised_bundle = bundle(&made.context, &params).expect("nothing to see without drawing");
    let found = check_bundle(&made.context, &raised_bundle, &all()).expect("checked");
    rejected(&found, "drawn again");
    // What is wrong without drawing is refused at once.
    records[raised].label = Some(records[raised].label.map_or(0, |label| (label + 1) % 10));
    let file = made.write("label.jsonl", &head, &records);
    let params = BundleParams { records: vec![file], model_params: model_params(), ..params };
    let error = bundle(&made.context, &params).expect_err("refused").to_string();
    assert!(error.contains("the records are rejected: line ") && error.contains("its label is"), "{error}");
}
