//! What `--json` prints is what the library returns, times aside.

use crate::support::Bench;
use crate::training::SPEC;
use gambeson::fit::energies;
use gambeson::project::sweep_channel;
use gambeson::{
    AttackParams, AttackRadius, AttackTarget, Context, ContextParams, DataParams, ExportParams,
    FitMethodKind, ImportParams, SweepParams, TrainParams, WhiteBoxParams, attack, describe_data, export,
    import_data, inspect_projection, list_data, open_data, open_spec, open_white_box, train,
};
use gambeson_learn::attack::BallNorm;
use serde::Serialize;
use serde_json::Value;

/// An object without times, and without the folder of a run.
fn timeless(value: &impl Serialize) -> Value {
    let mut value = serde_json::to_value(value).expect("JSON");
    let timed = |key: &str| key.contains("seconds") || key == "run";
    let mut objects = vec![&mut value];
    while let Some(object) = objects.pop() {
        if let Value::Object(fields) = object {
            fields.retain(|key, _| !timed(key));
            objects.extend(fields.values_mut());
        }
    }
    value
}

/// The words of the program, with `--json`, against a value.
fn printed(bench: &Bench, line: &str, value: &impl Serialize) {
    let run = bench.run(&format!("{line} --json"));
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(timeless(&run.json()), timeless(value), "{line}");
}

fn context() -> Context {
    Context::new(ContextParams::default()).expect("threads")
}

#[test]
fn training_and_attacks() {
    let (bench, context) = (Bench::with_own_data(), context());
    bench.write("s.toml", SPEC);
    let overrides = ["optimiser.epochs=2".to_owned()];
    let spec = open_spec(&context, &bench.path("s.toml"), &overrides).expect("a spec");
    let params = TrainParams { data_folder: Some(bench.path("data")), ..TrainParams::default() };
    let trained = train(&context, &spec, &bench.path("ours"), &params).expect("trained");
    printed(&bench, "train s.toml --set optimiser.epochs=2 --out run", &trained);
    let bytes = |name: &str| bench.read_bytes(&format!("{name}/network.safetensors"));
    assert_eq!(bytes("run"), bytes("ours"));

    let reading = DataParams { folder: Some(bench.path("data")), ..DataParams::default() };
    let data = open_data(&context, "fashion", &reading).expect("built in");
    let projection = Some(bench.path("run/projection.safetensors"));
    let white_box = WhiteBoxParams { projection, ..WhiteBoxParams::default() };
    let network = bench.path("run/network.safetensors");
    let model = open_white_box(&context, &network, &data, &white_box).expect("a network");
    let params = AttackParams {
        norm: BallNorm::Linf,
        sigma: Some(0.3),
        draws: 3,
        n: 100,
        pictures: 2,
        indices: Some((0..1000).step_by(100).collect()),
        ..AttackParams::new(AttackRadius::Epsilon(0.1))
    };
    let target = AttackTarget { data: &data, model: Some(&model) };
    let found = attack(&context, target, &params).expect("attacked");
    printed(
        &bench,
        "attack --model run/network.safetensors --projection run/projection.safetensors --data fashion --norm linf \
         --sigma 0.3 --draws 3 --n 100 --pictures 2 --every 100 --epsilon 0.1",
        &found,
    );
    let exported = export(&context, &network, &bench.path("ours.onnx"), &ExportParams::default());
    let mut record = serde_json::to_value(exported.expect("exported")).expect("JSON");
    record["file"] = "run.onnx".into();
    printed(&bench, "export run/network.safetensors run.onnx", &record);
}

#[test]
fn data_and_projections() {
    let (bench, context) = (Bench::with_own_data(), context());
    let folder = Some(bench.path("data"));
    let params = ImportParams { folder: folder.clone(), ..ImportParams::default() };
    let imported = import_data(&context, "fashion", "clothes", &params).expect("imported");
    printed(&bench, "data import fashion --name clothes --replace", &imported);
    let list = list_data(&context, folder.as_deref()).expect("a list");
    printed(&bench, "data info", &list);
    let params = DataParams { folder, ..DataParams::train() };
    let info = describe_data(&context, "clothes", &params).expect("described");
    printed(&bench, "data info clothes", &info);

    let data = open_data(&context, "clothes", &params).expect("opened");
    let methods = vec![FitMethodKind::Pca, FitMethodKind::Axis];
    let params = SweepParams { methods, errors: vec![0.2, 0.3], ..SweepParams::default() };
    let energies = energies(&context, &data, &params.energy).expect("energies");
    let found = sweep_channel(&context, &energies, &params).expect("swept");
    let run = bench.run("project sweep --data clothes --methods pca,axis --errors 0.2,0.3 --json");
    let lines = run.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON"));
    assert_eq!(Value::Array(lines.collect()), serde_json::to_value(&found).expect("JSON"));

    let line = "project fit --data clothes --rank 5 --method axis --out p.safetensors";
    assert_eq!(bench.run(line).code, 0);
    let found = inspect_projection(&context, &bench.path("p.safetensors"), None).expect("inspected");
    printed(&bench, "project inspect p.safetensors", &found);
}
