//! Matrix Market files.

use gambeson_lowrank::MemoryLimit;
use gambeson_lowrank::linalg::matrix::{MatrixError, SparseMatrix};
use gambeson_lowrank::matrix_file::{BannerProblem, InputKind, LineProblem, ParseError};

use super::{dense, fixture_matrix, message, parsed, refused, sparse};

fn coordinate(text: &str) -> SparseMatrix {
    sparse(text, InputKind::Matrix)
}

/// The line number and what is wrong with it.
fn line(text: &str) -> (usize, LineProblem) {
    match refused(text) {
        ParseError::Line { number, problem } => (number, problem),
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn coordinates_are_read() {
    let text = "%%matrixmarket MATRIX Coordinate Real General\r\n% a comment\r\n\r\n3 4 4\r\n\
                3 1 3\r\n1 2 1.5e0\r\n % another\r\n1 4 -2.\r\n3 3 +.25";
    assert_eq!(coordinate(text).to_dense(MemoryLimit::NONE), Ok(fixture_matrix()));
}

#[test]
fn comments_need_not_be_unicode() {
    let mut text = b"%%MatrixMarket matrix coordinate pattern general\n% J\xfcrgen\n1 2 2\n".to_vec();
    text.extend(b"1 2\n1 1\n");
    assert_eq!(sparse(text, InputKind::Matrix).values, [1.0, 1.0]);
}

#[test]
fn repeated_coordinates_add_up() {
    let text = "%%MatrixMarket matrix coordinate integer general\n1 1 3\n1 1 2\n1 1 3\n1 1 -1\n";
    assert_eq!(coordinate(text).values, [4.0]);
}

#[test]
fn symmetric_coordinates_are_expanded() {
    let entries = "3 3 2\n2 1 5\n3 3 7\n";
    let text = format!("%%MatrixMarket matrix coordinate real symmetric\n{entries}");
    let triplets: Vec<_> = coordinate(&text).triplets().collect();
    assert_eq!(triplets, [(0, 1, 5.0), (1, 0, 5.0), (2, 2, 7.0)]);
    let text = "%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 2\n2 1 5\n3 2 7\n";
    let triplets: Vec<_> = coordinate(text).triplets().collect();
    assert_eq!(triplets, [(0, 1, -5.0), (1, 0, 5.0), (1, 2, -7.0), (2, 1, 7.0)]);
}

#[test]
fn arrays_are_read_column_by_column() {
    let text = "%%MatrixMarket matrix array real general\n2 3\n1\n4\n2\n5\n3\n6\n";
    let matrix = dense(text);
    assert_eq!((matrix.rows, matrix.columns), (2, 3));
    assert_eq!(matrix.entries, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let text = "%%MatrixMarket matrix array integer symmetric\n3 3\n1\n2\n3\n4\n5\n6\n";
    assert_eq!(dense(text).entries, [1.0, 2.0, 3.0, 2.0, 4.0, 5.0, 3.0, 5.0, 6.0]);
    let text = "%%MatrixMarket matrix array real skew-symmetric\n3 3\n2\n3\n5\n";
    assert_eq!(dense(text).entries, [0.0, -2.0, -3.0, 2.0, 0.0, -5.0, 3.0, 5.0, 0.0]);
}

#[test]
fn other_banners_are_refused() {
    let problem = |banner: &str| match refused(format!("{banner}\n1 1 1\n1 1 1\n")) {
        ParseError::Banner { problem } => problem,
        other => panic!("{banner}: {other:?}"),
    };
    for banner in ["%%MatrixMarket", "%%MatrixMarket matrix array", "%%MatrixMarket matrix array real"] {
        assert!(matches!(problem(banner), BannerProblem::Missing { .. }), "{banner}");
    }
    for (banner, expected) in [
        ("%%MatrixMarket vector coordinate real general", "object"),
        ("%%MatrixMarket matrix elemental real general", "format"),
        ("%%MatrixMarket matrix coordinate complex general", "field"),
        ("%%MatrixMarket matrix coordinate real hermitian", "symmetry"),
    ] {
        match problem(banner) {
            BannerProblem::Unsupported { word, .. } => assert_eq!(word, expected),
            other => panic!("{banner}: {other:?}"),
        }
    }
    for banner in [
        "%%MatrixMarket matrix array pattern general",
        "%%MatrixMarket matrix coordinate pattern skew-symmetric",
    ] {
        assert!(matches!(problem(banner), BannerProblem::Contradiction { .. }), "{banner}");
    }
    assert_eq!(
        message("%%MatrixMarket matrix coordinate complex hermitian\n1 1 0\n"),
        "line 1: field \"complex\" is not supported (real, integer, pattern only)"
    );
}

#[test]
fn wrong_lines_are_named() {
    let real = |rest: &str| line(&format!("%%MatrixMarket matrix coordinate real general\n{rest}"));
    let text = || "x".to_owned();
    assert_eq!(real("1 1\n"), (2, LineProblem::MissingField { field: "the number of entries" }));
    assert_eq!(real("1 x 1\n"), (2, LineProblem::NotACount { field: "the number of columns", text: text() }));
    assert_eq!(real("2 2 1\n\n1 1 x\n"), (4, LineProblem::NotANumber { text: text() }));
    assert_eq!(real("2 2 1\n1 1 1 x\n"), (3, LineProblem::ExtraField { text: text() }));
    assert_eq!(real("2 2 1\n1 1\n"), (3, LineProblem::MissingField { field: "the value" }));
    assert_eq!(real("2 2 1\n0 1 1\n"), (3, LineProblem::IndexZero { field: "the row" }));
    assert_eq!(
        real("2 2 1\n1 3 1\n"),
        (3, LineProblem::IndexOutOfRange { field: "the column", index: 3, max: 2 })
    );
    for text in ["nan", "inf", "-1e999"] {
        let expected = LineProblem::NotFinite { text: text.to_owned() };
        assert_eq!(real(&format!("2 2 1\n1 1 {text}\n")), (3, expected));
    }
    assert_eq!(real("2 2 1\n1 1 1\n1 2 1\n"), (4, LineProblem::TooMany { what: "entries", announced: 1 }));
    assert_eq!(
        line("%%MatrixMarket matrix array real general\n1 1\n1\n2\n"),
        (4, LineProblem::TooMany { what: "entries", announced: 1 })
    );
}

#[test]
fn entries_at_one_place_are_summed_exactly() {
    let file = |values: [&str; 3]| {
        let entries = values.map(|value| format!("2 1 {value}\n")).concat();
        parsed(format!("%%MatrixMarket matrix coordinate integer symmetric\n2 2 3\n{entries}"))
    };
    let one = file(["9007199254740992", "1", "-9007199254740992"]);
    assert_eq!((one.matrix, one.error), (file(["0", "0", "1"]).matrix, 0.0));
    // Sums of large integers too: 2^80 + 1 - 2^80.
    let one = file(["1208925819614629174706177", "0", "-1208925819614629174706176"]);
    assert_eq!((one.matrix, one.error), (file(["0", "0", "1"]).matrix, 0.0));
    let third = file(["9007199254740992", "1", "0"]);
    assert!((2.0..2.000_001).contains(&third.error), "one in both triangles");
}

#[test]
fn long_fields_are_clipped() {
    let text = format!("%%MatrixMarket matrix array real general\n1 1\n{}\n", "9x".repeat(1_000_000));
    assert!(message(text).len() < 100);
}

#[test]
fn integers_are_exact() {
    let integer = |value: &str| format!("%%MatrixMarket matrix array integer general\n1 1\n{value}\n");
    assert_eq!(dense(integer("9007199254740994")).entries, [9_007_199_254_740_994.0]);
    // No f64 equals this one: the nearest is stored, and the error known.
    let inexact = parsed(integer("9007199254740993"));
    assert!((1.0..1.000_001).contains(&inexact.error), "{}", inexact.error);
    assert_eq!(inexact.matrix, parsed(integer("9007199254740992")).matrix);
    assert_eq!(line(&integer("1.5")), (3, LineProblem::NotAnInteger { text: "1.5".to_owned() }));
}

#[test]
fn the_triangle_left_out_must_be_left_out() {
    let symmetric = "%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n1 2 1\n";
    assert_eq!(line(symmetric), (3, LineProblem::WrongTriangle { row: 1, column: 2 }));
    let skew = "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 2 1\n";
    assert_eq!(line(skew), (3, LineProblem::WrongTriangle { row: 2, column: 2 }));
    let oblong = "%%MatrixMarket matrix array real symmetric\n2 3\n";
    assert_eq!(line(oblong), (2, LineProblem::NotSquare { rows: 2, columns: 3 }));
}

#[test]
fn sizes_are_checked() {
    let coordinate = "%%MatrixMarket matrix coordinate real general\n";
    let array = "%%MatrixMarket matrix array real general\n";
    assert!(matches!(refused(coordinate), ParseError::TooFew { what: "size lines", .. }));
    assert!(matches!(
        refused(format!("{coordinate}2 2 3\n1 1 1\n")),
        ParseError::TooFew { what: "entries", expected: 3, found: 1 }
    ));
    assert!(matches!(
        refused(format!("{array}1000000000 1000000000\n1\n")),
        ParseError::TooFew { expected: 1_000_000_000_000_000_000, found: 1, .. }
    ));
    for size in ["0 3 0", "3 0 0"] {
        let empty = refused(format!("{coordinate}{size}\n"));
        assert!(matches!(empty, ParseError::Matrix(MatrixError::Empty { .. })), "{size}");
    }
    for size in ["18446744073709551615 1 0", "1 5000000 0"] {
        let large = refused(format!("{coordinate}{size}\n"));
        assert!(matches!(large, ParseError::SizeTooLarge { .. }), "{size}");
    }
    let overflowing = refused(format!("{array}18446744073709551615 2\n1\n"));
    assert!(matches!(overflowing, ParseError::SizeTooLarge { .. }));
    let announced = refused(format!("{coordinate}1 1 18446744073709551615\n1 1 1\n"));
    assert!(matches!(announced, ParseError::TooFew { .. }));
}
