//! Lines to copy that check a number of a page again.

use super::shell::word;
use gambeson::report::{MadeWith, Recheck};
use gambeson_data::dataset::Split;
use gambeson_lowrank::projection::certificate::certificate_path;
use gambeson_smooth::analysis::RadiusNorm;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// What records with noise levels need, and do not hold.
const LEVELS: &str = "levels.npy";
/// How the folder of a training that is done again begins; the name of the first one follows.
const AGAIN: &str = "again-";

/// The line for a shell.
pub(super) fn command_line(recheck: &Recheck<'_>) -> String {
    let mut line = vec!["gambeson".to_owned()];
    match recheck {
        Recheck::Accuracy { logs, projections, norm, radius, any_class } => {
            line.push("analyze".to_owned());
            line.extend(logs.iter().map(|path| file(path)));
            line.extend(["--radii".to_owned(), (*radius).to_owned()]);
            if *norm == RadiusNorm::Linf {
                line.extend(["--norm", "linf"].map(ToOwned::to_owned));
            }
            for projection in *projections {
                line.extend(["--projection".to_owned(), file(projection)]);
            }
            line.extend(any_class.then(|| "--any-class".to_owned()));
        }
        Recheck::Records { made_with, input } => records(&mut line, made_with, *input),
        Recheck::Projection { projection } => {
            let certificate: PathBuf = certificate_path(projection);
            line.extend(["check".to_owned(), file(projection), file(&certificate)]);
        }
        Recheck::Training { spec } => {
            let mut again = OsString::from(AGAIN);
            again.push(spec.parent().and_then(Path::file_name).unwrap_or_default());
            line.extend(["train".to_owned(), file(spec), "--out".to_owned(), word(&again)]);
        }
    }
    line.join(" ")
}

fn file(path: &Path) -> String {
    word(path.as_os_str())
}

fn records(line: &mut Vec<String>, made_with: &MadeWith, input: Option<&str>) {
    let MadeWith { records, network, mean, std, data, split, projection, has_levels, .. } = made_with;
    line.push("check".to_owned());
    line.extend(records.iter().map(|path| file(path)));
    line.extend(["--model".to_owned(), word(network), "--data".to_owned(), word(data)]);
    if *split == Some(Split::Train) {
        line.extend(["--split", "train"].map(ToOwned::to_owned));
    }
    let list = |numbers: &[f32]| numbers.iter().map(f32::to_string).collect::<Vec<_>>().join(",");
    if !mean.is_empty() {
        line.extend(["--mean".to_owned(), list(mean), "--std".to_owned(), list(std)]);
    }
    if let Some(projection) = projection {
        line.extend(["--projection".to_owned(), file(projection)]);
        if *has_levels {
            line.extend(["--noise-levels".to_owned(), word(OsStr::new(LEVELS))]);
        }
    }
    match input {
        Some(input) => line.extend(["--input".to_owned(), input.to_owned()]),
        None => line.push("--all".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_name_what_a_run_was_made_with() {
        let made_with = MadeWith {
            records: vec!["a b.jsonl".into()],
            network: "net.safetensors".into(),
            mean: vec![0.5],
            std: vec![0.25],
            data: "fashion".into(),
            split: Some(Split::Train),
            projection: Some("p.safetensors".into()),
            has_levels: true,
            missing: Vec::new(),
        };
        assert_eq!(
            command_line(&Recheck::Records { made_with: &made_with, input: Some("7") }),
            "gambeson check 'a b.jsonl' --model net.safetensors --data fashion --split train --mean 0.5 --std 0.25 \
             --projection p.safetensors --noise-levels levels.npy --input 7"
        );
        let projection = Path::new("p.safetensors");
        assert_eq!(
            command_line(&Recheck::Projection { projection }),
            "gambeson check p.safetensors p.cert.json"
        );
        let logs = [PathBuf::from("a.jsonl")];
        let accuracy = Recheck::Accuracy {
            logs: &logs,
            projections: &[],
            norm: RadiusNorm::Linf,
            radius: "2/255",
            any_class: true,
        };
        assert_eq!(command_line(&accuracy), "gambeson analyze a.jsonl --radii 2/255 --norm linf --any-class");
        let spec = Path::new("run/spec.toml");
        assert_eq!(command_line(&Recheck::Training { spec }), "gambeson train run/spec.toml --out again-run");
    }
}
