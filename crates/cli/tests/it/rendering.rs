//! Tables and figures against the records they are made from: here made up, of the shape and size of real ones.

use crate::reproduce::runs::TINY;
use crate::support::{Bench, shows};
use serde_json::{Value, json};

const SIZES: [u64; 6] = [500, 1000, 2000, 3000, 4000, 4500];

/// A run that never was: its numbers depend on its place alone.
fn record(experiment: &str, n: u64, seed: u64, solver: (&str, &str, &str), more: &[&str]) -> Value {
    let (label, method, gap) = solver;
    let wobble = 1.0 + 0.07 * seed as f64 + 1e-5 * n as f64;
    let exact = 3.5 + (n as f64).ln() / 30.0 + 0.01 * seed as f64;
    let reached = 0.7 * gap.parse::<f64>().expect("a number").min(0.01) * (1.0 + 0.1 * seed as f64);
    let rate = if method == "mwu" { 3e-6 } else { 4e-7 };
    let seconds = rate * (n as f64).powf(2.3) * wobble;
    let mut arguments =
        json!(["bound", "--random", format!("psd:{n}:{seed}"), "--method", method, "--gap", gap, "--json"]);
    more.iter().for_each(|word| arguments.as_array_mut().expect("a list").push(json!(word)));
    let lower = exact * (1.0 - 0.1 * reached);
    json!({
        "experiment": experiment, "kind": "psd", "n": n, "seed": seed, "solver": label, "arguments": arguments,
        "exit": 0, "seconds_wall": 1.2 * seconds, "threads": 2, "version": "0.1.0", "cpu": "Abacus 9",
        "bound": {
            "n": n, "norm": "quadratic", "domain": "cube", "method": method, "upper": lower * (1.0 + reached),
            "lower": 0.8 * exact, "sdp_lower": lower, "gap": reached, "kappa": null, "iterations": 100,
            "seconds_read": 0.1 * seconds, "seconds_solve": 0.9 * seconds, "seconds_check": 0.1 * seconds,
            "peak_memory": 17 * n * n + 1000 * seed, "stop": "gap", "trivial": false,
        },
        "check": {
            "exit": 0, "seconds_wall": seconds, "result": {
                "proven": true, "norm": "quadratic", "gram": false, "domain": "cube", "bound": lower * (1.0 + reached),
                "kappa": null, "reason": null, "seconds_read": 0.1 * seconds, "seconds_check": 0.2 * seconds,
                "peak_memory": 13 * n * n,
            },
        },
    })
}

type SolverRow<'a> = ((&'a str, &'a str, &'a str), &'a [&'a str]);

/// Writes records of all solvers, sizes and trials where `reproduce` looks for them.
fn write(
    bench: &Bench,
    name: &str,
    scale: &str,
    sizes: &[u64],
    trials: u64,
    solvers: &[SolverRow],
) -> Vec<Value> {
    let mut records = Vec::new();
    for &n in sizes {
        for seed in 1..=trials {
            records.extend(solvers.iter().map(|(solver, more)| record(name, n, seed, *solver, more)));
        }
    }
    std::fs::create_dir_all(bench.path("results")).expect("a folder");
    let lines: Vec<String> = records.iter().map(Value::to_string).collect();
    bench.write(&format!("results/{name}.{scale}.jsonl"), lines.join("\n") + "\n");
    records
}

/// Cells by heading, of the row that begins with n.
fn cell(table: &str, n: u64, heading: &str) -> String {
    let split = |line: &str| {
        line.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned()).collect::<Vec<_>>()
    };
    let mut lines = table.lines().filter(|line| line.starts_with('|')).map(split);
    let headings = lines.next().expect("a table");
    let at =
        headings.iter().position(|it| it == heading).unwrap_or_else(|| panic!("{heading} in {headings:?}"));
    lines.find(|row| row[0] == n.to_string()).expect("its row")[at].clone()
}

/// Mean and standard deviation of something, from the records.
fn spread(records: &[Value], n: u64, solver: &str, of: impl Fn(&Value) -> f64) -> (f64, f64) {
    let these = records.iter().filter(|record| record["n"] == n && record["solver"] == solver);
    let values: Vec<f64> = these.map(of).collect();
    let (count, mean) = (values.len() as f64, values.iter().sum::<f64>() / values.len() as f64);
    (mean, (values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / (count - 1.0)).sqrt())
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

fn seconds(record: &Value) -> f64 {
    number(&record["bound"]["seconds_solve"]) + number(&record["bound"]["seconds_check"])
}

/// Shown to so many digits and not below the truth.
fn rounded_up(shown: &str, truth: f64, digits: f64) {
    let value: f64 = shown.parse().unwrap_or_else(|_| panic!("`{shown}` is a number"));
    let slack = truth.abs() * 1e-12;
    let unit = 10_f64.powf(truth.abs().log10().floor() + 1.0 - digits);
    assert!(value >= truth - slack && value <= truth + 1.001 * unit, "{shown} for {truth}");
}

fn mean_and_deviation(cell: &str, (mean, deviation): (f64, f64)) {
    let (shown, spread) = cell.split_once(" ± ").unwrap_or_else(|| panic!("{cell}"));
    rounded_up(shown, mean, 3.0);
    let places = shown.split_once('.').map_or(0, |(_, places)| places.len());
    let spread: f64 = spread.parse().expect("a number");
    assert!(
        spread >= deviation - 1e-12 && spread <= deviation + 1.001 * 10_f64.powf(-(places as f64)),
        "{cell}"
    );
}

#[test]
fn run_times_are_those_of_the_records() {
    let bench = Bench::new();
    let solvers = [
        ("Algorithm 2, gap 5e-3", "mwu", "5e-3"),
        ("gambeson, gap 1e-3", "auto", "1e-3"),
        ("gambeson, gap 1e-6", "auto", "1e-6"),
    ];
    let rows = solvers.map(|solver| (solver, &[][..]));
    let records = write(&bench, "table-runtime", "desk", &SIZES, 3, &rows);
    let run = bench.run("reproduce table-runtime --render-only");
    assert!(run.code == 0 && !run.stdout.contains("peers"), "{run:?}");
    let table = bench.read("results/table-runtime.desk.md");
    for n in SIZES {
        for (label, ..) in solvers {
            mean_and_deviation(
                &cell(&table, n, &format!("here (s): {label}")),
                spread(&records, n, label, seconds),
            );
        }
    }
    // As printed in the paper, and the ratio to it rounded down.
    assert_eq!(cell(&table, 4500, "paper (s): MOSEK"), "5579.93 ± 523.53");
    let ratio: f64 =
        cell(&table, 4500, "paper / here: MOSEK / gambeson, gap 1e-6").parse().expect("a number");
    let truth = 5579.93 / spread(&records, 4500, "gambeson, gap 1e-6", seconds).0;
    assert!(ratio <= truth && ratio > 0.99 * truth, "{ratio} {truth}");
    // Peers at the same n; other families, other sizes, unknown keys and our own rows are no columns.
    bench.write(
        "results/peers-sdp.jsonl",
        "{\"kind\": \"psd\", \"n\": 500, \"solver\": \"DSDP 5.8\", \"seconds\": 0.5, \"value\": 1, \"note\": \"x\"}\n\
         {\"kind\": \"psd\", \"n\": 500, \"solver\": \"DSDP 5.8\", \"seconds\": 0.75, \"value\": 1}\n\
         {\"kind\": \"qp\", \"n\": 500, \"solver\": \"CSDP 6.2\", \"seconds\": 0.5, \"value\": 1}\n\
         {\"kind\": \"psd\", \"n\": 123, \"solver\": \"SDPA\", \"seconds\": 0.5, \"value\": 1}\n\
         {\"kind\": \"psd\", \"n\": 500, \"solver\": \"gambeson, gap 1e-6\", \"seconds\": 0.5, \"value\": 1}\n",
    );
    assert_eq!(bench.run("reproduce table-runtime --render-only").code, 0);
    let with_peers = bench.read("results/table-runtime.desk.md");
    mean_and_deviation(&cell(&with_peers, 500, "peers here (s): DSDP 5.8"), (0.625, 0.03125_f64.sqrt()));
    assert_eq!(cell(&with_peers, 1000, "peers here (s): DSDP 5.8"), "–");
    assert!(!with_peers.contains("CSDP") && !with_peers.contains("SDPA"), "{with_peers}");
    assert_eq!(with_peers.matches("gambeson, gap 1e-6").count(), table.matches("gambeson, gap 1e-6").count());
    let tex = bench.read("results/table-runtime.desk.tex");
    let columns = tex.lines().find_map(|line| line.strip_prefix("\\begin{tabular}")).expect("a table");
    let count = columns.matches('r').count();
    let rows: Vec<_> =
        tex.lines().filter(|line| line.ends_with("\\\\") && !line.contains("multicolumn")).collect();
    assert_eq!(rows.len(), 1 + SIZES.len());
    assert!(rows.iter().all(|row| row.matches(" & ").count() == count - 1), "{tex}");
}

#[test]
fn peers_that_missed_their_target_are_told_apart() {
    let bench = Bench::new();
    write(&bench, "table-runtime", "desk", &[500], 1, &[]);
    let peer = |n: u64, solver: &str, seconds: Value, more: Value| {
        let mut record = json!({"kind": "psd", "n": n, "solver": solver, "seconds": seconds, "value": 3.5, "note": "9 \
            iterations", "below_proven_lower": false, "threads": 2, "cpu": "Abacus 7"});
        let more = more.as_object().expect("an object").clone();
        record.as_object_mut().expect("an object").extend(more);
        record.to_string() + "\n"
    };
    let stopped = json!({"value": null, "below_proven_lower": null, "note": "timed out after 1200 s"});
    let lines = [
        peer(500, "good", json!(2.5), json!({})),
        peer(500, "good", json!(2.5), json!({})),
        peer(500, "short", json!(2.5), json!({"note": "9 iterations, 5e-3 not reached"})),
        peer(1000, "short", json!(2.5), json!({"below_proven_lower": true})),
        peer(500, "slow", json!(1200), stopped.clone()),
        peer(1000, "slow", json!(600), json!({})),
        peer(1000, "slow", json!(1200), stopped.clone()),
        peer(500, "broken", Value::Null, json!({"value": null, "note": "failed: core dumped"})),
    ];
    bench.write("results/peers-sdp.jsonl", lines.concat());
    let run = bench.run("reproduce table-runtime --render-only");
    let table = bench.read("results/table-runtime.desk.md");
    let shown = |n, solver: &str| cell(&table, n, &format!("peers here (s): {solver}"));
    assert_eq!([shown(500, "good"), shown(1000, "good")], ["2.50 ± 0.00", "–"]);
    assert_eq!([shown(500, "short"), shown(1000, "short")], ["2.50 †", "2.50 †"]);
    assert_eq!([shown(500, "slow"), shown(1000, "slow")], ["> 1200", "> 900 (1 of 2)"]);
    assert_eq!(shown(500, "broken"), "failed");
    for note in ["on Abacus 7, 2 threads, on 1 to 2 other instances", "†: some run", "\"> N\""] {
        assert!(table.contains(note), "{note}: {run:?}");
    }
    bench.write("results/peers-sdp.jsonl", lines[..2].concat());
    let run = bench.run("reproduce table-runtime --render-only");
    assert!(!run.stdout.contains('†') && !run.stdout.contains("> N"), "no marks, no notes: {run:?}");
}

#[test]
fn cells_of_fewer_trials_than_planned_say_so() {
    let bench = Bench::new();
    let solver = ("gambeson, gap 1e-6", "auto", "1e-6");
    let mut records = write(&bench, "table-runtime", "desk", &[500, 1000, 2000], 3, &[(solver, &[])]);
    records.retain(|record| record["n"] != 1000 && (record["n"] != 2000 || record["seed"] == 2));
    let lines: Vec<String> = records.iter().map(Value::to_string).collect();
    bench.write("results/table-runtime.desk.jsonl", lines.join("\n"));
    bench.run("reproduce table-runtime --render-only");
    let table = bench.read("results/table-runtime.desk.md");
    let shown = |n| cell(&table, n, "here (s): gambeson, gap 1e-6");
    mean_and_deviation(&shown(500), spread(&records, 500, solver.0, seconds));
    assert_eq!(shown(1000), "–");
    let value = shown(2000);
    let one = records.iter().find(|record| record["n"] == 2000).expect("one");
    rounded_up(value.strip_suffix(" (1 of 3)").unwrap_or_else(|| panic!("{value}")), seconds(one), 3.0);
    let ratio = cell(&table, 2000, "paper / here: MOSEK / gambeson, gap 1e-6");
    assert!(ratio.ends_with(" (1 of 3)"), "{ratio}");
}

#[test]
fn memory_is_that_of_the_records() {
    let bench = Bench::new();
    let (mwu, ours) = ("Algorithm 2, 200 iterations", "gambeson, gap 1e-2");
    let rows: [SolverRow; 2] =
        [((mwu, "mwu", "1e-4"), &["--iterations", "200"]), ((ours, "auto", "1e-2"), &[])];
    let sizes = [5000, 6000, 7000, 8000, 9000, 10000, 15000, 20000];
    let records = write(&bench, "table-large-n", "paper", &sizes, 5, &rows);
    let run = bench.run("reproduce table-large-n --scale paper --render-only");
    assert_eq!(run.code, 0, "{run:?}");
    let table = bench.read("results/table-large-n.paper.md");
    for n in sizes {
        let shown = |heading: &str| cell(&table, n, &format!("{ours}: {heading}"));
        for (heading, key) in
            [("generate (s)", "seconds_read"), ("solve (s)", "seconds_solve"), ("check (s)", "seconds_check")]
        {
            mean_and_deviation(
                &shown(heading),
                spread(&records, n, ours, |record| number(&record["bound"][key])),
            );
        }
        let most = |of: &dyn Fn(&Value) -> f64| {
            records
                .iter()
                .filter(|record| record["n"] == n && record["solver"] == ours)
                .map(of)
                .fold(0.0, f64::max)
        };
        let bytes = most(&|record| number(&record["bound"]["peak_memory"]));
        rounded_up(&shown("memory (GB)"), bytes / 1e9, 3.0);
        rounded_up(&shown("× matrix"), bytes / (8 * n * n) as f64, 3.0);
        rounded_up(&shown("gap ≤"), most(&|record| number(&record["bound"]["gap"])), 3.0);
        let alone = |heading: &str| cell(&table, n, &format!("{ours}, checked alone: {heading}"));
        mean_and_deviation(
            &alone("check (s)"),
            spread(&records, n, ours, |record| number(&record["check"]["result"]["seconds_check"])),
        );
        rounded_up(&alone("memory (GB)"), 13e-9 * (n * n) as f64, 3.0);
        let solve = |record: &Value| number(&record["bound"]["seconds_solve"]);
        mean_and_deviation(&cell(&table, n, &format!("{mwu}: solve (s)")), spread(&records, n, mwu, solve));
    }
}

const FIGURE: [SolverRow; 2] = [(("Algorithm 2", "mwu", "5e-3"), &[]), (("gambeson", "auto", "1e-6"), &[])];

#[test]
fn a_figure_shows_the_records_and_nothing_else() {
    let bench = Bench::new();
    let sizes = [500, 1000, 2000, 3000, 4500];
    let records = write(&bench, "fig-mwu-psd", "desk", &sizes, 3, &FIGURE);
    let run = bench.run("reproduce fig-mwu-psd --render-only");
    assert_eq!(run.code, 0, "{run:?}");
    let table = bench.read("results/fig-mwu-psd.desk.md");
    for n in sizes {
        let seconds = spread(&records, n, "Algorithm 2", seconds);
        mean_and_deviation(&cell(&table, n, "Algorithm 2: seconds"), seconds);
        // Against the proven lower end for the same matrix.
        let exact = |seed: &Value| {
            let same = |record: &&Value| {
                record["n"] == n && record["seed"] == *seed && record["solver"] == "gambeson"
            };
            number(&records.iter().find(same).expect("its partner")["bound"]["sdp_lower"])
        };
        let error =
            |record: &Value| 100.0 * (number(&record["bound"]["upper"]) / exact(&record["seed"]) - 1.0);
        mean_and_deviation(
            &cell(&table, n, "Algorithm 2: error ≤ (%)"),
            spread(&records, n, "Algorithm 2", error),
        );
    }
    let svg = bench.read("results/fig-mwu-psd.desk.svg");
    assert!(svg.starts_with("<svg xmlns") && svg.trim_end().ends_with("</svg>"), "{svg}");
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    let marks = ["<svg", "<!--", "</svg"];
    for line in svg.lines().filter(|line| !marks.iter().any(|mark| line.starts_with(mark))) {
        assert!(line.ends_with("/>") || line.starts_with("<text") && line.ends_with("</text>"), "{line}");
        assert_eq!(line.matches('"').count() % 2, 0, "{line}");
    }
    for text in ["Algorithm 2 (paper)", "MOSEK (paper)", "gambeson, gap 1e-6", "seconds to solve and prove"] {
        assert!(svg.contains(&format!(">{text}</text>")), "{text}");
    }
    // Two series here, one of errors, two of gaps and two of values, five points each, a legend entry each; six points
    // for each of the paper's two.
    let (circles, polygons) = (svg.matches("<circle").count(), svg.matches("<polygon").count());
    assert_eq!(circles + polygons, 7 * 6 + 2 * 7);
    let picture =
        tiny_skia::Pixmap::decode_png(&bench.read_bytes("results/fig-mwu-psd.desk.png")).expect("a PNG");
    assert_eq!((picture.width(), picture.height()), (3000, 1012));
    let of_colour = |red, green, blue| {
        picture
            .pixels()
            .iter()
            .filter(|pixel| (pixel.red(), pixel.green(), pixel.blue()) == (red, green, blue))
            .count()
    };
    assert!(of_colour(0xd5, 0x5e, 0x00) > 500 && of_colour(0x00, 0x72, 0xb2) > 500, "both solvers are drawn");
    assert!(of_colour(0x22, 0x22, 0x22) > 5000, "text is drawn");
}

#[test]
fn the_same_records_give_the_same_bytes() {
    let bench = Bench::new();
    bench.write("fig-mwu-psd.toml", TINY.replace("[12, 20]", "[500, 4500]"));
    write(&bench, "fig-mwu-psd", "desk", &[500, 4500], 2, &FIGURE); // of three trials
    let files =
        ["md", "tex", "svg", "png", "jsonl"].map(|extension| format!("results/fig-mwu-psd.desk.{extension}"));
    let render = || {
        let run = bench.run("reproduce fig-mwu-psd --render-only --experiments .");
        assert!(run.code == 1 && run.stdout.contains("Incomplete: 8 of 12 runs"), "{run:?}");
        files.each_ref().map(|file| bench.read_bytes(file))
    };
    let first = render();
    files[..4].iter().for_each(|file| std::fs::remove_file(bench.path(file)).expect("removed"));
    assert!(first == render());
    // Neither does the order of the records matter.
    let text = bench.read(&files[4]);
    let turned: String = text.lines().rev().flat_map(|line| [line, "\n"]).collect();
    bench.write(&files[4], turned);
    assert!(first[..4] == render()[..4]);
}

#[test]
fn the_terminal_shows_the_same_cells_in_eighty_columns() {
    let bench = Bench::new();
    let solvers = [("Algorithm 2, gap 5e-3", "mwu", "5e-3"), ("gambeson, gap 1e-6", "auto", "1e-6")];
    let rows = solvers.map(|solver| (solver, &[][..]));
    write(&bench, "table-runtime", "desk", &SIZES, 3, &rows);
    let run = bench.run("reproduce table-runtime --render-only");
    let table = bench.read("results/table-runtime.desk.md");
    assert!(shows(&run.stdout, &table), "{run:?}");
    for n in SIZES {
        for heading in ["here (s): gambeson, gap 1e-6", "paper (s): MOSEK"] {
            let cell = cell(&table, n, heading);
            let shown = |line: &&str| line.trim_start().starts_with(&n.to_string()) && line.contains(&cell);
            assert_eq!(run.stdout.lines().filter(shown).count(), 1, "{n}, {heading}: {cell} in {run:?}");
        }
    }
}
