use gambeson::analyze::{
    AnalysedLog, AnalysisRecord, AnalyzeError, AnalyzeParams, KappaSource, ProjectionFiles, Radius,
};
use gambeson::{Context, ContextParams, Error, Event, Note, RadiusNorm, Scale, analyze};
use serde_json::{Value, json};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

const FIRST: &str = "idx\tlabel\tpredict\tradius\tcorrect\ttime\n0\t3\t3\t0.5\t1\t1\n1\t3\t4\t0.9\t0\t1\n\
                     2\t3\t-1\t0.0\t0\t1\n3\t1\t1\t0.3\t1\t1\n";
const SECOND: &str = "idx\tlabel\tpredict\tradius\tcorrect\ttime\n0\t3\t3\t0.2\t1\t1\n1\t3\t3\t0.2\t1\t1\n\
                      2\t3\t3\t0.2\t1\t1\n3\t1\t-1\t0.0\t0\t1\n";

fn context() -> Context {
    Context::new(ContextParams::default()).expect("threads")
}

/// A folder with two logs of the same four inputs, in the dialect of Cohen et al.
fn two_logs() -> (tempfile::TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir().expect("a folder");
    let logs = [("a.tsv", FIRST), ("b.tsv", SECOND)].map(|(name, text)| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("written");
        path
    });
    (folder, logs.to_vec())
}

/// A log of so many inputs with a radius of 0.3, of which the first are correct.
fn certificates(folder: &tempfile::TempDir, name: &str, correct: u32, inputs: u32) -> PathBuf {
    let class = |at: u32| u32::from(at < correct);
    let line = |lines: String, at| format!("{lines}{at}\t1\t{0}\t0.3\t{0}\t1\n", class(at));
    let lines = (0..inputs).fold(String::new(), line);
    let path = folder.path().join(name).with_extension("tsv");
    std::fs::write(&path, format!("idx\tlabel\tpredict\tradius\tcorrect\ttime\n{lines}")).expect("written");
    path
}

#[test]
fn two_logs_are_analysed() {
    let (_folder, logs) = two_logs();
    let params = AnalyzeParams {
        radii: Some(vec![0.0.into(), "1/4".parse().expect("a radius")]),
        envelope: true,
        paired: true,
        per_class: true,
        rho: Some(0.1),
        log_alpha: Some(0.001),
        ..AnalyzeParams::default()
    };
    let found = analyze(&context(), &logs, &params).expect("an analysis");
    let records = found.records();
    let [
        AnalysisRecord::Log(first),
        AnalysisRecord::Log(second),
        AnalysisRecord::Envelope(best),
        AnalysisRecord::Paired(paired),
    ] = records.as_slice()
    else {
        panic!("{records:?}");
    };
    assert_eq!((first.images, first.acr, first.abstained), (Some(4), Some(0.2), Some(0.25)));
    assert_eq!((&first.certified_accuracy, &second.certified_accuracy), (&vec![0.5, 0.5], &vec![0.75, 0.0]));
    assert_eq!((first.kappa_from, &first.not_compared), (KappaSource::Unknown, &None));
    let bound = first.high_probability.as_ref().expect("asked for");
    assert_eq!((bound.false_certificates, &bound.exact), (0, &first.certified_accuracy));
    let classes = first.per_class.as_ref().expect("asked for");
    assert_eq!((classes[0].label, classes[0].images, classes[1].images), (1, 1, 3));
    assert_eq!((&best.certified_accuracy, &best.best[0]), (&vec![0.75, 0.5], &second.source));
    assert_eq!((paired.inputs, paired.both[0], paired.only_second[0]), (4, 1, 2));
    // The records are what the analysis serialises to, and read back.
    let value = serde_json::to_value(&found).expect("JSON");
    assert_eq!((value.as_array().map(Vec::len), &value[3]["source"]), (Some(4), &json!("paired")));
    assert_eq!(serde_json::from_value::<Vec<AnalysisRecord>>(value).expect("records"), records);
    // Tables keep the spelling of radii, CSV has the numbers.
    let table = found.tables(2)[0].markdown();
    assert!(table.contains("| log | images | r = 0 | r = 1/4 | ACR |"), "{table}");
    assert!(table.contains("| b | 4 | 0.75* | 0.00 | 0.15 | 0.25 |"), "{table}");
    assert!(found.csv().starts_with("source,images,acr,abstained,0,0.25\n"), "{}", found.csv());
    assert_eq!(found.figure().expect("a figure").panels[0].series.len(), 3, "two logs and the envelope");
}

/// Among logs that show the same accuracy none is the best alone, whatever its further digits.
#[test]
fn all_that_tie_for_the_best_are_marked() {
    let folder = tempfile::tempdir().expect("a folder");
    let logs = [("a", 500), ("b", 704), ("c", 703), ("d", 704)];
    let logs = logs.map(|(name, correct)| certificates(&folder, name, correct, 1000));
    let radii = Some(vec![0.0.into(), 0.25.into(), 0.5.into()]);
    let params = AnalyzeParams { radii, envelope: true, ..AnalyzeParams::default() };
    let found = analyze(&context(), &logs, &params).expect("an analysis");
    let stars = |digits| -> Vec<Vec<bool>> {
        let table = found.tables(digits)[0].markdown();
        let rows = ["a", "b", "c", "d", "envelope"].map(|name| {
            let row = table.lines().find(|line| line.starts_with(&format!("| {name} |"))).expect("a row");
            row.split('|').skip(3).take(3).map(|cell| cell.trim().ends_with('*')).collect()
        });
        rows.to_vec()
    };
    let (all, none, tied) = (vec![true; 3], vec![false; 3], vec![false, false, true]);
    assert_eq!(stars(3), [&tied, &all, &tied, &all, &none].map(Clone::clone));
    assert_eq!(stars(2), [&tied, &all, &all, &all, &none].map(Clone::clone), "0.70 three times");
    // Data have the first of equals.
    let Some(AnalysisRecord::Envelope(best)) = found.records().pop() else { panic!("an envelope") };
    assert_eq!(best.best, [&logs[1], &logs[1], &logs[0]].map(|path| path.display().to_string()));
}

/// The interval is for all inputs, so that it lies around the difference; its ends are rounded outwards.
#[test]
fn the_interval_of_two_logs_lies_around_their_difference() {
    let folder = tempfile::tempdir().expect("a folder");
    let logs = [("a", 324), ("b", 300)].map(|(name, correct)| certificates(&folder, name, correct, 500));
    let params =
        AnalyzeParams { radii: Some(vec![0.0.into(), 0.5.into()]), paired: true, ..AnalyzeParams::default() };
    let found = analyze(&context(), &logs, &params).expect("an analysis");
    let [paired, none] = found.paired().expect("asked for") else { panic!("two radii") };
    assert_eq!((paired.first, paired.second, paired.difference), (24, 0, 0.048));
    assert!(paired.interval.0 < 0.033 && paired.interval.1 > 0.07, "{paired:?}");
    assert!(none.interval.0 < 0.0 && none.interval.1 > 0.0, "{none:?}");
    let table = found.tables(3).pop().expect("a table").markdown();
    assert!(table.contains("| +0.048 | +0.032 | +0.071 |"), "{table}");
    assert!(table.contains("| +0.000 | -0.008 | +0.008 |"), "{table}");
}

#[test]
fn parameters_out_of_range_are_named() {
    let (_folder, logs) = two_logs();
    let refused = |change: &dyn Fn(&mut AnalyzeParams)| -> Error {
        let mut params = AnalyzeParams::default();
        change(&mut params);
        analyze(&context(), &logs, &params).expect_err("refused")
    };
    for bad in [f64::NAN, f64::INFINITY, -1.0] {
        assert_eq!(refused(&|params| params.radii = Some(vec![Radius::from(bad)])).field(), Some("radii"));
    }
    for bad in [f64::NAN, f64::INFINITY, -1.0, 0.0] {
        assert_eq!(refused(&|params| params.scale = Scale::Kappa(bad)).field(), Some("scale"));
        assert_eq!(refused(&|params| params.sigma = Some(bad)).field(), Some("sigma"));
        assert_eq!(refused(&|params| params.alpha = Some(bad)).field(), Some("alpha"));
        assert_eq!(refused(&|params| params.rho = Some(bad)).field(), Some("rho"));
        let log_alpha = refused(&|params| (params.rho, params.log_alpha) = (Some(0.1), Some(bad)));
        assert_eq!(log_alpha.field(), Some("log_alpha"));
    }
    assert_eq!(refused(&|params| params.scale = Scale::Dimension(0)).field(), Some("scale"));
    let l2 = |params: &mut AnalyzeParams| {
        (params.norm, params.scale) = (Some(RadiusNorm::L2), Scale::Kappa(2.0));
    };
    assert_eq!(refused(&l2).field(), Some("scale"));
    assert_eq!(
        refused(&|params| (params.per_class, params.any_class) = (true, true)).field(),
        Some("per_class")
    );
    let files = || vec![ProjectionFiles { projection: "p.safetensors".into(), certificate: None }];
    let given =
        |params: &mut AnalyzeParams| (params.projections, params.scale) = (files(), Scale::Kappa(2.0));
    assert_eq!(refused(&given).field(), Some("projections"));
    assert_eq!(refused(&|params| params.noise_levels = Some(vec![1.0])).field(), Some("noise_levels"));
    assert_eq!(refused(&|params| params.log_alpha = Some(0.1)).field(), Some("log_alpha"));
    assert_eq!(
        refused(&|params| params.rho = Some(0.1)).field(),
        Some("log_alpha"),
        "the logs do not say theirs"
    );
    assert_eq!(refused(&|params| params.labels = vec!["one".to_owned()]).field(), Some("labels"));
    let none = analyze(&context(), &[], &AnalyzeParams::default()).expect_err("no logs");
    assert!(matches!(none, Error::Analyze(reason) if matches!(*reason, AnalyzeError::NoLogs)));
}

/// Notes go to the observer, who may end the work; so may an interrupt.
#[test]
fn skipped_logs_are_notes() {
    let (folder, mut logs) = two_logs();
    let bad = folder.path().join("bad.txt");
    std::fs::write(&bad, "nothing of the kind\n").expect("written");
    logs.push(bad);
    let params = AnalyzeParams { skip_bad: true, ..AnalyzeParams::default() };
    let notes = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&notes);
    let listening = context().with_observer(move |event| {
        if let Event::Note(note @ Note::LogSkipped { .. }) = event {
            heard.lock().expect("no panic").push(note.to_string());
        }
        ControlFlow::Continue(())
    });
    let found = analyze(&listening, &logs, &params).expect("the other two");
    assert_eq!(found.logs().iter().map(AnalysedLog::label).collect::<Vec<_>>(), ["a", "b"]);
    let notes = notes.lock().expect("no panic");
    assert!(
        notes.len() == 1 && notes[0].starts_with("skipped: ") && notes[0].contains("bad.txt"),
        "{notes:?}"
    );
    let stopping = context().with_observer(|_| ControlFlow::Break(()));
    assert!(analyze(&stopping, &logs, &params).expect_err("stopped").is_stopped());
    let interrupted = context().with_interrupt(|| true);
    assert!(analyze(&interrupted, &logs[..2], &params).expect_err("stopped").is_stopped());
}

#[test]
fn logs_of_other_inputs_are_not_compared() {
    let (folder, mut logs) = two_logs();
    let other = folder.path().join("c.tsv");
    std::fs::write(&other, FIRST.replace("\n3\t1", "\n7\t1")).expect("written");
    logs[1] = other;
    let asked = |envelope, mixed| AnalyzeParams { envelope, mixed, ..AnalyzeParams::default() };
    let found = analyze(&context(), &logs, &asked(false, false)).expect("an analysis");
    assert_eq!(found.difference().expect("other inputs").to_string(), "a and c are of different images");
    assert!(found.tables(3)[0].markdown().contains("the parameter mixed compares them all the same"));
    let value: Value = serde_json::to_value(&found).expect("JSON");
    assert_eq!(value[0]["not_compared"], "a and c are of different images");
    let refused = analyze(&context(), &logs, &asked(true, false)).expect_err("no envelope");
    assert_eq!(refused.field(), Some("envelope"));
    assert_eq!(analyze(&context(), &logs, &asked(true, true)).expect("mixed").records().len(), 3);
}
