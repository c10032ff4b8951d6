//! Killed at any moment, an installation leaves the set that was there, or the new one.
//!
//! Twenty kills; `GAMBESON_KILLS=100` asks for more.

use crate::fetch::{FILES, GOOD, names, tar};
use crate::support::{folder, quiet, write};
use gambeson_data::fetch::{Provider, fetch_files};
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Where the child finds its folder.
const HOME: &str = "GAMBESON_TEST_KILLED";

/// What the test below kills: a program that does nothing but install. As a test of its own it has nothing to do.
#[test]
fn installs_over_and_over() {
    let Some(home) = std::env::var_os(HOME) else { return };
    loop {
        fetched(Path::new(&home), "good.tar").expect("installed");
    }
}

/// From an archive beside the data.
fn fetched(home: &Path, archive: &str) -> Result<(), String> {
    let providers = [Provider::File(home.join(archive))];
    let fetched = fetch_files("set", &FILES, &providers, &home.join("data"), &mut quiet);
    fetched.map(|_| ()).map_err(|error| error.to_string())
}

fn start(home: &OsStr) -> Child {
    Command::new(std::env::current_exe().expect("the tests"))
        .args(["kills::installs_over_and_over", "--exact"])
        .env(HOME, home)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("started")
}

#[test]
fn a_set_is_there_whenever_its_installation_ends() {
    let asked = std::env::var("GAMBESON_KILLS").ok().and_then(|text| text.parse::<u64>().ok());
    let home = folder();
    write(home.path(), "good.tar", tar(&GOOD));
    write(home.path(), "wrong.tar", tar(&GOOD[..1]));
    let data = home.path().join("data");
    fetched(home.path(), "good.tar").expect("installed");
    let mut left_aside = 0;
    for kill in 0..asked.unwrap_or(20) {
        let mut child = start(home.path().as_os_str());
        // The moment between two names is short: half of the kills wait for it.
        let deadline = Instant::now() + Duration::from_secs(10);
        let seen = |start: &str| names(&data).iter().any(|name| name.starts_with(start));
        let awaited = if kill % 2 == 0 { ".old-" } else { ".incomplete-" };
        while !seen(awaited) && Instant::now() < deadline {
            std::hint::spin_loop();
        }
        std::thread::sleep(Duration::from_micros(kill % 7 * 300));
        assert!(child.try_wait().expect("a child").is_none(), "kill {kill}: it ended by itself");
        child.kill().expect("killed");
        child.wait().expect("gone");
        left_aside += u32::from(!data.join("set").exists());
        // An archive that is of no use changes nothing, but takes away what the killed one left.
        fetched(home.path(), "wrong.tar").expect_err("a file is missing");
        assert_eq!(names(&data), ["set"], "kill {kill}");
        assert_eq!(std::fs::read(data.join("set/a.bin")).expect("there"), b"hello", "kill {kill}");
        assert_eq!(std::fs::read(data.join("set/b.bin")).expect("there"), b"hello again", "kill {kill}");
    }
    #[allow(clippy::print_stderr)]
    if asked.is_some() {
        eprintln!("{left_aside} kills met the moment between two names");
    }
}
