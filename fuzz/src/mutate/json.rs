//! Changes of JSON that leave it JSON.

use super::Random;
use std::ops::Range;

/// Takes a key with its value out of an object, or writes it twice.
pub(super) fn drop_or_repeat_key(bytes: &mut Vec<u8>, random: &mut Random) {
    let keys: Vec<usize> = (0..bytes.len()).filter(|&at| starts_key(bytes, at)).collect();
    let Some(&start) = keys.get(random.below(keys.len())) else { return };
    let Range { start, mut end } = start..value_end(bytes, start);
    if random.below(2) == 0 {
        let mut start = start;
        match bytes.get(end) {
            Some(b',') => end += 1,
            _ if start > 0 && bytes[start - 1] == b',' => start -= 1,
            _ => {}
        }
        bytes.drain(start..end);
    } else {
        let copy = [&bytes[start..end], b","].concat();
        bytes.splice(start..start, copy);
    }
}

/// Whether a key begins here: a text that a colon follows.
fn starts_key(bytes: &[u8], at: usize) -> bool {
    let after_start = at.checked_sub(1).is_none_or(|before| b"{, \n".contains(&bytes[before]));
    bytes[at] == b'"' && after_start && bytes.get(text_end(bytes, at)) == Some(&b':')
}

/// Behind the text that begins here.
fn text_end(bytes: &[u8], start: usize) -> usize {
    let mut escaped = false;
    for (at, &byte) in bytes.iter().enumerate().skip(start + 1) {
        match byte {
            b'"' if !escaped => return at + 1,
            _ => escaped = byte == b'\\' && !escaped,
        }
    }
    bytes.len()
}

/// Behind the value of the key that begins here: at the comma or bracket that ends it.
fn value_end(bytes: &[u8], start: usize) -> usize {
    let (mut at, mut depth) = (text_end(bytes, start), 0_usize);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at = text_end(bytes, at);
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' | b',' if depth == 0 => return at,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_stay_objects() {
        let text = br#"{"a":1,"b":{"c":[1,{"d":"},\""}]},"e":null}"#;
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..100 {
            let mut bytes = text.to_vec();
            drop_or_repeat_key(&mut bytes, &mut Random::new(seed));
            assert!(serde_json::from_slice::<serde_json::Value>(&bytes).is_ok(), "{}", bytes.escape_ascii());
            seen.insert(bytes);
        }
        assert_eq!(seen.len(), 10, "five keys, dropped or repeated");
    }
}
