//! Every verb in a process that cannot have the global pool of rayon: whatever asked for it would panic. In a program
//! without the test harness, whose process would be shared with other tests.

use gambeson::analyze::AnalyzeParams;
use gambeson::{
    AttackParams, AttackRadius, AttackTarget, Batch, BoundParams, CertifyParams, CheckParams,
    CheckRecordsParams, ClassifierSpec, ClassifyParams, Context, ContextParams, DataParams, Dataset,
    EnergyParams, ExportParams, FitMethodKind, FitParams, ImportParams, InputSelection, ModelParams,
    NamedClassifier, PredictParams, ProjectionCertificate, RandomKind, RecordSample, Rows, SessionParams,
    SweepParams, Target, TrainParams, TrainSpec, WhiteBoxParams, analyze, attack, bound, certify, certify_by,
    check, check_projection, check_records, classify, describe_data, export, fit, import_data,
    inspect_projection, open_data, open_model, open_projection, open_records, open_white_box, predict,
    predict_by, random_matrix, smoothed_model, spectrum, sweep, train, train_cost,
};
use std::num::NonZeroUsize;
use std::path::Path;

const NETWORK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/fashion/network.safetensors");
const PROJECTION: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/fashion/projection.safetensors");
const SPEC: &str = r#"
[data]
name = "fashion"
samples = 320
evaluate = 64
[model]
family = "cnn"
width = 4
[projection]
fit = { method = "robust", error = 0.3, grid = 8 }
grid = "native"
[noise]
sigma = 0.3
[objective]
kind = "algorithm-1"
epsilon = 0.3
steps = 2
draws = 2
[optimiser]
epochs = 1
batch = 64
learning_rate = 0.1
"#;

fn main() {
    let refused = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .spawn_handler(|_| Err(std::io::Error::other("no thread for the global pool")))
        .build_global();
    assert!(refused.is_err());
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| ())); // said nothing about: it is asked for
    let used = std::panic::catch_unwind(|| rayon::join(|| (), || ()));
    std::panic::set_hook(hook);
    assert!(used.is_err(), "the global pool cannot be had");

    let params = ContextParams { threads: NonZeroUsize::new(2), ..ContextParams::default() };
    let context = &Context::new(params).expect("threads");
    let home = &tempfile::tempdir().expect("a folder");
    matrices(context);
    let data = open_data(context, "fashion", &DataParams::default()).expect("built in");
    projections(context, home.path());
    smoothing(context, &data, home.path());
    training(context, &data, home.path());
}

fn matrices(context: &Context) {
    for kind in [RandomKind::PositiveSemidefinite, RandomKind::QuadraticProgram] {
        let matrix = random_matrix(context, kind, 300, 1).expect("a matrix");
        let found = bound(context, matrix.clone(), &BoundParams::default()).expect("a bound");
        let file = found.certificate.expect("asked for");
        assert!(check(context, matrix, file, &CheckParams::default()).expect("checked").proven());
    }
}

fn projections(context: &Context, home: &Path) {
    let data = open_data(context, "fashion", &DataParams::train()).expect("built in");
    let mut found = fit(context, &data, &FitParams::new(Target::Error(0.2))).expect("a projection");
    let path = home.join("p.safetensors");
    found.save(context, &path, None).expect("saved");
    let projection = open_projection(context, &path, None).expect("proven").projection().clone();
    let certificate = ProjectionCertificate::read(&path.with_extension("cert.json"), context.memory_limit());
    let certificate = certificate.expect("saved");
    assert!(check_projection(context, &projection, &certificate, None).expect("checked").proven());
    inspect_projection(context, &path, None).expect("inspected");
    spectrum(context, &data, &EnergyParams::default()).expect("errors");
    let params =
        SweepParams { methods: FitMethodKind::ALL.to_vec(), errors: vec![0.3], ..SweepParams::default() };
    assert!(sweep(context, &data, &params).expect("swept").complete);
    let params = ImportParams { folder: Some(home.to_path_buf()), ..ImportParams::default() };
    import_data(context, "fashion", "clothes", &params).expect("imported");
    describe_data(context, "fashion", &DataParams::default()).expect("described");
}

fn smoothing(context: &Context, data: &Dataset, home: &Path) {
    let params = ModelParams { projection: Some(PROJECTION.into()), ..ModelParams::default() };
    let model = open_model(context, NETWORK, data, &params).expect("a network");
    let mut certification = CertifyParams { n: 500, ..CertifyParams::new(0.5) };
    certification.draws.inputs.every = 200;
    let by_caller = certification.clone();
    let records = home.join("run.jsonl");
    certification.draws.out = Some(records.clone());
    certify(context, &model, data, &certification).expect("a run");
    let mut prediction = PredictParams { n: 300, ..PredictParams::new(0.5) };
    prediction.draws.inputs.every = 200;
    predict(context, &model, data, &prediction).expect("a run");
    classify(context, &model, data, &ClassifyParams::default()).expect("answers");
    let file = open_records(context, std::slice::from_ref(&records)).expect("records");
    let all = CheckRecordsParams { sample: RecordSample::All, ..CheckRecordsParams::default() };
    assert!(check_records(context, &file, &model, data, &all).expect("checked").passed());
    let analysis = analyze(context, &[records], &AnalyzeParams::default()).expect("an analysis");
    analysis.figure().expect("a figure");

    let classifier = ClassifierSpec { classes: 10, dim: data.shape().len(), input_map: None };
    let (name, images) = ("the sign of the first value".to_owned(), data.shape());
    let named = NamedClassifier { classifier, name, runtime: None, file: None, images };
    let model = smoothed_model(context, named, data, &ModelParams::default()).expect("a model");
    let mut sign = |batch: &Batch<'_>| {
        let Rows::F32(rows) = batch.rows else { unreachable!("values were asked for") };
        let rows = rows.chunks(batch.width).take(batch.count);
        Ok::<_, std::io::Error>(rows.map(|row| u32::from(row[0] > 0.0)).collect())
    };
    let session = SessionParams::default();
    certify_by(context, &model, data, &by_caller, &session, &mut sign).expect("a run");
    predict_by(context, &model, data, &prediction, &session, &mut sign).expect("a run");
}

fn training(context: &Context, data: &Dataset, home: &Path) {
    let spec = TrainSpec::parse(SPEC, &[]).expect("a spec");
    let params = TrainParams { data_folder: Some(home.join("data")), ..TrainParams::default() };
    assert!(train(context, &spec, &home.join("trained"), &params).expect("trained").finished());
    train_cost(context, &spec, &params).expect("timed");
    let white_box = WhiteBoxParams { projection: Some(PROJECTION.into()), ..WhiteBoxParams::default() };
    let model = open_white_box(context, Path::new(NETWORK), data, &white_box).expect("a network");
    let params = AttackParams {
        sigma: Some(0.5),
        steps: 2,
        draws: 2,
        n: 100,
        inputs: InputSelection { every: 100, ..InputSelection::default() },
        ..AttackParams::new(AttackRadius::Epsilon(0.5))
    };
    attack(context, AttackTarget { data, model: Some(&model) }, &params).expect("attacked");
    export(context, Path::new(NETWORK), &home.join("n.onnx"), &ExportParams::default()).expect("exported");
}
