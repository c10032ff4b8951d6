//! What commands print with `--json` is what the library's results serialise to.

use crate::support::Bench;
use gambeson::{
    BoundParams, CertifyParams, CheckParams, CheckRecordsParams, ClassifyParams, Context, ContextParams,
    DataParams, FitParams, ModelParams, PredictParams, RandomKind, RecordSample, bound, certify, check,
    check_projection, check_records, classify, fit, open_data, open_model, open_records, predict,
    random_matrix, spectrum,
};
use gambeson_data::energies::EnergyParams;
use gambeson_lowrank::projection::Projection;
use gambeson_lowrank::projection::certificate::{ProjectionCertificate, certificate_path};
use gambeson_lowrank::projection::fit::Target;
use serde::Serialize;
use serde_json::Value;

/// Keys whose values differ from call to call: times, and where files are.
const CHANGING: [&str; 10] = [
    "seconds",
    "seconds_read",
    "seconds_solve",
    "seconds_check",
    "seconds_fit",
    "seconds_eigen",
    "full_proof_seconds",
    "rate",
    "peak_memory",
    "out",
];

/// Without values that change; the keys and their order stay.
fn steady(mut value: Value) -> Value {
    if let Value::Object(object) = &mut value {
        for (key, value) in object.iter_mut() {
            let changes =
                CHANGING.contains(&key.as_str()) || ["projection", "certificate"].contains(&key.as_str());
            *value = if changes { Value::Null } else { steady(value.take()) };
        }
    }
    if let Value::Array(all) = &mut value {
        all.iter_mut().for_each(|one| *one = steady(one.take()));
    }
    value
}

fn same(bench: &Bench, line: &str, result: &impl Serialize) {
    let run = bench.run(&format!("{line} --json"));
    assert!(run.code <= 1, "{line}: {run:?}");
    let printed: Value = serde_json::from_str(&run.stdout).expect("one object");
    let own: Value = serde_json::from_str(&serde_json::to_string(result).expect("JSON")).expect("an object");
    assert_eq!(steady(printed), steady(own), "{line}");
    // Objects are compared without the order of their keys: it is part of what is printed.
    let keys = |text: &str| {
        let words: Vec<String> = text.split('"').skip(1).step_by(2).map(str::to_owned).collect();
        words.into_iter().filter(|word| !word.contains(['/', '.'])).collect::<Vec<_>>()
    };
    assert_eq!(keys(&run.stdout), keys(&serde_json::to_string(result).expect("JSON")), "{line}");
}

fn context() -> Context {
    Context::new(ContextParams::default()).expect("threads")
}

#[test]
fn bounds_and_checks_print_what_the_library_returns() {
    let (bench, context) = (Bench::new(), context());
    let matrix = || random_matrix(&context, RandomKind::QuadraticProgram, 60, 3).expect("a matrix");
    let found = bound(&context, matrix(), &BoundParams::default()).expect("a bound");
    same(&bench, "bound --random qp:60:3 --certificate c.json", &found);
    let file = found.certificate.expect("asked for");
    let checked = check(&context, matrix(), file, &CheckParams::default()).expect("checked");
    same(&bench, "check --random qp:60:3 c.json", &checked);
}

#[test]
fn projections_print_what_the_library_returns() {
    let (bench, context) = (Bench::new(), context());
    let data = open_data(&context, "fashion", &DataParams::train()).expect("built in");
    let mut found = fit(&context, &data, &FitParams::new(Target::Rank(12))).expect("a projection");
    let path = bench.path("own.safetensors");
    found.save(&context, &path, None).expect("saved");
    same(&bench, "project fit --data fashion --rank 12 --out p.safetensors", &found);
    assert_eq!(bench.read_bytes("own.safetensors"), bench.read_bytes("p.safetensors"));
    let projection = Projection::read(&path, context.memory_limit()).expect("saved");
    let certificate =
        ProjectionCertificate::read(&certificate_path(&path), context.memory_limit()).expect("saved");
    let checked = check_projection(&context, &projection, &certificate, None).expect("checked");
    same(&bench, "check p.safetensors p.cert.json", &checked);
    let errors = spectrum(&context, &data, &EnergyParams::default()).expect("errors");
    same(&bench, "project spectrum --data fashion", &errors);
}

#[test]
fn smoothing_prints_what_the_library_returns() {
    let (bench, context) = (Bench::new(), context());
    let toy = "toy:half-space,offset=0.3";
    let data = open_data(&context, "fashion", &DataParams::default()).expect("built in");
    let model = open_model(&context, toy, &data, &ModelParams::default()).expect("a toy");
    let mut params = CertifyParams { n: 500, ..CertifyParams::new(0.5) };
    params.draws.inputs.stop = Some(9);
    params.draws.out = Some(bench.path("own.jsonl"));
    let run = certify(&context, &model, &data, &params).expect("a run");
    let line = format!("--model {toy} --data fashion --stop 9");
    same(&bench, &format!("certify {line} --sigma 0.5 --n 500 --out run.jsonl"), &run);
    let mut params = PredictParams { n: 300, ..PredictParams::new(0.5) };
    params.draws.inputs.stop = Some(9);
    let run = predict(&context, &model, &data, &params).expect("a run");
    same(&bench, &format!("predict {line} --sigma 0.5 --n 300"), &run);
    let mut params = ClassifyParams::default();
    params.inputs.stop = Some(9);
    let answers = classify(&context, &model, &data, &params).expect("a run").expect("not stopped");
    same(&bench, &format!("predict {line} --clean"), &answers);
    let file = open_records(&context, &[bench.path("own.jsonl")]).expect("records");
    let params = CheckRecordsParams { sample: RecordSample::All, ..CheckRecordsParams::default() };
    let checked = check_records(&context, &file, &model, &data, &params).expect("checked");
    same(&bench, &format!("check run.jsonl --model {toy} --data fashion --all"), &checked);
}
