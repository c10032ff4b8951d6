//! What a target makes of an input.

use std::fmt::Display;

/// A word about what was accepted, or why it was not.
pub type Answer = Result<String, String>;

/// Answers kept apart, at most this many bytes of each.
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

/// By which answers are compared: without numbers and without what is quoted from the input, which are new every time.
pub fn kind(answer: &Answer) -> String {
    let (accepted, text) = match answer {
        Ok(text) => ('+', text),
        Err(text) => ('-', text),
    };
    let mut kind = String::from(accepted);
    let mut quoted = None;
    for letter in text.chars() {
        match (quoted, letter) {
            (Some(mark), _) if letter == mark => quoted = None,
            (Some(_), _) => {}
            (None, '`' | '"') => quoted = Some(letter),
            (None, _) if letter.is_ascii_alphabetic() || letter == ' ' => kind.push(letter),
            (None, _) => {}
        }
        if kind.len() >= LONGEST {
            break;
        }
    }
    kind
}
