//! `train` on the command line.

use super::SPEC;
use crate::support::Bench;
use std::process::{Command, Stdio};
use std::time::Duration;

#[test]
fn killed_at_ten_moments_it_ends_with_the_same_network() {
    let bench = Bench::new();
    bench.write("s.toml", SPEC);
    let run = bench.run("train s.toml --out whole --json");
    assert_eq!(run.code, 0, "{run:?}");
    let whole = run.json();
    assert!(whole["finished"] == true && whole["rank"] == 20 && whole["sigma"] == 0.3, "{whole}");
    assert_eq!(whole["grid"], serde_json::json!([1, 8, 8]));
    // A run of 300 steps with a checkpoint after each, killed a little after some of them.
    let line = "train s.toml --out broken --checkpoint 0 --set optimiser.epochs=30";
    let run = bench.run("train s.toml --out whole30 --checkpoint 0 --set optimiser.epochs=30");
    assert_eq!(run.code, 0, "{run:?}");
    let written =
        || bench.path("broken/checkpoint.safetensors").metadata().and_then(|file| file.modified()).ok();
    let (mut kills, mut state) = (0, 7_u64);
    while kills < 10 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (steps, later) = (1 + (state >> 40) % 8, (state >> 50) % 3000);
        let mut child = bench.spawn(line, Stdio::null());
        let (mut seen, mut last, mut ended) = (0, written(), false);
        while seen < steps && !ended {
            ended = child.try_wait().expect("a child").is_some();
            let now = written();
            seen += u64::from(now != last);
            last = now;
            std::thread::sleep(Duration::from_micros(100));
        }
        std::thread::sleep(Duration::from_micros(later));
        ended |= child.try_wait().expect("a child").is_some();
        let _ = child.kill();
        let _ = child.wait();
        if ended {
            break; // it came to its end after all
        }
        kills += 1;
    }
    // On a busy machine it may pass checkpoints that nobody sees, and come to its end a little sooner.
    assert!(kills >= 5, "{kills} kills");
    let run = bench.run(line);
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(
        bench.read_bytes("broken/network.safetensors"),
        bench.read_bytes("whole30/network.safetensors")
    );
    // One line per epoch, whatever happened in between.
    assert_eq!(bench.read("broken/metrics.jsonl").lines().count(), 30);
    assert!(bench.path("broken/training.png").exists());
}

#[test]
fn a_stopped_run_says_so_and_goes_on() {
    let bench = Bench::new();
    bench.write("s.toml", SPEC);
    let run = bench.run("train s.toml --time-limit 0");
    assert!(run.code == 1 && run.stderr.contains("goes on"), "{run:?}");
    let run = bench.run("train s.toml");
    assert!(run.code == 0 && run.stderr.contains("going on after step"), "{run:?}");
    assert!(run.stdout.contains("epoch    3") && run.stdout.contains("certify it with"), "{run:?}");
    assert!(run.stdout.lines().all(|line| line.chars().count() <= 80), "{run:?}");
    // Another spec does not go into the same folder.
    let run = bench.run("train s.toml --set seed=4");
    assert!(run.code == 2 && run.stderr.contains("another spec"), "{run:?}");
    let run = bench.run("train s.toml --dry-run --json");
    assert!(
        run.json()["steps"] == 30 && run.json()["rate"].as_f64().is_some_and(|rate| rate > 0.0),
        "{run:?}"
    );
    // A single step of this takes minutes: what it would cost is known before.
    let run = bench.run("train s.toml --dry-run --set objective.steps=1000000000 --set objective.warm_up=9");
    let said = run.stdout.contains("days in all") && run.stdout.contains("extrapolated from steps of");
    assert!(run.code == 0 && said, "{run:?}");
    // Weights of 8 GB are refused before they are made.
    let wide = SPEC.replace("\"cnn\"\nwidth = 4", "\"mlp\"\nhidden = [65536, 32767]");
    bench.write("wide.toml", &wide);
    let run = bench.run("train wide.toml --dry-run --memory-limit 500M");
    assert!(run.code == 2 && run.stderr.contains("memory limit"), "{run:?}");
}

#[test]
fn a_run_killed_at_its_start_goes_on_with_a_whole_pair() {
    let bench = Bench::new();
    bench.write("s.toml", SPEC);
    let check =
        |run: &str| bench.run(&format!("check {run}/projection.safetensors {run}/projection.cert.json"));
    assert_eq!(bench.run("train s.toml --out whole").code, 0);
    // As a kill leaves it behind the first file, and behind the second.
    std::fs::create_dir(bench.path("broken")).expect("a folder");
    bench.write("broken/spec.toml", bench.read("whole/spec.toml"));
    for before in ["spec.toml", "projection.cert.json"] {
        bench.write(&format!("broken/{before}"), bench.read(&format!("whole/{before}")));
        let run = bench.run("train s.toml --out broken --time-limit 0");
        assert!(run.code == 1 && check("broken").code == 0, "{run:?}");
        std::fs::remove_file(bench.path("broken/projection.safetensors")).expect("removed");
    }
    let run = bench.run("train s.toml --out broken");
    assert!(run.code == 0 && check("broken").code == 0, "{run:?}");
    let network = |run: &str| bench.read_bytes(&format!("{run}/network.safetensors"));
    assert_eq!(network("broken"), network("whole"));
    // A projection whose pair was being replaced brings the certificate that is its own.
    let fit = |rank: u32| {
        let line =
            format!("project fit --data fashion --rank {rank} --method axis --grid 8 --out p.safetensors");
        assert_eq!(bench.run(&line).code, 0);
    };
    fit(20);
    let (old, old_certificate) = (bench.read_bytes("p.safetensors"), bench.read_bytes("p.cert.json"));
    fit(21);
    bench.write("p.safetensors", old);
    bench.write("p.cert.json.previous", old_certificate);
    let fitted = "fit = { method = \"axis\", rank = 20, grid = 8 }";
    bench.write("p.toml", SPEC.replace(fitted, "file = \"p.safetensors\""));
    let run = bench.run("train p.toml --out paired --time-limit 0");
    assert!(run.code == 1 && check("paired").code == 0, "{run:?}");
}

#[test]
fn bad_specs_and_full_disks_end_in_clear_errors() {
    let bench = Bench::new();
    for (line, word) in [
        ("--set optimiser.epoch=3", "unknown key `epoch` in [optimiser]; did you mean `epochs`?"),
        ("--set optimiser.epochs=0", "optimiser.epochs = 0: must be at least 1"),
        ("--set noise.sigma=-1", "noise.sigma"),
        ("--set model.family=transformer", "transformer"),
        ("--set data.name=nowhere", "nowhere"),
        ("--set optimiser.batch=10000", "only 640 samples"),
        ("--set projection.fit.rank=70", "70"),
        ("--set epochs", "KEY=VALUE"),
    ] {
        bench.write("s.toml", SPEC);
        let run = bench.run(&format!("train s.toml {line}"));
        assert!(run.code == 2 && run.stderr.contains(word), "{line}: {run:?}");
    }
    bench.write("broken.toml", "[data");
    let run = bench.run("train broken.toml");
    assert!(run.code == 2 && run.stderr.contains("broken.toml"), "{run:?}");
    let run = bench.run("train missing.toml");
    assert!(run.code == 2 && run.stderr.contains("missing.toml"), "{run:?}");
    // Files of at most 8 KiB: the checkpoint does not fit. Nothing half-written is left, and a larger disk goes on.
    let (head, rest) = SPEC.split_once("[projection]").expect("a table");
    let (_, rest) = rest.split_once("[noise]").expect("a table");
    let plain = format!("{head}[noise]{rest}");
    let plain = plain.replace("algorithm-1", "gaussian").replace("epsilon = 0.3\nsteps = 2\n", "");
    bench.write("s.toml", plain);
    let program = env!("CARGO_BIN_EXE_gambeson");
    let script = format!("trap '' XFSZ; ulimit -f 16; exec '{program}' train s.toml --out full");
    let output = Command::new("sh").args(["-c", &script]).current_dir(bench.path("")).output();
    let output = output.expect("a shell");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && stderr.contains("checkpoint"), "{stderr}");
    assert!(!bench.path("full/checkpoint.safetensors").exists());
    let run = bench.run("train s.toml --out full");
    assert_eq!(run.code, 0, "{run:?}");
}
