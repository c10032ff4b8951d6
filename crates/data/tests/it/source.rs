use crate::support::{folder, npy, quiet, says, sha256, stop, wav16, write};
use gambeson_data::dataset::{Dataset, DatasetParts, Shape, SourceFile, Split, Values};
use gambeson_data::error::DataError;
use gambeson_data::format::cifar::Cifar;
use gambeson_data::source::{self, DataSource, FileChoice, LoadOptions, draw, find};
use gambeson_data::store;
use std::path::{Path, PathBuf};

#[test]
fn names_come_before_paths() {
    let home = folder();
    assert_eq!(find("fashion", home.path()).expect("built in"), DataSource::Fashion);
    says(find("cifar10", home.path()), &["gambeson data fetch cifar10"]);
    says(find("no-such-set", home.path()), &["no-such-set", "fashion", "cifar100", "import"]);
    says(find(write(home.path(), "empty", "").to_str().expect("text"), home.path()), &["empty"]);
    says(
        find(write(home.path(), "text", "hello").to_str().expect("text"), home.path()),
        &["unknown format", "hello"],
    );
    let both = home.path().join("both");
    write(&both, "a/1.png", "x");
    assert!(matches!(find(both.to_str().expect("text"), home.path()), Ok(DataSource::Images(_))));
    write(&both, "b/1.wav", "x");
    says(find(both.to_str().expect("text"), home.path()), &["1.png", "1.wav"]);
    std::fs::create_dir(home.path().join("bare")).expect("created");
    says(find(home.path().join("bare").to_str().expect("text"), home.path()), &["bare", "CIFAR batches"]);
}

/// Names of data are looked for in the data directory only: a record may name anything.
#[test]
fn names_of_data_lead_to_the_data_directory_only() {
    let home = folder();
    let parts = |name: &str| source::parts_named(name, Some(home.path()));
    assert_eq!(parts("fashion-train"), [(DataSource::Fashion, Split::Train)]);
    assert_eq!(source::parts_named("fashion-test", None), [(DataSource::Fashion, Split::Test)]);
    write(home.path(), "mine/test.safetensors", "anything");
    write(home.path(), "below/mine/train.safetensors", "anything");
    let mine = DataSource::Imported(home.path().to_owned(), "mine".to_owned());
    assert_eq!(parts("mine"), [(mine, Split::Test)]);
    assert!(source::parts_named("mine", None).is_empty());
    let absolute = home.path().join("mine");
    let absolute = absolute.to_str().expect("text");
    for name in
        ["", "fashion", "fashion-", "cifar10-test", "below/mine", "../mine", ".", absolute, "mine/test"]
    {
        assert!(parts(name).is_empty(), "{name}");
    }
}

#[test]
fn files_are_drawn_without_repetition() {
    let files: Vec<PathBuf> = (0..50).map(|k| PathBuf::from(format!("{k:02}"))).collect();
    let drawn = draw(&files, 20, 7).expect("enough");
    assert!(drawn.len() == 20 && drawn.is_sorted() && drawn.windows(2).all(|pair| pair[0] != pair[1]));
    assert_eq!(draw(&files, 20, 7), Ok(drawn.clone()));
    assert_ne!(draw(&files, 20, 8), Ok(drawn));
    assert_eq!(draw(&files, 50, 1).as_ref(), Ok(&files));
    assert_eq!(draw(&files, 51, 1), Err(50));
    // Every file is drawn about equally often: 400 ± 5 standard deviations of 15.5.
    let mut counts = [0; 50];
    for seed in 0..1000 {
        draw(&files, 20, seed).expect("enough").iter().for_each(|file| {
            counts[files.iter().position(|known| known == file).expect("one of them")] += 1;
        });
    }
    assert!(counts.iter().all(|count| (322..=478).contains(count)), "{counts:?}");
}

#[test]
fn audio_folders_by_choice() {
    let home = folder();
    for name in ["a", "b", "c"] {
        write(home.path(), &format!("sound/{name}.wav"), wav16(1000, &[3; 30]));
    }
    let name = home.path().join("sound").to_str().expect("text").to_owned();
    let mut options = LoadOptions::new(home.path().to_owned());
    let names = |data: &Dataset| data.sources().iter().map(|source| source.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&source::load(&name, &options, &mut quiet).expect("all")), ["a.wav", "b.wav", "c.wav"]);
    options.files = Some(FileChoice::List(vec!["c.wav".into(), "a.wav".into()]));
    assert_eq!(names(&source::load(&name, &options, &mut quiet).expect("two")), ["c.wav", "a.wav"]);
    options.files = Some(FileChoice::Random { count: 2, seed: 5 });
    assert_eq!(source::load(&name, &options, &mut quiet).expect("two").sources().len(), 2);
    options.files = Some(FileChoice::Random { count: 4, seed: 5 });
    says(source::load(&name, &options, &mut quiet), &["4", "3"]);
}

/// A record by hand: labels, then planes.
#[test]
fn cifar_records_are_parsed() {
    for (set, labels, label) in [(Cifar::Ten, vec![7], 7), (Cifar::Hundred, vec![11, 98], 98)] {
        let pixels: Vec<u8> = (0..3072_u32).map(|k| u8::try_from(k % 251).expect("small")).collect();
        let record = [labels.clone(), pixels.clone()].concat();
        let path = Path::new("batch.bin");
        assert_eq!(set.parse(&record, path).expect("a record"), (pixels, vec![label]));
        says(set.parse(&record[1..], path), &["batch.bin", "whole number of records"]);
        says(set.parse(&[], path), &["batch.bin"]);
        let mut bad = [record.clone(), record].concat();
        let at = bad.len() / 2 + labels.len() - 1;
        bad[at] = 100;
        says(set.parse(&bad, path), &["batch.bin", "record 1", "label 100"]);
    }
}

#[test]
fn a_corrupted_batch_is_named() {
    let home = folder();
    write(home.path(), "cifar100/test.bin", vec![0; 30_740_000]);
    let mut options = LoadOptions::new(home.path().to_owned());
    options.split = Split::Test;
    let expected = "d8b1e6b7b3bee4020055f0699b111f60b1af1e262aeb93a0b659061746f8224a";
    says(source::load("cifar100", &options, &mut quiet), &["test.bin", "checksum", expected]);
    let path = home.path().join("cifar100");
    says(
        source::load(path.to_str().expect("text"), &options, &mut quiet),
        &["test.bin", "checksum", expected],
    );
    options.split = Split::Train;
    says(source::load("cifar100", &options, &mut quiet), &["train.bin"]);
}

fn small(values: Values, labels: Option<Vec<u16>>) -> Dataset {
    let classes = if labels.is_some() { vec!["one".to_owned(), "two \"2\"".to_owned()] } else { Vec::new() };
    let sources = vec![
        SourceFile { name: "a".to_owned(), samples: 2 },
        SourceFile { name: "b".to_owned(), samples: 1 },
    ];
    let shape = Shape { channels: 1, height: 2, width: 1 };
    Dataset::new(DatasetParts { name: "small".to_owned(), shape, values, labels, classes, sources })
        .expect("a data set")
}

#[test]
fn imported_sets_come_back() {
    let home = folder();
    let sets = [
        small(Values::U8(vec![1, 2, 3, 4, 5, 255]), Some(vec![0, 1, 1])),
        small(Values::I16(vec![1, -2, 3, -4, 5, i16::MIN]), None),
        small(Values::F32(vec![1.5, -2.0, 3.0, f32::MIN_POSITIVE, 0.1, -0.0]), Some(vec![0, 0, 0])),
    ];
    for (k, data) in sets.iter().enumerate() {
        let name = format!("set-{k}");
        let path = store::save(data, home.path(), &name, Split::Test, false, &mut quiet).expect("saved");
        let mut options = LoadOptions::new(home.path().to_owned());
        says(source::load(&name, &options, &mut quiet), &[&name, "train"]);
        options.split = Split::Test;
        for name in [name.as_str(), path.to_str().expect("text")] {
            let back = source::load(name, &options, &mut quiet).expect("loaded");
            assert_eq!(
                (back.values(), back.labels(), back.classes()),
                (data.values(), data.labels(), data.classes())
            );
            assert_eq!((back.sources(), back.sha256()), (data.sources(), data.sha256()));
        }
        assert!(matches!(
            store::save(data, home.path(), &name, Split::Test, false, &mut quiet),
            Err(DataError::Exists { .. })
        ));
        store::save(data, home.path(), &name, Split::Test, true, &mut quiet).expect("replaced");
    }
    assert_eq!(
        store::list(home.path()),
        (0..3).map(|k| (format!("set-{k}"), vec![Split::Test])).collect::<Vec<_>>()
    );
    for name in ["", ".", "..", "../up", "a/b", "cifar10", ".hidden", "a b"] {
        assert!(store::save(&sets[0], home.path(), name, Split::Train, true, &mut quiet).is_err(), "{name}");
    }
}

#[test]
fn damaged_sets_are_refused_and_none_is_half_written() {
    let home = folder();
    let data = small(Values::I16(vec![1, -2, 3, -4, 5, 6]), Some(vec![0, 1, 1]));
    let stopped = store::save(&data, home.path(), "set", Split::Train, false, &mut stop);
    assert!(matches!(stopped, Err(DataError::Stopped)));
    assert_eq!(std::fs::read_dir(home.path()).expect("the folder").count(), 0);
    let path = store::save(&data, home.path(), "set", Split::Train, false, &mut quiet).expect("saved");
    let bytes = std::fs::read(&path).expect("there");
    let damaged = home.path().join("damaged.safetensors");
    for at in 0..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1;
        std::fs::write(&damaged, flipped).expect("written");
        // Names are not part of the checksum; all else is.
        if let Ok(read) = store::load(&damaged, &mut quiet) {
            assert_eq!((read.values(), read.labels()), (data.values(), data.labels()), "byte {at}");
        }
        std::fs::write(&damaged, &bytes[..at]).expect("written");
        assert!(store::load(&damaged, &mut quiet).is_err(), "cut at {at}");
    }
    let mut last = bytes.clone();
    *last.last_mut().expect("bytes") ^= 1; // the last label: 257 is no class, so the content is wrong
    std::fs::write(&damaged, &last).expect("written");
    says(store::load(&damaged, &mut quiet), &["damaged.safetensors", "257"]);
    let at = bytes.len() - 8; // within the values
    last.clone_from(&bytes);
    last[at] ^= 1;
    std::fs::write(&damaged, &last).expect("written");
    says(store::load(&damaged, &mut quiet), &["damaged.safetensors", "checksum", data.sha256()]);
    let foreign = br#"{"x":{"dtype":"U8","shape":[1,1,1,1],"data_offsets":[0,1]}}"#;
    let foreign = [&(foreign.len() as u64).to_le_bytes(), foreign.as_slice(), &[7]].concat();
    std::fs::write(&damaged, foreign).expect("written");
    says(store::load(&damaged, &mut quiet), &["gambeson data import"]);
}

#[test]
fn a_path_is_read_by_its_content() {
    let home = folder();
    let options = LoadOptions::new(home.path().to_owned());
    let path = write(home.path(), "no-ending", npy("|u1", false, "(1, 2)", &[0, 1]));
    assert_eq!(source::load(path.to_str().expect("text"), &options, &mut quiet).expect("an array").len(), 1);
    let path = write(home.path(), "sound", wav16(1000, &[3; 30]));
    assert_eq!(
        source::load(path.to_str().expect("text"), &options, &mut quiet).expect("sound").shape().width,
        25
    );
}

/// Hashes of files are identities, so the bytes of a stored set never change: this is the file of the first release.
#[test]
fn the_bytes_of_a_stored_set_stay_the_same() {
    let home = folder();
    let parts = DatasetParts {
        name: "x.npy".to_owned(),
        shape: Shape { channels: 1, height: 1, width: 2 },
        values: Values::I16(vec![1, -2, 3, -4, 5, 6]),
        labels: Some(vec![0, 1, 1]),
        classes: Vec::new(),
        sources: vec![SourceFile { name: "x.npy".to_owned(), samples: 3 }],
    };
    let data = Dataset::new(parts).expect("a set");
    let path = store::save(&data, home.path(), "small", Split::Train, false, &mut quiet).expect("saved");
    assert_eq!(
        sha256(&std::fs::read(path).expect("there")),
        "eb21474121d4291888610b2ba5d02ec91d68dba4422e2108188812a678ff3a89"
    );
}

/// What the reader of safetensors finds wrong is told with the place; what is missing or of the wrong kind, by name.
#[test]
fn foreign_content_is_named() {
    let home = folder();
    let path = home.path().join("set.safetensors");
    let refused = |header: &str, data: usize, words: &[&str]| {
        let bytes = [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &vec![0; data]].concat();
        std::fs::write(&path, bytes).expect("written");
        says(store::load(&path, &mut quiet), &[&["set.safetensors"], words].concat());
    };
    let metadata = r#""__metadata__":{"format":"gambeson dataset 1","classes":"[]","sources":"[]"}"#;
    let x = r#""x":{"dtype":"U8","shape":[1,1,1,2],"data_offsets":[0,2]}"#;
    refused(&format!("{{{metadata}}}"), 0, &["`x`", "missing", "samples, channels, rows, columns"]);
    refused(&format!("{{{metadata},{x},{x}}}"), 2, &["`x` stands twice"]);
    refused(&format!("{{{metadata},{x}}}"), 3, &["cut off or damaged"]);
    refused(&format!("{{{metadata},{}}}", x.replace("U8", "I8")), 2, &["`x`", "I8 of shape [1, 1, 1, 2]"]);
    refused(
        &format!("{{{metadata},{}}}", x.replace("[1,1,1,2]", "[1,2]")),
        2,
        &["`x`", "U8 of shape [1, 2]"],
    );
    let y = r#""y":{"dtype":"U16","shape":[2],"data_offsets":[2,6]}"#;
    refused(&format!("{{{metadata},{x},{y}}}"), 6, &["`y`", "U16 of shape [2]", "one per sample"]);
    refused(&format!("{{{},{x}}}", metadata.replace(r#""[]""#, r#""[""#)), 2, &["metadata", "`classes`"]);
}
