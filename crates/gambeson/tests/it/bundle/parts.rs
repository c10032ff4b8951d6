//! Parts that are left out, runs that are not finished, and runs that are refused.

use super::{Made, NETWORK, PROJECTION, all, reasons};
use gambeson::bundle::PartOrigin;
use gambeson::bundle::manifest::{LeftOut, PublicData};
use gambeson::replay::RecordsVerdict;
use gambeson::{
    Bundle, BundleCheck, BundleError, BundleParams, CertifyParams, CheckBundleParams, DataParams, DrawParams,
    Error, ModelParams, bundle, certify, check_bundle, open_data, open_model,
};
use gambeson_testing::skipped;
use std::path::Path;

fn check(made: &Made, bundle: &Bundle, params: &CheckBundleParams) -> BundleCheck {
    check_bundle(&made.context, &Made::reopened(bundle), params).expect("checked")
}

fn missing(check: &BundleCheck) -> Vec<LeftOut> {
    check.bundle.not_checked.iter().map(|it| it.missing).collect()
}

#[test]
fn data_that_are_left_out_are_asked_for() {
    let made = Made::new();
    let without = bundle(&made.context, &made.params()).expect("a bundle");
    assert_eq!(without.manifest().left_out, [LeftOut::Data]);
    let public = PublicData { name: "fashion".to_owned(), split: "test".to_owned() };
    assert_eq!(without.manifest().data.public, Some(public));
    let page = String::from_utf8_lossy(without.file("index.html").expect("a page")).into_owned();
    assert!(page.contains("<pre>gambeson check . --all --data fashion</pre>"), "{page}");
    let alone = check(&made, &without, &all());
    assert_eq!((alone.records.verdict, missing(&alone)), (RecordsVerdict::NotRedrawn, vec![LeftOut::Data]));
    assert!(!alone.passed() && alone.records.claim.is_none() && alone.bundle.kappa.is_some());
    let given = CheckBundleParams { data: Some("fashion".into()), ..all() };
    let whole = check(&made, &without, &given);
    assert!(whole.passed() && whole.records.verdict == RecordsVerdict::Redrawn, "{}", reasons(&whole));
    assert_eq!((whole.bundle.data, missing(&whole)), (PartOrigin::Given, Vec::new()));
    let other = CheckBundleParams { data_params: DataParams::train(), ..given };
    let other = check(&made, &without, &other);
    assert_eq!(other.records.verdict, RecordsVerdict::Rejected);
    assert!(reasons(&other).contains("its data is"), "{}", reasons(&other));
}

#[test]
fn a_network_that_is_left_out_is_asked_for() {
    let made = Made::new();
    let params = BundleParams { without_network: true, with_data: true, ..made.params() };
    let without = bundle(&made.context, &params).expect("a bundle");
    assert_eq!(without.manifest().left_out, [LeftOut::Network]);
    assert!(without.file("network.safetensors").is_none());
    // All but the draws.
    let alone = check(&made, &without, &all());
    assert_eq!(
        (alone.records.verdict, missing(&alone)),
        (RecordsVerdict::NotRedrawn, vec![LeftOut::Network])
    );
    assert!(alone.records.examined && alone.records.claim.is_some() && alone.records.draws == 0);
    let given = CheckBundleParams { model: Some(NETWORK.into()), ..all() };
    let whole = check(&made, &without, &given);
    assert!(whole.passed() && whole.records.checked == 10, "{}", reasons(&whole));
    let toy = CheckBundleParams { model: Some("toy:half-space".into()), ..all() };
    let other = check(&made, &without, &toy);
    assert!(reasons(&other).contains("its model is"), "{}", reasons(&other));
    // Neither: hashes, counts and the projection are left.
    let neither = bundle(&made.context, &BundleParams { with_data: false, ..params }).expect("a bundle");
    let alone = check(&made, &neither, &all());
    assert_eq!(missing(&alone), [LeftOut::Data, LeftOut::Network]);
    let both = CheckBundleParams { data: Some("fashion".into()), ..given };
    assert!(check(&made, &neither, &both).passed());
}

#[test]
fn a_run_that_is_not_finished_says_so() {
    let made = Made::new();
    let (head, records) = made.records();
    let file = made.write("part.jsonl", &head, &records[..7]);
    let params = BundleParams { records: vec![file], with_data: true, ..made.params() };
    let part = bundle(&made.context, &params).expect("a bundle");
    assert!(!part.manifest().complete);
    let page = String::from_utf8_lossy(part.file("index.html").expect("a page")).into_owned();
    assert!(page.contains("<b>INCOMPLETE.</b>") && page.contains("3 of the 10 inputs planned"), "{page}");
    let checked = check(&made, &part, &all());
    assert_eq!((checked.records.verdict, checked.records.missing), (RecordsVerdict::Incomplete, 3));
    assert!(!checked.passed());
}

#[test]
fn what_does_not_belong_together_is_no_bundle() {
    let made = Made::new();
    let refused = |params: BundleParams| bundle(&made.context, &params).expect_err("refused").to_string();
    let train = BundleParams { data_params: DataParams::train(), ..made.params() };
    assert!(refused(train).contains("its data is"));
    let toy = BundleParams { model: "toy:half-space".into(), ..made.params() };
    assert!(refused(toy).contains("its model is"));
    let plain = BundleParams::new(vec![made.path("run.jsonl")], "toy:half-space", "fashion");
    assert!(refused(plain).contains("the records are rejected"));
    let absent = BundleParams { records: vec![made.path("absent.jsonl")], ..made.params() };
    assert!(refused(absent).contains("absent.jsonl"));
    // A radius that its counts do not prove.
    let (head, mut records) = made.records();
    records.iter_mut().filter_map(|record| record.derived.l2.as_mut()).for_each(|radius| *radius += 1.0);
    let file = made.write("radius.jsonl", &head, &records);
    let error = refused(BundleParams { records: vec![file], ..made.params() });
    assert!(error.contains("the records are rejected") && error.contains("more"), "{error}");
    // A certificate of another projection.
    let model_params = ModelParams { certificate: Some(NETWORK.into()), ..super::model_params() };
    assert!(refused(BundleParams { model_params, ..made.params() }).contains("not a certificate"));
}

#[test]
fn the_folder_of_a_training_run_is_enough() {
    let made = Made::new();
    let run = made.path("runs/one");
    std::fs::create_dir_all(&run).expect("a folder");
    let models = Path::new(NETWORK).parent().expect("a folder");
    for name in ["network.safetensors", "projection.safetensors", "projection.cert.json", "spec.toml"] {
        std::fs::copy(models.join(name), run.join(name)).expect("copied");
    }
    let of_folder = |path: &Path| BundleParams::of_folder(&made.context, path);
    let error = of_folder(&run).expect_err("no records").to_string();
    assert!(error.contains("holds no certified.jsonl"), "{error}");
    std::fs::copy(made.path("run.jsonl"), run.join("certified.jsonl")).expect("copied");
    let found = BundleParams { with_data: true, ..of_folder(&run).expect("a run") };
    let bundled = bundle(&made.context, &found).expect("a bundle");
    assert_eq!(bundled.to_zip().ok(), made.whole().to_zip().ok(), "the same run");
    match of_folder(&made.path("runs")).expect_err("several") {
        Error::Bundle(error) => {
            assert!(matches!(&*error, BundleError::SeveralRuns { runs, .. } if *runs == ["one"]), "{error}");
        }
        other => panic!("{other}"),
    }
    let empty = of_folder(&made.path("none")).expect_err("nothing").to_string();
    assert!(empty.contains("holds no network.safetensors"), "{empty}");
    assert!(Path::new(PROJECTION).exists());
}

/// A graph whose weights are in another file: both are in the bundle, and read from there.
#[test]
fn weights_beside_a_graph_are_part_of_the_network() {
    let made = Made::new();
    let context = &made.context;
    let fixtures = Path::new("../learn/tests/fixtures");
    let graph = fixtures.join("beside.onnx");
    let values: Vec<u8> = (0..48).map(|k| 5 * k).collect();
    let data = made.path("x.npy");
    let bytes = gambeson_lowrank::matrix_file::npy::to_bytes(&[4, 2, 3, 2], &values);
    std::fs::write(&data, bytes).expect("written");
    let inputs = open_data(context, &data, &DataParams::default()).expect("data");
    let model = match open_model(context, &graph, &inputs, &ModelParams::default()) {
        Ok(model) => model,
        Err(error) if error.to_string().contains("ONNX Runtime") => return skipped(&error),
        Err(error) => panic!("{error}"),
    };
    let out = made.path("graph.jsonl");
    let draws = DrawParams { out: Some(out.clone()), ..DrawParams::new(0.25) };
    certify(context, &model, &inputs, &CertifyParams { draws, n: 200, ..CertifyParams::new(0.25) })
        .expect("a run");
    let params = BundleParams { with_data: true, ..BundleParams::new(vec![out], &graph, &data) };
    let bundled = Made::reopened(&bundle(context, &params).expect("a bundle"));
    let entry = &bundled.manifest().network;
    assert_eq!(entry.file.as_deref(), Some("network.onnx"));
    assert_eq!(
        (&*entry.external[0].location, &*entry.external[0].file),
        ("beside.weights", "network.weights.0")
    );
    let weights = std::fs::read(fixtures.join("beside.weights")).expect("read");
    assert_eq!(bundled.file("network.weights.0"), Some(&weights[..]));
    let checked = check_bundle(context, &bundled, &all()).expect("checked");
    assert!(checked.passed(), "{}", reasons(&checked));
}
