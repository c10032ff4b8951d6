//! The numbers of a page are those of `analyze`; its files and exit codes.

use super::{MODELS, certify, island, ok, with_network};
use crate::support::Bench;
use gambeson::{Context, ContextParams, ReportParams, report};
use serde_json::Value;

/// Certified accuracy at a radius, looked up as the script does.
fn looked_up(steps: &Value, radius: f64) -> (u64, String) {
    let numbers = |key: &str| steps[key].as_array().expect("a list").clone();
    let at = numbers("values").iter().position(|value| value.as_f64().expect("a number") >= radius);
    at.map_or((0, "0.0".to_owned()), |at| {
        let percent = numbers("percent")[at].as_str().expect("a text").to_owned();
        (numbers("counts")[at].as_u64().expect("a count"), percent)
    })
}

#[test]
fn every_number_of_the_page_is_that_of_analyze() {
    let bench = Bench::new();
    with_network(&bench);
    certify(&bench, "0.25", "low.jsonl");
    certify(&bench, "0.5", "high.jsonl");
    let report = ok(bench.run("report low.jsonl high.jsonl --json")).json();
    let html = bench.read("report.html");
    assert_eq!(report["bytes"].as_u64(), Some(html.len() as u64));
    assert_eq!((&report["out"], &report["problems"]), (&"report.html".into(), &Value::Array(vec![])));
    let data = island(&html);
    let section = &data["certified"];
    for (at, norm) in ["l2", "linf"].into_iter().enumerate() {
        let radii: Vec<f64> =
            (0..60).map(|at| f64::from(at) * if norm == "l2" { 0.025 } else { 0.003 }).collect();
        let list = radii.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
        let line = format!("analyze low.jsonl high.jsonl --norm {norm} --per-class --radii {list} --json");
        let logs: Vec<Value> = ok(bench.run(&line))
            .stdout
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect();
        for (run, log) in logs.iter().enumerate() {
            let curve = &section["norms"][at]["curves"][run];
            let images = log["images"].as_u64().expect("a count");
            assert_eq!(curve["all"]["total"].as_u64(), Some(images));
            for (place, &radius) in radii.iter().enumerate() {
                let share = log["certified_accuracy"][place].as_f64().expect("a share");
                let (count, percent) = looked_up(&curve["all"], radius);
                assert_eq!(count as f64 / images as f64, share, "{norm} {radius}");
                assert_eq!(
                    percent,
                    format!("{:.1}", (1000.0 * share + 1e-9).floor() / 10.0),
                    "{norm} {radius}"
                );
                for (class, steps) in log["per_class"]
                    .as_array()
                    .expect("classes")
                    .iter()
                    .zip(curve["classes"].as_array().expect("classes"))
                {
                    let images = class["images"].as_u64().expect("a count");
                    let share = class["certified_accuracy"][place].as_f64();
                    let (count, _) = looked_up(steps, radius);
                    assert_eq!(
                        Some(count as f64 / images as f64),
                        share,
                        "{norm} {radius} {}",
                        class["label"]
                    );
                }
            }
        }
        // The largest radius counts at itself, and not beyond.
        let largest = section["norms"][at]["curves"][0]["all"]["values"]
            .as_array()
            .and_then(|all| all.last()?.as_f64())
            .expect("a radius");
        let line =
            format!("analyze low.jsonl --norm {norm} --radii {largest},{} --json", largest * (1.0 + 1e-15));
        let log = ok(bench.run(&line)).json();
        let count = looked_up(&section["norms"][at]["curves"][0]["all"], largest).0;
        assert_eq!(log["certified_accuracy"][0].as_f64(), Some(count as f64 / 40.0));
        assert_eq!(log["certified_accuracy"][1].as_f64(), Some(0.0));
    }
    // κ was proven from the projection beside the records, and the same files give the same page.
    assert!(html.contains("proven again here from projection.safetensors"));
    ok(bench.run("report low.jsonl high.jsonl --out again.html"));
    assert!(html == bench.read("again.html"), "the page is a function of the files");
    // The inputs say what the records say.
    let inputs = &data["inputs"];
    for (run, name) in ["low.jsonl", "high.jsonl"].into_iter().enumerate() {
        let records: Vec<Value> =
            bench.read(name).lines().skip(1).map(|line| serde_json::from_str(line).expect("JSON")).collect();
        for (input, record) in inputs["inputs"].as_array().expect("inputs").iter().zip(&records) {
            let answer = &input["answers"][run];
            for key in ["class", "selection", "estimation"] {
                assert_eq!(answer[key], record[key], "{name} {}", record["index"]);
            }
            assert_eq!((&input["index"], &input["label"]), (&record["index"], &record["label"]));
            let shown: f64 = answer["radii"][0].as_str().expect("a radius").parse().expect("a number");
            let radius = record["l2"].as_f64().unwrap_or(0.0);
            assert!(shown <= radius && shown >= radius * (1.0 - 1e-5), "{shown} for {radius}");
            class_leads(answer);
        }
    }
}

/// Whether the limits of an answer prove that its class leads, where it is certified, and hold for the counts.
fn class_leads(answer: &Value) {
    let Some(class) = answer["class"].as_u64() else { return };
    let limit =
        |key: &str| answer[key].as_str().map(|text| text.parse::<f64>().expect("a decimal rounded outwards"));
    let (own, others) = (limit("limit").expect("a class was chosen"), limit("others_limit"));
    let counts: Vec<f64> =
        answer["estimation"].as_array().expect("counts").iter().filter_map(Value::as_f64).collect();
    let is_own = |at: usize| at as u64 == class;
    let count = |own: bool| {
        let counts = counts.iter().enumerate().filter(|(at, _)| is_own(*at) == own);
        counts.map(|(_, count)| *count).fold(0.0, f64::max)
    };
    assert!(own > others.unwrap_or(0.5) && own * 300.0 < count(true), "{answer}");
    assert!(others.is_none_or(|limit| limit * 300.0 > count(false)), "{answer}");
}

#[test]
fn pages_are_small_and_stay_below_their_limit() {
    let bench = Bench::new();
    with_network(&bench);
    certify(&bench, "0.5", "run.jsonl");
    let bytes = |line: &str| ok(bench.run(line)).json()["bytes"].as_u64().expect("bytes");
    let whole = bytes("report run.jsonl --json");
    let few = bytes("report run.jsonl --inputs 10 --json --out few.html");
    assert!(whole < 200_000 && few < whole, "{whole} and {few} bytes");
    let html = bench.read("few.html");
    assert_eq!(html.matches("<img ").count(), 10);
    assert!(html.contains("10 of 40 inputs, evenly chosen"));
    // What the page itself needs: style and script.
    assert!(html.split("<script>").nth(1).is_some_and(|script| (15_000..25_000).contains(&script.len())));
}

#[test]
fn the_program_prints_what_the_library_returns() {
    let bench = Bench::new();
    with_network(&bench);
    certify(&bench, "0.5", "run.jsonl");
    let context = Context::new(ContextParams::default()).expect("threads");
    let own = report(&context, &[bench.path("run.jsonl")], ReportParams::default()).expect("a page");
    let mut own = serde_json::to_value(&own).expect("JSON");
    let mut printed = ok(bench.run(&format!("report {} --json", bench.path("run.jsonl").display()))).json();
    // Lines for a shell are the program's, and make its page larger.
    assert!(printed["bytes"].as_u64() > own["bytes"].as_u64());
    for object in [&mut own, &mut printed] {
        object.as_object_mut().expect("an object").retain(|key, _| !["bytes", "out"].contains(&key.as_str()));
    }
    assert_eq!(printed, own);
}

#[test]
fn folders_of_training_give_curves_and_the_spec() {
    let bench = Bench::new();
    bench.write(
        "small.toml",
        "[data]\nname = \"fashion\"\nsamples = 256\nevaluate = 50\n[model]\nfamily = \"cnn\"\nwidth = 4\n[noise]\nsigma = 0.5\n\
         [objective]\nkind = \"gaussian\"\n[optimiser]\nepochs = 3\nlearning_rate = 0.1\n",
    );
    let trained = ok(bench.run("train small.toml --out run"));
    assert!(trained.stdout.contains("report       run/report.html"), "{trained:?}");
    let page = bench.read("run/report.html");
    assert!(page.contains("Training of run") && page.contains("kind = &quot;gaussian&quot;"), "{page}");
    let metrics: Vec<Value> = bench
        .read("run/metrics.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let run = &island(&page)["training"]["runs"][0];
    for (at, epoch) in metrics.iter().enumerate() {
        assert_eq!(run["epochs"][at], epoch["epoch"]);
        assert_eq!(run["loss"][at], format!("{:.4}", epoch["loss"].as_f64().expect("a loss")));
    }
    // Records beside it are the same run: one name, one colour.
    ok(bench.run("certify --model run/network.safetensors --data fashion --sigma 0.5 --every 100 --n 100 --out run/certified.jsonl"));
    let report = ok(bench.run("report run --json")).json();
    let runs = report["runs"].as_array().expect("runs");
    assert_eq!(runs.len(), 2, "{report}");
    assert!(runs.iter().all(|it| it["label"] == "run"), "{report}");
    let kinds: Vec<&Value> =
        report["sections"].as_array().expect("sections").iter().map(|it| &it["kind"]).collect();
    assert_eq!(kinds, ["certified", "inputs", "training", "facts", "facts"]);
    // The same training again replaces its own page, and nobody else's.
    ok(bench.run("train small.toml --out run"));
    bench.write("run/report.html", "<p>my own</p>");
    let refused = bench.run("train small.toml --out run");
    assert!(refused.code == 2 && refused.stderr.contains("--force"), "{refused:?}");
    assert_eq!(bench.read("run/report.html"), "<p>my own</p>");
}

#[test]
fn logs_of_other_programs_are_shown_as_far_as_they_go() {
    let bench = Bench::new();
    bench.write("a.tsv", "idx\tlabel\tpredict\tradius\tcorrect\ttime\n0\t3\t3\t0.5\t1\t1\n1\t3\t4\t0.9\t0\t1\n2\t3\t-1\t0.0\t0\t1\n");
    let report = ok(bench.run("report a.tsv --json")).json();
    assert_eq!(report["runs"][0]["inputs"], 3);
    let html = bench.read("report.html");
    let steps = &island(&html)["certified"]["norms"][0]["curves"][0]["all"];
    assert_eq!(
        (&steps["values"][0], &steps["counts"][0], &steps["total"]),
        (&0.5.into(), &1.into(), &3.into())
    );
    assert!(html.contains("the logs do not say which data"), "no pictures, and why");
    assert_eq!(html.matches("<img ").count(), 0);
}

#[test]
fn files_are_guarded_and_errors_are_clear() {
    let bench = Bench::new();
    with_network(&bench);
    certify(&bench, "0.5", "run.jsonl");
    let error = |line: &str, words: &[&str]| {
        let run = bench.run(line);
        assert_eq!(run.code, 2, "{line}: {run:?}");
        for word in words {
            assert!(run.stderr.contains(word), "{line}, {word}: {run:?}");
        }
    };
    error("report run.jsonl --out run.jsonl", &["run.jsonl", "would destroy"]);
    bench.write("notes.html", "<p>my own</p>");
    error("report run.jsonl --out notes.html", &["notes.html", "--force"]);
    assert_eq!(bench.read("notes.html"), "<p>my own</p>");
    ok(bench.run("report run.jsonl --out notes.html --force"));
    error("report missing", &["missing: no such file"]);
    error("report", &["RUN"]);
    error("report run.jsonl --label a --label b", &["2 labels for 1 runs"]);
    // Names go with the runs in the order in which these were named, also to a training that has no records.
    std::fs::create_dir(bench.path("trained")).expect("a folder");
    bench.write("trained/metrics.jsonl", "");
    bench.write(
        "trained/spec.toml",
        "[data]\nname = \"fashion\"\n[model]\nfamily = \"cnn\"\nwidth = 4\n[noise]\nsigma = 0.5\n[objective]\nkind = \
         \"gaussian\"\n[optimiser]\nepochs = 3\nlearning_rate = 0.1\n",
    );
    ok(bench.run("report trained run.jsonl --label training --label records --out named.html --force"));
    let page = bench.read("named.html");
    assert!(page.contains("</svg> records</h3>") && page.contains("</svg> training</h3>"), "{page}");
    let certified = &page[page.find("class=\"certified-section\"").expect("curves")..];
    let legend = &certified[..certified.find("</section>").expect("its end")];
    assert!(legend.contains("records") && !legend.contains("training"), "the curve is that of the records");
    error("report run.jsonl --out nowhere/report.html", &["its folder does not exist"]);
    error("report notes.html", &["nothing to report on", "not a known log"]);
    std::fs::create_dir(bench.path("empty")).expect("a folder");
    error("report empty", &["empty: no files there"]);
    for line in ["report -h", "report --help"] {
        let help = ok(bench.run(line)).stdout;
        assert!(help.lines().all(|line| line.chars().count() <= 80), "{help}");
    }
    let named = ok(bench.run("report run.jsonl --title Mine --label ours")).stdout;
    assert!(named.contains("Mine") && named.contains("ours: run.jsonl, 40 inputs"), "{named}");
    let _ = MODELS;
}

#[test]
fn one_record_is_drawn_again_by_its_number() {
    let bench = Bench::new();
    with_network(&bench);
    certify(&bench, "0.5", "run.jsonl");
    let check =
        "check run.jsonl --model network.safetensors --data fashion --projection projection.safetensors";
    let found = ok(bench.run(&format!("{check} --input 50 --json"))).json();
    assert_eq!(
        (&found["verdict"], &found["checked"], &found["draws"]),
        (&"sampled".into(), &1.into(), &400.into())
    );
    let missing = bench.run(&format!("{check} --input 51"));
    assert!(missing.code == 2 && missing.stderr.contains("input 51 has no record"), "{missing:?}");
    let both = bench.run(&format!("{check} --input 50 --all"));
    assert!(both.code == 2 && both.stderr.contains("cannot be used with"), "{both:?}");
}
