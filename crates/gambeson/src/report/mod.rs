//! Runs as one page that can be handed on.
//!
//! [`report`] reads what it is given (folders of training, files of records, logs of other programs), derives radii again from
//! counts, proves κ again where the projection is at hand, opens the data where their content is known here, and makes a page
//! of sections ([`gambeson_report::page`](mod@gambeson_report::page)). What cannot be read is said on the page and in the
//! result; only where nothing is left there is no page.
//!
//! Numbers come from where `analyze` takes them: [`LoggedRun::scores`](gambeson_smooth::analysis::LoggedRun::scores).

mod assemble;
mod certified;
mod data;
mod facts;
mod find;
mod inputs;
mod made_with;
mod params;
mod pictures;
mod recheck;
mod sources;
mod training;

use crate::context::Context;
use crate::error::Error;
pub use crate::error::report::ReportError;
use assemble::{Economy, Material};
pub use find::report_files;
use gambeson_lowrank::file::write_file;
use gambeson_report::page::SectionRecord;
pub use params::{CommandLine, ReportParams};
pub use recheck::{MadeWith, PLACE, Recheck};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// A page, and what is on it. It serialises to what `report --json` prints.
#[derive(Clone, Debug)]
pub struct Report {
    /// The file.
    pub html: String,
    /// Where it was written.
    pub out: Option<PathBuf>,
    record: ReportRecord,
}

/// What `report --json` prints. Keys are only ever added.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReportRecord {
    /// The file that was written.
    pub out: Option<String>,
    /// Its size.
    pub bytes: usize,
    /// Heading of the page.
    pub title: String,
    /// In the order of the page.
    pub sections: Vec<SectionRecord>,
    /// The runs on it.
    pub runs: Vec<ReportedRun>,
    /// What was left out, and why.
    pub problems: Vec<String>,
    /// What is worth knowing and leaves nothing out.
    pub remarks: Vec<String>,
}

/// A run on a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReportedRun {
    /// Its name there.
    pub label: String,
    /// Its files or its folder.
    pub source: String,
    /// `certification` or `training`.
    pub kind: &'static str,
    /// Inputs with a record; null for training.
    pub inputs: Option<usize>,
}

impl Report {
    /// What it says, as data.
    pub fn record(&self) -> &ReportRecord {
        &self.record
    }

    /// Whether everything that was named is on the page.
    pub fn is_complete(&self) -> bool {
        self.record.problems.is_empty()
    }
}

impl Serialize for Report {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.record.serialize(serializer)
    }
}

/// Makes a page of runs: folders of training, files of records, folders of these, patterns with * and ?, and logs that
/// [`analyze`](crate::analyze()) reads. Nothing is trained or drawn. With sections of the caller's own, there need be no runs.
///
/// The page is a function of the files: the same files give the same bytes.
pub fn report(context: &Context, runs: &[PathBuf], params: ReportParams) -> Result<Report, Error> {
    context.run(|| {
        let (out, most) = (params.out.clone(), params.most_bytes);
        let material = Material::gather(context, runs, params)?;
        let mut economy = Economy::generous(&material);
        let (html, page) = loop {
            let page = material.page(economy)?;
            let html = page.html().map_err(|reason| ReportError::Encoding { reason })?;
            if html.len() <= most {
                break (html, page);
            }
            economy = economy.tighter().ok_or(ReportError::TooLarge { bytes: html.len(), most })?;
        };
        if let Some(path) = &out {
            write(path, &html)?;
        }
        let record = ReportRecord {
            out: out.as_deref().map(|path| path.to_string_lossy().into_owned()),
            bytes: html.len(),
            title: page.title.clone(),
            sections: page.contents(),
            runs: material.runs(),
            problems: material.problems().to_vec(),
            remarks: material.remarks().to_vec(),
        };
        Ok(Report { html, out, record })
    })
}

fn write(path: &Path, html: &str) -> Result<(), ReportError> {
    write_file(path, html.as_bytes())
        .map_err(|reason| ReportError::Write { path: path.to_path_buf(), reason })
}
