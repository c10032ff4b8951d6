//! Real logs, against what their authors and ours have published of them.

use gambeson_smooth::analysis::{Dialect, Evidence, LoggedRun, Question, Settings, read_logs};
use gambeson_testing::reference_data;
use std::path::PathBuf;

/// A folder of logs.
fn logs(name: &str) -> Option<PathBuf> {
    reference_data(&format!("logs/{name}"))
}

fn read(path: PathBuf) -> LoggedRun {
    read_logs(&[path], &Settings::default()).expect("a log").remove(0)
}

/// Certified accuracy at 0, 0.25, 0.5, …, as many as asked; the average radius; abstentions.
fn scores(path: PathBuf, count: usize) -> (Vec<f64>, f64, f64) {
    let scores = read(path).scores(&Question::default()).expect("labels and radii");
    let radii: Vec<f64> = (0..count).map(|at| at as f64 * 0.25).collect();
    let accuracy = scores.certified_accuracy(&radii).expect("radii");
    (accuracy, scores.average_radius().expect("radii"), scores.abstained().expect("inputs"))
}

#[test]
fn the_logs_of_smoothadv_and_cat_rs_give_the_published_numbers() {
    // The tables of the papers, in per cent; the m8 row as the task names it.
    let rows: [(&str, &str, &[f64], f64, f64); 6] = [
        ("salman2019", "smoothadv_pgd10_m8_eps255_sigma_0.25.tsv", &[74.8, 66.7, 57.6, 47.8], 0.551, 3.0),
        ("salman2019", "cohen_sigma_0.25.tsv", &[76.6, 61.2, 42.2, 25.1], 0.424, 8.0),
        ("salman2019", "cohen_sigma_0.50.tsv", &[65.7, 54.9, 42.8, 32.5, 22.0, 14.1, 8.3, 3.9], 0.525, 15.2),
        (
            "salman2019",
            "smoothadv_pgd10_m2_eps512_sigma_1.00.tsv",
            &[43.7, 40.3, 36.9, 33.8, 30.5],
            0.790,
            13.2,
        ),
        ("catrs2023", "cifar100_cohen_0.25.tsv", &[48.9, 33.7, 20.9, 12.0], 0.228, 27.1),
        ("catrs2023", "cifar100_salman_0.25.tsv", &[46.4, 38.3, 30.4, 23.0], 0.298, 11.8),
    ];
    for (folder, name, expected, acr, abstained) in rows {
        let Some(folder) = logs(folder) else { return };
        let (accuracy, own_acr, own_abstained) = scores(folder.join(name), expected.len());
        for (accuracy, expected) in accuracy.iter().zip(expected) {
            assert!((accuracy * 100.0 - expected).abs() <= 0.05 + 1e-9, "{name}: {accuracy} {expected}");
        }
        assert!((own_acr - acr).abs() < 5.1e-4, "{name}: {own_acr}");
        assert!((own_abstained * 100.0 - abstained).abs() <= 0.05 + 1e-9, "{name}: {own_abstained}");
    }
}

#[test]
fn cohens_table_comes_out_cell_by_cell() {
    let Some(folder) = logs("cohen2019") else { return };
    let table = std::fs::read_to_string(folder.join("expected_table.md")).expect("their table");
    let mut cells = 0;
    for (line, sigma) in table.lines().skip(2).zip(["0.12", "0.25", "0.50", "1.00"]) {
        assert!(line.contains(&format!("&sigma; = {sigma} ")), "{line}");
        let (accuracy, ..) = scores(folder.join(format!("cifar10_sigma_{sigma}.tsv")), 7);
        let expected = line.split('|').skip(1).map(|cell| cell.trim().replace("<b>*</b>", ""));
        for (expected, own) in expected.filter(|cell| !cell.is_empty()).zip(&accuracy[1..]) {
            assert_eq!(expected, format!("{own:.2}"), "sigma {sigma}");
            cells += 1;
        }
    }
    assert_eq!(cells, 24);
}

#[test]
fn radii_of_dsrs_follow_from_its_intervals() {
    let Some(folder) = logs("dsrs2022") else { return };
    let intervals = read(folder.join("intervals_sigma_0.50_n50000_alpha0.0005.txt"));
    let radii = read(folder.join("radii_sigma_0.50_n50000_alpha0.0005.txt"));
    assert_eq!((intervals.dialect, radii.dialect), (Dialect::DsrsIntervals, Dialect::DsrsRadii));
    let (Evidence::Inputs(ours), Evidence::Inputs(theirs)) = (intervals.evidence, radii.evidence) else {
        panic!("inputs")
    };
    assert_eq!((ours.len(), theirs.len()), (1000, 1000));
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!((ours.index, ours.predicted), (theirs.index, theirs.predicted));
        let (ours, theirs) = (ours.l2.expect("a radius"), theirs.l2.expect("a radius"));
        assert!((ours - theirs).abs() <= 1e-12, "{ours} {theirs}");
    }
}
