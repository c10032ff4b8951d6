//! Toys that `--model` describes: `toy:KIND,KEY=VALUE,...`.

use std::ffi::OsStr;

/// What stands in a description, nothing of it checked yet.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Toy<'a> {
    pub(crate) kind: String,
    /// Keys and values; no value without a `=`. The path of a vector need not be text.
    pub(crate) given: Vec<(String, Option<&'a OsStr>)>,
}

/// None where a network is named.
pub(crate) fn toy(model: &OsStr) -> Option<Toy<'_>> {
    let text = |word: &OsStr| word.to_string_lossy().into_owned();
    let mut words = split(model, b',', usize::MAX).into_iter();
    let kind = text(words.next()?).strip_prefix("toy:")?.to_owned();
    let pair = |word| {
        let mut sides = split(word, b'=', 2).into_iter();
        (sides.next().map(text).unwrap_or_default(), sides.next())
    };
    Some(Toy { kind, given: words.map(pair).collect() })
}

/// The parts of a text between letters of one kind, at most so many.
fn split(text: &OsStr, at: u8, most: usize) -> Vec<&OsStr> {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        text.as_bytes().splitn(most, |&byte| byte == at).map(OsStr::from_bytes).collect()
    }
    #[cfg(not(unix))]
    text.to_str().map_or(vec![text], |text| text.splitn(most, char::from(at)).map(OsStr::new).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_is_taken_apart() {
        assert_eq!(toy(OsStr::new("a,b.onnx")), None);
        let found = toy(OsStr::new("toy:half-space,offset=0.5,normal=a=b.npy,x")).expect("a toy");
        let given = [("offset", Some("0.5")), ("normal", Some("a=b.npy")), ("x", None)];
        assert_eq!(found.kind, "half-space");
        assert_eq!(found.given, given.map(|(key, value)| (key.to_owned(), value.map(OsStr::new))));
    }
}
