//! What a kill leaves behind, what is refused, what is merged.

use super::{common, folder, head, merged, of_changed_run, open, projected, record, run, text, three, write};
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::file::sha256;
use gambeson_smooth::record::{
    CommonRun, ONNX_RUNTIME, Record, RecordError, RecordProblem, Rule, Run, RunContent, read_records,
    recorded_runtime, to_line,
};
use gambeson_smooth::sequential::{Goal, RadiusNorm};
use std::path::PathBuf;

#[test]
fn what_computed_the_network_is_known_from_the_first_line() {
    let folder = folder();
    let path = folder.path().join("run.jsonl");
    let named =
        |name: &str| Run { common: CommonRun { runtime: Some(name.to_owned()), ..common() }, ..run() };
    write(&path, &[record(0, named(ONNX_RUNTIME), [1, 9, 0], [5, 990, 5])]);
    assert_eq!(recorded_runtime(&path).as_deref(), Some(ONNX_RUNTIME));
    let error = open(&path, named("another")).expect_err("another runtime");
    assert!(error.to_string().contains("its runtime is \"onnxruntime\", not \"another\""), "{error}");
    // A toy is all that its name says.
    write(&path, &three());
    assert_eq!(recorded_runtime(&path), None);
}

/// Digests are those of what stands in the lines: anybody can take them.
#[test]
fn a_file_is_a_head_and_one_line_per_record_with_the_counts_first() {
    let text = text(&three());
    let lines: Vec<&str> = text.lines().collect();
    let start = "{\"gambeson\":\"certification\",\"version\":3,";
    let run = "\"run\":{\"rule\":{\"kind\":\"fixed\"},\"n0\":10,\"n\":1000,\"law\":\"gaussian\",\"sigma\":0.25,\
               \"alpha\":0.001,\"seed\":7,\"generator\":\"gambeson noise 3\",\"assumed\":\"ChaCha8's words are random; \
               the seed was chosen independently of network and data\",\"grid\":{\"quantum\":\"1/255\",\"exponent\":-2},\
               \"model\":\"toy\",\"batch\":64,\"data\":\"toy-test\",\"projection\":null,\"representation\":null,\
               \"noise\":null,\"kappa\":null,\"spectral\":null,\"dimension\":3072}";
    let selection = "\"selection\":{\"start\":0,\"stop\":60,\"every\":1,\"count\":60,\"inputs\":60,\
                     \"shard\":{\"index\":0,\"count\":1}}";
    let plan = sha256(format!("{start}{run},{selection}}}").as_bytes());
    let content = format!("{start}{run},{selection},\"plan\":\"{plan}\"");
    let digest = sha256(format!("{content}}}").as_bytes());
    assert_eq!(lines[0], format!("{content},\"digest\":\"{digest}\"}}"));
    let run = sha256(format!("{start}{run}}}").as_bytes());
    let start = format!(
        "{{\"run\":\"{run}\",\"index\":0,\"label\":1,\"selection\":[1,9,0],\"estimation\":[5,990,5],\
         \"encoding_error\":0.0,\"class\":1,\"latent\":"
    );
    assert!(lines[1].starts_with(&start), "{}", lines[1]);
    let (content, digest) = lines[1].split_once(",\"digest\":\"").expect("a digest");
    assert!(content.ends_with(",\"seconds\":0.5"), "{}", lines[1]);
    assert_eq!(digest.trim_end_matches("\"}"), sha256(format!("{content}}}").as_bytes()));
    let rule = serde_json::to_string(&Rule::MixtureAndLast { last: 1000 }).expect("JSON");
    assert_eq!(rule, "{\"kind\":\"mixture-and-last\",\"last\":1000}");
    let folder = folder();
    let path = folder.path().join("run.jsonl");
    write(&path, &three());
    assert_eq!(merged(&[path]).expect("records"), three());
}

#[test]
fn wherever_a_kill_cuts_the_file_the_run_goes_on_to_the_same_bytes() {
    let folder = folder();
    let path = folder.path().join("run.jsonl");
    let records = three();
    write(&path, &records);
    let whole = std::fs::read(&path).expect("bytes");
    let head = whole.iter().position(|&byte| byte == b'\n').expect("a head");
    let read = || read_records(&path, MemoryLimit::NONE);
    let near = [13, 14, head - 1, head, head + 1, head + 2, whole.len() - 1, whole.len()];
    for cut in (0..=whole.len()).step_by(29).chain(near) {
        std::fs::write(&path, &whole[..cut]).expect("written");
        let lines = whole[..cut].split(|&byte| byte == b'\n').count() - 1;
        // A line that only lacks its end is whole.
        let there = (lines + usize::from(whole.get(cut) == Some(&b'\n'))).saturating_sub(1);
        let torn = cut > 0 && whole[cut - 1] != b'\n' && whole.get(cut).is_some_and(|&byte| byte != b'\n');
        match read() {
            Ok(recorded) => {
                assert_eq!(recorded.len(), there, "cut at {cut}");
                assert_eq!(recorded.broken_off().len(), usize::from(torn), "cut at {cut}");
            }
            Err(RecordError::BrokenHead { .. }) => assert!((13..head).contains(&cut), "cut at {cut}"),
            Err(error) => assert!(cut == 0 && matches!(error, RecordError::NoHead { .. }), "{cut}: {error}"),
        }
        let (mut log, done) = open(&path, run()).expect("ours");
        assert_eq!(done, [0, 20, 40][..there]);
        assert_eq!(log.cut_off(), torn.then_some(lines + 1), "cut at {cut}");
        for record in &records[there..] {
            log.append(record).expect("appended");
        }
        drop(log);
        assert_eq!(std::fs::read(&path).expect("bytes"), whole, "cut at {cut}");
    }
    // Zeros at the end, as of a file that was lengthened before the machine stopped.
    for (kept, there) in [(100, 0), (head - 1, 0), (head + 1, 0), (whole.len(), 3)] {
        let padded = [&whole[..kept], &[0; 100]].concat();
        std::fs::write(&path, padded).expect("written");
        let (mut log, done) = open(&path, run()).expect("ours");
        assert_eq!(done.len(), there);
        records[there..].iter().for_each(|record| log.append(record).expect("appended"));
        drop(log);
        assert_eq!(std::fs::read(&path).expect("bytes"), whole, "{kept} bytes before zeros");
    }
}

#[test]
fn what_is_not_of_this_run_is_refused_and_left_alone() {
    let folder = folder();
    let path = folder.path().join("run.jsonl");
    write(&path, &three());
    let before = std::fs::read(&path).expect("bytes");
    let with = |common| Run { common, ..run() };
    let others = [
        ("sigma", with(CommonRun { sigma: 0.5, ..common() })),
        ("seed", with(CommonRun { seed: 8, ..common() })),
        ("nonce", with(CommonRun { nonce: Some(0), ..common() })),
        ("model", with(CommonRun { model: "other".to_owned(), ..common() })),
        ("data", with(CommonRun { data: "other".to_owned(), ..common() })),
        ("n", with(CommonRun { n: 2000, ..common() })),
        ("alpha", with(CommonRun { alpha: 0.01, ..common() })),
        ("batch", with(CommonRun { batch: 65, ..common() })),
        ("rule", Run { rule: Rule::Anytime, ..run() }),
        ("n0", Run { n0: 11, ..run() }),
        ("noise", Run { noise: Some("abc".to_owned()), ..run() }),
        ("dimension", Run { dimension: 784, ..run() }),
        ("generator", with(CommonRun { generator: "another".to_owned(), ..common() })),
    ];
    for (name, other) in others {
        match open(&path, other) {
            Err(RecordError::OtherRun { line: 1, field, .. }) => assert_eq!(field, name),
            unexpected => panic!("{name}: {unexpected:?}"),
        }
        assert_eq!(std::fs::read(&path).expect("bytes"), before, "left as it was");
    }
    let (log, _) = open(&path, run()).expect("ours");
    assert!(matches!(open(&path, run()), Err(RecordError::Locked { .. })));
    drop(log);
    let begun = &text(&three())[..12];
    assert_eq!(begun, "{\"gambeson\":", "less than the first key with its kind could be anything");
    let texts =
        ["my notes", "my notes\n", "{", begun, "{\"a\": 1}\n", "idx\tlabel\n0\t3\n", "\n", "\0\0\0\0"];
    for text in texts {
        std::fs::write(&path, text).expect("written");
        let error = open(&path, run()).expect_err(text);
        assert!(matches!(error, RecordError::NoHead { .. }), "{text:?}: {error}");
        assert_eq!(std::fs::read_to_string(&path).expect("text"), text, "left as it was");
    }
}

/// Something done to a record.
type Change = fn(&mut Record);

/// Something done to a run.
type RunChange = fn(&mut Run);

#[test]
fn a_broken_line_is_named_and_contradictions_are_refused() {
    let folder = folder();
    let path = folder.path().join("run.jsonl");
    let records = three();
    let refusal = |text: &str| {
        std::fs::write(&path, text).expect("written");
        read_records(&path, MemoryLimit::NONE).expect_err("refused").to_string()
    };
    let whole = text(&records);
    let lines: Vec<&str> = whole.lines().collect();
    let error = refusal(&format!("{}\n{}\n{}\n{}\n", lines[0], lines[1], &lines[2][..60], lines[3]));
    assert!(error.contains("run.jsonl, line 3: not a record"), "{error}");
    let error = refusal(&whole.replacen("\"version\":3", "\"version\":4", 1));
    assert!(error.contains("run.jsonl, line 1: version 4 of records is unknown"), "{error}");

    let changes: [(Change, &str); 6] = [
        (|record| record.estimation[0] += 1, "add up to 1001"),
        (|record| record.selection[0] += 1, "add up to 11"),
        (|record| record.estimation_none = 1, "add up to 1001"),
        (|record| record.selection.push(0), "4 classes in selection"),
        (|record| record.label = Some(3), "label 3, but there are 3 classes"),
        (|record| record.encoding_error = -1.0, "encoding_error is -1"),
    ];
    for (change, message) in changes {
        let mut changed = records[1].clone();
        change(&mut changed);
        let error = refusal(&text(&[records[0].clone(), changed]));
        assert!(error.contains("run.jsonl, line 3: ") && error.contains(message), "{error}");
    }
    let changes: [(RunChange, &str); 11] = [
        (|run| run.common.sigma = 0.0, "sigma is 0"),
        (|run| run.common.alpha = 1.0, "alpha is 1"),
        (|run| run.common.n = 0, "n is 0"),
        (|run| run.n0 = 0, "n0 is 0"),
        (|run| run.common.batch = 0, "batch is 0"),
        (|run| run.noise = Some("levels".to_owned()), "need a projection and a sigma of 1"),
        (|run| run.kappa = Some(2.0), "all four, or none"),
        (|run| run.rule = Rule::MixtureAndLast { last: 2000 }, "last look of its rule is at 2000 draws"),
        (|run| run.common.generator = "gambeson noise 4".to_owned(), "generator is \"gambeson noise 4\""),
        (|run| run.common.assumed = "nothing".to_owned(), "assumed is \"nothing\""),
        (|run| *run = projected(0.001, 1.0), "below the spectral bound"),
    ];
    for (change, message) in changes {
        let error = refusal(&text(&[records[0].clone(), of_changed_run(&records[1], change)]));
        assert!(error.contains("run.jsonl, line 3: ") && error.contains(message), "{error}");
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
    let honest = text(&three()[..1]);
    let refused = |text: String, message: &str| {
        std::fs::write(&path, text).expect("written");
        let error = open(&path, run()).expect_err(message).to_string();
        assert!(error.contains(message), "{message}: {error}");
    };
    refused(honest.replace("\"seed\":7", "\"seed\":8"), "digest of the line");
    refused(honest.replace("\"seconds\":0.5", "\"seconds\":0.25"), "digest of the line");
    let without_digest = |line: &str| line.split_once(",\"digest\"").expect("a digest").0.to_owned() + "}\n";
    let (first, second) = honest.split_once('\n').expect("two lines");
    refused(without_digest(first) + second, "digest is missing");
    refused(format!("{first}\n{}", without_digest(second)), "digest is missing");
    refused(honest.replace("\"law\":\"gaussian\",", ""), "missing field `law`");
    refused(honest.replace("\"law\":\"gaussian\"", "\"law\":\"laplace\""), "unknown variant");
    // With a digest that fits, what the counts prove is all there is to compare.
    let forged = |change: RunChange| text(&[of_changed_run(&three()[0], change)]);
    refused(forged(|run| run.dimension = 1), "the record was changed");
    let aimed: RunChange =
        |run| run.goal = Some(Goal { targets: vec![0.5], tolerance: None, norm: RadiusNorm::L2 });
    refused(forged(aimed), "the rule is fixed");
    // A byte-order mark is no part of the first line.
    std::fs::write(&path, format!("\u{feff}{honest}")).expect("written");
    assert_eq!(merged(std::slice::from_ref(&path)).expect("read"), three()[..1]);
    assert_eq!(open(&path, run()).expect("ours").1, [0]);
}

#[test]
fn a_dimension_that_kappa_contradicts_is_refused() {
    assert_eq!(projected(14.2, 1.0).validate(), Ok(()));
    let refused = RecordProblem::Dimension { dimension: 12, kappa: 14.2, spectral: 1.0 };
    assert_eq!(Run { dimension: 12, ..projected(14.2, 1.0) }.validate(), Err(refused));
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
    assert_eq!(merged(&paths).expect("shards of one run"), records);
    records[2] = record(40, run(), [1, 9, 0], [1, 999, 0]);
    write(&paths[1], &[records[1].clone(), records[2].clone()]);
    let error = merged(&paths).expect_err("other counts").to_string();
    assert!(error.contains("b.jsonl, line 3: input 40") && error.contains("a.jsonl, line 2"), "{error}");
    let other = Run { common: CommonRun { seed: 8, ..common() }, ..run() };
    write(&paths[1], &[record(1, other, [1, 9, 0], [0, 1000, 0])]);
    let error = merged(&paths).expect_err("another run").to_string();
    assert!(error.contains("b.jsonl, line 1") && error.contains("seed is 8, not 7"), "{error}");
    assert!(matches!(merged(&[]), Err(RecordError::NoFiles)));
}

/// A file that names a plan holds it before anything is drawn.
#[test]
fn a_head_alone_is_a_file_of_records() {
    let folder = folder();
    let path = folder.path().join("run.jsonl");
    drop(open(&path, run()).expect("new"));
    let line = head(run()).to_line().expect("JSON") + "\n";
    assert_eq!(std::fs::read_to_string(&path).expect("text"), line);
    let recorded = read_records(&path, MemoryLimit::NONE).expect("a plan");
    assert_eq!((recorded.len(), recorded.missing(), recorded.is_empty()), (0, super::INPUTS, true));
    drop(open(&path, run()).expect("the same"));
    assert_eq!(std::fs::read_to_string(&path).expect("text"), line);
    let record = to_line(&three()[0]).expect("JSON") + "\n";
    std::fs::write(&path, record.clone() + &line).expect("written");
    let error = read_records(&path, MemoryLimit::NONE).expect_err("a record first");
    assert!(matches!(error, RecordError::NoHead { .. }), "{error}");
}
