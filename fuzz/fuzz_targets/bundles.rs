//! Bundles: archives of strangers, and what their files claim.

use super::{logs, repair};
use crate::answer::Answer;
use crate::bundle::{joined, mapped, parts, zipped};
use crate::drive::MEMORY;
use gambeson::bundle::manifest::Manifest;
use gambeson::{
    Bundle, BundleParams, CertifyParams, CheckBundleParams, CheckRecordsParams, Context, ContextParams,
    DataParams, DrawParams, FitParams, ModelParams, RecordSample, bundle, certify, check_bundle, fit,
    open_data, open_model,
};
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::file::sha256;
use gambeson_lowrank::matrix_file::npy;
use gambeson_lowrank::projection::fit::Target;
use gambeson_smooth::record::{read_records, to_line};
use std::error::Error;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::OnceLock;

/// One thread is enough for files so small.
fn context() -> &'static Context {
    static CONTEXT: OnceLock<Context> = OnceLock::new();
    CONTEXT.get_or_init(|| {
        let params = ContextParams { threads: NonZeroUsize::new(1), memory_limit: MEMORY };
        Context::new(params).unwrap_or_else(|error| panic!("{error}"))
    })
}

/// A bundle that is read; where its files are those of its manifest, all of it is checked.
pub(super) fn checked(bytes: &[u8]) -> Answer {
    let bundle = Bundle::parse_zip(Path::new("b.zip"), bytes, MEMORY).map_err(|error| error.to_string())?;
    let small = Bundle::parse_zip(Path::new("b.zip"), bytes, MemoryLimit::bytes(bundle.bytes()));
    assert!(small.is_err(), "the manifest takes memory too");
    let records = CheckRecordsParams { sample: RecordSample::All, ..CheckRecordsParams::default() };
    let params = CheckBundleParams { records, ..CheckBundleParams::default() };
    let check = check_bundle(context(), &bundle, &params).map_err(|error| error.to_string())?;
    let good = check.passed();
    assert!(!good || bundle.altered().is_empty() && check.records.claim.is_some(), "good for nothing");
    assert!(!good || bundle.manifest().complete, "good, but not complete");
    let first = check.records.findings.first().map_or("", |finding| &*finding.reason);
    Ok(format!("{} {:?} {first}", check.records.verdict.name(), check.bundle.page))
}

/// The files of an input as an archive, with the digests, lengths and hashes that belong to what they say.
pub(super) fn sealed(bytes: &[u8]) -> Vec<u8> {
    let repaired = mapped(bytes, |name, file| match name {
        "records.jsonl" => logs::with_digests(file),
        "data.safetensors" | "projection.safetensors" => repair::safetensors(file),
        _ => file.to_vec(),
    });
    let files: Vec<(String, Vec<u8>)> =
        parts(&repaired).into_iter().map(|(name, bytes)| (name, bytes.to_vec())).collect();
    let sealed = mapped(&repaired, |name, file| match name {
        "manifest.json" => manifest_of(file, &files).unwrap_or_else(|| file.to_vec()),
        _ => file.to_vec(),
    });
    zipped(&sealed)
}

/// A manifest with the hashes of these files, in the form that manifests have.
fn manifest_of(bytes: &[u8], files: &[(String, Vec<u8>)]) -> Option<Vec<u8>> {
    let mut manifest: Manifest = serde_json::from_slice(bytes).ok()?;
    for entry in &mut manifest.files {
        if let Some((_, bytes)) = files.iter().find(|(name, _)| *name == entry.name) {
            (entry.bytes, entry.sha256) = (bytes.len() as u64, sha256(bytes));
        }
    }
    manifest.to_bytes().ok()
}

/// A run of a toy on four images, and one in the coordinates of a projection.
fn bundles() -> Result<Vec<Bundle>, Box<dyn Error>> {
    let (folder, context) = (tempfile::tempdir()?, context());
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("x.npy"), npy::to_bytes(&[4, 1, 2, 3], &(0..24).map(|k| 10 * k).collect::<Vec<u8>>()))?;
    std::fs::write(at("x.labels.npy"), npy::to_bytes(&[4], &[0_u16, 0, 1, 1]))?;
    let data = open_data(context, at("x.npy"), &DataParams::default())?;
    fit(context, &data, &FitParams::new(Target::Rank(2)))?.save(context, &at("p.safetensors"), None)?;
    let toy = "toy:half-space,offset=0.4";
    let mut all = Vec::new();
    for (name, projection) in [("plain.jsonl", None), ("projected.jsonl", Some(at("p.safetensors")))] {
        let model_params = ModelParams { projection, ..ModelParams::default() };
        let model = open_model(context, toy, &data, &model_params)?;
        let draws = DrawParams { out: Some(at(name)), ..DrawParams::new(0.2) };
        certify(context, &model, &data, &CertifyParams { draws, n0: 5, n: 20, ..CertifyParams::new(0.2) })?;
        timeless(&at(name))?;
        let params = BundleParams::new(vec![at(name)], toy, at("x.npy"));
        all.push(bundle(context, &BundleParams { model_params, with_data: true, ..params })?);
    }
    Ok(all)
}

/// The time that an input took is another one every time.
fn timeless(path: &Path) -> Result<(), Box<dyn Error>> {
    let recorded = read_records(path, MEMORY)?;
    let mut text = recorded.head().to_line()? + "\n";
    for record in recorded.entries() {
        let mut record = record.clone();
        record.seconds = 0.0;
        text += &to_line(&record)?;
        text.push('\n');
    }
    Ok(std::fs::write(path, text)?)
}

fn made() -> Vec<Bundle> {
    bundles().unwrap_or_else(|error| panic!("{error}"))
}

/// As their files.
pub(super) fn files() -> Vec<Vec<u8>> {
    let as_files = |bundle: &Bundle| {
        let manifest = bundle.manifest();
        let content = |name: &str| bundle.file(name).unwrap_or_default().to_vec();
        let mut files = vec![("manifest.json".to_owned(), manifest.to_bytes().unwrap_or_default())];
        files.extend(manifest.files.iter().map(|file| (file.name.clone(), content(&file.name))));
        joined(&files)
    };
    made().iter().map(as_files).collect()
}

pub(super) fn archives() -> Vec<Vec<u8>> {
    made().iter().filter_map(|bundle| bundle.to_zip().ok()).collect()
}
