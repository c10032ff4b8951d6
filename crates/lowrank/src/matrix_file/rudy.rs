//! Weighted graphs as the generator rudy writes them and the G-set collects them: a line `n m`, then m
//! lines `i j w`, vertices from 1; all with a weight, or none, which then is 1. Parallel edges add up.

use super::decimal::Decimal;
use super::enclosed::{Enclosed, Triplets};
use super::error::ParseError;
use super::limits::check_sparse_size;
use super::problem::LineProblem;
use super::text::{Fields, numbered_lines};
use crate::linalg::matrix::MatrixError;
use crate::memory::MemoryLimit;

/// Whether the first line is exactly two counts.
pub(super) fn recognises(text: &str) -> bool {
    numbered_lines(text).next().is_some_and(|(_, line)| {
        let mut fields = line.split_ascii_whitespace().map(|field| field.parse::<usize>().is_ok());
        (fields.next(), fields.next(), fields.next()) == (Some(true), Some(true), None)
    })
}

/// L/4 of the graph, n x n, both triangles; the diagonal is stored for vertices with an edge. Weights and degrees are
/// summed exactly.
pub(super) fn parse(text: &str, memory: MemoryLimit) -> Result<Enclosed, ParseError> {
    let mut lines = numbered_lines(text);
    let (number, line) = lines.next().ok_or(ParseError::EmptyFile)?;
    let mut header = Fields::new(number, line.split_ascii_whitespace());
    let vertices = header.count("the number of vertices")?;
    let edges = header.count("the number of edges")?;
    header.end()?;
    if vertices == 0 {
        return Err(MatrixError::Empty { rows: 0, columns: 0 }.into());
    }
    check_sparse_size(vertices, vertices, text.len())?;

    let mut triplets = Triplets::new(memory);
    let mut found = 0;
    // The first edge: its line, and whether it has a weight.
    let mut first: Option<(usize, bool)> = None;
    for (number, line) in lines {
        let mut fields = Fields::new(number, line.split_ascii_whitespace());
        if found == edges {
            return Err(fields.error(LineProblem::TooMany { what: "edges", announced: edges }));
        }
        let i = fields.index("the first vertex", vertices)?;
        let j = fields.index("the second vertex", vertices)?;
        let weight = fields.optional_real()?;
        fields.end()?;
        let &mut (line, weighted) = first.get_or_insert((number, weight.is_some()));
        if weighted != weight.is_some() {
            return Err(fields.error(LineProblem::MixedWeights { line, weighted }));
        }
        if i == j {
            return Err(fields.error(LineProblem::SelfLoop { vertex: i + 1 }));
        }
        let weight = weight.unwrap_or(Decimal::exact(1.0));
        for (row, column, sign) in [(i, j, -1.0), (j, i, -1.0), (i, i, 1.0), (j, j, 1.0)] {
            triplets.add(row, column, &weight, sign)?;
        }
        found += 1;
    }
    if found < edges {
        return Err(ParseError::TooFew { what: "edges", expected: edges, found });
    }
    // Divided after summing: the quarters of integer weights are exact, and so is every row sum.
    triplets.finish(vertices, vertices, 0.25)
}
