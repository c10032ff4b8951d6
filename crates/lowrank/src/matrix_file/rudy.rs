//! Weighted graphs as the generator rudy writes them and the G-set collects them: a line `n m`, then m
//! lines `i j w`, vertices from 1, weight 1 where left out.

use super::error::ParseError;
use super::limits::check_sparse_size;
use super::problem::LineProblem;
use super::text::{Fields, numbered_lines};
use crate::linalg::matrix::{MatrixError, SparseMatrix};

/// Whether the first line is exactly two counts.
pub(super) fn recognises(text: &str) -> bool {
    numbered_lines(text).next().is_some_and(|(_, line)| {
        let mut fields = line.split_ascii_whitespace().map(|field| field.parse::<usize>().is_ok());
        (fields.next(), fields.next(), fields.next()) == (Some(true), Some(true), None)
    })
}

/// L/4 of the graph, n x n, both triangles; the diagonal is stored for vertices with an edge.
pub(super) fn parse(text: &str) -> Result<SparseMatrix, ParseError> {
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

    // The shortest edge is `1 2` and a line feed.
    let mut triplets =
        Vec::with_capacity(edges.min(text.len() / 4).saturating_mul(2).saturating_add(vertices));
    let mut degrees: Vec<Option<f64>> = vec![None; vertices];
    let mut found = 0;
    for (number, line) in lines {
        let mut fields = Fields::new(number, line.split_ascii_whitespace());
        if found == edges {
            return Err(fields.error(LineProblem::TooMany { what: "edges", announced: edges }));
        }
        let i = fields.index("the first vertex", vertices)?;
        let j = fields.index("the second vertex", vertices)?;
        let weight = fields.optional_real()?.unwrap_or(1.0);
        fields.end()?;
        if i == j {
            return Err(fields.error(LineProblem::SelfLoop { vertex: i + 1 }));
        }
        triplets.push((i, j, -weight / 4.0));
        triplets.push((j, i, -weight / 4.0));
        for vertex in [i, j] {
            *degrees[vertex].get_or_insert(0.0) += weight;
        }
        found += 1;
    }
    if found < edges {
        return Err(ParseError::TooFew { what: "edges", expected: edges, found });
    }
    // Divided after summing: the quarters of integer weights are exact, and so is every row sum.
    triplets.extend(
        degrees.iter().enumerate().filter_map(|(i, degree)| degree.map(|degree| (i, i, degree / 4.0))),
    );
    Ok(SparseMatrix::from_triplets(vertices, vertices, triplets)?)
}
