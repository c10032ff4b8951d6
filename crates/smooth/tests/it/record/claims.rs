//! What stands beside counts: the class and the radii that they prove, no more and no less, whoever reads.

use super::{folder, merged, open, record, run, three, write};
use gambeson_lowrank::MemoryLimit;
use gambeson_smooth::analysis::{Settings, read_logs};
use gambeson_smooth::record::{Derived, Record, Recorded, read_records, recorded_runtime};
use std::path::Path;

/// What every reader says of a file, in a word: the error, if there is one.
fn readers(path: &Path) -> [Option<String>; 4] {
    let paths = [path.to_path_buf()];
    [
        read_records(path, MemoryLimit::NONE).err().map(|error| error.to_string()),
        merged(&paths).err().map(|error| error.to_string()),
        open(path, run()).err().map(|error| error.to_string()),
        read_logs(&paths, &Settings::default()).err().map(|error| error.to_string()),
    ]
}
/// Whether every reader refuses the records, with these words.
fn refused(records: &[Record], words: &str) {
    let folder = folder();
    let path = folder.path().join("run.jsonl");
    write(&path, records);
    for (reader, error) in readers(&path).into_iter().enumerate() {
        let error = error.unwrap_or_else(|| panic!("reader {reader} takes {words}"));
        assert!(error.contains(words), "reader {reader}: {error}");
    }
}

/// Something done to what stands beside the counts.
type Change = fn(&mut Derived);

#[test]
fn a_class_and_its_radii_stand_together_or_not_at_all() {
    let [certified, abstained, _] = <[Record; 3]>::try_from(three()).expect("three");
    assert_eq!((certified.derived.class, abstained.derived), (Some(1), Derived::default()));
    let of_certified: [(Change, &str); 5] = [
        (|derived| derived.class = None, "class is none, but the counts prove 1"),
        (|derived| derived.latent = None, "latent is none, but the counts prove"),
        (|derived| derived.l2 = None, "l2 is none, but the counts prove"),
        (|derived| derived.linf = None, "linf is none, but the counts prove"),
        (|derived| *derived = Derived::default(), "class is none, but the counts prove 1"),
    ];
    let of_abstained: [(Change, &str); 4] = [
        (|derived| derived.class = Some(1), "class is 1, but the counts prove none"),
        (|derived| derived.latent = Some(0.5), "latent is 0.5, but the counts prove none"),
        (|derived| derived.l2 = Some(0.0), "l2 is 0, but the counts prove none"),
        (|derived| derived.linf = Some(-1.0), "linf is -1, but the counts prove none"),
    ];
    let all = of_certified.map(|(change, words)| (&certified, change, words));
    for (record, change, words) in
        all.into_iter().chain(of_abstained.map(|(change, words)| (&abstained, change, words)))
    {
        let mut changed = record.clone();
        change(&mut changed.derived);
        refused(&[three()[2].clone(), changed], &format!("line 3: input {}: {words}", record.index));
    }
}

/// One of the radii.
type Field = fn(&mut Derived) -> &mut Option<f64>;

/// Programs may differ in the last digits of a radius: by 10⁻⁹ of it.
#[test]
fn a_radius_may_be_smaller_by_last_digits_only() {
    let good = record(0, run(), [1, 9, 0], [5, 990, 5]);
    let fields: [(Field, &str); 3] = [
        (|derived| &mut derived.latent, "latent"),
        (|derived| &mut derived.l2, "l2"),
        (|derived| &mut derived.linf, "linf"),
    ];
    let folder = folder();
    let path = folder.path().join("run.jsonl");
    for (field, name) in fields {
        let smaller = |by: f64| {
            let mut changed = good.clone();
            let radius = field(&mut changed.derived);
            *radius = radius.map(|radius| radius * (1.0 - by));
            changed
        };
        write(&path, &[smaller(0.99e-9)]);
        assert_eq!(readers(&path), [None, None, None, None], "{name}");
        refused(&[smaller(1.01e-9)], &format!("{name} is "));
        refused(&[smaller(1.01e-9)], "the record was changed");
    }
}

#[test]
fn a_second_line_of_an_input_is_proven_too() {
    let (good, mut bad) = (three()[0].clone(), three()[0].clone());
    bad.derived = Derived { latent: Some(99.0), l2: Some(99.0), linf: Some(99.0), ..bad.derived };
    refused(&[good.clone(), bad.clone()], "line 3: input 0: latent is 99");
    let folder = folder();
    let paths = ["a.jsonl", "b.jsonl"].map(|name| folder.path().join(name));
    write(&paths[0], &[good]);
    write(&paths[1], &[bad]);
    let merged = merged(&paths).expect_err("a false shard").to_string();
    let logs = read_logs(&paths, &Settings::default()).expect_err("a false shard").to_string();
    for error in [merged, logs] {
        assert!(error.contains("b.jsonl, line 2: input 0: latent is 99"), "{error}");
    }
}

/// A device need not end.
#[cfg(unix)]
#[test]
fn devices_are_no_files_of_records() {
    let path = Path::new("/dev/zero");
    for error in readers(path) {
        assert!(error.as_ref().is_some_and(|error| error.contains("is a device")), "{error:?}");
    }
    let unproven = Recorded::<Record>::read_unproven(&[path.to_path_buf()], MemoryLimit::NONE);
    let error = unproven.expect_err("a device").to_string();
    assert!(error.contains("is a device"), "{error}");
    assert_eq!(recorded_runtime(path), None);
}
