use crate::support::{f32s, folder, npy, quiet, says, write};
use gambeson_data::dataset::{Shape, Values};
use gambeson_data::format::array::load;
use gambeson_lowrank::MemoryLimit;
use std::io::Write;
use std::path::Path;

fn npz(folder: &Path, name: &str, members: &[(&str, Vec<u8>)], deflate: bool) -> std::path::PathBuf {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let method = if deflate { zip::CompressionMethod::Deflated } else { zip::CompressionMethod::Stored };
    let options = zip::write::SimpleFileOptions::default().compression_method(method);
    for (name, bytes) in members {
        archive.start_file(format!("{name}.npy"), options).expect("started");
        archive.write_all(bytes).expect("written");
    }
    write(folder, name, archive.finish().expect("finished").into_inner())
}

#[test]
fn shapes_and_types_are_read() {
    let home = folder();
    let bytes: Vec<u8> = (0..24).collect();
    let shape = |channels, height, width| Shape { channels, height, width };
    for (text, expected) in
        [("(2, 12)", shape(1, 1, 12)), ("(2, 3, 4)", shape(1, 3, 4)), ("(2, 3, 2, 2)", shape(3, 2, 2))]
    {
        let data = load(
            &write(home.path(), "u.npy", npy("|u1", false, text, &bytes)),
            MemoryLimit::NONE,
            &mut quiet,
        )
        .expect("data");
        assert_eq!((data.shape(), data.values()), (expected, &Values::U8(bytes.clone())));
    }
    let numbers: [i16; 4] = [1, -2, 300, i16::MIN];
    let big: Vec<u8> = numbers.iter().flat_map(|number| number.to_be_bytes()).collect();
    let data =
        load(&write(home.path(), "i.npy", npy(">i2", false, "(2, 2)", &big)), MemoryLimit::NONE, &mut quiet)
            .expect("data");
    assert_eq!(data.values(), &Values::I16(numbers.to_vec()));
    let wide: Vec<u8> = [0.1_f64, -2.5, 1e-3, 4.0].iter().flat_map(|number| number.to_le_bytes()).collect();
    let data =
        load(&write(home.path(), "f.npy", npy("<f8", false, "(2, 2)", &wide)), MemoryLimit::NONE, &mut quiet)
            .expect("data");
    assert_eq!(data.values(), &Values::F32(vec![0.1, -2.5, 1e-3, 4.0]));
}

#[test]
fn fortran_order_is_turned() {
    let home = folder();
    let (n, c, h, w) = (2, 3, 2, 5);
    let value =
        |i: usize, j: usize, k: usize, l: usize| u8::try_from(i + 2 * j + 7 * k + 20 * l).expect("small");
    let (mut fortran, mut plain) = (Vec::new(), Vec::new());
    for l in 0..w {
        for k in 0..h {
            for j in 0..c {
                for i in 0..n {
                    fortran.push(value(i, j, k, l));
                }
            }
        }
    }
    for i in 0..n {
        for j in 0..c {
            for k in 0..h {
                for l in 0..w {
                    plain.push(value(i, j, k, l));
                }
            }
        }
    }
    let data = load(
        &write(home.path(), "f.npy", npy("|u1", true, "(2, 3, 2, 5)", &fortran)),
        MemoryLimit::NONE,
        &mut quiet,
    )
    .expect("data");
    assert_eq!(data.values(), &Values::U8(plain));
}

#[test]
fn labels_come_from_beside_or_inside() {
    let home = folder();
    let x = npy("<f4", false, "(3, 2)", &f32s(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
    let labels: Vec<u8> = [2_i64, 0, 1].iter().flat_map(|label| label.to_le_bytes()).collect();
    let y = npy("<i8", false, "(3,)", &labels);
    write(home.path(), "set.labels.npy", &y);
    let beside = load(&write(home.path(), "set.npy", &x), MemoryLimit::NONE, &mut quiet).expect("data");
    assert_eq!(beside.labels(), Some([2, 0, 1].as_slice()));
    for (names, deflate) in [(["x", "y"], true), (["images", "labels"], false), (["data", "y"], true)] {
        let members = [(names[0], x.clone()), (names[1], y.clone())];
        let inside = load(&npz(home.path(), "set.npz", &members, deflate), MemoryLimit::NONE, &mut quiet)
            .expect("data");
        assert_eq!(inside.sha256(), beside.sha256(), "one content, one hash");
    }
    let alone =
        load(&npz(home.path(), "alone.npz", &[("x", x)], true), MemoryLimit::NONE, &mut quiet).expect("data");
    assert!(alone.labels().is_none());
}

#[test]
fn bad_arrays_are_refused() {
    let home = folder();
    let refused = |name: &str, bytes: Vec<u8>, words: &[&str]| {
        says(
            load(&write(home.path(), name, bytes), MemoryLimit::NONE, &mut quiet),
            &[&[name], words].concat(),
        );
    };
    let mut values = [0.0; 8];
    values[5] = f32::NAN;
    refused(
        "nan.npy",
        npy("<f4", false, "(2, 2, 2)", &f32s(&values)),
        &["sample 1", "row 0", "column 1", "NaN"],
    );
    let huge: Vec<u8> = [0.0, 1e300].iter().flat_map(|number: &f64| number.to_le_bytes()).collect();
    refused("huge.npy", npy("<f8", false, "(1, 2)", &huge), &["inf", "column 1"]);
    refused("last.npy", npy("|u1", false, "(1, 8, 8, 3)", &[0; 192]), &["channels", "moveaxis"]);
    refused("flat.npy", npy("|u1", false, "(8,)", &[0; 8]), &["[8]"]);
    refused("int.npy", npy("<i4", false, "(1, 2)", &[0; 8]), &["<i4", "uint8"]);
    refused("cut.npy", npy("|u1", false, "(2, 4)", &[0; 7]), &["truncated"]);
    refused("none.npy", npy("|u1", false, "(0, 4)", &[]), &["no samples"]);
    refused("wide.npy", npy("|u1", false, "(9999999999, 9999999999)", &[]), &["too large"]);
    write(home.path(), "l.labels.npy", npy("<f4", false, "(1,)", &f32s(&[1.0])));
    let path = write(home.path(), "l.npy", npy("|u1", false, "(1, 2)", &[0, 1]));
    says(load(&path, MemoryLimit::NONE, &mut quiet), &["l.labels.npy", "integers"]);
    write(home.path(), "l.labels.npy", npy("<i2", false, "(1,)", &[0xff, 0xff]));
    says(load(&path, MemoryLimit::NONE, &mut quiet), &["l.labels.npy", "-1"]);
    write(home.path(), "l.labels.npy", npy("<i2", false, "(2,)", &[0; 4]));
    says(load(&path, MemoryLimit::NONE, &mut quiet), &["2 labels", "1 samples"]);
    let other = npz(home.path(), "other.npz", &[("weights", npy("|u1", false, "(1, 2)", &[0, 1]))], false);
    says(load(&other, MemoryLimit::NONE, &mut quiet), &["other.npz", "weights"]);
    let good = npz(home.path(), "good.npz", &[("x", npy("|u1", false, "(1, 200)", &[9; 200]))], false);
    let mut bytes = std::fs::read(&good).expect("just written");
    let at = bytes.windows(20).position(|window| window == [9; 20]).expect("the values");
    bytes[at] ^= 1;
    says(load(&write(home.path(), "flipped.npz", bytes), MemoryLimit::NONE, &mut quiet), &["flipped.npz"]);
}
