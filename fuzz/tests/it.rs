//! Every target for two seconds, or as many as `GAMBESON_FUZZ_SECONDS` says.

use gambeson_fuzz::drive::{keep, run, seeds};
use gambeson_fuzz::mutate::{Random, mutated};
use gambeson_fuzz::targets::{Family, TARGETS, faults_at};
use std::time::Duration;

#[test]
fn every_reader_survives_mutations() {
    let seconds = std::env::var("GAMBESON_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(2);
    let mut total = 0;
    for target in TARGETS {
        let seeds = seeds(target);
        assert!(!seeds.is_empty(), "{}: no seeds", target.name);
        match run(target, &seeds, Duration::from_secs(seconds), 1) {
            Ok(count) => total += count,
            Err(fault) => {
                let place = keep(target.name, &fault.input);
                panic!("{}: {}: {}", target.name, fault.how, place.display());
            }
        }
    }
    assert!(total > 1000, "{total} inputs");
}

#[test]
fn mutations_are_reproducible_and_many() {
    let seeds = vec![b"3 3\n1 2 5\n2 3 1\n".to_vec(), b"{\"a\": 1}".to_vec()];
    let some = |seed| -> Vec<Vec<u8>> {
        let mut random = Random::new(seed);
        (0..1000).map(|_| mutated(&seeds, &mut random)).collect()
    };
    assert_eq!(some(7), some(7));
    let different: std::collections::BTreeSet<_> = some(7).into_iter().collect();
    assert!(different.len() > 800, "{}", different.len());
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
