//! Arrays of numpy, written here byte by byte.

use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::linalg::matrix::MatrixError;
use gambeson_lowrank::matrix_file::npy::{Header, read_vector, values as values_of};
use gambeson_lowrank::matrix_file::{HeaderProblem, InputError, ParseError};

use super::{dense, fixture_matrix, message, parsed, refused};

/// An array file of the given format version, header padded as numpy does.
fn versioned(version: u8, dictionary: &str, data: &[u8]) -> Vec<u8> {
    let length_bytes = if version == 1 { 2 } else { 4 };
    let unpadded = 8 + length_bytes + dictionary.len() + 1;
    let padding = unpadded.next_multiple_of(64) - unpadded;
    let header = format!("{dictionary}{}\n", " ".repeat(padding));
    let length = u32::try_from(header.len()).expect("a short header");
    let mut bytes = b"\x93NUMPY".to_vec();
    bytes.extend([version, 0]);
    bytes.extend(&length.to_le_bytes()[..length_bytes]);
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

/// An array file as numpy writes it; also used to fill archives.
pub(super) fn npy(descr: &str, fortran_order: bool, shape: &[usize], data: &[u8]) -> Vec<u8> {
    let order = if fortran_order { "True" } else { "False" };
    let sizes = shape.iter().fold(String::new(), |sizes, size| sizes + &size.to_string() + ", ");
    let dictionary = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': ({sizes}), }}");
    // numpy writes `(3,)` and `(3, 4)`.
    let dictionary = match shape.len() {
        1 => dictionary.replace(", )", ",)"),
        _ => dictionary.replace(", )", ")"),
    };
    versioned(1, &dictionary, data)
}

/// Asserts that 2 x 3 arrays of the type, in both orders and both byte orders, are read as what they hold.
/// The elements, row by row, are given with the lowest byte first.
fn assert_type_is_read<const N: usize>(element: &str, elements: [[u8; N]; 6], expected: [f64; 6]) {
    for big_endian in [false, true] {
        for fortran_order in [false, true] {
            let order = if fortran_order { [0, 3, 1, 4, 2, 5] } else { [0, 1, 2, 3, 4, 5] };
            let data: Vec<u8> = order
                .iter()
                .flat_map(|&k| {
                    let mut bytes = elements[k];
                    if big_endian {
                        bytes.reverse();
                    }
                    bytes
                })
                .collect();
            let prefix = match (N, big_endian) {
                (1, _) => '|',
                (_, false) => '<',
                (_, true) => '>',
            };
            let read = dense(npy(&format!("{prefix}{element}"), fortran_order, &[2, 3], &data));
            assert_eq!((read.rows, read.columns), (2, 3), "{prefix}{element}");
            assert_eq!(read.entries, expected, "{prefix}{element}, Fortran order: {fortran_order}");
        }
    }
}

macro_rules! type_test {
    ($name:ident, $type:ty, $element:literal, $values:expr) => {
        #[test]
        fn $name() {
            let values: [$type; 6] = $values;
            #[allow(clippy::cast_lossless, reason = "one expression for all types")]
            assert_type_is_read($element, values.map(<$type>::to_le_bytes), values.map(|value| value as f64));
        }
    };
}

type_test!(f8_is_read, f64, "f8", [0.1, -2.5, f64::MAX, f64::MIN_POSITIVE, 5e-324, -0.0]);
type_test!(f4_is_read, f32, "f4", [0.1, -2.5, f32::MAX, f32::MIN_POSITIVE, 1e-45, 7.0]);
type_test!(i8_is_read, i64, "i8", [0, -1, i64::MIN, 1 << 53, -(1 << 53) + 1, (1 << 53) + 2]);
type_test!(u8_is_read, u64, "u8", [0, 1, 1 << 63, 1 << 53, (1 << 53) - 1, u64::MAX << 11]);
type_test!(i4_is_read, i32, "i4", [0, -1, i32::MIN, i32::MAX, 258, -70_000]);
type_test!(u4_is_read, u32, "u4", [0, 1, 1 << 31, u32::MAX, 258, 70_000]);
type_test!(i2_is_read, i16, "i2", [0, -1, i16::MIN, i16::MAX, 258, -7]);
type_test!(u2_is_read, u16, "u2", [0, 1, 1 << 15, u16::MAX, 258, 7]);
type_test!(i1_is_read, i8, "i1", [0, -1, i8::MIN, i8::MAX, 2, -7]);
type_test!(u1_is_read, u8, "u1", [0, 1, 1 << 7, u8::MAX, 2, 7]);

#[test]
fn booleans_are_read() {
    assert_type_is_read("b1", [[0], [1], [1], [0], [255], [1]], [0.0, 1.0, 1.0, 0.0, 1.0, 1.0]);
}

#[test]
fn arrays_longer_than_a_chunk_are_read() {
    let (rows, columns) = (301, 257);
    let values: Vec<f64> = (0..rows * columns).map(|k| k as f64 - 0.5).collect();
    let data: Vec<u8> = values.iter().flat_map(|value| value.to_be_bytes()).collect();
    assert_eq!(dense(npy(">f8", false, &[rows, columns], &data)).entries, values);
}

#[test]
fn files_of_numpy_are_read() {
    assert_eq!(dense(include_bytes!("../../fixtures/fortran_big_endian.npy")), fixture_matrix());
    assert_eq!(dense(include_bytes!("../../fixtures/version_3.npy")), fixture_matrix());
}

#[test]
fn files_of_numbers_are_read_whatever_their_shape() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("v.npy");
    let data = [1.0_f64, -2.5, 1e300].map(f64::to_le_bytes).concat();
    for shape in [&[3][..], &[1, 3], &[3, 1, 1]] {
        std::fs::write(&path, npy("<f8", false, shape, &data)).expect("written");
        assert_eq!(read_vector(&path, MemoryLimit::NONE).expect("numbers"), [1.0, -2.5, 1e300]);
    }
    let error = read_vector(&path, MemoryLimit::bytes(10)).expect_err("too large").to_string();
    assert!(error.contains("v.npy: more than the memory limit"), "{error}");
    std::fs::write(&path, "no numbers").expect("written");
    assert!(matches!(read_vector(&path, MemoryLimit::NONE), Err(InputError::Parse { .. })));
    let missing = read_vector(&folder.path().join("w.npy"), MemoryLimit::NONE);
    assert!(matches!(missing, Err(InputError::Read { .. })));
}

#[test]
fn all_versions_and_spellings_of_the_header_are_read() {
    let data = [1.0_f64, 2.0].map(f64::to_le_bytes).concat();
    for version in 1..=3 {
        for dictionary in [
            "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2), }",
            "{\"shape\":(1,2,),\"fortran_order\":False,\"descr\":\"<f8\"}",
            "{'descr': '<f8', 'shape': (1L, 2L), 'note': ['a, }', (1, 2)], 'fortran_order': False}",
        ] {
            assert_eq!(dense(versioned(version, dictionary, &data)).entries, [1.0, 2.0], "{dictionary}");
        }
    }
}

#[test]
fn bytes_missing_or_left_over_are_counted() {
    let whole = npy("<f4", false, &[2, 2], &[0; 16]);
    let length = whole.len() as u64;
    for found in 6..length {
        let at = usize::try_from(found).expect("a short file");
        match refused(&whole[..at]) {
            ParseError::Truncated { expected, found: told } => {
                assert!(found < expected && expected <= length, "{found} of {length}: {expected}");
                assert_eq!(told, found);
            }
            other => panic!("{found} of {length}: {other:?}"),
        }
    }
    assert_eq!(message(&whole[..whole.len() - 1]), "truncated: 144 bytes expected, 143 found");
    let mut longer = whole;
    longer.push(0);
    assert!(matches!(refused(longer), ParseError::TrailingBytes { expected: 144, found: 145 }));
}

#[test]
fn claimed_sizes_do_not_allocate() {
    let huge = [usize::MAX / 8, 1 << 60, 1 << 40];
    for size in huge {
        assert!(matches!(refused(npy("<f8", false, &[1, size], &[])), ParseError::Truncated { .. }));
        assert!(matches!(refused(npy("|u1", true, &[size, 1], &[])), ParseError::Truncated { .. }));
    }
    assert!(matches!(
        refused(npy("<f8", false, &[usize::MAX, 2], &[])),
        ParseError::BadHeader { problem: HeaderProblem::ShapeTooLarge { .. } }
    ));
}

#[test]
fn only_matrices_are_read() {
    for shape in [&[][..], &[6], &[1, 2, 3]] {
        match refused(npy("<f8", false, shape, &[0; 48])) {
            ParseError::WrongDimensions { ndim, expected: 2 } => assert_eq!(ndim, shape.len()),
            other => panic!("{shape:?}: {other:?}"),
        }
    }
    assert_eq!(message(npy("<f8", false, &[6], &[0; 48])), "the array has 1 dimension(s), 2 expected");
    for (shape, fortran_order) in [([0, 3], false), ([3, 0], true), ([0, usize::MAX], false)] {
        assert!(matches!(
            refused(npy("<f8", fortran_order, &shape, &[])),
            ParseError::Matrix(MatrixError::Empty { .. })
        ));
    }
}

#[test]
fn other_types_are_refused_by_name() {
    for descr in ["<c16", "<f2", "<f16", "|O", "<U3", "|S3", "<M8[s]", "=f8", "f8", "", "é"] {
        match refused(npy(descr, false, &[1, 1], &[0; 8])) {
            ParseError::UnsupportedDtype { descr: told } => assert_eq!(told, descr),
            other => panic!("{descr}: {other:?}"),
        }
    }
    let structured = "{'descr': [('x', '<f8'), ('y', '<f8')], 'fortran_order': False, 'shape': (1, 1)}";
    assert!(matches!(refused(versioned(1, structured, &[])), ParseError::UnsupportedDtype { .. }));
}

#[test]
fn integers_that_no_float_equals_are_enclosed() {
    let values = [0, 0, 0, 0, 0, (1_i64 << 53) + 1];
    let data = values.map(i64::to_le_bytes).concat();
    let read = parsed(npy("<i8", false, &[2, 3], &data));
    assert!((1.0..1.000_001).contains(&read.error), "{}", read.error);
    let data = [0, 0, u64::MAX, 0, 0, 0].map(u64::to_be_bytes).concat();
    let read = parsed(npy(">u8", true, &[2, 3], &data));
    assert!((1.0..1.000_001).contains(&read.error), "{}", read.error);
    assert_eq!(dense(npy(">u8", true, &[2, 3], &data)).at(0, 1), 18_446_744_073_709_551_616.0);
    // Where an array is no matrix and has no error, they are refused by entry.
    let bytes = npy("<i8", false, &[2, 3], &values.map(i64::to_le_bytes).concat());
    let (length, mut reader) = (bytes.len() as u64, bytes.as_slice());
    let header = Header::read(&mut reader, length).expect("a header");
    let refused = values_of(&mut reader, &header, length, 10, MemoryLimit::NONE).expect_err("inexact");
    assert_eq!(
        refused.to_string(),
        "entry (1, 2) is 9007199254740993, which no f64 equals (counting from 0)"
    );
}

#[test]
fn entries_that_are_not_finite_are_refused_by_entry() {
    let data = [1.0, 2.0, f64::NAN, 4.0, 5.0, f64::INFINITY].map(f64::to_le_bytes).concat();
    for (fortran_order, place) in [(false, (0, 2)), (true, (0, 1))] {
        match refused(npy("<f8", fortran_order, &[2, 3], &data)) {
            ParseError::Matrix(MatrixError::NotFinite { row, column, value }) => {
                assert_eq!((row, column), place);
                assert!(value.is_nan());
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn damaged_headers_are_described() {
    let problem = |bytes: Vec<u8>| match refused(bytes) {
        ParseError::BadHeader { problem } => problem,
        other => panic!("{other:?}"),
    };
    let whole = |dictionary: &str| problem(versioned(1, dictionary, &[0; 8]));
    assert_eq!(
        problem(versioned(4, "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1)}", &[0; 8])),
        HeaderProblem::Version { major: 4 }
    );
    assert_eq!(
        whole("{'descr': '<f8', 'shape': (1, 1)}"),
        HeaderProblem::MissingKey { key: "fortran_order" }
    );
    assert_eq!(
        whole("{'descr': '<f8', 'fortran_order': false, 'shape': (1, 1)}"),
        HeaderProblem::BadValue { key: "fortran_order", text: "false".to_owned() }
    );
    for shape in ["[1, 1]", "1", "(1, -1)", "(1; 1)", "(,)", "(99999999999999999999, 1)"] {
        let dictionary = format!("{{'descr': '<f8', 'fortran_order': True, 'shape': {shape}}}");
        assert!(matches!(whole(&dictionary), HeaderProblem::BadValue { key: "shape", .. }), "{shape}");
    }
    for dictionary in ["", "{", "}{", "'descr'", "{descr: 1}", "{'a' 'b'}", "{:}", "{'}", "{,}"] {
        assert!(matches!(whole(dictionary), HeaderProblem::NotADictionary { .. }), "{dictionary}");
    }
    let mut too_long = b"\x93NUMPY\x02\x00".to_vec();
    too_long.extend(100_000_u32.to_le_bytes());
    too_long.resize(200_000, b' ');
    assert_eq!(problem(too_long), HeaderProblem::TooLong { length: 100_000, limit: 1 << 16 });
}
