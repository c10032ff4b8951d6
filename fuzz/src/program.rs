//! The same mutations given to the program itself: whatever a file holds, the exit code is 0, 1 or 2.

use crate::drive::{Fault, seeds};
use crate::mutate::{Random, mutated};
use crate::targets::TARGETS;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What the program may take for one small file.
const PATIENCE: Duration = Duration::from_secs(20);

/// A command that reads a file.
pub struct Reader {
    /// The target whose seeds are changed.
    pub target: &'static str,
    /// What the file is called.
    file: &'static str,
    /// The command, `{}` for the file.
    words: &'static str,
}

/// One for every reader that a command reaches.
pub const READERS: &[Reader] = &[
    Reader { target: "matrix", file: "m.mtx", words: "bound {} --time-limit 1 --json" },
    Reader { target: "matrix", file: "m.npy", words: "bound {} --time-limit 1 --norm inf-to-one" },
    Reader { target: "certificate", file: "c.json", words: "check small.txt {}" },
    Reader { target: "projection", file: "p.safetensors", words: "project inspect {}" },
    Reader { target: "safetensors", file: "p.safetensors", words: "project inspect {} --json" },
    Reader { target: "records", file: "r.jsonl", words: "analyze {}" },
    Reader { target: "records", file: "r.jsonl", words: "analyze {} --json --per-class" },
    Reader { target: "logs", file: "log.tsv", words: "analyze {} --sigma 0.25" },
    Reader { target: "images", file: "folder/a/x.png", words: "data info ./folder" },
    Reader { target: "idx", file: "train-images-idx3-ubyte", words: "data info {}" },
    Reader { target: "array", file: "x.npy", words: "data info {}" },
    Reader { target: "cifar", file: "cifar/data_batch_1.bin", words: "data info ./cifar" },
    Reader { target: "audio", file: "sounds/x.wav", words: "data info ./sounds" },
    Reader { target: "stored", file: "x.safetensors", words: "data info {}" },
    Reader { target: "onnx", file: "n.onnx", words: "export {} out.safetensors --force" },
    Reader { target: "state-dict", file: "n.safetensors", words: "export {} out.onnx --shape 1x4x4 --force" },
    Reader { target: "pickle", file: "n.pth", words: "export {} out.onnx --shape 1x4x4 --force" },
    Reader { target: "spec", file: "spec.toml", words: "train {} --dry-run" },
];

/// Gives a reader so many files; the exit codes 0, 1 and 2, counted.
pub fn run(program: &Path, reader: &Reader, cases: u64, seed: u64) -> Result<[u64; 3], Fault> {
    let seeds = TARGETS.iter().find(|target| target.name == reader.target).map(seeds).unwrap_or_default();
    let mut random = Random::new(seed);
    let mut codes = [0; 3];
    let fault = |input: &[u8], how: String| Fault { input: input.to_vec(), how };
    let failed = |error: std::io::Error| fault(&[], format!("{}: {error}", program.display()));
    let program = program.canonicalize().map_err(failed)?;
    let folder = tempfile::tempdir().map_err(failed)?;
    let path = folder.path().join(reader.file);
    let prepared = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    prepared
        .and_then(|()| std::fs::write(folder.path().join("small.txt"), "3 3\n1 2 1\n2 3 1\n1 3 1\n"))
        .map_err(failed)?;
    for case in 0..cases {
        let seeded = usize::try_from(case).ok().and_then(|at| seeds.get(at));
        let input = seeded.cloned().unwrap_or_else(|| mutated(&seeds, &mut random));
        let code = std::fs::write(&path, &input)
            .and_then(|()| exit_code(&program, folder.path(), reader))
            .map_err(|error| fault(&input, format!("{}: {error}", reader.words)))?;
        match code.and_then(|code| usize::try_from(code).ok()).filter(|&code| code < codes.len()) {
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
