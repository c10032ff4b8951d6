//! Logs of all dialects, small and by hand, broken ones, and the bounds on accuracy; `reference` has the real ones.

mod reference;
mod scores;

use crate::record::{INPUTS, common, record, run, text as lines};
use gambeson_checker::FailureProbability;
use gambeson_smooth::analysis::{
    Dialect, Evidence, Input, LoggedRun, Predicted, Settings, bernstein_bound, false_certificates, read_logs,
};
use gambeson_smooth::record::{CommonRun, LimitChoice, Record, Run};
use std::path::PathBuf;

/// A folder to keep, and a log in it.
fn file(name: &str, text: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join(name);
    std::fs::write(&path, text).expect("written");
    (folder, path)
}

fn read_with(text: &str, settings: &Settings) -> Result<LoggedRun, String> {
    let (_folder, path) = file("log", text);
    let logs = read_logs(&[path], settings).map_err(|error| error.to_string())?;
    Ok(logs.into_iter().next().expect("one log"))
}

fn read(text: &str) -> LoggedRun {
    read_with(text, &Settings::default()).expect("a log")
}

fn inputs(log: &LoggedRun) -> &[Input] {
    match &log.evidence {
        Evidence::Inputs(inputs) => inputs,
        Evidence::Curve(_) => panic!("a curve"),
    }
}

/// What logs say of input 20, which is certified.
const CERTIFICATE: Input = Input {
    index: 20,
    label: Some(7),
    predicted: Predicted::Class(7),
    correct: Some(true),
    latent: Some(0.0734),
    l2: Some(0.0734),
    linf: None,
    lower_limit: None,
    upper_limit: None,
};

/// And of input 0, on which they abstain.
const ABSTAINED: Input = Input {
    index: 0,
    label: Some(3),
    predicted: Predicted::Abstained,
    correct: Some(false),
    latent: Some(0.0),
    l2: Some(0.0),
    linf: None,
    lower_limit: None,
    upper_limit: None,
};

/// Dialects 1 to 4.
#[test]
fn tables_of_cohen_et_al_are_known_by_their_content() {
    // 1, 2 and 3: times as clock or seconds, radii with three digits or four decimals; line ends of either kind.
    for text in [
        "idx\tlabel\tpredict\tradius\tcorrect\ttime\n0\t3\t-1\t0.0\t0\t0:00:13.736080\n20\t7\t7\t0.0734\t1\t3:48:55.6\n",
        "idx\tlabel\tpredict\tradius\tcorrect\ttime\r\n0\t3\t-1\t0.0000\t0\t15.4\r\n20\t7\t7\t0.0734\t1\t15.6\r\n",
    ] {
        let log = read(text);
        assert_eq!(log.dialect, Dialect::Certificates);
        assert_eq!(inputs(&log), [ABSTAINED, CERTIFICATE]);
    }
    // 4: predictions, with and without that of the base classifier.
    for text in [
        "idx\tlabel\tpredict\tcorrect\ttime\n0\t3\t-1\t0\t1.0\n20\t7\t7\t1\t1.0\n",
        "idx\tlabel\tpredict\tbasePredict\tcorrect\ttime\n0\t3\t-1\t5\t0\t1.0\n20\t7\t7\t7\t1\t1.0\n",
    ] {
        let log = read(text);
        assert_eq!(log.dialect, Dialect::Predictions);
        let plain = |input: Input| Input { latent: None, l2: None, ..input };
        assert_eq!(inputs(&log), [plain(ABSTAINED), plain(CERTIFICATE)]);
    }
}

/// Dialects 5 to 7.
#[test]
fn tables_with_other_columns_are_known_by_their_content() {
    // 5: ANCER.
    let log = read(
        "idx\tlabel\tpredict\tradius\tradius_proxy\tcorrect\tmin_sigma\ttime\n\
         0\t3\t-1\t-0.1\t0.0\t0\t0.2\t0:00:01\n20\t7\t7\t0.0734\t0.5\t1\t0.2\t0:00:01\n",
    );
    assert_eq!((log.dialect, inputs(&log)), (Dialect::Ancer, &[ABSTAINED, CERTIFICATE][..]));
    // 6: ACES, and its selections, which have no labels.
    let log = read(
        "idx\tlabel\tpredict\tradius\tcorrect\tunperturbed predict\tunperturbed correct\ttime\n\
         0\t3\t-1\t0.0\t0\t3\t1\t0:00:01\n20\t7\t7\t0.0734\t1\t7\t1\t0:00:01\n",
    );
    assert_eq!((log.dialect, inputs(&log)), (Dialect::Aces, &[ABSTAINED, CERTIFICATE][..]));
    let selection = read(
        "idx\tpredict\tradius\tunperturbed predict\ttime\n0\t-1\t0.0\t-1\t0:00:01\n20\t7\t0.0734\t7\t0:00:01\n",
    );
    let unlabelled = |input: Input| Input { label: None, correct: None, ..input };
    assert_eq!(selection.dialect, Dialect::Aces);
    assert_eq!(inputs(&selection), [unlabelled(ABSTAINED), unlabelled(CERTIFICATE)]);
    // 7: ARS, spaces around tabs, radii below zero where it abstains.
    let log = read(
        "idx \t label \t predict \t linf_radius \t prob_lb \t correct \t time\n\
         0 \t 3 \t -1 \t -0.00194 \t 0.25 \t 0 \t 0:01:07.5\n20 \t 7 \t 7 \t 0.0125 \t 0.9 \t 1 \t 0:01:07.5\n",
    );
    let ars = |input: Input, linf, lower_limit| Input {
        latent: None,
        l2: None,
        linf: Some(linf),
        lower_limit: Some(lower_limit),
        ..input
    };
    assert_eq!(log.dialect, Dialect::Ars);
    assert_eq!(inputs(&log), [ars(ABSTAINED, 0.0, 0.25), ars(CERTIFICATE, 0.0125, 0.9)]);
}

/// Dialects 8 and 10.
#[test]
fn curves_and_logs_of_dsrs_are_known_by_their_content() {
    // 8: curves.
    for text in ["0.0\t0.8\n0.25\t0.5\n", "radius\taccuracy\n0\t0.8\n0.25\t0.5\n", "0 0.8\n0.25 0.5\n"] {
        let log = read(text);
        assert_eq!(log.dialect, Dialect::Curve);
        assert_eq!(log.evidence, Evidence::Curve(vec![(0.0, 0.8), (0.25, 0.5)]));
    }
    // 10: DSRS.
    let log = read(
        "\nx disttype gaussian\nx k None\nx std 0.5\nx N 50000\nx alpha 0.0005\n\no 0 0.9 0.95\no 10 0.4 0.5\n",
    );
    assert_eq!((log.dialect, log.sigma, log.alpha), (Dialect::DsrsIntervals, Some(0.5), Some(0.0005)));
    let [first, second] = inputs(&log) else { panic!("two inputs") };
    assert_eq!((first.predicted, second.predicted), (Predicted::Unnamed, Predicted::Abstained));
    // Φ⁻¹(0.9) = 1.2815515655446004, as any table has it.
    assert!((first.l2.expect("a radius") - 0.5 * 1.281_551_565_544_600_4).abs() < 1e-12);
    let log = read("0 0.42963496440159854\n10 0.0\n");
    assert_eq!(log.dialect, Dialect::DsrsRadii);
    assert_eq!(inputs(&log)[0].l2, Some(0.429_634_964_401_598_54));
    assert_eq!(inputs(&log)[1].predicted, Predicted::Abstained);
}

#[test]
fn a_broken_line_is_named() {
    let head = "idx\tlabel\tpredict\tradius\tcorrect\ttime\n0\t3\t3\t0.5\t1\t1.0\n";
    let broken = [
        ("20\t7\t7\t0.07", "line 3: 4 fields, 6 expected"),
        ("20\t7\t7\tabc\t1\t1.0", "line 3: radius is \"abc\", not a number"),
        ("20\t7\t7\tnan\t1\t1.0", "line 3: radius is \"nan\""),
        ("20\t7\tx\t0.5\t1\t1.0", "line 3: predict is \"x\""),
        ("20\t7\t7\t0.5\t2\t1.0", "line 3: correct is \"2\""),
        ("20\t7\t7\t0.5\t0\t1.0", "line 3: predict is 7 and label 7, but correct is 0"),
        ("20\t7\t-1\t0.0\t1\t1.0", "line 3: predict is -1 and label 7, but correct is 1"),
        ("20\t7\t7\t-0.5\t1\t1.0", "line 3: radius -0.5"),
        ("20\t7\t7\t0.5\t1\t0:00:1", "a log"),
        ("20\t7\t7\t0.5\t1\tlong", "line 3: time is \"long\""),
        ("-20\t7\t7\t0.5\t1\t1.0", "line 3: idx is \"-20\""),
        ("0\t3\t3\t0.5\t1\t1.0", "line 3: input 0 is already in line 2"),
    ];
    for (line, message) in broken {
        match read_with(&format!("{head}{line}\n"), &Settings::default()) {
            Err(error) => assert!(error.contains(message), "{error}"),
            Ok(_) => assert_eq!(message, "a log"),
        }
    }
    let others = [
        ("", "no inputs in it"),
        ("idx\tlabel\tpredict\tradius\tcorrect\ttime\n", "no inputs in it"),
        ("{\"a\": 1}\n", "its first line is not the head of a file of records"),
        ("[1, 2]\n", "not a known log"),
        ("hello world\n", "not a known log, starting with \"hello world\""),
        (
            "idx\tmean\tstd\tmin\tmax\n0\t0.1\t0.1\t0.1\t0.1\n",
            "line 1: a log of certificates or predictions needs a column predict",
        ),
        ("0.5\t0.8\n0.25\t0.5\n", "line 2: radius 0.25 after 0.5"),
        ("0.0\t0.5\n0.25\t0.8\n", "line 2: accuracy 0.8 after 0.5"),
        ("0.0\t80.0\n", "line 1: accuracy is \"80.0\", not a number from 0 to 1"),
        ("0.0\t0.5\n0.25\n", "line 2: 1 fields, 2 expected"),
        ("x disttype general-gaussian\nx std 0.5\no 0 0.9 0.95\n", "noise \"general-gaussian\""),
        ("x disttype gaussian\no 0 0.9 0.95\n", "line 2: no line \"x std value\""),
        ("x std 0.5\no 0 0.9 0.8\n", "line 2: an interval from 0.9 to 0.8"),
        ("x std 0.5\no 0 0.9\n", "line 2: \"o 0 0.9\" is neither"),
        ("x std -1\no 0 0.9 0.95\n", "line 1: std is \"-1\""),
    ];
    for (text, message) in others {
        let error = read_with(text, &Settings::default()).expect_err(message);
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn votes_are_counted_like_our_records() {
    let probability = |alpha| Some(FailureProbability::new(alpha).expect("a probability"));
    let settings = Settings {
        alpha: probability(0.001),
        sigma: Some(0.25),
        how: LimitChoice::Natural,
        ..Settings::default()
    };
    let header = "idx,label,selection_0,selection_1,selection_2,estimation_0,estimation_1,estimation_2\n";
    let votes = format!("{header}0,1,1,9,0,5,990,5\n1,0,1,9,0,400,300,300\n2,1,1,9,0,0,1000,0\n");
    for how in [LimitChoice::Natural, LimitChoice::Mixture, LimitChoice::TwoSided] {
        for alpha in [0.001, 0.05] {
            let settings = Settings { alpha: probability(alpha), how, ..settings };
            let log = read_with(&votes, &settings).expect("votes");
            assert_eq!((log.dialect, log.sigma, log.alpha), (Dialect::Votes, Some(0.25), Some(alpha)));
            let mut labelled_0 = record(1, run(), [1, 9, 0], [400, 300, 300]);
            labelled_0.label = Some(0);
            let ours = [
                record(0, run(), [1, 9, 0], [5, 990, 5]),
                labelled_0,
                record(2, run(), [1, 9, 0], [0, 1000, 0]),
            ];
            let records = read_with(&lines(&ours), &Settings { sigma: None, ..settings }).expect("records");
            let without = |input: &Input| Input { linf: None, ..*input };
            assert_eq!(inputs(&log), inputs(&records).iter().map(without).collect::<Vec<_>>());
            assert_eq!(inputs(&log)[1].predicted, Predicted::Abstained);
        }
    }
    let broken = [
        (
            format!("{header}0,1,1,9,0,5,990,5\n1,1,1,9,0,5,991,5\n"),
            "line 3: 10 selection and 1001 estimation draws",
        ),
        (format!("{header}0,1,0,0,0,5,990,5\n"), "line 2: no votes"),
        (format!("{header}0,1,1,9,0,5,990\n"), "line 2: 7 fields, 8 expected"),
        (format!("{header}0,1,1,9,0,5,990,-5\n"), "line 2: estimation_2 is \"-5\""),
        ("idx,label,selection_0,estimation_0,estimation_1\n0,0,1,1,1\n".to_owned(), "line 1"),
    ];
    for (text, message) in broken {
        let error = read_with(&text, &settings).expect_err(message);
        assert!(error.contains(message), "{error}");
    }
    let error = read_with(&votes, &Settings { sigma: None, ..settings }).expect_err("no sigma");
    assert!(error.contains("sigma is missing"), "{error}");
    let error = read_with(&votes, &Settings { alpha: None, ..settings }).expect_err("no alpha");
    assert!(error.contains("alpha is missing"), "{error}");
    let table = "idx\tlabel\tpredict\tradius\tcorrect\ttime\n0\t3\t3\t0.5\t1\t1.0\n";
    let error = read_with(table, &settings).expect_err("no counts");
    assert!(error.contains("has no counts"), "{error}");
}

/// Something done to a record.
type Change<'a> = &'a dyn Fn(&mut Record);

#[test]
fn a_record_that_claims_more_than_its_counts_prove_is_an_error() {
    let good = record(0, run(), [1, 9, 0], [5, 990, 5]);
    let claims = |change: Change| {
        let mut bad = record(20, run(), [1, 9, 0], [5, 990, 5]);
        change(&mut bad);
        read_with(&lines(&[good.clone(), bad]), &Settings::default())
    };
    let up = |radius: &mut Option<f64>| *radius = radius.map(f64::next_up);
    let cases: [(Change, &str); 5] = [
        (&|bad| up(&mut bad.derived.latent), "latent is"),
        (&|bad| up(&mut bad.derived.l2), "l2 is"),
        (&|bad| up(&mut bad.derived.linf), "linf is"),
        (&|bad| bad.derived.class = Some(0), "class is 0, but the counts prove 1"),
        (&|bad| bad.estimation = vec![5, 989, 6], "latent is"),
    ];
    for (change, message) in cases {
        let error = claims(change).expect_err(message);
        assert!(error.contains("log, line 3: input 20: ") && error.contains(message), "{error}");
    }
    // Less is no lie, but it was not written so.
    let error = claims(&|bad| bad.derived.l2 = Some(0.0)).expect_err("changed");
    assert!(error.contains("log, line 3: input 20: l2 is 0, but the counts prove"), "{error}");
    assert!(claims(&|bad| bad.derived = gambeson_smooth::record::Derived::default()).is_err());
}

#[test]
fn records_of_one_run_are_one_log() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, records: &[Record]| {
        let path = folder.path().join(name);
        std::fs::write(&path, lines(records)).expect("written");
        path
    };
    let make = |index, run: Run| record(index, run, [1, 9, 0], [5, 990, 5]);
    let first = write("a.jsonl", &[make(3, run()), make(0, run())]);
    let other = write("b.jsonl", &[make(0, Run { common: CommonRun { sigma: 0.5, ..common() }, ..run() })]);
    let second = write("c.jsonl", &[make(1, run()), make(3, run())]);
    let logs =
        read_logs(&[first.clone(), other.clone(), second.clone()], &Settings::default()).expect("logs");
    let paths: Vec<&[PathBuf]> = logs.iter().map(|log| &log.paths[..]).collect();
    assert_eq!(paths, [&[first, second][..], &[other][..]]);
    let indices: Vec<u64> = inputs(&logs[0]).iter().map(|input| input.index).collect();
    assert_eq!(indices, [0, 1, 3]);
    assert_eq!((logs[0].sigma, logs[1].sigma), (Some(0.25), Some(0.5)));

    // A run that was killed in the middle of a line, and one whose lines another program has written anew.
    let text = lines(&[make(0, run()), make(1, run())]);
    let log = read_with(&text[..text.len() - 20], &Settings::default()).expect("records");
    assert_eq!((inputs(&log).len(), log.broken_off[0].1, log.missing()), (1, 3, INPUTS - 1));
    let spaced: String = text
        .split_inclusive('\n')
        .map(|line| match line.strip_prefix("{\"gambeson\":") {
            Some(rest) => format!("{{\"gambeson\":{}", rest.replace("\":", "\": ").replace(",\"", ", \"")),
            None => line.replace("\":", "\": ").replace(",\"", ", \""),
        })
        .collect();
    let log = read_with(&spaced, &Settings::default()).expect("records");
    assert_eq!((inputs(&log).len(), log.broken_off.len()), (2, 0));
}

/// P(binomial(m, p) ≥ k), by the recurrence of its terms.
fn tail(m: u64, p: f64, k: u64) -> f64 {
    let mut term = (1.0 - p).powf(m as f64);
    let mut below = 0.0;
    for j in 0..k {
        below += term;
        term *= (m - j) as f64 / (j + 1) as f64 * p / (1.0 - p);
    }
    1.0 - below
}

#[test]
fn false_certificates_are_counted_by_the_binomial_distribution() {
    for (m, alpha, rho) in [(500, 0.001, 0.001), (10_000, 0.001, 0.001), (1000, 0.05, 0.01), (3, 0.3, 0.5)] {
        let probability = FailureProbability::new(rho).expect("a probability");
        let most = false_certificates(m, alpha, probability).expect("a number");
        assert!(tail(m, alpha, most + 1) <= rho, "more than {most} of {m} are rare enough");
        assert!(tail(m, alpha, most) > rho, "{most} of {m} is the least such number");
        // The exact bound is the better one wherever there is more than a handful of inputs.
        let exact = 0.6 - most as f64 / m as f64;
        assert!(m < 10 || exact >= bernstein_bound(0.6, m, alpha, probability));
    }
    let certain = FailureProbability::new(1e-9).expect("a probability");
    assert_eq!(false_certificates(2, 0.5, certain), Ok(2));
}
