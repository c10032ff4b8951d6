//! `certify` with noise in the coordinates of a projection, and `analyze` that proves it again.

use super::certify::{TOY, number, ok};
use crate::records::{derived, head, lines, write};
use crate::support::Bench;

/// Noise in twenty coordinates of a projection of images.
const LINE: &str =
    "certify --model toy:half-space,offset=0.3 --data fashion --n 2000 --stop 12 --projection p.safetensors";

#[test]
fn noise_in_the_coordinates_of_a_projection() {
    let bench = Bench::new();
    ok(bench.run("project fit --data fashion --rank 20 --out p.safetensors"));
    ok(bench.run(&format!("{LINE} --sigma 1 --out run.jsonl")));
    let checked = ok(bench.run("check p.safetensors p.cert.json --json")).json();
    let run = &head(&bench, "run.jsonl")["run"];
    let (kappa, spectral) = (number(&run["kappa"]), number(&run["spectral"]));
    assert_eq!(kappa, number(&checked["kappa"]), "proven by the checker, not remembered");
    assert_eq!(spectral, number(&checked["spectral"][0]));
    assert!(run["projection"].as_str().is_some_and(|hash| hash.len() == 64));
    assert_eq!(head(&bench, "run.jsonl")["files"]["projection"], "p.safetensors");
    for record in lines(&bench, "run.jsonl") {
        assert!(number(&record["encoding_error"]) > 0.0 && number(&record["perturbed_error"]) > 0.0);
        if let Some(latent) = record["latent"].as_f64() {
            assert!((number(&record["linf"]) - latent / kappa).abs() < 1e-12);
            assert!((number(&record["l2"]) - latent / spectral).abs() < 1e-12);
        }
    }
    ok(bench.run("analyze run.jsonl --norm linf"));
    // Equal levels of 2 are noise of 2: with one seed the same draws on grids as fine, so the same counts.
    bench.save_npy("levels.npy", 1, 20, &[2.0; 20]);
    ok(bench.run(&format!("{LINE} --noise-levels levels.npy --seed 1 --out levels.jsonl")));
    ok(bench.run(&format!("{LINE} --sigma 2 --seed 1 --out two.jsonl")));
    assert_eq!(head(&bench, "levels.jsonl")["run"]["sigma"], 1.0);
    for (levels, two) in lines(&bench, "levels.jsonl").iter().zip(&lines(&bench, "two.jsonl")) {
        assert_eq!(levels["estimation"], two["estimation"]);
        if let (Some(levels), Some(two)) = (levels["linf"].as_f64(), two["linf"].as_f64()) {
            assert!((levels / two - 1.0).abs() < 1e-3, "{levels} and {two}");
        }
    }
    bench.save_npy("few.npy", 1, 3, &[2.0; 3]);
    let run = bench.run(&format!("{LINE} --noise-levels few.npy"));
    assert!(run.code == 2 && run.stderr.contains("20") && run.stderr.contains('3'), "{run:?}");
    // Cosine coefficients are no pixels.
    let first = lines(&bench, "run.jsonl").swap_remove(0);
    write(&bench, "cosines.jsonl", &head(&bench, "run.jsonl"), &[first]);
    ok(bench.run("project fit --data fashion --rank 20 --basis pixel --out pixels.safetensors"));
    let pixels = LINE.replace("p.safetensors", "pixels.safetensors").replace("--stop 12", "--stop 3");
    ok(bench.run(&format!("{pixels} --sigma 1 --out pixels.jsonl")));
    let run = bench.run("analyze cosines.jsonl pixels.jsonl --norm linf");
    assert!(run.code == 2 && run.stderr.contains("cosine coefficients"), "{run:?}");
    ok(bench.run("analyze cosines.jsonl pixels.jsonl --norm l2"));
    // Without a projection, the root of the dimension holds in either basis.
    ok(bench.run(&format!("certify {TOY} --n 400 --stop 3 --out values.jsonl")));
    ok(bench.run("analyze cosines.jsonl values.jsonl --norm linf"));
    ok(bench.run("analyze pixels.jsonl values.jsonl --norm linf"));
}

#[test]
fn kappa_is_proven_again_from_the_projection() {
    let bench = Bench::new();
    ok(bench.run("project fit --data fashion --rank 20 --out p.safetensors"));
    ok(bench.run(&format!("{LINE} --sigma 1 --out run.jsonl")));
    bench.save_npy("levels.npy", 1, 20, &[2.0; 20]);
    ok(bench.run(&format!("{LINE} --noise-levels levels.npy --out levels.jsonl")));
    ok(bench.run(&format!("certify {TOY} --n 400 --stop 3 --out pixels.jsonl")));
    // Another projection's certificate proves nothing.
    ok(bench.run("project fit --data fashion --rank 21 --out q.safetensors"));
    let again = |log: &str, more: &str| bench.run(&format!("analyze {log} --projection {more}"));
    assert!(
        ok(again("run.jsonl", "p.safetensors"))
            .stdout
            .contains("proven again, as is σ_max, from p.safetensors")
    );
    let run = again("run.jsonl", "q.safetensors");
    assert!(run.code == 2 && run.stderr.contains("none of those given"), "{run:?}");
    let run = again("run.jsonl", "q.safetensors --projection p.safetensors");
    assert!(run.code == 2 && run.stderr.contains("q.safetensors: no log says"), "{run:?}");
    // Levels are part of the question.
    let run = again("run.jsonl", "p.safetensors --noise-levels levels.npy");
    assert!(run.code == 2 && run.stderr.contains("noise of one level"), "{run:?}");
    ok(again("levels.jsonl", "p.safetensors --noise-levels levels.npy"));
    let run = again("levels.jsonl", "p.safetensors");
    assert!(run.code == 2 && run.stderr.contains("levels sha256:"), "{run:?}");
    // A log that hides its projection is not what the projection was given for, nor is another κ.
    let run = again("pixels.jsonl", "p.safetensors");
    assert!(run.code == 2 && run.stderr.contains("no log says"), "{run:?}");
    let run = again("run.jsonl", "p.safetensors --kappa 1");
    assert!(run.code == 2 && run.stderr.contains("cannot be used with"), "{run:?}");
    bench.write("elsewhere.json", bench.read("p.cert.json"));
    let run = ok(again("run.jsonl", "p.safetensors --certificate elsewhere.json --json")).json();
    assert_eq!(run["proven_by"], "p.safetensors");
    let run = again("run.jsonl", "p.safetensors --certificate elsewhere.json --certificate p.cert.json");
    assert!(run.code == 2 && run.stderr.contains("2 certificates for 1"), "{run:?}");
    // An encoding error smaller than what is proven is not resumed over.
    let whole = bench.read("run.jsonl");
    let exact = lines(&bench, "run.jsonl").into_iter().map(|mut record| {
        record["encoding_error"] = 0.0.into();
        record.to_string() + "\n"
    });
    let first = whole.lines().next().expect("a head");
    bench.write("run.jsonl", format!("{first}\n{}", exact.collect::<String>()));
    let run = bench.run(&format!("{LINE} --sigma 1 --out run.jsonl"));
    assert!(run.code == 2 && run.stderr.contains("digest"), "{run:?}");
    bench.write("run.jsonl", whole);
    // A κ better than what is proven is found out, whatever the radii say.
    let mut better = head(&bench, "run.jsonl");
    better["run"]["kappa"] = (number(&better["run"]["kappa"]) * 0.99).into();
    // By somebody who makes radii and digests fit.
    let forged: Vec<_> = lines(&bench, "run.jsonl").iter().map(|record| derived(&better, record)).collect();
    write(&bench, "forged.jsonl", &better, &forged);
    ok(bench.run("analyze forged.jsonl"));
    let run = again("forged.jsonl", "p.safetensors");
    assert!(run.code == 2 && run.stderr.contains("says kappa is"), "{run:?}");
    let run = bench.run(&format!("{LINE} --sigma 1 --certificate q.cert.json"));
    assert!(run.code == 2 && run.stderr.contains("another matrix"), "{run:?}");
}

/// Frames of sound: a sine whose coefficient in the cosine basis the half-space looks at.
#[test]
fn frames_of_sound_are_certified_through_their_cosines() {
    let bench = Bench::new();
    let samples: Vec<i16> = (0..16_000)
        .map(|t| {
            let loud = if t % 4000 < 2000 { 9000.0 } else { 200.0 };
            #[allow(clippy::cast_possible_truncation)]
            let sample = (loud * (f64::from(t) * 0.3).sin()) as i16;
            sample
        })
        .collect();
    let data: Vec<u8> = samples.iter().flat_map(|sample| sample.to_le_bytes()).collect();
    let mut wav = b"RIFF".to_vec();
    wav.extend(u32::try_from(36 + data.len()).expect("short").to_le_bytes());
    wav.extend(b"WAVEfmt \x10\0\0\0\x01\0\x01\0");
    wav.extend(8000_u32.to_le_bytes());
    wav.extend(16_000_u32.to_le_bytes());
    wav.extend(b"\x02\0\x10\0data");
    wav.extend(u32::try_from(data.len()).expect("short").to_le_bytes());
    wav.extend(data);
    bench.write("sound.wav", wav);
    ok(bench.run("project fit --data sound.wav --rank 30 --out p.safetensors"));
    let line = "certify --model toy:half-space,cosine=19,offset=0.2 --data sound.wav --projection p.safetensors \
                --sigma 0.2 --n 1000 --every 5 --out run.jsonl --json";
    let summary = ok(bench.run(line)).json();
    let records = lines(&bench, "run.jsonl");
    assert!(summary["done"].as_u64() > Some(20) && summary["correct"].is_null());
    let classes: std::collections::BTreeSet<Option<u64>> =
        records.iter().map(|record| record["class"].as_u64()).collect();
    assert!(classes.contains(&Some(0)) && classes.contains(&Some(1)), "{classes:?}");
    assert!(records.iter().all(|record| record["label"].is_null()));
    assert_eq!(head(&bench, "run.jsonl")["run"]["dimension"], 200);
}
