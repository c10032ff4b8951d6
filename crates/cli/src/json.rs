//! The JSON objects that commands print with `--json` and `reproduce` reads back. Keys are only ever added.

pub(crate) use gambeson_report::json::line;
use serde::Serialize;

/// What a command found: as one JSON object, or as a text for people.
pub(crate) fn print_or<W: std::io::Write>(
    json: bool,
    object: &impl Serialize,
    stdout: &mut W,
    text: impl FnOnce(&mut W) -> std::io::Result<()>,
) -> anyhow::Result<()> {
    if json {
        writeln!(stdout, "{}", line(object)?)?;
    } else {
        text(stdout)?;
    }
    Ok(stdout.flush()?)
}
