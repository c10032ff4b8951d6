//! Files of certification records: what a kill leaves behind, what is refused, what is merged.

/// What stands beside counts, and whether all readers ask for its proof.
mod claims;
/// Limits of runs, one-sided, chosen and randomised.
mod limits;
/// What a line may say.
mod lines;

use gambeson_checker::FailureProbability;
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::projection::representation::Representation;
use gambeson_smooth::limit::LimitRule;
use gambeson_smooth::noise::{GENERATOR, Grid, Quantum};
use gambeson_smooth::record::{
    ASSUMED, CommonRun, Derived, Law, LimitChoice, ONNX_RUNTIME, Record, RecordError, RecordLog,
    RecordProblem, Rule, Run, VERSION, merge_records, read_records, recorded_runtime, to_line,
};
use gambeson_smooth::sequential::{Goal, RadiusNorm};
use std::path::{Path, PathBuf};

pub(crate) fn common() -> CommonRun {
    CommonRun {
        n: 1000,
        law: Law::Gaussian,
        sigma: 0.25,
        alpha: 0.001,
        seed: 7,
        nonce: None,
        generator: GENERATOR.to_owned(),
        assumed: ASSUMED.to_owned(),
        grid: Grid { quantum: Quantum::Byte, exponent: -2 },
        model: "toy".to_owned(),
        runtime: None,
        data: "toy-test".to_owned(),
        projection: None,
    }
}

pub(crate) fn run() -> Run {
    Run {
        rule: Rule::Fixed,
        limits: LimitRule::OneSided,
        goal: None,
        n0: 10,
        common: common(),
        representation: None,
        noise: None,
        kappa: None,
        spectral: None,
        dimension: 3072,
    }
}

/// A run in the coordinates of a projection.
fn projected(kappa: f64, spectral: f64) -> Run {
    Run {
        common: CommonRun { projection: Some("p".to_owned()), ..common() },
        representation: Some(Representation::Dct2),
        kappa: Some(kappa),
        spectral: Some(spectral),
        ..run()
    }
}

/// A record of three classes, with what its counts prove filled in.
pub(crate) fn record(index: u64, run: Run, selection: [u64; 3], estimation: [u64; 3]) -> Record {
    Record {
        version: VERSION,
        index,
        label: Some(1),
        selection: selection.to_vec(),
        estimation: estimation.to_vec(),
        selection_none: 0,
        estimation_none: 0,
        selection_undecided: 0,
        estimation_undecided: 0,
        run,
        encoding_error: 0.0,
        perturbed_error: 0.0,
        derived: Derived::default(),
        seconds: 0.5,
        digest: None,
    }
    .with_derived()
    .expect("valid counts")
}

fn three() -> Vec<Record> {
    let counts = [[5, 990, 5], [400, 300, 300], [0, 1000, 0]];
    (0..3).map(|at| record(20 * at as u64, run(), [1, 9, 0], counts[at])).collect()
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn write(path: &Path, records: &[Record]) {
    let line = |record: &Record| to_line(record).expect("JSON") + "\n";
    std::fs::write(path, records.iter().map(line).collect::<String>()).expect("written");
}

#[test]
fn what_computed_the_network_is_known_from_the_first_line() {
    let folder = folder();
    let path = folder.path().join("run.jsonl");
    let named =
        |name: &str| Run { common: CommonRun { runtime: Some(name.to_owned()), ..common() }, ..run() };
    write(&path, &[Record { run: named(ONNX_RUNTIME), ..three()[0].clone() }]);
    assert_eq!(recorded_runtime(&path).as_deref(), Some(ONNX_RUNTIME));
    let error =
        RecordLog::open_to_append(&path, &named("another"), MemoryLimit::NONE).expect_err("another runtime");
    assert!(error.to_string().contains("its runtime is \"onnxruntime\", not \"another\""), "{error}");
    // A toy is all that its name says.
    write(&path, &three());
    assert_eq!(recorded_runtime(&path), None);
}

#[test]
fn a_record_is_one_line_with_the_counts_first() {
    let line = to_line(&three()[0]).expect("JSON");
    let start = "{\"version\":2,\"index\":0,\"label\":1,\"selection\":[1,9,0],\"estimation\":[5,990,5],\
                 \"rule\":{\"kind\":\"fixed\"},\"n0\":10,\"n\":1000,\"law\":\"gaussian\",\"sigma\":0.25,\"alpha\":0.001,\"seed\":7,\
                 \"generator\":\"gambeson noise 3\",\"assumed\":\"ChaCha8's words are random; the seed was chosen independently of \
                 network and data\",\"grid\":{\"quantum\":\"1/255\",\"exponent\":-2},\"model\":\"toy\",\"data\":\"toy-test\",\"projection\":null,\"representation\":null,\"noise\":null,\"kappa\":null,\
                 \"spectral\":null,\"dimension\":3072,\"encoding_error\":0.0,\"class\":1,\"latent\":";
    assert!(line.starts_with(start), "{line}");
    // The digest is that of the line without it.
    let (content, digest) = line.split_once(",\"digest\":\"").expect("a digest");
    assert!(content.ends_with(",\"seconds\":0.5"), "{line}");
    assert_eq!(
        digest.trim_end_matches("\"}"),
        gambeson_lowrank::file::sha256(format!("{content}}}").as_bytes())
    );
    let rule = serde_json::to_string(&Rule::MixtureAndLast { last: 1000 }).expect("JSON");
    assert_eq!(rule, "{\"kind\":\"mixture-and-last\",\"last\":1000}");
    for record in three() {
        let line = serde_json::to_string(&record).expect("JSON");
        assert_eq!(serde_json::from_str::<Record>(&line).expect("a record"), record);
    }
}

#[test]
fn wherever_a_kill_cuts_the_file_the_run_goes_on_to_the_same_bytes() {
    let folder = folder();
    let path = folder.path().join("run.jsonl");
    let records = three();
    write(&path, &records);
    let whole = std::fs::read(&path).expect("bytes");
    for cut in (0..=whole.len()).step_by(29).chain([whole.len() - 1, whole.len()]) {
        std::fs::write(&path, &whole[..cut]).expect("written");
        let lines = whole[..cut].split(|&byte| byte == b'\n').count() - 1;
        // A line that only lacks its end is whole.
        let there = lines + usize::from(whole.get(cut) == Some(&b'\n'));
        assert_eq!(read_records(&path, MemoryLimit::NONE).expect("readable").len(), there, "cut at {cut}");
        let (mut log, done) = RecordLog::open_to_append(&path, &run(), MemoryLimit::NONE).expect("ours");
        assert_eq!(done.into_keys().collect::<Vec<_>>(), [0, 20, 40][..there]);
        for record in &records[there..] {
            log.append(record).expect("appended");
        }
        drop(log);
        assert_eq!(std::fs::read(&path).expect("bytes"), whole, "cut at {cut}");
    }
    // Zeros at the end, as of a file that was lengthened before the machine stopped.
    let mut padded = whole.clone();
    padded.extend([0; 100]);
    std::fs::write(&path, padded).expect("written");
    drop(RecordLog::open_to_append(&path, &run(), MemoryLimit::NONE).expect("ours"));
    assert_eq!(std::fs::read(&path).expect("bytes"), whole);
}

#[test]
fn what_is_not_of_this_run_is_refused_and_left_alone() {
    let folder = folder();
    let path = folder.path().join("run.jsonl");
    write(&path, &three());
    let with = |common| Run { common, ..run() };
    let others = [
        ("sigma", with(CommonRun { sigma: 0.5, ..common() })),
        ("seed", with(CommonRun { seed: 8, ..common() })),
        ("model", with(CommonRun { model: "other".to_owned(), ..common() })),
        ("n", with(CommonRun { n: 2000, ..common() })),
        ("alpha", with(CommonRun { alpha: 0.01, ..common() })),
        ("rule", Run { rule: Rule::Anytime, ..run() }),
        ("noise", Run { noise: Some("abc".to_owned()), ..run() }),
        ("dimension", Run { dimension: 784, ..run() }),
        ("generator", with(CommonRun { generator: "another".to_owned(), ..common() })),
    ];
    for (name, other) in others {
        match RecordLog::open_to_append(&path, &other, MemoryLimit::NONE) {
            Err(RecordError::OtherRun { line: 1, field, .. }) => assert_eq!(field, name),
            unexpected => panic!("{name}: {unexpected:?}"),
        }
    }
    let (log, _) = RecordLog::open_to_append(&path, &run(), MemoryLimit::NONE).expect("ours");
    assert!(matches!(
        RecordLog::open_to_append(&path, &run(), MemoryLimit::NONE),
        Err(RecordError::Locked { .. })
    ));
    drop(log);
    for text in ["my notes", "my notes\n", "{\"a\": 1}\n", "idx\tlabel\n0\t3\n"] {
        std::fs::write(&path, text).expect("written");
        assert!(RecordLog::open_to_append(&path, &run(), MemoryLimit::NONE).is_err(), "{text}");
        assert_eq!(std::fs::read_to_string(&path).expect("text"), text, "left as it was");
    }
}

/// Something done to a record.
type Change = fn(&mut Record);

#[test]
fn a_broken_line_is_named_and_contradictions_are_refused() {
    let folder = folder();
    let path = folder.path().join("run.jsonl");
    let records = three();
    let lines: Vec<String> = records.iter().map(|record| to_line(record).expect("JSON")).collect();
    std::fs::write(&path, format!("{}\n{}\n{}\n", lines[0], &lines[1][..60], lines[2])).expect("written");
    let error = read_records(&path, MemoryLimit::NONE).expect_err("broken in the middle");
    assert!(error.to_string().contains("run.jsonl, line 2: not a record"), "{error}");

    let changes: [(Change, &str); 15] = [
        (|record| record.version = 3, "version 3"),
        (|record| record.estimation[0] += 1, "add up to 1001"),
        (|record| record.selection[0] += 1, "add up to 11"),
        (|record| record.estimation_none = 1, "add up to 1001"),
        (|record| record.selection.push(0), "4 classes in selection"),
        (|record| record.label = Some(3), "label 3, but there are 3 classes"),
        (|record| record.run.common.sigma = 0.0, "sigma is 0"),
        (|record| record.run.common.alpha = 1.0, "alpha is 1"),
        (|record| record.encoding_error = -1.0, "encoding_error is -1"),
        (|record| record.run.noise = Some("levels".to_owned()), "need a projection and a sigma of 1"),
        (|record| record.run.kappa = Some(2.0), "all four, or none"),
        (|record| record.run.rule = Rule::MixtureAndLast { last: 2000 }, "does not plan"),
        (
            |record| record.run.common.generator = "gambeson noise 4".to_owned(),
            "generator is \"gambeson noise 4\"",
        ),
        (|record| record.run.common.assumed = "nothing".to_owned(), "assumed is \"nothing\""),
        (|record| record.run = projected(0.001, 1.0), "below the spectral bound"),
    ];
    for (change, message) in changes {
        let mut changed = records[1].clone();
        change(&mut changed);
        write(&path, &[records[0].clone(), changed]);
        let error = read_records(&path, MemoryLimit::NONE).expect_err(message).to_string();
        assert!(error.contains("run.jsonl, line 2: ") && error.contains(message), "{error}");
    }
    assert_eq!(records[0].validate(), Ok(()));
    let mut empty = records[0].clone();
    empty.estimation.clear();
    empty.selection.clear();
    assert_eq!(empty.validate(), Err(RecordProblem::Empty));
}

#[test]
fn what_was_changed_is_seen_even_where_it_claims_no_more() {
    let folder = folder();
    let path = folder.path().join("run.jsonl");
    let line = to_line(&three()[0]).expect("JSON");
    let refused = |text: String, message: &str| {
        std::fs::write(&path, text + "\n").expect("written");
        let error =
            RecordLog::open_to_append(&path, &run(), MemoryLimit::NONE).expect_err(message).to_string();
        assert!(error.contains(message), "{message}: {error}");
    };
    refused(line.replace("\"seed\":7", "\"seed\":8"), "digest");
    refused(line.replace("\"seconds\":0.5", "\"seconds\":0.25"), "digest");
    let (content, _) = line.split_once(",\"digest\"").expect("a digest");
    refused(format!("{content}}}"), "digest is missing");
    refused(line.replace(",\"law\":\"gaussian\"", ""), "missing field `law`");
    refused(line.replace("\"law\":\"gaussian\"", "\"law\":\"laplace\""), "unknown variant");
    // With a digest that fits, what the counts prove is all there is to compare.
    let forged = |change: fn(&mut Record)| {
        let mut record = three()[0].clone();
        change(&mut record);
        to_line(&record).expect("JSON")
    };
    refused(forged(|record| record.run.dimension = 1), "the record was changed");
    let goal = Goal { targets: vec![0.5], tolerance: None, norm: RadiusNorm::L2 };
    let aimed = Record { run: Run { goal: Some(goal), ..run() }, ..three()[0].clone() };
    refused(to_line(&aimed).expect("JSON"), "the rule is fixed");
    // A byte-order mark is no part of the first line.
    std::fs::write(&path, format!("\u{feff}{line}\n")).expect("written");
    assert_eq!(read_records(&path, MemoryLimit::NONE).expect("read"), three()[..1]);
    assert_eq!(RecordLog::open_to_append(&path, &run(), MemoryLimit::NONE).expect("ours").1.len(), 1);
}

#[test]
fn a_dimension_that_kappa_contradicts_is_refused() {
    let mut record = record(0, projected(14.2, 1.0), [1, 9, 0], [0, 1000, 0]);
    assert_eq!(record.validate(), Ok(()));
    record.run.dimension = 12;
    let refused = RecordProblem::Dimension { dimension: 12, kappa: 14.2, spectral: 1.0 };
    assert_eq!(record.validate(), Err(refused));
}

#[test]
fn shards_merge_and_what_disagrees_is_named() {
    let folder = folder();
    let paths: Vec<PathBuf> = ["a.jsonl", "b.jsonl"].iter().map(|name| folder.path().join(name)).collect();
    let mut records = three();
    write(&paths[0], &[records[2].clone(), records[0].clone()]);
    let mut again = records[0].clone();
    again.seconds = 9.0;
    write(&paths[1], &[records[1].clone(), again]);
    let merged = merge_records(&paths, MemoryLimit::NONE).expect("shards of one run");
    assert_eq!(merged, records);
    records[2] = record(40, run(), [1, 9, 0], [1, 999, 0]);
    write(&paths[1], &[records[1].clone(), records[2].clone()]);
    let error = merge_records(&paths, MemoryLimit::NONE).expect_err("other counts").to_string();
    assert!(error.contains("b.jsonl, line 2: input 40") && error.contains("a.jsonl, line 1"), "{error}");
    let other = Run { common: CommonRun { seed: 8, ..common() }, ..run() };
    write(&paths[1], &[record(1, other, [1, 9, 0], [0, 1000, 0])]);
    let error = merge_records(&paths, MemoryLimit::NONE).expect_err("another run").to_string();
    assert!(error.contains("b.jsonl, line 1") && error.contains("seed is 8, not 7"), "{error}");
}

/// Φ by Simpson's rule, which errs by less than 1e-12 here.
fn normal_share(x: f64) -> f64 {
    let steps = 20_000;
    let h = x / f64::from(steps);
    let density = |t: f64| (-t * t / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let step = |at: i32| {
        let t = f64::from(at) * h;
        h / 6.0 * (density(t) + 4.0 * density(t + h / 2.0) + density(t + h))
    };
    0.5 + (0..steps).map(step).sum::<f64>()
}

#[test]
fn radii_are_those_of_the_definition() {
    // All draws of one class: the limit is α^(1/n) in closed form, and Φ(r/σ) must be just that.
    let proven = record(0, run(), [1, 9, 0], [0, 1000, 0]).derived;
    assert_eq!(proven.class, Some(1));
    let (latent, l2, linf) =
        (proven.latent.expect("a radius"), proven.l2.expect("one"), proven.linf.expect("one"));
    let limit = 0.001_f64.powf(1.0 / 1000.0);
    assert!((normal_share(latent / 0.25) - limit).abs() < 1e-11);
    assert_eq!(latent, l2);
    assert!(linf <= l2 / 3072_f64.sqrt() && linf > l2 / 3072_f64.sqrt() * (1.0 - 1e-15));

    // Through a projection, and with an encoding error.
    let mut through = record(0, projected(14.2, 1.5), [1, 9, 0], [0, 1000, 0]);
    through.encoding_error = 0.125;
    let through = through.with_derived().expect("valid").derived;
    let less = through.latent.expect("a radius");
    assert!((less - (latent - 0.125)).abs() < 1e-15);
    assert!((through.l2.expect("one") * 1.5 - less).abs() < 1e-15);
    assert!((through.linf.expect("one") * 14.2 - less).abs() < 1e-15);
    let mut lost = record(0, run(), [1, 9, 0], [0, 1000, 0]);
    lost.encoding_error = 2.0;
    assert_eq!(lost.with_derived().expect("valid").derived, Derived::default());
}

#[test]
fn draws_without_a_class_count_against_all() {
    let mut with = record(0, run(), [1, 9, 0], [0, 990, 10]);
    let without = with.derived;
    (with.estimation[2], with.estimation_none) = (0, 10);
    assert_eq!(with.validate(), Ok(()));
    assert_eq!(with.clone().with_derived().expect("valid").derived, without);
    (with.selection, with.selection_none) = (vec![1, 4, 0], 5);
    assert_eq!((with.validate(), with.selected()), (Ok(()), None));
    assert_eq!(with.with_derived().expect("valid").derived, Derived::default());
    // Of equals the lowest, as numpy's argmax has it.
    assert_eq!(record(0, run(), [5, 5, 0], [0, 1000, 0]).selected(), Some(0));
}

#[test]
fn limits_fit_their_rule() {
    let alpha = FailureProbability::new(0.001).expect("a probability");
    let radius = |record: &Record, how| record.derive(alpha, how).map(|proven| proven.derived.latent);
    let fixed = record(0, run(), [1, 9, 0], [50, 900, 50]);
    let natural = radius(&fixed, LimitChoice::Natural).expect("valid").expect("certified");
    let mixture = radius(&fixed, LimitChoice::Mixture).expect("valid").expect("certified");
    let two_sided = radius(&fixed, LimitChoice::TwoSided).expect("valid").expect("certified");
    assert!(mixture < natural, "freedom to stop has its price: {mixture} {natural}");
    assert!(two_sided > natural, "two classes share the rest: {two_sided} {natural}");
    // With half of α a side: −Φ⁻¹ of the upper limit on 50 of 1000 is Φ⁻¹ of the lower limit on the other 950.
    let half = FailureProbability::new(0.0005).expect("a probability");
    let at_half = |record: &Record| {
        record.derive(half, LimitChoice::Natural).expect("valid").derived.latent.expect("certified")
    };
    let others = record(0, run(), [1, 9, 0], [25, 950, 25]);
    let expected = f64::midpoint(at_half(&fixed), at_half(&others));
    assert!((two_sided - expected).abs() < 1e-13, "{two_sided} {expected}");
    let last = Rule::MixtureAndLast { last: 1000 };
    let sequential = record(0, Run { rule: last, ..run() }, [1, 9, 0], [50, 900, 50]);
    let spent = radius(&sequential, LimitChoice::Natural).expect("valid").expect("certified");
    assert!(spent < natural);
    // Half of α is what the last look has: the fixed limit at half of α.
    assert_eq!(spent, at_half(&fixed));
    let anytime = record(0, Run { rule: Rule::Anytime, ..run() }, [1, 9, 0], [50, 900, 50]);
    assert_eq!(radius(&anytime, LimitChoice::Natural).expect("valid"), Some(mixture));
}
