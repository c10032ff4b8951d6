//! `reproduce` with figures that share networks: trained once, compared, and shown beside what the paper says.

use crate::support::Bench;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Two methods at two levels of noise; one network is of another scale.
const SHARED: &str = r#"
[certify]
every = 25
n = 300
alpha = 0.01
[spec]
data = { name = "fashion", samples = 640, evaluate = 50 }
model = { family = "cnn", width = 4 }
objective = { epsilon = 0.25, steps = 1, draws = 1 }
optimiser = { epochs = 9, batch = 64, learning_rate = 0.1 }
[part]
theirs = { objective = { kind = "smooth-adv" } }
low = { noise = { base = 0.2 } }
high = { noise = { base = 0.4 } }
[part.ours]
projection = { fit = { method = "pca", rank = 40 } }
noise = { lambda = 0.5 }
objective = { kind = "algorithm-1" }
[[network]]
name = "low theirs"
label = "theirs, low"
as = ["theirs", "low"]
[[network]]
name = "low ours"
label = "ours, low"
as = ["ours", "low"]
[[network]]
name = "high theirs"
label = "theirs, high"
as = ["theirs", "high"]
[[network]]
name = "never"
label = "of another scale"
as = ["theirs", "high"]
spec = { seed = 5 }
only = ["paper"]
[override]
optimiser = { epochs = 1 }
"#;

const FIGURE: &str = r#"
include = "algorithm-1"
caption = "Curves."
l2 = [0.0, 0.2, 0.5]
l2_to = 1.0
linf = [0.0, 0.01]
linf_to = 0.05
compare = [
    { norm = "l2", first = "low ours", second = "low theirs" },
    { norm = "linf", first = "low ours", second = "low theirs" },
    { norm = "l2", first = "never", second = "low theirs" },
]
[[panel]]
title = "low"
norm = "l2"
curves = ["low theirs", "low ours", "never"]
[[panel]]
norm = "linf"
curves = ["low theirs", "low ours"]
[[panel]]
norm = "linf"
curves = ["never"]
[[claim]]
radius = 0.2
certified = 0.05
rows = [
    { label = "theirs", paper = 0.5, networks = ["low theirs", "never"] },
    { label = "ours", paper = 0.65, networks = ["low ours"] },
]
[scale.paper]
l2_to = 2.0
"#;

/// The same networks and one more.
const OTHER: &str = r#"
include = "algorithm-1"
caption = "Other curves."
l2 = [0.0, 0.2]
l2_to = 1.0
[[panel]]
norm = "l2"
curves = ["low theirs", "low ours", "high theirs"]
"#;

fn bench() -> Bench {
    let bench = Bench::new();
    std::fs::create_dir_all(bench.path("e")).expect("a folder");
    bench.write("e/algorithm-1.toml", SHARED);
    bench.write("e/fig-l2.toml", FIGURE);
    bench.write("e/fig-l2-app.toml", OTHER);
    bench
}

fn lines(bench: &Bench, name: &str) -> Vec<Value> {
    bench.read(name).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// What a run of a network printed.
fn printed<'a>(records: &'a [Value], network: &str, stage: &str) -> &'a Value {
    let found = records.iter().find(|record| record["network"] == network && record["stage"] == stage);
    &found.unwrap_or_else(|| panic!("no {stage} of {network}"))["printed"]
}

/// Folders below a folder.
fn folders(path: &Path) -> Vec<String> {
    let all = std::fs::read_dir(path).expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut names: Vec<String> = all
        .filter(|path| path.is_dir())
        .map(|path| path.file_name().expect("a name").to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn figures_share_networks_and_compare_them_input_by_input() {
    let bench = bench();
    let line = "reproduce fig-l2 --experiments e --results r --runs n";
    let run = bench.run(line);
    assert_eq!(run.code, 0, "{run:?}");
    let records = lines(&bench, "r/fig-l2.desk.jsonl");
    // Two networks: training, certification, two analyses; two comparisons. What is of another scale is not there.
    assert_eq!(records.len(), 2 * 4 + 2, "{run:?}");
    assert_eq!(folders(&bench.path("n")).len(), 2);
    let text = bench.read("r/fig-l2.desk.jsonl");
    assert!(
        !text.contains(&*bench.path("").to_string_lossy()) && text.contains("\"runs/"),
        "no places: {text}"
    );
    // The specs are what parts, network and override say, in this order.
    let spec = bench.read(&format!("n/{}.toml", digits(&records, "low ours")));
    for key in
        ["epochs = 1", "lambda = 0.5", "base = 0.2", "kind = \"algorithm-1\"", "rank = 40", "steps = 1"]
    {
        assert!(spec.contains(key), "{key}: {spec}");
    }
    // What is kept beside the results is what was made.
    for network in folders(&bench.path("n")) {
        let kept = std::fs::read_dir(bench.path(&format!("r/networks/{network}"))).expect("a folder");
        let names: Vec<_> = kept.map(|entry| entry.expect("an entry").file_name()).collect();
        assert_eq!(names.len(), 3, "{names:?}");
        for name in names.iter().map(|name| name.to_string_lossy()) {
            let [kept, made] = [format!("r/networks/{network}/{name}"), format!("n/{network}/{name}")];
            assert_eq!(bench.read_bytes(&kept), bench.read_bytes(&made), "{name}");
        }
    }
    differences_are_those_of_the_inputs(&bench, &records);
    claims_are_those_of_the_curves(&bench, &records);
    // Another figure trains what is new, and nothing else.
    let made: BTreeMap<String, std::time::SystemTime> =
        folders(&bench.path("n")).into_iter().map(|name| (name.clone(), written(&bench, &name))).collect();
    let run = bench.run("reproduce fig-l2-app --experiments e --results r --runs n");
    assert_eq!((run.code, folders(&bench.path("n")).len()), (0, 3), "{run:?}");
    for (name, time) in &made {
        assert_eq!(written(&bench, name), *time, "trained once");
    }
    // A page has each network once, by the name it has in figures.
    let page = bench.read("r/fig-l2.desk.html");
    for network in ["theirs, low", "ours, low"] {
        let cards = format!("</svg> {network}</h3>");
        assert!(page.contains(&cards), "{cards}");
    }
    assert!(!page.contains("theirs, high"));
    what_is_not_the_networks_is_told(&bench, &records, line);
    // The folder of runs may be elsewhere, or gone, once everything is there.
    std::fs::rename(bench.path("n"), bench.path("elsewhere")).expect("moved");
    let run = bench.run(&line.replace("--runs n", "--runs elsewhere"));
    assert_eq!((run.code, bench.read("r/fig-l2.desk.jsonl")), (0, text), "{run:?}");
}

/// Records of another network and broken ones are left out, and no other run takes the name; further files change nothing.
fn what_is_not_the_networks_is_told(bench: &Bench, records: &[Value], line: &str) {
    let file = |network: &str| {
        let network = digits(records, network);
        format!("r/networks/{network}/certified-{}.jsonl", sampling(bench, &network))
    };
    let (theirs, ours) = (file("low theirs"), file("low ours"));
    let whole = bench.read(&theirs);
    let heading = |label: &str| format!("</svg> {label}</h3>");
    for (content, problem) in
        [(bench.read(&ours), "records of another network"), (String::new(), "first line")]
    {
        bench.write(&theirs, &content);
        let run = bench.run(&format!("{line} --render-only"));
        assert!(run.code == 1 && run.stderr.contains(problem), "{run:?}");
        let page = bench.read("r/fig-l2.desk.html");
        assert!(page.contains("What is missing here") && !page.contains(&heading("theirs, low")));
        assert!(page.contains(&heading("ours, low")));
    }
    bench.write(&theirs, &whole);
    bench.write(&theirs.replace("certified-", "certified-earlier-"), &whole);
    let run = bench.run(&format!("{line} --render-only"));
    assert_eq!(run.code, 0, "{run:?}");
    let page = bench.read("r/fig-l2.desk.html");
    assert!(page.contains(&heading("theirs, low")) && page.contains(&heading("ours, low")));
}

fn written(bench: &Bench, name: &str) -> std::time::SystemTime {
    let path = bench.path(&format!("n/{name}/metrics.jsonl"));
    std::fs::metadata(path).and_then(|file| file.modified()).expect("a file with a time")
}

fn digits(records: &[Value], network: &str) -> String {
    let run = printed(records, network, "train")["run"].as_str().expect("a folder");
    run.strip_prefix("runs/").expect("below the folder of runs").to_owned()
}

/// Counted again from the certified inputs of both.
fn differences_are_those_of_the_inputs(bench: &Bench, records: &[Value]) {
    let radius = 0.2;
    let certified = |network: &str| -> Vec<bool> {
        let analysed = bench.run(&format!(
            "analyze r/networks/{}/certified-{}.jsonl --radii {radius} --json",
            digits(records, network),
            sampling(bench, &digits(records, network))
        ));
        let share = analysed.json()["certified_accuracy"][0].as_f64().expect("a share");
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a share of forty
        let count = (share * 40.0).round() as usize;
        vec![true; count]
    };
    let [ours, theirs] = ["low ours", "low theirs"].map(|network| certified(network).len() as f64 / 40.0);
    let pair = printed(records, "low ours", "compare l2 with low theirs");
    assert_eq!(pair["inputs"], 40);
    let found = pair["difference"][1].as_f64().expect("a difference");
    assert!((found - (ours - theirs)).abs() < 1e-12, "{found}: {ours} and {theirs}");
    let [low, high] = ["low", "high"].map(|end| pair[end][1].as_f64().expect("an end"));
    let table = bench.read("r/fig-l2.desk.md");
    // The ends are rounded outwards.
    let (low_shown, high_shown) = ((1000.0 * low).floor() / 10.0, (1000.0 * high).ceil() / 10.0);
    let cell = format!("| {:+.1} [{low_shown:+.1}, {high_shown:+.1}] |", 100.0 * found);
    assert!(low <= found && found <= high && table.contains(&cell), "{cell}: {table}");
    // Where the first is above is what the curves say.
    let curve = |network: &str| -> Vec<f64> {
        let shares = &printed(records, network, "analyze l2")["certified_accuracy"];
        shares.as_array().expect("a list").iter().filter_map(Value::as_f64).collect()
    };
    let pairs: Vec<(f64, f64)> = curve("low ours").into_iter().zip(curve("low theirs")).collect();
    let looked = pairs.iter().filter(|(one, other)| one.max(*other) >= 0.1).count();
    let above = pairs.iter().filter(|(one, other)| one.max(*other) >= 0.1 && one > other).count();
    let note = format!("ours, low is above theirs, low at {above} of the {looked} l2 radii");
    assert!(looked > 0 && table.contains(&note), "{note}: {table}");
}

/// How inputs were certified, in the name of their file.
fn sampling(bench: &Bench, network: &str) -> String {
    let names = std::fs::read_dir(bench.path(&format!("r/networks/{network}"))).expect("a folder");
    let names: Vec<String> =
        names.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    let name = names.iter().find(|name| name.starts_with("certified-")).expect("certified inputs");
    name.trim_start_matches("certified-").trim_end_matches(".jsonl").to_owned()
}

/// The natural accuracy of what certifies enough, beside the paper's.
fn claims_are_those_of_the_curves(bench: &Bench, records: &[Value]) {
    let table = bench.read("r/fig-l2.desk.md");
    for (label, network, paper) in [("theirs", "low theirs", "about 50"), ("ours", "low ours", "about 65")] {
        let analysed = printed(records, network, "analyze l2");
        let at = |radius: f64| -> f64 {
            let radii = analysed["radii"].as_array().expect("a list");
            let at = radii.iter().position(|other| other.as_f64() == Some(radius)).expect("a radius");
            analysed["certified_accuracy"][at].as_f64().expect("a share")
        };
        let natural = if at(0.2) >= 0.05 { format!("{:.1}", 100.0 * at(0.0)) } else { "–".to_owned() };
        let row = format!("| {label} | {paper} | {natural} | {:.1} |", 100.0 * at(0.2));
        assert!(table.contains(&row), "{row}: {table}");
    }
}

#[test]
fn abbreviated_networks_that_make_no_sense_are_refused() {
    let bench = bench();
    for (file, from, to, word) in [
        ("algorithm-1", "as = [\"ours\", \"low\"]", "as = [\"hers\"]", "there is no part \"hers\""),
        ("algorithm-1", "only = [\"paper\"]", "only = [\"galaxy\"]", "`galaxy` is not a scale"),
        ("algorithm-1", "name = \"low ours\"", "name = \"low theirs\"", "appears twice"),
        ("algorithm-1", "[certify]", "include = \"fig-l2\"\n[certify]", "includes another file"),
        (
            "fig-l2",
            "curves = [\"low theirs\", \"low ours\"]",
            "curves = [\"who\"]",
            "there is no network `who`",
        ),
        (
            "fig-l2",
            "second = \"low theirs\"",
            "second = \"high theirs\"",
            "no network `high theirs` is shown",
        ),
        ("fig-l2", "radius = 0.2", "radius = 0.3", "radius 0.3 is not in l2"),
        ("fig-l2", "linf = [0.0, 0.01]\n", "", "linf: no radii"),
        ("fig-l2", "l2_to = 2.0", "l2_to = -2.0", "scale paper: l2_to"),
        ("fig-l2", "l2_to = 2.0", "colour = 2.0", "colour"),
    ] {
        let name = format!("e/{file}.toml");
        let good = bench.read(&name);
        assert!(good.contains(from), "{from}");
        bench.write(&name, good.replacen(from, to, 1));
        let run = bench.run("reproduce fig-l2 --experiments e --results r --runs n");
        assert!(run.code == 2 && run.stderr.contains(word) && !bench.path("r").exists(), "{word}: {run:?}");
        bench.write(&name, good);
    }
}

#[test]
fn a_dry_run_counts_networks_once_and_makes_nothing() {
    let bench = bench();
    super::networks::experiments(&bench);
    for name in ["fig-tradeoff", "fig-linf"] {
        bench.write(&format!("e/{name}.toml"), OTHER);
    }
    let run = bench.run("reproduce --all --dry-run --experiments e --results r --runs n --scale smoke");
    assert_eq!(run.code, 0, "{run:?}");
    let row = |name: &str| -> Vec<&str> {
        let row = run.stdout.lines().find(|row| row.split_whitespace().next() == Some(name));
        row.expect("a row").split_whitespace().skip(1).take(3).collect()
    };
    assert_eq!(
        (row("fig-tradeoff"), row("fig-mwu-psd")),
        (vec!["9", "9", "3"], vec!["12", "12", "0"]),
        "{run:?}"
    );
    for name in ["fig-l2", "fig-l2-app", "fig-linf"] {
        assert_eq!(row(name)[2], "0", "trained for the first figure: {run:?}");
    }
    assert_eq!(
        (row("table-networks")[2], row("fig-adv-examples")[2], row("all")[2]),
        ("2", "1", "6"),
        "{run:?}"
    );
    assert!(!bench.path("r").exists() && !bench.path("n").exists(), "nothing is made");
    // What is there, for this figure or another, takes no more time.
    assert_eq!(bench.run("reproduce fig-l2 --experiments e --results r --runs n --scale smoke").code, 0);
    let line = "reproduce fig-l2-app --dry-run --experiments e --results r --runs n --scale smoke";
    let found = bench.run(&format!("{line} --json")).json();
    assert_eq!(
        (found["name"].as_str(), found["runs"].as_u64(), found["missing"].as_u64()),
        (Some("fig-l2-app"), Some(9), Some(9))
    );
    let networks = found["networks"].as_array().expect("a list");
    assert_eq!(networks.len(), 3, "{found}");
    for network in networks {
        let there = network["network"] != "high theirs";
        assert_eq!(network["trained"], there, "{network}");
        for key in ["training_seconds", "certification_seconds"] {
            assert_eq!(network[key].as_f64().expect("a time") == 0.0, there, "{key}: {network}");
        }
    }
    // Data that are not installed cost their own networks the time.
    let text = bench.read("e/algorithm-1.toml").replacen("\"fashion\"", "\"nowhere/at-all\"", 1);
    bench.write("e/algorithm-1.toml", text);
    let run = bench.run(line);
    assert!(run.code == 0 && run.stderr.contains("are not timed") && run.stdout.contains('?'), "{run:?}");
}

#[cfg(unix)]
#[test]
fn kills_change_no_record() {
    let line = "reproduce fig-l2-app --experiments e --results r --runs n";
    let [whole, broken] = [bench(), bench()];
    assert_eq!(whole.run(line).code, 0);
    // Killed ever later, children with their parent, until it comes to its end.
    let mut patience = std::time::Duration::from_millis(60);
    let mut kills = 0;
    loop {
        let mut child = broken.spawn(line, std::process::Stdio::null());
        let deadline = std::time::Instant::now() + patience;
        let mut ended = None;
        while ended.is_none() && std::time::Instant::now() < deadline {
            std::thread::sleep(std::time::Duration::from_millis(5));
            ended = child.try_wait().expect("a process");
        }
        if let Some(status) = ended {
            assert_eq!(status.code(), Some(0));
            break;
        }
        child.kill().expect("killed");
        child.wait().expect("gone");
        kills += 1;
        patience = patience * 5 / 4;
    }
    assert!(kills > 3, "{kills}");
    let without_times = |bench: &Bench| -> Vec<Value> {
        let mut records = lines(bench, "r/fig-l2-app.desk.jsonl");
        for record in &mut records {
            forget_times(record);
        }
        records
    };
    assert_eq!(without_times(&broken), without_times(&whole));
    for name in ["md", "svg"] {
        let [one, other] = [&broken, &whole].map(|bench| bench.read(&format!("r/fig-l2-app.desk.{name}")));
        assert_eq!(without_minutes(&one), without_minutes(&other));
    }
}

/// Times differ, and how often a run was taken up again.
fn forget_times(value: &mut Value) {
    const TIMES: [&str; 6] = ["seconds", "seconds_wall", "processor_seconds", "rate", "resumed", "draws"];
    if let Some(object) = value.as_object_mut() {
        TIMES.iter().for_each(|key| drop(object.remove(*key)));
        object.values_mut().for_each(forget_times);
    }
}

/// A table without the column of times.
fn without_minutes(text: &str) -> String {
    let row = |line: &str| {
        let mut cells: Vec<&str> = line.split('|').collect();
        if cells.len() > 6 {
            cells.remove(5);
        }
        cells.join("|")
    };
    text.lines().map(row).collect::<Vec<_>>().join("\n")
}
