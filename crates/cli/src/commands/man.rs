//! `gambeson man`: manual pages, one per verb.

use crate::args::ManArguments;
use crate::ended::Ended;
use crate::report::mark::MANUAL;
use crate::screen::shown_path;
use anyhow::{Context, bail};
use clap::Command;
use gambeson_lowrank::file::write_file;
use std::io::Write;

pub(super) fn run(arguments: &ManArguments, stdout: &mut impl Write) -> anyhow::Result<Ended> {
    let program = ManArguments::program();
    if let Some(folder) = &arguments.out {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("{}: cannot be created", folder.display()))?;
        for (path, command) in arguments.files().iter().zip(ManArguments::pages(&program)) {
            write_file(path, &page(command)?).with_context(|| path.display().to_string())?;
            writeln!(stdout, "{}", shown_path(path))?;
        }
    } else {
        let command = arguments.verb.iter().try_fold(&program, |command, verb| below(command, verb))?;
        stdout.write_all(&page(command)?)?;
    }
    stdout.flush()?;
    Ok(Ended::AsAsked)
}

/// The verb of this name below a command.
fn below<'a>(command: &'a Command, verb: &str) -> anyhow::Result<&'a Command> {
    let names: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
    match command.find_subcommand(verb) {
        Some(found) => Ok(found),
        None if names.is_empty() => {
            bail!("`{}` has no verb `{verb}`", ManArguments::page_name(command).replace('-', " "))
        }
        None => bail!("unknown verb `{verb}`: expected {}", names.join(", ")),
    }
}

fn page(command: &Command) -> anyhow::Result<Vec<u8>> {
    let mut page = format!("{MANUAL}\n").into_bytes();
    let version = env!("CARGO_PKG_VERSION");
    let command = command.clone().version(version);
    clap_mangen::Man::new(command).source(format!("gambeson {version}")).render(&mut page)?;
    Ok(page)
}
