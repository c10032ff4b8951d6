//! One table or figure of each family as it is built in, at the smallest scale.

use crate::support::{Bench, shows};

#[test]
fn one_of_each_family_is_made_from_built_in_data() {
    for (name, words) in [
        ("table-large-n", "n = 500"),
        ("table-audio", "synthetic tones, not speech"),
        ("fig-pca-error", "Fashion-MNIST"),
        ("fig-dct-perturbations", "Fashion-MNIST"),
        (
            "fig-tradeoff",
            "Data: Fashion-MNIST; networks: ResNet-8 of width 4; certified: every 20th test image (50 images), n = 1000",
        ),
    ] {
        let bench = Bench::with_own_data();
        let run = bench.run(&format!("reproduce {name} --scale smoke"));
        assert_eq!(run.code, 0, "{name}: {run:?}");
        let table = bench.read(&format!("results/{name}.smoke.md"));
        assert!(shows(&run.stdout, &table), "{name}: {run:?}\n{table}");
        assert!(table.contains(words) || words.contains("500") && table.contains("500"), "{name}: {table}");
        assert!(!table.contains("Incomplete") && !table.contains("Fell short"), "{name}: {table}");
        let page = bench.read(&format!("results/{name}.smoke.html"));
        assert_eq!(page.matches("class=\"parts-section\"").count(), 1, "{name}");
        // Pictures of several sparsities are chosen by a slider; networks have curves, claims and lines to copy.
        assert_eq!(page.contains("<output></output>"), name == "fig-dct-perturbations", "{name}");
        for part in ["class=\"certified-section\"", "Where it comes from", "gambeson check "] {
            assert_eq!(page.contains(part), name == "fig-tradeoff", "{name}: {part}");
        }
    }
}

#[test]
fn all_names_go_one_after_the_other() {
    let bench = Bench::with_own_data();
    let run = bench.run("reproduce --all --scale smoke --time-limit 0");
    assert_eq!(run.code, 1, "{run:?}");
    let list = bench.run("reproduce --list");
    let names: Vec<&str> = list.stdout.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names.len(), 14);
    for name in names {
        assert!(bench.path(&format!("results/{name}.smoke.md")).exists(), "{name}: {run:?}");
    }
    assert_eq!(run.stdout.matches("Incomplete: 0 of ").count(), 14, "{run:?}");
    let sections = |page: &str| bench.read(page).matches("class=\"parts-section\"").count();
    assert_eq!(sections("results/all.smoke.html"), 14);
    // One that cannot be made does not keep the others from it.
    std::fs::create_dir(bench.path("e")).expect("a folder");
    bench.write("e/fig-l2.toml", "caption = 3");
    let run = bench.run("reproduce --all --scale smoke --time-limit 0 --experiments e --results s");
    assert!(run.code == 2 && run.stderr.contains("not made, or not all of it: fig-l2"), "{run:?}");
    assert_eq!(run.stdout.matches("Incomplete: 0 of ").count(), 13, "{run:?}");
    assert_eq!(sections("s/all.smoke.html"), 13);
    assert_eq!(bench.run("reproduce fig-l2 --all").code, 2);
    assert_eq!(bench.run("reproduce --all --dry-run --render-only").code, 2);
}
