//! From the files of a run to a bundle.

use super::archive::Files;
use super::content::Bundle;
use super::manifest::{
    CERTIFICATE, DATA, DataEntry, Draft, ExternalEntry, LeftOut, Manifest, NETWORKS, NetworkEntry,
    PROJECTION, PublicData, RECORDS, StoredValues, WEIGHTS,
};
use super::page::page;
use crate::context::Context;
use crate::data::{DataParams, data_folder, open_data};
use crate::error::Error;
use crate::error::bundle::BundleError;
use crate::model::{ClassifierSource, ModelParams, open_proven};
use crate::replay::{
    CheckRecordsParams, RecordFile, RecordsCheck, RecordsVerdict, examine_records, open_records,
};
use crate::train::open_spec;
use gambeson_data::dataset::{Dataset, Values};
use gambeson_data::source::{self, DataSource};
use gambeson_data::store;
use gambeson_learn::inputs::data_name;
use gambeson_learn::network_format::NetworkFormat;
use gambeson_learn::runtime::NetworkContent;
use gambeson_learn::train::run::{NETWORK, SPEC};
use gambeson_learn::train::setup;
use gambeson_learn::weights::format::WeightsFormat;
use gambeson_lowrank::projection::certificate::certificate_path;
use gambeson_lowrank::projection::proven::ProvenProjection;
use gambeson_smooth::claim::{Claim, claim};
use gambeson_smooth::classifier::ClassifierSpec;
use gambeson_smooth::record::{Head, Record, Recorded, Run, to_line};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The records of a run in the folder of its training.
const CERTIFIED: &str = "certified.jsonl";

/// Parameters of [`bundle`].
#[derive(Clone, Debug)]
pub struct BundleParams {
    /// Files of records, shards of one plan.
    pub records: Vec<PathBuf>,
    /// The network or toy that they are about.
    pub model: OsString,
    /// The data that they are about.
    pub data: OsString,
    /// How the data are read.
    pub data_params: DataParams,
    /// The projection, and how the network is read.
    pub model_params: ModelParams,
    /// Whether the data are included.
    pub with_data: bool,
    /// Whether only the hash of the network is included.
    pub without_network: bool,
}

impl BundleParams {
    /// A bundle of records with their network, without projection and without data.
    pub fn new(records: Vec<PathBuf>, model: impl Into<OsString>, data: impl Into<OsString>) -> Self {
        Self {
            records,
            model: model.into(),
            data: data.into(),
            data_params: DataParams::default(),
            model_params: ModelParams::default(),
            with_data: false,
            without_network: false,
        }
    }

    /// A bundle of what lies in the folder of a training run: records in `certified.jsonl`, beside the network, the
    /// projection if there is one, and the spec, which names the data.
    pub fn of_folder(context: &Context, folder: &Path) -> Result<Self, Error> {
        let is_run = |folder: &Path| folder.join(CERTIFIED).is_file() && folder.join(NETWORK).is_file();
        if !is_run(folder) {
            let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
            let runs = entries.filter(|entry| is_run(&entry.path()));
            let mut runs: Vec<String> =
                runs.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
            runs.sort();
            let path = folder.to_path_buf();
            return Err(match runs.is_empty() {
                false => BundleError::SeveralRuns { path, runs },
                true if folder.join(NETWORK).is_file() => BundleError::NoRun { path, missing: CERTIFIED },
                true => BundleError::NoRun { path, missing: NETWORK },
            }
            .into());
        }
        let spec = open_spec(context, &folder.join(SPEC), &[])?;
        let projection = Some(folder.join(setup::PROJECTION)).filter(|path| path.is_file());
        let model_params = ModelParams { projection, ..ModelParams::default() };
        let files = vec![folder.join(CERTIFIED)];
        Ok(Self { model_params, ..Self::new(files, folder.join(NETWORK), spec.data.name) })
    }
}

/// Puts a bundle together, in memory ([`Bundle::save`] writes it).
///
/// What can be examined without drawing is examined first: a run whose records, network, data and projection do not belong
/// together, or whose counts do not prove what stands beside them, is refused. A run that is not finished makes a bundle that
/// says so.
pub fn bundle(context: &Context, params: &BundleParams) -> Result<Bundle, Error> {
    let records = open_records(context, &params.records)?;
    let Some(recorded) = records.recorded() else {
        return Err(rejected(&records.rejected().unwrap_or_default()).into());
    };
    let head = recorded.head();
    let data = open_data(context, &params.data, &params.data_params)?;
    let mut files = Files::new();
    files.insert(RECORDS.to_owned(), joined(recorded)?);
    let projection = projection(context, &params.model_params, &mut files)?;
    let source = ClassifierSource::read(context, &params.model)?;
    let network = network(&source, params, &mut files)?;
    let left_out = left_out(&source, params);
    let model_params = params.model_params.clone().replaying(&head.run);
    let model = open_proven(context, source, projection, &data, &model_params)?;
    let model = model.map(|classifier| ClassifierSpec::of(&classifier));
    let examined = examine_records(context, &records, &model, &data, &CheckRecordsParams::default())?;
    if examined.stopped {
        return Err(BundleError::Stopped.into());
    }
    if examined.verdict == RecordsVerdict::Rejected {
        return Err(rejected(&examined).into());
    }
    if params.with_data {
        files.insert(DATA.to_owned(), store::to_bytes(&data));
    }
    let draft = Draft {
        complete: recorded.missing() == 0,
        left_out,
        network,
        data: data_entry(params, &data)?,
        noise_levels: params.model_params.noise_levels.clone(),
        claim: serde_json::Value::Null,
    };
    // What stands in the bundle is what is claimed: the records as they were joined.
    let joined = RecordFile::parse(Path::new(RECORDS), files.get(RECORDS).map_or(&[], Vec::as_slice))?;
    let recorded = joined.recorded().unwrap_or(recorded);
    let (head, claim) = (recorded.head(), claim_of(recorded, data_name(&data))?);
    seal(draft, files, head, &claim).map_err(|reason| Error::Encoding { reason })
}

fn rejected(check: &RecordsCheck) -> BundleError {
    let first = check.findings.first().map(|finding| match (finding.line, finding.index) {
        (Some(line), Some(index)) => format!("line {line}, input {index}: {}", finding.reason),
        _ => finding.reason.clone(),
    });
    BundleError::Rejected { first: first.unwrap_or_default(), findings: check.findings.len() }
}

/// What records claim, under a name of the data.
pub(super) fn claim_of(recorded: &Recorded<Record>, data: String) -> Result<Claim, Error> {
    let plan = recorded.head().plan_digest().map_err(|reason| Error::Encoding { reason })?;
    Ok(claim(recorded.head(), plan, data, &recorded.entries())?)
}

/// The page, then the manifest, which has its hash.
fn seal(
    mut draft: Draft,
    mut files: Files,
    head: &Head<Run>,
    claim: &Claim,
) -> Result<Bundle, serde_json::Error> {
    draft.claim = serde_json::to_value(claim)?;
    let manifest = Manifest::new(draft, &files);
    files.insert(super::manifest::PAGE.to_owned(), page(&manifest, head, claim).into_bytes());
    Bundle::new(manifest.with_files(&files), files)
}

/// Records of one plan as one file: the head of all shards, and one line an input, by rising index.
fn joined(recorded: &Recorded<Record>) -> Result<Vec<u8>, Error> {
    let encoding = |reason| Error::Encoding { reason };
    let head = Head { selection: recorded.planned(), ..recorded.head().clone() };
    let mut text = head.to_line().map_err(encoding)? + "\n";
    for record in recorded.entries() {
        text.push_str(&to_line(record).map_err(encoding)?);
        text.push('\n');
    }
    Ok(text.into_bytes())
}

/// The projection, proven from the bytes that the bundle gets.
fn projection<'a>(
    context: &Context,
    params: &'a ModelParams,
    files: &mut Files,
) -> Result<Option<(ProvenProjection, &'a Path)>, Error> {
    let Some(path) = params.projection.as_deref() else { return Ok(None) };
    let certificate = params.certificate.clone().unwrap_or_else(|| certificate_path(path));
    let memory = context.memory_limit();
    let read = |path: &Path| {
        memory.read_file(path).map_err(|reason| BundleError::Read { path: path.to_path_buf(), reason })
    };
    let (basis, evidence) = (read(path)?, read(&certificate)?);
    let levels = params.noise_levels.as_deref();
    let proven = context.run(|| {
        let files = ((path, &*basis), (&*certificate, &*evidence));
        Ok(ProvenProjection::parse(files.0, files.1, levels, context.threads())?)
    })?;
    files.insert(PROJECTION.to_owned(), basis);
    files.insert(CERTIFICATE.to_owned(), evidence);
    Ok(Some((proven, path)))
}

/// The network's files, if they are included.
fn network(
    source: &ClassifierSource<'_>,
    params: &BundleParams,
    files: &mut Files,
) -> Result<NetworkEntry, Error> {
    let ModelParams { mean, std, .. } = params.model_params.clone();
    let mut entry = NetworkEntry { mean, std, ..NetworkEntry::default() };
    let (path, content) = match source {
        ClassifierSource::Toy(..) if params.without_network => return Err(BundleError::ToyHash.into()),
        ClassifierSource::Toy(..) => return Ok(entry),
        ClassifierSource::Network(path, content) => (path, content),
    };
    if params.without_network {
        return Ok(entry);
    }
    let NetworkContent { bytes, external } = content;
    let name = match content.format(path) {
        Ok(NetworkFormat::Onnx) => NETWORKS[1],
        Ok(NetworkFormat::Weights(WeightsFormat::Torch)) => NETWORKS[2],
        _ => NETWORKS[0], // what is no network is refused when it is loaded
    };
    files.insert(name.to_owned(), bytes.clone());
    entry.file = Some(name.to_owned());
    for (at, (location, bytes)) in external.iter().enumerate() {
        let file = format!("{WEIGHTS}{at}");
        files.insert(file.clone(), bytes.clone());
        entry.external.push(ExternalEntry { location: location.clone(), file });
    }
    Ok(entry)
}

/// A toy needs no file, unless it has its vector in one.
fn left_out(source: &ClassifierSource<'_>, params: &BundleParams) -> Vec<LeftOut> {
    let network = match source {
        ClassifierSource::Network(..) => params.without_network,
        ClassifierSource::Toy(toy, _) => toy.vector_path().is_some(),
    };
    let parts = [(network, LeftOut::Network), (!params.with_data, LeftOut::Data)];
    parts.into_iter().filter(|(left_out, _)| *left_out).map(|(_, part)| part).collect()
}

/// How data are stored.
pub(super) fn stored_values(data: &Dataset) -> StoredValues {
    match data.values() {
        Values::U8(_) => StoredValues::U8,
        Values::I16(_) => StoredValues::I16,
        Values::F32(_) => StoredValues::F32,
    }
}

fn data_entry(params: &BundleParams, data: &Dataset) -> Result<DataEntry, Error> {
    let shape = data.shape();
    Ok(DataEntry {
        file: params.with_data.then(|| DATA.to_owned()),
        public: public_data(&params.data, &params.data_params)?,
        values: stored_values(data),
        shape: [shape.channels, shape.height, shape.width],
    })
}

/// The name under which everybody can get data.
fn public_data(name: &OsStr, params: &DataParams) -> Result<Option<PublicData>, Error> {
    let name = match source::find(name, &data_folder(params.folder.as_deref())?) {
        Ok(DataSource::Fashion) => "fashion",
        Ok(DataSource::Cifar(set, _)) => set.name(),
        _ => return Ok(None),
    };
    Ok(Some(PublicData { name: name.to_owned(), split: params.split.name().to_owned() }))
}
