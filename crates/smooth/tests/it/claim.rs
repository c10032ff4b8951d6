//! What records claim together, against sums of its own.

use crate::record::{common, digested, head_of, record, run};
use gambeson_smooth::claim::{CLAIM_RHO, CertifiedShare, Claim, claim};
use gambeson_smooth::record::{CommonRun, Derived, Head, ONNX_RUNTIME, Record, Rule, Run};
use gambeson_smooth::selection::{InputSelection, Selection, Shard};

/// α, at which some of twenty certificates may well be false.
const ALPHA: f64 = 0.05;

fn at_alpha() -> Run {
    Run { common: CommonRun { alpha: ALPHA, nonce: Some(3), ..common() }, ..run() }
}

/// Every third of sixty inputs.
fn thirds() -> Selection {
    let shard = Shard { index: 1, count: 2 };
    InputSelection { start: 0, stop: None, every: 3, shard }.of(60).expect("some")
}

fn head(run: Run) -> Head<Run> {
    Head { selection: thirds(), ..head_of(&digested(run)) }
}

/// Records of the first inputs of the selection; all have label 1, and not all that class.
fn records(run: &Run, count: usize) -> Vec<Record> {
    let make = |at: usize| {
        let index = 3 * at as u64;
        match at % 5 {
            0 => record(index, run.clone(), [1, 9, 0], [0, 1000, 0]),
            1 => record(index, run.clone(), [1, 9, 0], [5, 990, 5]),
            2 => record(index, run.clone(), [1, 9, 0], [100, 850 + at as u64, 50 - at as u64]),
            3 => record(index, run.clone(), [1, 9, 0], [400, 300, 300]),
            _ => record(index, run.clone(), [9, 1, 0], [995, 5, 0]),
        }
    };
    (0..count).map(make).collect()
}

fn claimed(run: &Run, records: &[Record]) -> Claim {
    let head = head(run.clone());
    claim(&head, head.plan_digest().expect("JSON"), "mine sha256:0".to_owned(), &records.iter())
        .expect("a claim")
}

/// P(Bin(m, p) ≥ k), term by term.
fn tail(m: u64, p: f64, k: u64) -> f64 {
    let choose = |j: u64| (1..=j).map(|i| (m - j + i) as f64 / i as f64).product::<f64>();
    #[allow(clippy::cast_possible_truncation)] // small
    let term = |j: u64| choose(j) * p.powi(j as i32) * (1.0 - p).powi((m - j) as i32);
    (k..=m).map(term).sum()
}

/// The least number of false certificates that is exceeded with probability ρ at most.
fn most_false(m: u64, rho: f64) -> u64 {
    (0..=m).find(|&k| k == m || tail(m, ALPHA, k + 1) <= rho).expect("m at the latest")
}

/// The p at which k or more of m have probability ρ: the lower limit of Clopper and Pearson.
fn clopper_pearson(k: u64, m: u64, rho: f64) -> f64 {
    if k == 0 {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if tail(m, middle, k) <= rho { low = middle } else { high = middle }
    }
    low
}

/// Whether shares are what counting by hand gives, no limit larger than its definition.
fn counted_by_hand(
    (shares, unit): (&[CertifiedShare], f64),
    records: &[Record],
    radius: fn(&Derived) -> Option<f64>,
    right: fn(&Record) -> bool,
) {
    let m = thirds().count;
    let (k, with_population) = (most_false(m, CLAIM_RHO), most_false(m, CLAIM_RHO / 2.0));
    assert!(k >= 4 && with_population >= k, "some may be false");
    for (share, multiple) in shares.iter().zip([0.0, 0.5, 1.0, 1.5, 2.0, 3.0]) {
        assert!((share.radius - multiple * unit).abs() <= 0.005 * multiple * unit, "{share:?}");
        let reaches = |record: &&Record| radius(&record.derived).is_some_and(|own| own >= share.radius);
        let certified = records.iter().filter(|record| right(record)).filter(reaches).count() as u64;
        assert_eq!(share.certified, certified);
        let near = |found: f64, exact: f64| found <= exact && exact - found < 1e-12;
        assert!(near(share.accuracy, certified as f64 / m as f64), "{share:?}");
        assert!(near(share.at_least, certified.saturating_sub(k) as f64 / m as f64), "{share:?}");
        let limit = clopper_pearson(certified.saturating_sub(with_population), m, CLAIM_RHO / 2.0);
        assert!(share.population_at_least <= limit + 1e-13, "{share:?}: {limit}");
        assert!(share.population_at_least >= limit - 1e-9, "{share:?}: {limit}");
    }
    // To the first radius at which nothing is left, or all of them.
    let zeros = shares.iter().filter(|share| share.certified == 0).count();
    assert!(zeros <= 1 && (zeros == 0 || shares.last().is_some_and(|share| share.certified == 0)));
}

#[test]
fn what_is_claimed_is_what_counting_by_hand_gives() {
    let run = at_alpha();
    let labelled: fn(&Record) -> bool = |record| record.derived.class == record.label;
    for count in [20, 15, 1, 0] {
        let records = records(&run, count);
        let found = claimed(&run, &records);
        counted_by_hand((&found.l2, 0.25), &records, |derived| derived.l2, labelled);
        let unit = 0.25 / 3072_f64.sqrt();
        counted_by_hand((&found.linf, unit), &records, |derived| derived.linf, labelled);
        assert_eq!((found.records, found.missing), (count as u64, 20 - count as u64));
        let expected = ALPHA * count as f64;
        assert!(found.expected_false >= expected && found.expected_false - expected < 1e-12);
        assert_eq!((found.most_false, found.rho), (most_false(20, CLAIM_RHO), CLAIM_RHO));
        let abstained = records.iter().filter(|record| record.derived.class.is_none()).count() as u64;
        assert_eq!((found.abstained, found.labelled), (abstained, count > 0));
        assert_eq!((found.alpha, found.n0, found.n, found.sequential), (ALPHA, 10, 1000, false));
        assert_eq!((found.sigma, found.kappa, found.dimension), (0.25, None, 3072));
        assert_eq!((&*found.network, &*found.data), ("toy", "mine sha256:0"), "the verifier's name");
        assert_eq!(found.run, head(run.clone()).run.digest());
        assert_eq!(found.selection, Selection { shard: Shard::WHOLE, ..thirds() }, "all shards");
    }
}

/// Without labels every class counts, and one record without a label makes all of them unlabelled.
#[test]
fn without_labels_any_class_counts() {
    let run = at_alpha();
    let mut records = records(&run, 20);
    records[7].label = None;
    let found = claimed(&run, &records);
    assert!(!found.labelled);
    counted_by_hand((&found.l2, 0.25), &records, |derived| derived.l2, |_| true);
}

/// Deleting records, or having them twice, makes no claim larger.
#[test]
fn fewer_records_claim_less() {
    let run = at_alpha();
    let all = records(&run, 20);
    let whole = claimed(&run, &all);
    for kept in 0..20 {
        let some: Vec<Record> = all.iter().skip(kept).step_by(2).cloned().collect();
        let part = claimed(&run, &some);
        for (part, whole) in part.l2.iter().zip(&whole.l2).chain(part.linf.iter().zip(&whole.linf)) {
            assert_eq!(part.radius, whole.radius);
            assert!(part.certified <= whole.certified && part.accuracy <= whole.accuracy);
            assert!(part.at_least <= whole.at_least && part.population_at_least <= whole.population_at_least);
        }
        assert_eq!((part.most_false, part.plan == whole.plan), (whole.most_false, true));
    }
}

#[test]
fn claims_say_what_is_assumed_and_of_which_inputs() {
    let inputs = |selection: Selection, count: usize| {
        let head = Head { selection, ..head(at_alpha()) };
        let records = records(&at_alpha(), count);
        let found = claim(&head, String::new(), String::new(), &records.iter()).expect("a claim");
        found.inputs()
    };
    let of = |start, stop, every, inputs| {
        InputSelection { start, stop, every, shard: Shard::WHOLE }.of(inputs).expect("some")
    };
    assert_eq!(inputs(of(0, None, 3, 60), 20), "20 of the data's 60 inputs, every 3rd");
    assert_eq!(
        inputs(of(0, None, 3, 60), 19),
        "20 of the data's 60 inputs, every 3rd; 1 without a record count as not certified"
    );
    assert_eq!(inputs(Selection::all(20), 20), "20 of the data's 20 inputs");
    assert_eq!(inputs(of(0, Some(20), 1, 10_000), 20), "20 of the data's 10,000 inputs, from 0 to 19");
    assert_eq!(inputs(of(7, None, 1, 27), 20), "20 of the data's 27 inputs, from 7 to 26");

    let assumed = |run: &Run| claimed(run, &[]).assumed.join(" ");
    let derived = assumed(&at_alpha());
    assert!(derived.contains("This plan was the only one tried: M plans cost up to M * alpha"), "{derived}");
    assert!(derived.contains("with nonce 3") && derived.contains("words are random"), "{derived}");
    assert!(!derived.contains("ONNX") && derived.contains("about the smoothed classifier"), "{derived}");
    let with = |common: CommonRun| Run { common, ..run() };
    let by_hand = assumed(&with(CommonRun { nonce: None, ..common() }));
    assert!(by_hand.contains("The seed was given by hand"), "{by_hand}");
    let elsewhere = assumed(&with(CommonRun { runtime: Some(ONNX_RUNTIME.to_owned()), ..common() }));
    assert!(elsewhere.contains("other versions may answer near-ties otherwise"), "{elsewhere}");
    let sequential = Run { rule: Rule::MixtureAndLast { last: 1000 }, ..at_alpha() };
    assert!(claimed(&sequential, &[]).sequential);
}
