use crate::contexts::{SOON, interrupted};
use crate::smoothing::{draws, fashion};
use crate::support::context;
use gambeson::replay::{MissedForgery, RecordsVerdict};
use gambeson::{
    CertifyParams, CheckRecordsParams, Context, DataParams, Dataset, DatasetParts, DrawParams, MemoryLimit,
    Model, ModelParams, RecordSample, RecordsCheck, Shard, certify, check_records, open_data, open_model,
    open_records, plan_certification,
};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A toy on the built-in images, every fifth of them, 400 draws each.
struct Small {
    context: Context,
    data: Dataset,
    model: Model,
    folder: tempfile::TempDir,
}

impl Small {
    fn new() -> Self {
        let context = context(2, MemoryLimit::NONE);
        let data = open_data(&context, "fashion", &DataParams::default()).expect("built in");
        let model =
            open_model(&context, "toy:half-space,offset=0.3", &data, &ModelParams::default()).expect("a toy");
        Self { context, data, model, folder: tempfile::tempdir().expect("a folder") }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn params(&self, out: &str) -> CertifyParams {
        let draws = DrawParams { out: Some(self.path(out)), ..draws(5) };
        CertifyParams { draws, n: 400, ..CertifyParams::new(0.5) }
    }

    /// The lines of a run, its head first.
    fn run(&self, out: &str) -> Vec<String> {
        certify(&self.context, &self.model, &self.data, &self.params(out)).expect("a run");
        let text = std::fs::read_to_string(self.path(out)).expect("text");
        text.lines().map(ToOwned::to_owned).collect()
    }

    fn write(&self, name: &str, lines: &[String]) {
        std::fs::write(self.path(name), lines.join("\n") + "\n").expect("written");
    }

    fn check(&self, names: &[&str], params: &CheckRecordsParams) -> RecordsCheck {
        let paths: Vec<PathBuf> = names.iter().map(|name| self.path(name)).collect();
        let file = open_records(&self.context, &paths).expect("records");
        check_records(&self.context, &file, &self.model, &self.data, params).expect("checked")
    }
}

fn all() -> CheckRecordsParams {
    CheckRecordsParams { sample: RecordSample::All, ..CheckRecordsParams::default() }
}

fn few(count: u64) -> CheckRecordsParams {
    CheckRecordsParams {
        sample: RecordSample::Random { count, seed: Some(1) },
        ..CheckRecordsParams::default()
    }
}

/// Whoever deletes what failed has not done better for it.
#[test]
fn deleted_records_make_a_run_incomplete() {
    let small = Small::new();
    let lines = small.run("run.jsonl");
    let whole = small.check(&["run.jsonl"], &all());
    assert_eq!((whole.verdict, whole.passed(), whole.checked), (RecordsVerdict::Redrawn, true, 200));
    let claim = whole.claim.expect("a claim");
    assert_eq!(
        (claim.records, claim.missing, claim.inputs().as_str()),
        (200, 0, "200 of the data's 1,000 inputs, every 5th")
    );
    // The first 93 that do not have the right class.
    let wrong = |line: &&String| {
        let record: serde_json::Value = serde_json::from_str(line).expect("JSON");
        record["class"] != record["label"]
    };
    let (failed, right): (Vec<&String>, Vec<&String>) = lines[1..].iter().partition(wrong);
    let kept: Vec<String> =
        [&lines[0]].into_iter().chain(right).chain(failed.into_iter().skip(93)).cloned().collect();
    assert_eq!(kept.len(), 108);
    small.write("part.jsonl", &kept);
    for params in [all(), few(5), CheckRecordsParams { nonce: Some(7), ..few(5) }] {
        let part = small.check(&["part.jsonl"], &params);
        assert_eq!((part.verdict, part.passed()), (RecordsVerdict::Incomplete, false));
        assert_eq!((part.records, part.missing), (107, 93));
        assert!(part.first_missing.is_some_and(|index| index % 5 == 0));
        let part = part.claim.expect("as far as it goes");
        assert_eq!((part.records, part.missing, part.most_false), (107, 93, claim.most_false));
        assert_eq!(part.l2, claim.l2, "none of the deleted ones was certified with its label");
        assert!(part.inputs().ends_with("; 93 without a record count as not certified"), "{}", part.inputs());
    }
    // Nothing but the head.
    small.write("head.jsonl", &lines[..1]);
    let none = small.check(&["head.jsonl"], &all());
    assert_eq!((none.verdict, none.missing, none.checked), (RecordsVerdict::Incomplete, 200, 0));
    // One record, and another very often.
    let mut often = lines[..2].to_vec();
    often.resize(1001, lines[2].clone());
    small.write("often.jsonl", &often);
    let often = small.check(&["often.jsonl"], &all());
    assert_eq!(
        (often.verdict, often.records, often.repeated, often.missing),
        (RecordsVerdict::Incomplete, 2, 998, 198)
    );
}

#[test]
fn a_sample_says_what_it_may_miss() {
    let small = Small::new();
    small.run("run.jsonl");
    let sampled = small.check(&["run.jsonl"], &few(10));
    assert_eq!((sampled.verdict, sampled.passed(), sampled.checked), (RecordsVerdict::Sampled, true, 10));
    assert_eq!(sampled.sample_seed, Some(1));
    let subsets = |n: u32, k: u32| (0..k).map(|i| f64::from(n - i) / f64::from(k - i)).product::<f64>();
    for MissedForgery { forged, chance } in &sampled.missed {
        let forged = u32::try_from(*forged).expect("few");
        let exact = subsets(200 - forged, 10) / subsets(200, 10);
        assert!(*chance >= exact && *chance <= exact * (1.0 + 1e-8), "{forged}: {chance} for {exact}");
    }
    let four = sampled.missed.iter().find(|missed| missed.forged == 4).expect("2 % of 200");
    assert!((four.chance - 0.81).abs() < 0.01, "{four:?}");
    assert!(sampled.missed.last().is_some_and(|missed| missed.chance <= 0.01));
    // By default as many as fit into a minute: here all.
    let default = small.check(&["run.jsonl"], &CheckRecordsParams::default());
    assert_eq!((default.verdict, default.missed.len()), (RecordsVerdict::Redrawn, 0));
    // Some are drawn again however short the time is, and in the order of the seed.
    let timed = |time, at_least| {
        let sample = RecordSample::Timed { time, at_least, seed: Some(1) };
        small.check(&["run.jsonl"], &CheckRecordsParams { sample, ..CheckRecordsParams::default() })
    };
    let short = timed(Duration::ZERO, 10);
    assert_eq!((short.verdict, short.checked, &short.missed), (RecordsVerdict::Sampled, 10, &sampled.missed));
    assert_eq!((short.draws, short.stopped, short.passed()), (sampled.draws, false, true));
}

/// The digest that is published beforehand is the one that the records have afterwards.
#[test]
fn a_plan_is_the_head_of_its_run() {
    let small = Small::new();
    let planned =
        plan_certification(&small.context, &small.model, &small.data, &small.params("planned.jsonl"))
            .expect("a plan");
    let head = std::fs::read_to_string(small.path("planned.jsonl")).expect("a head");
    assert_eq!(head.lines().count(), 1);
    let run =
        certify(&small.context, &small.model, &small.data, &small.params("planned.jsonl")).expect("a run");
    assert_eq!(run.record().plan, planned.plan);
    let (lines, other) = (small.run("planned.jsonl"), small.run("run.jsonl"));
    assert_eq!((&lines[0], lines[0].clone() + "\n"), (&other[0], head));
    let timeless = |line: &String| line.split_once(",\"seconds\"").expect("a record").0.to_owned();
    assert_eq!(
        lines[1..].iter().map(timeless).collect::<Vec<_>>(),
        other[1..].iter().map(timeless).collect::<Vec<_>>()
    );
    let with = |plan: String| CheckRecordsParams { plan: Some(plan), ..few(3) };
    let checked = small.check(&["planned.jsonl"], &with(planned.plan.clone()));
    assert_eq!((checked.verdict, &checked.plan), (RecordsVerdict::Sampled, &planned.plan));
    let claim = checked.claim.expect("a claim");
    assert_eq!((claim.plan, claim.selection), (planned.plan.clone(), planned.selection));
    let checked = small.check(&["planned.jsonl"], &with("0".repeat(64)));
    assert_eq!((checked.verdict, checked.claim), (RecordsVerdict::Rejected, None));
    let words = format!("the digest of its plan is {}, not 000", planned.plan);
    assert!(checked.findings[0].reason.starts_with(&words), "{:?}", checked.findings);
    // Shards have the plan of the whole.
    let mut shard = small.params("shard.jsonl");
    shard.draws.inputs.shard = Shard { index: 1, count: 4 };
    let part = plan_certification(&small.context, &small.model, &small.data, &shard).expect("a plan");
    assert_eq!((part.plan, part.selection.indices().count()), (planned.plan, 50));
}

/// Shards are one run, of which lines are named with their files; another name of the same data is no contradiction.
#[test]
fn shards_are_checked_together() {
    let small = Small::new();
    let names: Vec<String> = (0..3).map(|index| format!("{index}.jsonl")).collect();
    for (index, name) in (0..).zip(&names) {
        let mut params = small.params(name);
        params.draws.inputs.shard = Shard { index, count: 3 };
        certify(&small.context, &small.model, &small.data, &params).expect("a run");
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let whole = small.check(&names, &few(20));
    assert_eq!((whole.verdict, whole.records), (RecordsVerdict::Sampled, 200));
    let two = small.check(&names[1..], &few(20));
    assert_eq!((two.verdict, two.missing, two.first_missing), (RecordsVerdict::Incomplete, 67, Some(0)));
    let path = small.path(names[1]);
    let text = std::fs::read_to_string(&path).expect("text");
    std::fs::write(&path, &text[..text.len() - 40]).expect("written");
    let torn = small.check(&names, &few(20));
    assert_eq!((torn.verdict, torn.missing), (RecordsVerdict::Incomplete, 1));
    assert_eq!((&*torn.broken_off[0].file, torn.broken_off[0].line), (&*path.to_string_lossy(), 68));
}

/// The same images under another name.
fn renamed(data: &Dataset) -> Dataset {
    let labels = data.labels().map(<[u16]>::to_vec);
    let parts = DatasetParts {
        name: "mine".to_owned(),
        shape: data.shape(),
        values: data.values().clone(),
        labels,
        classes: data.classes().to_vec(),
        sources: Vec::new(),
    };
    Dataset::new(parts).expect("as before")
}

#[test]
fn the_claim_has_the_name_that_the_verifier_gives_the_data() {
    let small = Small::new();
    small.run("run.jsonl");
    let data = renamed(&small.data);
    let file = open_records(&small.context, &[small.path("run.jsonl")]).expect("records");
    let checked = check_records(&small.context, &file, &small.model, &data, &few(3)).expect("checked");
    assert_eq!(checked.verdict, RecordsVerdict::Sampled, "{:?}", checked.findings);
    assert_eq!(checked.other_name.as_deref(), Some(small.data.name()));
    assert_eq!(checked.claim.expect("a claim").data, format!("mine sha256:{}", small.data.sha256()));
    let own = small.check(&["run.jsonl"], &few(3));
    assert_eq!(own.other_name, None);
}

/// A run that takes some ten seconds to draw again, in a file.
fn long_run(folder: &Path) -> (Context, Dataset, Model, PathBuf) {
    let context = context(2, MemoryLimit::NONE);
    let (data, model) = fashion(&context);
    let out = folder.join("run.jsonl");
    let params = CertifyParams {
        draws: DrawParams { out: Some(out.clone()), ..draws(20) },
        n: 5000,
        ..CertifyParams::new(0.5)
    };
    certify(&context, &model, &data, &params).expect("a run");
    (context, data, model, out)
}

#[test]
fn a_time_limit_or_an_interrupt_ends_a_check() {
    let folder = tempfile::tempdir().expect("a folder");
    let started = Instant::now();
    let (own, data, model, out) = long_run(folder.path());
    let whole = started.elapsed();
    let file = open_records(&own, &[out]).expect("records");
    let limited = |limit: Duration, nonce| {
        let params = CheckRecordsParams { nonce, time_limit: Some(limit), ..all() };
        let begun = Instant::now();
        let checked = check_records(&own, &file, &model, &data, &params).expect("what there is");
        assert!(begun.elapsed() < limit + SOON, "{:?}", begun.elapsed());
        assert!(checked.stopped && !checked.passed() && checked.checked < 50, "{checked:?}");
        checked
    };
    for (nonce, good) in [(None, RecordsVerdict::Sampled), (Some(7), RecordsVerdict::NotRefuted)] {
        let none = limited(Duration::ZERO, nonce);
        assert_eq!((none.verdict, none.checked, none.examined), (RecordsVerdict::NotRedrawn, 0, false));
        assert_eq!((none.claim, none.draws), (None, 0));
        let some = limited(whole / 5, nonce);
        if some.checked > 0 {
            assert_eq!(some.verdict, good);
            assert!(!some.missed.is_empty() && some.claim.is_some());
        }
    }
    // Interrupted before anything: no draw was made, which is not to say that draws prove less.
    let at_once = context(2, MemoryLimit::NONE).with_interrupt(|| true);
    let none = check_records(&at_once, &file, &model, &data, &all()).expect("what there is");
    assert_eq!((none.verdict, none.verdict.name()), (RecordsVerdict::NotRedrawn, "NOT REDRAWN"));
    assert!(none.stopped && !none.passed() && none.checked == 0 && none.claim.is_none(), "{none:?}");
    let spent = interrupted(whole / 5, |context| {
        let checked = check_records(context, &file, &model, &data, &all()).expect("what there is");
        assert!(checked.stopped && !checked.passed() && checked.checked < 50);
    });
    assert!(spent < SOON, "{spent:?}");
}
