//! Bundles: made, read, checked, altered.

/// Changed files, with manifests that fit them.
mod altered;
/// Archives of strangers.
mod hostile;
/// Parts that are left out, and runs that are refused.
mod parts;

use crate::support::context;
use gambeson::bundle::{PageCheck, PartOrigin};
use gambeson::replay::RecordsVerdict;
use gambeson::{
    Bundle, BundleCheck, BundleParams, CertifyParams, CheckBundleParams, CheckRecordsParams, Context,
    DataParams, DrawParams, ModelParams, RecordSample, bundle, certify, check_bundle, check_records,
    open_bundle, open_data, open_model, open_records,
};
use gambeson_lowrank::MemoryLimit;
use gambeson_smooth::record::{Head, Record, Run, read_records, to_line};
use gambeson_smooth::selection::{Selection, Shard};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const NETWORK: &str = "../../models/fashion/network.safetensors";
const PROJECTION: &str = "../../models/fashion/projection.safetensors";

/// A run of the network on ten images, and a context.
struct Made {
    folder: TempDir,
    context: Context,
}

impl Made {
    fn new() -> Self {
        let made =
            Self { folder: tempfile::tempdir().expect("a folder"), context: context(2, MemoryLimit::NONE) };
        made.certify("run.jsonl");
        made
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn certify(&self, name: &str) {
        let data = open_data(&self.context, "fashion", &DataParams::default()).expect("built in");
        let model = open_model(&self.context, NETWORK, &data, &model_params()).expect("a network");
        let mut draws = DrawParams { out: Some(self.path(name)), ..DrawParams::new(0.5) };
        draws.inputs.every = 100;
        let params = CertifyParams { draws, n: 300, ..CertifyParams::new(0.5) };
        let run = certify(&self.context, &model, &data, &params).expect("a run");
        assert_eq!(run.records.len(), 10);
    }

    fn params(&self) -> BundleParams {
        let own = BundleParams::new(vec![self.path("run.jsonl")], NETWORK, "fashion");
        BundleParams { model_params: model_params(), ..own }
    }

    /// With everything in it.
    fn whole(&self) -> Bundle {
        bundle(&self.context, &BundleParams { with_data: true, ..self.params() }).expect("a bundle")
    }

    /// Written as an archive and read again.
    fn reopened(bundle: &Bundle) -> Bundle {
        Bundle::parse_zip(Path::new("b.zip"), &bundle.to_zip().expect("an archive"), MemoryLimit::NONE)
            .expect("a bundle")
    }

    fn check(&self, bundle: &Bundle) -> BundleCheck {
        check_bundle(&self.context, bundle, &all()).expect("checked")
    }

    /// The records with their head.
    fn records(&self) -> (Head<Run>, Vec<Record>) {
        let recorded = read_records(&self.path("run.jsonl"), MemoryLimit::NONE).expect("records");
        (recorded.head().clone(), recorded.entries().cloned().collect())
    }

    /// Writes a file of records.
    fn write(&self, name: &str, head: &Head<Run>, records: &[Record]) -> PathBuf {
        let line = |record: &Record| to_line(record).expect("a line") + "\n";
        let lines: String = records.iter().map(line).collect();
        let path = self.path(name);
        std::fs::write(&path, head.to_line().expect("a head") + "\n" + &lines).expect("written");
        path
    }
}

fn model_params() -> ModelParams {
    ModelParams { projection: Some(PROJECTION.into()), ..ModelParams::default() }
}

/// A check that makes all draws again.
fn all() -> CheckBundleParams {
    let records = CheckRecordsParams { sample: RecordSample::All, ..CheckRecordsParams::default() };
    CheckBundleParams { records, ..CheckBundleParams::default() }
}

fn reasons(check: &BundleCheck) -> String {
    check.records.findings.iter().map(|finding| finding.reason.clone() + "\n").collect()
}

#[test]
fn a_bundle_says_what_the_run_says() {
    let made = Made::new();
    let whole = made.whole();
    assert!(whole.manifest().complete && whole.manifest().left_out.is_empty());
    let checked = made.check(&Made::reopened(&whole));
    assert!(checked.passed() && checked.records.verdict == RecordsVerdict::Redrawn, "{}", reasons(&checked));
    assert_eq!((checked.records.checked, checked.bundle.page), (10, PageCheck::Same));
    let from = [checked.bundle.network, checked.bundle.data, checked.bundle.projection];
    assert_eq!(from, [PartOrigin::Bundle; 3]);
    assert!(checked.bundle.not_checked.is_empty() && checked.bundle.kappa.is_some_and(|it| it < 8.95));
    // The same claim as from the files themselves, and as the manifest has it.
    let data = open_data(&made.context, "fashion", &DataParams::default()).expect("built in");
    let model = open_model(&made.context, NETWORK, &data, &model_params()).expect("a network");
    let file = open_records(&made.context, &[made.path("run.jsonl")]).expect("records");
    let plain = check_records(&made.context, &file, &model, &data, &all().records).expect("checked");
    assert_eq!(plain.claim, checked.records.claim);
    let claim = serde_json::to_value(plain.claim.expect("a claim")).expect("JSON");
    assert_eq!(claim, whole.manifest().claim);
    // The page is one file that asks for no other, and names what is in the bundle.
    let page = String::from_utf8(whole.file("index.html").expect("a page").to_vec()).expect("text");
    for forbidden in ["<script", "src=", "<link", "url(", "@import", "http://", "https://"] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
    for file in whole.manifest().files.iter().filter(|file| file.name != "index.html") {
        assert!(page.contains(&file.name) && page.contains(&file.sha256), "{}", file.name);
    }
    assert!(
        page.contains("<pre>gambeson check . --all</pre>")
            && page.contains("10 of the data&#39;s 1,000 inputs")
    );
}

#[test]
fn the_same_run_gives_the_same_bytes() {
    let made = Made::new();
    let first = made.whole().to_zip().expect("an archive");
    assert_eq!(first, made.whole().to_zip().expect("an archive"));
    // As shards in another order, one line of them twice, the last one broken off.
    let (head, records) = made.records();
    let shard = |index| {
        let selection = Selection { shard: Shard { index, count: 2 }, ..head.selection };
        Head { selection, ..head.clone() }
    };
    let front = made.write("front.jsonl", &shard(0), &records[..6]);
    let back = made.write("back.jsonl", &shard(1), &records[5..]);
    let torn = std::fs::read_to_string(&back).expect("text") + "{\"run\":\"";
    std::fs::write(&back, torn).expect("written");
    let shards = BundleParams { records: vec![back, front], with_data: true, ..made.params() };
    let joined = bundle(&made.context, &shards).expect("a bundle").to_zip().expect("an archive");
    assert!(first == joined, "shards make another bundle");
    // As a folder, and on one thread.
    let mut whole = bundle(&context(1, MemoryLimit::NONE), &shards).expect("a bundle");
    whole.save(&made.path("folder")).expect("saved");
    let opened = open_bundle(&made.context, &made.path("folder")).expect("a bundle");
    assert_eq!(opened.to_zip().expect("an archive"), first);
    assert!(made.check(&opened).passed());
}

#[test]
fn a_folder_is_replaced_only_by_a_bundle_of_a_bundle() {
    let made = Made::new();
    let (folder, archive) = (made.path("evidence"), made.path("evidence.zip"));
    made.whole().save(&folder).expect("saved");
    std::fs::write(folder.join("manifest.json.sig"), "a signature").expect("written");
    let opened = open_bundle(&made.context, &folder).expect("a bundle");
    assert_eq!(opened.signatures(), ["manifest.json.sig"]);
    // Without the data: their file and the signature go.
    let mut smaller = bundle(&made.context, &made.params()).expect("a bundle");
    smaller.save(&folder).expect("saved");
    assert!(!folder.join("data.safetensors").exists() && !folder.join("manifest.json.sig").exists());
    assert_eq!(open_bundle(&made.context, &folder).expect("a bundle").to_zip().ok(), smaller.to_zip().ok());
    smaller.save(&archive).expect("saved");
    assert_eq!(smaller.record().out, Some(archive.to_string_lossy().into_owned()));
    // A folder of anything else is left alone.
    for name in ["notes.txt", "network.safetensors"] {
        let other = made.path(&format!("other-{name}"));
        std::fs::create_dir(&other).expect("a folder");
        std::fs::write(other.join(name), "mine").expect("written");
        let error = smaller.save(&other).expect_err("refused").to_string();
        assert!(error.contains(name), "{error}");
        assert_eq!(std::fs::read(other.join(name)).expect("there"), b"mine");
        assert_eq!(std::fs::read_dir(&other).expect("a folder").count(), 1);
    }
}

/// A run with another noise, in the inputs themselves, by a toy, on sound: what the page says is in its own words.
#[test]
fn toys_and_sound_are_bundled_too() {
    let made = Made::new();
    let values: Vec<i16> = (0..40).map(|k| 300 * k).collect();
    let bytes = gambeson_lowrank::matrix_file::npy::to_bytes(&[5, 8], &values);
    let sound = made.path("sound.npy");
    std::fs::write(&sound, bytes).expect("written");
    let (toy, context) = ("toy:half-space,offset=0.05", &made.context);
    let data = open_data(context, &sound, &DataParams::default()).expect("sound");
    let model = open_model(context, toy, &data, &ModelParams::default()).expect("a toy");
    let out = made.path("toy.jsonl");
    let draws = DrawParams { out: Some(out.clone()), ..DrawParams::new(0.1) };
    let run = CertifyParams { draws, n: 200, ..CertifyParams::new(0.1) };
    certify(context, &model, &data, &run).expect("a run");
    let params = BundleParams { with_data: true, ..BundleParams::new(vec![out], toy, &sound) };
    let made_bundle = bundle(context, &params).expect("a bundle");
    let page = String::from_utf8_lossy(made_bundle.file("index.html").expect("a page")).into_owned();
    assert!(page.contains("16-bit samples") && page.contains("of 32,768 steps"), "{page}");
    assert!(page.contains("not say") || page.contains("is not known"), "no labels: {page}");
    assert!(!page.contains("κ") && !page.contains("projection.safetensors"), "{page}");
    let checked = made.check(&Made::reopened(&made_bundle));
    assert_eq!(checked.records.verdict, RecordsVerdict::Redrawn, "{}", reasons(&checked));
    let from = [checked.bundle.network, checked.bundle.data, checked.bundle.projection];
    assert_eq!(from, [PartOrigin::None, PartOrigin::Bundle, PartOrigin::None]);
    let error = bundle(context, &BundleParams { without_network: true, ..params }).expect_err("refused");
    assert_eq!(error.field(), Some("without_network"));
}
