//! Archives of strangers: refused with a reason, and nothing written.

use super::Made;
use crate::support::context;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use gambeson::{Bundle, Error, open_bundle};
use gambeson_lowrank::MemoryLimit;
use std::io::Write;
use std::path::Path;

/// A file of an archive, with what the archive says of it: everything may be a lie.
#[derive(Clone)]
pub(super) struct Member {
    name: Vec<u8>,
    local_name: Vec<u8>,
    packed: Vec<u8>,
    claimed: u32,
    crc: u32,
    method: u16,
    flags: u16,
    system: u8,
    attributes: u32,
    extra: Vec<u8>,
    /// Where the directory says it is, if not where it is.
    place: Option<u32>,
}

impl Member {
    pub(super) fn new(name: &str, bytes: &[u8]) -> Self {
        let mut crc = flate2::Crc::new();
        crc.update(bytes);
        Self {
            name: name.into(),
            local_name: name.into(),
            packed: bytes.to_vec(),
            claimed: u32::try_from(bytes.len()).expect("short"),
            crc: crc.sum(),
            method: 0,
            flags: 0,
            system: 0,
            attributes: 0,
            extra: Vec::new(),
            place: None,
        }
    }

    fn renamed(&self, name: &[u8]) -> Self {
        Self { name: name.to_vec(), local_name: name.to_vec(), ..self.clone() }
    }

    fn deflated(name: &str, bytes: &[u8]) -> Self {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(bytes).expect("to memory");
        Self { packed: encoder.finish().expect("to memory"), method: 8, ..Self::new(name, bytes) }
    }

    fn about(&self) -> Vec<u8> {
        let length = |bytes: &[u8]| u32::try_from(bytes.len()).expect("short");
        let numbers = [self.crc, length(&self.packed), self.claimed];
        [
            &20_u16.to_le_bytes()[..],
            &self.flags.to_le_bytes(),
            &self.method.to_le_bytes(),
            &[0; 4],
            &numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>(),
        ]
        .concat()
    }
}

fn half(length: usize) -> [u8; 2] {
    u16::try_from(length).expect("short").to_le_bytes()
}

pub(super) fn archive(members: &[Member]) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for member in members {
        let place = member.place.unwrap_or(u32::try_from(bytes.len()).expect("short"));
        bytes.extend(b"PK\x03\x04");
        bytes.extend(member.about());
        bytes.extend(half(member.local_name.len()));
        bytes.extend([0; 2]);
        bytes.extend(&member.local_name);
        bytes.extend(&member.packed);
        directory.extend(b"PK\x01\x02");
        directory.extend([20, member.system]);
        directory.extend(member.about());
        directory.extend(half(member.name.len()));
        directory.extend(half(member.extra.len()));
        directory.extend([0; 6]);
        directory.extend(member.attributes.to_le_bytes());
        directory.extend(place.to_le_bytes());
        directory.extend(&member.name);
        directory.extend(&member.extra);
    }
    let start = u32::try_from(bytes.len()).expect("short");
    let length = u32::try_from(directory.len()).expect("short");
    bytes.extend(directory);
    bytes.extend(b"PK\x05\x06\0\0\0\0");
    bytes.extend([half(members.len()), half(members.len())].concat());
    bytes.extend([length.to_le_bytes(), start.to_le_bytes()].concat());
    bytes.extend([0; 2]);
    bytes
}

/// The files of an honest bundle, the manifest first.
fn members(made: &Made) -> Vec<Member> {
    let whole = made.whole();
    let manifest = whole.manifest().to_bytes().expect("a manifest");
    let files = whole.manifest().files.iter();
    let files = files.map(|file| Member::new(&file.name, whole.file(&file.name).expect("a file")));
    std::iter::once(Member::new("manifest.json", &manifest)).chain(files).collect()
}

fn parse(bytes: &[u8], memory: MemoryLimit) -> Result<Bundle, Error> {
    Bundle::parse_zip(Path::new("b.zip"), bytes, memory)
}

fn refused(bytes: &[u8]) -> String {
    let error = parse(bytes, MemoryLimit::NONE).expect_err("refused").to_string();
    assert!(error.starts_with("b.zip: ") && !error.contains("--"), "{error}");
    error
}

#[test]
fn honest_archives_of_other_programs_are_read() {
    let made = Made::new();
    let (honest, whole) = (members(&made), made.whole());
    assert_eq!(parse(&archive(&honest), MemoryLimit::NONE).expect("a bundle"), whole);
    // In another order, compressed, with the times and rights of Unix.
    let deflated: Vec<Member> = honest
        .iter()
        .rev()
        .map(|member| Member {
            system: 3,
            attributes: 0o100_644 << 16,
            extra: b"UT\x05\0\x03abcd".to_vec(),
            ..Member::deflated(&String::from_utf8_lossy(&member.name), &member.packed)
        })
        .collect();
    let bytes = archive(&deflated);
    assert!(bytes.len() < whole.to_zip().expect("an archive").len());
    assert_eq!(parse(&bytes, MemoryLimit::NONE).expect("a bundle"), whole);
}

#[test]
fn names_that_lead_elsewhere_or_stand_twice_are_refused() {
    let made = Made::new();
    let honest = members(&made);
    let with = |member: Member| refused(&archive(&[&honest[..], &[member]].concat()));
    let some = &honest[1];
    for (name, what) in [
        (&b"../evil"[..], "leads out of the bundle"),
        (b"a/../../evil", "leads out"),
        (b"..\\evil", "leads out"),
        (b"/etc/evil", "absolute path"),
        (b"C:\\evil", "absolute path"),
        (b"folder/evil", "in a folder"),
        (b"folder/", "in a folder"),
        (b"evil\0.json", "other letters"),
        (b".evil", "hidden"),
        ("data.safetensor\u{455}".as_bytes(), "other letters"),
        (b"extra.txt", "not in the manifest"),
    ] {
        let error = with(some.renamed(name));
        assert!(error.contains(what), "{}: {error}", name.escape_ascii());
    }
    let again = String::from_utf8_lossy(&some.name).into_owned();
    assert!(with(some.clone()).contains("another file has the same name"));
    assert!(with(some.renamed(again.to_uppercase().as_bytes())).contains("another file has the same name"));
    for at in 0..honest.len() {
        let mut missing = honest.clone();
        let name = String::from_utf8(missing.remove(at).name).expect("text");
        let error = refused(&archive(&missing));
        assert!(
            error.contains(&name) && error.contains(if at == 0 { "there is no" } else { "missing" }),
            "{error}"
        );
    }
}

/// Something done to a member.
type Change = fn(&mut Member);

#[test]
fn links_encrypted_files_and_contradictions_are_refused() {
    let made = Made::new();
    let honest = members(&made);
    let changed = |change: &dyn Fn(&mut Member)| {
        let mut members = honest.clone();
        change(&mut members[2]);
        refused(&archive(&members))
    };
    let cases: [(Change, &str); 14] = [
        (|it| (it.system, it.attributes) = (3, 0o120_777 << 16), "is a link"),
        (|it| (it.system, it.attributes) = (19, 0o060_644 << 16), "is a link"),
        (|it| it.attributes = 0x10, "is a link"),
        (|it| it.flags = 1, "encrypted"),
        (|it| it.flags = 1 << 6, "packed in a way"),
        (|it| it.method = 12, "packed in a way"),
        (|it| it.local_name = b"manifest.json".to_vec(), "described in two ways"),
        (|it| it.extra = b"\x75\x70\x02\0xy".to_vec(), "second name"),
        (|it| it.crc ^= 1, "checksum"),
        (|it| it.claimed += 1, "has not the"),
        (|it| it.claimed -= 1, "has not the"),
        (|it| it.claimed = u32::MAX, "zip64"),
        (|it| it.place = Some(0), "overlaps"),
        (|it| it.method = 8, "cannot be decompressed"),
    ];
    for (change, what) in cases {
        let error = changed(&change);
        assert!(error.contains(what), "{what}: {error}");
    }
    // Bytes before, between and behind; a comment; a directory that is cut off.
    let bytes = archive(&honest);
    for (changed, what) in [
        ([b"#!/bin/sh\n", &bytes[..]].concat(), "directory is not where"),
        ([&bytes[..], b"more"].concat(), "does not end with a directory"),
        (bytes[..bytes.len() - 30].to_vec(), "damaged"),
        (b"PK\x03\x04".to_vec(), "neither a folder nor a zip"),
    ] {
        let error = refused(&changed);
        assert!(error.contains(what), "{what}: {error}");
    }
    let mut comment = bytes.clone();
    let length = comment.len();
    comment[length - 2] = 1;
    comment.push(b'x');
    assert!(refused(&comment).contains("does not end"));
}

#[test]
fn bombs_are_refused_before_they_take_memory() {
    let made = Made::new();
    let honest = members(&made);
    // A gigabyte of zeros in a megabyte: refused by what it says, and by what it does.
    let zeros = vec![0; 1 << 24];
    let bomb = Member::deflated("bomb", &zeros);
    assert!(bomb.packed.len() < 1 << 15);
    let small = MemoryLimit::bytes(4 << 20);
    let with = |members: &[Member]| {
        parse(&archive(&[&honest[..], members].concat()), small).expect_err("refused").to_string()
    };
    assert!(with(std::slice::from_ref(&bomb)).contains("memory limit"));
    let modest = Member { claimed: 1000, ..bomb.clone() };
    assert!(with(&[modest]).contains("has not the 1000 bytes"));
    let many: Vec<Member> = (0..5)
        .map(|at| Member { claimed: 1 << 20, ..bomb.renamed(format!("bomb{at}").as_bytes()) })
        .collect();
    assert!(with(&many).contains("memory limit"), "all together");
    // One file for many names.
    let shared: Vec<Member> = (0..40)
        .map(|at| Member { place: Some(0), ..honest[0].renamed(format!("f{at}").as_bytes()) })
        .collect();
    assert!(refused(&archive(&shared)).contains("overlaps"));
    let empty: Vec<Member> = (0..5000).map(|at| Member::new(&format!("f{at}"), b"")).collect();
    assert!(refused(&archive(&empty)).contains("more than 4096 files"));
    // The honest one fits.
    assert!(parse(&archive(&honest), small).is_ok());
}

#[test]
fn folders_hold_files_and_nothing_else() {
    let made = Made::new();
    let folder = made.path("b");
    made.whole().save(&folder).expect("saved");
    let open = || open_bundle(&made.context, &folder).map_err(|error| error.to_string());
    assert!(open().is_ok());
    let error =
        open_bundle(&context(1, MemoryLimit::bytes(1000)), &folder).expect_err("too large").to_string();
    assert!(error.contains("memory limit"), "{error}");
    let (extra, inner) = (folder.join("extra.txt"), folder.join("inner"));
    std::fs::write(&extra, "").expect("written");
    assert!(open().expect_err("refused").contains("`extra.txt`: not in the manifest"));
    std::fs::remove_file(&extra).expect("removed");
    std::fs::create_dir(&inner).expect("a folder");
    assert!(open().expect_err("refused").contains("not a file"));
    std::fs::remove_dir(&inner).expect("removed");
    #[cfg(unix)]
    {
        let (page, aside) = (folder.join("index.html"), made.path("aside"));
        std::fs::rename(&page, &aside).expect("moved");
        assert!(open().expect_err("refused").contains("`index.html`: the manifest names it"));
        std::os::unix::fs::symlink(&aside, &page).expect("linked");
        assert!(open().expect_err("refused").contains("is a link"));
    }
    let error = open_bundle(&made.context, Path::new(super::NETWORK)).expect_err("no archive").to_string();
    assert!(error.contains("damaged archive"), "{error}");
    assert!(open_bundle(&made.context, &made.path("absent")).is_err());
}

#[test]
fn manifests_have_one_form() {
    let made = Made::new();
    let honest = members(&made);
    let text = String::from_utf8(honest[0].packed.clone()).expect("text");
    let with = |text: &str| {
        let mut members = honest.clone();
        members[0] = Member::new("manifest.json", text.as_bytes());
        refused(&archive(&members))
    };
    for (from, to, what) in [
        ("\"bundle\"", "\"bag\"", "is not that of a bundle"),
        ("\"version\": 1,", "\"version\": 2,", "version 2 is unknown"),
        ("\"complete\": true,", "\"complete\": true,\n  \"complete\": true,", "duplicate field"),
        ("\"complete\": true,", "\"complete\": true,\n  \"more\": 1,", "unknown field"),
        ("\"alpha\": 0.001,", "\"alpha\": 1e-9,\n    \"alpha\": 0.001,", "form in which it is written"),
        ("\"alpha\": 0.001,", "\"alpha\": 1e-3,", "form in which it is written"),
        ("\"left_out\": [],", "\"left_out\": [\n    \"data\"\n  ],", "left out"),
        ("\"file\": \"network.safetensors\"", "\"file\": null", "no part to play"),
        ("\"file\": \"network.safetensors\"", "\"file\": \"index.html\"", "no part to play"),
        ("\"name\": \"records.jsonl\"", "\"name\": \"records.json\"", "no part to play"),
        ("\"name\": \"data.safetensors\"", "\"name\": \"zdata.safetensors\"", "not in order"),
        ("{", "[", "expected"),
    ] {
        assert!(text.contains(from), "{from}");
        let error = with(&text.replacen(from, to, 1));
        assert!(error.contains("manifest.json: ") && error.contains(what), "{what}: {error}");
    }
}
