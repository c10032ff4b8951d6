//! The same mutations given to the program itself: whatever a file holds, the exit code is 0, 1 or 2; and 0 for every seed,
//! or the files would only show that nothing is read.

use crate::bundle::{lay, parts};
use crate::drive::{Fault, keep, seeds, stored_seeds};
use crate::mutate::{Mutator, Random};
use crate::targets::{GRAPH, TARGETS, projection_file, says_its_shape};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What the program may take for one small file.
const PATIENCE: Duration = Duration::from_secs(20);

/// A command that reads a file.
pub struct Reader {
    /// The target whose seeds are changed; or only a folder of seeds, where the reader is the program's own.
    pub target: &'static str,
    /// Which of its seeds the command is for.
    suits: fn(&[u8]) -> bool,
    /// What the file is called.
    file: &'static str,
    /// The command, `{}` for the file.
    words: &'static str,
}

macro_rules! reader {
    ($target:literal, $file:literal, $words:literal) => {
        reader!($target, all, $file, $words)
    };
    ($target:literal, $suits:expr, $file:literal, $words:literal) => {
        Reader { target: $target, suits: $suits, file: $file, words: $words }
    };
}

/// One for every reader that a command reaches. Batches of CIFAR are none: the program takes those with the hashes of the
/// official files and no others.
pub const READERS: &[Reader] = &[
    reader!("matrix", is_text, "m.mtx", "bound {} --time-limit 1 --json"),
    reader!("matrix", "m.npy", "bound {} --time-limit 1 --norm inf-to-one"),
    reader!("matrix-npz", "m.npz", "bound {} --time-limit 1 --norm inf-to-two"),
    reader!("certificate", "c.json", "check graph.txt {}"),
    reader!("projection-cert", "c.json", "check p.safetensors {} --json"),
    reader!("projection", "q.safetensors", "project inspect {} --json"),
    reader!("records", "r.jsonl", "analyze {}"),
    reader!("records", "r.jsonl", "analyze {} --json --per-class"),
    reader!("logs", says_its_noise, "log.tsv", "analyze {} --any-class"),
    reader!("logs", is_of_votes, "log.csv", "analyze {} --sigma 0.25 --alpha 0.01 --json"),
    reader!("images", "folder/a/x.png", "data info ./folder"),
    reader!("idx", "train-images-idx3-ubyte", "data info {}"),
    reader!("array", "x.npy", "data info {}"),
    reader!("array-npz", "x.npz", "data info {} --json"),
    reader!("audio", "sounds/x.wav", "data info ./sounds"),
    reader!("stored", "x.safetensors", "data info {}"),
    reader!("bundle-zip", "b.zip", "check {} --all"),
    reader!("onnx", says_its_shape, "n.onnx", "export {} out.safetensors --force"),
    reader!("state-dict", "n.safetensors", "export {} out.onnx --force"),
    reader!("pickle", is_network, "n.pth", "export {} out.onnx --force"),
    reader!("pickle-zip", is_network, "n.pth", "export {} out.safetensors --force"),
    reader!("spec", "spec.toml", "train {} --dry-run"),
    reader!("experiment", "fig-mwu-psd.toml", "reproduce fig-mwu-psd --experiments . --render-only"),
];

fn all(_: &[u8]) -> bool {
    true
}

/// Matrices of these are symmetric.
fn is_text(seed: &[u8]) -> bool {
    seed.is_ascii()
}

fn has(seed: &[u8], word: &str) -> bool {
    seed.windows(word.len()).any(|window| window == word.as_bytes())
}

fn is_of_votes(seed: &[u8]) -> bool {
    has(seed, "selection_0")
}

fn says_its_noise(seed: &[u8]) -> bool {
    !is_of_votes(seed)
}

/// Not two tensors by themselves.
fn is_network(seed: &[u8]) -> bool {
    has(seed, "conv1")
}

/// Gives a reader so many files; the exit codes 0, 1 and 2, counted.
pub fn run(program: &Path, reader: &Reader, cases: u64, seed: u64) -> Result<[u64; 3], Fault> {
    let fault = |input: &[u8], how: String| Fault { input: keep(reader.target, input), how };
    let failed =
        |error: std::io::Error| Fault { input: program.to_owned(), how: format!("cannot be run: {error}") };
    let program = program.canonicalize().map_err(failed)?;
    let folder = tempfile::tempdir().map_err(failed)?;
    for (name, bytes) in [("graph.txt", GRAPH.as_bytes()), ("p.safetensors", &projection_file())] {
        std::fs::write(folder.path().join(name), bytes).map_err(failed)?;
    }
    let target = TARGETS.iter().find(|target| target.name == reader.target);
    let mut seeds = target.map_or_else(|| stored_seeds(reader.target), seeds);
    seeds.retain(|seed| (reader.suits)(seed));
    if seeds.is_empty() {
        return Err(fault(&[], format!("{}: no seeds", reader.words)));
    }
    let (mutator, mut random) = (Mutator::new(&seeds), Random::new(seed));
    let mut codes = [0; 3];
    for case in 0..cases.max(seeds.len() as u64) {
        let own = usize::try_from(case).ok().and_then(|at| seeds.get(at));
        let input = own.cloned().unwrap_or_else(|| mutator.mutated(&mut random));
        // Now and then as it is, with hashes that do not fit.
        let repaired = target.filter(|_| own.is_some() || random.below(4) > 0 || !parts(&input).is_empty());
        let file = repaired.map_or(input.clone(), |target| (target.file)(&input));
        let code = lay(&file, folder.path(), reader.file)
            .and_then(|()| exit_code(&program, folder.path(), reader))
            .map_err(|error| fault(&input, format!("{}: {error}", reader.words)))?;
        match code.and_then(|code| usize::try_from(code).ok()).filter(|&code| code < codes.len()) {
            Some(code) if code > 0 && own.is_some() => {
                return Err(fault(&input, format!("{}: seed {case} ended with {code}", reader.words)));
            }
            Some(code) => codes[code] += 1,
            None => return Err(fault(&input, format!("{}: ended with {code:?}", reader.words))),
        }
    }
    Ok(codes)
}

/// None where a signal ended it.
fn exit_code(program: &Path, folder: &Path, reader: &Reader) -> std::io::Result<Option<i32>> {
    let words = reader.words.split(' ').map(|word| if word == "{}" { reader.file } else { word });
    let mut child = Command::new(program)
        .args(["--threads", "1", "--memory-limit", "500M"])
        .args(words)
        .current_dir(folder)
        .env("GAMBESON_DATA", folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let started = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.code());
        }
        if started.elapsed() > PATIENCE {
            child.kill()?;
            child.wait()?;
            return Err(std::io::Error::new(std::io::ErrorKind::TimedOut, "more than 20 seconds"));
        }
        std::thread::sleep(Duration::from_micros(300));
    }
}
