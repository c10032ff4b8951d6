//! Records and the logs of other programs.

use super::as_file;
use gambeson_checker::FailureProbability;
use gambeson_smooth::analysis::{Settings, read_logs};
use gambeson_smooth::record::read_records;

pub(super) fn records(bytes: &[u8]) {
    as_file(bytes, "r.jsonl", |path| {
        if let Ok(records) = read_records(path)
            && let Some(record) = records.first()
        {
            let _ = record.clone().with_derived();
        }
    });
}

pub(super) fn logs(bytes: &[u8]) {
    as_file(bytes, "log", |path| {
        let paths = [path.to_path_buf()];
        let _ = read_logs(&paths, &Settings::default());
        let alpha = FailureProbability::new(0.001).ok();
        let _ = read_logs(&paths, &Settings { alpha, sigma: Some(0.5), ..Settings::default() });
    });
}
