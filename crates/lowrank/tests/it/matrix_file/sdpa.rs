//! SDPA sparse files of max-cut shape.

use gambeson_lowrank::linalg::matrix::MatrixError;
use gambeson_lowrank::matrix_file::{InputKind, LineProblem, MaxCutProblem, ParseError};

use super::{message, refused, sparse};

/// The single edge of weight 1, in the style of SDPLIB.
const EDGE: &str = " 2\n 1\n 2\n{+1.0,+1.0}\n\
                    0 1 1 1 0.25\n0 1 1 2 -0.25\n0 1 2 2 0.25\n1 1 1 1 1.0\n2 1 2 2 1.0\n";

fn not_max_cut(text: &str) -> (usize, MaxCutProblem) {
    match refused(text) {
        ParseError::NotMaxCut { line, why } => (line, why),
        other => panic!("{text}: {other:?}"),
    }
}

fn line(text: &str) -> (usize, LineProblem) {
    match refused(text) {
        ParseError::Line { number, problem } => (number, problem),
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn the_objective_is_a_quarter_of_the_laplacian() {
    assert_eq!(sparse(EDGE, InputKind::MaxCut), sparse("2 1\n1 2\n", InputKind::MaxCut));
}

#[test]
fn all_spellings_are_read() {
    let entries = "0,1,1,1,0.25\n(0 1 1 2 -0.25)\r\n0 1 2 2 0.25\n2 1 2 2 1\n1 1 1 1 1.0e0\n";
    for header in [
        "\"a comment\n* another\n2 = mDIM\n1 = nBLOCK\n(2) = bLOCKsTRUCT\n{1, 1}\n",
        "*1 2\n2\n\n1\n{2,}\n1.00 1.00\n",
        "2 constraints\n1 block\n2, \n1\n1\n",
        "2\r\n1\r\n2\r\n(1.0,\r\n1.0)\r\n",
    ] {
        let text = format!("{header}{entries}");
        assert_eq!(sparse(text, InputKind::MaxCut), sparse(EDGE, InputKind::MaxCut), "{header}");
    }
}

#[test]
fn other_programs_are_refused_by_line() {
    let with = |from: &str, to: &str| {
        assert!(EDGE.contains(from), "{from}");
        EDGE.replacen(from, to, 1)
    };
    assert_eq!(not_max_cut("2\n3\n2\n"), (2, MaxCutProblem::BlockCount { found: 3 }));
    assert_eq!(not_max_cut("2\n1\n-2\n"), (3, MaxCutProblem::BlockSize { size: -2, constraints: 2 }));
    assert_eq!(not_max_cut("2\n1\n3\n"), (3, MaxCutProblem::BlockSize { size: 3, constraints: 2 }));
    assert_eq!(
        not_max_cut(&with("+1.0}", "2}")),
        (4, MaxCutProblem::RightHandSide { constraint: 2, value: 2.0 })
    );
    assert_eq!(not_max_cut(&with("0 1 2 2", "0 2 2 2")), (7, MaxCutProblem::Block { block: 2 }));
    assert_eq!(
        not_max_cut(&with("1 1 1 1 1.0", "1 1 1 2 1.0")),
        (8, MaxCutProblem::Constraint { constraint: 1, row: 1, column: 2, value: 1.0 })
    );
    assert_eq!(
        not_max_cut(&with("1 1 1 1 1.0", "1 1 1 1 2.0")),
        (8, MaxCutProblem::Constraint { constraint: 1, row: 1, column: 1, value: 2.0 })
    );
    assert_eq!(
        not_max_cut(&with("1 1 1 1 1.0\n", "")),
        (8, MaxCutProblem::MissingConstraint { constraint: 1 })
    );
    assert_eq!(
        not_max_cut(&with("0 1 2 2 0.25", "0 1 2 2 0.5")),
        (7, MaxCutProblem::RowSum { row: 2, sum: 0.25 })
    );
    assert_eq!(message(with("+1.0}", "2}")), "line 4: not a max-cut problem: right-hand side 2 is 2, not 1");
}

#[test]
fn rounded_decimals_still_sum_to_zero() {
    let text = "3\n1\n3\n1 1 1\n\
                0 1 1 1 0.6667\n0 1 1 2 -0.3333\n0 1 1 3 -0.3333\n0 1 2 2 0.3333\n0 1 3 3 0.3333\n\
                1 1 1 1 1\n2 1 2 2 1\n3 1 3 3 1\n";
    assert_eq!(sparse(text, InputKind::MaxCut).values[..3], [0.6667, -0.3333, -0.3333]);
}

#[test]
fn wrong_lines_are_named() {
    let after = |entry: &str| line(&format!("{EDGE}{entry}\n"));
    assert_eq!(after("0 1 2 1 -0.25"), (10, LineProblem::WrongTriangle { row: 2, column: 1 }));
    assert_eq!(after("0 1 1 2 -0.25"), (10, LineProblem::Repeated { row: 1, column: 2 }));
    assert_eq!(after("2 1 2 2 1"), (10, LineProblem::Repeated { row: 2, column: 2 }));
    assert_eq!(after("0 1 1"), (10, LineProblem::MissingField { field: "the column" }));
    assert_eq!(after("0 1 1 2 3 4"), (10, LineProblem::ExtraField { text: "4".to_owned() }));
    assert_eq!(after("0 1 1 2 x"), (10, LineProblem::NotANumber { text: "x".to_owned() }));
    assert_eq!(after("0 1 1 2 inf"), (10, LineProblem::NotFinite { text: "inf".to_owned() }));
    assert_eq!(after("0 1 0 2 1"), (10, LineProblem::IndexZero { field: "the row" }));
    assert_eq!(
        after("3 1 1 2 1"),
        (10, LineProblem::IndexOutOfRange { field: "the matrix number", index: 3, max: 2 })
    );
    assert_eq!(line("2\n1\nx\n"), (3, LineProblem::NotAnInteger { text: "x".to_owned() }));
    assert_eq!(line("2\n1\n2\n1 1 1\n"), (4, LineProblem::ExtraField { text: "1".to_owned() }));
    assert_eq!(
        line("-2\n1\n2\n"),
        (1, LineProblem::NotACount { field: "the number of constraints", text: "-2".to_owned() })
    );
}

#[test]
fn sizes_are_checked() {
    assert!(matches!(refused("2\n1\n"), ParseError::TooFew { what: "header lines", found: 2, .. }));
    assert!(matches!(refused("0\n1\n0\n"), ParseError::Matrix(MatrixError::Empty { .. })));
    let huge = refused("9000000000000000000\n1\n9000000000000000000\n1 1\n");
    assert!(matches!(huge, ParseError::TooFew { what: "right-hand sides", found: 2, .. }));
}
