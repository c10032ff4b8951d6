//! What a command printed against what is shown: times, rates, memory, dates, paths and random seeds may differ.

use gambeson_report::text::wrapped;

/// A line that stands for any others.
pub(super) const LEFT_OUT: &str = "...";

/// Whether a command printed what is shown. Where nothing is masked or left out, that means line by line; else, word by
/// word. `masks_numbers`: no number is compared.
pub(super) fn agrees(printed: &str, shown: &[String], masks_numbers: bool) -> bool {
    let printed: Vec<&str> = printed.lines().filter(|line| !is_estimate(line)).collect();
    let shown: Vec<&str> = shown.iter().map(String::as_str).filter(|line| !is_estimate(line)).collect();
    if printed == shown {
        return true;
    }
    let is_laid_out = printed.iter().all(|line| line.chars().count() <= 80);
    let parts: Vec<Vec<String>> =
        shown.split(|line| *line == LEFT_OUT).map(|part| masked(part, masks_numbers)).collect();
    let is_masked = |word: &String| word.starts_with('\u{1}');
    let plain = parts.len() == 1 && !parts[0].iter().any(is_masked);
    if plain && is_laid_out {
        return false;
    }
    follow_each_other(&masked(&printed, masks_numbers), &parts)
}

/// Whether words begin with the first part, end with the last, and have the others between them in order.
fn follow_each_other(words: &[String], parts: &[Vec<String>]) -> bool {
    let [first, between @ ..] = parts else { return false };
    if !words.starts_with(first) {
        return false;
    }
    let mut rest = &words[first.len()..];
    let [between @ .., last] = between else { return rest.is_empty() };
    for part in between {
        let Some(at) = (0..=rest.len()).find(|&at| rest[at..].starts_with(part)) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// What is printed by slow machines only.
fn is_estimate(line: &str) -> bool {
    (line.starts_with("about ") || line.starts_with("at most ")) && line.ends_with(" draws per second")
}

/// The words of some lines, with those that differ from run to run replaced.
fn masked(lines: &[&str], masks_numbers: bool) -> Vec<String> {
    const TIMES: [&str; 6] = ["s", "ms", "min", "h", "seconds", "minutes"];
    const SIZES: [&str; 4] = ["bytes", "kB", "MB", "GB"];
    let words: Vec<&str> = lines.iter().flat_map(|line| line.split_whitespace()).collect();
    let mut found: Vec<String> = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let bare =
            |at: usize| words.get(at).map_or("", |word| word.trim_matches(['(', ')', ',', ';', '.', ':']));
        let (word, next) = (words[at], bare(at + 1));
        let is_number = is_number(bare(at));
        let unit = if TIMES.contains(&next) { "time" } else { "size" };
        at += 1;
        if is_number && (TIMES.contains(&next) || SIZES.contains(&next)) {
            let mask = format!("\u{1}{unit}");
            at += 1;
            if found.ends_with(&["less".to_owned(), "than".to_owned()]) {
                found.truncate(found.len() - 2);
            }
            if found.last() != Some(&mask) {
                found.push(mask);
            }
        } else if is_number && (at..at + 2).any(|at| bare(at) == "per" && bare(at + 1) == "second") {
            found.push("\u{1}rate".to_owned());
        } else if found.last().is_some_and(|last| last == "--sample-seed") {
            found.push("\u{1}seed".to_owned());
        } else if word.starts_with('/') && word.len() > 1 {
            found.push("\u{1}path".to_owned());
        } else if is_date(word) {
            found.push("\u{1}date".to_owned());
        } else if masks_numbers && word.contains(|letter: char| letter.is_ascii_digit()) {
            found.push("\u{1}number".to_owned());
        } else {
            found.push(word.to_owned());
        }
    }
    found
}

fn is_number(word: &str) -> bool {
    word.starts_with(|letter: char| letter.is_ascii_digit())
        && word.chars().all(|letter| letter.is_ascii_digit() || ".,e-".contains(letter))
}

fn is_date(word: &str) -> bool {
    let parts: Vec<&str> = word.split('-').collect();
    let digits = |part: &&str| part.chars().all(|letter| letter.is_ascii_digit());
    parts.len() == 3 && parts.iter().all(digits) && parts[0].len() == 4
}

/// What to show of what was printed: errors wrapped as on a terminal.
pub(super) fn lines_to_show(printed: &str) -> Vec<String> {
    let lines = printed.lines().filter(|line| !is_estimate(line));
    let fitted =
        lines.map(|line| if line.starts_with("error: ") { wrapped(line, 2) } else { line.to_owned() });
    fitted.flat_map(|line| line.split('\n').map(str::to_owned).collect::<Vec<_>>()).collect()
}

#[test]
fn only_what_differs_from_run_to_run_is_masked() {
    let agrees = |printed: &str, shown: &str| {
        let shown: Vec<String> = shown.lines().map(str::to_owned).collect();
        agrees(printed, &shown, false)
    };
    assert!(agrees(
        "draws 55 in 7.2 s, 7614 per second; 10 each",
        "draws 55 in 49 s, 3 per second;\n  10 each"
    ));
    assert!(!agrees("draws 55 in 7.2 s", "draws 56 in 7.2 s"));
    assert!(agrees("done in less than 1 s", "done in 1 min 3 s") && agrees("at /tmp/x/p", "at /home/p"));
    assert!(agrees("about 5 s for 50 inputs of 110 draws each, at 1 draws per second\nyes", "yes"));
    assert!(
        agrees("a\nb\nc\nd", "a\n...\nd") && agrees("a\nb\nc\nd", "...\nb\n...") && agrees("a", "...\na")
    );
    assert!(!agrees("a\nb\nc", "...\nb") && !agrees("a\nb", "a\n...\nb\n...\nb") && !agrees("", "a"));
    assert!(!agrees("a  b", "a b"), "where nothing is masked, columns count");
}
