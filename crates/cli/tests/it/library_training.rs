//! What commands print with `--json` is what the library's results serialise to: training, attacks, networks, data sets.

use crate::library::{context, same};
use crate::support::Bench;
use crate::training::SPEC;
use gambeson::{
    AttackParams, AttackRadius, AttackTarget, BallNorm, Cifar, DataParams, ExportParams, FetchParams,
    ImportParams, InputSelection, TrainParams, WhiteBoxParams, attack, describe_data, export, fetch_data,
    import_data, list_data, open_data, open_spec, open_white_box, train, train_cost,
};
use gambeson_testing::reference_data;

#[test]
fn training_and_attacks() {
    let (bench, context) = (Bench::with_own_data(), context());
    bench.write("s.toml", SPEC);
    let overrides = ["optimiser.epochs=2".to_owned()];
    let spec = open_spec(&context, &bench.path("s.toml"), &overrides).expect("a spec");
    let params = TrainParams { data_folder: Some(bench.path("data")), ..TrainParams::default() };
    let trained = train(&context, &spec, &bench.path("ours"), &params).expect("trained");
    same(&bench, "train s.toml --set optimiser.epochs=2 --out run", &trained);
    let bytes = |name: &str| bench.read_bytes(&format!("{name}/network.safetensors"));
    assert_eq!(bytes("run"), bytes("ours"));
    let cost = train_cost(&context, &spec, &params).expect("timed");
    same(&bench, "train s.toml --set optimiser.epochs=2 --out other --dry-run", &cost);

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
        inputs: InputSelection { every: 100, ..InputSelection::default() },
        ..AttackParams::new(AttackRadius::Epsilon(0.1))
    };
    let target = AttackTarget { data: &data, model: Some(&model) };
    let found = attack(&context, target, &params).expect("attacked");
    same(
        &bench,
        "attack --model run/network.safetensors --projection run/projection.safetensors --data fashion --norm linf \
         --sigma 0.3 --draws 3 --n 100 --pictures 2 --every 100 --epsilon 0.1",
        &found,
    );
    let exported = export(&context, &network, &bench.path("ours.onnx"), &ExportParams::default());
    same(&bench, "export run/network.safetensors run.onnx", &exported.expect("exported"));
}

#[test]
fn data_sets() {
    let (bench, context) = (Bench::with_own_data(), context());
    let folder = Some(bench.path("data"));
    let params = ImportParams { folder: folder.clone(), ..ImportParams::default() };
    let imported = import_data(&context, "fashion", "clothes", &params).expect("imported");
    same(&bench, "data import fashion --name clothes --replace", &imported);
    let list = list_data(&context, folder.as_deref()).expect("a list");
    same(&bench, "data info", &list);
    let params = DataParams { folder, ..DataParams::train() };
    let info = describe_data(&context, "clothes", &params).expect("described");
    same(&bench, "data info clothes", &info);
}

/// From an archive at hand; the library finds it installed, as the program does the second time.
#[test]
fn data_sets_that_are_fetched() {
    let Some(archive) = reference_data("cifar-100-binary.tar.xz") else { return };
    let (bench, context) = (Bench::with_own_data(), context());
    let line = format!("data fetch cifar100 --from {}", archive.display());
    assert_eq!(bench.run(&line).code, 0);
    let params = FetchParams { folder: Some(bench.path("data")), ..FetchParams::default() };
    let found = fetch_data(&context, Cifar::Hundred, &params).expect("installed");
    same(&bench, &line, &found);
}
