use crate::support::context;
use gambeson::data::{DataError, DataState};
use gambeson::{
    DataParams, Error, Event, ExportParams, FitMethodKind, FitParams, ImportParams, MemoryLimit, SweepParams,
    Target, describe_data, export, fit, import_data, inspect_projection, list_data, open_data, sweep,
    sweep_figure,
};
use std::ops::ControlFlow;
use std::path::Path;

/// A set is imported, listed, described and opened, all in a folder of the caller's.
#[test]
fn imported_data_are_listed_and_described() {
    let home = tempfile::tempdir().expect("a folder");
    let (context, folder) = (context(1, MemoryLimit::NONE), Some(home.path().to_path_buf()));
    let params = ImportParams { folder: folder.clone(), ..ImportParams::default() };
    let imported = import_data(&context, "fashion", "clothes", &params).expect("imported");
    assert_eq!(imported.parts.iter().map(|part| part.samples).collect::<Vec<_>>(), [6000, 1000]);
    let again = import_data(&context, "fashion", "clothes", &params).expect_err("there already");
    assert!(matches!(&again, Error::Data(reason) if matches!(**reason, DataError::Exists { .. })), "{again}");
    let replace = ImportParams { replace: true, ..params };
    assert_eq!(import_data(&context, "fashion", "clothes", &replace).expect("replaced"), imported);
    let list = list_data(&context, folder.as_deref()).expect("a list");
    let states: Vec<_> = list.sets.iter().map(|set| (&*set.name, set.state)).collect();
    let absent = DataState::NotInstalled;
    let expected = [
        ("fashion", DataState::BuiltIn),
        ("cifar10", absent),
        ("cifar100", absent),
        ("clothes", DataState::Imported),
    ];
    assert_eq!(states, expected);
    let params = DataParams { folder, ..DataParams::default() };
    let info = describe_data(&context, "clothes", &params).expect("described");
    assert!(info.samples == 1000 && info.classes.len() == 10 && info.terms.is_none() && info.has_parts);
    let opened = open_data(&context, "clothes", &params).expect("opened");
    assert_eq!((opened.sha256(), &*imported.parts[1].sha256), (&*info.sha256, &*info.sha256));
}

#[test]
fn a_stopped_import_leaves_nothing() {
    let home = tempfile::tempdir().expect("a folder");
    let stopped = context(1, MemoryLimit::NONE).with_observer(|event| match event {
        Event::Load(_) => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    let params = ImportParams { folder: Some(home.path().to_path_buf()), ..ImportParams::default() };
    let error = import_data(&stopped, "fashion", "clothes", &params).expect_err("stopped");
    assert!(error.is_stopped(), "{error}");
    assert_eq!(home.path().read_dir().expect("a folder").count(), 0);
}

#[test]
fn a_sweep_is_ended_by_its_observer() {
    let context = context(2, MemoryLimit::NONE);
    let data = open_data(&context, "fashion", &DataParams::train()).expect("built in");
    let methods = vec![FitMethodKind::Axis, FitMethodKind::Pca];
    let params = SweepParams { methods, errors: vec![0.2, 0.3], ..SweepParams::default() };
    let whole = sweep(&context, &data, &params).expect("swept");
    assert!(whole.complete && !whole.stopped && whole.points.len() == 4);
    assert!(whole.points.iter().all(|point| point.error <= point.budget && point.kappa >= point.limit));
    assert_eq!(whole.points[0].budget, 0.3, "the largest error comes first");
    assert_eq!(sweep_figure(&whole).panels[0].series.len(), 3, "two methods and the limit");
    assert_eq!(serde_json::to_value(&whole).expect("JSON")[3]["method"], "pca");
    let ends = context.clone().with_observer(|event| match event {
        Event::Sweep(gambeson::progress::SweepProgress::Found(_)) => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    let part = sweep(&ends, &data, &params).expect("what there is");
    assert!(part.stopped && !part.complete && part.points[..] == whole.points[..1]);
    let wrong = sweep(&context, &data, &SweepParams { channel: 1, ..params }).expect_err("one channel");
    assert_eq!(wrong.field(), Some("channel"));
}

#[test]
fn a_projection_is_inspected_with_and_without_a_proof() {
    let home = tempfile::tempdir().expect("a folder");
    let context = context(2, MemoryLimit::NONE);
    let data = open_data(&context, "fashion", &DataParams::train()).expect("built in");
    let mut fitted = fit(&context, &data, &FitParams::new(Target::Rank(5))).expect("fitted");
    let path = home.path().join("p.safetensors");
    fitted.save(&context, &path, None).expect("saved");
    let found = inspect_projection(&context, &path, None).expect("inspected");
    assert!(found.record().kappa == Some(fitted.record().kappa) && !found.rejected);
    let other = home.path().join("q.safetensors");
    fit(&context, &data, &FitParams::new(Target::Rank(6)))
        .and_then(|mut fitted| fitted.save(&context, &other, None))
        .expect("saved");
    let forged = home.path().join("q.cert.json");
    let found = inspect_projection(&context, &path, Some(&forged)).expect("inspected");
    assert!(found.rejected && found.record().kappa.is_none() && found.record().reason.is_some());
    std::fs::remove_file(home.path().join("p.cert.json")).expect("removed");
    let found = inspect_projection(&context, &path, None).expect("inspected");
    assert!(!found.rejected && found.record().reason.as_deref() == Some("no certificate"));
}

#[test]
fn a_network_goes_to_onnx_and_back() {
    let home = tempfile::tempdir().expect("a folder");
    let context = context(1, MemoryLimit::NONE);
    let network = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/fashion/network.safetensors"));
    let [graph, back] = ["n.onnx", "n.safetensors"].map(|name| home.path().join(name));
    let params = ExportParams::default();
    let there = export(&context, network, &graph, &params).expect("exported");
    let again = export(&context, &graph, &back, &params).expect("exported");
    let (there, again) = (there.record(), again.record());
    assert_eq!((&*there.from, &*again.from, &again.from_sha256), ("gambeson", "onnx", &there.sha256));
    assert!(there.normalised && again.parameters == there.parameters && again.input == there.input);
    let twice = ExportParams { mean: vec![0.5], std: vec![0.5], ..params.clone() };
    let error = export(&context, network, &graph, &twice).expect_err("its own").to_string();
    assert!(error.contains("its own mean") && !error.contains("--"), "{error}");
    let wrong = ExportParams { mean: vec![0.5], std: vec![0.0], ..params };
    let error = export(&context, network, &graph, &wrong).expect_err("no deviation");
    assert_eq!(error.field(), Some("mean"));
}
