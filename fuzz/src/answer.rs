//! What a target makes of an input.

use std::fmt::Display;

/// A word about what was accepted, or why it was not.
pub type Answer = Result<String, String>;

/// Bytes of an answer that are compared.
const LONGEST: usize = 120;

/// An answer from any result.
pub fn answer<T, E: Display>(result: Result<T, E>) -> Answer {
    result.map(|_| String::new()).map_err(|error| error.to_string())
}

/// Accepted where one of the two is.
pub fn either(first: Answer, second: Answer) -> Answer {
    match (first, second) {
        (Ok(first), Ok(second)) => Ok(format!("{first} {second}")),
        (Ok(only), Err(other)) | (Err(other), Ok(only)) => Ok(format!("{only}, but {other}")),
        (Err(first), Err(_)) => Err(first),
    }
}

/// By which answers are compared: their words, without numbers and without what is quoted from the input, which are new
/// every time.
pub fn kind(answer: &Answer, input: &[u8]) -> String {
    let (mut kind, text) = match answer {
        Ok(text) => ("accepted".to_owned(), text),
        Err(text) => ("refused".to_owned(), text),
    };
    let quoted = |word: &str| input.windows(word.len()).any(|window| window == word.as_bytes());
    for word in text.split(|letter: char| !letter.is_ascii_alphabetic()) {
        if kind.len() >= LONGEST {
            break;
        }
        // Short ones are in any bytes.
        if word.len() > 3 && !quoted(word) {
            kind.push(' ');
            kind.push_str(word);
        }
    }
    kind
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_quotations_make_no_new_kind() {
        let of = |text: &str, input: &str| kind(&Err(text.to_owned()), input.as_bytes());
        assert_eq!(
            of("line 3: `abcde` is no number", "abcde\n"),
            of("line 17: `vwxyz` is no number", "vwxyz")
        );
        assert_ne!(of("line 3 is no number", ""), of("line 3 is too long", ""));
        assert_ne!(kind(&Ok(String::new()), b""), kind(&Err(String::new()), b""));
    }
}
