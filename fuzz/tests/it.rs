//! Every target for two seconds, or as many as `GAMBESON_FUZZ_SECONDS` says.

use gambeson_fuzz::child::run_all;
use gambeson_fuzz::drive::{FEWEST, Report, seeds};
use gambeson_fuzz::mutate::{Mutator, Random};
use gambeson_fuzz::targets::{Family, TARGETS, Target, Term, faults_at, wrong_with};
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

#[test]
fn every_reader_survives_mutations() {
    let seconds = std::env::var("GAMBESON_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(2);
    let program = Path::new(env!("CARGO_BIN_EXE_gambeson-fuzz"));
    let targets: Vec<&Target> = TARGETS.iter().collect();
    let problems = Mutex::new(Vec::new());
    run_all(program, &targets, Duration::from_secs(seconds), 1, &|target, report| {
        let Report { inputs, accepted, faults, .. } = report;
        let least = seeds(target).len() as u64 + FEWEST;
        let mut own: Vec<String> =
            faults.iter().map(|fault| format!("{}: {}", fault.how, fault.input.display())).collect();
        if *inputs < least {
            own.push(format!("{inputs} inputs, fewer than {least}"));
        }
        if *accepted == 0 {
            own.push("no mutated input was accepted".to_owned());
        }
        let own = own.iter().map(|problem| format!("{}: {problem}", target.name));
        problems.lock().expect("no panic").extend(own);
    });
    let problems = problems.into_inner().expect("no panic");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// What is changed must have been right: a seed that its reader refuses shows nothing but that.
#[test]
fn every_seed_is_accepted() {
    for target in TARGETS {
        let seeds = seeds(target);
        assert!(!seeds.is_empty(), "{}: no seeds", target.name);
        for (at, seed) in seeds.iter().enumerate() {
            if let Err(reason) = target.read(seed) {
                panic!("{}, seed {at}: {reason}", target.name);
            }
        }
    }
}

#[test]
fn mutations_are_reproducible_and_many() {
    let mutator = Mutator::new(&[b"3 3\n1 2 5\n2 3 1\n".to_vec(), b"{\"a\": 1}".to_vec()]);
    let some = |seed| -> Vec<Vec<u8>> {
        let mut random = Random::new(seed);
        (0..1000).map(|_| mutator.mutated(&mut random)).collect()
    };
    assert_eq!(some(7), some(7));
    let different: std::collections::BTreeSet<_> = some(7).into_iter().collect();
    assert!(different.len() > 600, "{}", different.len());
}

#[test]
fn the_kernel_is_right_on_the_edge_and_half_its_margin_would_not_do() {
    for family in Family::ALL {
        let whole = faults_at(family, 1.0, 1, 3000);
        assert_eq!(whole.wrong, 0, "{family:?}: {whole:?}");
        let none = faults_at(family, 0.0, 1, 3000);
        assert!(
            none.right + none.wrong > whole.right,
            "{family:?}: less margin accepts more: {none:?} {whole:?}"
        );
    }
    for family in [Family::Pair, Family::Chain] {
        let whole = faults_at(family, 1.0, 1, 3000);
        assert!(whole.right > 100, "{family:?}: some are far enough inside: {whole:?}");
        let half = faults_at(family, 0.5, 1, 3000);
        assert!(half.wrong > 100, "{family:?}: half of the margin must be seen to be too little: {half:?}");
    }
}

#[test]
fn what_is_paid_for_is_enough_and_half_of_it_would_not_do() {
    for term in Term::ALL {
        let (proven, wrong) = wrong_with(term, 1.0, 1, 2000);
        assert!(proven > 100 && wrong == 0, "{term:?}: {wrong} of {proven}");
        let (proven, wrong) = wrong_with(term, 0.5, 1, 2000);
        assert!(wrong > 100, "{term:?}: half must be seen to be too little: {wrong} of {proven}");
    }
}
