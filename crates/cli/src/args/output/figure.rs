//! `--figure`: one rule for every verb.

use clap::Args;
use clap::builder::{OsStringValueParser, TypedValueParser};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The option itself.
#[derive(Debug, Args)]
pub(crate) struct FigureArguments {
    /// Draw a figure. NAME.png or NAME.svg writes that file; NAME without an extension writes both.
    #[arg(
        long,
        value_name = "NAME",
        value_parser = OsStringValueParser::new().try_map(|name| figure(&name)),
        help_heading = super::super::shared::OUTPUT
    )]
    pub(crate) figure: Option<FigureFiles>,
}

/// The files a figure is written to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FigureFiles(Vec<PathBuf>);

impl FigureFiles {
    pub(crate) fn paths(&self) -> &[PathBuf] {
        &self.0
    }
}

fn figure(name: &OsStr) -> Result<FigureFiles, String> {
    let path = Path::new(name);
    if path.file_name().is_none() || name.to_string_lossy().ends_with(std::path::is_separator) {
        return Err("expected the name of a file".to_owned());
    }
    match path.extension().map(OsStr::to_string_lossy).as_deref() {
        Some("png" | "svg") => Ok(FigureFiles(vec![path.to_owned()])),
        None => Ok(FigureFiles(["svg", "png"].map(|extension| path.with_extension(extension)).into())),
        Some(other) => Err(format!("unknown extension `.{other}`: expected .png, .svg or none (both)")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_extension_names_one_file_and_none_names_both() {
        let files = |text: &str| figure(OsStr::new(text)).map(|files| files.0);
        assert_eq!(files("a/b.png"), Ok(vec!["a/b.png".into()]));
        assert_eq!(files("b.svg"), Ok(vec!["b.svg".into()]));
        assert_eq!(files("a.b/c"), Ok(vec!["a.b/c.svg".into(), "a.b/c.png".into()]));
        for bad in ["b.pdf", "b.PNG", "b.", "b/", "..", "", "frontier.v2"] {
            assert!(files(bad).is_err(), "{bad}");
        }
    }
}
