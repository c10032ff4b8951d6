//! What commands print with `--json` is what the library's results serialise to.

use crate::support::Bench;
use gambeson::{
    AnalyzeParams, BoundParams, CertifyParams, CheckParams, CheckRecordsParams, ClassifyParams, Context,
    ContextParams, DataParams, EnergyParams, FitMethodKind, FitParams, ModelParams, PredictParams,
    Projection, ProjectionCertificate, RandomKind, RecordSample, SweepParams, Target, analyze, bound,
    certify, check, check_projection, check_records, classify, fit, inspect_projection, open_data,
    open_model, open_records, predict, random_matrix, spectrum, sweep,
};
use gambeson_lowrank::projection::certificate::certificate_path;
use serde::Serialize;
use serde_json::Value;

/// Keys whose values differ from call to call: times, and where files are.
const CHANGING: [&str; 14] = [
    "seconds",
    "seconds_read",
    "seconds_solve",
    "seconds_check",
    "seconds_fit",
    "seconds_eigen",
    "seconds_epoch",
    "full_proof_seconds",
    "processor_seconds",
    "rate",
    "peak_memory",
    "out",
    "run",
    "file",
];

/// Without values that change; the keys stay.
fn steady(mut value: Value) -> Value {
    if let Value::Object(object) = &mut value {
        for (key, value) in object.iter_mut() {
            // Paths of files, but not hashes in records.
            let is_path = ["projection", "certificate"].contains(&key.as_str());
            let changes = CHANGING.contains(&key.as_str()) || is_path;
            *value = if changes { Value::Null } else { steady(value.take()) };
        }
    }
    if let Value::Array(all) = &mut value {
        all.iter_mut().for_each(|one| *one = steady(one.take()));
    }
    value
}

/// The keys of a text of JSON, in the order in which they stand: it is part of what is printed.
fn keys(text: &str) -> Vec<String> {
    let (mut keys, mut letters) = (Vec::new(), text.chars().peekable());
    while letters.find(|&letter| letter == '"').is_some() {
        let mut word = String::new();
        while let Some(letter) = letters.next().filter(|&letter| letter != '"') {
            word.push(letter);
            if letter == '\\' {
                word.extend(letters.next());
            }
        }
        if letters.peek() == Some(&':') {
            keys.push(word);
        }
    }
    keys
}

/// What a command prints with `--json`, line by line, against a result: the same keys in the same order, and the same values
/// but for times and places.
pub(crate) fn same(bench: &Bench, line: &str, result: &impl Serialize) {
    let run = bench.run(&format!("{line} --json"));
    assert!(run.code <= 1, "{line}: {run:?}");
    let own = serde_json::to_string(result).expect("JSON");
    let printed: Vec<Value> =
        run.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    // A result of several objects prints each of them on a line.
    let expected = match serde_json::from_str(&own).expect("JSON") {
        Value::Array(all) => all,
        one => vec![one],
    };
    assert_eq!(steady(Value::Array(printed)), steady(Value::Array(expected)), "{line}");
    assert_eq!(keys(&run.stdout), keys(&own), "{line}");
}

pub(crate) fn context() -> Context {
    Context::new(ContextParams::default()).expect("threads")
}

/// The verbs of the tests in this file and in `library_training`.
const TESTED: [&str; 15] = [
    "analyze",
    "attack",
    "bound",
    "certify",
    "check",
    "data fetch",
    "data import",
    "data info",
    "export",
    "predict",
    "project fit",
    "project inspect",
    "project spectrum",
    "project sweep",
    "train",
];
/// Verbs that put several results of the library together, and have tests of their own: evidence to hand over, a tour, a page
/// with lines for a shell, and an experiment, whose lines are the records of the file.
const COMPOSED: [&str; 4] = ["bundle", "quickstart", "report", "reproduce"];

#[test]
fn every_verb_with_json_is_compared_with_the_library() {
    let bench = Bench::new();
    assert_eq!(bench.run("man --out pages").code, 0);
    let pages =
        std::fs::read_dir(bench.path("pages")).expect("a folder").map(|page| page.expect("a page").path());
    let mut printing: Vec<String> = pages
        .filter(|page| std::fs::read_to_string(page).expect("text").contains("\\-\\-json"))
        .map(|page| {
            page.file_stem().expect("a name").to_string_lossy().replace("gambeson-", "").replace('-', " ")
        })
        .collect();
    printing.sort();
    let mut known: Vec<&str> = TESTED.into_iter().chain(COMPOSED).collect();
    known.sort_unstable();
    assert_eq!(printing, known);
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
    let inspected = inspect_projection(&context, &path, None).expect("inspected");
    same(&bench, "project inspect p.safetensors", &inspected);
    let errors = spectrum(&context, &data, &EnergyParams::default()).expect("errors");
    same(&bench, "project spectrum --data fashion", &errors);
    let methods = vec![FitMethodKind::Pca, FitMethodKind::Axis];
    let params = SweepParams { methods, errors: vec![0.2, 0.3], ..SweepParams::default() };
    let found = sweep(&context, &data, &params).expect("swept");
    same(&bench, "project sweep --data fashion --methods pca,axis --errors 0.2,0.3", &found);
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
    let params = AnalyzeParams { envelope: true, rho: Some(0.1), ..AnalyzeParams::default() };
    let logs = [bench.path("own.jsonl")];
    let found = analyze(&context, &logs, &params).expect("an analysis");
    same(&bench, &format!("analyze {} --envelope --rho 0.1", logs[0].display()), &found);
}
