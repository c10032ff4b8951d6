//! Bytes that mean harm: whatever they are, reading them ends in a matrix or an error.

use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::matrix_file::{ParseError, parse};
use proptest::prelude::*;

const MATRIX_MARKET: &[u8] = b"%%MatrixMarket matrix coordinate real symmetric\n% x\n3 3 2\n2 1 5.5\n3 3 7\n";
const ARRAY: &[u8] = b"%%MatrixMarket matrix array integer skew-symmetric\n3 3\n2\n3\n5\n";
const GRAPH: &[u8] = b"3 3\n1 2 5\n2 3 1\n3 1 -0.5\n";
const PROGRAM: &[u8] = b"*\n2\n1\n(2)\n{1.0,1.0}\n\
    0 1 1 1 0.25\n0 1 1 2 -0.25\n0 1 2 2 0.25\n1 1 1 1 1.0\n2 1 2 2 1.0\n";

/// One small valid file of each kind.
fn valid_files() -> Vec<&'static [u8]> {
    vec![
        include_bytes!("../../fixtures/version_3.npy"),
        include_bytes!("../../fixtures/fortran_big_endian.npy"),
        include_bytes!("../../fixtures/csr_deflated.npz"),
        include_bytes!("../../fixtures/csc_stored.npz"),
        include_bytes!("../../fixtures/coo_stored.npz"),
        include_bytes!("../../fixtures/dense_deflated.npz"),
        MATRIX_MARKET,
        ARRAY,
        GRAPH,
        PROGRAM,
    ]
}

#[test]
fn truncated_binary_files_are_always_refused() {
    for whole in valid_files().into_iter().take(6) {
        assert!(parse(whole, MemoryLimit::NONE).is_ok());
        for length in 0..whole.len() {
            assert!(parse(&whole[..length], MemoryLimit::NONE).is_err(), "{length} of {}", whole.len());
        }
    }
}

#[test]
fn truncated_text_files_are_refused_up_to_the_last_line() {
    for whole in [MATRIX_MARKET, ARRAY, GRAPH, PROGRAM] {
        assert!(parse(whole, MemoryLimit::NONE).is_ok());
        let text = whole.trim_ascii_end();
        let last_line = text.iter().rposition(|&byte| byte == b'\n').expect("several lines");
        for length in 0..=last_line + 1 {
            assert!(
                parse(&whole[..length], MemoryLimit::NONE).is_err(),
                "{}",
                whole[..length].escape_ascii()
            );
        }
        // Within the last line the number may lose digits unnoticed, but nothing may panic.
        for length in last_line + 1..whole.len() {
            let _ = parse(&whole[..length], MemoryLimit::NONE);
        }
    }
}

#[test]
fn any_byte_of_an_archive_may_lie() {
    // Every byte of the archive set to every value: sizes, offsets and methods lie in turn.
    let whole = include_bytes!("../../fixtures/dense_deflated.npz");
    for at in 0..whole.len() {
        for value in 0..=u8::MAX {
            let mut bytes = whole.to_vec();
            bytes[at] = value;
            let _ = parse(&bytes, MemoryLimit::NONE);
        }
    }
}

/// What becomes of a byte string.
#[derive(Clone, Debug)]
enum Mutation {
    Set { at: usize, value: u8 },
    Remove { at: usize },
    Insert { at: usize, value: u8 },
    Truncate { at: usize },
    Repeat { at: usize, length: usize },
}

fn mutation() -> impl Strategy<Value = Mutation> {
    // Digits and blanks keep text files nearly valid, which reaches further than noise does.
    let value = || prop_oneof![any::<u8>(), prop::sample::select(b"0123456789 \n-.,e%".to_vec())];
    prop_oneof![
        (any::<usize>(), value()).prop_map(|(at, value)| Mutation::Set { at, value }),
        any::<usize>().prop_map(|at| Mutation::Remove { at }),
        (any::<usize>(), value()).prop_map(|(at, value)| Mutation::Insert { at, value }),
        any::<usize>().prop_map(|at| Mutation::Truncate { at }),
        (any::<usize>(), 1..20_usize).prop_map(|(at, length)| Mutation::Repeat { at, length }),
    ]
}

fn mutate(bytes: &mut Vec<u8>, mutation: &Mutation) {
    if bytes.is_empty() {
        return;
    }
    let size = bytes.len();
    match *mutation {
        Mutation::Set { at, value } => bytes[at % size] = value,
        Mutation::Remove { at } => drop(bytes.remove(at % size)),
        Mutation::Insert { at, value } => bytes.insert(at % size, value),
        Mutation::Truncate { at } => bytes.truncate(at % size),
        Mutation::Repeat { at, length } => {
            let at = at % size;
            let piece = bytes[at..(at + length).min(size)].to_vec();
            bytes.splice(at..at, piece);
        }
    }
}

/// Reads the bytes; what is accepted must be a sound matrix, and what is refused must say why.
fn check(bytes: &[u8]) -> Result<(), TestCaseError> {
    match parse(bytes, MemoryLimit::NONE) {
        Ok(input) => {
            let (rows, columns) = input.matrix.shape();
            prop_assert!(rows > 0 && columns > 0);
            prop_assert_eq!(input.matrix.sha256().len(), 64);
        }
        Err(ParseError::EmptyFile) => prop_assert!(bytes.len() < 4 || bytes.trim_ascii().is_empty()),
        Err(error) => prop_assert!((1..1000).contains(&error.to_string().len())),
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) })]

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        check(&bytes)?;
    }

    #[test]
    fn arbitrary_bytes_after_a_magic_number_never_panic(
        start in prop::sample::select(vec![
            &b"\x93NUMPY\x01\x00"[..],
            b"\x93NUMPY\x02\x00\x20\x00\x00\x00{",
            b"PK\x03\x04",
            b"PK\x05\x06",
            b"%%MatrixMarket matrix coordinate real general\n",
            b"%%MatrixMarket matrix array real symmetric\n",
        ]),
        rest in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        check(&[start, &rest].concat())?;
    }

    #[test]
    fn arbitrary_numbers_never_panic(text in "[0-9 \n.e*-]{0,80}") {
        check(text.as_bytes())?;
    }

    #[test]
    fn mutated_files_never_panic(
        file in prop::sample::select(valid_files()),
        mutations in prop::collection::vec(mutation(), 1..8),
    ) {
        let mut bytes = file.to_vec();
        for mutation in &mutations {
            mutate(&mut bytes, mutation);
        }
        check(&bytes)?;
    }
}
