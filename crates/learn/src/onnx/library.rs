//! Finding ONNX Runtime, and looking at it before it is opened.
//!
//! **Where.** `$ORT_DYLIB_PATH`, a file or its folder; else beside the Python package `onnxruntime` of the `python3` (or
//! `python`) on the path, which is asked where that is without importing it; else the usual folders of the system.
//!
//! **Before opening.** That the file is a shared library of its full length, and its version. Wrong files have made
//! loaders crash or hang, and then no message can be given.
//!
//! **Once per process.** ONNX Runtime can be loaded once, with one environment, and stays: the one piece of process-wide state
//! of these libraries. Who asks first decides which file it is; [`VARIABLE`] is read then and never again.

use super::error::{LibraryProblem, OnnxError};
use ort::environment::Environment;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

/// The variable that names the library.
pub const VARIABLE: &str = "ORT_DYLIB_PATH";

/// The environment, shared by all who use ONNX Runtime in this process: the library allows no second one.
static STARTED: Mutex<Option<Environment>> = Mutex::new(None);

/// The environment, started with the library that is found when first asked for.
pub fn environment() -> Result<Environment, OnnxError> {
    let mut started = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(environment) = &*started {
        return Ok(environment.clone());
    }
    let path = find()?;
    let failed = |problem| OnnxError::Library { path: path.clone(), problem };
    preflight(&path).map_err(failed)?;
    let environment = ort::init_from(&path)
        .map_err(|reason| failed(LibraryProblem::NotLoadable(reason)))?
        .with_name("gambeson")
        .with_telemetry(false)
        // Its errors repeat what it would log.
        .with_logger(Arc::new(|_, _, _, _, _| {}))
        .build()
        .map_err(|reason| failed(LibraryProblem::NotStarted(reason)))?;
    *started = Some(environment.clone());
    Ok(environment)
}

/// The file to load.
pub fn find() -> Result<PathBuf, OnnxError> {
    if let Some(named) = std::env::var_os(VARIABLE).filter(|named| !named.is_empty()) {
        let named = PathBuf::from(named);
        if !named.is_dir() {
            return std::path::absolute(&named)
                .map_err(|reason| OnnxError::Library { path: named, problem: reason.into() });
        }
        return in_folder(&named)
            .or_else(|| in_folder(&named.join("capi")))
            .ok_or(OnnxError::Library { path: named, problem: LibraryProblem::NotInFolder });
    }
    let packages = ["python3", "python"].into_iter().find_map(|python| in_folder(&package_folder(python)?));
    let system =
        ["/usr/local/lib", "/usr/lib", "/usr/lib64", "/usr/lib/x86_64-linux-gnu", "/opt/homebrew/lib"];
    packages
        .or_else(|| system.iter().find_map(|folder| in_folder(Path::new(folder))))
        .ok_or(OnnxError::NoLibrary)
}

/// The library in a folder: the newest name, where there are several.
fn in_folder(folder: &Path) -> Option<PathBuf> {
    let is_library = |name: &str| {
        name == "onnxruntime.dll"
            || name
                .strip_prefix("libonnxruntime.")
                .is_some_and(|rest| rest == "so" || rest.starts_with("so.") || rest.ends_with("dylib"))
    };
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder)
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.file_name().and_then(|name| name.to_str()).is_some_and(is_library))
        .collect();
    found.sort();
    std::path::absolute(found.pop()?).ok()
}

/// Where a Python has the package's libraries.
fn package_folder(python: &str) -> Option<PathBuf> {
    const ASK: &str = "import importlib.util as u; s = u.find_spec('onnxruntime'); print(s.submodule_search_locations[0] if s else '')";
    let mut command = Command::new(python);
    command.args(["-c", ASK]).stdin(Stdio::null()).stderr(Stdio::null());
    let answer = command.output().ok().filter(|output| output.status.success())?;
    let folder = String::from_utf8(answer.stdout).ok()?;
    let folder = folder.trim();
    (!folder.is_empty()).then(|| Path::new(folder).join("capi"))
}

/// Whether a file can be opened as the library without harm.
pub fn preflight(path: &Path) -> Result<(), LibraryProblem> {
    let file = File::open(path)?;
    let found = file.metadata()?.len();
    let mut reader = BufReader::new(file);
    let mut head = [0; 64];
    let read = read_up_to(&mut reader, &mut head)?;
    match &head[..read] {
        [0x7f, b'E', b'L', b'F', ..] if read == head.len() => {
            let expected = elf_length(&head).ok_or(LibraryProblem::NotLibrary)?;
            if found < expected {
                return Err(LibraryProblem::Truncated { expected, found });
            }
        }
        // Mach-O, of one kind of processor or several; PE.
        [0xcf, 0xfa, 0xed, 0xfe, ..] | [0xca, 0xfe, 0xba, 0xbe, ..] | [b'M', b'Z', ..] => {}
        _ => return Err(LibraryProblem::NotLibrary),
    }
    // Where the version cannot be read from outside, the loader asks the library itself.
    let Some(version) = version_in(&mut reader)?.or_else(|| version_of_name(path)) else { return Ok(()) };
    let mut parts = version.split('.').map(str::parse::<u32>);
    match (parts.next(), parts.next()) {
        (Some(Ok(1)), Some(Ok(minor))) if minor < ort::MINOR_VERSION => {
            Err(LibraryProblem::TooOld { found: version, least: ort::MINOR_VERSION })
        }
        (Some(Ok(0)), _) => Err(LibraryProblem::TooOld { found: version, least: ort::MINOR_VERSION }),
        _ => Ok(()),
    }
}

fn read_up_to(reader: &mut impl Read, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match reader.read(&mut buffer[filled..])? {
            0 => break,
            count => filled += count,
        }
    }
    Ok(filled)
}

/// The end of the table of sections, which comes last, from a 64-bit little-endian header.
fn elf_length(head: &[u8; 64]) -> Option<u64> {
    let small = |at: usize| u64::from(u16::from_le_bytes([head[at], head[at + 1]]));
    let (class, order) = (head[4], head[5]);
    if class != 2 || order != 1 {
        return None;
    }
    let table = u64::from_le_bytes(*head[0x28..].first_chunk()?);
    table.checked_add(small(0x3a) * small(0x3c))
}

/// The version in the names of its symbols, `VERS_1.23.2`, where they have one.
fn version_in(reader: &mut impl Read) -> std::io::Result<Option<String>> {
    const MARK: &[u8] = b"VERS_";
    const LONGEST: usize = 32;
    let mut window = Vec::new();
    let mut chunk = vec![0; 1 << 20];
    loop {
        let count = reader.read(&mut chunk)?;
        window.extend_from_slice(&chunk[..count]);
        let places = window.windows(MARK.len()).enumerate().filter(|(_, bytes)| *bytes == MARK);
        for (at, _) in places {
            let rest = &window[at + MARK.len()..];
            if rest.len() < LONGEST && count > 0 {
                break; // it may go on in the next part
            }
            let digits = rest.iter().take(LONGEST).take_while(|byte| byte.is_ascii_digit() || **byte == b'.');
            let text: String = digits.map(|&byte| char::from(byte)).collect();
            if text.contains('.') && text.starts_with(|first: char| first.is_ascii_digit()) {
                return Ok(Some(text));
            }
        }
        if count == 0 {
            return Ok(None);
        }
        window.drain(..window.len().saturating_sub(MARK.len() + LONGEST));
    }
}

/// `libonnxruntime.so.1.23.2`, `libonnxruntime.1.23.2.dylib`.
fn version_of_name(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let rest = name.strip_prefix("libonnxruntime.")?;
    let version = rest.strip_prefix("so.").or_else(|| rest.strip_suffix(".dylib"))?;
    (version.split('.').count() >= 2 && version.split('.').all(|part| part.parse::<u32>().is_ok()))
        .then(|| version.to_owned())
}
