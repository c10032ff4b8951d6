//! The tables of Cohen et al., which other programs read: tab-separated, −1 for an abstention.
//!
//! Nothing in them says who wrote them. Readers take the first line for the names of the columns (pandas by name, others by
//! place) and every other line for an input, so that a comment, a further column or a further line would be read as data.
//! A table of ours is therefore no different from a log of Cohen's program, and no existing file is overwritten unasked.

use gambeson_report::decimal::down;
use gambeson_smooth::record::{PredictionRecord, Record};
use std::fmt::Write;

/// The columns of certificates.
const CERTIFIED: &str = "idx\tlabel\tpredict\tradius\tcorrect\ttime";
/// The columns of predictions.
const PREDICTED: &str = "idx\tlabel\tpredict\tcorrect\ttime";

/// `idx label predict radius correct time`, the radius in ℓ2 and cut off after four significant digits.
pub(super) fn certified<'a>(records: impl Iterator<Item = &'a Record>) -> String {
    let mut text = format!("{CERTIFIED}\n");
    for record in records {
        let radius = record.derived.l2.map_or_else(|| "0.0".to_owned(), |radius| down(radius, 4));
        line(&mut text, record.index, record.label, record.derived.class, Some(&radius), record.seconds);
    }
    text
}

/// `idx label predict correct time`.
pub(super) fn predicted<'a>(records: impl Iterator<Item = &'a PredictionRecord>) -> String {
    let mut text = format!("{PREDICTED}\n");
    for record in records {
        line(&mut text, record.index, record.label, record.class, None, record.seconds);
    }
    text
}

/// One line; a label that is not known is never right.
fn line(
    text: &mut String,
    index: u64,
    label: Option<u32>,
    class: Option<u32>,
    radius: Option<&str>,
    seconds: f64,
) {
    let number = |class: Option<u32>| class.map_or_else(|| "-1".to_owned(), |class| class.to_string());
    let correct = u8::from(class.is_some() && class == label);
    let radius = radius.map_or_else(String::new, |radius| format!("{radius}\t"));
    let time = time(seconds);
    // Writing to a string does not fail.
    let _ = writeln!(text, "{index}\t{}\t{}\t{radius}{correct}\t{time}", number(label), number(class));
}

/// h:mm:ss.ffffff.
fn time(seconds: f64) -> String {
    let whole = std::time::Duration::from_secs_f64(seconds.clamp(0.0, 1e9));
    let (total, micros) = (whole.as_secs(), whole.subsec_micros());
    format!("{}:{:02}:{:02}.{micros:06}", total / 3600, total / 60 % 60, total % 60)
}
