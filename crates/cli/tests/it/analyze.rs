//! `analyze`: tables, files, figures, and what is refused.

use crate::records::{derived, made_up, sealed};
use crate::support::{Bench, Run, unwrapped};
use gambeson::analyze::AnalyzeParams;
use gambeson::{Context, ContextParams};
use gambeson_testing::reference_data;
use serde_json::{Value, json};

/// Inputs of the data that records here are about.
const INPUTS: u64 = 3;
const LOG: &str = "idx\tlabel\tpredict\tradius\tcorrect\ttime\n0\t3\t3\t0.5\t1\t1\n1\t3\t4\t0.9\t0\t1\n\
                   2\t3\t-1\t0.0\t0\t1\n3\t1\t1\t0.3\t1\t1\n";
const OTHER: &str = "idx\tlabel\tpredict\tradius\tcorrect\ttime\n0\t3\t3\t0.2\t1\t1\n1\t3\t3\t0.2\t1\t1\n\
                     2\t3\t3\t0.2\t1\t1\n3\t1\t-1\t0.0\t0\t1\n";

/// A record as `certify` writes it.
fn record(index: u64, label: Option<u32>, estimation: [u64; 2]) -> Value {
    let record = json!({
        "index": index, "label": label, "selection": [1, 9], "estimation": estimation, "encoding_error": 0.0,
        "class": null, "latent": null, "l2": null, "linf": null, "seconds": 0.1
    });
    derived(&made_up("certification", INPUTS, &json!({})), &record)
}

/// A file of these records, of a run with these changes.
fn run_of(records: &[Value], changes: &Value) -> String {
    sealed(&made_up("certification", INPUTS, changes), records)
}

fn objects(run: &Run) -> Vec<Value> {
    assert_eq!(run.code, 0, "{run:?}");
    run.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn one_object_a_log_with_the_keys_promised() {
    let bench = Bench::new();
    bench.write("a.tsv", LOG);
    bench.write("b.tsv", OTHER);
    let all = objects(&bench.run("analyze a.tsv b.tsv --radii 0,0.25,1/2 --envelope --json"));
    let pick = |object: &Value| {
        let keys = ["source", "images", "radii", "certified_accuracy", "acr", "abstained"];
        keys.map(|key| object.get(key).cloned().expect(key))
    };
    let radii = json!([0.0, 0.25, 0.5]);
    let acr = json!((0.5 + 0.3) / 4.0);
    assert_eq!(
        pick(&all[0]),
        [json!("a.tsv"), json!(4), radii.clone(), json!([0.5, 0.5, 0.25]), acr, json!(0.25)]
    );
    assert_eq!(pick(&all[1])[3..4], [json!([0.75, 0.0, 0.0])]);
    assert_eq!(pick(&all[2])[..4], [json!("envelope"), json!(null), radii, json!([0.75, 0.5, 0.25])]);
    assert_eq!(all[2]["best"], json!(["b.tsv", "a.tsv", "a.tsv"]));
    assert_eq!(all.len(), 3);
    // Default radii go up to the largest.
    assert_eq!(objects(&bench.run("analyze a.tsv --json"))[0]["radii"], json!([0.0, 0.25, 0.5]));
}

/// What the program prints and writes is what the library returns.
#[test]
fn the_library_says_the_same() {
    let bench = Bench::new();
    bench.write("a.tsv", LOG);
    bench.write("b.tsv", OTHER);
    let (a, b) = (bench.path("a.tsv"), bench.path("b.tsv"));
    let more = "--envelope --paired --sigma 0.25 --csv t.csv --json";
    let run = bench.run(&format!("analyze {} {} {more}", a.display(), b.display()));
    let own = AnalyzeParams::default();
    let params = AnalyzeParams { envelope: true, paired: true, sigma: Some(0.25), ..own };
    let context = Context::new(ContextParams::default()).expect("threads");
    let found = gambeson::analyze(&context, &[a, b], &params).expect("an analysis");
    assert_eq!(Value::Array(objects(&run)), serde_json::to_value(&found).expect("JSON"));
    assert_eq!(bench.read("t.csv"), found.csv());
}

#[test]
fn tables_and_figures_show_the_same_numbers() {
    let bench = Bench::new();
    bench.write("a.tsv", LOG);
    bench.write("b.tsv", OTHER);
    let run = bench.run(
        "analyze a.tsv b.tsv --radii 0,0.25 --rho 0.1 --log-alpha 0.001 --envelope --markdown t.md --latex t.tex \
         --csv t.csv --figure t.svg",
    );
    assert_eq!(run.code, 0, "{run:?}");
    let row = |name: &str| -> Vec<String> {
        let line = run.stdout.lines().find(|line| line.trim_start().starts_with(name)).expect(name);
        line.split_whitespace().map(str::to_owned).collect()
    };
    assert_eq!(row("a "), ["a", "4", "0.500", "0.500*", "0.200", "0.250"]);
    assert_eq!(row("b "), ["b", "4", "0.750*", "0.000", "0.150", "0.250"]);
    assert_eq!(row("envelope"), ["envelope", "0.750", "0.500"]);
    assert_eq!(row("exact"), ["exact", "0.500", "0.500"], "none of four is false but with probability 0.004");
    let markdown = bench.read("t.md");
    assert!(markdown.contains("| log | images | r = 0 | r = 0.25 | ACR | abstained |"), "{markdown}");
    assert!(markdown.contains("| b | 4 | 0.750* | 0.000 | 0.150 | 0.250 |"), "{markdown}");
    assert!(markdown.contains("Made by `gambeson analyze a.tsv b.tsv --radii 0,0.25 "), "{markdown}");
    assert!(bench.read("t.tex").contains("b & 4 & 0.750* & 0.000 & 0.150 & 0.250 \\\\"));
    let csv = "source,images,acr,abstained,0,0.25\na.tsv,4,0.2,0.25,0.5,0.5\n";
    assert!(bench.read("t.csv").starts_with(csv), "{}", bench.read("t.csv"));
    let svg = bench.read("t.svg");
    assert!(svg.matches("<polyline").count() >= 3 && svg.contains(">envelope</text>"), "{svg}");
    assert_eq!(bench.run("analyze a.tsv --figure t.png").code, 0);
    assert!(bench.read_bytes("t.png").starts_with(b"\x89PNG"));
}

#[test]
fn records_are_certified_again_and_shards_merged() {
    let bench = Bench::new();
    let none = json!({});
    let sure = record(0, Some(1), [0, 1000]);
    let first = [sure.clone(), record(2, Some(1), [100, 900])];
    bench.write("a.jsonl", run_of(&first, &none));
    bench.write("b.jsonl", run_of(&[record(1, Some(1), [450, 550]), sure.clone()], &none));
    let run = bench.run("analyze a.jsonl b.jsonl --json");
    let strict = objects(&run);
    assert_eq!((strict.len(), &strict[0]["images"], &strict[0]["alpha"]), (1, &json!(3), &json!(0.001)));
    let acr = |objects: &[Value]| objects[0]["acr"].as_f64().expect("a number");
    let loose = objects(&bench.run("analyze a.jsonl b.jsonl --alpha 0.05 --json"));
    let mixture = objects(&bench.run("analyze a.jsonl b.jsonl --method mixture --json"));
    let linf = objects(&bench.run("analyze a.jsonl b.jsonl --norm linf --json"));
    assert!(acr(&loose) > acr(&strict) && acr(&mixture) < acr(&strict));
    assert!((acr(&linf) * 10.0 - acr(&strict)).abs() < 1e-12, "by the root of 100 coordinates");
    // All 1000 draws right: p_A is at least α^(1/n).
    let largest = strict[0]["p_a"]["lower_limits"][6].as_f64().expect("a number");
    assert!((largest - 0.001_f64.powf(0.001)).abs() < 1e-12, "{largest}");
    // α of the records serves --rho.
    assert_eq!(
        objects(&bench.run("analyze a.jsonl --rho 0.1 --json"))[0]["high_probability"]["alpha"],
        json!(0.001)
    );

    bench.write("c.jsonl", run_of(&[record(1, Some(1), [449, 551])], &none));
    let run = bench.run("analyze a.jsonl b.jsonl c.jsonl");
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("c.jsonl, line 2: input 1 has other counts in b.jsonl, line 2"), "{run:?}");
    bench.write("cut.jsonl", run_of(&[sure], &none) + "{\"run\":\"01");
    let run = bench.run("analyze cut.jsonl");
    assert!(run.code == 0 && run.stderr.contains("cut.jsonl, line 3: cut off, ignored"), "{run:?}");
    let mut claimed = record(1, Some(1), [0, 1000]);
    claimed["latent"] = 9.0.into();
    bench.write("d.jsonl", run_of(&[&first[..], &[claimed]].concat(), &none));
    let run = bench.run("analyze d.jsonl");
    assert!(run.code == 2 && run.stderr.contains("d.jsonl, line 4: input 1: latent is 9"), "{run:?}");
    bench.write("e.jsonl", run_of(&[record(2, None, [0, 1000])], &none));
    let run = bench.run("analyze e.jsonl");
    assert!(run.code == 2 && run.stderr.contains("no label for input 2"), "{run:?}");
    assert_eq!(bench.run("analyze e.jsonl --any-class").code, 0);
}

#[test]
fn what_cannot_be_is_refused_with_a_word_what_to_do() {
    let bench = Bench::new();
    bench.write("a.tsv", LOG);
    bench.write("broken.tsv", format!("{LOG}4\t1\t1\t0.\n"));
    bench.write("votes.csv", "idx,label,selection_0,estimation_0\n0,0,1,10\n");
    let cases = [
        ("analyze", "required"),
        ("analyze none.tsv", "none.tsv: No such file"),
        ("analyze broken.tsv", "broken.tsv, line 6: 4 fields, 6 expected"),
        ("analyze a.tsv --radii 0,x", "is not a number"),
        ("analyze a.tsv --radii -1", "not a radius"),
        ("analyze a.tsv --radii 1/0", "not a radius"),
        ("analyze a.tsv --alpha 0", "between 1e-300 and 1"),
        ("analyze a.tsv --alpha 1", "between 1e-300 and 1"),
        ("analyze a.tsv --alpha 5e-324", "between 1e-300 and 1"),
        ("analyze a.tsv --alpha 0.01", "a.tsv: it has no counts"),
        ("analyze a.tsv --method mixture", "a.tsv: it has no counts"),
        ("analyze a.tsv --sigma -1", "positive"),
        ("analyze a.tsv --kappa 0", "positive"),
        ("analyze a.tsv --by-dimension 0", "0 is not in 1"),
        ("analyze a.tsv --norm linf", "give --kappa or --by-dimension"),
        ("analyze a.tsv --norm l2 --kappa 2", "use --norm linf"),
        ("analyze a.tsv --rho 0.001", "give it with --log-alpha"),
        ("analyze votes.csv --alpha 0.001", "--sigma"),
        ("analyze votes.csv --sigma 0.25", "--alpha"),
        ("analyze a.tsv --figure a.pdf", "expected .png, .svg or none"),
        ("analyze a.tsv --csv none/t.csv", "its folder does not exist"),
        ("analyze a.tsv --label one --label two", "2 labels for 1 logs"),
    ];
    for (line, message) in cases {
        let run = bench.run(line);
        assert!(run.code == 2 && run.stderr.contains(message) && run.stdout.is_empty(), "{line}: {run:?}");
    }
}

#[test]
fn cohens_table_is_printed_cell_by_cell_stars_included() {
    let Some(logs) = reference_data("logs") else { return };
    let folder = logs.join("cohen2019");
    let bench = Bench::new();
    let files = ["0.12", "0.25", "0.50", "1.00"]
        .map(|sigma| folder.join(format!("cifar10_sigma_{sigma}.tsv")).display().to_string());
    let line =
        format!("analyze {} --radii 0.25,0.5,0.75,1.0,1.25,1.5 --digits 2 --markdown t.md", files.join(" "));
    assert_eq!(bench.run(&line).code, 0);
    let expected = std::fs::read_to_string(folder.join("expected_table.md")).expect("their table");
    let ours = bench.read("t.md");
    let table: Vec<Vec<&str>> = ours
        .lines()
        .filter(|line| line.starts_with('|'))
        .map(|line| line.split('|').map(str::trim).collect())
        .collect();
    let mut cells = 0;
    for (line, own) in expected.lines().zip(&table) {
        let line = line.replace("<b>*</b>", "*");
        // Their rows do not begin with a bar but the first two do.
        let theirs: Vec<&str> = line.trim_start_matches('|').split('|').skip(1).map(str::trim).collect();
        if theirs[0].starts_with("---") {
            continue;
        }
        // Ours: nothing, log, images, six radii, ACR, abstained, nothing.
        assert_eq!(theirs[..6], own[3..9], "{line}");
        cells += 6;
    }
    assert_eq!(cells, 30, "a header and four rows");
}

#[test]
fn the_committed_table_of_votes_is_what_its_command_makes() {
    let Some(logs) = reference_data("logs") else { return };
    let bench = Bench::new();
    let committed = include_str!("../../../../results/votes2023.md");
    let line =
        committed.lines().find_map(|line| line.strip_prefix("Made by `gambeson ")).expect("its command");
    let line = line.trim_end_matches("`.");
    let data = logs.parent().expect("a folder").display().to_string();
    let run =
        bench.run(&line.replace("$GAMBESON_REFERENCE_DATA", &data).replace("results/votes2023.md", "t.md"));
    assert_eq!(run.code, 0, "{run:?}");
    // What follows is not made by this command.
    let (committed, _) = committed.split_once("\n## ").expect("a section on limits");
    let tables = |text: &str| -> Vec<String> {
        text.lines().filter(|line| !line.starts_with("Made by")).map(str::to_owned).collect()
    };
    assert_eq!(tables(&bench.read("t.md")), tables(committed));
}

#[test]
fn logs_have_the_names_given_to_them() {
    let bench = Bench::new();
    bench.write("a.tsv", LOG);
    bench.write("b.tsv", OTHER);
    let files = |names: &[&str]| names.iter().map(|name| bench.path(name).exists()).collect::<Vec<_>>();
    let run = bench.run("analyze a.tsv b.tsv --label first --label second --markdown t.md --figure t");
    assert_eq!(run.code, 0, "{run:?}");
    assert!(bench.read("t.md").contains("| second | 4 | 0.750* |"), "{}", bench.read("t.md"));
    assert!(run.stdout.contains("\nfirst ") && !run.stdout.contains("\na "), "{run:?}");
    for name in ["first", "second"] {
        assert!(bench.read("t.svg").contains(&format!(">{name}</text>")));
    }
    assert_eq!(files(&["t.svg", "t.png"]), [true, true], "a name without an extension is both");
    assert_eq!(bench.run("analyze a.tsv --figure one.png").code, 0);
    assert_eq!(bench.run("analyze a.tsv --figure two.svg").code, 0);
    assert_eq!(files(&["one.png", "one.svg", "two.svg", "two.png"]), [true, false, true, false]);
}

/// A table of Cohen et al. with ten inputs: the first `right` are right, with these radii.
fn table(right: usize, radius: f64) -> String {
    let line = |i: usize| {
        let (label, good) = (i % 2, i < right);
        let answer = if good { label } else { 1 - label };
        format!("{i}\t{label}\t{answer}\t{radius}\t{}\t0:00:01\n", u8::from(good))
    };
    "idx\tlabel\tpredict\tradius\tcorrect\ttime\n".to_owned() + &(0..10).map(line).collect::<String>()
}

#[test]
fn folders_patterns_and_bad_logs() {
    let bench = Bench::new();
    std::fs::create_dir_all(bench.path("logs/deep")).expect("folders");
    bench.write("logs/sigma_0.25.tsv", table(9, 0.3));
    bench.write("logs/deep/sigma_0.12.tsv", table(10, 0.2));
    let run = bench.run("analyze logs --radii 0,0.25 --json");
    assert_eq!((run.code, run.stdout.lines().count()), (0, 2), "{run:?}");
    let run = bench.run("analyze logs/*.tsv --radii 0 --json");
    assert_eq!((run.code, run.stdout.lines().count()), (0, 1), "{run:?}");
    let run = bench.run("analyze logs/*.csv");
    assert!(run.code == 2 && run.stderr.contains("no files there"), "{run:?}");
    // A log of a header and nothing else stops the rest, unless told otherwise.
    bench.write("logs/empty.tsv", "idx\tlabel\tpredict\tradius\tcorrect\ttime\n");
    bench.write("logs/notes.txt", "nothing of the kind\n");
    assert_eq!(bench.run("analyze logs --radii 0").code, 2);
    let run = bench.run("analyze logs --radii 0,0.25 --skip-bad --json");
    assert_eq!((run.code, run.stdout.lines().count()), (0, 2), "{run:?}");
    assert!(run.stderr.contains("empty.tsv") && run.stderr.contains("notes.txt"), "{run:?}");
    std::fs::create_dir_all(bench.path("none")).expect("a folder");
    bench.write("none/notes.txt", "nothing of the kind\n");
    let run = bench.run("analyze none --skip-bad");
    assert!(run.code == 2 && run.stderr.contains("none of the logs"), "{run:?}");
    // By noise level, from the paths: .12 comes first, and each has an envelope of its own.
    let run = bench.run("analyze logs --radii 0,0.25 --skip-bad --by-sigma --envelope");
    let text = unwrapped(&run.stdout);
    let small = text.find("sigma_0.12").expect("named");
    assert!(run.code == 0 && small < text.find("sigma_0.25").expect("named"), "{run:?}");
    assert!(text.contains("0.12 0.25 0.000 1.000") && text.contains("0.25 0.25 0.900 0.900"), "{run:?}");
}

#[test]
fn two_logs_are_compared_input_by_input_and_classes_are_told_apart() {
    let bench = Bench::new();
    bench.write("a.tsv", table(9, 0.3));
    bench.write("b.tsv", table(2, 0.3));
    let run = bench.run("analyze a.tsv b.tsv --radii 0,0.5 --paired --per-class --json");
    let lines: Vec<serde_json::Value> =
        run.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.len(), 3, "{run:?}");
    let paired = &lines[2];
    assert_eq!(
        (&paired["both"][0], &paired["only_first"][0], &paired["only_second"][0]),
        (&2.into(), &7.into(), &0.into())
    );
    // 7 of 7: 2/2⁷. The difference is .7, and given seven differing inputs it is at most that.
    let number = |value: &serde_json::Value| value.as_f64().expect("a number");
    assert!((number(&paired["p_value"][0]) - 2.0 / 128.0).abs() < 1e-12, "{paired}");
    assert!(
        (number(&paired["difference"][0]) - 0.7).abs() < 1e-12 && number(&paired["high"][0]) >= 0.7 - 1e-12
    );
    assert!(number(&paired["low"][0]) > 0.0 && number(&paired["p_value"][1]) == 1.0);
    // Even labels are class 0: five of each, of the first log all but the last (index 9, class 1).
    assert_eq!(lines[0]["per_class"][0]["certified_accuracy"][0], 1.0);
    assert_eq!(
        (&lines[0]["per_class"][1]["images"], &lines[0]["per_class"][1]["certified_accuracy"][0]),
        (&5.into(), &0.8.into())
    );
    let run = bench.run("analyze a.tsv b.tsv --radii 0 --paired --per-class");
    assert!(run.code == 0 && unwrapped(&run.stdout).contains("McNemar"), "{run:?}");
    let run = bench.run("analyze a.tsv --paired");
    assert!(run.code == 2 && run.stderr.contains("compares two logs"), "{run:?}");
    bench.write("c.tsv", table(9, 0.3).replace("\n0\t0\t0\t", "\n0\t1\t1\t"));
    let run = bench.run("analyze a.tsv c.tsv --radii 0 --paired");
    assert!(run.code == 2 && run.stderr.contains("labels for input 0"), "{run:?}");
}

/// Predictions as `predict` writes them, of two inputs of these data.
fn predictions(data: &str) -> String {
    let line = |index: u64| json!({ "index": index, "label": 1, "counts": [0, 1000], "none": 0, "class": 1, "seconds": 0.1 });
    sealed(&made_up("prediction", INPUTS, &json!({ "data": data })), &[line(0), line(1)])
}

#[test]
fn logs_of_other_data_are_not_compared() {
    let bench = Bench::new();
    for data in ["d", "e"] {
        let changes = json!({ "data": data });
        let records = [0, 1].map(|index| record(index, Some(1), [0, 1000]));
        bench.write(&format!("{data}.jsonl"), run_of(&records, &changes));
        bench.write(&format!("p{data}.jsonl"), predictions(data));
    }
    // As many images, of the same numbers and labels; but other ones.
    for logs in ["d.jsonl e.jsonl", "pd.jsonl pe.jsonl", "d.jsonl pe.jsonl"] {
        let run = bench.run(&format!("analyze {logs} --radii 0"));
        let text = unwrapped(&run.stdout);
        assert!(run.code == 0 && text.contains("Not compared:") && text.contains("(d and e)"), "{run:?}");
        assert!(!text.contains('*'), "{run:?}");
        for verb in ["--envelope", "--paired"] {
            if verb == "--paired" && logs.contains('p') {
                continue; // predictions have no radii to compare
            }
            let run = bench.run(&format!("analyze {logs} --radii 0 {verb}"));
            let words = format!("{verb}: ");
            let text = unwrapped(&run.stderr);
            assert!(run.code == 2 && text.contains(&words) && text.contains("--mixed"), "{run:?}");
            assert_eq!(bench.run(&format!("analyze {logs} --radii 0 {verb} --mixed")).code, 0, "{verb}");
        }
        let mixed = bench.run(&format!("analyze {logs} --radii 0 --mixed"));
        assert!(mixed.code == 0 && mixed.stdout.contains('*'), "{mixed:?}");
    }
    // Of the same data they are.
    let run = bench.run("analyze d.jsonl pd.jsonl --radii 0");
    assert!(run.code == 0 && run.stdout.contains('*'), "{run:?}");
    bench.write("f.jsonl", run_of(&[record(0, Some(1), [100, 900])], &json!({ "seed": 2 })));
    let run = bench.run("analyze d.jsonl f.jsonl --radii 0 --paired");
    assert!(run.code == 0, "pairs are of the inputs that both have: {run:?}");
}

/// Whoever leaves out of both logs what both find hard changes no accuracy, and no comparison.
#[test]
fn inputs_that_two_runs_lack_count_in_both() {
    let bench = Bench::new();
    let (right, wrong) = ([0, 1000], [600, 400]);
    let run = |seed: u64, records: &[Value]| run_of(records, &json!({ "seed": seed }));
    let whole = |counts: [[u64; 2]; 3]| -> Vec<Value> {
        (0..INPUTS).zip(counts).map(|(index, counts)| record(index, Some(1), counts)).collect()
    };
    let (first, second) = (whole([right, right, wrong]), whole([right, wrong, wrong]));
    bench.write("a.jsonl", run(1, &first));
    bench.write("b.jsonl", run(2, &second));
    bench.write("a-cut.jsonl", run(1, &first[..2]));
    bench.write("b-cut.jsonl", run(2, &second[..2]));
    let lines = ["0\t1\t1\t0.5", "1\t1\t0\t0.5", "2\t1\t0\t0.5"];
    let lines = lines.map(|line| format!("{line}\t{}\t1\n", u8::from(line.starts_with('0'))));
    bench.write("c.tsv", "idx\tlabel\tpredict\tradius\tcorrect\ttime\n".to_owned() + &lines.concat());
    for logs in ["a.jsonl b.jsonl", "a-cut.jsonl b-cut.jsonl", "a.jsonl b-cut.jsonl", "a-cut.jsonl c.tsv"] {
        let found = objects(&bench.run(&format!("analyze {logs} --radii 0 --paired --json")));
        assert_eq!(found[0]["not_compared"], Value::Null, "{logs}");
        let accuracy = [0, 1].map(|at| found[at]["certified_accuracy"][0].as_f64().expect("a number"));
        assert_eq!((&found[0]["images"], accuracy), (&json!(3), [2.0 / 3.0, 1.0 / 3.0]), "{logs}");
        let pairs = ["inputs", "both", "only_first", "only_second"].map(|key| found[2][key].clone());
        // The log of another program says of all three inputs what became of them.
        assert_eq!(pairs, [json!(3), json!([1]), json!([1]), json!([0])], "{logs}");
        assert!((found[2]["difference"][0].as_f64().expect("a number") - 1.0 / 3.0).abs() < 1e-12, "{logs}");
    }
    // As many inputs planned, but other ones: that neither has a record of them does not make them the same.
    let of = |start: u64, records: &[Value]| {
        let mut head = made_up("certification", 5, &json!({ "seed": start }));
        (head["selection"]["start"], head["selection"]["stop"]) = (start.into(), (start + 3).into());
        head["selection"]["count"] = 3.into();
        sealed(&head, records)
    };
    bench.write("d.jsonl", of(0, &first[2..]));
    bench.write("e.jsonl", of(2, &second[2..]));
    let found = objects(&bench.run("analyze d.jsonl e.jsonl --radii 0 --json"));
    assert!(
        found[0]["not_compared"].as_str().is_some_and(|text| text.contains("different images")),
        "{found:?}"
    );
}

#[test]
fn the_distribution_of_limits_is_shown_over_correct_predictions_too() {
    let bench = Bench::new();
    // Nine right with a radius of a sigma, one wrong with a far larger one.
    let wrong = table(9, 0.25).replace("9\t1\t0\t0.25", "9\t1\t0\t0.75");
    bench.write("a.tsv", wrong);
    let json = bench.run("analyze a.tsv --sigma 0.25 --radii 0 --json").json();
    let last = |field: &str| json[field]["lower_limits"][6].as_f64().expect("a number");
    assert!(last("p_a") > 0.99 && (last("p_a_correct") - 0.841_344_7).abs() < 1e-5, "{json}");
    let text = unwrapped(&bench.run("analyze a.tsv --sigma 0.25 --radii 0").stdout);
    assert!(text.contains("over correct predictions only"), "{text}");
}
