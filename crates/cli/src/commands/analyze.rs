//! `gambeson analyze`: certified accuracy from logs, our own and those of other programs.

use crate::args::AnalyzeArguments;
use crate::ended::Ended;
use crate::json;
use crate::progress::noted;
use crate::report::mark::{LATEX, MARKUP};
use crate::report::table::Table;
use crate::screen::shown;
use anyhow::{Context as _, bail};
use gambeson::Context;
use gambeson::analyze::{Advice, Analysis, AnalyzeParams, ProjectionFiles};
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::file::write_file;
use gambeson_lowrank::matrix_file::npy::read_vector;
use gambeson_smooth::analysis::Scale;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The options that tables recommend.
const ADVICE: Advice = Advice { mixed: "--mixed", projections: "--projection", check: "gambeson check" };

pub(crate) fn run(
    arguments: &AnalyzeArguments,
    stdout: &mut impl Write,
    context: &Context,
) -> anyhow::Result<Ended> {
    let params = params(arguments, context.memory_limit())?;
    let analysis = gambeson::analyze(&noted(context), &arguments.logs, &params)?;
    let tables = analysis.tables_with(arguments.digits, ADVICE);
    if arguments.json {
        for record in analysis.records() {
            writeln!(stdout, "{}", json::line(&record)?)?;
        }
    } else {
        write!(stdout, "{}", all(&tables, Table::terminal))?;
    }
    stdout.flush()?;
    write_files(arguments, &analysis, &tables)?;
    Ok(Ended::AsAsked)
}

fn params(arguments: &AnalyzeArguments, memory: MemoryLimit) -> anyhow::Result<AnalyzeParams> {
    let (radii, proof) = (&arguments.radii, &arguments.proof);
    let (projections, certificates) = (&proof.projection, &proof.certificate);
    if !certificates.is_empty() && certificates.len() != projections.len() {
        bail!("{} certificates for {} projections", certificates.len(), projections.len());
    }
    let files = |(at, projection): (usize, &PathBuf)| ProjectionFiles {
        projection: projection.clone(),
        certificate: certificates.get(at).cloned(),
    };
    Ok(AnalyzeParams {
        radii: radii.radii.clone(),
        norm: radii.norm.map(Into::into),
        scale: match (radii.kappa, radii.by_dimension) {
            (Some(kappa), _) => Scale::Kappa(kappa),
            (None, Some(n)) => Scale::Dimension(n),
            (None, None) => Scale::Own,
        },
        any_class: radii.any_class,
        projections: projections.iter().enumerate().map(files).collect(),
        noise_levels: proof.noise_levels.as_deref().map(|path| read_vector(path, memory)).transpose()?,
        alpha: proof.alpha,
        limits: proof.method.into(),
        sigma: proof.sigma,
        rho: proof.rho,
        log_alpha: proof.log_alpha,
        skip_bad: arguments.skip_bad,
        by_sigma: arguments.by_sigma,
        per_class: arguments.per_class,
        paired: arguments.paired,
        envelope: arguments.envelope,
        mixed: arguments.mixed,
        data_folder: None,
        labels: arguments.label.clone(),
    })
}

fn write_files(arguments: &AnalyzeArguments, analysis: &Analysis, tables: &[Table]) -> anyhow::Result<()> {
    let save = |path: &Option<PathBuf>, text: &dyn Fn() -> String| match path {
        Some(path) => write_file(path, text().as_bytes()).with_context(|| path.display().to_string()),
        None => Ok(()),
    };
    save(&arguments.markdown, &|| {
        format!("{MARKUP}\n{}\nMade by `{}`.\n", all(tables, Table::markdown), command())
    })?;
    save(&arguments.latex, &|| format!("{LATEX}\n{}", all(tables, Table::latex)))?;
    save(&arguments.csv, &|| analysis.csv())?;
    if let Some(files) = &arguments.figure.figure {
        analysis.figure()?.write(files.paths())?;
    }
    Ok(())
}

/// All tables, one below the other.
fn all(tables: &[Table], text: fn(&Table) -> String) -> String {
    tables.iter().map(text).collect::<Vec<_>>().join("\n")
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
