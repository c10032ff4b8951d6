//! `reproduce` with experiments on networks: trained, certified, attacked and drawn from the records alone.

use crate::support::{Bench, shows};
use serde_json::Value;

const SPEC: &str = r#"
[network.spec.data]
name = "fashion"
samples = 640
evaluate = 50
[network.spec.model]
family = "cnn"
width = 4
[network.spec.optimiser]
epochs = 2
batch = 64
learning_rate = 0.1
"#;

const NETWORKS: &str = r#"
caption = "Small networks."
l2 = [0.0, 0.2]
linf = [0.01]
l2_to = 1.0
linf_to = 0.1
[certify]
every = 100
n = 300
alpha = 0.01
[[network]]
label = "noise"
"#;

pub(crate) fn experiments(bench: &Bench) {
    std::fs::create_dir_all(bench.path("e")).expect("a folder");
    let noise = "[network.spec.noise]\nsigma = 0.3\n";
    let gaussian = "[network.spec.objective]\nkind = \"gaussian\"\n";
    let projected =
        "[network.spec.projection]\nfit = { method = \"axis\", rank = 16, grid = 8 }\ngrid = \"native\"\n";
    let second = "[[network]]\nlabel = \"projected\"\nattacked = true\n";
    let published = "[[published]]\nlabel = \"others\"\nl2 = [0.9, -1.0]\nacr = 0.5\n";
    let text =
        format!("{NETWORKS}{SPEC}{noise}{gaussian}{second}{SPEC}{noise}{gaussian}{projected}{published}");
    bench.write("e/table-networks.toml", text);
    let pictures = format!(
        "caption = \"Pictures.\"\ndata = \"fashion\"\nshape = [1, 28, 28]\nevery = 50\npictures = 3\nepsilon = 0.1\nsteps = 2\n\
         sparsity = [1, 9]\n[network]\nlabel = \"trained\"\n{}{}",
        SPEC, "[network.spec.objective]\nkind = \"madry\"\nnorm = \"linf\"\nepsilon = 0.1\nsteps = 2\n"
    );
    bench.write("e/fig-adv-examples.toml", pictures);
}

#[test]
fn networks_are_trained_certified_and_compared() {
    let bench = Bench::new();
    experiments(&bench);
    let line = "reproduce table-networks --experiments e --results r --runs n";
    let run = bench.run(line);
    assert_eq!(run.code, 0, "{run:?}");
    let table = bench.read("r/table-networks.desk.md");
    assert!(shows(&run.stdout, &table), "{table}\n{run:?}");
    assert!(table.contains("| others | – | 90.0 | – | 0.500 |"), "{table}");
    assert!(table.contains("projected: PGD at the certified radius changed the answer"), "{table}");
    let text = bench.read("r/table-networks.desk.jsonl");
    let records: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(records.len(), 4 + 6);
    // A cell is what the records of that network say.
    let analysed =
        records.iter().find(|record| record["network"] == "projected" && record["stage"] == "analyze l2");
    let share = analysed.expect("a record")["printed"]["certified_accuracy"][0].as_f64().expect("a share");
    let row = table.lines().find(|line| line.starts_with("| projected")).expect("a row");
    assert!(row.contains(&format!("| {:.1} |", 100.0 * share)), "{row}: {share}");
    // Nothing is run again; drawn from the records alone, it is the same.
    let figure = bench.read_bytes("r/table-networks.desk.svg");
    std::fs::remove_dir_all(bench.path("n")).expect("removed");
    let run = bench.run(&format!("{line} --render-only"));
    assert_eq!((run.code, bench.read("r/table-networks.desk.md")), (0, table), "{run:?}");
    assert_eq!(bench.read_bytes("r/table-networks.desk.svg"), figure);
}

#[test]
fn pictures_are_drawn_from_the_records() {
    let bench = Bench::new();
    experiments(&bench);
    let run = bench.run("reproduce fig-adv-examples --experiments e --results r --runs n");
    assert_eq!(run.code, 0, "{run:?}");
    let figure = bench.read("r/fig-adv-examples.desk.svg");
    // Three rows of the original and three perturbations of it.
    assert_eq!(figure.matches("<image ").count(), 12, "{run:?}");
    assert!(figure.contains(">k = 9<") && figure.contains(">trained<"));
    assert!(bench.read_bytes("r/fig-adv-examples.desk.png").starts_with(b"\x89PNG"));
}

#[test]
fn experiments_that_make_no_sense_are_refused() {
    let bench = Bench::new();
    experiments(&bench);
    let good = bench.read("e/table-networks.toml");
    for (from, to, word) in [
        ("l2 = [0.0, 0.2]", "l2 = [0.2, 0.0]", "rising"),
        ("sigma = 0.3", "sigma = 0.0", "noise.sigma"),
        ("label = \"projected\"", "label = \"noise\"", "appears twice"),
        ("l2 = [0.9, -1.0]", "l2 = [0.9]", "one number per radius"),
        ("n = 300", "n = 0", "at least 1"),
        ("alpha = 0.01", "alpa = 0.01", "alpa"),
    ] {
        bench.write("e/table-networks.toml", good.replace(from, to));
        let run = bench.run("reproduce table-networks --experiments e --results r --runs n");
        assert!(run.code == 2 && run.stderr.contains(word), "{word}: {run:?}");
    }
}
