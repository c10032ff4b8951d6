use crate::download::Server;
use crate::support::{folder, quiet, says, stop, write};
use gambeson_data::error::DataError;
use gambeson_data::fetch::install::{KnownSet, install};
use gambeson_data::fetch::package::convert_png;
use gambeson_data::fetch::{self, Provider};
use gambeson_data::format::cifar::{Cifar, KnownFile};
use gambeson_data::progress::{LoadProgress, Stage};
use gambeson_data::source::{DataSource, find};
use gambeson_testing::has_curl;
use std::io::Write;
use std::path::Path;

/// `printf hello | sha256sum` and `printf 'hello again' | sha256sum`.
pub(crate) const FILES: [KnownFile; 2] = [
    KnownFile {
        name: "a.bin",
        bytes: 5,
        sha256: "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
    },
    KnownFile {
        name: "b.bin",
        bytes: 11,
        sha256: "3908c567feda72bc0dbdb2dff040fe0d3470dcd51b942374378a476930dbf6b3",
    },
];

fn set(data_dir: &Path) -> KnownSet<'_> {
    KnownSet { name: "set", files: &FILES, data_dir }
}

pub(crate) fn tar(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for (name, bytes) in members {
        let mut header = tar::Header::new_ustar();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        header.set_cksum();
        archive.append_data(&mut header, name, *bytes).expect("appended");
    }
    archive.into_inner().expect("finished")
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("written");
    encoder.finish().expect("finished")
}

fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in members {
        archive.start_file(*name, zip::write::SimpleFileOptions::default()).expect("started");
        archive.write_all(bytes).expect("written");
    }
    archive.finish().expect("finished").into_inner()
}

pub(crate) const GOOD: [(&str, &[u8]); 3] =
    [("set/a.bin", b"hello"), ("set/readme.html", b"x"), ("set/b.bin", b"hello again")];

/// Everything in a folder but hidden nothing: names.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("text"))
        .collect();
    names.sort();
    names
}

#[test]
fn archives_of_every_kind_are_installed() {
    let archives = folder();
    let plain = tar(&GOOD);
    for (name, bytes) in [("set.tar", plain.clone()), ("set.tar.gz", gzip(&plain)), ("set.zip", zip(&GOOD))] {
        let home = folder();
        let path = write(archives.path(), name, bytes);
        for _ in 0..2 {
            // The second time it takes the place of the first.
            let installed = install(set(home.path()), &path, &mut quiet).expect("installed");
            assert_eq!(std::fs::read(installed.join("b.bin")).expect("there"), b"hello again", "{name}");
            assert_eq!(
                (names(home.path()), names(&installed)),
                (vec!["set".to_owned()], vec!["a.bin".to_owned(), "b.bin".to_owned()])
            );
        }
    }
    let home = folder();
    write(archives.path(), "loose/a.bin", "hello");
    write(archives.path(), "loose/b.bin", "hello again");
    install(set(home.path()), &archives.path().join("loose"), &mut quiet).expect("installed from a folder");
}

#[test]
fn wrong_archives_leave_nothing() {
    let archives = folder();
    let home = folder();
    let gz = gzip(&tar(&GOOD));
    let mut flipped = gz.clone();
    *flipped.last_mut().expect("bytes") ^= 0x40; // the length at the end of gzip
    let cases: [(&str, Vec<u8>, &[&str]); 7] = [
        (
            "changed.tar",
            tar(&[("a.bin", b"hellO"), ("b.bin", b"hello again")]),
            &["a.bin", "checksum", "2cf24dba"],
        ),
        ("longer.tar", tar(&[("a.bin", b"hello!"), ("b.bin", b"hello again")]), &["a.bin", "checksum"]),
        ("missing.tar.gz", gzip(&tar(&GOOD[..1])), &["b.bin", "not in the archive"]),
        ("cut.tar.gz", gz[..gz.len() / 2].to_vec(), &["cut.tar.gz", "damaged"]),
        ("flipped.tar.gz", flipped, &["flipped.tar.gz", "damaged"]),
        ("text", b"no archive".to_vec(), &["text", "tar.gz", "no archive"]),
        ("cut.zip", zip(&GOOD)[..60].to_vec(), &["cut.zip", "damaged"]),
    ];
    for (name, bytes, words) in cases {
        let path = write(archives.path(), name, bytes);
        says(install(set(home.path()), &path, &mut quiet), words);
        assert!(names(home.path()).is_empty(), "{name}");
    }
    let path = write(archives.path(), "good.tar.gz", gz);
    let stopped = install(set(home.path()), &path, &mut stop);
    assert!(matches!(stopped, Err(DataError::Stopped)));
    assert!(names(home.path()).is_empty());
    // A wrong archive leaves untouched what is there.
    install(set(home.path()), &path, &mut quiet).expect("installed");
    let wrong = archives.path().join("changed.tar");
    says(install(set(home.path()), &wrong, &mut quiet), &["checksum"]);
    assert_eq!(std::fs::read(home.path().join("set/a.bin")).expect("there"), b"hello");
}

/// Killed between two names, a program leaves a set under the one it was set aside with.
#[test]
fn a_set_that_was_set_aside_comes_back() {
    let (archives, home) = (folder(), folder());
    let good = write(archives.path(), "set.tar", tar(&GOOD));
    let wrong = write(archives.path(), "wrong.tar", tar(&GOOD[..1]));
    let (set, aside) = (home.path().join("set"), home.path().join(".old-set-abcdefghABCDEF12"));
    let fetched = |archive: &Path| {
        let providers = [Provider::File(archive.to_owned())];
        fetch::fetch_files("set", &FILES, &providers, home.path(), &mut quiet).map(|_| ())
    };
    fetched(&good).expect("installed");
    std::fs::rename(&set, &aside).expect("as a kill leaves it");
    says(fetched(&wrong), &["not in the archive"]);
    assert_eq!(names(home.path()), ["set"]);
    assert_eq!(std::fs::read(set.join("a.bin")).expect("back"), b"hello");
    // Killed a moment later: the new one is in its place, and the old one of no use.
    std::fs::create_dir(&aside).expect("a folder");
    write(&aside, "a.bin", "hel");
    fetched(&good).expect("installed");
    assert_eq!(names(home.path()), ["set"]);
    assert_eq!(names(&set), ["a.bin", "b.bin"]);

    // Whoever looks for a known set finds it too; but not while it is being replaced.
    let aside = home.path().join(".old-cifar10-abcdefghABCDEF12");
    std::fs::rename(&set, &aside).expect("renamed");
    write(&aside, "test_batch.bin", "x");
    let held = std::fs::File::open(&aside).expect("a folder");
    held.lock().expect("locked");
    says(find("cifar10", home.path()), &["cifar10"]);
    assert!(aside.exists());
    drop(held);
    assert_eq!(
        find("cifar10", home.path()).expect("found"),
        DataSource::Cifar(Cifar::Ten, home.path().join("cifar10"))
    );
    assert_eq!(names(home.path()), ["cifar10"]);

    // What somebody else set aside stays.
    let own = home.path().join(".old-set");
    std::fs::create_dir(&own).expect("a folder");
    write(&own, "a.bin", "years of work");
    fetched(&good).expect("installed");
    fetched(&good).expect("installed again");
    assert_eq!(std::fs::read(own.join("a.bin")).expect("there"), b"years of work");
}

#[test]
fn rows_of_png_become_records() {
    let pixels: Vec<u8> = (0..2 * 3072_u32).map(|k| u8::try_from(k * 7 % 256).expect("a byte")).collect();
    let mut png = Vec::new();
    let mut encoder = png::Encoder::new(&mut png, 1024, 2);
    encoder.set_color(png::ColorType::Rgb);
    encoder.write_header().expect("a header").write_image_data(&pixels).expect("pixels");
    let records = convert_png(&png, &[4, 9]).expect("records");
    assert_eq!((records.len(), records[0], records[3073]), (2 * 3073, 4, 9));
    for (image, channel, at) in [(0, 0, 0), (0, 2, 1023), (1, 1, 500)] {
        assert_eq!(records[image * 3073 + 1 + channel * 1024 + at], pixels[image * 3072 + at * 3 + channel]);
    }
    assert!(convert_png(&png, &[4]).is_err() && convert_png(&png[..60], &[4, 9]).is_err());
}

#[test]
fn cifar_100_is_not_on_npm() {
    let home = folder();
    says(
        fetch::fetch(Cifar::Hundred, &[Provider::Npm], home.path(), &mut quiet),
        &["cifar100", "another provider"],
    );
    assert!(!fetch::is_installed(Cifar::Ten, home.path(), &mut quiet).expect("looked"));
}

/// The second provider is asked where the first fails, and everybody is told who is asked and how much has come.
#[test]
fn providers_are_tried_in_order() {
    if !has_curl() {
        return;
    }
    let archive = gzip(&tar(&GOOD));
    let bytes = archive.len() as u64;
    let good = Server::of(archive.clone());
    let closed =
        std::net::TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    let breaking = || Provider::url(&Server::breaking(archive.clone(), archive.len() / 2).url);
    let mut bad = [
        Provider::url(&Server::broken().url),
        breaking(),
        Provider::url(&Server::of(gzip(&tar(&GOOD[..1]))).url),
        Provider::url(&format!("http://{closed}/x")),
        Provider::File("no such file".into()),
    ];
    for first in &bad {
        let home = folder();
        let (mut seen, mut most): (Vec<String>, u64) = (Vec::new(), 0);
        let providers = [first.clone(), Provider::url(&good.url)];
        let fetched =
            fetch::fetch_files("set", &FILES, &providers, home.path(), &mut |step: &LoadProgress| {
                let name = step.provider.as_deref().expect("a name");
                if seen.last().is_none_or(|last| last != name) {
                    seen.push(name.to_owned());
                }
                if step.stage == Stage::Download && name == providers[1].name() {
                    assert_eq!(step.total, Some(bytes));
                    most = most.max(step.done);
                }
                std::ops::ControlFlow::Continue(())
            });
        let fetched = fetched.expect("from the second");
        assert_eq!(fetched.provider, providers[1].name());
        assert_eq!((fetched.failures.len(), &fetched.failures[0].provider), (1, &first.name()));
        assert_eq!(seen.last(), Some(&fetched.provider), "{first:?}");
        assert!(most == bytes && (seen.len() == 2 || matches!(first, Provider::File(_))), "{seen:?} {most}");
        // Nothing is left of the first.
        assert_eq!(names(home.path()), ["set"], "{first:?}");
    }
    let home = folder();
    bad[1] = breaking(); // the first one sends nothing any more
    let failed = fetch::fetch_files("set", &FILES, &bad[..3], home.path(), &mut quiet);
    says(failed, &["set could not be fetched", "404", "bytes are kept", "b.bin is not in the archive"]);
    assert!(!home.path().join("set").exists());
    // One alone speaks for itself, and who stops is not asked again.
    let failed = fetch::fetch_files("set", &FILES, &bad[..1], home.path(), &mut quiet);
    assert!(matches!(failed, Err(DataError::Download { .. })), "{failed:?}");
    let failed = fetch::fetch_files("set", &FILES, &bad, home.path(), &mut stop);
    assert!(matches!(failed, Err(DataError::Stopped)), "{failed:?}");
    assert_eq!(
        Provider::by_default(Cifar::Ten).iter().map(Provider::name).collect::<Vec<_>>(),
        ["official", "npm"]
    );
    assert_eq!(
        Provider::by_default(Cifar::Hundred).iter().map(Provider::name).collect::<Vec<_>>(),
        ["official"]
    );
}
