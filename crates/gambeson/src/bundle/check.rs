//! A bundle checked: its files, its projection, its records, and whether page and manifest say what follows from these.

use super::content::Bundle;
use super::make::claim_of;
use super::manifest::{LeftOut, PAGE, RECORDS};
use super::outcome::{BundleCheck, CheckedBundle, NotChecked, PageCheck, PartOrigin};
use super::page::page;
use super::parts::{self, CheckBundleParams, Part};
use crate::context::Context;
use crate::error::Error;
use crate::model::ClassifierSource;
use crate::replay::{RecordFile, RecordsCheck, check_counts, check_records, examine_records};
use gambeson_data::dataset::Dataset;
use gambeson_learn::inputs::data_parts;
use gambeson_lowrank::projection::proven::ProvenProjection;
use gambeson_smooth::record::{Record, Recorded, Run};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// What cannot be checked without the network.
const NO_NETWORK: NotChecked = NotChecked { what: "draws", missing: LeftOut::Network };

/// The evidence of a bundle, as far as it is there.
struct Evidence<'a> {
    file: RecordFile,
    projection: Part<(ProvenProjection, PathBuf)>,
    data: Part<Dataset>,
    network: Part<ClassifierSource<'a>>,
}

/// Checks all that a bundle claims, as [`check_records`] does for files: every hash, the projection's certificate, every
/// record, and whether manifest and page say what follows from the records. Draws are made again where network and data are
/// at hand, in the bundle or given.
///
/// Nothing is written, and nothing is read besides what is given.
pub fn check_bundle(
    context: &Context,
    bundle: &Bundle,
    params: &CheckBundleParams,
) -> Result<BundleCheck, Error> {
    let mut checked = begun(bundle);
    checked.records.reject(bundle.altered().iter().cloned());
    if !bundle.altered().is_empty() {
        return Ok(checked);
    }
    let file = RecordFile::parse(Path::new(RECORDS), bundle.file(RECORDS).unwrap_or_default())?;
    let Some(recorded) = file.recorded() else {
        checked.records = file.rejected().unwrap_or_default();
        return Ok(checked);
    };
    let run = recorded.run().clone();
    let network = parts::network(context, bundle, params, &run)?;
    let projection = parts::projection(context, bundle, &params.model_params)?;
    let data = parts::data(context, bundle, params)?;
    let about = &mut checked.bundle;
    about.kappa = projection.found.as_ref().map(|(proven, _)| proven.kappa().value());
    (about.network, about.data, about.projection) = (network.origin, data.origin, projection.origin);
    // What follows from the records alone costs nothing, and comes before the draws.
    let mut wrong: Vec<String> =
        [&network.wrong, &projection.wrong, &data.wrong].into_iter().flatten().cloned().collect();
    let (differing, page) = compare_words(bundle, recorded)?;
    about.page = page;
    wrong.extend(differing);
    if !wrong.is_empty() {
        checked.records.reject(wrong);
        return Ok(checked);
    }
    let evidence = Evidence { file, projection, data, network };
    let (records, not_checked) = check_evidence(context, bundle, params, evidence, &run)?;
    (checked.records, checked.bundle.not_checked) = (records, not_checked);
    Ok(checked)
}

fn begun(bundle: &Bundle) -> BundleCheck {
    let about = CheckedBundle {
        program: bundle.manifest().program.clone(),
        manifest_sha256: bundle.sha256().to_owned(),
        files: bundle.manifest().files.len(),
        bytes: bundle.bytes(),
        signatures: bundle.signatures().to_vec(),
        page: PageCheck::NotCompared,
        kappa: None,
        network: PartOrigin::Missing,
        data: PartOrigin::Missing,
        projection: PartOrigin::None,
        not_checked: Vec::new(),
    };
    BundleCheck { records: RecordsCheck::default(), bundle: about }
}

/// The records with all that is at hand; what was not checked for want of a part.
fn check_evidence(
    context: &Context,
    bundle: &Bundle,
    params: &CheckBundleParams,
    evidence: Evidence<'_>,
    run: &Run,
) -> Result<(RecordsCheck, Vec<NotChecked>), Error> {
    let Evidence { file, projection, data, network } = evidence;
    let (projection, how) = (projection.found, &params.records);
    let Some(data) = data.found else {
        let proven = projection.as_ref().map(|(proven, _)| proven);
        let no_data = NotChecked { what: "draws, labels and encoding errors", missing: LeftOut::Data };
        let missing = [Some(no_data), network.found.is_none().then_some(NO_NETWORK)];
        let missing = missing.into_iter().flatten().collect();
        return Ok((check_counts(context, &file, proven, how)?, missing));
    };
    let Some(source) = network.found else {
        let lengths = file.recorded().into_iter().flat_map(Recorded::entries);
        let classes = lengths.map(|record| record.estimation.len()).max().unwrap_or(0);
        let model = parts::unknown_network(projection.as_ref(), classes, &data, run)?;
        return Ok((examine_records(context, &file, &model, &data, how)?, vec![NO_NETWORK]));
    };
    let model = parts::model(context, bundle, params, (source, projection.as_ref(), &data), run)?;
    Ok((check_records(context, &file, &model, &data, how)?, Vec::new()))
}

/// In what manifest and page differ from what follows from the records.
fn compare_words(bundle: &Bundle, recorded: &Recorded<Record>) -> Result<(Vec<String>, PageCheck), Error> {
    let manifest = bundle.manifest();
    let mut wrong = Vec::new();
    if manifest.complete != (recorded.missing() == 0) {
        wrong.push(format!(
            "manifest.json: says that the run is {}complete, but {} inputs planned have no record",
            if manifest.complete { "" } else { "not " },
            recorded.missing()
        ));
    }
    // Of the data it may have another name, but no other hash.
    let of_records = &recorded.run().common.data;
    let name = manifest.claim.get("data").and_then(Value::as_str).unwrap_or_default();
    if data_parts(name).1 != data_parts(of_records).1 {
        wrong.push(format!(
            "manifest.json: its claim is about {name}, but the records are about {of_records}"
        ));
        return Ok((wrong, PageCheck::NotCompared));
    }
    let claim = claim_of(recorded, name.to_owned())?;
    let follows = serde_json::to_value(&claim).map_err(|reason| Error::Encoding { reason })?;
    let own = manifest.program == env!("CARGO_PKG_VERSION");
    if let Some(key) = differing(&manifest.claim, &follows, own) {
        wrong.push(format!("manifest.json: its claim differs in {key} from what follows from the records"));
        return Ok((wrong, PageCheck::NotCompared));
    }
    if !own {
        return Ok((wrong, PageCheck::OtherVersion));
    }
    let same = bundle.file(PAGE) == Some(page(manifest, recorded.head(), &claim).as_bytes());
    if !same {
        wrong.push(format!("{PAGE}: is not the page that follows from the claim"));
    }
    Ok((wrong, if same { PageCheck::Same } else { PageCheck::Differs }))
}

/// The first key of a claim with another value than follows. Other versions of the program may know other keys.
fn differing<'a>(claim: &'a Value, follows: &'a Value, all: bool) -> Option<&'a str> {
    let (Some(said), Some(follows)) = (claim.as_object(), follows.as_object()) else { return Some("form") };
    let wrong = said.iter().find(|(key, value)| match follows.get(*key) {
        Some(right) => right != *value,
        None => all,
    });
    let left_out = follows.keys().find(|key| all && !said.contains_key(*key));
    wrong.map(|(key, _)| key).or(left_out).map(String::as_str)
}
