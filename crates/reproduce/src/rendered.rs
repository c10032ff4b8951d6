//! What an experiment comes to: tables and figures as files, a section of a page, and the networks shown.

use crate::error::ReproduceError;
use crate::name::ObjectName;
use crate::plan::{Planned, Runs};
use crate::report::figure::Drawing;
use crate::report::mark::{LATEX, MARKUP};
use crate::report::page::{PictureGallery, ReportSection, SectionContent};
use crate::report::table::Table;
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::file::write_file;
use gambeson_smooth::record::{Record as CertificationRecord, Recorded};
use std::path::{Path, PathBuf};

/// What a reader gets to see; a function of the records alone.
pub(crate) struct Rendered {
    /// The first is what the object is about; others follow from it.
    pub(crate) tables: Vec<Table>,
    pub(crate) figure: Option<Drawing>,
    /// The pictures of the figure, for a page on which they can be chosen from.
    pub(crate) gallery: Option<PictureGallery>,
}

impl Rendered {
    pub(crate) fn of_table(table: Table) -> Self {
        Self { tables: vec![table], figure: None, gallery: None }
    }

    pub(crate) fn with_figure(self, figure: Drawing) -> Self {
        Self { figure: Some(figure), ..self }
    }

    /// As parts of a page: the figure or its pictures, then the tables.
    pub(crate) fn parts(&self) -> Vec<SectionContent> {
        // The first table says what the figure shows.
        let figure =
            |drawing: &Drawing| SectionContent::Figure { drawing: drawing.clone(), caption: String::new() };
        let shown = match &self.gallery {
            Some(gallery) => Some(SectionContent::Pictures(gallery.clone())),
            None => self.figure.as_ref().map(figure),
        };
        shown.into_iter().chain([SectionContent::Tables(self.tables.clone())]).collect()
    }

    /// Writes `STEM.md` and `STEM.tex`, for figures also `STEM.svg` and `STEM.png`; returns the paths.
    pub(crate) fn write(&self, stem: &Path) -> Result<Vec<PathBuf>, ReproduceError> {
        let mut files = vec![
            ("md", format!("{MARKUP}\n{}", joined(&self.tables, Table::markdown)).into_bytes()),
            ("tex", format!("{LATEX}\n{}", joined(&self.tables, Table::latex)).into_bytes()),
        ];
        if let Some(figure) = &self.figure {
            files.extend([("svg", figure.svg()?), ("png", figure.png()?)]);
        }
        files
            .into_iter()
            .map(|(extension, bytes)| {
                let path = file(stem, extension);
                match write_file(&path, &bytes) {
                    Ok(()) => Ok(path),
                    Err(reason) => Err(ReproduceError::File { path, reason }),
                }
            })
            .collect()
    }
}

/// One table after the other.
fn joined(tables: &[Table], text: fn(&Table) -> String) -> String {
    tables.iter().map(text).collect::<Vec<_>>().join("\n")
}

/// `STEM.extension`, whatever dots the stem has.
pub(crate) fn file(stem: &Path, extension: &str) -> PathBuf {
    let mut path = stem.as_os_str().to_owned();
    path.push(".");
    path.push(extension);
    path.into()
}

/// What an experiment comes to.
#[derive(Clone, Debug)]
pub struct ObjectReport {
    /// The table or figure.
    pub name: ObjectName,
    /// The figure and the tables as a section of a page.
    pub section: ReportSection,
    /// The networks shown of which all records are there.
    pub networks: Vec<CertifiedNetwork>,
    /// Networks that are not among them, and why.
    pub left_out: Vec<String>,
    /// The records shown, one JSON object each.
    pub records: Vec<String>,
    /// The tables made from them, what the object is about first.
    pub tables: Vec<Table>,
    /// The files written: the table, and the figure if there is one.
    pub files: Vec<PathBuf>,
    /// Runs without a record.
    pub missing: usize,
    /// Runs that did not reach what was asked of them.
    pub fell_short: usize,
    /// Runs that failed in this call.
    pub failed: usize,
}

/// A network whose certification is on record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertifiedNetwork {
    /// As tables and figures name it.
    pub title: String,
    /// The usual name of its data.
    pub data: String,
    /// The copy of its certification records; spec and metrics are beside it.
    pub records: PathBuf,
    /// Where it was trained.
    pub run: PathBuf,
}

/// The certified networks of a plan, in its order; and which have no records, or those of other networks.
pub(crate) fn certified_networks<P: Planned>(
    runs: &Runs<P>,
    folder: &Path,
    memory: MemoryLimit,
) -> (Vec<CertifiedNetwork>, Vec<String>) {
    let (mut networks, mut problems) = (Vec::new(), Vec::new());
    for (planned, record) in runs.iter() {
        let Some((work, _)) = planned.network_work().zip(record) else { continue };
        let Some(certified) = &work.certified else { continue };
        let records = certified.kept.clone();
        let trained = planned.needs().first().and_then(|&at| runs.iter().nth(at)?.1);
        let hash = trained.and_then(P::network);
        match (Recorded::<CertificationRecord>::read(std::slice::from_ref(&records), memory), hash) {
            (Err(error), _) => problems.push(format!("{}: {error}", work.title)),
            (Ok(found), Some(hash)) if found.run().common.model.split(' ').next() != Some(&hash) => {
                let path = records.display();
                problems
                    .push(format!("{}: {path}: records of another network than sha256:{hash}", work.title));
            }
            (Ok(_), _) => networks.push(CertifiedNetwork {
                records,
                run: folder.join(&work.run),
                title: work.title,
                data: work.data,
            }),
        }
    }
    (networks, problems)
}
