//! `gambeson analyze`: certified accuracy from logs, our own and those of other programs.

mod analysis;
mod figure;
mod more;
mod prove;
mod report;

use crate::args::AnalyzeArguments;
use crate::ended::Ended;
use crate::machine::Resources;
use crate::report::mark::{LATEX, MARKUP};
use crate::screen::shown;
use analysis::analyse;
use anyhow::Context;
use gambeson_lowrank::file::write_file;
use std::io::Write;
use std::path::{Path, PathBuf};

pub(crate) fn run(
    arguments: &AnalyzeArguments,
    stdout: &mut impl Write,
    resources: Resources,
) -> anyhow::Result<Ended> {
    let analysis = analyse(arguments, resources)?;
    let tables = report::tables(&analysis, arguments);
    if arguments.json {
        report::json(&analysis, arguments.envelope, stdout)?;
    } else {
        let texts: Vec<String> = tables.iter().map(crate::report::table::Table::terminal).collect();
        write!(stdout, "{}", texts.join("\n"))?;
    }
    stdout.flush()?;
    let save = |path: &Option<PathBuf>, bytes: &dyn Fn() -> anyhow::Result<Vec<u8>>| match path {
        Some(path) => write_file(path, &bytes()?).with_context(|| path.display().to_string()),
        None => Ok(()),
    };
    save(&arguments.markdown, &|| {
        let made = format!("\nMade by `{}`.\n", command());
        let texts: Vec<String> = tables.iter().map(crate::report::table::Table::markdown).collect();
        Ok(format!("{MARKUP}\n{}{made}", texts.join("\n")).into_bytes())
    })?;
    save(&arguments.latex, &|| {
        let texts: Vec<String> = tables.iter().map(crate::report::table::Table::latex).collect();
        Ok(format!("{LATEX}\n{}", texts.join("\n")).into_bytes())
    })?;
    save(&arguments.csv, &|| Ok(report::csv(&analysis, arguments.envelope).into_bytes()))?;
    if let Some(files) = &arguments.figure.figure {
        figure::draw(&analysis, arguments.envelope)?.write(files.paths())?;
    }
    Ok(Ended::AsAsked)
}

/// The command as it can be given again, without paths of this machine.
fn command() -> String {
    let data = std::env::var("GAMBESON_REFERENCE_DATA").unwrap_or_default();
    let word = |word: String| {
        let short = word.strip_prefix(&data).filter(|_| !data.is_empty());
        let word = match short {
            Some(rest) => format!("$GAMBESON_REFERENCE_DATA{rest}"),
            None if Path::new(&word).is_absolute() => {
                Path::new(&word).file_name().unwrap_or_default().to_string_lossy().into_owned()
            }
            None => word,
        };
        if word.contains(char::is_whitespace) { format!("'{word}'") } else { word }
    };
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    let words: Vec<String> = words.map(word).collect();
    shown(&format!("gambeson {}", words.join(" "))).replace('`', "'")
}
