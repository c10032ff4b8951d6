//! Several files in one input: each behind a line with its name, so that bytes may come and go within one of them without
//! breaking the rest, as they would in an archive with its lengths and places.

use std::io::{Cursor, Write};
use std::path::Path;

/// What stands before a name; the end of its line stands behind it.
const MARK: &[u8] = b"\n--- ";

/// Files as one input.
pub fn joined<N: AsRef<str>, B: AsRef<[u8]>>(files: &[(N, B)]) -> Vec<u8> {
    let file = |(name, bytes): &(N, B)| [MARK, name.as_ref().as_bytes(), b"\n", bytes.as_ref()].concat();
    files.iter().flat_map(file).collect()
}

/// The files of an input, by name; none where it is a plain one. Names lead nowhere but below a folder.
pub fn parts(bytes: &[u8]) -> Vec<(String, &[u8])> {
    let starts: Vec<usize> = if bytes.starts_with(MARK) {
        bytes
            .windows(MARK.len())
            .enumerate()
            .filter(|(_, window)| *window == MARK)
            .map(|(at, _)| at)
            .collect()
    } else {
        Vec::new()
    };
    let ends = starts.iter().skip(1).copied().chain([bytes.len()]);
    let part = |(start, end): (&usize, usize)| {
        let inner = &bytes[start + MARK.len()..end];
        let line = inner.iter().position(|&byte| byte == b'\n').unwrap_or(inner.len());
        (safe(&inner[..line]), inner.get(line + 1..).unwrap_or_default())
    };
    starts.iter().zip(ends).map(part).collect()
}

/// A name with plain letters only, and no step upwards.
fn safe(name: &[u8]) -> String {
    let plain = |byte: &&u8| byte.is_ascii_alphanumeric() || b"._-/".contains(byte);
    let name: String = name.iter().filter(plain).take(100).map(|&byte| char::from(byte)).collect();
    let steps: Vec<&str> = name.split('/').filter(|step| !step.trim_matches('.').is_empty()).collect();
    steps.join("/")
}

/// The same with every file changed.
pub fn mapped(bytes: &[u8], change: impl Fn(&str, &[u8]) -> Vec<u8>) -> Vec<u8> {
    let files: Vec<_> =
        parts(bytes).into_iter().map(|(name, bytes)| (name.clone(), change(&name, bytes))).collect();
    if files.is_empty() { bytes.to_vec() } else { joined(&files) }
}

/// The files of an input as members of an archive that is right in itself; a plain input stays as it is.
pub fn zipped(bytes: &[u8]) -> Vec<u8> {
    let files = parts(bytes);
    if files.is_empty() {
        return bytes.to_vec();
    }
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let stored = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, bytes) in files {
        // A name may not stand twice.
        if archive.start_file(name, stored).is_ok() {
            let _ = archive.write_all(bytes); // to memory
        }
    }
    archive.finish().map(Cursor::into_inner).unwrap_or_default()
}

/// Writes an input below a folder: a plain one under `name`, of several files the first under `name` and the others
/// under their own names beside it, where there is no folder of that name, nor a file for a folder.
pub fn lay(bytes: &[u8], folder: &Path, name: &str) -> std::io::Result<()> {
    let place = folder.join(name);
    let beside = place.parent().unwrap_or(folder);
    std::fs::create_dir_all(beside)?;
    let files = parts(bytes);
    std::fs::write(&place, files.first().map_or(bytes, |(_, first)| first))?;
    for (own, bytes) in files.iter().skip(1).filter(|(own, _)| !own.is_empty()) {
        let path = beside.join(own);
        let _ =
            path.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(path, bytes));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_come_back_and_names_stay_below_their_folder() {
        let bytes = joined(&[("a.npy", &b"one"[..]), ("../../etc/x\n", b"two\n")]);
        let found = parts(&bytes);
        assert_eq!(found[0], ("a.npy".to_owned(), &b"one"[..]));
        assert_eq!(found[1].0, "etc/x");
        assert!(parts(b"plain").is_empty());
        assert!(zipped(&bytes).starts_with(b"PK\x03\x04"));
    }
}
