//! The page in Chromium: sliders, switches, keyboard, accessibility. The tests themselves are in `tests/browser`.

use super::hostile::HOSTILE;
use super::{certify, ok, with_network};
use crate::support::Bench;
use gambeson_report::figure::Pixels;
use gambeson_report::page::{
    CaptionedPicture, PictureGallery, PictureUri, ReportPage, ReportSection, SectionContent,
};
use gambeson_testing::skipped;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const TESTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/browser");

/// The browser; none, reported as skipped, where it, node or the packages are missing.
fn browser() -> Option<PathBuf> {
    let runs = |program: &Path| {
        let run = Command::new(program)
            .arg("--version")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        run.is_ok_and(|status| status.success())
    };
    if !runs(Path::new("node")) {
        skipped("there is no node");
        return None;
    }
    let packages = ["playwright-core", "axe-core"];
    if packages.iter().any(|name| !Path::new(TESTS).join("node_modules").join(name).is_dir()) {
        skipped("playwright-core and axe-core are not installed: npm install in crates/cli/tests/browser");
        return None;
    }
    let named = std::env::var_os("GAMBESON_CHROMIUM").map(PathBuf::from);
    let usual =
        ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].map(PathBuf::from);
    let found = named.into_iter().chain(usual).find(|path| path.is_file());
    if found.is_none() {
        skipped("there is no Chromium: install it, or name it by GAMBESON_CHROMIUM");
    }
    found
}

/// Data whose classes have hostile names: a folder of images for each.
fn hostile_data(bench: &Bench) {
    for (class, shade) in [("<img src=x onerror=window.hacked=1>", 40), ("\"'--><!--<b>", 200)] {
        let folder = bench.path("classes").join(class);
        std::fs::create_dir_all(&folder).expect("a folder");
        for number in 0..3_u8 {
            let pixels = Pixels { width: 28, height: 28, rgb: vec![shade + number; 28 * 28 * 3] };
            let uri = PictureUri::new(&pixels).expect("a picture");
            let text = uri.as_str().rsplit(',').next().expect("base64").to_owned();
            let bytes = gambeson_report::base64::decode(&text).expect("base64");
            std::fs::write(folder.join(format!("{number}.png")), bytes).expect("written");
        }
    }
}

fn gallery() -> String {
    let picture = |shade: u8| {
        let pixels = Pixels { width: 8, height: 8, rgb: vec![shade; 8 * 8 * 3] };
        Some(CaptionedPicture {
            picture: PictureUri::new(&pixels).expect("a picture"),
            caption: format!("shade {shade}"),
        })
    };
    let gallery = PictureGallery {
        notes: vec!["Perturbations of k cosine coefficients.".to_owned()],
        slider: Some("k".to_owned()),
        columns: ["original", "k = 1", "k = 10", "k = 100"].map(ToOwned::to_owned).to_vec(),
        rows: (0..3).map(|row| (0..4).map(|column| picture(60 * row + 15 * column)).collect()).collect(),
    };
    let section =
        ReportSection { heading: "Perturbations".to_owned(), content: SectionContent::Pictures(gallery) };
    ReportPage { title: "A gallery".to_owned(), sections: vec![section], ..ReportPage::default() }
        .html()
        .expect("JSON")
}

#[test]
fn pages_work_in_a_browser() {
    let Some(chromium) = browser() else { return };
    let bench = Bench::new();
    with_network(&bench);
    certify(&bench, "0.25", "low.jsonl");
    certify(&bench, "0.5", "high.jsonl");
    certify(&bench, "0.75", "highest.jsonl");
    let runs = "low.jsonl high.jsonl highest.jsonl";
    ok(bench.run(&format!("report {runs} --out runs.html")));
    for (norm, radii) in
        [("l2", "0,0.1,0.2,0.25,0.5,0.62,0.75,1,1.25,1.5"), ("linf", "0,0.01,0.02,0.03,0.05,0.075,0.1,0.15")]
    {
        let analysed =
            ok(bench.run(&format!("analyze {runs} --norm {norm} --radii {radii} --per-class --json")));
        bench.write(&format!("analyze.{norm}.json"), analysed.stdout);
    }
    let small = "--images 12 --n 200 --set data.samples=256 --set optimiser.epochs=3 --set model.width=4";
    ok(bench.run(&format!("quickstart --out tour {small} --json")));
    std::fs::copy(bench.path("tour/report.html"), bench.path("training.html")).expect("copied");
    let parts = "--model network.safetensors --data fashion --projection projection.safetensors";
    ok(bench.run(&format!("bundle high.jsonl {parts} --out evidence")));
    std::fs::copy(bench.path("evidence/index.html"), bench.path("bundle.html")).expect("copied");
    hostile_data(&bench);
    ok(bench
        .run("certify --model toy:half-space,offset=0 --data classes --sigma 0.5 --n 100 --out toy.jsonl"));
    let hostile = Command::new(env!("CARGO_BIN_EXE_gambeson"))
        .args([
            "report",
            "toy.jsonl",
            "--data",
            "classes",
            "--label",
            HOSTILE,
            "--title",
            HOSTILE,
            "--out",
            "hostile.html",
        ])
        .current_dir(bench.path(""))
        .status();
    assert!(hostile.is_ok_and(|status| status.success()));
    bench.write("gallery.html", gallery());
    let run = Command::new("node")
        .args(["--test", "--test-reporter", "tap", "report.test.mjs"])
        .current_dir(TESTS)
        .env("GAMBESON_PAGES", bench.path(""))
        .env("GAMBESON_CHROMIUM", chromium)
        .stdin(Stdio::null())
        .output()
        .expect("node runs");
    let text = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{text}\n{}", String::from_utf8_lossy(&run.stderr));
    let passed = text.lines().find_map(|line| line.strip_prefix("# pass ")?.parse::<u32>().ok());
    assert!(passed.is_some_and(|passed| passed >= 30), "{text}");
}
