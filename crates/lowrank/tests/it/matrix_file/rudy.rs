//! Graphs in rudy's format.

use gambeson_lowrank::linalg::matrix::{Matrix, MatrixError};
use gambeson_lowrank::matrix_file::{InputKind, LineProblem, ParseError};

use super::{message, parsed, refused, sparse};

fn triplets(text: &str) -> Vec<(usize, usize, f64)> {
    sparse(text, InputKind::MaxCut).triplets().collect()
}

fn line(text: &str) -> (usize, LineProblem) {
    match refused(text) {
        ParseError::Line { number, problem } => (number, problem),
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn a_graph_becomes_a_quarter_of_its_laplacian() {
    // A path 1 - 2 - 3 with weights 3 and -1 beside an isolated vertex: row 2 sums 3 and -1.
    let expected =
        [(0, 0, 0.75), (0, 1, -0.75), (1, 0, -0.75), (1, 1, 0.5), (1, 2, 0.25), (2, 1, 0.25), (2, 2, -0.25)];
    assert_eq!(triplets("4 2 \n1 2 3\n\n3 2 -1.0\n\n"), expected);
    let matrix = sparse("4 2\r\n1 2 3\r\n3 2 -1", InputKind::MaxCut);
    assert_eq!((matrix.rows, matrix.columns), (4, 4));
    assert_eq!(matrix.triplets().collect::<Vec<_>>(), expected);
}

#[test]
fn a_weight_left_out_is_one() {
    assert_eq!(triplets("2 1\n1 2\n"), triplets("2 1\n1 2 1\n"));
}

#[test]
fn repeated_edges_add_up() {
    assert_eq!(triplets("2 3\n1 2 1\n2 1 2\n1 2 4\n"), triplets("2 1\n1 2 7\n"));
}

#[test]
fn weights_that_cancel_keep_their_diagonal() {
    let expected = [(0, 0, 0.0), (0, 1, -0.25), (0, 2, 0.25), (1, 0, -0.25), (1, 1, 0.25), (2, 0, 0.25)];
    assert_eq!(triplets("3 2\n1 2 1\n1 3 -1\n")[..6], expected);
}

#[test]
fn a_graph_without_edges_is_zero() {
    assert_eq!(triplets("3 0\n"), []);
}

#[test]
fn wrong_lines_are_named() {
    assert_eq!(line("2 1\n\n1 1 5\n"), (3, LineProblem::SelfLoop { vertex: 1 }));
    assert_eq!(line("2 1\n0 1 5\n"), (2, LineProblem::IndexZero { field: "the first vertex" }));
    assert_eq!(
        line("2 1\n1 3 5\n"),
        (2, LineProblem::IndexOutOfRange { field: "the second vertex", index: 3, max: 2 })
    );
    assert_eq!(line("2 1\n1\n"), (2, LineProblem::MissingField { field: "the second vertex" }));
    assert_eq!(line("2 1\n1 2 3 4\n"), (2, LineProblem::ExtraField { text: "4".to_owned() }));
    assert_eq!(line("2 1\n1 2 w\n"), (2, LineProblem::NotANumber { text: "w".to_owned() }));
    assert_eq!(line("2 1\n1 2 nan\n"), (2, LineProblem::NotFinite { text: "nan".to_owned() }));
    assert_eq!(
        line("2 1\n1.0 2\n"),
        (2, LineProblem::NotACount { field: "the first vertex", text: "1.0".to_owned() })
    );
    assert_eq!(line("3 1\n1 2\n2 3\n"), (3, LineProblem::TooMany { what: "edges", announced: 1 }));
    assert_eq!(message("2 1\n1 1\n"), "line 2: edge from vertex 1 to itself");
    assert_eq!(message("3 3\n1 2\n2 3\n"), "truncated: 3 edges announced, 2 found");
}

#[test]
fn weights_and_degrees_are_summed_exactly() {
    let graph = parsed("3 3\n1 2 10000000000000000\n1 3 1\n1 2 -10000000000000000\n");
    let sparse = |text: &str| parsed(text).matrix;
    assert_eq!((graph.error, graph.matrix.sha256()), (0.0, sparse("3 2\n1 2 0\n1 3 1\n").sha256()));
    // 0.17 is no f64. Each of its four places errs by half a unit of 0.17/4 for each edge, and a sum once more.
    let many = format!("2 200000\n{}", "1 2 0.17\n".repeat(200_000));
    let many = parsed(many);
    let half_unit = 0.17_f64.next_up() - 0.17;
    assert!(many.error > 0.0 && many.error < 200_000.0 * half_unit, "{}", many.error);
    let Matrix::Sparse(sparse) = &many.matrix else { panic!("sparse") };
    assert!((sparse.values[0] - 8500.0).abs() <= many.error, "the degree is 34000");
}

#[test]
fn all_edges_have_weights_or_none() {
    let mixed = |weighted| LineProblem::MixedWeights { line: 2, weighted };
    assert_eq!(line("3 2\n1 2 1\n2 3\n"), (3, mixed(true)));
    assert_eq!(line("3 2\n1 2\n2 3 1\n"), (3, mixed(false)));
    assert_eq!(
        message("3 2\n1 2 1\n2 3\n"),
        "line 3: an edge without a weight, but that of line 2 has one: all need one, or none"
    );
}

#[test]
fn sizes_are_checked() {
    assert!(matches!(refused("0 0\n"), ParseError::Matrix(MatrixError::Empty { .. })));
    assert!(matches!(refused("18446744073709551615 1\n1 2\n"), ParseError::SizeTooLarge { .. }));
    assert!(matches!(refused("2 18446744073709551615\n1 2\n"), ParseError::TooFew { .. }));
    // Finite weights whose sum is not.
    assert!(matches!(
        refused("2 2\n1 2 1.7e308\n1 2 1.7e308\n"),
        ParseError::Matrix(MatrixError::NotFinite { row: 0, column: 0, .. })
    ));
}

#[test]
fn a_line_may_have_any_number_of_fields() {
    let text = format!("2 1\n1 2 3{}\n", " 4".repeat(1_000_000));
    assert_eq!(line(&text), (2, LineProblem::ExtraField { text: "4".to_owned() }));
}
