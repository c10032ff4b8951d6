//! The limits of a run: in its records, by all readers, and against fresh draws.

use super::{common, folder, of_changed_run, record, run, text, write};
use crate::smoothing::params;
use gambeson_checker::FailureProbability;
use gambeson_lowrank::MemoryLimit;
use gambeson_smooth::analysis::{Evidence, Settings, read_logs};
use gambeson_smooth::classifier::Classifier;
use gambeson_smooth::input_map::InputMap;
use gambeson_smooth::limit::{LimitChoice, LimitRule};
use gambeson_smooth::record::{CommonRun, Names, Record, RecordProblem, Rule, Run, RunContent, read_records};
use gambeson_smooth::replay::{Compared, compare, replay};
use gambeson_smooth::runs::{Row, RunParams, certify_inputs};
use gambeson_smooth::selection::InputSelection;
use gambeson_smooth::sequential::Goal;
use gambeson_smooth::smoother::{Smoother, SmoothingParams, SmoothingParamsError};
use gambeson_smooth::space::Space;
use std::convert::Infallible;

fn with(limits: LimitRule) -> Run {
    Run { limits, ..run() }
}

/// Three classes, the first of which leads without a majority.
fn leading(limits: LimitRule, index: u64) -> Record {
    record(index, with(limits), [5, 3, 2], [450, 300, 250])
}

#[test]
fn records_say_their_limits_and_are_read_by_them() {
    let one_sided = leading(LimitRule::OneSided, 0);
    let chosen = leading(LimitRule::Chosen, 0);
    assert_eq!((one_sided.derived.class, chosen.derived.class), (None, Some(0)), "no majority");
    // Heads without the key are of one-sided limits.
    assert!(!text(std::slice::from_ref(&one_sided)).contains("limits"));
    let written = text(std::slice::from_ref(&chosen));
    assert!(written.contains("\"rule\":{\"kind\":\"fixed\"},\"limits\":\"chosen\""), "{written}");
    let folder = folder();
    let path = folder.path().join("run.jsonl");
    for limits in [LimitRule::OneSided, LimitRule::Chosen, LimitRule::Randomised] {
        let records: Vec<Record> = (0..4).map(|index| leading(limits, index)).collect();
        write(&path, &records);
        let read = read_records(&path, MemoryLimit::NONE).expect("read");
        assert_eq!(read.entries().map(|record| record.run.limits).collect::<Vec<_>>(), [limits; 4]);
        // Analysis certifies them again by the limits of the run.
        let log = read_logs(std::slice::from_ref(&path), &Settings::default()).expect("a log").remove(0);
        let Evidence::Inputs(inputs) = log.evidence else { panic!("inputs") };
        let radii: Vec<f64> = records.iter().map(|record| record.derived.l2.unwrap_or(0.0)).collect();
        assert_eq!(inputs.iter().filter_map(|input| input.l2).collect::<Vec<_>>(), radii);
    }
    // Limits that are exchanged, with a digest that fits, no longer prove what stands there.
    for (record, limits) in [(&chosen, LimitRule::OneSided), (&one_sided, LimitRule::Chosen)] {
        let forged = of_changed_run(record, |run| run.limits = limits);
        assert!(forged.check_claim().is_err(), "{limits:?}");
    }
}

#[test]
fn limits_other_than_one_sided_need_a_fixed_rule() {
    for rule in [Rule::Anytime, Rule::MixtureAndLast { last: 1000 }] {
        for limits in [LimitRule::Chosen, LimitRule::Randomised] {
            let forged = Run { rule, ..with(limits) };
            assert_eq!(forged.validate(), Err(RecordProblem::Limits { limits: limits.name() }));
        }
    }
    let goal = Some(Goal { targets: vec![0.1], ..Goal::default() });
    let spec = |limits, goal: &Option<Goal>| {
        let params = SmoothingParams { limits, goal: goal.clone(), ..params(0.5, 100, 0.01) };
        Smoother::new(Bands, Space::identity(1), params).map(|smoother| smoother.plan().limits())
    };
    assert_eq!(spec(None, &None), Ok(LimitRule::Chosen));
    assert_eq!(spec(None, &goal), Ok(LimitRule::OneSided));
    assert_eq!(spec(Some(LimitRule::Randomised), &None), Ok(LimitRule::Randomised));
    for limits in [LimitRule::Chosen, LimitRule::Randomised] {
        let refused = SmoothingParamsError::SequentialLimits { limits };
        assert!(refused.to_string().starts_with(&format!("limits {}:", limits.name())));
        assert_eq!(spec(Some(limits), &goal), Err(refused));
    }
}

/// The share of a randomised limit is that of seed and input, and of nothing else.
#[test]
fn shares_follow_from_seed_and_input() {
    let radius = |index, seed, alpha| {
        let common = CommonRun { seed, ..common() };
        let record = record(index, Run { common, ..with(LimitRule::Randomised) }, [1, 9, 0], [0, 1000, 0]);
        let proven =
            record.derive(FailureProbability::new(alpha).expect("a probability"), LimitChoice::Natural);
        proven.expect("valid").derived.latent.expect("certified")
    };
    let plain =
        record(0, with(LimitRule::Chosen), [1, 9, 0], [0, 1000, 0]).derived.latent.expect("certified");
    let radii: Vec<f64> = (0..200).map(|index| radius(index, 7, 0.001)).collect();
    assert_eq!(radii, (0..200).map(|index| radius(index, 7, 0.001)).collect::<Vec<_>>(), "a function");
    assert!(radii.iter().all(|&radius| radius >= plain), "a share below 1 proves more");
    let mut distinct = radii.clone();
    distinct.sort_by(f64::total_cmp);
    distinct.dedup();
    // A twentieth counts as .05.
    assert!((180..=196).contains(&distinct.len()), "{}", distinct.len());
    assert_ne!(radius(0, 7, 0.001), radius(0, 8, 0.001));
    // With u uniform on (0, 1], (α/u)^(1/n) is at its median for u = ½.
    let above = radii.iter().filter(|&&radius| radius > 0.25 * quantile_of_half()).count();
    assert!((70..130).contains(&above), "{above}");
}

/// Φ⁻¹ of (2α)^(1/n).
fn quantile_of_half() -> f64 {
    gambeson_smooth::limit::normal_quantile_below(0.002_f64.powf(1e-3))
}

/// 0, 1 and 2, with the probabilities .45, .4 and .15 at 0 for σ = .5.
struct Bands;

impl Classifier for Bands {
    type Error = Infallible;

    fn classes(&self) -> usize {
        3
    }

    fn dim(&self) -> usize {
        1
    }

    fn input_map(&self) -> Option<&InputMap> {
        None
    }

    fn classify(&self, batch: &[f32], _: usize, out: &mut [u32]) -> Result<(), Infallible> {
        for (class, &x) in out.iter_mut().zip(batch) {
            // Φ⁻¹(.45) = −.1257 and Φ⁻¹(.85) = 1.0364.
            *class = u32::from(x > -0.0628) + u32::from(x > 0.5182);
        }
        Ok(())
    }
}

/// Enough for the limits on .45 and .4 to part.
const DRAWS: u64 = 20_000;

fn smoother(limits: LimitRule, seed: u64) -> Smoother<Bands> {
    let params = SmoothingParams { limits: Some(limits), selection: 5000, seed, ..params(0.5, DRAWS, 0.001) };
    Smoother::new(Bands, Space::identity(1), params).expect("it fits")
}

fn row(_: u64) -> Row {
    Row { values: vec![0.0], label: Some(0) }
}

fn certified(limits: LimitRule) -> Record {
    let names = Names { model: "bands".into(), data: "origin".into(), ..Names::default() };
    let selection = InputSelection { start: 3, ..InputSelection::default() }.of(4).expect("one");
    let params = RunParams { names, classes: 3, selection, out: None, memory: MemoryLimit::NONE };
    let finished = certify_inputs(&smoother(limits, 1), &params, row, &mut ()).expect("a run");
    finished.records.into_values().next().expect("one")
}

#[test]
fn records_of_two_limits_are_drawn_again_and_compared() {
    assert_eq!(certified(LimitRule::OneSided).derived.class, None, "no majority");
    for limits in [LimitRule::Chosen, LimitRule::Randomised] {
        let record = certified(limits);
        assert_eq!((record.derived.class, record.run.limits), (Some(0), limits));
        let again = replay(&smoother(limits, 1), &record, &row(3), 3, &mut ()).expect("drawn").expect("all");
        assert!(again.findings.is_empty() && again.proves(&record), "{again:?}");
        let fresh = |record: &Record| -> Compared {
            compare(&smoother(limits, 2), record, &row(3), 10, &mut ()).expect("drawn").expect("all")
        };
        let honest = fresh(&record);
        let claim = honest.claim.expect("a claim");
        assert!(!honest.refuted() && !honest.impossible, "{claim:?}");
        assert!(claim.others_claimed.is_some_and(|most| most < 0.45) && claim.claimed < 0.45, "{claim:?}");
        // The class has what it has, but its runner-up half of the rest.
        let mut forged = record.clone();
        let rest = DRAWS - forged.estimation[0];
        (forged.estimation[1], forged.estimation[2]) = (rest / 2, rest - rest / 2);
        let forged = forged.with_derived().expect("valid");
        assert!(forged.derived.latent > record.derived.latent);
        let compared = fresh(&forged);
        let claim = compared.claim.expect("a claim");
        assert!(compared.refuted() && compared.impossible, "{claim:?}");
        assert!(claim.contradicts_others() && !claim.contradicts_class(), "{claim:?}");
    }
}
