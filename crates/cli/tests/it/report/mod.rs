//! `report`: what is on the page, what is left out, and the page in a browser.

/// The page in Chromium, where there is one.
mod browser;
/// Torn files, other networks and data, names that are no names.
mod hostile;
/// Lines to copy, run as they stand.
mod lines;
/// Numbers, files, exit codes.
mod numbers;

use crate::support::{Bench, Run};
use serde_json::Value;

/// The network and the projection that come with the sources.
const MODELS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/fashion");

fn ok(run: Run) -> Run {
    assert_eq!(run.code, 0, "{run:?}");
    run
}

/// The network and its projection copied into the folder, so that records are beside them.
fn with_network(bench: &Bench) {
    for name in ["network.safetensors", "projection.safetensors", "projection.cert.json"] {
        std::fs::copy(format!("{MODELS}/{name}"), bench.path(name)).expect("copied");
    }
}

/// Certifies every 25th image with noise of a level.
fn certify(bench: &Bench, sigma: &str, out: &str) {
    let line = "certify --model network.safetensors --projection projection.safetensors --data fashion --every 25 --n 300";
    ok(bench.run(&format!("{line} --sigma {sigma} --out {out}")));
}

/// The data of the script.
fn island(html: &str) -> Value {
    let (_, rest) = html.split_once("<script id=\"data\" type=\"application/json\">").expect("data");
    serde_json::from_str(rest.split_once("</script>").expect("an end").0).expect("JSON")
}

/// A text between tags as it was before it was escaped.
fn unescaped(html: &str) -> String {
    let pairs = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    pairs.iter().fold(html.to_owned(), |text, (escaped, letter)| text.replace(escaped, letter))
}
