use crate::contexts::{SOON, interrupted};
use crate::support::context;
use gambeson::replay::RecordsVerdict;
use gambeson::{
    CertifyParams, CheckRecordsParams, Context, DataParams, DrawParams, Model, ModelParams, PredictParams,
    RecordSample, Seed, certify, certify_by, check_records, check_records_by, open_data, open_model,
    open_records, predict, predict_by,
};
use gambeson_data::dataset::Dataset;
use gambeson_learn::smoothed::{NamedClassifier, NoiseParams, SmoothedModel};
use gambeson_lowrank::MemoryLimit;
use gambeson_smooth::classifier::{Classifier, ClassifierSpec};
use gambeson_smooth::record::{Entry, to_line};
use gambeson_smooth::session::{Batch, Rows, SessionParams};
use std::path::Path;
use std::time::Duration;

const NETWORK: &str = "../../models/fashion/network.safetensors";
const PROJECTION: &str = "../../models/fashion/projection.safetensors";

pub(crate) fn fashion(context: &Context) -> (Dataset, Model) {
    let data = open_data(context, "fashion", &DataParams::default()).expect("built in");
    let params = ModelParams { projection: Some(PROJECTION.into()), ..ModelParams::default() };
    let model = open_model(context, NETWORK, &data, &params).expect("a network");
    (data, model)
}

/// The same model as a spec: its classifier is asked by the caller.
fn asked_by_caller(model: &Model, data: &Dataset) -> SmoothedModel<ClassifierSpec> {
    let named = NamedClassifier {
        classifier: ClassifierSpec::of(&model.classifier),
        name: model.name.clone(),
        runtime: model.runtime,
        file: None,
        images: gambeson_data::dataset::Shape { channels: 1, height: 12, width: 12 },
    };
    let noise = NoiseParams {
        projection: Some(Path::new(PROJECTION)),
        quantum: gambeson_learn::inputs::quantum(data),
        ..NoiseParams::default()
    };
    SmoothedModel::new(named, data.shape(), &noise, MemoryLimit::NONE, 2).expect("it fits")
}

/// Our engine behind a callback, which is called on one thread only.
fn callback(model: &Model) -> impl FnMut(&Batch<'_>) -> Result<Vec<u32>, std::io::Error> + '_ {
    let thread = std::thread::current().id();
    move |batch| {
        assert_eq!(std::thread::current().id(), thread);
        let Rows::F32(rows) = batch.rows else { panic!("values were asked for") };
        let mut classes = vec![0; batch.count];
        let rows = &rows[..batch.count * batch.width];
        model.classifier.classify(rows, batch.count, &mut classes).map_err(std::io::Error::other)?;
        Ok(classes)
    }
}

pub(crate) fn draws(every: u64) -> DrawParams {
    let mut draws = DrawParams::new(0.5);
    draws.inputs.every = every;
    draws.batch = 256;
    draws
}

/// Records without their times.
fn lines<E: Entry>(records: impl Iterator<Item = E>) -> Vec<String> {
    records.map(|record| to_line(&record).expect("a line")).collect()
}

#[test]
fn one_caller_counts_what_all_threads_count() {
    let context = context(2, MemoryLimit::NONE);
    let (data, model) = fashion(&context);
    let spec = asked_by_caller(&model, &data);
    let session = SessionParams::default();
    let folder = tempfile::tempdir().expect("a folder");
    let out = Some(folder.path().join("run.jsonl"));
    let params = CertifyParams {
        draws: DrawParams { out, ..draws(100) },
        n0: 100,
        n: 1000,
        ..CertifyParams::new(0.5)
    };
    let ordinary = certify(&context, &model, &data, &params).expect("a run");
    let in_memory = CertifyParams { draws: draws(100), ..params.clone() };
    let called = certify_by(&context, &spec, &data, &in_memory, &session, callback(&model)).expect("a run");
    let timeless = |run: &gambeson::CertifiedRun| {
        lines(run.records.values().cloned().map(|mut record| {
            record.seconds = 0.0;
            record
        }))
    };
    assert_eq!(ordinary.records.len(), 10);
    assert_eq!(timeless(&ordinary), timeless(&called));
    // The file holds the same, and either way of drawing again agrees with it.
    let file = open_records(&context, &[folder.path().join("run.jsonl")]).expect("records");
    let all = CheckRecordsParams { sample: RecordSample::All, ..CheckRecordsParams::default() };
    let again = check_records(&context, &file, &model, &data, &all).expect("checked");
    assert!(again.passed() && again.checked == 10, "{again:?}");
    assert_eq!((again.verdict, again.missed.len()), (RecordsVerdict::Redrawn, 0));
    let again =
        check_records_by(&context, &file, &spec, &data, &all, &session, callback(&model)).expect("checked");
    assert!(again.passed() && again.checked == 10, "{again:?}");
    // Predictions too.
    let params = PredictParams { draws: draws(250), n: 300 };
    let ordinary = predict(&context, &model, &data, &params).expect("a run");
    let called = predict_by(&context, &spec, &data, &params, &session, callback(&model)).expect("a run");
    let classes = |run: &gambeson::PredictedRun| {
        run.records.values().map(|record| (record.index, record.class)).collect::<Vec<_>>()
    };
    assert_eq!(classes(&ordinary), classes(&called));
}

#[test]
fn an_interrupt_ends_a_certification_that_goes_on_later() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("run.jsonl");
    let small = |out: &Path| CertifyParams {
        draws: DrawParams {
            out: Some(out.to_path_buf()),
            seed: Seed::Derived { nonce: 7 },
            time_limit: None,
            ..draws(500)
        },
        n: 20_000,
        ..CertifyParams::new(0.5)
    };
    let own = context(2, MemoryLimit::NONE);
    let (data, model) = fashion(&own);
    let spent = interrupted(Duration::from_millis(300), |context| {
        let run = certify(context, &model, &data, &small(&out)).expect("a run");
        assert!(run.stopped && run.records.len() < 2);
    });
    assert!(spent < SOON, "{spent:?}");
    let resumed = certify(&own, &model, &data, &small(&out)).expect("a run");
    let whole = certify(&own, &model, &data, &small(&folder.path().join("whole.jsonl"))).expect("a run");
    assert!(!resumed.stopped && !whole.stopped);
    for (index, record) in &whole.records {
        assert_eq!(record.counts(), resumed.records[index].counts());
    }
}

/// What is wrong is named by its parameter.
#[test]
fn errors_of_runs_name_fields() {
    let context = context(1, MemoryLimit::NONE);
    let data = open_data(&context, "fashion", &DataParams::default()).expect("built in");
    let model = open_model(&context, "toy:half-space", &data, &ModelParams::default()).expect("a toy");
    let field = |change: fn(&mut CertifyParams)| {
        let mut params = CertifyParams::new(0.5);
        change(&mut params);
        certify(&context, &model, &data, &params).expect_err("refused").field()
    };
    assert_eq!(field(|params| params.draws.sigma = f64::NAN), Some("sigma"));
    assert_eq!(field(|params| params.draws.alpha = 1.0), Some("alpha"));
    assert_eq!(field(|params| params.draws.inputs.stop = Some(5000)), Some("stop"));
    assert_eq!(field(|params| params.draws.inputs.every = 0), Some("every"));
    assert_eq!(field(|params| params.n0 = 0), Some("n0"));
    assert_eq!(field(|params| params.n = 0), Some("n"));
    assert_eq!(field(|params| params.draws.batch = 0), Some("batch"));
}
