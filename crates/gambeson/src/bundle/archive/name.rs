//! Names of files in bundles: plain, and each once.

use crate::error::bundle::BundleProblem;
use std::collections::BTreeMap;

/// Letters of a name that are shown.
const SHOWN: usize = 80;

/// The names seen so far, in small letters.
#[derive(Default)]
pub(super) struct Names {
    seen: BTreeMap<String, String>,
}

impl Names {
    /// Takes a name, if it is plain and differs from all before in more than capital letters.
    pub(super) fn take(&mut self, name: &[u8]) -> Result<String, BundleProblem> {
        let text = String::from_utf8_lossy(name);
        if let Some(what) = problem(&text) {
            return Err(BundleProblem::Name { name: text.chars().take(SHOWN).collect(), what });
        }
        let name = text.into_owned();
        match self.seen.insert(name.to_ascii_lowercase(), name.clone()) {
            Some(other) => Err(BundleProblem::Twice { name, other }),
            None => Ok(name),
        }
    }
}

fn problem(name: &str) -> Option<&'static str> {
    let steps = || name.split(['/', '\\']);
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    if name.is_empty() {
        Some("a file without a name")
    } else if name.starts_with(['/', '\\']) || name.contains(':') {
        Some("is an absolute path")
    } else if steps().any(|step| step == "..") {
        Some("leads out of the bundle")
    } else if name.contains(['/', '\\']) {
        Some("is in a folder, and a bundle has none")
    } else if !name.bytes().all(plain) {
        Some("has other letters than a-z, A-Z, 0-9, `.`, `_` and `-`")
    } else if name.starts_with('.') {
        Some("is a hidden file")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_nowhere_and_are_told_apart() {
        let of = |name: &[u8]| Names::default().take(name).map_err(|problem| problem.to_string());
        for name in ["manifest.json", "network.0", "A_b-c.D"] {
            assert_eq!(of(name.as_bytes()).as_deref(), Ok(name));
        }
        for (name, what) in [
            (&b"../x"[..], "leads out"),
            (b"a/../../x", "leads out"),
            (b"..", "leads out"),
            (b"..\\x", "leads out"),
            (b"/etc/passwd", "absolute"),
            (b"\\x", "absolute"),
            (b"C:x", "absolute"),
            (b"a/b", "folder"),
            (b"a/", "folder"),
            (b"", "without a name"),
            (b".hidden", "hidden"),
            (b"a b", "other letters"),
            (b"a\0", "other letters"),
            ("caf\u{e9}".as_bytes(), "other letters"),
            ("cafe\u{301}".as_bytes(), "other letters"),
            (b"\xff", "other letters"),
        ] {
            let error = of(name).expect_err("refused");
            assert!(error.contains(what), "{name:?}: {error}");
        }
        let mut names = Names::default();
        assert!(names.take(b"a.json").is_ok() && names.take(b"b.json").is_ok());
        assert!(
            matches!(names.take(b"A.JSON"), Err(BundleProblem::Twice { other, .. }) if other == "a.json")
        );
    }
}
