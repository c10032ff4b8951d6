//! Running the binary in a folder of its own.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// A temporary folder and the binary.
pub(crate) struct Bench {
    folder: tempfile::TempDir,
    /// Where its commands look for data, if not where everybody does.
    data: Option<PathBuf>,
}

/// What a run left behind.
pub(crate) struct Run {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    /// The one JSON object on stdout.
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.stdout.lines().count(), 1, "one object a line: {self:?}");
        serde_json::from_str(&self.stdout).expect("JSON on stdout")
    }
}

/// Words with one space between them, however they were laid out.
pub(crate) fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether text for the terminal has all cells, captions and notes of tables in Markdown, in 80 columns. Cells of words
/// may be wrapped.
pub(crate) fn shows(text: &str, markdown: &str) -> bool {
    let shown = unwrapped(text);
    // The head of a table and the rule below it are laid out otherwise.
    let all: Vec<&str> = markdown.lines().collect();
    let is_rule =
        |line: Option<&&str>| line.is_some_and(|line| line.starts_with("| :-") || line.starts_with("| -"));
    let rows = all
        .iter()
        .enumerate()
        .filter(|(at, line)| line.starts_with('|') && !is_rule(Some(line)) && !is_rule(all.get(at + 1)));
    let rows = rows.map(|(_, line)| *line);
    let cells = rows.flat_map(|row| row.trim_matches('|').split(" | ")).map(str::trim);
    let lines = markdown.lines().filter(|line| !line.starts_with(['|', '<']));
    text.lines().all(|line| line.chars().count() <= 80)
        && lines.chain(cells.clone()).all(|part| {
            let whole = shown.contains(&unwrapped(part));
            let in_words = part.starts_with(char::is_alphabetic) && cells.clone().any(|cell| cell == part);
            whole || in_words && part.split_whitespace().all(|word| shown.contains(word))
        })
}

impl std::fmt::Debug for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "exit {}\nstdout: {}\nstderr: {}", self.code, self.stdout, self.stderr)
    }
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a temporary folder"), data: None }
    }

    /// With a folder of data of its own.
    pub(crate) fn with_own_data() -> Self {
        let bench = Self::new();
        let data = bench.path("data");
        std::fs::create_dir(&data).expect("a folder");
        Self { data: Some(data), ..bench }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).expect("written");
    }

    pub(crate) fn read_bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).expect("a file that was written")
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("a file that was written")
    }

    /// Runs `gambeson` with the words of `line` in the folder; it must not panic.
    pub(crate) fn run(&self, line: &str) -> Run {
        self.run_with(line, Stdio::piped())
    }

    /// The same with a stdout that nobody reads any more.
    pub(crate) fn run_unread(&self, line: &str) -> Run {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        self.run_with(line, writer)
    }

    /// Runs a script by `sh`, for which `gambeson` is on the path. What it writes to stderr is in stdout. It finds no
    /// data but its own, and no ONNX Runtime.
    pub(crate) fn shell(&self, script: &str) -> Run {
        let folder = Path::new(env!("CARGO_BIN_EXE_gambeson")).parent().expect("a folder").to_path_buf();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(folder).chain(std::env::split_paths(&path));
        let child = Command::new("sh")
            .args(["-c", &format!("exec 2>&1\n{script}")])
            .env("PATH", std::env::join_paths(folders).expect("a path"))
            .envs(self.data.as_ref().map(|folder| ("GAMBESON_DATA", folder)))
            .env("ORT_DYLIB_PATH", "")
            .env_remove("GAMBESON_REFERENCE_DATA")
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("sh runs");
        Self::finish_any(script, child)
    }

    fn run_with(&self, line: &str, stdout: impl Into<Stdio>) -> Run {
        Self::finish(line, self.spawn(line, stdout))
    }

    /// Starts `gambeson` and does not wait for it.
    pub(crate) fn spawn(&self, line: &str, stdout: impl Into<Stdio>) -> Child {
        Command::new(env!("CARGO_BIN_EXE_gambeson"))
            .args(line.split_whitespace())
            .envs(self.data.as_ref().map(|folder| ("GAMBESON_DATA", folder)))
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(stdout)
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs")
    }

    /// Waits for it.
    pub(crate) fn finish(line: &str, child: Child) -> Run {
        let run = Self::finish_any(line, child);
        assert!(run.code <= 2, "{line}: {run:?}");
        run
    }

    fn finish_any(line: &str, child: Child) -> Run {
        let output: Output = child.wait_with_output().expect("it ends");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
        let code = output.status.code().expect("not killed");
        let run = Run { code, stdout: text(output.stdout), stderr: text(output.stderr) };
        assert!(!run.stderr.contains("panicked") && !run.stdout.contains("panicked"), "{line}: {run:?}");
        run
    }

    /// Saves a row-major matrix as `.npy`.
    pub(crate) fn save_npy(&self, name: &str, rows: usize, columns: usize, entries: &[f64]) {
        self.write(name, npy(rows, columns, entries));
    }

    /// An array of one dimension.
    pub(crate) fn save_vector(&self, name: &str, entries: &[f64]) {
        self.write(name, npy_of_shape(&format!("({},)", entries.len()), entries));
    }
}

/// The bytes of a version 1.0 `.npy` file.
pub(crate) fn npy(rows: usize, columns: usize, entries: &[f64]) -> Vec<u8> {
    npy_of_shape(&format!("({rows}, {columns})"), entries)
}

/// The same for a shape as numpy writes it.
fn npy_of_shape(shape: &str, entries: &[f64]) -> Vec<u8> {
    let mut header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}");
    header.push_str(&" ".repeat(63 - (10 + header.len()) % 64));
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len()).expect("a short header").to_le_bytes());
    bytes.extend(header.bytes());
    bytes.extend(entries.iter().flat_map(|entry| entry.to_le_bytes()));
    bytes
}
