use crate::support::context;
use gambeson::analyze::{AnalysisRecord, AnalyzeError, AnalyzeParams, DimensionSource, LogRecord};
use gambeson::{
    CertifyParams, DataParams, DigestedRun, DrawParams, Error, Event, FileNames, Head, ImportParams,
    InputSelection, MemoryLimit, ModelParams, RadiusNorm, Record, Run, Scale, Split, analyze, certify,
    import_data, open_data, open_model, to_line,
};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const TOY: &str = "toy:half-space,offset=0.3";

/// Records of three inputs, of a data set in this folder.
fn records(name: &str, folder: Option<&Path>) -> Vec<Record> {
    let context = context(1, MemoryLimit::NONE);
    let params = DataParams { folder: folder.map(Path::to_path_buf), ..DataParams::default() };
    let data = open_data(&context, name, &params).expect("there");
    let model = open_model(&context, TOY, &data, &ModelParams::default()).expect("a toy");
    let mut draws = DrawParams::new(0.25);
    draws.inputs.stop = Some(3);
    let params = CertifyParams { n: 1000, draws, ..CertifyParams::new(0.25) };
    certify(&context, &model, &data, &params).expect("certified").records.into_values().collect()
}

/// The same after a change of their run, with the radii that follow and digests that fit.
fn forged(records: &[Record], change: impl Fn(&mut Run)) -> Vec<Record> {
    let mut run: Run = (**records[0].run).clone();
    change(&mut run);
    let run = DigestedRun::new(run).expect("JSON");
    let changed = |record: &Record| {
        let mut record = record.clone();
        record.run = Arc::clone(&run);
        record.with_derived().expect("valid")
    };
    records.iter().map(changed).collect()
}

fn written(folder: &Path, records: &[Record]) -> PathBuf {
    let path = folder.join("run.jsonl");
    let selection = InputSelection { stop: Some(3), ..InputSelection::default() }.of(1000).expect("three");
    let head = Head { run: Arc::clone(&records[0].run), selection, files: FileNames::default() };
    let lines = std::iter::once(head.to_line()).chain(records.iter().map(to_line));
    let text: String = lines.map(|line| line.expect("JSON") + "\n").collect();
    std::fs::write(&path, text).expect("written");
    path
}

/// What `analyze` says of them, with sets in a folder: the record of the log and the notes below the table.
fn analysed(records: &[Record], folder: &Path, norm: RadiusNorm) -> Result<(LogRecord, String), Error> {
    let home = tempfile::tempdir().expect("a folder");
    let params = AnalyzeParams {
        norm: Some(norm),
        data_folder: Some(folder.to_path_buf()),
        any_class: true,
        ..AnalyzeParams::default()
    };
    let log = written(home.path(), records);
    let found = analyze(&context(1, MemoryLimit::NONE), &[log], &params)?;
    let Some(AnalysisRecord::Log(record)) = found.records().pop() else { panic!("one log") };
    Ok((*record, found.tables(3)[0].markdown()))
}

#[test]
fn the_number_of_coordinates_is_compared_with_the_data() {
    let [home, empty] = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    let params = ImportParams {
        folder: Some(home.path().to_path_buf()),
        split: Some(Split::Test),
        ..ImportParams::default()
    };
    import_data(&context(1, MemoryLimit::NONE), "fashion", "clothes", &params).expect("imported");
    for (name, shown) in [("fashion", "fashion-test"), ("clothes", "clothes")] {
        let honest = records(name, Some(home.path()));
        let one = forged(&honest, |run| run.dimension = 1);
        let radius = |record: &Record| record.derived.linf.expect("a radius");
        assert!(radius(&one[0]) > 27.9 * radius(&honest[0]), "28 times as large");
        let (record, notes) = analysed(&honest, home.path(), RadiusNorm::Linf).expect("an analysis");
        assert_eq!((record.dimension, record.dimension_from), (Some(784), Some(DimensionSource::Data)));
        assert!(notes.contains(&format!("divided by √n; n = 784, the coordinates of {shown}.")), "{notes}");
        let error = analysed(&one, home.path(), RadiusNorm::Linf).expect_err("contradicted");
        let Error::Analyze(error) = error else { panic!("{error}") };
        assert!(matches!(*error, AnalyzeError::Coordinates { recorded: 1, found: 784, .. }), "{error}");
        // ℓ2 radii have nothing to do with it.
        let (record, notes) = analysed(&one, home.path(), RadiusNorm::L2).expect("an analysis");
        assert!(record.dimension.is_none() && !notes.contains("coordinates"), "{notes}");
        // A hash that is not that of the set, whether or not the set is there: nothing can be compared.
        let other = forged(&one, |run| run.common.data = run.common.data.replace("sha256:", "sha256:0"));
        let unnamed = forged(&one, |run| run.common.data = "mine".to_owned());
        let outside = forged(&one, |run| run.common.data = format!("../x sha256:{:064}", 0));
        for (records, folder) in [(&other, &home), (&unnamed, &home), (&outside, &empty)] {
            let (record, notes) = analysed(records, folder.path(), RadiusNorm::Linf).expect("an analysis");
            assert_eq!((record.dimension, record.dimension_from), (Some(1), Some(DimensionSource::Recorded)));
            let said = "n = 1 coordinates is the record's word: check_records compares it with the data.";
            assert!(notes.contains(said), "{notes}");
        }
    }
    // Imported data that are not there, or not whole.
    let honest = records("clothes", Some(home.path()));
    let from =
        |folder: &Path| analysed(&honest, folder, RadiusNorm::Linf).expect("an analysis").0.dimension_from;
    assert_eq!(from(empty.path()), Some(DimensionSource::Recorded));
    let path = home.path().join("clothes/test.safetensors");
    let mut bytes = std::fs::read(&path).expect("there");
    *bytes.last_mut().expect("not empty") ^= 1;
    std::fs::write(&path, bytes).expect("written");
    assert_eq!(from(home.path()), Some(DimensionSource::Recorded));
}

#[test]
fn a_given_number_of_coordinates_is_said_to_be_given() {
    let home = tempfile::tempdir().expect("a folder");
    let logs = [written(home.path(), &records("fashion", None))];
    let (norm, scale) = (Some(RadiusNorm::Linf), Scale::Dimension(1000));
    let params = AnalyzeParams { norm, scale, any_class: true, ..AnalyzeParams::default() };
    let found = analyze(&context(1, MemoryLimit::NONE), &logs, &params).expect("an analysis");
    let Some(AnalysisRecord::Log(record)) = found.records().pop() else { panic!("one log") };
    assert_eq!((record.dimension, record.dimension_from), (Some(1000), Some(DimensionSource::Given)));
    let notes = found.tables(3)[0].markdown();
    assert!(notes.contains("n = 1000 coordinates is given, and nothing here proves it"), "{notes}");
}

#[test]
fn reading_the_data_of_a_log_can_be_stopped() {
    let home = tempfile::tempdir().expect("a folder");
    let folder = Some(home.path().to_path_buf());
    let params = ImportParams { folder: folder.clone(), ..ImportParams::default() };
    import_data(&context(1, MemoryLimit::NONE), "fashion", "clothes", &params).expect("imported");
    let logs = [written(home.path(), &records("clothes", Some(home.path())))];
    let params = AnalyzeParams {
        norm: Some(RadiusNorm::Linf),
        data_folder: folder,
        any_class: true,
        ..AnalyzeParams::default()
    };
    let stopping = context(1, MemoryLimit::NONE).with_observer(|event| match event {
        Event::Load(_) => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    });
    assert!(analyze(&stopping, &logs, &params).expect_err("stopped").is_stopped());
}
