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
mod record;
mod sources;
mod training;

use crate::context::Context;
use crate::error::Error;
pub use crate::error::report::ReportError;
use assemble::{Economy, Material};
pub use find::report_files;
use gambeson_lowrank::file::write_file;
pub use gambeson_report::page::{ReportSection, SectionContent, SectionRecord};
pub use params::{CommandLine, ReportParams, RunName};
pub use recheck::{MadeWith, PLACE, Recheck};
pub use record::{Report, ReportRecord, ReportedRun};
use std::path::{Path, PathBuf};

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
        Ok(Report::new(html, out, record))
    })
}

fn write(path: &Path, html: &str) -> Result<(), ReportError> {
    write_file(path, html.as_bytes())
        .map_err(|reason| ReportError::Write { path: path.to_path_buf(), reason })
}
