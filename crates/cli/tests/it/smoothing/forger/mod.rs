//! Forgeries by the thousand: every field of a head and of its records changed in several ways, with digests, radii and
//! seeds that fit, and files taken apart and put together otherwise.
//!
//! Whatever `check --all` makes of a forged file, it must not be a claim that the honest run does not support: at each radius
//! no more inputs than honest counts certify at the α that is claimed, of no more inputs, with no fewer errors expected. What
//! is still accepted with another plan is rejected where the plan was published.

/// Values changed in one place.
mod changes;
/// Heads and records changed, with digests that fit or not.
mod fields;
/// Files taken apart and put together otherwise.
mod files;
/// Honest runs, and what is made of files that pretend to be theirs.
mod honest;

use honest::{Honest, Kind, Outcome};
use std::collections::BTreeMap;

/// Tries all forgeries of a run; returns how many ended in which way.
fn tried(kind: Kind, least: usize) -> BTreeMap<Outcome, usize> {
    let honest = Honest::new(kind);
    let mut outcomes: BTreeMap<Outcome, usize> = BTreeMap::new();
    let (mut faults, mut cases) = (Vec::new(), 0);
    let forgeries = fields::of_heads(&honest)
        .chain(fields::of_records(&honest))
        .chain(files::rearranged(&honest))
        .chain(files::damaged(&honest));
    for (name, text) in forgeries.filter(|(_, text)| *text != honest.text) {
        cases += 1;
        match honest.judged(&text) {
            Ok(outcome) => *outcomes.entry(outcome).or_default() += 1,
            Err(fault) => faults.push(format!("{name}: {fault}")),
        }
    }
    print_totals(kind, cases, &outcomes, faults.len());
    assert_eq!(outcomes.values().sum::<usize>() + faults.len(), cases);
    assert!(faults.is_empty(), "{} of {cases}:\n{}", faults.len(), faults[..faults.len().min(20)].join("\n"));
    assert!(cases >= least, "{cases} cases");
    outcomes
}

/// What became of so many forgeries, with `--nocapture`.
#[allow(clippy::print_stdout)]
fn print_totals(kind: Kind, cases: usize, outcomes: &BTreeMap<Outcome, usize>, faults: usize) {
    let ends = [
        (Outcome::Unreadable, "unreadable"),
        (Outcome::Rejected, "rejected"),
        (Outcome::Incomplete, "incomplete"),
        (Outcome::NotReproduced, "not reproduced"),
        (Outcome::Same, "the same claim"),
        (Outcome::Smaller, "a smaller claim"),
        (Outcome::OtherPlan, "the claim of another plan"),
    ];
    let ends = ends.map(|(end, words)| format!("{} {words}", outcomes.get(&end).unwrap_or(&0)));
    println!("{kind:?}: {cases} forgeries: {}; {faults} claim more", ends.join(", "));
}

/// Whether each of these ends was met.
fn met(outcomes: &BTreeMap<Outcome, usize>, ends: &[Outcome]) {
    for end in ends {
        assert!(outcomes.contains_key(end), "{end:?} in {outcomes:?}");
    }
}

/// The ends that forgeries of every run come to.
const USUAL: [Outcome; 6] = [
    Outcome::Unreadable,
    Outcome::Rejected,
    Outcome::Incomplete,
    Outcome::Same,
    Outcome::Smaller,
    Outcome::OtherPlan,
];

#[test]
fn forged_runs_of_a_fixed_number_claim_no_more() {
    met(&tried(Kind::Fixed, 2000), &USUAL);
}

#[test]
fn forged_runs_of_one_limit_claim_no_more() {
    met(&tried(Kind::OneSided, 2000), &USUAL);
}

#[test]
fn forged_runs_of_randomised_limits_claim_no_more() {
    met(&tried(Kind::Randomised, 2000), &USUAL);
}

#[test]
fn forged_sequential_runs_claim_no_more() {
    met(&tried(Kind::Sequential, 2000), &USUAL);
}

#[test]
fn forged_runs_of_a_given_seed_claim_no_more() {
    met(&tried(Kind::ByHand, 2000), &USUAL);
}

#[test]
fn forged_runs_in_a_projection_claim_no_more() {
    met(&tried(Kind::Projected, 2000), &USUAL);
}

#[test]
fn forged_runs_with_noise_levels_claim_no_more() {
    met(&tried(Kind::Levelled, 2000), &USUAL);
}

#[test]
fn forged_extended_runs_claim_no_more() {
    met(&tried(Kind::Extended, 2000), &USUAL);
}
